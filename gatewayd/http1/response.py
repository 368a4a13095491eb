"""The one response of the program, and the one sender of it."""

from gatewayd.http1.asgi import Send
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response_head import render_fields, render_lines


class Response:
    """One HTTP response as an application makes it: framing, date and request id are for its sender to add."""

    __slots__ = ("_lines", "_unrendered", "body", "headers", "status")

    def __init__(self, status: int, headers: Headers, body: bytes = b"", lines: bytes | None = None) -> None:
        """`lines` are the headers as rendered lines, where they are known."""
        self.status = status
        self.headers = headers
        self.body = body
        self._lines = lines
        # Those at the end of `headers` that `_lines` does not have yet.
        self._unrendered: Headers = ()

    @property
    def lines(self) -> bytes:
        """The headers as rendered lines. Raises `ValueError` for a value that would start a line of its own."""
        if self._lines is None:
            self._lines = render_fields(self.headers).block
        elif self._unrendered:
            self._lines += render_lines(self._unrendered)
            self._unrendered = ()
        return self._lines

    def plus(self, headers: Headers) -> "Response":
        """The same with more header fields; those that are rendered are not rendered again."""
        more = Response(self.status, (*self.headers, *headers), self.body, self._lines)
        if self._lines is not None:
            more._unrendered = (*self._unrendered, *headers)
        return more


async def send_response(request: Request, response: Response, send: Send) -> None:
    """Send a whole response, with the id of its request."""
    headers = [*response.headers, (b"x-request-id", request.id.encode())]
    if response.status != 204:  # RFC 9110 §8.6
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else response.body})
