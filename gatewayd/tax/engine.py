"""The tax engine of one daemon, put together from its settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

import gatewayd
from gatewayd.clock import Clock
from gatewayd.errors import Problem
from gatewayd.outbound.transport import GuardedTransport
from gatewayd.store import Store
from gatewayd.tax import calls
from gatewayd.tax.authority import Log, RemoteAuthority
from gatewayd.tax.breaker import Breaker
from gatewayd.tax.connections import Tokens
from gatewayd.tax.consulting import ProxyParts
from gatewayd.tax.in_process import SandboxAuthority
from gatewayd.tax.keeping import KeepingAuthority
from gatewayd.tax.pacing import AUTHORITY_INTERVAL_SECONDS, Pacer
from gatewayd.tax.proxy import Proxy
from gatewayd.tax.settings import TaxSettings
from gatewayd.tax.settings import settings_from as settings_from
from gatewayd.tax.tokens import Bearers, TokenEndpoint


@asynccontextmanager
async def open_tax(
    store: Store, settings: TaxSettings, clock: Clock, log: Log, user_agent: str
) -> AsyncIterator[Proxy]:
    """A proxy for the mode of its settings. Raises `OSError` or `ssl.SSLError` where a file of theirs is unreadable."""
    parts = ProxyParts(store=store, settings=settings, log=log, user_agent=user_agent)
    if settings.mode == "off":
        yield Proxy(parts, None)
    elif settings.mode == "sandbox":
        yield Proxy(parts, SandboxAuthority(clock))
    else:
        async with _remote(parts) as authority, trio.open_nursery() as refreshes:
            bearers = Bearers(store, _token_endpoint(settings, authority), log, refreshes)
            kept = KeepingAuthority(authority, settings.cache_seconds) if settings.cache_seconds else authority
            yield Proxy(parts, kept, bearers)


@asynccontextmanager
async def _remote(parts: ProxyParts) -> AsyncIterator[RemoteAuthority]:
    from gatewayd.tax.upstream import Upstream  # httpcore: a tenth of a second, for those who forward alone

    settings = parts.settings
    upstream = Upstream(GuardedTransport(settings.policy), settings.upstream)
    # Chosen: the authority's limit is known beforehand; that of another service only from what it answers
    pacer = Pacer(AUTHORITY_INTERVAL_SECONDS if settings.mode == "hmrc" else 0.0)
    try:
        yield RemoteAuthority(upstream, pacer, Breaker(), parts.log)
    finally:
        with trio.CancelScope(shield=True):
            await upstream.aclose()


def _token_endpoint(settings: TaxSettings, authority: RemoteAuthority) -> TokenEndpoint:
    return TokenEndpoint(authority, settings.client_id, settings.secret())


async def redeem(store: Store, settings: TaxSettings, org_id: str, code: tuple[str, str]) -> Tokens | None:
    """The tokens for an authorization code and its redirect URI; None where the authority refuses it.

    Raises `Problem`, or `OSError` where a file of the settings cannot be read.
    """
    parts = ProxyParts(store=store, settings=settings, log=_Nobody(), user_agent=f"gatewayd/{gatewayd.__version__}")
    async with _remote(parts) as authority:
        endpoint = _token_endpoint(settings, authority)
        try:
            with trio.fail_after(settings.timeout_seconds):
                return await endpoint.redeem(org_id, *code)
        except trio.TooSlowError:
            raise Problem("tax_upstream_timeout", "The tax authority did not answer in time.") from None


class _Nobody:
    """A log for a command, which tells what goes wrong by itself."""

    def warning(self, event: str, **values: object) -> None:
        """Say nothing."""


async def keep_house(store: Store) -> None:
    """Forget calls that are past their time. Raises `StoreFailure`."""
    await store.sweep(calls.sweep, calls.SWEEP_ROWS)
