"""What the parts of the door share: settings, counters, the ASGI types and the coarse clock of its connections."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Literal, NamedTuple, Protocol, TypedDict

Headers = list[tuple[bytes, bytes]]
Address = tuple[str, int]


class AsgiVersions(TypedDict):
    """The ASGI versions the driver speaks."""

    version: str
    spec_version: str


class HttpScope(TypedDict):
    """An ASGI 3 `http` scope. Header names are lower case; `client` is None on a unix socket."""

    type: Literal["http"]
    asgi: AsgiVersions
    http_version: str
    method: str
    scheme: str
    path: str
    raw_path: bytes
    query_string: bytes
    root_path: str
    headers: Headers
    client: Address | None
    server: tuple[str, int | None] | None


class RequestMessage(TypedDict):
    """`http.request` carries body bytes; `http.disconnect` carries none and has only `type`."""

    type: Literal["http.request", "http.disconnect"]
    body: bytes
    more_body: bool


class DisconnectMessage(TypedDict):
    """The peer is gone, or the response is complete."""

    type: Literal["http.disconnect"]


class _ResponseMessageType(TypedDict):
    type: Literal["http.response.start", "http.response.body"]


class ResponseMessage(_ResponseMessageType, total=False):
    """Either half of a response: `status` and `headers` with the start, `body` and `more_body` with the body."""

    status: int
    headers: Iterable[tuple[bytes, bytes]]
    body: bytes
    more_body: bool


ReceiveMessage = RequestMessage | DisconnectMessage
Receive = Callable[[], Awaitable[ReceiveMessage]]
Send = Callable[[ResponseMessage], Awaitable[None]]
App = Callable[[HttpScope, Receive, Send], Awaitable[None]]


class Reply(NamedTuple):
    """A whole response. `fields` are rendered header lines: all but those of framing, connection and date."""

    status: int
    fields: bytes
    body: bytes


AtOnce = Callable[[HttpScope], Reply | None]
"""Answers a request without waiting for anything; None: let the application have it.

It saves a short read the whole of ASGI's messages, which cost as much as the read. Its own failures are answers too: an
exception out of it ends the connection without one.
"""


def never(scope: HttpScope) -> Reply | None:
    """An `AtOnce` that leaves everything to the application."""
    return None


class Refusal(NamedTuple):
    """An answer that the door gives in the application's place: an application/problem+json body and its request id."""

    body: bytes
    request_id: bytes


# Status and a sentence for the reader.
Refuse = Callable[[int, str], Refusal]


class Log(Protocol):
    """The two calls of a structlog logger that the door makes."""

    def error(self, event: str, **fields: object) -> object: ...

    def debug(self, event: str, **fields: object) -> object: ...


class Clock(Protocol):
    """Wall clock: microseconds since the epoch, UTC."""

    def now(self) -> int: ...


class PeerGoneError(OSError):
    """The peer closed or reset the connection while a response was being sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorSettings:
    """Where the door listens and what one connection may take. Sizes in bytes, times in seconds."""

    # "host:port", "[::1]:port", "unix:/path" or "fd://N"; port 0 takes a free one.
    bind: tuple[str, ...]
    # Paths of PEM files; both empty: plain HTTP.
    tls_certificate: str = ""
    tls_key: str = ""
    # Networks whose X-Forwarded-* are believed; "unix" stands for peers on unix sockets.
    trusted_proxies: tuple[str, ...] = ()
    unix_mode: int = 0o660
    backlog: int = 1024
    max_connections: int = 4096
    max_header_bytes: int = 32 * 1024
    max_target_bytes: int = 8 * 1024  # RFC 9112 §3: at least 8000 octets are recommended
    # How much of an unread body is swallowed after an early response.
    max_drain_bytes: int = 8 * 1024 * 1024
    handshake_timeout_seconds: float = 10
    # From the first byte of a request to the end of its header block.
    header_timeout_seconds: float = 10
    # Without a request, also before the first.
    keep_alive_seconds: float = 75
    # Between two reads of a body, and for the whole body beside min_body_rate.
    body_idle_timeout_seconds: float = 30
    request_read_seconds: float = 60
    min_body_rate: int = 1024  # bytes per second granted on top of request_read_seconds
    # Without any progress of a write.
    write_timeout_seconds: float = 30
    # How long a closing connection is read on, so that the peer can read its answer.
    linger_seconds: float = 5
    drain_seconds: float = 20

    def tick_seconds(self) -> float:
        """How often deadlines are looked at: a quarter of the shortest, at most a second."""
        shortest = min(
            self.header_timeout_seconds,
            self.keep_alive_seconds,
            self.body_idle_timeout_seconds,
            self.request_read_seconds,
            self.write_timeout_seconds,
        )
        return min(1.0, shortest / 4)


@dataclass(slots=True)
class DoorCounters:
    """What the door has seen since it opened."""

    connections: int = 0
    requests: int = 0
    # Requests the driver answered itself: malformed, too large, too slow.
    refused: int = 0
    # Exceptions out of the application, and out of a connection's own code.
    app_errors: int = 0
    connection_errors: int = 0
    failed_handshakes: int = 0
    # Times accept() found no descriptors or memory.
    accept_shortages: int = 0


@dataclass(slots=True)
class Door:
    """The state every connection of one server looks at; `tick` is called by the server's reaper alone."""

    app: App
    settings: DoorSettings
    refuse: Refuse
    log: Log
    clock: Clock
    at_once: AtOnce = never
    counters: DoorCounters = field(default_factory=DoorCounters)
    draining: bool = False
    # Coarse monotonic seconds: at most one tick behind.
    now: float = -math.inf
    # A whole `date:` header line.
    date_line: bytes = b""
    tick_seconds: float = 1.0

    def tick(self, now: float) -> None:
        """Move the coarse clock and the Date header on."""
        self.now = now
        date = formatdate(self.clock.now() / 1_000_000, usegmt=True)
        self.date_line = b"date: " + date.encode("ascii") + b"\r\n"

    def deadline_in(self, seconds: float) -> float:
        """The coarse instant that is never earlier than `seconds` from now."""
        return self.now + self.tick_seconds + seconds
