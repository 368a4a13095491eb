"""A webhook receiver that is a process of its own: it writes down what arrives, then answers 204. One thread, no trio.

    python -m tests.support.sink FILE          announces its address on stdout

The path says who receives and how quickly: `/7` answers at once, `/7/250` after 250 ms. A line of the file is there
before the answer is, so that what is not in the file was never acknowledged; lines have one length and can be counted.
"""

import heapq
import os
import selectors
import signal
import socket
import sys
import time
from itertools import count
from pathlib import Path
from typing import NamedTuple

ID_LENGTH = 31  # of a delivery and of a lead: prefix, underscore, ULID
LINE_LENGTH = 20 + 1 + 6 + 1 + ID_LENGTH + 1 + ID_LENGTH + 1
NOTHING = "-"
_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
_RECEIVE_BYTES = 64 * 1024
_BACKLOG = 1024


class Arrival(NamedTuple):
    """One request. `at` is CLOCK_MONOTONIC in nanoseconds, `lead` what the body names, or `-`."""

    at: int
    receiver: int
    delivery: str
    lead: str


def path_of(receiver: int, delay_ms: int = 0) -> str:
    """The path of a receiver that takes so long to answer."""
    return f"/{receiver}/{delay_ms}" if delay_ms else f"/{receiver}"


def arrived(file: Path) -> int:
    """How many requests are written down."""
    return file.stat().st_size // LINE_LENGTH if file.exists() else 0


def arrivals(file: Path, first: int = 0) -> list[Arrival]:
    """What is written down, in the order it came, from line `first` on."""
    with file.open("rb") as stream:
        stream.seek(first * LINE_LENGTH)
        lines = stream.read().decode().splitlines()
    return [_arrival(line) for line in lines if len(line) == LINE_LENGTH - 1]


def _arrival(line: str) -> Arrival:
    at, receiver, delivery, lead = line.split()
    return Arrival(int(at), int(receiver), delivery, lead)


def _after(text: bytes, mark: bytes, end: bytes) -> str:
    """What stands between the first `mark` and the next `end`, or `-`."""
    return text.partition(mark)[2].partition(end)[0].decode().strip() or NOTHING


class _Connection:
    """One connection of a sender, with what it has sent so far of the next request."""

    __slots__ = ("plain", "received")

    def __init__(self, plain: socket.socket) -> None:
        self.plain = plain
        self.received = b""

    def requests(self) -> list[tuple[bytes, bytes]] | None:
        """Whole requests that have arrived, head and body; None when the sender is gone."""
        try:
            data = self.plain.recv(_RECEIVE_BYTES)
        except ConnectionError:
            return None
        if not data:
            return None
        self.received += data
        arrived = []
        while (request := self._next()) is not None:
            arrived.append(request)
        return arrived

    def _next(self) -> tuple[bytes, bytes] | None:
        head, blank, rest = self.received.partition(b"\r\n\r\n")
        if not blank:
            return None
        head = head.replace(b"\r\nX-Service-Delivery:", b"\r\nx-service-delivery:", 1)
        length = int(_after(head.lower(), b"\r\ncontent-length:", b"\r\n"))
        if len(rest) < length:
            return None
        self.received = rest[length:]
        return head, rest[:length]

    def answer(self) -> None:
        try:
            self.plain.sendall(_ANSWER)
        except OSError:  # the sender did not wait for it
            return


class Sink:
    """The listening socket, its connections, and the answers that are still to be given."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._later: list[tuple[int, int, _Connection]] = []
        self._turn = count()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def run(self) -> None:
        """Receive until killed."""
        while True:
            ready = self._selector.select(self._patience())
            lines: list[bytes] = []
            at_once: list[_Connection] = []
            for key, _ in ready:
                if key.data is None:
                    self._accept()
                else:
                    self._receive(key.data, lines, at_once)
            if lines:
                os.write(self._file, b"".join(lines))
            for connection in at_once:
                connection.answer()
            now = time.monotonic_ns()
            while self._later and self._later[0][0] <= now:
                heapq.heappop(self._later)[2].answer()

    def _patience(self) -> float | None:
        return max(0.0, (self._later[0][0] - time.monotonic_ns()) / 1e9) if self._later else None

    def _accept(self) -> None:
        plain, _ = self._listener.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(plain, selectors.EVENT_READ, _Connection(plain))

    def _receive(self, connection: _Connection, lines: list[bytes], at_once: list[_Connection]) -> None:
        requests = connection.requests()
        if requests is None:
            self._selector.unregister(connection.plain)
            connection.plain.close()
            return
        at = time.monotonic_ns()
        for head, body in requests:
            receiver, _, delay_ms = _after(head, b" /", b" ").partition("/")
            delivery = _after(head, b"\r\nx-service-delivery:", b"\r\n")
            lead = _after(body, b'"lead_id":"', b'"')
            lines.append(f"{at:020} {int(receiver):06} {delivery:{ID_LENGTH}.31} {lead:{ID_LENGTH}.31}\n".encode())
            if delay_ms:
                heapq.heappush(self._later, (at + int(delay_ms) * 1_000_000, next(self._turn), connection))
            else:
                at_once.append(connection)


def main() -> None:
    """Announce, then receive until SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sink = Sink(Path(sys.argv[1]))
    print(sink.url, flush=True)
    sink.run()


if __name__ == "__main__":
    main()
