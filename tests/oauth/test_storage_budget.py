"""What anybody may have stored in a day, by network and in all: every way of it is charged."""

from collections.abc import Awaitable, Callable

import pytest

from gatewayd.clock import DAY, Instant
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.oauth import addresses as at
from gatewayd.oauth.storage_budget import ROW_BYTES, StorageBudget
from tests.support.api import Reply
from tests.support.oauth import CALLBACK, Provider, parameters_of
from tests.support.store import START

HERE, ELSEWHERE = "192.0.2.7", "198.51.100.9"
ROWS = """
SELECT (SELECT count(*) FROM oauth_clients), (SELECT count(*) FROM authorization_requests)
"""


def charged(budget: StorageBudget, peer: str | None, size: int, now: int = START) -> bool:
    try:
        budget.charge(peer, size, Instant(now))
    except OAuthFailure:
        return False
    return True


def test_a_network_has_so_many_bytes_a_day_and_the_others_have_theirs() -> None:
    budget = StorageBudget(per_network=2 * (ROW_BYTES + 100))
    assert [charged(budget, HERE, 100) for _ in range(3)] == [True, True, False]
    assert charged(budget, ELSEWHERE, 100)
    assert charged(budget, "2001:db8::1", 300)
    assert not charged(budget, "2001:db8::2", 300)
    assert charged(budget, "2001:db8:0:1::2", 300)
    assert (budget.stored, budget.refused) == (3 * (ROW_BYTES + 100) + 2 * (ROW_BYTES + 300), 2)


def test_what_was_refused_is_not_counted() -> None:
    budget = StorageBudget(per_network=1_000)
    assert not charged(budget, HERE, 1_000)
    assert charged(budget, HERE, 1_000 - ROW_BYTES)


def test_all_together_have_a_limit_too() -> None:
    budget = StorageBudget(in_all=3 * ROW_BYTES)
    assert [charged(budget, f"192.0.2.{number}", 0) for number in range(4)] == [True, True, True, False]


def test_the_next_day_begins_anew_and_the_wait_for_it_is_told() -> None:
    budget = StorageBudget(per_network=ROW_BYTES, in_all=ROW_BYTES)
    midnight = START - START % DAY + DAY
    assert charged(budget, HERE, 0, midnight - 90_500_000)
    with pytest.raises(OAuthFailure) as caught:
        budget.charge(HERE, 0, Instant(midnight - 90_500_000))
    failure = caught.value
    assert (failure.code, failure.status, failure.retry_seconds) == ("temporarily_unavailable", 429, 91)
    assert charged(budget, HERE, 0, midnight)


# -- at the endpoints


async def registering(provider: Provider, client_id: str) -> Reply:
    return await provider("POST", at.REGISTER, json={"redirect_uris": [CALLBACK]})


async def pushing(provider: Provider, client_id: str) -> Reply:
    return await provider("POST", at.PAR, form=provider.request_of(client_id))


async def asking(provider: Provider, client_id: str) -> Reply:
    return await provider.authorize(client_id)


Act = Callable[[Provider, str], Awaitable[Reply]]


@pytest.mark.parametrize("act", [registering, pushing, asking], ids=lambda act: act.__name__)
async def test_every_way_to_leave_a_row_is_charged(provider: Provider, act: Act) -> None:
    client_id = await provider.register()
    storage = provider.parts.storage

    async def rows() -> int:
        return sum(await provider.store.read(lambda tx: tx.row(ROWS)) or ())

    before, at_first = storage.stored, await rows()
    assert (await act(provider, client_id)).status in (201, 303)
    assert await rows() == at_first + 1
    assert storage.stored - before > ROW_BYTES
    storage._per_network = 0
    reply = await act(provider, client_id)
    assert (reply.status, reply.json()["error"]) == (429, "temporarily_unavailable")
    assert 60 < int(reply["retry-after"]) <= 86_400
    assert await rows() == at_first + 1


async def test_who_uses_up_their_bytes_keeps_nobody_else_from_registering(provider: Provider) -> None:
    provider.parts.storage._per_network = 2_000
    replies = [await registering(provider, "") for _ in range(20)]
    assert {reply.status for reply in replies} == {201, 429}
    other = await provider("POST", at.REGISTER, json={"redirect_uris": [CALLBACK]}, peer=ELSEWHERE)
    assert other.status == 201


async def test_who_is_known_goes_on_when_all_bytes_are_used_up(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    provider.parts.storage._in_all_max = 0
    assert (await registering(provider, client_id)).status == 429
    assert (await provider.refresh(client_id, answer["refresh_token"])).status == 200


async def test_a_pushed_request_that_is_taken_up_is_not_charged_again(provider: Provider) -> None:
    client_id = await provider.register()
    request_uri = (await pushing(provider, client_id)).json()["request_uri"]
    before = provider.parts.storage.stored
    reply = await provider("GET", at.AUTHORIZE, query={"client_id": client_id, "request_uri": request_uri})
    assert parameters_of(reply)["request"]
    assert provider.parts.storage.stored == before


async def test_what_a_day_of_registrations_leaves_is_gone_a_day_later(provider: Provider) -> None:
    for _ in range(5):
        await provider.register()
    provider.clock.advance(DAY + 1)
    await provider.store.sweep(oauth_clients.sweep, oauth_clients.SWEEP_ROWS)
    assert await provider.store.read(oauth_clients.list_clients) == []
