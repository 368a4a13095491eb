"""Bodies that come slowly, though not too slowly: many at a time, from a thread beside the test."""

import contextlib
import socket
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

LENGTH = 5_000_000  # more than is ever sent of one
PART = bytes(8 << 10)  # a second: eight times the least rate
HEAD_BYTES = 4096


class SlowBodies:
    """Requests whose bodies go on for the length of the block."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()
        self._feeding = threading.Thread(target=self._feed)

    def __enter__(self) -> Self:
        self._feeding.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._feeding.join()
        for peer in self._sockets:
            peer.close()

    def add(self, count: int, method: str, path: str, fields: Sequence[str] = ()) -> None:
        """So many requests more, of which the first byte is sent."""
        head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {LENGTH}", *fields, "", "x"]
        for _ in range(count):
            opened = socket.create_connection(("127.0.0.1", self._port))
            opened.sendall("\r\n".join(head).encode())
            opened.setblocking(False)
            self._sockets.append(opened)

    def answers(self) -> list[str]:
        """Status line and `Retry-After` of what was answered so far."""
        return [answer for peer in self._sockets if (answer := _answer(peer))]

    def _feed(self) -> None:
        while not self._over.wait(1):
            for peer in [peer for peer in self._sockets if not _answer(peer)]:
                with contextlib.suppress(OSError):  # the daemon takes nothing now
                    peer.send(PART)


def _answer(opened: socket.socket) -> str:
    try:
        lines = opened.recv(HEAD_BYTES, socket.MSG_PEEK).decode("latin-1").split("\r\n")
    except (BlockingIOError, ConnectionResetError):
        return ""
    retry = next((line for line in lines if line.lower().startswith("retry-after:")), "")
    return f"{lines[0].split(' ')[1]} {retry}".lower() if len(lines) > 1 else ""
