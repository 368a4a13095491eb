"""The doors put together: API, provider and pages behind one server, the metrics behind another."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec.json import encode

from gatewayd.areas.periods import feed_content, feeds, icalendar
from gatewayd.areas.vault.documents.uploads import PATH as UPLOADS
from gatewayd.areas.vault.links import PATH as LINKS
from gatewayd.areas.vault.parses.variants import THUMBNAILS
from gatewayd.bundles.engine import Bundles
from gatewayd.catalogue import Catalogue, Deps
from gatewayd.clock import DAY, Clock
from gatewayd.config import Config, TcpBind, is_loopback, parse_bind
from gatewayd.console.addresses import is_page
from gatewayd.console.daemon_parts import DaemonParts
from gatewayd.console.instance import Instance
from gatewayd.console.lazy_app import Console
from gatewayd.daemon.description import catalogue_of, describe
from gatewayd.daemon.reload import Install
from gatewayd.daemon.vault import VaultEngines
from gatewayd.http import calendar_feeds, documents, tus
from gatewayd.http.api import Api, ApiParts
from gatewayd.http.documents import ReadinessCheck
from gatewayd.http.hosts import Hosts, Note
from gatewayd.http.observer import Observer, label_all, label_by_path
from gatewayd.http.render import refusal
from gatewayd.http.router import Router
from gatewayd.http.uploads import Uploads
from gatewayd.http.vault_files import VaultFilesDoor
from gatewayd.http.vault_thumbnails import thumbnails
from gatewayd.http.vault_uploads import VaultUploads
from gatewayd.http1.asgi import App
from gatewayd.http1.cors import Cors
from gatewayd.http1.log import Log
from gatewayd.http1.proxy_headers import TrustedProxies
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from gatewayd.identity.sign_in.throttling import Limits
from gatewayd.importing.engine import Importing
from gatewayd.importing.prices import PriceImporting
from gatewayd.mail.notices import mailing_of
from gatewayd.metrics.page import page as metrics_page
from gatewayd.metrics.snapshot import Watched
from gatewayd.oauth.addresses import NO_ENDPOINT, PREFIX, metric_labels
from gatewayd.outbound.transport import Policy
from gatewayd.papers.public import PublicPapers
from gatewayd.performing.admission import Gate
from gatewayd.performing.performer import Performer
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.provider import Provider
from gatewayd.shares import Shares
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.files.incoming_files import incoming_folder, sweep
from gatewayd.tax.authority.headers import FROM_PAGES, TO_PAGES
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.vault_files.engine import DOWNLOADS, VaultFiles
from gatewayd.vault_files.giving import Giving
from gatewayd.webhooks.feeds.event_log import EventLog

CALENDARS: Final = calendar_feeds.FeedContent(
    path=feeds.PATH,
    ending=feeds.ENDING,
    media_type=icalendar.MEDIA_TYPE,
    read=feed_content.deadlines,
    render=icalendar.render,
)
METRICS_CONNECTIONS: Final = 16  # Chosen: a few scrapers and a person
# Chosen: half a year, which every visit begins anew. Without subdomains, which are not ours to speak for.
STRICT_TRANSPORT_SECONDS: Final = 180 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorParts:
    """What the doors are made of.

    `receivers` says which webhook URLs are allowed. `readiness` says of each part of the daemon `ok`, or what is wrong
    with it. `instance` is told to administrators. `gallery`: whether the pages have that of their components.
    """

    config: Config
    clock: Clock
    log: Log
    observer: Observer
    provider: Provider
    tax: Proxy
    importing: Importing
    prices: PriceImporting
    vault: VaultEngines
    receivers: Policy
    readiness: ReadinessCheck
    instance: Instance
    gallery: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The server of everything that callers and people see, and those of its parts that take settings anew.

    `shares` are what organizations share at the doors.
    """

    server: Server
    limits: RateLimits
    cors: Cors
    uploads_cors: Cors
    console: Console
    shares: tuple[Shares, ...]

    def prepare_server(self, config: Config) -> Install:
        """Raises `OSError` or `ValueError`."""
        return self.server.prepare(server_settings(config))

    def prepare_limits(self, config: Config) -> Install:
        return partial(self.limits.change, config.limits.requests_per_minute, config.limits.concurrent_requests)

    def prepare_cors(self, config: Config) -> Install:
        return partial(self._change_cors, config.server.cors_origins)

    def _change_cors(self, origins: tuple[str, ...]) -> None:
        self.cors.change(origins)
        self.uploads_cors.change(origins)

    def prepare_console(self, config: Config) -> Install:
        return partial(self.console.change, _sign_in_limits(config))


