"""A load client that costs far less per request than the server it measures: plain sockets, prebuilt bytes, no trio.

Each connection has one request under way at a time. Responses are told apart by Content-Length alone.
"""

from __future__ import annotations

import itertools
import os
import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_RECEIVE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one run measured. CPU figures are None when no server process was named."""

    requests: int
    seconds: float
    # Responses by status code.
    statuses: dict[int, int]
    server_cpu_us_per_request: float | None
    client_cpu_us_per_request: float

    @property
    def requests_per_second(self) -> float:
        """Completed requests over wall time."""
        return self.requests / self.seconds if self.seconds else 0.0


def request_bytes(method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    """One HTTP/1.1 request with Host and, if there is a body, Content-Length."""
    fields = {"Host": "127.0.0.1", **(headers or {})}
    if body:
        fields["Content-Length"] = str(len(body))
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return head.encode("ascii") + b"\r\n" + body


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, from /proc (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Connection:
    """One keep-alive connection: sends the request, counts the bytes of its answer."""

    __slots__ = ("_buffer", "_missing", "body", "plain", "status")

    def __init__(self, address: tuple[str, int], *, keep_body: bool = False, number: int = 1) -> None:
        """`number`, 1 to 254, is that of the loopback address it comes from: by that peers are told apart."""
        self.plain = socket.create_connection(address, timeout=10, source_address=(f"127.0.0.{number}", 0))
        self.plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""
        self._missing = -1
        # None: bodies are counted and dropped.
        self.body: bytearray | None = bytearray() if keep_body else None
        self.status = 0

    def receive(self) -> bool:
        """Take what has arrived; whether the response is whole. Raises ConnectionError if the server closed."""
        data = self.plain.recv(_RECEIVE_BYTES)
        if not data:
            raise ConnectionError("the server closed the connection within a run")
        if self._missing >= 0:
            self._missing -= len(data)
            self._keep(data)
        else:
            self._buffer += data
            self._parse_head()
        if self._missing != 0:
            return False
        self._missing, self._buffer = -1, b""
        return True

    def _parse_head(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        length = head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        self.status = int(head[9:12])
        self._missing = int(length or 0) - (len(self._buffer) - end - 4)
        self._keep(self._buffer[end + 4 :])

    def _keep(self, data: bytes) -> None:
        if self.body is not None:
            self.body += data


def run_load(
    address: tuple[str, int],
    request: bytes | Iterator[bytes],
    *,
    requests: int,
    connections: int = 16,
    server_pid: int | None = None,
) -> LoadResult:
    """Send `requests` copies of one request, or as many that differ, over keep-alive connections and measure.

    Raises ConnectionError when the server closes a connection within the run, TimeoutError when it stalls for 10 s,
    ValueError when there are not so many that differ.
    """
    sent = itertools.repeat(request, requests) if isinstance(request, bytes) else itertools.islice(request, requests)
    following = list(sent)  # before the clock starts
    if len(following) < requests:
        raise ValueError(f"{requests} requests are wanted, {len(following)} are left")
    opened = [_Connection(address, number=1 + number) for number in range(min(connections, requests))]
    statuses: dict[int, int] = {}
    before = cpu_seconds(server_pid) if server_pid is not None else 0.0
    own_before, began = time.process_time(), time.perf_counter()
    try:
        _pump(opened, following, statuses)
    finally:
        seconds, own = time.perf_counter() - began, time.process_time() - own_before
        for connection in opened:
            connection.plain.close()
    spent = cpu_seconds(server_pid) - before if server_pid is not None else None
    return LoadResult(
        requests=requests,
        seconds=seconds,
        statuses=statuses,
        server_cpu_us_per_request=None if spent is None else spent * 1e6 / requests,
        client_cpu_us_per_request=own * 1e6 / requests,
    )


def _pump(opened: list[_Connection], following: list[bytes], statuses: dict[int, int]) -> None:
    """Keep one request under way on each connection until all are answered."""
    requests = len(following)
    with selectors.DefaultSelector() as selector:
        for connection, request in zip(opened, following, strict=False):
            selector.register(connection.plain, selectors.EVENT_READ, connection)
            connection.plain.sendall(request)
        sent, answered = len(opened), 0
        while answered < requests:
            ready = selector.select(timeout=10)
            if not ready:
                raise TimeoutError(f"no answer for 10 s after {answered} of {requests}")
            for key, _ in ready:
                connection = key.data
                if not connection.receive():
                    continue
                answered += 1
                statuses[connection.status] = statuses.get(connection.status, 0) + 1
                if sent < requests:
                    connection.plain.sendall(following[sent])
                    sent += 1


def fetch(address: tuple[str, int], request: bytes) -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own. Raises like `run_load`."""
    connection = _Connection(address, keep_body=True)
    try:
        connection.plain.sendall(request)
        while not connection.receive():
            pass
        return connection.status, bytes(connection.body or b"")
    finally:
        connection.plain.close()
