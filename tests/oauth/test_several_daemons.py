"""The provider's endpoints at two daemons on one database: a proof that comes to both at once is used at one."""

from dataclasses import replace

import pytest
import trio

from gatewayd.identity.tokens.dpop import ReplayCache
from gatewayd.identity.tokens.used_proofs import PUSHED, ProofQuota
from gatewayd.oauth import addresses as at
from gatewayd.oauth import dpop
from gatewayd.oauth.app import OAuthApp
from gatewayd.store import Store
from tests.oauth.test_dpop_flow import bound, showing
from tests.oauth.test_token import error_of
from tests.support.api import Reply
from tests.support.dpop import KeyHolder
from tests.support.oauth import ISSUER, Provider


@pytest.fixture
def both(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> tuple[Provider, Provider]:
    """Two daemons, which share the store and nothing else."""
    monkeypatch.setattr(Store, "is_shared", property(lambda store: True))
    parts = replace(provider.parts, replays=ReplayCache(), pushed_replays=ReplayCache())
    return provider, replace(provider, app=OAuthApp(parts), parts=parts)


async def test_a_proof_for_tokens(both: tuple[Provider, Provider]) -> None:
    first, _ = both
    client_id, holder = await first.register(), KeyHolder()
    token = (await bound(first, client_id, holder))["refresh_token"]
    shown, replies = showing(first, holder), list[Reply]()

    async def refresh(daemon: Provider) -> None:
        replies.append(await daemon.refresh(client_id, token, headers=shown))

    async with trio.open_nursery() as nursery:
        for daemon in both * 3:
            nursery.start_soon(refresh, daemon)
    assert sorted(reply.status for reply in replies) == [200, *[400] * 5]
    assert {error_of(reply) for reply in replies if reply.status != 200} == {(400, "invalid_dpop_proof")}


async def test_a_proof_of_a_pushed_request_and_the_quota_of_all_keys(
    both: tuple[Provider, Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dpop.used_proofs, "PUSHED", ProofQuota(PUSHED.kind, 5, 2))
    first, second = both
    client_id = await first.register()

    async def push(daemon: Provider, proof: str) -> int:
        form = daemon.request_of(client_id)
        return (await daemon("POST", at.PAR, form=form, headers=[(b"dpop", proof.encode())])).status

    one, two, three = (KeyHolder().proof("POST", ISSUER + at.PAR, first.store.now()) for _ in range(3))
    assert [await push(first, one), await push(second, one)] == [201, 400]
    assert [await push(second, two), await push(first, three), await push(second, three)] == [201, 429, 429]