def create_doors(parts: DoorParts) -> Doors:
    """Raises `CatalogueError`, `OSError` or `ValueError`."""
    offered, oauth, config = catalogue_of(parts.config, parts.receivers), parts.provider.app, parts.config
    label = label_by_path(metric_labels(oauth.paths), NO_ENDPOINT)
    endpoints = parts.observer.observe(oauth, label)
    limits = RateLimits(config.limits.requests_per_minute, config.limits.concurrent_requests)
    cors = Cors(config.server.cors_origins, FROM_PAGES, TO_PAGES)
    uploads_cors = Cors(config.server.cors_origins, tus.FROM_PAGES, tus.TO_PAGES)
    vault_files = _create_vault_files(parts)
    bundles, uploads = Bundles(parts.provider.store), _create_uploads(config)
    deps = _create_deps(parts, vault_files, bundles)
    api = _create_api(parts, offered, deps, (limits, cors, uploads))
    papers = PublicPapers(parts.provider.store, parts.vault.papers, limits)
    console = _create_console(parts, offered, deps, (limits, uploads, papers))
    router = Router(
        {
            **dict.fromkeys(oauth.paths, endpoints),
            "/healthz": documents.health(),
            "/readyz": documents.readiness(parts.readiness),
            "/openapi.json": documents.lazy_document(lambda: encode(describe(offered, config))),
        },
        api,
        api.at_once,
        mounts=(
            (PREFIX, endpoints),
            (feeds.PATH, _observed_calendars(parts, limits)),
            *_vault_doors(parts, vault_files, limits, uploads_cors),
        ),
        ready=dict.fromkeys(oauth.paths, parts.observer.observe_at_once(oauth.at_once, label)),
        pages=parts.observer.observe(console, label_all("console")),
        is_page=is_page,
        knows=api.knows,
        hosts=_hosts(config, parts.log, parts.observer.note_misdirected),
    )
    settings = server_settings(config)
    server = Server(router, settings, refuse=refusal, log=parts.log, clock=parts.clock, at_once=router.at_once)
    shares = (uploads.shares, parts.prices.shares, bundles.shares, vault_files.passwords.shares, papers.shares)
    return Doors(server=server, limits=limits, cors=cors, uploads_cors=uploads_cors, console=console, shares=shares)


def create_metrics_server(config: Config, watched: Watched, clock: Clock, log: Log) -> Server | None:
    """The server of the numbers, for an operator's own network: plain HTTP, no credential. None: not wanted."""
    if not config.metrics.bind:
        return None
    settings = ServerSettings(
        bind=(config.metrics.bind,),
        unix_mode=config.server.socket_mode,
        max_connections=METRICS_CONNECTIONS,
        drain_seconds=config.server.drain_seconds,
    )
    return Server(metrics_page(watched), settings, refuse=refusal, log=log, clock=clock)


def _create_deps(parts: DoorParts, vault_files: VaultFiles, bundles: Bundles) -> Deps:
    return Deps(
        tax=parts.tax,
        importing=parts.importing,
        prices=parts.prices,
        bundles=bundles,
        vault_files=vault_files,
        papers=parts.vault.papers,
        parsing=parts.vault.parsing,
        search=parts.vault.search,
        event_log=EventLog(parts.provider.store, parts.config.webhooks.retention_days * DAY),
    )


def _create_api(parts: DoorParts, offered: Catalogue, deps: Deps, rules: tuple[RateLimits, Cors, Uploads]) -> Api:
    config, provider = parts.config, parts.provider
    limits, cors, uploads = rules
    return Api(
        ApiParts(
            operations=offered.operations,
            store=provider.store,
            authenticate=provider.authenticator.authenticate,
            holder_of=provider.authenticator.holder_of,
            key_uses=provider.key_uses,
            limits=limits,
            cors=cors,
            log=parts.log,
            observe=parts.observer.note_call,
            deps=deps,
            json_body_bytes=config.limits.json_body_bytes,
            call_seconds=config.tax.timeout_seconds,
            public_url=config.server.public_url,
            uploads=uploads,
        )
    )


