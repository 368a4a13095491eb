"""The one response of the program, and the one sender of it."""

from pathlib import Path
from typing import BinaryIO, Final, Protocol

import trio

from gatewayd.http1.asgi import Send
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.request import Request
from gatewayd.http1.response_head import render_fields, render_lines, status_line

PART_BYTES: Final = 1 << 18
"""Of a file, in memory for each caller who is being sent one."""


class Response:
    """One HTTP response as an application makes it: framing, date and request id are for its sender to add."""

    __slots__ = ("_lines", "body", "headers", "status")

    def __init__(self, status: int, headers: Headers, body: bytes = b"", lines: bytes | None = None) -> None:
        """`lines` are the headers as rendered lines, where they are known."""
        self.status = status
        self.headers = headers
        self.body = body
        self._lines = lines

    def __repr__(self) -> str:
        return f"<Response {self.status} {[*self.headers]} {self.body!r:.200}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Response):
            return NotImplemented
        return (self.status, [*self.headers], self.body) == (other.status, [*other.headers], other.body)

    @property
    def lines(self) -> bytes:
        """The headers as rendered lines. Raises `ValueError` for a value that would start a line of its own."""
        if self._lines is None:
            self._lines = render_fields(self.headers).block
        return self._lines

    def plus(self, headers: Headers) -> "Response":
        """The same with more header fields; those that are rendered are not rendered again. Raises as `lines` does."""
        lines = None if self._lines is None else self._lines + render_lines(headers)
        return Response(self.status, (*self.headers, *headers), self.body, lines)


class Sending(Protocol):
    """Who wants to know how far a file was sent."""

    def sent(self, count: int) -> None:
        """So many bytes more were handed to the connection."""

    def ended(self) -> None:
        """Nothing more is sent."""


class FileResponse(Response):
    """A response whose body is a file, or a piece of one, which is sent a part at a time.

    `sending` is told how far that comes; None: nobody is.
    """

    __slots__ = ("length", "path", "sending", "start")

    def __init__(self, status: int, headers: Headers, path: Path, length: int, start: int = 0) -> None:
        """`length` is how many bytes are sent, from that at `start` on."""
        super().__init__(status, headers)
        self.path = path
        self.length = length
        self.start = start
        self.sending: Sending | None = None

    def plus(self, headers: Headers) -> "FileResponse":
        """The same with more header fields."""
        response = FileResponse(self.status, (*self.headers, *headers), self.path, self.length, self.start)
        response.sending = self.sending
        return response


async def send_response(request: Request, response: Response, send: Send, more: Headers = ()) -> None:
    """Send a whole response, with the id of its request and perhaps more header fields.

    Raises `OSError` where a file cannot be read; before anything was sent, where it cannot be opened.
    """
    if isinstance(response, FileResponse):
        try:
            return await _send_file(request, response, send, more)
        finally:
            if response.sending is not None:
                response.sending.ended()
    headers = [*response.headers, *more, (b"x-request-id", request.id.encode())]
    if response.status != 204:  # RFC 9110 §8.6
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else response.body})
    return None


async def _send_file(request: Request, response: FileResponse, send: Send, more: Headers) -> None:
    fields = ((b"x-request-id", request.id.encode()), (b"content-length", b"%d" % response.length))
    thread = trio.CapacityLimiter(1)  # its own: a disk that hangs holds up nobody else
    headers = [*response.headers, *more, *fields]
    with await trio.to_thread.run_sync(_open, response, limiter=thread) as file:
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        left = 0 if request.method == "HEAD" else response.length
        while left > 0 and (part := await trio.to_thread.run_sync(file.read, min(PART_BYTES, left), limiter=thread)):
            left -= len(part)
            await send({"type": "http.response.body", "body": part, "more_body": True})
            if response.sending is not None:
                response.sending.sent(len(part))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _open(response: FileResponse) -> BinaryIO:
    file = response.path.open("rb")
    file.seek(response.start)
    return file


def render_head(
    response: Response, request_id: str, date_line: bytes, connection_line: bytes, strict_line: bytes = b""
) -> bytes:
    """The head of a whole response. Raises ValueError as `Response.lines` does."""
    status = response.status
    # RFC 9110 §8.6: none with 204, and with 304 that of a response that is not here.
    length = b"" if status in (204, 304) else b"content-length: %d\r\n" % len(response.body)
    framing = (b"\r\n", date_line, length, connection_line, strict_line, b"\r\n")
    return b"".join((status_line(status), response.lines, b"x-request-id: ", request_id.encode(), *framing))
