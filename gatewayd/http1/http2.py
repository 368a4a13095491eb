"""HTTP/2 over TLS through Hypercorn's own server, one instance per connection, with what it lacks put around it.

Hypercorn 0.18 raises out of a connection when DATA follows an early response, leaves a stream open when the application
fails after its response began, and shields its writes (pgjones/hypercorn #225, #312, #334). So: a response that comes
before the end of its request is finished only when the rest of the body was swallowed; a stream that cannot be finished
ends its connection; and the socket is closed under a shielded write. Frames that cost the peer nothing and us an answer
each are counted.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from types import TracebackType
from typing import Final, TypeVar, cast

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ASGIReceiveCallable, ASGISendCallable, ConnectionState, LifespanState, Scope

from gatewayd.http1.asgi import HttpScope, ReceiveMessage, ResponseMessage
from gatewayd.http1.parser import decode_path
from gatewayd.http1.places import BUSY, KNOWN, STRANGER, Place
from gatewayd.http1.proxy_headers import are_forwarded
from gatewayd.http1.request import Request
from gatewayd.http1.response import send_response
from gatewayd.http1.response_head import render_fields, status_line
from gatewayd.http1.state import ServerState

BURST: Final = 400.0  # Chosen: a page of a hundred requests, each of which is given a priority and then cancelled
PER_SECOND: Final = 20.0  # Chosen: nobody cancels faster by hand

_PREFACE_BYTES: Final = 24  # RFC 9113 §3.4
_HEAD_BYTES: Final = 9  # RFC 9113 §4.1
# RFC 9113 §6. The flag is END_STREAM of DATA, and ACK of SETTINGS and PING: such frames end something, and are few.
_DATA, _PRIORITY, _RST_STREAM, _SETTINGS, _PING = 0, 2, 3, 4, 6
_ENDING: Final = 0x1
_ENHANCE_YOUR_CALM: Final = 11  # RFC 9113 §7
_LIBRARIES: Final = ("hypercorn", "h2", "hpack", "hyperframe", "priority")
T = TypeVar("T")

_MAX_STREAMS: Final = 100
# Applications still running for streams the peer has reset count too (CVE-2023-44487).
_MAX_RUNNING: Final = 2 * _MAX_STREAMS
# The end of a stream leaves Hypercorn a turn of the loop after its application returned.
_LAST_FRAMES_SECONDS: Final = 0.05
# Chosen: Hypercorn drops responses in flight when it reaches its limit, so that it never should.
_MAX_REQUESTS: Final = 2**31


class FrameBudget:
    """How many such frames one peer may send still. Times are seconds of one monotonic clock."""

    def __init__(self, now: float) -> None:
        self._left, self._at = BURST, now
        self._skipped = _PREFACE_BYTES
        self._head = bytearray()

    def allows(self, data: bytes, now: float) -> bool:
        """Whether what came next of a connection is within the budget."""
        self._left = min(BURST, self._left + PER_SECOND * (now - self._at))
        self._at = now
        position = 0
        while position < len(data):
            if self._skipped:
                taken = min(self._skipped, len(data) - position)
                self._skipped -= taken
            else:
                taken = min(_HEAD_BYTES - len(self._head), len(data) - position)
                self._head += data[position : position + taken]
                if len(self._head) == _HEAD_BYTES:
                    self._note(self._head)
                    self._head.clear()
            position += taken
        return self._left >= 0

    def _note(self, head: bytearray) -> None:
        """The head of a frame: three bytes of length, type, flags, stream."""
        self._skipped, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        empty = kind == _DATA and not self._skipped
        if kind in (_PRIORITY, _RST_STREAM) or ((empty or kind in (_SETTINGS, _PING)) and not flags & _ENDING):
            self._left -= 1


class PeerFault(Exception):
    """The peer has sent what ends its connection."""


def is_peers_fault(error: BaseException) -> bool:
    """Whether all parts of an exception are the peer's doing."""
    return all(isinstance(part, PeerFault) or _room_of(part.__traceback__) in _LIBRARIES for part in _single(error))


