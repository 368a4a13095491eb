"""Where a server listens, and what one connection may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a server listens and what one connection may take. Sizes in bytes, times in seconds."""

    # "host:port", "[::1]:port", "unix:/path" or "fd://N"; port 0 takes a free one.
    bind: tuple[str, ...]
    # Paths of PEM files; both empty: plain HTTP. Unix sockets are plain in any case.
    tls_certificate: str = ""
    tls_key: str = ""
    # How long a browser is to come back over TLS alone, told over TLS alone (RFC 6797 §7.2); 0: not told.
    strict_transport_seconds: int = 0
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
    # For the whole body of who was not admitted: they send forms, and nothing large.
    stranger_read_seconds: float = 30
    # Without any progress of a write.
    write_timeout_seconds: float = 30
    # How long a closing connection is read on, so that the peer can read its answer.
    linger_seconds: float = 5
    drain_seconds: float = 20

    def body_seconds(self, received: int, *, admitted: bool) -> float:
        """How long a whole body may take, of which so many bytes are here."""
        if admitted:
            return self.request_read_seconds + received / self.min_body_rate
        return min(self.stranger_read_seconds, self.request_read_seconds)

    def tick_seconds(self) -> float:
        """How often deadlines are looked at: a quarter of the shortest, at most a second."""
        shortest = min(
            self.header_timeout_seconds,
            self.keep_alive_seconds,
            self.body_idle_timeout_seconds,
            self.request_read_seconds,
            self.stranger_read_seconds,
            self.write_timeout_seconds,
        )
        return min(1.0, shortest / 4)
