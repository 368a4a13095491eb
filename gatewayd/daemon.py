"""The daemon: the store, then the engines, then the doors, and the same way back.

    open_store            everything durable
      provider            signing keys, and who is admitted
      tax                 the way to the tax authority
      background          wake-ups, housekeeping, heartbeat
        dispatcher        webhook deliveries
          doors           the API, and the metrics on an address of their own

The dispatcher begins once the doors are open: a webhook may not lead to them, so their addresses must be known. A stop
leaves in the reverse order: no new connections, requests in flight are answered, deliveries in flight are recorded or
left to their lease, the store is closed last.
"""

import math
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

import msgspec
import trio

import gatewayd
from gatewayd import catalogue
from gatewayd.clock import Clock, Instant, SystemClock, from_wire
from gatewayd.config import Config, TcpBind, parse_bind, without_effect
from gatewayd.console.addresses import is_page
from gatewayd.console.lazy_app import Console
from gatewayd.events import EVENT_KINDS, EventBody
from gatewayd.http import documents, metrics, observer, openapi
from gatewayd.http.api import Api, ApiParts
from gatewayd.http.render import refusal
from gatewayd.http.router import Router
from gatewayd.http.security_schemes import ProviderUrls
from gatewayd.http1.cors import Cors
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from gatewayd.logs import AccessLog, Level, LogFormat, Logger, make_logger
from gatewayd.oauth.addresses import AUTHORIZE, DISCOVERY, NO_ENDPOINT, PREFIX, TOKEN, metric_labels
from gatewayd.outbound.transport import GuardedTransport
from gatewayd.performing import idempotency
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.provider import Provider, ProviderSettings, note_use, open_provider
from gatewayd.service_manager import Notifier
from gatewayd.store import Store, StoreFailure
from gatewayd.store.database import StoreSettings, open_store
from gatewayd.tax import engine
from gatewayd.tax.headers import FROM_PAGES, TO_PAGES
from gatewayd.tax.proxy import Proxy
from gatewayd.tax.settings import TaxSettings
from gatewayd.webhooks.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.retention import Retention
from gatewayd.webhooks.sender import Sender
from gatewayd.webhooks.settings import WebhookSettings, settings_from