def reason_of(error: BaseException) -> str:
    """What is said of it in one line."""
    return ", ".join(f"{type(part).__name__}: {part}" for part in _single(error))


def _single(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _single(part)
    else:
        yield error


def _room_of(traceback: TracebackType | None) -> str:
    """The package of the code that raised."""
    name = ""
    while traceback is not None:
        name = str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next
    return name.partition(".")[0]


class Http2Connection(TCPServer):
    """Hypercorn's connection, which would otherwise keep the socket of a departed peer for the keep-alive time."""

    _peer_left = False

    async def _read_data(self) -> None:
        budget = FrameBudget(trio.current_time())
        while data := await self._next():
            if not budget.allows(data, trio.current_time()):
                await self._say_goodbye(_ENHANCE_YOUR_CALM)
                raise PeerFault("it sends more frames than it may beside its requests")
            await self.protocol.handle(RawData(data))
        await self.protocol.handle(RawData(b""))
        await self.protocol.handle(Closed())
        self._peer_left = True
        await self.idle_task.stop()

    async def _next(self) -> bytes:
        """What the peer sends next; empty when it is gone."""
        try:
            return bytes(await self.stream.receive_some(MAX_RECV))
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            return b""

    async def _say_goodbye(self, code: int) -> None:
        """GOAWAY (RFC 9113 §6.8), as far as the peer takes it."""
        protocol = self.protocol.protocol
        assert isinstance(protocol, H2Protocol)
        protocol.connection.close_connection(code)
        await self.protocol_send(RawData(protocol.connection.data_to_send()))

    async def protocol_send(self, event: Event) -> None:
        # A stream that ends only now would start the keep-alive time anew.
        if not (self._peer_left and isinstance(event, Updated)):
            await super().protocol_send(event)


async def serve_http2(
    server: ServerState, stream: trio.SSLStream[trio.SocketStream], drain: trio.Event, place: Place
) -> None:
    """Serve one connection that negotiated h2 to its end. Exceptions of Hypercorn's come out of here: contain them.

    What a peer brought about by sending what is not in order, or too much of it, is a line for who looks for it.
    """
    transport = stream.transport_stream.socket
    _bound_unread_writes(transport, server.settings.write_timeout_seconds)
    try:
        await _serve(server, stream, drain, place)
    except Exception as error:
        if not is_peers_fault(error):
            raise
        server.log.debug("http2_peer_failed", reason=reason_of(error))


async def _serve(
    server: ServerState, stream: trio.SSLStream[trio.SocketStream], drain: trio.Event, place: Place
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_close_when_cancelled, stream.transport_stream.socket)
        gate = place.occupant = _Gate(server, nursery.cancel_scope.cancel, place)
        context = WorkerContext(None)
        nursery.start_soon(_terminate_when_drained, drain, gate, context)
        state = ConnectionState(LifespanState())
        await Http2Connection(cast(AppWrapper, gate.serve), _config(server), context, state, stream).run()
        nursery.cancel_scope.cancel()


async def _terminate_when_drained(drain: trio.Event, gate: _Gate, context: WorkerContext) -> None:
    """Close the connection once no stream is under way; told earlier, Hypercorn drops the ends of responses."""
    await drain.wait()
    await gate.wait_idle()
    await trio.sleep(_LAST_FRAMES_SECONDS)
    await context.terminated.set()


async def _close_when_cancelled(transport: trio.socket.SocketType) -> None:
    try:
        await trio.sleep_forever()
    finally:
        transport.close()


def _bound_unread_writes(transport: trio.socket.SocketType, seconds: float) -> None:
    """Let the kernel end a connection whose peer takes nothing: Hypercorn's own frames are written without deadline."""
    if transport.family != socket.AF_UNIX:
        transport.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


def _config(server: ServerState) -> Config:
    settings = server.settings
    config = Config()
    config.errorlog = None
    config.include_server_header = False
    # Ours, from the server's clock: see _Stream.send.
    config.include_date_header = False
    config.h2_max_concurrent_streams = _MAX_STREAMS
    config.h2_max_header_list_size = settings.max_header_bytes
    config.keep_alive_timeout = settings.keep_alive_seconds
    config.keep_alive_max_requests = _MAX_REQUESTS
    config.ssl_handshake_timeout = settings.handshake_timeout_seconds
    return config


class _Gate:
    """The application as one HTTP/2 connection meets it."""

    def __init__(self, server: ServerState, end_connection: Callable[[], None], place: Place) -> None:
        self._server = server
        self._end_connection = end_connection
        self._streams: set[_Stream] = set()
        self._idle = trio.Event()
        self._place = place
        self.phase_began = server.now

    @property
    def standing(self) -> int:
        """Whether the connection may be ended for another: see `places`."""
        if not self._streams:
            return KNOWN if self._place.known else STRANGER
        if self._place.known or any(stream.admitted or not stream.waits for stream in self._streams):
            return BUSY
        return STRANGER

    async def wait_idle(self) -> None:
        """Return when no stream is under way."""
        while self._streams:
            self._idle = trio.Event()
            await self._idle.wait()

    async def serve(
        self,
        scope: Scope,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
        _sync_spawn: object,
        _call_soon: object,
    ) -> None:
        """Run one stream. This is the request border of HTTP/2."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000, "reason": None})
            return
        if len(self._streams) >= _MAX_RUNNING:
            self._end_connection()
            return
        self._server.counters.requests += 1
        request = self._request(cast(HttpScope, scope))
        stream = _Stream(
            self._server, cast(Callable[[], Awaitable[ReceiveMessage]], receive), cast(_RawSend, send), request
        )
        self._streams.add(stream)
        try:
            finished = await self._run(cast(HttpScope, scope), stream)
        finally:
            self._leave(stream)
        if not finished:
            self._end_connection()

    def _leave(self, stream: _Stream) -> None:
        self._streams.discard(stream)
        if stream.admitted:
            self._place.note_admitted()
        if not self._streams:
            self.phase_began = self._server.now
            self._idle.set()

    def _request(self, scope: HttpScope) -> Request:
        """The request of a stream, which its scope says again."""
        query = scope["query_string"]
        target = b"%b?%b" % (scope["raw_path"], query) if query else scope["raw_path"]
        request = Request(scope["method"], target.decode("latin-1"), scope["headers"])
        request.id = self._server.request_ids.next()
        request.client, request.scheme = scope["client"], scope["scheme"]
        proxies = self._server.proxies
        if proxies.believes(request.client):
            request.vouched = True
            request.client, request.scheme = proxies.resolve(request.client, request.scheme, request.headers)
        elif not self._server.forwarding_noted and are_forwarded(request.headers):
            self._server.note_forwarding(request.client)
        scope["client"], scope["scheme"], scope["request"] = request.client, request.scheme, request
        return request

    async def _run(self, scope: HttpScope, stream: _Stream) -> bool:
        """Whether the stream has its whole response."""
        server = self._server
        path = decode_path(scope["raw_path"])
        if path is None:
            await stream.refuse(400, "The request path is not percent-encoded UTF-8.")
            return True
        scope["path"] = scope["request"].path = path
        try:
            with stream.cancel:
                await server.app(scope, stream.receive, stream.send)
        except Exception as error:
            server.counters.app_errors += 1
            server.log.error("app_failed", method=scope["method"], path=path, exc_info=error)
        if stream.complete or stream.gone:
            return not stream.overrun
        if stream.started:
            return False
        if stream.late is not None:
            await stream.refuse(408, stream.late)
            return not stream.overrun
        await stream.refuse(500, "The request could not be answered.")
        return True


_RawSend = Callable[[ResponseMessage], Awaitable[None]]


class _Stream:
    """receive() and send() of one stream, with deadlines and early responses put right."""

    def __init__(
        self, server: ServerState, receive: Callable[[], Awaitable[ReceiveMessage]], send: _RawSend, request: Request
    ) -> None:
        self._server = server
        self._receive = receive
        self._send = send
        self._request = request
        self._body_done = False
        self._received = 0
        self._read_began: float | None = None
        # It waits for the peer: for bytes, or for room to send some.
        self.waits = False
        self.started = False
        self.complete = False
        self.gone = False
        # Why the application was unwound: the peer sent no body, or took no response, in the time it had.
        self.late: str | None = None
        # More of the body came after the response than is swallowed: the connection cannot go on.
        self.overrun = False
        self.cancel = trio.CancelScope()

    @property
    def admitted(self) -> bool:
        """Whether the application knows who sent the request."""
        return self._request.admitted

    async def receive(self) -> ReceiveMessage:
        """The next body part under the deadlines of a part and of the whole, which unwind the application."""
        if self.complete or self.gone:
            return {"type": "http.disconnect"}
        if self._body_done:
            return self._note(await self._receive())
        with trio.move_on_at(self._body_deadline()):
            return self._note(await self._waiting(self._receive()))
        await self._unwind("The request body did not arrive in time.")
        return {"type": "http.disconnect"}

    def _body_deadline(self) -> float:
        settings, now = self._server.settings, trio.current_time()
        if self._read_began is None:
            self._read_began = now
        rate_deadline = self._read_began + settings.body_seconds(self._received, admitted=self.admitted)
        return min(now + settings.body_idle_timeout_seconds, rate_deadline)

    async def _waiting(self, work: Awaitable[T]) -> T:
        self.waits = True
        try:
            return await work
        finally:
            self.waits = False

    async def _unwind(self, reason: str) -> None:
        self.late = reason
        self.cancel.cancel()
        await trio.lowlevel.checkpoint()

    def _note(self, message: ReceiveMessage) -> ReceiveMessage:
        if message["type"] == "http.disconnect":
            self.gone = True
            return message
        self._received += len(message["body"])
        if not message["more_body"]:
            self._body_done = True
        return message

    async def send(self, message: ResponseMessage) -> None:
        """Vet and pass on a response message. Raises ValueError for what would not be a header field."""
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            status_line(message["status"])
            fields = render_fields(headers)
            if not fields.dated:
                headers.append((b"date", self._server.date_line[len("date: ") :].rstrip()))
            if strict_line := self._server.strict_line:
                headers.append((b"strict-transport-security", strict_line.partition(b": ")[2].rstrip()))
            # Connection fields do not exist in HTTP/2 (RFC 9113 §8.2.2).
            kept = [(name.lower(), value) for name, value in headers if name.lower() not in _HOP_BY_HOP]
            await self._pass_on({"type": "http.response.start", "status": message["status"], "headers": kept})
            self.started = True
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if not more and not self._body_done and not self.gone:
            await self._pass_on({"type": "http.response.body", "body": body, "more_body": True})
            await self._swallow()
            body = b""
        await self._pass_on({"type": "http.response.body", "body": body, "more_body": more})
        self.complete = not more

    async def refuse(self, status: int, detail: str) -> None:
        """Answer in the application's place."""
        self._server.counters.refused += 1
        await send_response(self._request, self._server.refuse(status, detail, self._request.id), self.send)

    async def _swallow(self) -> None:
        """Take what is left of the request body, within limits; Hypercorn fails on DATA for a finished stream."""
        left = self._server.settings.max_drain_bytes
        with trio.move_on_after(self._server.settings.linger_seconds):
            while left > 0 and not (self._body_done or self.gone):
                message = self._note(await self._waiting(self._receive()))
                left -= len(message["body"]) if message["type"] == "http.request" else 0
        self.overrun = not (self._body_done or self.gone)

    async def _pass_on(self, message: ResponseMessage) -> None:
        with trio.move_on_after(self._server.settings.write_timeout_seconds):
            await self._waiting(self._send(message))
            return
        await self._unwind("The response was not taken in time.")


_HOP_BY_HOP: Final = frozenset({b"connection", b"transfer-encoding", b"keep-alive", b"upgrade", b"proxy-connection"})
