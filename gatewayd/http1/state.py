"""What the connections of one server share: its application, settings, counters and coarse clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Protocol

from gatewayd.http1.asgi import App
from gatewayd.http1.log import Log
from gatewayd.http1.proxy_headers import TrustedProxies
from gatewayd.http1.request import Address, Request, RequestIds
from gatewayd.http1.response import Response
from gatewayd.http1.settings import ServerSettings

AtOnce = Callable[[Request], Response | None]
"""Answers a request without waiting for anything; None: let the application have it.

It saves a short read the whole of ASGI's messages, which cost as much as the read. Its own failures are responses too:
an exception out of it ends the connection without one.
"""


def never(request: Request) -> Response | None:
    """An `AtOnce` that leaves everything to the application."""
    return None


Refuse = Callable[[int, str, str], Response]
"""What the server answers in the application's place, of a status, a sentence for the reader, and the request's id."""


class Clock(Protocol):
    """Wall clock: microseconds since the epoch, UTC."""

    def now(self) -> int: ...


class PeerGoneError(OSError):
    """The peer closed or reset the connection while a response was being sent."""


@dataclass(slots=True)
class ServerCounters:
    """What a server has seen since it opened."""

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
class ServerState:
    """The state every connection of one server looks at; `tick` is called by the server's reaper alone.

    `proxies` change while it serves, where the operator wants others.
    """

    app: App
    settings: ServerSettings
    refuse: Refuse
    log: Log
    clock: Clock
    proxies: TrustedProxies
    at_once: AtOnce = never
    counters: ServerCounters = field(default_factory=ServerCounters)
    request_ids: RequestIds = field(default_factory=RequestIds)
    draining: bool = False
    # Coarse monotonic seconds: at most one tick behind.
    now: float = -math.inf
    # A whole `date:` header line.
    date_line: bytes = b""
    tick_seconds: float = 1.0
    # Whether it was logged that a peer forwards for others and is not believed.
    forwarding_noted: bool = False

    @property
    def strict_line(self) -> bytes:
        """A whole `strict-transport-security:` line, for connections over TLS; empty: none."""
        seconds = self.settings.strict_transport_seconds
        return b"strict-transport-security: max-age=%d\r\n" % seconds if seconds else b""

    def tick(self, now: float) -> None:
        """Move the coarse clock and the Date header on."""
        self.now = now
        date = formatdate(self.clock.now() / 1_000_000, usegmt=True)
        self.date_line = b"date: " + date.encode("ascii") + b"\r\n"

    def note_forwarding(self, peer: Address | None) -> None:
        """Log, once: all that come through this peer look like one, unless it is named a trusted proxy."""
        if not self.forwarding_noted:
            self.forwarding_noted = True
            proxy = "a unix socket" if peer is None else peer[0]
            self.log.warning("forwarded_headers_not_believed", peer=proxy, setting="server.trusted_proxies")

    def deadline_in(self, seconds: float) -> float:
        """The coarse instant that is never earlier than `seconds` from now."""
        return self.now + self.tick_seconds + seconds
