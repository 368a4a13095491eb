"""One call of the application for a request of an HTTP/1.1 connection: its receive() and send()."""

from __future__ import annotations

import math
from typing import Final, Protocol

import trio

from gatewayd.http1.asgi import DisconnectMessage, HttpScope, ReceiveMessage, ResponseMessage
from gatewayd.http1.parser import Fault, ReceivedRequest, RequestParser
from gatewayd.http1.response_head import ResponseFields, render_fields, status_line
from gatewayd.http1.state import PeerGoneError, ServerState

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

# What a connection is waiting for; the reaper reads it when the deadline has passed.
IDLE, HEAD, BODY, WORKING, CLOSING = range(5)

# How far a response has come.
_WAITING, _STARTED, _STREAMING, _COMPLETE = range(4)


class Line(Protocol):
    """What a call needs of its connection."""

    server: ServerState
    parser: RequestParser
    phase: int
    deadline: float
    strict_line: bytes

    async def read(self) -> bytes:
        """Wait for bytes; empty when the peer is gone."""

    async def write(self, data: bytes) -> None:
        """Send everything. Raises PeerGoneError."""

    async def fail(self, fault: Fault) -> None:
        """Unwind the application and answer the fault, unless a response has begun."""

    async def give_up(self) -> None:
        """Unwind the application: nobody reads its response any more."""


