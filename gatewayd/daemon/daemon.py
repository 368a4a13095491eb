"""The daemon: the store, then the engines, then the doors, and the same way back.

    locked                the data directory is this daemon's
    open_store            everything durable
      provider            signing keys, and who is admitted
      holder              what is worked on by this process alone
      tax                 the way to the tax authority
      importing           statements that are imported
      vault               uploads, the folder that is watched, and what reads and finds documents
      background          wake-ups, housekeeping, heartbeat
        dispatcher        webhook deliveries
          doors           the API, and the metrics on an address of their own

The dispatcher begins once the doors are open: a webhook may not lead to them, so their addresses must be known. A stop
leaves in the reverse order: no new connections, requests in flight are answered, deliveries in flight are recorded or
left to their lease, the store is closed last.
"""

import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TextIO, cast

import trio

import gatewayd
from gatewayd.bundles.engine import Bundles
from gatewayd.clock import Clock, SystemClock
from gatewayd.config import ROOT, Config, TcpBind, parse_bind
from gatewayd.daemon.background import BackgroundParts, close_log, open_background
from gatewayd.daemon.doors import DoorParts, Doors, create_doors, create_metrics_server
from gatewayd.daemon.embedding import OpenEmbedder, embedder_of
from gatewayd.daemon.examining import Examination, OwnInstance
from gatewayd.daemon.health import Health
from gatewayd.daemon.holding import open_daemons_holder
from gatewayd.daemon.instance import OwnDaemon
from gatewayd.daemon.mailing import sending_mail
from gatewayd.daemon.reading import OpenReader, reader_of
from gatewayd.daemon.reload import Install, Prepare, Reloader
from gatewayd.daemon.rounds import Rounds
from gatewayd.daemon.stores import open_whole_store
from gatewayd.daemon.vault import VaultEngines, open_vault
from gatewayd.http.observer import Observer
from gatewayd.http.request_counters import RequestCounters
from gatewayd.identity import audit
from gatewayd.importing.engine import Importing, open_importing
from gatewayd.importing.parts import ImportParts, ReadApart
from gatewayd.importing.prices import PriceImporting
from gatewayd.leases.holder import Holder
from gatewayd.logs import AccessLog, Level, LogFormat, Logger, Threshold, make_logger, make_writer
from gatewayd.logs.standard_error import QueuedStandardError
from gatewayd.mail.notices import mailing_of
from gatewayd.mail.settings import settings_from as mail_settings_from
from gatewayd.metrics.snapshot import Watched
from gatewayd.outbound.addresses import IPNetwork, parse_networks
from gatewayd.outbound.resolver import SystemResolver
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.papers.setter import OpenSetter, setter_of
from gatewayd.provider import Provider, ProviderSettings, open_provider
from gatewayd.search.availability import missing
from gatewayd.service_manager import Notifier
from gatewayd.statements.child import read_apart
from gatewayd.store import Store
from gatewayd.store.files.directory import Tenure, locked
from gatewayd.tax import engine
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.vault_files.receiving import Receiving
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.queue.retention import Retention
from gatewayd.webhooks.sender import Sender
from gatewayd.webhooks.settings import WebhookSettings, settings_from

