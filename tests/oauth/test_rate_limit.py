"""How much anybody may leave behind."""

import pytest

from gatewayd.clock import MINUTE, Instant
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.oauth import addresses as at
from gatewayd.oauth.rate_limit import PER_MINUTE, NetworkRateLimit
from tests.support.oauth import Provider
from tests.support.store import START


def refused(limit: NetworkRateLimit, peer: str | None, now: int = START) -> bool:
    try:
        limit.take(peer, Instant(now))
    except OAuthFailure:
        return True
    return False


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        (None, "", True),
    ],
)
def test_a_network_is_counted_as_one(first: str | None, second: str | None, same: bool) -> None:
    limit = NetworkRateLimit(per_minute=2)
    assert not refused(limit, first)
    assert not refused(limit, first)
    assert refused(limit, second) is same


def test_the_next_minute_begins_anew() -> None:
    limit = NetworkRateLimit(per_minute=1)
    assert not refused(limit, "192.0.2.1")
    assert refused(limit, "192.0.2.1")
    assert not refused(limit, "192.0.2.1", START + MINUTE)


async def test_what_leaves_rows_behind_is_paced_and_the_token_endpoint_is_not(provider: Provider) -> None:
    client_id = await provider.register()
    answer = await provider.tokens(client_id)
    asked = [await provider("POST", at.REGISTER, json={}) for _ in range(PER_MINUTE)]
    assert {reply.status for reply in asked} == {400, 429}
    for reply in (
        await provider("POST", at.REGISTER, json={}),
        await provider("POST", at.PAR, form=provider.request_of(client_id)),
        await provider.authorize(client_id),
    ):
        assert (reply.status, reply.json()["error"], reply["retry-after"]) == (429, "temporarily_unavailable", "60")
    assert (await provider.refresh(client_id, answer["refresh_token"])).status == 200
    assert (await provider("POST", at.REGISTER, json={}, peer="198.51.100.9")).status == 400