class AsgiCall:
    """One call of the application: a request, and the response that it gives."""

    __slots__ = (
        "_body_taken",
        "_chunked",
        "_close",
        "_connection",
        "_fields",
        "_finished",
        "_gone",
        "_left",
        "_request",
        "_state",
        "_status",
        "_status_line",
        "_watch",
        "head_only",
        "unanswered",
    )

    def __init__(self, connection: Line, request: ReceivedRequest) -> None:
        self._connection = connection
        self._request = request
        self._state = _WAITING
        self._status = 0
        self._status_line = b""
        self._fields: ResponseFields | None = None
        self._body_taken = False
        self._chunked = False
        self._close = False
        # Bytes still owed by the announced length; None without one.
        self._left: int | None = None
        self._gone = False
        self._watch: trio.CancelScope | None = None
        self._finished: trio.Event | None = None
        self.head_only = request.method == "HEAD"
        # What the driver has to answer, because the application did not.
        self.unanswered: Fault | None = None

    @property
    def started(self) -> bool:
        """Whether any byte of the response was handed to the transport."""
        return self._state >= _STREAMING

    @property
    def complete(self) -> bool:
        """Whether the whole response was."""
        return self._state == _COMPLETE

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return self._request.id

    @property
    def admitted(self) -> bool:
        """Whether the application knows who sent the request."""
        return self._request.admitted

    @property
    def request_complete(self) -> bool:
        """Whether the whole request was read."""
        return self._request.complete

    @property
    def reusable(self) -> bool:
        """Whether the connection can carry another request once this one's body is read."""
        return self._state == _COMPLETE and not self._close and not self._gone

    async def run(self, scope: HttpScope) -> None:
        """Call the application; an exception out of it ends here. This is the request border of HTTP/1.1."""
        server = self._connection.server
        try:
            await server.app(scope, self.receive, self.send)
        except Exception as error:
            if not _only_peer_gone(error):
                server.counters.app_errors += 1
                server.log.error("app_failed", method=self._request.method, path=self._request.path, exc_info=error)
        else:
            if self._state != _COMPLETE and not self._gone:
                server.counters.app_errors += 1
                server.log.error("app_left_response_unfinished", method=self._request.method, path=self._request.path)
        if self._state < _STREAMING:
            self.unanswered = (
                Fault(400, "The request ended within its body.")
                if self._gone
                else Fault(500, "The request could not be answered.")
            )

    # receive()

    async def receive(self) -> ReceiveMessage:
        """The next part of the body, then `http.disconnect` once the peer is gone or the response complete."""
        request = self._request
        if self._body_taken or self._state == _COMPLETE or self._gone:
            return await self._wait_disconnect()
        if not (request.complete or request.parts):
            await self._read_body()
            if self._gone or self._state == _COMPLETE:
                return {"type": "http.disconnect"}
        self._body_taken = request.complete
        return {"type": "http.request", "body": request.take_body(), "more_body": not request.complete}

    async def _read_body(self) -> None:
        request, connection = self._request, self._connection
        if request.expects_continue:
            request.expects_continue = False
            if self._state < _STREAMING and not request.received:
                await self._write(_CONTINUE)
        began = connection.server.now
        while not (request.complete or request.parts or self._gone):
            fault = connection.parser.fault
            if fault is not None:
                self._gone = True
                await connection.fail(fault)
                return
            connection.phase = BODY
            connection.deadline = self._body_deadline(began)
            data = await connection.read()
            connection.phase = WORKING
            connection.deadline = math.inf
            self._gone = not data
            connection.parser.feed(data)

    def _body_deadline(self, began: float) -> float:
        """The sooner of the idle limit and what the least rate grants the whole body."""
        server, settings = self._connection.server, self._connection.server.settings
        if not self._request.read_began:
            self._request.read_began = began
        granted = settings.body_seconds(self._request.received, admitted=self._request.admitted)
        rate_deadline = self._request.read_began + server.tick_seconds + granted
        return min(server.deadline_in(settings.body_idle_timeout_seconds), rate_deadline)

    async def _wait_disconnect(self) -> DisconnectMessage:
        """Wait for the peer to go or the response to complete.

        What a pipelining peer sends meanwhile is parsed once; after that its going is noticed only when writing, for
        reading on would fill memory with requests that cannot be answered yet.
        """
        if not (self._gone or self._state == _COMPLETE):
            with trio.CancelScope() as self._watch:
                data = await self._connection.read()
                self._gone = not data
                self._connection.parser.feed(data)
            self._watch = None
        if not (self._gone or self._state == _COMPLETE):
            self._finished = self._finished or trio.Event()
            await self._finished.wait()
        return {"type": "http.disconnect"}

    # send()

    async def send(self, message: ResponseMessage) -> None:
        """Take a response message. Raises RuntimeError or ValueError for what ASGI or HTTP does not allow."""
        kind = message["type"]
        if kind == "http.response.start" and self._state == _WAITING:
            self._status = message["status"]
            self._status_line = status_line(self._status)
            self._fields = render_fields(message.get("headers", ()))
            self._state = _STARTED
            return
        if kind != "http.response.body" or self._fields is None or self._state == _COMPLETE:
            raise RuntimeError(f"{kind} out of order")
        body, more = message.get("body", b""), message.get("more_body", False)
        head = self._begin(self._fields, body, more) if self._state == _STARTED else b""
        if self.head_only or self._status in (204, 304):
            body = b""
        self._count(body, more)
        self._state = _STREAMING if more else _COMPLETE
        data = self._framed(head, body, more)
        if data:
            await self._write(data)
        if more:
            # A long response must not keep the loop to itself.
            await trio.lowlevel.checkpoint()
        else:
            self._wake_receivers()

    async def _write(self, data: bytes) -> None:
        try:
            await self._connection.write(data)
        except PeerGoneError:
            self._gone = True
            await self._connection.give_up()
            raise

    def _begin(self, fields: ResponseFields, body: bytes, more: bool) -> bytes:
        """Choose the framing of the response (RFC 9112 §6) and render its head."""
        request, status = self._request, self._status
        bodiless = self.head_only or status in (204, 304)
        length = fields.length
        if length is None and not more and status != 304 and (body or not self.head_only):
            length = len(body)
        self._left = None if bodiless else length
        parts = [self._status_line, fields.block, self._connection.strict_line]
        if not fields.dated:
            parts.append(self._connection.server.date_line)
        if length is not None and status != 204:  # RFC 9110 §8.6
            parts.append(b"content-length: %d\r\n" % length)
        elif length is None and not bodiless:
            self._chunked = request.version == "1.1"
            # A body without length ends with the connection in HTTP/1.0.
            self._close = not self._chunked
            if self._chunked:
                parts.append(b"transfer-encoding: chunked\r\n")
        self._close = self._close or fields.close or not request.keep_alive or self._must_close()
        if self._close:
            parts.append(b"connection: close\r\n")
        elif request.version == "1.0":
            parts.append(b"connection: keep-alive\r\n")
        parts.append(b"\r\n")
        return b"".join(parts)

    def _must_close(self) -> bool:
        """Whether the server drains, or too much of the body is unread to swallow it (or may never come)."""
        request, server = self._request, self._connection.server
        if server.draining:
            return True
        if request.complete:
            return False
        unread = 0 if request.length is None else request.length - request.received
        return request.expects_continue or unread > server.settings.max_drain_bytes

    def _count(self, body: bytes, more: bool) -> None:
        """Hold the application to the length it announced."""
        if self._left is None:
            return
        left = self._left - len(body)
        if left < 0 or (left and not more):
            raise RuntimeError("the response body does not have the announced length")
        self._left = left

    def _framed(self, head: bytes, body: bytes, more: bool) -> bytes:
        if not self._chunked:
            return head + body if head else body
        chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
        return head + chunk if more else head + chunk + b"0\r\n\r\n"

    def _wake_receivers(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._finished is not None:
            self._finished.set()


def _only_peer_gone(error: Exception) -> bool:
    if isinstance(error, ExceptionGroup):
        return error.split(PeerGoneError)[1] is None
    return isinstance(error, PeerGoneError)
