"""Slow receivers and cached secrets: who gets few slots, in turns, and what is remembered of whom."""

from collections import Counter

import pytest

from gatewayd.store import StoreFailure
from gatewayd.webhooks import claims
from gatewayd.webhooks.claims import FIRST, ClaimResult, Slots
from gatewayd.webhooks.receivers import SecretCache, SlowReceivers
from gatewayd.webhooks.settings import WebhookSettings
from tests.support.store import MemoryStore
from tests.support.subscribing import emit, subscribe

SETTINGS = WebhookSettings(concurrency=8)  # two slots for slow receivers


def claim(store: MemoryStore, slots: Slots) -> ClaimResult:
    return store.write(lambda tx: claims.claim_due(tx, slots, SETTINGS, store.clock.now()))


# -- slow receivers


def test_a_receiver_is_slow_until_an_attempt_ends_otherwise() -> None:
    slow = SlowReceivers()
    slow.note("a", timed_out=True)
    slow.note("b", timed_out=False)
    assert slow.snapshot() == {"a"}
    slow.note("a", timed_out=False)
    assert slow.snapshot() == set()


def test_the_one_that_timed_out_longest_ago_is_forgotten_first() -> None:
    slow = SlowReceivers(max_receivers=2)
    for name in ("a", "b", "a", "c"):
        slow.note(name, timed_out=True)
    assert slow.snapshot() == {"a", "c"}


def test_a_slow_receiver_has_one_attempt_in_flight_at_most(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, "https://a.example/")
    emit(store, org_id, 5)
    slow = frozenset({made.id})
    assert claim(store, Slots(7, {made.id: 1}, frozenset(), FIRST, slow)).claims == []
    assert len(claim(store, Slots(8, {}, frozenset(), FIRST, slow)).claims) == 1


def test_slow_receivers_have_a_quarter_of_the_slots_together(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(6)]
    emit(store, org_id, 5)
    slow = frozenset(one.id for one in made[:5])
    begun = claim(store, Slots(8, {}, frozenset(), FIRST, slow)).claims
    by_subscription = Counter(one.subscription_id for one in begun)
    assert by_subscription == {made[0].id: 1, made[1].id: 1, made[5].id: 4}
    hanging = {made[0].id: 1, made[1].id: 1}
    again = claim(store, Slots(6, hanging, frozenset(), FIRST, slow)).claims
    assert {one.subscription_id for one in again} == {made[5].id}


def test_slow_receivers_take_turns(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(5)]
    emit(store, org_id, 4)
    slow = frozenset(one.id for one in made)
    after, served = FIRST, []
    for _ in range(5):
        claimed = claim(store, Slots(8, {}, frozenset(), after, slow))
        served += [one.subscription_id for one in claimed.claims]
        after = claimed.after
    assert served == [made[turn % 5].id for turn in range(10)]


def test_with_one_slot_a_slow_receiver_and_a_healthy_one_alternate(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(2)]
    emit(store, org_id, 3)
    after, served = FIRST, []
    for _ in range(4):
        claimed = claim(store, Slots(1, {}, frozenset(), after, frozenset({made[0].id})))
        served += [one.subscription_id for one in claimed.claims]
        after = claimed.after
    assert served == [made[0].id, made[1].id] * 2


# -- cached secrets


def test_a_secret_is_opened_once_and_only_where_it_belongs(store: MemoryStore) -> None:
    sealed = store.write(lambda tx: tx.seal("whsec_1", "row:1"))
    cache = SecretCache()

    def opened(context: str) -> str:
        return store.read(lambda tx: cache.unseal(tx, sealed, context))

    assert [opened("row:1"), opened("row:1")] == ["whsec_1", "whsec_1"]
    with pytest.raises(StoreFailure):
        opened("row:2")
    assert "whsec_1" not in repr(cache)


def test_the_secret_cache_is_bounded(store: MemoryStore) -> None:
    cache = SecretCache(max_secrets=2)
    sealed = [store.write(lambda tx, n=n: tx.seal(f"whsec_{n}", f"row:{n}")) for n in range(5)]
    for number, one in enumerate(sealed):
        found = store.read(lambda tx, one=one, n=number: cache.unseal(tx, one, f"row:{n}"))
        assert found == f"whsec_{number}"
        assert repr(cache) in ("SecretCache(1 secrets)", "SecretCache(2 secrets)")
