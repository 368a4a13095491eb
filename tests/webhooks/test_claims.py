"""Claims: how much room each queue has, when to scan again, who gets few slots, and what is remembered of whom."""

from collections import Counter
from dataclasses import replace

import pytest

from gatewayd.clock import HOUR
from gatewayd.identity import audit
from gatewayd.identity.people import suspensions
from gatewayd.store import StoreFailure
from gatewayd.webhooks.queue import claims
from gatewayd.webhooks.queue.claims import FIRST, ClaimResult, Slots
from gatewayd.webhooks.queue.receivers import SecretCache, SlowReceivers
from gatewayd.webhooks.settings import WebhookSettings
from tests.support.store import MemoryStore
from tests.support.subscribing import emit, subscribe

SETTINGS = WebhookSettings(concurrency=8)  # two slots for slow receivers, two for subscriptions with nothing in flight
NOBODY: frozenset[str] = frozenset()


def claim(store: MemoryStore, slots: Slots, settings: WebhookSettings = SETTINGS) -> ClaimResult:
    return store.write(lambda tx: claims.claim_due(tx, slots, settings, store.clock.now()))


def served(look: ClaimResult) -> list[str]:
    return [one.subscription_id for one in look.claims]


def three(store: MemoryStore, events: int) -> tuple[str, str, str]:
    """Three subscriptions that are owed so many events each."""
    org_id = store.org()
    first, second, third = (subscribe(store, org_id, f"https://r{number}.example/").id for number in range(3))
    emit(store, org_id, events)
    return first, second, third


def change(store: MemoryStore, sql: str, **values: object) -> None:
    assert store.write(lambda tx: tx.run(sql, **values)) > 0


# -- room


def test_a_subscription_has_room_for_what_is_not_in_flight(store: MemoryStore) -> None:
    first, _, _ = three(store, 5)
    look = claim(store, Slots(8, {first: 2}, NOBODY))
    assert Counter(served(look))[first] == 2


def test_one_that_has_no_room_takes_none_from_the_others(store: MemoryStore) -> None:
    first, second, _ = three(store, 5)
    assert served(claim(store, Slots(1, {first: 4}, NOBODY))) == [second]


def test_the_reserve_is_left_to_those_with_nothing_in_flight(store: MemoryStore) -> None:
    org_id = store.org()
    only = subscribe(store, org_id, "https://r.example/").id
    emit(store, org_id, 5)
    assert served(claim(store, Slots(3, {}, NOBODY))) == [only]
    assert served(claim(store, Slots(2, {only: 1}, NOBODY))) == []
    assert served(claim(store, Slots(3, {only: 1}, NOBODY))) == [only]


def test_what_is_held_here_leaves_room_for_what_is_behind_it(store: MemoryStore) -> None:
    """Attempts that outlast their lease are due again, but not while they are under way in this process."""
    org_id = store.org()
    made = subscribe(store, org_id, "https://r.example/")
    emit(store, org_id, 4)
    held = [one.delivery_id for one in claim(store, Slots(8, {}, NOBODY), replace(SETTINGS, per_subscription=2)).claims]
    store.clock.advance(SETTINGS.lease)
    look = claim(store, Slots(6, {made.id: 2}, frozenset(held)), replace(SETTINGS, per_subscription=3))
    (one,) = look.claims
    assert one.delivery_id not in held
    assert made.secret not in repr(look)


# -- when to look again


def test_where_nothing_more_is_due_there_is_no_need_to_look(store: MemoryStore) -> None:
    three(store, 1)
    look = claim(store, Slots(8, {}, NOBODY))
    assert (len(look.claims), look.next_due) == (3, None)


def test_the_next_look_is_when_the_first_of_all_is_due(store: MemoryStore) -> None:
    first, second, third = three(store, 1)
    now = store.clock.now()
    for subscription_id, wait in ((first, 50), (second, 30), (third, 70)):
        change(
            store,
            "UPDATE deliveries SET due_at = :due_at WHERE subscription_id = :id",
            due_at=now + wait,
            id=subscription_id,
        )
    look = claim(store, Slots(8, {}, NOBODY))
    assert (look.claims, look.next_due) == ([], now + 30)


