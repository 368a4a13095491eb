"""The two transports that a connection runs on: a plain socket and TLS."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

import trio

from gatewayd.http1.state import PeerGoneError

READ_BYTES: Final = 64 * 1024
WORTH_GATHERING_BYTES: Final = 16 * 1024  # Chosen: below it, copying head and body together costs less

# A write calls this whenever the peer has taken something: the moment to move its deadline.
Progress = Callable[[], None]


class Transport(Protocol):
    """What a connection reads from and writes to. `broken`: the peer ended it over bytes that it had not read."""

    broken: bool

    async def receive(self) -> bytes:
        """Wait for bytes: at most READ_BYTES, empty at the end or when the peer is gone."""

    async def send(self, data: bytes, progress: Progress) -> None:
        """Send everything; may return without a checkpoint. Raises PeerGoneError."""

    def send_at_once(self, head: bytes, body: bytes) -> bytes:
        """Send what can be sent without waiting; answers what is left. Raises PeerGoneError."""

    def shut_down(self) -> None:
        """Say that nothing more will be sent, where the transport can."""

    async def finish(self) -> None:
        """Say goodbye after a conversation that ended well; close() follows."""

    def close(self, *, reset: bool = False) -> None:
        """Close at once; `reset` lets the peer know that what it got is not whole."""


class PlainTransport:
    """A non-blocking socket, used directly: trio's stream costs two more checkpoints per request."""

    __slots__ = ("_socket", "broken")

    def __init__(self, accepted: socket.socket) -> None:
        self._socket = accepted
        self.broken = False

    async def receive(self) -> bytes:
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return self._socket.recv(READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                self.broken = True
                return b""

    async def send(self, data: bytes, progress: Progress) -> None:
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise PeerGoneError(str(error)) from error
        if sent != len(data):
            progress()
            await self._send_rest(memoryview(data)[sent:], progress)

    def send_at_once(self, head: bytes, body: bytes) -> bytes:
        try:
            if len(body) < WORTH_GATHERING_BYTES:
                sent = self._socket.send(head + body)
            else:
                sent = self._socket.sendmsg((head, body))
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise PeerGoneError(str(error)) from error
        if sent < len(head):
            return head[sent:] + body
        return body[sent - len(head) :]

    async def _send_rest(self, rest: memoryview, progress: Progress) -> None:
        while rest:
            await trio.lowlevel.wait_writable(self._socket)
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise PeerGoneError(str(error)) from error
            progress()

    def shut_down(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    async def finish(self) -> None:
        """Closing says it all."""

    def close(self, *, reset: bool = False) -> None:
        if self._socket.fileno() < 0:
            return
        if reset:
            reset_on_close(self._socket)
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


class TlsTransport:
    """TLS over trio's stream, its handshake done."""

    __slots__ = ("_plain", "_stream", "broken")

    def __init__(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        self._stream = stream
        self.broken = False
        self._plain = stream.transport_stream.socket

    async def receive(self) -> bytes:
        try:
            return bytes(await self._stream.receive_some(READ_BYTES))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.broken = True
            return b""

    async def send(self, data: bytes, progress: Progress) -> None:
        progress()
        try:
            for start in range(0, len(data), READ_BYTES):
                await self._stream.send_all(data[start : start + READ_BYTES])
                progress()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise PeerGoneError(str(error)) from error

    def send_at_once(self, head: bytes, body: bytes) -> bytes:
        """Nothing: encryption goes through trio's stream, which waits."""
        return head + body

    def shut_down(self) -> None:
        """TLS has no half-close that every client understands."""

    async def finish(self) -> None:
        """Send close_notify, without which a body that ends with the connection looks cut, and wait for the peer's end.

        The stream's own aclose() sends none: it is https_compatible.
        """
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._stream.unwrap()

    def close(self, *, reset: bool = False) -> None:
        if reset and self._plain.fileno() >= 0:
            reset_on_close(self._plain)
        self._plain.close()


def reset_on_close(plain: socket.socket | trio.socket.SocketType) -> None:
    """Make the next close() send RST instead of FIN."""
    with suppress(OSError):
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
