"""A server opened in process on real loopback sockets, and a peer that speaks to it in raw bytes."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import trio

from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.http1.response import Response
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from gatewayd.http1.state import AtOnce, never

# 2026-01-02 03:04:05 UTC
NOW_MICROSECONDS = 1_767_323_045_000_000
DATE = b"Fri, 02 Jan 2026 03:04:05 GMT"


class FixedClock:
    """A wall clock that stands still."""

    def now(self) -> int:
        return NOW_MICROSECONDS


@dataclass
class RecordingLog:
    """Keeps what the server logs; errors must be claimed by the test."""

    errors: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    warnings: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    debugs: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def error(self, event: str, **fields: object) -> None:
        self.errors.append((event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self.warnings.append((event, fields))

    def debug(self, event: str, **fields: object) -> None:
        self.debugs.append((event, fields))

    def claim(self, event: str) -> dict[str, object]:
        """Take one error off the list."""
        for index, (name, fields) in enumerate(self.errors):
            if name == event:
                del self.errors[index]
                return fields
        raise AssertionError(f"{event} was not logged: {self.errors}")


def refuse(status: int, detail: str, request_id: str) -> Response:
    """An error response, as the daemon's one place would build it."""
    body = json.dumps({"status": status, "detail": detail, "requestId": request_id}).encode()
    return Response(status, ((b"content-type", b"application/problem+json"),), body)


@dataclass
class RunningServer:
    """A server that listens."""

    server: Server
    log: RecordingLog
    addresses: list[str]

    @property
    def port(self) -> int:
        return int(self.addresses[0].rpartition(":")[2])

    async def peer(self) -> Peer:
        """A new TCP connection to the first address."""
        return Peer(await trio.open_tcp_stream("127.0.0.1", self.port))

    async def ask(self, request: bytes) -> Answer:
        """One request on a connection of its own."""
        async with await self.peer() as peer:
            await peer.send(request)
            return await peer.answer()

    async def serves(self) -> None:
        """A new connection gets its answer."""
        answer = await self.ask(b"GET /alive HTTP/1.1\r\nHost: door\r\n\r\n")
        assert answer.status == 200


@asynccontextmanager
async def open_server(
    app: App, *, at_once: AtOnce = never, within: float = 60, claims: str | None = None, **settings: object
) -> AsyncIterator[RunningServer]:
    """Run a server for the length of the block, over plain HTTP on a free port where `settings` don't say otherwise.

    Errors that the test does not claim, but for those of the name `claims`, and a server that ended fail the test.
    """
    log = RecordingLog()
    given = ServerSettings(**{"bind": ("127.0.0.1:0",), **settings})
    server = Server(app, given, refuse=refuse, log=log, clock=FixedClock(), at_once=at_once)
    with trio.fail_after(within):
        async with trio.open_nursery() as nursery:
            addresses = await nursery.start(lambda task_status: server.serve(task_status=task_status))
            yield RunningServer(server, log, addresses)
            nursery.cancel_scope.cancel()
    assert [event for event, _ in log.errors if event != claims] == [], log.errors


@dataclass
class Answer:
    """One response as it came."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def closes(self) -> bool:
        return self.headers.get(b"connection") == b"close"


class Peer:
    """A client in raw bytes."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._buffer = b""

    async def __aenter__(self) -> Peer:
        return self

    async def __aexit__(self, *_: object) -> None:
        with trio.move_on_after(1, shield=True):
            await trio.aclose_forcefully(self.stream)

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def send_forever(self, data: bytes) -> None:
        """Send until the connection breaks."""
        while True:
            await self.send(data)

    async def drip(self, byte: bytes) -> None:
        """Send one byte every 20 ms until cancelled or the connection breaks."""
        with suppress(trio.BrokenResourceError):
            while True:
                await self.send(byte)
                await trio.sleep(0.02)

    async def half_close(self) -> None:
        assert isinstance(self.stream, trio.SocketStream)
        await self.stream.send_eof()

    def reset(self) -> None:
        """Close with RST."""
        assert isinstance(self.stream, trio.SocketStream)
        self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self.stream.socket.close()

    async def _more(self) -> bool:
        try:
            data = await self.stream.receive_some(65536)
        except trio.BrokenResourceError:
            return False
        self._buffer += data
        return bool(data)

    async def until(self, mark: bytes) -> bytes:
        """Everything up to and including the mark."""
        while mark not in self._buffer:
            if not await self._more():
                raise EOFError(self._buffer)
        taken, _, self._buffer = self._buffer.partition(mark)
        return taken + mark

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            if not await self._more():
                raise EOFError(self._buffer)
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        while await self._more():
            pass
        taken, self._buffer = self._buffer, b""
        return taken

    async def closed(self) -> None:
        """The server closes without another byte."""
        assert await self.rest() == b""

    async def answer(self, *, head_only: bool = False) -> Answer:
        """The next response, its body framed by what its head says. Raises EOFError when it is cut."""
        lines = (await self.until(b"\r\n\r\n"))[:-4].split(b"\r\n")
        headers: dict[bytes, bytes] = {}
        for line in lines[1:]:
            name, _, value = line.partition(b": ")
            assert name.lower() not in headers, line
            headers[name.lower()] = value
        status = int(lines[0].split(b" ")[1])
        if head_only or status in (204, 304) or status < 200:
            return Answer(status, headers, b"")
        if headers.get(b"transfer-encoding") == b"chunked":
            return Answer(status, headers, await self._chunks())
        if b"content-length" in headers:
            return Answer(status, headers, await self._exactly(int(headers[b"content-length"])))
        return Answer(status, headers, await self.rest())

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.until(b"\r\n"), 16):
            body += await self._exactly(size)
            assert await self._exactly(2) == b"\r\n"
        assert await self._exactly(2) == b"\r\n"
        return body


async def read_body(receive: Receive) -> bytes:
    """The whole request body; raises EOFError when the peer went before its end."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise EOFError
        body += message["body"]
        if not message["more_body"]:
            return body


async def respond(send: Send, body: bytes = b"ok", status: int = 200, headers: object = ()) -> None:
    """A whole response with its length."""
    fields = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def echo(scope: HttpScope, receive: Receive, send: Send) -> None:
    """Answers with method, path and body."""
    try:
        body = await read_body(receive)
    except EOFError:
        return
    await respond(send, b"%s %s %s" % (scope["method"].encode(), scope["path"].encode(), body))


def describing(seen: list[HttpScope]) -> App:
    """An application that keeps the scopes it was called with."""

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await echo(scope, receive, send)

    return app


async def until(condition: Callable[[], bool], every: float = 0.005) -> None:
    """Wait for a condition that the server brings about; bounded by the test's own deadline."""
    while not condition():
        await trio.sleep(every)