def _create_vault_files(parts: DoorParts) -> VaultFiles:
    """Raises `OSError`."""
    config = parts.config
    return VaultFiles(
        parts.provider.store,
        blobs_at(parts.provider.store.place),
        config.server.public_url,
        parts.vault.parsing.made_files,
        gives_links=config.vault.public_links,
    )


def _vault_doors(parts: DoorParts, files: VaultFiles, limits: RateLimits, cors: Cors) -> tuple[tuple[str, App], ...]:
    """Where the bytes of documents come in and go out. Raises `OSError`."""
    giving = Giving(parts.provider.store, files)
    receiving, door = VaultUploads(parts.vault.receiving, cors, UPLOADS), VaultFilesDoor(giving, limits)
    apps = (
        (UPLOADS, receiving, "upload"),
        (DOWNLOADS, door.downloads(DOWNLOADS), "download"),
        (LINKS, door.links(LINKS), "link"),
        (THUMBNAILS, thumbnails(giving), "thumbnail"),
    )
    return tuple((path, parts.observer.observe(app, label_all(label))) for path, app, label in apps)


def _create_uploads(config: Config) -> Uploads:
    """Raises `StoreFailure`."""
    folder = incoming_folder(Path(config.store.directory))
    sweep(folder)
    most = dict.fromkeys(("banking", "assets"), config.banking.max_import_bytes)
    return Uploads(folder=folder, max_bytes={**most, "vault": config.vault.max_upload_bytes})


def _observed_calendars(parts: DoorParts, limits: RateLimits) -> App:
    alarm_days = parts.config.obligations.due_soon_days
    app = calendar_feeds.calendar_app(parts.provider.store, limits, CALENDARS, alarm_days)
    return parts.observer.observe(app, label_all(calendar_feeds.LABEL))


def _hosts(config: Config, log: Log | None = None, note: Note | None = None) -> Hosts:
    bound = [place.host for place in map(parse_bind, config.server.bind) if isinstance(place, TcpBind)]
    return Hosts([urlsplit(config.server.public_url).hostname or "", *bound, *config.server.hosts], log, note)


def _create_console(
    parts: DoorParts, offered: Catalogue, deps: Deps, rules: tuple[RateLimits, Uploads, PublicPapers]
) -> Console:
    store, config = parts.provider.store, parts.config
    limits, uploads, papers = rules
    daemon_parts = DaemonParts(
        store=store,
        clock=parts.clock,
        log=parts.log,
        issuer=config.server.public_url,
        tax=parts.tax.settings,
        mailing=mailing_of(config.mail, config.server.public_url),
        papers=papers,
        operations=offered.operations,
        performer=Performer(store, deps, config.tax.timeout_seconds),
        gate=Gate(limits),
        instance=parts.instance,
        file_places=uploads,
        receiving=parts.vault.receiving,
        gallery=parts.gallery,
    )
    return Console(daemon_parts, limits=_sign_in_limits(config))


def _sign_in_limits(config: Config) -> Limits:
    return Limits(config.limits.sign_in_attempts, TrustedProxies.parse(config.server.trusted_proxies).networks)


def server_settings(config: Config) -> ServerSettings:
    """The server that `config` names."""
    server = config.server
    # Chosen: never for this machine itself, whose every other service on plain HTTP a browser would then refuse.
    strict = bool(server.tls_certificate) and not is_loopback(urlsplit(server.public_url).hostname or "")
    return ServerSettings(
        bind=server.bind,
        tls_certificate=server.tls_certificate,
        tls_key=server.tls_key,
        strict_transport_seconds=STRICT_TRANSPORT_SECONDS if strict else 0,
        trusted_proxies=server.trusted_proxies,
        unix_mode=server.socket_mode,
        max_connections=server.max_connections,
        max_header_bytes=config.limits.header_bytes,
        header_timeout_seconds=server.header_timeout_seconds,
        keep_alive_seconds=server.keep_alive_timeout_seconds,
        request_read_seconds=server.request_read_timeout_seconds,
        drain_seconds=server.drain_seconds,
    )
