"""The server: accepts connections, contains each of them, watches their deadlines, drains.

An exception out of one connection is logged, counted and ends that connection only.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from functools import partial
from typing import Final

import trio

from gatewayd.http1.asgi import App
from gatewayd.http1.certificates import Certificate, CertificateError, Leaf, load_certificate
from gatewayd.http1.connection import Connection
from gatewayd.http1.listeners import (
    connection_limit,
    describe,
    open_listeners,
    peer_of,
    server_of,
    unix_inodes,
    unlink_unix,
)
from gatewayd.http1.log import Log
from gatewayd.http1.networks import network_of
from gatewayd.http1.places import Place, Places
from gatewayd.http1.proxy_headers import TrustedProxies
from gatewayd.http1.settings import ServerSettings
from gatewayd.http1.state import AtOnce, Clock, Refuse, ServerCounters, ServerState, never
from gatewayd.http1.transports import PlainTransport, TlsTransport, Transport

# accept(2): the system is short of something; it is worth waiting.
_SHORTAGES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
_SHORTAGE_PAUSE_SECONDS: Final = 0.1
# Connections taken from one listener before others get a turn.
_ACCEPT_BATCH: Final = 64


class Server:
    """One server: `serve()` runs it, `drain()` asks it to end well."""

    def __init__(
        self,
        app: App,
        settings: ServerSettings,
        *,
        refuse: Refuse,
        log: Log,
        clock: Clock,
        at_once: AtOnce = never,
    ) -> None:
        """`at_once` is asked before `app`, over HTTP/1.1. Raises ValueError for a trusted proxy that is no network."""
        proxies = TrustedProxies.parse(settings.trusted_proxies)
        self._state = ServerState(app, settings, refuse, log, clock, proxies, at_once)
        self._settings = settings
        # Of connections that are accepted from now on; None: plain HTTP.
        self._certificate: Certificate | None = None
        # In the order they came; the values say nothing.
        self._connections: dict[Connection, None] = {}
        self._drain = trio.Event()
        self._open = 0
        self._places = Places(settings.max_connections)
        # Replaced each time a connection ends; waited on by whoever needs a place.
        self._ended = trio.Event()

    @property
    def counters(self) -> ServerCounters:
        """What it has seen since it opened."""
        return self._state.counters

    @property
    def open_connections(self) -> int:
        """Connections accepted and not yet closed."""
        return self._open

    @property
    def places(self) -> Places:
        """How many connections there may be, and who had to go."""
        return self._places

    @property
    def leaf(self) -> Leaf | None:
        """The certificate that new connections get; None without TLS."""
        return None if self._certificate is None else self._certificate.leaf

    def prepare(self, settings: ServerSettings) -> Callable[[], None]:
        """Make ready the trusted proxies and the certificate of `settings`; the result puts them in place.

        A certificate is for new connections alone, and the two changes are one. This may run on any thread, the result
        on the loop's. Raises `CertificateError`, also for a certificate that is not good now, or `ValueError`.
        """
        certificate = load_certificate(settings.tls_certificate, settings.tls_key) if self._certificate else None
        if certificate is not None:
            self._require_good_now(certificate.leaf, settings.tls_certificate)
        return partial(self._take, certificate, TrustedProxies.parse(settings.trusted_proxies))

    def _require_good_now(self, leaf: Leaf, path: str) -> None:
        now = self._state.clock.now()
        if now > leaf.ends_at:
            raise CertificateError(f"{path} has expired")
        if now < leaf.begins_at:
            raise CertificateError(f"{path} is not good yet")

    def _take(self, certificate: Certificate | None, proxies: TrustedProxies) -> None:
        self._certificate = certificate
        self._state.proxies = proxies
        for connection in self._connections:  # who is no longer trusted may go on, without being believed
            connection.believe(proxies)

    def drain(self) -> None:
        """Stop accepting, close idle connections, let requests in flight finish; serve() then returns."""
        self._drain.set()

    async def serve(self, *, task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled or drained. Starts with the addresses: `http://127.0.0.1:8080`, `unix:/path`.

        Raises OSError or ValueError before it has started if it cannot listen.
        """
        settings, state = self._settings, self._state
        if settings.tls_certificate:
            self._certificate = load_certificate(settings.tls_certificate, settings.tls_key)
            import gatewayd.http1.http2  # noqa: F401 - now, and not when the first connection waits for it
        listeners = open_listeners(settings)
        inodes = unix_inodes(settings)
        self._places.limit = connection_limit(settings.max_connections)
        state.tick_seconds = settings.tick_seconds()
        state.tick(trio.current_time())
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._reap)
                connections = await nursery.start(self._hold_connections)
                async with trio.open_nursery() as accepting:
                    for listener in listeners:
                        accepting.start_soon(self._accept, listener, connections)
                    scheme = "http" if self._certificate is None else "https"
                    task_status.started([describe(listener, scheme) for listener in listeners])
                    await self._drain.wait()
                    accepting.cancel_scope.cancel()
                await self._finish(listeners)
                nursery.cancel_scope.cancel()
        finally:
            for listener in listeners:
                listener.close()
            unlink_unix(inodes)

    async def _hold_connections(self, task_status: trio.TaskStatus[trio.Nursery]) -> None:
        async with trio.open_nursery() as nursery:
            task_status.started(nursery)
            await trio.sleep_forever()

    async def _finish(self, listeners: list[socket.socket]) -> None:
        """Wait for the requests in flight, at most drain_seconds."""
        self._state.draining = True
        for listener in listeners:
            listener.close()
        for connection in list(self._connections):
            connection.close_if_idle()
        with trio.move_on_after(self._settings.drain_seconds):
            while self._open:
                await self._ended.wait()

    async def _reap(self) -> None:
        """Move the coarse clock on and end the connections whose deadline has passed."""
        state = self._state
        while True:
            now = trio.current_time()
            state.tick(now)
            for connection in list(self._connections):
                connection.check(now)
            self._places.report(state.log, now)
            await trio.sleep(state.tick_seconds)

    async def _accept(self, listener: socket.socket, connections: trio.Nursery) -> None:
        while True:
            await trio.lowlevel.wait_readable(listener)
            while not self._places.has_room():
                await self._wait_for_end()
            try:
                self._accept_waiting(listener, connections)
            except OSError as error:
                # ECONNABORTED and its like concern one connection that is gone already.
                if error.errno in _SHORTAGES:
                    await self._wait_out_shortage(error)

    def _accept_waiting(self, listener: socket.socket, connections: trio.Nursery) -> None:
        """Take what waits at a listener, as far as there is room. Raises OSError of accept(2)."""
        for _ in range(_ACCEPT_BATCH):
            if not self._places.has_room():
                return
            try:
                accepted, address = listener.accept()
            except BlockingIOError:
                return
            self._state.counters.connections += 1
            place = self._places.take(self._network_of(listener, address))
            if place is None:
                accepted.close()
                continue
            accepted.setblocking(False)
            self._open += 1
            connections.start_soon(self._contain, accepted, place)

    def _network_of(self, listener: socket.socket, address: tuple[str, int] | str) -> str | None:
        """The network whose share a newcomer counts for; None for trusted proxies and unix sockets, which have none."""
        if listener.family == socket.AF_UNIX or isinstance(address, str):
            return None
        return None if self._state.proxies.believes(address) else network_of(address[0])

    async def _wait_for_end(self) -> None:
        """Wait for any connection to end, or to become one that may be ended."""
        with trio.move_on_after(_SHORTAGE_PAUSE_SECONDS):
            await self._ended.wait()

    async def _wait_out_shortage(self, error: OSError) -> None:
        counters = self._state.counters
        counters.accept_shortages += 1
        self._state.log.error("accept_shortage", reason=str(error), open_connections=self._open)
        await trio.sleep(_SHORTAGE_PAUSE_SECONDS)
        self._places.end_one()
        await self._wait_for_end()

    async def _contain(self, accepted: socket.socket, place: Place) -> None:
        """Serve one connection; whatever comes out of it stays here. A connection is a request border."""
        try:
            with place.scope:
                if self._certificate is None or accepted.family == socket.AF_UNIX:
                    await self._converse(PlainTransport(accepted), accepted, "http", place)
                else:
                    await self._serve_tls(accepted, self._certificate, place)
        except Exception as error:
            self._state.counters.connection_errors += 1
            self._state.log.error("connection_failed", exc_info=error)
        finally:
            accepted.close()
            self._places.leave(place)
            self._open -= 1
            ended, self._ended = self._ended, trio.Event()
            ended.set()

    async def _converse(self, transport: Transport, accepted: socket.socket, scheme: str, place: Place) -> None:
        try:
            addresses = peer_of(accepted), server_of(accepted)
        except OSError:
            return  # reset before it was looked at
        connection = Connection(self._state, transport, addresses, scheme)
        connection.believe(self._state.proxies)
        self._connections[connection] = None
        place.occupant, connection.place = connection, place
        try:
            await connection.run()
        finally:
            del self._connections[connection]

    async def _serve_tls(self, accepted: socket.socket, certificate: Certificate, place: Place) -> None:
        plain = trio.SocketStream(trio.socket.from_stdlib_socket(accepted))
        stream = trio.SSLStream(plain, certificate.context, server_side=True, https_compatible=True)
        try:
            if await self._handshake(stream):
                if stream.selected_alpn_protocol() == "h2":
                    from gatewayd.http1.http2 import serve_http2  # Hypercorn: a tenth of the start, for TLS alone

                    await serve_http2(self._state, stream, self._drain, place)
                else:
                    await self._converse(TlsTransport(stream), accepted, "https", place)
        finally:
            plain.socket.close()

    async def _handshake(self, stream: trio.SSLStream[trio.SocketStream]) -> bool:
        with trio.move_on_after(self._settings.handshake_timeout_seconds):
            try:
                await stream.do_handshake()
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                self._state.log.debug("tls_handshake_failed", reason=str(error.__cause__ or error))
            else:
                return True
        self._state.counters.failed_handshakes += 1
        return False
