"""Suspects and opened secrets: who gets little room, in turns, and what is remembered of whom."""

from collections import Counter

import pytest

from gatewayd.store import StoreFailure
from gatewayd.webhooks import claims
from gatewayd.webhooks.claims import FIRST, Look, Slots
from gatewayd.webhooks.keyring import Keyring
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.suspects import Suspects
from tests.support.store import MemoryStore
from tests.support.subscribing import emit, subscribe

SETTINGS = WebhookSettings(concurrency=8)  # two slots for suspects


def claim(store: MemoryStore, slots: Slots) -> Look:
    return store.write(lambda tx: claims.claim_due(tx, slots, SETTINGS, store.clock.now()))


# -- suspects


def test_a_suspect_is_one_until_an_attempt_ends_otherwise() -> None:
    suspects = Suspects()
    suspects.note("a", hung=True)
    suspects.note("b", hung=False)
    assert suspects.copied() == {"a"}
    suspects.note("a", hung=False)
    assert suspects.copied() == set()


def test_the_suspect_that_hung_longest_ago_is_forgotten_first() -> None:
    suspects = Suspects(max_remembered=2)
    for name in ("a", "b", "a", "c"):
        suspects.note(name, hung=True)
    assert suspects.copied() == {"a", "c"}


def test_a_suspect_has_one_attempt_in_flight_at_most(store: MemoryStore) -> None:
    org_id = store.org()
    made = subscribe(store, org_id, "https://a.example/")
    emit(store, org_id, 5)
    suspects = frozenset({made.id})
    assert claim(store, Slots(7, {made.id: 1}, frozenset(), FIRST, suspects)).claims == []
    assert len(claim(store, Slots(8, {}, frozenset(), FIRST, suspects)).claims) == 1


def test_suspects_have_a_quarter_of_the_slots_together(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(6)]
    emit(store, org_id, 5)
    suspects = frozenset(one.id for one in made[:5])
    begun = claim(store, Slots(8, {}, frozenset(), FIRST, suspects)).claims
    by_subscription = Counter(one.subscription_id for one in begun)
    assert by_subscription == {made[0].id: 1, made[1].id: 1, made[5].id: 4}
    hanging = {made[0].id: 1, made[1].id: 1}
    again = claim(store, Slots(6, hanging, frozenset(), FIRST, suspects)).claims
    assert {one.subscription_id for one in again} == {made[5].id}


def test_suspects_take_turns(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(5)]
    emit(store, org_id, 4)
    suspects = frozenset(one.id for one in made)
    after, served = FIRST, []
    for _ in range(5):
        look = claim(store, Slots(8, {}, frozenset(), after, suspects))
        served += [one.subscription_id for one in look.claims]
        after = look.after
    assert served == [made[turn % 5].id for turn in range(10)]


def test_with_one_slot_a_suspect_and_a_healthy_one_alternate(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(2)]
    emit(store, org_id, 3)
    after, served = FIRST, []
    for _ in range(4):
        look = claim(store, Slots(1, {}, frozenset(), after, frozenset({made[0].id})))
        served += [one.subscription_id for one in look.claims]
        after = look.after
    assert served == [made[0].id, made[1].id] * 2


# -- opened secrets


def test_a_secret_is_opened_once_and_only_where_it_belongs(store: MemoryStore) -> None:
    sealed = store.write(lambda tx: tx.seal("whsec_1", "row:1"))
    keyring = Keyring()

    def opened(context: str) -> str:
        return store.read(lambda tx: keyring.unseal(tx, sealed, context))

    assert [opened("row:1"), opened("row:1")] == ["whsec_1", "whsec_1"]
    with pytest.raises(StoreFailure):
        opened("row:2")
    assert "whsec_1" not in repr(keyring)


def test_the_keyring_is_bounded(store: MemoryStore) -> None:
    keyring = Keyring(max_kept=2)
    sealed = [store.write(lambda tx, n=n: tx.seal(f"whsec_{n}", f"row:{n}")) for n in range(5)]
    for number, one in enumerate(sealed):
        found = store.read(lambda tx, one=one, n=number: keyring.unseal(tx, one, f"row:{n}"))
        assert found == f"whsec_{number}"
        assert repr(keyring) in ("Keyring(1 kept)", "Keyring(2 kept)")
