"""Receivers on raw sockets: they say exactly the bytes a test wants, when it wants them."""

import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import trio

Stream = trio.SocketStream | trio.SSLStream[trio.SocketStream]
Script = Callable[["Receiver", Stream], Awaitable[object]]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Receiver:
    """One listening receiver; runs its script once per connection and remembers every whole request."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []
        self.closed = trio.Event()  # set whenever a connection's script is over

    async def serve(self, stream: Stream) -> None:
        """Runs the script; a peer that goes away ends it."""
        self.connections += 1
        try:
            await self._script(self, stream)
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(stream)
            self.closed.set()

    async def request(self, stream: Stream) -> bytes:
        """Reads one whole request; b"" when the peer closed instead."""
        received = b""
        while True:
            head, blank, body = received.partition(b"\r\n\r\n")
            if blank and len(body) >= content_length(head):
                self.requests.append(received)
                return received
            data = await stream.receive_some()
            if not data:
                return b""
            received += data


def content_length(head: bytes) -> int:
    """The Content-Length of a request head."""
    lines = [line.partition(b":") for line in head.split(b"\r\n")]
    return next(int(value) for name, _, value in lines if name.lower() == b"content-length")


def answering(*answers: bytes) -> Script:
    """A well-behaved receiver: one answer per request, the last one again and again."""

    async def script(receiver: Receiver, stream: Stream) -> None:
        turn = 0
        while await receiver.request(stream):
            await stream.send_all(answers[min(turn, len(answers) - 1)])
            turn += 1

    return script


def closing(answer: bytes) -> Script:
    """Answers once and closes the connection."""

    async def script(receiver: Receiver, stream: Stream) -> None:
        await receiver.request(stream)
        await stream.send_all(answer)

    return script


def resetting(answer: bytes) -> Script:
    """Answers once and resets the connection (RST instead of FIN)."""

    async def script(receiver: Receiver, stream: Stream) -> None:
        await receiver.request(stream)
        if answer:
            await stream.send_all(answer)
        assert isinstance(stream, trio.SocketStream)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return script


def dripping(first: bytes, drop: bytes) -> Script:
    """Sends a beginning, then drop after drop for as long as anybody listens."""

    async def script(receiver: Receiver, stream: Stream) -> None:
        await receiver.request(stream)
        await stream.send_all(first)
        while True:
            await stream.send_all(drop)
            await trio.sleep(0.01)

    return script


async def silent(receiver: Receiver, stream: Stream) -> None:
    """Accepts and reads, and never says a word."""
    while await stream.receive_some():
        pass


@asynccontextmanager
async def open_receiver(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver on a free loopback port for the length of the block, which must be over in two minutes."""
    receiver = Receiver(script)
    with trio.fail_after(120):
        listeners: Sequence[trio.SocketListener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        receiver.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_serve, receiver, listeners, tls)
            yield receiver
            nursery.cancel_scope.cancel()


async def _serve(receiver: Receiver, listeners: Sequence[trio.SocketListener], tls: ssl.SSLContext | None) -> None:
    if tls is None:
        await trio.serve_listeners(receiver.serve, list(listeners))
    else:
        await trio.serve_listeners(
            receiver.serve, [trio.SSLListener(one, tls, https_compatible=True) for one in listeners]
        )