USER_AGENT = f"gatewayd/{gatewayd.__version__}"
HOUSEKEEPING_SECONDS = 60.0
ACCESS_LOG_SECONDS = 1.0
BEAT_SECONDS = 1.0  # Chosen: how often the store is asked whether it answers
READY_SECONDS = 2.0  # Chosen: how long it may take before the daemon is not ready
METRICS_CONNECTIONS = 16  # Chosen: a few scrapers and a person
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a daemon takes from outside: everything that is not a setting."""

    log_stream: TextIO
    clock: Clock = field(default_factory=SystemClock)
    notifier: Notifier = field(default_factory=Notifier)
    access_log: bool = True


@dataclass(frozen=True, kw_only=True)
class Running:
    """A daemon that serves. `addresses` are those its API is bound to."""

    addresses: tuple[str, ...]
    store: Store


@dataclass(frozen=True, kw_only=True)
class _Deliveries:
    """The dispatcher, its sender, and the nursery that it will run in."""

    dispatcher: Dispatcher
    sender: Sender
    nursery: trio.Nursery

    async def begin(self) -> None:
        """Dispatch until the nursery is cancelled."""
        await self.nursery.start(self.dispatcher.run)


class Daemon:
    """One daemon. Two of them in one process share nothing."""

    def __init__(self, config: Config, surroundings: Surroundings) -> None:
        self.config = config
        self._outside = surroundings
        log_format = cast(LogFormat, config.log.format)
        self._log: Logger = make_logger(log_format, cast(Level, config.log.level), surroundings.log_stream)
        self._access = AccessLog(log_format, surroundings.log_stream)
        self._requests = metrics.RequestTallies()
        self._observer = observer.Observer(
            surroundings.clock, self._requests, self._access if surroundings.access_log else None
        )
        self._retention = Retention(config.webhooks.retention_days, surroundings.clock, self._log)
        self._addresses: tuple[str, ...] = ()
        self._metrics_addresses: tuple[str, ...] = ()
        self._store_answers = False
        self._stop = trio.Event()
        self.ended = trio.Event()

    @property
    def started(self) -> bool:
        """Whether it has come as far as serving: what went wrong before is about its surroundings."""
        return bool(self._addresses)

    def stop(self) -> None:
        """Ask it to end well."""
        self._stop.set()

    async def run(self, *, task_status: trio.TaskStatus[Running] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`.

        Raises `StoreFailure`, `MigrationError`, `CatalogueError`, `OSError` or `ValueError` when it cannot start.
        """
        config, outside = self.config, self._outside
        settings = settings_from(config.webhooks, self._own_listeners)
        tax = engine.settings_from(config.tax, self._own_listeners)
        transport = GuardedTransport(settings.policy)
        async with (
            open_store(StoreSettings.of(config.store), outside.clock, Path(config.store.key_file)) as store,
            open_provider(store, transport, outside.clock, self._log, self._provider_settings()) as provider,
            engine.open_tax(store, tax, outside.clock, self._log, USER_AGENT) as proxy,
            self._background(store, provider),
            self._delivering(store, settings, transport) as deliveries,
            trio.open_nursery() as doors,
        ):
            server = self._server(provider, settings, deliveries.dispatcher, proxy)
            numbers = self._metrics_server(server, store, deliveries)
            if numbers is not None:
                self._metrics_addresses = tuple(await doors.start(numbers.serve))
            self._addresses = tuple(await doors.start(server.serve))
            await deliveries.begin()
            self._tell_serving()
            doors.start_soon(provider.open_keys)  # Chosen: not before, since they take a tenth of the start
            task_status.started(Running(addresses=self._addresses, store=store))
            await self._stop.wait()  # may last: the documented wait for a signal
            outside.notifier.stopping()
            self._log.info("stopping")
            server.drain()
            if numbers is not None:
                numbers.drain()
        await self._write_access_log()
        self._log.info("stopped")
        self.ended.set()

    def _tell_serving(self) -> None:
        if changed := without_effect(self.config):
            self._log.warning("settings_without_effect_yet", settings=changed)
        places = {"metrics": self._metrics_addresses} if self._metrics_addresses else {}
        self._log.info("serving", addresses=self._addresses, **places, directory=self.config.store.directory)
        self._outside.notifier.ready(f"serving on {', '.join(self._addresses)}")

    @asynccontextmanager
    async def _background(self, store: Store, provider: Provider) -> AsyncIterator[None]:
        """What goes on beside the requests; at the end of a good stop the house is tidied once more."""
        await store.write(idempotency.forget_interrupted)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.watch_other_processes)
            nursery.start_soon(self._keep_house, store, provider)
            nursery.start_soon(self._keep_access_log)
            await nursery.start(self._beat, store)
            yield
            nursery.cancel_scope.cancel()
        await self._keep(_tidy(store, provider))

    @asynccontextmanager
    async def _delivering(
        self, store: Store, settings: WebhookSettings, transport: GuardedTransport
    ) -> AsyncIterator[_Deliveries]:
        sender = Sender(transport, user_agent=USER_AGENT, timeout_seconds=settings.timeout_seconds)
        parts = DispatcherParts(store=store, sender=sender, clock=self._outside.clock, settings=settings, log=self._log)
        dispatcher = Dispatcher(parts)
        try:
            async with trio.open_nursery() as nursery:
                yield _Deliveries(dispatcher=dispatcher, sender=sender, nursery=nursery)
                nursery.cancel_scope.cancel()  # it takes its time: attempts under way may end first
        finally:
            with trio.CancelScope(shield=True):
                await sender.aclose()

    # -- the doors

    def _server(self, provider: Provider, settings: WebhookSettings, dispatcher: Dispatcher, tax: Proxy) -> Server:
        built, oauth = _catalogue(settings), provider.app
        api = Api(
            ApiParts(
                operations=built.operations,
                store=provider.store,
                authenticate=provider.authenticator.authenticate,
                limits=RateLimits(self.config.limits.requests_per_minute, self.config.limits.concurrent_requests),
                cors=Cors(self.config.server.cors_origins, FROM_PAGES, TO_PAGES),
                log=self._log,
                observe=self._observer.answered,
                deps=catalogue.Deps(tax=tax),
                json_body_bytes=self.config.limits.json_body_bytes,
                call_seconds=self.config.tax.timeout_seconds,
                public_url=self.config.server.public_url,
            )
        )
        label = observer.labelled(metric_labels(oauth.paths), NO_ENDPOINT)
        watched = self._observer.watched(oauth, label)
        at_once = self._observer.watched_at_once(oauth.at_once, label)
        app = Router(
            {
                **dict.fromkeys(oauth.paths, watched),
                "/healthz": documents.alive(),
                "/readyz": documents.ready(lambda: self._states(dispatcher)),
                "/openapi.json": documents.document_when_asked(
                    lambda: msgspec.json.encode(_described(built, self.config))
                ),
            },
            api,
            api.at_once,
            mounts=((PREFIX, watched),),
            ready=dict.fromkeys(oauth.paths, at_once),
            pages=self._observer.watched(self._console(provider.store, tax.settings), observer.always("console")),
            is_page=is_page,
        )
        return Server(
            app,
            door_settings(self.config),
            refuse=refusal,
            log=self._log,
            clock=self._outside.clock,
            at_once=app.at_once,
        )

    def _console(self, store: Store, tax: TaxSettings) -> Console:
        return Console(
            store,
            self._outside.clock,
            self._log,
            issuer=self.config.server.public_url,
            attempts=self.config.limits.sign_in_attempts,
            tax=tax,
        )

    def _metrics_server(self, server: Server, store: Store, deliveries: _Deliveries) -> Server | None:
        """The door of the numbers, for an operator's own network: plain HTTP, no credential. None: not wanted."""
        if not self.config.metrics.bind:
            return None
        page = metrics.page(
            metrics.Watched(
                requests=self._requests,
                server=server,
                store=store,
                dispatcher=deliveries.dispatcher,
                attempts_limit=self.config.webhooks.concurrency,
                idle_connections=lambda: deliveries.sender.idle,
                access_log=self._access,
                is_ready=lambda: all(state == "ok" for state in self._states(deliveries.dispatcher).values()),
            )
        )
        settings = ServerSettings(
            bind=(self.config.metrics.bind,),
            unix_mode=self.config.server.socket_mode,
            max_connections=METRICS_CONNECTIONS,
            drain_seconds=self.config.server.drain_seconds,
        )
        return Server(page, settings, refuse=refusal, log=self._log, clock=self._outside.clock)

    def _provider_settings(self) -> ProviderSettings:
        return ProviderSettings(
            issuer=self.config.server.public_url,
            refresh_grace_seconds=self.config.oauth.refresh_grace_seconds,
            user_agent=USER_AGENT,
        )

    def _own_listeners(self) -> list[tuple[str, int]]:
        """The TCP addresses this daemon answers on: webhooks may not lead back to them."""
        addresses = (*self._addresses, *self._metrics_addresses)
        bound = [parse_bind(address.partition("://")[2]) for address in addresses if "://" in address]
        return [(bind.host, bind.port) for bind in bound if isinstance(bind, TcpBind)]

    # -- the background

    async def _keep_house(self, store: Store, provider: Provider) -> None:
        while True:
            await trio.sleep(HOUSEKEEPING_SECONDS)
            await self._keep(_tidy(store, provider))
            # Not at a stop, which may not wait for them.
            await self._keep(provider.keep_house())
            await self._keep(self._retention.sweep(store))
            await self._keep(engine.keep_house(store))

    async def _keep(self, work: Awaitable[object]) -> None:
        try:
            await work
        except StoreFailure as error:  # a full disk: the next round does it
            self._log.error("housekeeping_failed", exc_info=error)

    async def _keep_access_log(self) -> None:
        while True:
            await trio.sleep(ACCESS_LOG_SECONDS)
            await self._write_access_log()

    async def _write_access_log(self) -> None:
        """On a thread, and left there when it is stuck: a log that nobody reads may not hold the daemon."""
        with trio.move_on_after(ACCESS_LOG_SECONDS):
            await trio.to_thread.run_sync(self._access.flush, abandon_on_cancel=True)

    async def _beat(self, store: Store, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Ask the store whether it answers, and for as long as it does tell the service manager that all is well.

        Readiness is read off the last beat, so that asking for it often costs the store nothing.
        """
        notifier = self._outside.notifier
        interval = notifier.watchdog_seconds or math.inf
        ping_at = 0.0 if notifier.watchdog_seconds else math.inf
        self._store_answers = await _answers(store)
        task_status.started()
        while True:
            if self._store_answers and trio.current_time() >= ping_at:
                notifier.watchdog()
                ping_at = trio.current_time() + interval
            await trio.sleep(min(BEAT_SECONDS, interval / 2))
            self._note_answers(await _answers(store))

    def _note_answers(self, answers: bool) -> None:
        if answers != self._store_answers:
            tell = self._log.info if answers else self._log.error
            tell("store_answers_again" if answers else "store_does_not_answer")
        self._store_answers = answers

    def _states(self, dispatcher: Dispatcher) -> dict[str, str]:
        """Each part of the daemon, with `ok` or what is wrong with it."""
        return {
            "store": "ok" if self._store_answers else "does not answer",
            "dispatcher": "ok" if dispatcher.running else "is not running",
            "stopping": "yes" if self._stop.is_set() else "ok",
        }


async def _tidy(store: Store, provider: Provider) -> None:
    """Write down which credentials were used, and sweep what has expired. Raises `StoreFailure`."""
    use = provider.authenticator.use
    due = use.due(Instant(store.now()))
    if due:
        await store.write(lambda tx: note_use(tx, due))
        use.written(due)
    while await store.write(idempotency.sweep) == idempotency.SWEEP_ROWS:
        pass


async def _answers(store: Store) -> bool:
    """True when a read and an empty commit come back in time."""
    try:
        with trio.fail_after(READY_SECONDS):
            await store.read(lambda tx: tx.value("SELECT 1"))
            await store.check_writer()
    except (trio.TooSlowError, StoreFailure):
        return False
    return True


def rows(config: Config) -> catalogue.Catalogue:
    """The operations of a daemon with these settings. Raises `CatalogueError`."""
    return _catalogue(settings_from(config.webhooks))


def description(config: Config) -> dict[str, Any]:
    """The OpenAPI document of a daemon with these settings."""
    return _described(rows(config), config)


def _described(built: catalogue.Catalogue, config: Config) -> dict[str, Any]:
    origin = config.server.public_url
    urls = ProviderUrls(origin + AUTHORIZE, origin + TOKEN, origin + DISCOVERY)
    return openapi.describe(built.areas, origin, _described_events(), urls)


def _described_events() -> dict[str, tuple[Any, object]]:
    """Each event kind with the struct of a delivery's body and a sample of it."""
    sent_at = from_wire("2026-11-20T09:30:00.125Z")
    return {
        name: (
            cast(Any, EventBody)[kind.data],
            EventBody(id="wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8", event=name, data=kind.sample, sent_at=sent_at),
        )
        for name, kind in EVENT_KINDS.items()
    }


def _catalogue(settings: WebhookSettings) -> catalogue.Catalogue:
    return catalogue.build(settings.policy, settings.retry.max_attempts, settings.retention_days)


def door_settings(config: Config) -> ServerSettings:
    """The door that `config` names. Raises `OSError` where a certificate or its key cannot be read."""
    server = config.server
    for path in filter(None, (server.tls_certificate, server.tls_key)):
        Path(path).open("rb").close()  # raises with the name of the file, which OpenSSL leaves out
    return ServerSettings(
        bind=server.bind,
        tls_certificate=server.tls_certificate,
        tls_key=server.tls_key,
        trusted_proxies=server.trusted_proxies,
        unix_mode=server.socket_mode,
        max_connections=server.max_connections,
        max_header_bytes=config.limits.header_bytes,
        header_timeout_seconds=server.header_timeout_seconds,
        keep_alive_seconds=server.keep_alive_timeout_seconds,
        request_read_seconds=server.request_read_timeout_seconds,
        drain_seconds=server.drain_seconds,
    )


async def run_until_signalled(daemon: Daemon) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the process at once, as it ends any other."""
    with trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_stop_on_signal, daemon, signals)
            await daemon.run()
            nursery.cancel_scope.cancel()


async def _stop_on_signal(daemon: Daemon, signals: AsyncIterator[int]) -> None:
    async for _ in signals:
        for number in STOP_SIGNALS:  # the kernel's own way: it works whatever the daemon is stuck in
            signal.signal(number, signal.SIG_DFL)
        daemon.stop()
