"""The tax engine of one daemon, put together from its settings."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace

import trio

from gatewayd.clock import Clock
from gatewayd.errors import Problem
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.log import Log, NoLog
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.leases.holder import Holder
from gatewayd.outbound.resolver import SystemResolver
from gatewayd.outbound.transport import GuardedTransport
from gatewayd.sandbox_authority.authority import SandboxAuthority
from gatewayd.store import Store
from gatewayd.tax.authority.authority import RemoteAuthority, Transport
from gatewayd.tax.authority.cache import ResponseCache
from gatewayd.tax.authority.headers import OwnFields, request_fields
from gatewayd.tax.authority.mapping import VALIDATE_HEADERS, VAT
from gatewayd.tax.authority.rate_limit import AUTHORITY_INTERVAL_SECONDS, Breaker, RateLimit
from gatewayd.tax.connections import sign_ins
from gatewayd.tax.connections.bearer_tokens import BearerTokens, RefreshLeases
from gatewayd.tax.connections.connections import Tokens
from gatewayd.tax.connections.token_endpoint import TokenEndpoint
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.tax.sessions import call_log
from gatewayd.tax.sessions.authority_session import ProxyParts
from gatewayd.tax.settings import TaxSettings
from gatewayd.tax.settings import settings_from as settings_from


@asynccontextmanager
async def open_tax(
    holder: Holder,
    settings: TaxSettings,
    clock: Clock,
    log: Log,
    user_agent: str,
    *,
    authority_interval_seconds: float = AUTHORITY_INTERVAL_SECONDS,
) -> AsyncIterator[Proxy]:
    """A proxy for the mode of its settings. Raises `OSError` or `ssl.SSLError` where a file of theirs is unreadable.

    `holder` refreshes connections alone, in whose store all of it is.
    `authority_interval_seconds` stand between two calls of the authority, in mode `hmrc`.
    """
    store = holder.store
    parts = ProxyParts(store=store, settings=settings, log=log, user_agent=user_agent)
    if settings.mode == "off":
        yield Proxy(parts)
        return
    async with _transport(settings, clock) as transport, trio.open_nursery() as refreshes:
        authority = _shared(holder, transport, settings, log, authority_interval_seconds)
        bearers = None
        if settings.mode != "sandbox":  # Chosen: nobody has to sign in to be told made-up figures
            settings.secret()  # one that cannot be read is told at the start
            bearers = BearerTokens(
                store, _token_endpoint(settings, authority, log), RefreshLeases(holder), log, refreshes
            )
        cached = ResponseCache(authority, settings.cache_seconds) if settings.cache_seconds else authority
        try:
            yield Proxy(replace(parts, authority=cached, bearers=bearers))
        finally:
            if bearers is not None:
                bearers.finish()
            refreshes.cancel_scope.cancel()  # what waits to be stored; an exchange that has begun is shielded


async def redeem(settings: TaxSettings, org_id: str, code: str, redirect_uri: str) -> Tokens | None:
    """The tokens for an authorization code that was given for a redirect URI; None where the authority refuses it.

    Raises `Problem`, or `OSError` where a file of the settings cannot be read.
    """
    async with _network(settings) as transport:
        log = NoLog()
        endpoint = _token_endpoint(settings, _remote(transport, settings, log), log)
        try:
            with trio.fail_after(settings.timeout_seconds):
                return await endpoint.redeem(org_id, code, redirect_uri)
        except trio.TooSlowError:
            raise Problem("tax_upstream_timeout", "The tax authority did not answer in time.") from None


async def validate_headers(settings: TaxSettings, fields: Headers, user_agent: str) -> Response:
    """What the authority's test service says of fraud-prevention headers (§D2). Raises `Problem`, `OSError`."""
    async with _network(settings) as transport:
        log = NoLog()
        remote = _remote(transport, settings, log)
        try:
            with trio.fail_after(settings.timeout_seconds):
                tokens = await _token_endpoint(settings, remote, log).own()
                bearer = None if tokens is None else tokens.access
                ours = OwnFields(VAT, bearer, f"req_{secrets.token_hex(8)}", user_agent)
                sent = request_fields(fields, ours, sandbox=True)
                return await remote.answer(Request("GET", VALIDATE_HEADERS, sent), "")
        except trio.TooSlowError:
            raise Problem("tax_upstream_timeout", "The tax authority did not answer in time.") from None


async def keep_house(store: Store) -> None:
    """Forget calls and sign-ins that are past their time. Raises `StoreFailure`."""
    await store.sweep(call_log.sweep, call_log.SWEEP_ROWS)
    await store.sweep(sign_ins.sweep, sign_ins.SWEEP_ROWS)


def _transport(settings: TaxSettings, clock: Clock) -> AbstractAsyncContextManager[Transport]:
    """The way to the authority: the sandbox in this process stands in the place of the network, and of nothing else."""
    return nullcontext(InProcess(clock)) if settings.mode == "sandbox" else _network(settings)


@asynccontextmanager
async def _network(settings: TaxSettings) -> AsyncIterator[Transport]:
    from gatewayd.tax.authority.upstream import Upstream  # httpcore: a tenth of a second, for those who forward alone

    # The one name is the operator's, and a lookup of it that failed may do better when it is tried again.
    transport = GuardedTransport(settings.policy, SystemResolver(failure_seconds=0.0))
    upstream = Upstream(transport, settings.upstream)
    try:
        yield upstream
    finally:
        with trio.CancelScope(shield=True):
            await upstream.aclose()


def _remote(transport: Transport, settings: TaxSettings, log: Log) -> RemoteAuthority:
    """Chosen: the authority's limit is known beforehand; that of another service only from what it answers."""
    limit = RateLimit(AUTHORITY_INTERVAL_SECONDS if settings.mode == "hmrc" else 0.0)
    return RemoteAuthority(transport, limit, Breaker(), log)


def _shared(
    holder: Holder, transport: Transport, settings: TaxSettings, log: Log, interval_seconds: float
) -> RemoteAuthority:
    """The same for a daemon, which has its share of the limit, where that is known beforehand."""
    if settings.mode != "hmrc":
        return _remote(transport, settings, log)
    limit = RateLimit(interval_seconds)
    holder.daemons.tell(limit.divide)
    return RemoteAuthority(transport, limit, Breaker(), log, holder.daemons.wait_seconds)


def _token_endpoint(settings: TaxSettings, authority: RemoteAuthority, log: Log) -> TokenEndpoint:
    return TokenEndpoint(authority, settings.client_id, settings.secret, log)


class InProcess:
    """The sandbox authority in the place of the network."""

    def __init__(self, clock: Clock) -> None:
        self._sandbox = SandboxAuthority(clock)

    async def send(self, request: Request) -> Response:
        """What the sandbox says. Raises nothing."""
        await trio.lowlevel.checkpoint()
        return self._sandbox.answer(request)