def test_a_look_that_was_cut_short_with_room_left_goes_on_at_once(store: MemoryStore) -> None:
    org_id = store.org()
    busy = [subscribe(store, org_id, f"https://r{number}.example/").id for number in range(3)]
    idle = subscribe(store, org_id, "https://idle.example/").id
    emit(store, org_id, 5)
    in_flight = dict.fromkeys(busy, 1)
    look = claim(store, Slots(3, in_flight, NOBODY))
    assert (served(look), look.after, look.next_due) == ([busy[0]], busy[2], store.clock.now())
    assert served(claim(store, Slots(2, in_flight, NOBODY, look.after))) == [idle]


def test_a_look_that_filled_all_the_room_waits(store: MemoryStore) -> None:
    first, second, _ = three(store, 1)
    look = claim(store, Slots(2, {}, NOBODY))
    assert (served(look), look.next_due) == ([first, second], None)


def test_a_clock_that_was_ahead_is_brought_over_and_looked_at_again_at_once(store: MemoryStore) -> None:
    first, second, third = three(store, 1)
    store.clock.advance(-HOUR)
    look = claim(store, Slots(8, {}, NOBODY))
    assert (look.claims, look.next_due) == ([], store.clock.now())
    assert served(claim(store, Slots(8, {}, NOBODY))) == [first, second, third]


def test_what_a_deleted_subscription_left_is_cancelled_and_looked_at_again(store: MemoryStore) -> None:
    first, second, third = three(store, 1)
    change(store, "DELETE FROM webhook_subscriptions WHERE id = :id", id=second)
    look = claim(store, Slots(8, {}, NOBODY))
    assert (served(look), look.next_due) == ([first, third], store.clock.now())
    states = "SELECT subscription_id FROM deliveries WHERE status = 'cancelled'"
    assert store.read(lambda tx: tx.rows(states)) == [(second,)]


def test_what_has_no_attempt_left_is_exhausted_and_looked_behind(store: MemoryStore) -> None:
    first, _, _ = three(store, 1)
    change(store, "UPDATE deliveries SET attempts = 8 WHERE subscription_id = :id", id=first)
    look = claim(store, Slots(8, {}, NOBODY))
    assert first not in served(look)
    assert [head.subscription_id for head, _ in look.exhausted] == [first]
    assert look.next_due == store.clock.now()


def test_secrets_are_remembered_from_look_to_look(store: MemoryStore) -> None:
    three(store, 1)
    cache = SecretCache()
    store.write(lambda tx: claims.claim_due(tx, Slots(8, {}, NOBODY), SETTINGS, store.clock.now(), cache))
    assert repr(cache) == "SecretCache(3 secrets)"


# -- slow receivers


def test_a_receiver_is_slow_until_an_attempt_ends_otherwise() -> None:
    slow = SlowReceivers()
    slow.note("a", slow=True)
    slow.note("b", slow=False)
    assert slow.snapshot() == {"a"}
    slow.note("a", slow=False)
    assert slow.snapshot() == set()


def test_the_one_that_timed_out_longest_ago_is_forgotten_first() -> None:
    slow = SlowReceivers(max_receivers=2)
    for name in ("a", "b", "a", "c"):
        slow.note(name, slow=True)
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
    after, turns = FIRST, []
    for _ in range(5):
        claimed = claim(store, Slots(8, {}, frozenset(), after, slow))
        turns += served(claimed)
        after = claimed.after
    assert turns == [made[turn % 5].id for turn in range(10)]


def test_with_one_slot_a_slow_receiver_and_a_healthy_one_alternate(store: MemoryStore) -> None:
    org_id = store.org()
    made = [subscribe(store, org_id, f"https://r{number}.example/") for number in range(2)]
    emit(store, org_id, 3)
    after, turns = FIRST, []
    for _ in range(4):
        claimed = claim(store, Slots(1, {}, frozenset(), after, frozenset({made[0].id})))
        turns += served(claimed)
        after = claimed.after
    assert turns == [made[0].id, made[1].id] * 2


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


def test_what_a_suspended_organization_is_owed_waits(store: MemoryStore) -> None:
    org_id = store.org()
    waiting = subscribe(store, org_id, "https://r.example/").id
    emit(store, org_id, 1)
    store.write(lambda tx: suspensions.suspend(tx, org_id, None, audit.OPERATOR))
    assert served(claim(store, Slots(8, {}, NOBODY))) == []
    store.write(lambda tx: suspensions.resume(tx, org_id, audit.OPERATOR))
    assert served(claim(store, Slots(8, {}, NOBODY))) == [waiting]
