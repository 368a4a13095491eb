"""An upstream written for these tests: it writes down the raw bytes it is sent, and answers what a script says."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio
import trustme

MAX_CONNECTIONS = 64
HEAD_BYTES = 65_536

Stream = trio.SocketStream | trio.SSLStream[trio.SocketStream]


@dataclass(frozen=True)
class Recorded:
    """One request as it came off the wire."""

    raw: bytes

    @property
    def line(self) -> str:
        return self.raw.partition(b"\r\n")[0].decode("ascii")

    @property
    def target(self) -> str:
        return self.line.split(" ")[1]

    @property
    def fields(self) -> list[tuple[bytes, bytes]]:
        """Header fields in the order and the case they were sent in."""
        lines = self.raw.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
        return [(name, value.strip(b" ")) for name, _, value in (line.partition(b":") for line in lines)]

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    def values(self, name: str) -> list[bytes]:
        return [value for key, value in self.fields if key.lower() == name.lower().encode()]


Script = Callable[[Stream, Recorded], Awaitable[None]]


def answer(
    body: bytes = b'{"obligations":[]}',
    status: str = "200 OK",
    fields: bytes = b"Content-Type: application/json\r\n",
) -> bytes:
    """A whole answer."""
    return b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\n\r\n%b" % (status.encode(), fields, len(body), body)


def saying(*answers: bytes) -> Script:
    """Answer with these in turn, the last one for ever."""
    left = list(answers)

    async def script(stream: Stream, request: Recorded) -> None:
        await stream.send_all(left.pop(0) if len(left) > 1 else left[0])

    return script


async def hang(stream: Stream, request: Recorded) -> None:
    """Never answer, until the other side has had enough."""
    while await stream.receive_some(HEAD_BYTES):
        pass


async def hang_up(stream: Stream, request: Recorded) -> None:
    """Close without a word."""
    await trio.aclose_forcefully(stream)


@dataclass
class Upstream:
    """The server. `script` may be changed while it runs."""

    script: Script = field(default_factory=lambda: saying(answer()))
    requests: list[Recorded] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0
    url: str = ""

    @property
    def request(self) -> Recorded:
        """The one request there was."""
        assert len(self.requests) == 1, self.requests
        return self.requests[0]

    async def serve(self, stream: Stream) -> None:
        self.connections += 1
        self.open_connections += 1
        try:
            async with stream:
                while (request := await _read(stream)) is not None:
                    self.requests.append(request)
                    await self.script(stream, request)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return  # the other side has had enough
        finally:
            self.open_connections -= 1


async def _read(stream: Stream) -> Recorded | None:
    data = b""
    while b"\r\n\r\n" not in data:
        part = await stream.receive_some(HEAD_BYTES)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(v) for k, v in Recorded(data).fields if k.lower() == b"content-length"), 0)
    while len(body) < length:
        body += await stream.receive_some(HEAD_BYTES)
    return Recorded(head + b"\r\n\r\n" + body)


@asynccontextmanager
async def upstream(tls: ssl.SSLContext | None = None) -> AsyncIterator[Upstream]:
    """An upstream on loopback for the length of the block."""
    server = Upstream()

    async def handler(plain: trio.SocketStream) -> None:
        if tls is None:
            await server.serve(plain)
        else:
            await server.serve(trio.SSLStream(plain, tls, server_side=True, https_compatible=True))

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(
            lambda task_status: trio.serve_tcp(handler, 0, host="127.0.0.1", task_status=task_status)
        )
        port = listeners[0].socket.getsockname()[1]
        server.url = f"{'http' if tls is None else 'https'}://{'127.0.0.1' if tls is None else 'localhost'}:{port}"
        yield server
        nursery.cancel_scope.cancel()


def server_tls(authority: trustme.CA, name: str = "localhost") -> ssl.SSLContext:
    """The server's side, with a certificate for that name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context
