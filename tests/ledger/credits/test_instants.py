"""What is true at the very instant at which a grant or a hold ends, and of others' credits: never anything."""

from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.ledger.credits import balances, charging, grants, holds
from gatewayd.money import MICRO, Credits
from tests.ledger.credits.purses import Purse
from tests.support.store import START, MemoryStore


def at(purse: Purse, instant: int) -> tuple[int, int, int]:
    """Balance, what is held, and what expires soon, as read for an instant."""
    found = purse.store.read(lambda tx: balances.balance_at(tx, Instant(instant)), purse.org_id)
    soon = sum(one.amount for one in found.expiring_soon)
    return found.balance // MICRO, found.held // MICRO, soon // MICRO


def test_a_grant_is_over_at_its_expiry_and_not_before(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10, expires_at=Instant(START + HOUR))
    assert [at(purse, START + HOUR - 1), at(purse, START + HOUR)] == [(10, 0, 10), (0, 0, 0)]
    store.clock.advance(HOUR)
    assert store.read(lambda tx: grants.draw(tx, 1), purse.org_id) == ([], 1)


def test_what_fell_due_by_then_is_not_in_a_balance_that_is_past(store: MemoryStore) -> None:
    """However many entries were booked for it later, and none that came after it."""
    purse = Purse(store)
    for amount in (10, 20, 30, 40):
        purse.give(amount, expires_at=Instant(START + HOUR))
    purse.give(5)
    store.clock.advance(2 * HOUR)
    purse.give(7)
    expired = [("expiry", -amount) for amount in (10, 20, 30, 40)]
    assert [entry[:2] for entry in purse.ledger[-5:]] == [*expired, ("grant", 7)]
    asked = (START + HOUR - 1, START + HOUR, START + 2 * HOUR - 1, START + 2 * HOUR)
    assert [at(purse, instant)[0] for instant in asked] == [105, 5, 5, 12]


def test_what_expires_within_thirty_days_is_soon_to_the_last_instant(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(3)
    for amount, expires_at in ((1, START + 30 * DAY), (5, START + 30 * DAY + 1)):
        purse.give(amount, expires_at=Instant(expires_at))
    hold = purse.hold(1, "a")
    assert at(purse, START) == (9, 1, 0), "what is held does not expire"
    purse.release(hold)
    assert at(purse, START) == (9, 0, 1)


def test_a_clock_that_is_put_back_hides_nothing(store: MemoryStore) -> None:
    """What was booked by the wrong clock is there all the same."""
    purse = Purse(store)
    purse.give(10)
    purse.use(3, "a")
    store.clock.advance(-HOUR)
    assert store.read(lambda tx: balances.balance_at(tx, None), purse.org_id).balance == 7 * MICRO
    assert at(purse, store.now()) == (7, 0, 0)


def test_a_hold_is_over_at_its_end_and_what_is_past_is_remembered(store: MemoryStore) -> None:
    purse, other = Purse(store), Purse(store)
    for one in (purse, other):
        one.give(100)
    store.clock.advance(HOUR)
    purse.hold(10, "over", seconds=60)
    released = purse.hold(7, "released", seconds=7200)
    other.hold(50, "of another")
    store.clock.advance(HOUR)
    purse.release(released)
    began, ended = START + HOUR, START + 2 * HOUR
    held = [
        store.read(lambda tx, i=i: holds.held_then(tx, Instant(i)), purse.org_id) // MICRO
        for i in (began - 1, began, began + 60_000_000 - 1, began + 60_000_000, ended - 1, ended)
    ]
    assert held == [0, 17, 17, 7, 7, 0]
    store.clock.advance(2 * DAY)
    assert store.read(lambda tx: holds.held_then(tx, Instant(began)), purse.org_id) == 17 * MICRO


def test_what_is_not_metered_has_no_hold_to_end(store: MemoryStore) -> None:
    """Nothing is booked for it either, though something has fallen due."""
    purse = Purse(store)
    purse.give(10, expires_at=Instant(START + HOUR))
    store.clock.advance(2 * HOUR)
    before = purse.ledger
    purse.settle(charging.NOT_METERED, 1)
    purse.release(charging.NOT_METERED)
    assert purse.ledger == before
    purse.hold(0, "free")
    assert purse.ledger == before


def test_a_plan_that_is_changed_books_first_what_has_fallen_due(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10, expires_at=Instant(START + HOUR))
    hold = purse.hold(4, "a", seconds=60)
    store.clock.advance(2 * HOUR)
    purse.subscribe(soft_limit=True)
    assert purse.ledger[-1][:3] == ("expiry", -10, 0)
    purse.settle(hold, 4)
    assert purse.balance == -4


def test_what_is_given_pays_after_what_has_fallen_due(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10, expires_at=Instant(START + HOUR))
    store.clock.advance(2 * HOUR)
    purse.give(3)
    assert [entry[:3] for entry in purse.ledger] == [("grant", 10, 10), ("expiry", -10, 0), ("grant", 3, 3)]


def test_a_charge_has_a_subject_where_both_its_parts_are_told(store: MemoryStore) -> None:
    def subject(type_: str | None, id_: str | None) -> object:
        return charging.Charge(
            operation="vault.parse", amount=1, operation_id="x", subject_type=type_, subject_id=id_
        ).subject

    assert (subject(None, None), subject("document", None), subject(None, "doc_1")) == (None, None, None)
    assert subject("document", "doc_1") is not None


def test_a_hold_is_of_a_month_that_has_begun_too(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=Credits(100 * MICRO))
    purse.use(100, "a")
    store.clock.advance(31 * DAY)
    assert purse.hold(100, "b") != charging.NOT_METERED
    assert at(purse, store.now()) == (100, 100, 0)


def test_work_that_was_charged_meanwhile_gives_its_hold_back(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    hold = purse.hold(6, "a")
    purse.use(3, "a")
    purse.settle(hold, 5)
    assert at(purse, store.now()) == (7, 0, 0)


def test_work_that_comes_to_nothing_is_not_entered(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    before = purse.ledger
    purse.use(0, "a")
    assert purse.ledger == before
