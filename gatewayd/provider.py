"""The identity provider, composed: its keys, its door, who it admits, and what keeps its tables tidy."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from gatewayd.clock import Clock
from gatewayd.http1.log import Log
from gatewayd.identity import audit
from gatewayd.identity.clients import client_assertions, grants, oauth_clients
from gatewayd.identity.keys import api_keys, key_uses
from gatewayd.identity.keys.key_uses import KeyUses
from gatewayd.identity.people import invitations
from gatewayd.identity.sign_in import challenges, known_devices, one_time_links, sessions, throttling
from gatewayd.identity.signing import signing_keys
from gatewayd.identity.signing.signing_keys import SigningKeys
from gatewayd.identity.tokens import authorization_codes, authorizations, refresh_tokens, used_proofs
from gatewayd.identity.tokens.access_tokens import AccessTokenVerifier
from gatewayd.identity.tokens.authentication import ApiKeyVerifier, Authenticator
from gatewayd.identity.tokens.dpop import ReplayCache
from gatewayd.oauth.app import OAuthApp
from gatewayd.oauth.client_documents import ClientDocuments
from gatewayd.oauth.parts import OAuthParts
from gatewayd.outbound.transport import GuardedTransport
from gatewayd.store import Store, WriteTx

_SWEEPS: tuple[tuple[Callable[[WriteTx], int], int], ...] = (  # what refers to others goes before them
    (authorizations.sweep, authorizations.SWEEP_ROWS),
    (refresh_tokens.sweep, refresh_tokens.SWEEP_ROWS),
    (authorization_codes.sweep, authorization_codes.SWEEP_ROWS),
    (grants.sweep, grants.SWEEP_ROWS),
    (oauth_clients.sweep, oauth_clients.SWEEP_ROWS),
    (one_time_links.sweep, one_time_links.SWEEP_ROWS),
    (invitations.sweep, invitations.SWEEP_ROWS),
    (client_assertions.sweep, client_assertions.SWEEP_ROWS),
    (challenges.sweep, challenges.SWEEP_ROWS),
    (used_proofs.sweep, used_proofs.SWEEP_ROWS),
    (sessions.sweep, sessions.SWEEP_ROWS),
    (known_devices.sweep, known_devices.SWEEP_ROWS),
    (throttling.sweep, throttling.SWEEP_ROWS),
    (key_uses.sweep, key_uses.SWEEP_ROWS),
)
"""Each sweep with the number of rows from which on it may have left some."""


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """What the provider is told. `issuer` is `server.public_url`, `resources` is `oauth.resources`."""

    issuer: str
    refresh_grace_seconds: int
    user_agent: str
    resources: tuple[str, ...] = ()
    audit_retention: audit.Retention = field(default_factory=audit.Retention)


@dataclass(frozen=True, kw_only=True)
class Provider:
    """An identity provider that serves. `authenticator` admits API keys and access tokens, `key_uses` counts what keys
    are used for.
    """

    store: Store
    keys: SigningKeys
    authenticator: Authenticator
    app: OAuthApp
    key_uses: KeyUses = field(default_factory=KeyUses)
    audit_retention: audit.Retention = field(default_factory=audit.Retention)

    async def open_keys(self) -> None:
        """Make the signing keys ready for the first token, which need not wait for it then."""
        await trio.to_thread.run_sync(self.keys.open, limiter=trio.CapacityLimiter(1))

    async def keep_house(self) -> None:
        """Make the next signing key when it is time, and sweep what has ended. Raises `StoreFailure`."""
        await _ensure_keys(self.store)
        await self.store.write(signing_keys.sweep)
        await self.store.read(self.keys.load)
        await self.open_keys()
        for sweep, rows in _SWEEPS:
            await self.store.sweep(sweep, rows)
        await self.store.sweep(self.audit_retention.sweep, audit.SWEEP_ROWS)


@asynccontextmanager
async def open_provider(
    store: Store, transport: GuardedTransport, clock: Clock, log: Log, settings: ProviderSettings
) -> AsyncIterator[Provider]:
    """A provider with keys to sign with. Raises `StoreFailure`."""
    keys, replays = SigningKeys(), ReplayCache()
    await _ensure_keys(store)
    await store.read(keys.load)
    verifiers = (ApiKeyVerifier(), AccessTokenVerifier(keys, settings.issuer))
    authenticator = Authenticator(verifiers, replays=replays, shared=store.is_shared)
    documents = ClientDocuments(transport, clock, settings.user_agent)
    parts = OAuthParts(
        store=store,
        keys=keys,
        issuer=settings.issuer,
        authenticate=authenticator.authenticate,
        replays=replays,
        documents=documents,
        log=log,
        resources=settings.resources,
        refresh_grace_seconds=settings.refresh_grace_seconds,
    )
    try:
        yield Provider(
            store=store,
            keys=keys,
            authenticator=authenticator,
            app=OAuthApp(parts),
            audit_retention=settings.audit_retention,
        )
    finally:
        with trio.CancelScope(shield=True):
            await documents.aclose()


def note_use(tx: WriteTx, credential_ids: Collection[str]) -> None:
    """Write down that these credentials were used today: keys, grants, and the clients of the grants."""
    api_keys.note_use(tx, credential_ids)
    grants.note_use(tx, credential_ids)
    oauth_clients.note_use(tx, credential_ids)


async def _ensure_keys(store: Store) -> None:
    wanted = await store.read(signing_keys.due)
    if wanted:
        made = [
            await trio.to_thread.run_sync(signing_keys.generate, each, limiter=trio.CapacityLimiter(1))
            for each in wanted
        ]
        await store.write(lambda tx: signing_keys.add(tx, made))
