"""The provider as the daemon opens it: keys from the first moment, and a house that is kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from gatewayd import provider as composed
from gatewayd.clock import DAY, HOUR, SettableClock
from gatewayd.identity.clients import grants, oauth_clients
from gatewayd.identity.keys import api_keys
from gatewayd.identity.signing import signing_keys
from gatewayd.identity.signing.signing_keys import AHEAD, RETENTION, ROTATION
from gatewayd.identity.tokens import refresh_tokens
from gatewayd.oauth import addresses as at
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.provider import ProviderSettings
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.oauth.test_token import claims_of
from tests.support.api import Errors
from tests.support.oauth import ISSUER, Provider
from tests.support.scopes import request_of
from tests.support.store import START

SETTINGS = ProviderSettings(issuer=ISSUER, refresh_grace_seconds=120, user_agent="gatewayd/tests")


@asynccontextmanager
async def opened(store: Store, clock: SettableClock) -> AsyncIterator[composed.Provider]:
    transport = GuardedTransport(Policy())
    with trio.fail_after(120):
        async with composed.open_provider(store, transport, clock, Errors(), SETTINGS) as provider:
            yield provider


async def test_keys_are_made_once_and_follow_one_another(tmp_path: Path, database_image: bytes) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(database_image)
    clock = SettableClock(START)
    async with open_store(StoreSettings(directory=tmp_path), clock) as store:
        async with opened(store, clock) as first:
            kids = first.keys.kids
            assert len(kids) == 2
        async with opened(store, clock) as second:
            assert second.keys.kids == kids
            await second.keep_house()
            assert second.keys.kids == kids
            clock.advance(ROTATION - AHEAD)
            await second.keep_house()
            assert len(second.keys.kids) == 4
            assert second.keys.signer("ES256", store.now()).kid in kids
            clock.advance(AHEAD + RETENTION)
            await second.keep_house()
            assert len(second.keys.kids) == 2
            assert second.keys.signer("ES256", store.now()).kid not in kids
            response = second.app.at_once(request_of("GET", at.JWKS))
            assert response is not None
            assert (response.status, response.body) == (200, second.keys.jwks())


async def test_what_nobody_came_to_use_is_swept(provider: Provider) -> None:
    used, unused = await provider.register(), await provider.register()
    await provider.tokens(used)
    await provider.authorize(unused)
    house = composed.Provider(
        store=provider.store, keys=provider.keys, authenticator=provider.authenticator, app=provider.app
    )
    provider.clock.advance(HOUR)
    await house.keep_house()
    assert await provider.store.read(lambda tx: oauth_clients.find(tx, unused)) is not None
    provider.clock.advance(DAY)
    await house.keep_house()
    assert await provider.store.read(lambda tx: oauth_clients.find(tx, unused)) is None
    assert await provider.store.read(lambda tx: oauth_clients.find(tx, used)) is not None


async def test_a_use_is_written_down_for_every_kind_of_credential(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    await provider.key()
    key_id = (await provider.store.read(api_keys.list_all))[0].id
    grant_id = claims_of(answer["access_token"])["gid"]
    await provider.store.write(lambda tx: composed.note_use(tx, [grant_id, key_id]))
    client = await provider.store.read(lambda tx: oauth_clients.find(tx, client_id))
    assert client is not None
    assert client.last_used == "2026-11-20"
    assert (await provider.store.read(api_keys.list_all))[0].last_used == "2026-11-20"


async def test_refresh_tokens_of_a_grant_that_is_over_are_swept(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    grant_id = claims_of(answer["access_token"])["gid"]
    await provider.store.write(lambda tx: grants.revoke(tx, grant_id, "operator", "operator"))
    house = composed.Provider(
        store=provider.store, keys=provider.keys, authenticator=provider.authenticator, app=provider.app
    )
    await house.keep_house()
    token = answer["refresh_token"]
    assert await provider.store.read(lambda tx: refresh_tokens.read_refresh(tx, token)) is None
    assert await provider.store.read(signing_keys.due) == []