USER_AGENT: Final = f"gatewayd/{gatewayd.__version__}"
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
RELOAD_SIGNAL: Final = signal.SIGHUP
_Engines = tuple[Proxy, Importing, VaultEngines]


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a daemon takes from outside: everything that is not a setting.

    `load` reads the settings anew, for a reload; None: they stay as they are. `gallery`: whether the pages have that
    of their components, for who works on them. `environ`, and `root`, where /etc is, are for what `gatewayd doctor`
    checks.
    """

    log_stream: TextIO
    load: Callable[[], Config] | None = None
    clock: Clock = field(default_factory=SystemClock)
    notifier: Notifier = field(default_factory=Notifier)
    access_log: bool = True
    gallery: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    root: Path = ROOT
    read_apart: ReadApart = read_apart
    open_reader: OpenReader = field(default_factory=lambda: reader_of({}))
    open_embedder: OpenEmbedder = field(default_factory=lambda: embedder_of({}))
    open_setter: OpenSetter = field(default_factory=lambda: setter_of({}))

    @property
    def ways_to_documents(self) -> tuple[OpenReader, OpenEmbedder, OpenSetter]:
        """What opens the processes behind the vault."""
        return self.open_reader, self.open_embedder, self.open_setter


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
    policy: Policy
    nursery: trio.Nursery

    def prepare(self, config: Config) -> Install:
        """Raises `ValueError`."""
        return partial(self._allow, parse_networks(config.webhooks.allow_networks))

    def _allow(self, networks: tuple[IPNetwork, ...]) -> None:
        if networks != self.policy.allow_networks:
            self.policy.change(networks)
            self.sender.forget_connections()

    async def begin(self) -> None:
        """Dispatch until the nursery is cancelled."""
        await self.nursery.start(self.dispatcher.run)


class Daemon:
    """One daemon. Two of them in one process share nothing."""

    def __init__(self, config: Config, surroundings: Surroundings) -> None:
        self.config = config
        self._outside = surroundings
        log_format, stream = cast(LogFormat, config.log.format), surroundings.log_stream
        self._log_writer = make_writer(log_format, stream)
        self._threshold = Threshold(cast(Level, config.log.level))
        self._log: Logger = make_logger(log_format, self._threshold, stream, self._log_writer)
        self._access_log = AccessLog(log_format, stream, self._log_writer)
        self._requests = RequestCounters()
        self._addresses: tuple[str, ...] = ()
        self._metrics_addresses: tuple[str, ...] = ()
        self._reloader = Reloader(config, surroundings.load, surroundings.notifier, self._log)
        self._reloader.add(self._prepare_log)
        self._rounds = Rounds(surroundings.clock, self._log)
        self._started_at = surroundings.clock.now()
        self._stop = trio.Event()
        self.ended = trio.Event()

    @property
    def started(self) -> bool:
        """Whether it has come as far as serving: what went wrong before is about its surroundings."""
        return bool(self._addresses)

    @property
    def standard_error(self) -> QueuedStandardError:
        """What `sys.stderr` is to be for as long as it serves, in a process of its own."""
        return QueuedStandardError(self._outside.log_stream, self._log_writer)

    def stop(self) -> None:
        """Ask it to end well."""
        self._stop.set()

    def reload(self) -> None:
        """Ask it to take what has changed of settings and certificate; what is refused stands in its log."""
        self._reloader.ask()

    async def run(self, *, task_status: trio.TaskStatus[Running] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`.

        Raises `StoreFailure`, `MigrationError`, `CatalogueError`, `OSError` or `ValueError` when it cannot start.
        """
        self._log_writer.start()
        try:
            with locked(Path(self.config.store.directory), USER_AGENT) as tenure:
                await self._run(tenure, task_status)
        finally:
            await close_log(self._log_writer)
        self.ended.set()

    async def _run(self, tenure: Tenure, task_status: trio.TaskStatus[Running]) -> None:
        config, clock, log = self.config, self._outside.clock, self._log
        mailing = mailing_of(config.mail, config.server.public_url)
        webhooks = replace(settings_from(config.webhooks, self._own_listeners), mailing=mailing)
        tax_settings = engine.settings_from(config.tax, self._own_listeners)
        resolver = SystemResolver(failure_seconds=webhooks.lookup_failure_seconds)
        transport = GuardedTransport(webhooks.policy, resolver)
        async with (
            open_whole_store(config, clock, log) as store,
            open_provider(store, transport, clock, log, self._provider_settings()) as provider,
            open_daemons_holder(store) as holder,
            engine.open_tax(holder, tax_settings, clock, log, USER_AGENT) as tax,
            open_importing(self._import_parts(holder)) as importing,
            open_vault(config, holder, self._outside.ways_to_documents, log) as vault,
            open_background(self._background_parts(store, provider, (importing, vault.receiving), tenure)) as health,
            sending_mail(
                holder, mail_settings_from(config.mail, config.server.public_url), clock, log, vault.papers.to_send
            ),
            self._delivering(store, webhooks, transport) as deliveries,
            trio.open_nursery() as doors,
        ):
            instance = self._instance(holder, deliveries.dispatcher, health)
            served = create_doors(self._door_parts(provider, (tax, importing, vault), deliveries, instance))
            holder.daemons.tell(served.limits.divide, provider.app.divide)
            server = served.server
            watched = self._watched(served, (provider, importing, vault), deliveries, health)
            metrics = create_metrics_server(config, watched, clock, log)
            if metrics is not None:
                self._metrics_addresses = tuple(await doors.start(metrics.serve))
            self._addresses = tuple(await doors.start(server.serve))
            await deliveries.begin()
            self._tell_serving()
            self._reloader.add(deliveries.prepare, served.prepare_server, served.prepare_limits, served.prepare_cors)
            self._reloader.add(served.prepare_console)
            reloading = await doors.start(self._reload, served.prepare_server)
            doors.start_soon(provider.open_keys)  # Chosen: not before, since they take a tenth of the start
            health.serving.set()
            task_status.started(Running(addresses=self._addresses, store=store))
            await self._stop.wait()  # may last: the documented wait for a signal
            self._outside.notifier.stopping()
            log.info("stopping")
            reloading.cancel()
            server.drain()
            if metrics is not None:
                metrics.drain()
        log.info("stopped")

    def _tell_serving(self) -> None:
        places = {"metrics": self._metrics_addresses} if self._metrics_addresses else {}
        self._log.info("serving", addresses=self._addresses, **places, directory=self.config.store.directory)
        self._outside.notifier.ready(self._status)

    @property
    def _status(self) -> str:
        """For the service manager."""
        return f"serving on {', '.join(self._addresses)}"

    async def _reload(self, server: Prepare, *, task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        with trio.CancelScope() as scope:
            task_status.started(scope)
            await self._reloader.run(self._status, server)

    def _prepare_log(self, config: Config) -> Install:
        return partial(self._threshold.change, cast(Level, config.log.level))

    @asynccontextmanager
    async def _delivering(
        self, store: Store, settings: WebhookSettings, transport: GuardedTransport
    ) -> AsyncIterator[_Deliveries]:
        sender = Sender(transport, user_agent=USER_AGENT, timeout_seconds=settings.timeout_seconds)
        parts = DispatcherParts(store=store, sender=sender, clock=self._outside.clock, settings=settings, log=self._log)
        dispatcher = Dispatcher(parts)
        try:
            async with trio.open_nursery() as nursery:
                yield _Deliveries(dispatcher=dispatcher, sender=sender, policy=settings.policy, nursery=nursery)
                nursery.cancel_scope.cancel()  # it takes its time: attempts under way may end first
        finally:
            with trio.CancelScope(shield=True):
                await sender.aclose()

    # -- what each part is told

    def _provider_settings(self) -> ProviderSettings:
        return ProviderSettings(
            issuer=self.config.server.public_url,
            refresh_grace_seconds=self.config.oauth.refresh_grace_seconds,
            user_agent=USER_AGENT,
            resources=self.config.oauth.resources,
            audit_retention=audit.Retention(self.config.audit.retention_days, self.config.audit.sign_in_retention_days),
        )

    def _import_parts(self, holder: Holder) -> ImportParts:
        return ImportParts(
            store=holder.store,
            holder=holder,
            directory=Path(self.config.store.directory),
            read_apart=self._outside.read_apart,
            log=self._log,
            max_bytes=self.config.banking.max_import_bytes,
        )

    def _background_parts(
        self, store: Store, provider: Provider, engines: tuple[Importing, Receiving], tenure: Tenure
    ) -> BackgroundParts:
        return BackgroundParts(
            store=store,
            provider=provider,
            importing=engines[0],
            receiving=engines[1],
            bundles=Bundles(store),
            tenure=tenure,
            retention=Retention(self.config.webhooks.retention_days, self._outside.clock, self._log),
            rounds=self._rounds,
            notifier=self._outside.notifier,
            log=self._log,
            due_soon_days=self.config.obligations.due_soon_days,
            trash_days=self.config.vault.trash_days,
            mail_days=self.config.mail.retention_days,
            mailing=mailing_of(self.config.mail, self.config.server.public_url),
        )

    def _instance(self, holder: Holder, dispatcher: Dispatcher, health: Health) -> OwnDaemon:
        clock, outside = self._outside.clock, self._outside
        return OwnDaemon(
            store=holder.store,
            examined=OwnInstance(lambda: self._reloader.config, outside.environ, clock, outside.root, holder.store),
            examination=Examination(self._log),
            ready=lambda: self._readiness(dispatcher, health),
            started_at=self._started_at,
            holder=holder.id,
            sending=lambda: dispatcher.in_flight,
            gives_vectors=missing(self.config) is None,
            rounds=self._rounds.last,
        )

    def _door_parts(
        self, provider: Provider, engines: _Engines, deliveries: _Deliveries, instance: OwnDaemon
    ) -> DoorParts:
        access_log = self._access_log if self._outside.access_log else None
        return DoorParts(
            config=self.config,
            clock=self._outside.clock,
            log=self._log,
            observer=Observer(self._outside.clock, self._requests, access_log),
            provider=provider,
            tax=engines[0],
            importing=engines[1],
            vault=engines[2],
            prices=PriceImporting(provider.store, self._outside.read_apart, self.config.banking.max_import_bytes),
            receivers=deliveries.policy,
            readiness=instance.ready,
            instance=instance,
            gallery=self._outside.gallery,
        )

    def _watched(
        self, served: Doors, parts: tuple[Provider, Importing, VaultEngines], deliveries: _Deliveries, health: Health
    ) -> Watched:
        (provider, importing, vault), dispatcher = parts, deliveries.dispatcher
        return Watched(
            requests=self._requests,
            server=served.server,
            storage=provider.app.storage,
            store=provider.store,
            dispatcher=dispatcher,
            parsing=vault.parsing,
            reload_failed=lambda: self._reloader.failed,
            attempts_limit=self.config.webhooks.concurrency,
            idle_connections=lambda: deliveries.sender.idle,
            log_writer=self._log_writer,
            is_ready=lambda: all(state == "ok" for state in self._readiness(dispatcher, health).values()),
            shares=(*served.shares, *vault.shares, importing.shares, provider.store.read_shares),
        )

    def _readiness(self, dispatcher: Dispatcher, health: Health) -> dict[str, str]:
        """Each part of the daemon, with `ok` or what is wrong with it."""
        return {
            "store": health.store,
            "clock": health.clock.state,
            "dispatcher": "ok" if dispatcher.running else "is not running",
            "stopping": "yes" if self._stop.is_set() else "ok",
            **({"files": health.files.state} if health.files.place.is_shared else {}),
        }

    def _own_listeners(self) -> list[tuple[str, int]]:
        """The TCP addresses this daemon answers on: webhooks may not lead back to them."""
        addresses = (*self._addresses, *self._metrics_addresses)
        bound = [parse_bind(address.partition("://")[2]) for address in addresses if "://" in address]
        return [(bind.host, bind.port) for bind in bound if isinstance(bind, TcpBind)]


async def run_until_signalled(daemon: Daemon) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends the process at once, as it ends any other. SIGHUP reloads."""
    with trio.open_signal_receiver(*STOP_SIGNALS, RELOAD_SIGNAL) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_obey, daemon, signals)
            await daemon.run()
            nursery.cancel_scope.cancel()


async def _obey(daemon: Daemon, signals: AsyncIterator[int]) -> None:
    async for received in signals:
        if received == RELOAD_SIGNAL:
            daemon.reload()
            continue
        for number in STOP_SIGNALS:  # the kernel's own way: it works whatever the daemon is stuck in
            signal.signal(number, signal.SIG_DFL)
        daemon.stop()
