"""Plans: what is granted each month, what becomes of what is left of it, and changing them."""

import pytest

from gatewayd.clock import DAY, HOUR, Instant, from_wire
from gatewayd.ledger.credits import balances, booking, entries, grants, invariants, plans
from gatewayd.ledger.credits.shapes import PlanLimits
from gatewayd.money import MICRO, Credits
from tests.ledger.credits.purses import Purse
from tests.support.store import START, MemoryStore

HUNDRED = Credits(100 * MICRO)


def move_to(store: MemoryStore, day: str) -> None:
    store.clock.advance(from_wire(f"{day}T12:00:00Z") - store.now())


def seen(purse: Purse, at: str | None = None) -> int:
    """The balance that a read tells."""
    instant = None if at is None else from_wire(f"{at}T12:00:00Z")
    return purse.store.read(lambda tx: balances.balance_at(tx, instant), purse.org_id).balance // MICRO


@pytest.mark.parametrize(
    ("rollover", "expected"),
    [("none", [100, 100, 100]), ("capped", [170, 200, 200]), ("full", [170, 270, 370])],
)
@pytest.mark.parametrize("booked", [False, True])
def test_what_is_left_of_a_month(store: MemoryStore, rollover: str, expected: list[int], booked: bool) -> None:
    """30 of the first 100 are used; then three months go by, whether or not a job runs in each."""
    purse = Purse(store, included_credits=HUNDRED, rollover=rollover)
    purse.use(30, "op_1")
    found = []
    for day in ("2026-12-20", "2027-01-20", "2027-02-20"):
        move_to(store, day)
        found.append(seen(purse))
        if booked:
            purse.book()
            assert purse.balance == found[-1]
    assert found == expected
    purse.use(1, "op_2")
    assert purse.balance == expected[-1] - 1
    assert store.read(invariants.faults_of_grants, purse.org_id) == []


@pytest.mark.parametrize("booked", [False, True])
def test_what_was_granted_in_all_counts_months_that_have_begun(store: MemoryStore, booked: bool) -> None:
    purse = Purse(store, included_credits=HUNDRED)
    purse.use(30, "op_1")
    move_to(store, "2026-12-20")
    if booked:
        purse.book()
    now = store.read(lambda tx: balances.balance_at(tx, None), purse.org_id)
    store.clock.advance(DAY)
    if booked:
        purse.give(7)
    then = store.read(lambda tx: balances.balance_at(tx, Instant(store.now() - DAY)), purse.org_id)
    for found in (now, then):
        assert (found.lifetime_granted, found.lifetime_used, found.balance) == (200 * MICRO, 30 * MICRO, 100 * MICRO)


def test_a_month_begins_at_midnight_in_london(store: MemoryStore) -> None:
    """Set on 20 November; by 20 May summer time has begun."""
    purse = Purse(store, included_credits=HUNDRED)
    move_to(store, "2027-05-19")
    purse.use(100, "op_1")
    store.clock.advance(10 * HOUR)
    assert seen(purse) == 0
    store.clock.advance(HOUR)
    assert seen(purse) == 100
    purse.book()
    assert purse.ledger[-1][:3] == ("grant", 100, 100)


def test_a_month_has_no_31st(store: MemoryStore) -> None:
    store.clock.advance(from_wire("2027-01-31T12:00:00Z") - START)
    purse = Purse(store, included_credits=HUNDRED)
    purse.use(100, "op_1")
    found = []
    for day in ("2027-02-27", "2027-02-28", "2027-03-30", "2027-03-31"):
        move_to(store, day)
        found.append(seen(purse))
        if found[-1]:
            purse.use(100, day)
    assert found == [0, 100, 0, 100]


def test_months_that_went_by_unseen_are_granted_once(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=HUNDRED, rollover="full")
    move_to(store, "2027-03-20")
    purse.book()
    purse.book()
    assert [kind for kind, *_ in purse.ledger] == ["grant"] * 5
    newest = store.read(entries.last, purse.org_id)
    assert newest is not None
    assert newest.occurred_at == from_wire("2027-03-20T00:00:00Z")


@pytest.mark.parametrize("booked", [False, True])
def test_a_month_that_is_over_when_another_begins_is_not_granted(store: MemoryStore, booked: bool) -> None:
    """To the instant, where a whole month went by unseen."""
    purse = Purse(store, included_credits=HUNDRED)
    store.clock.advance(from_wire("2027-01-20T00:00:00Z") - store.now())
    if booked:
        purse.book()
        assert [entry[0] for entry in purse.ledger] == ["grant", "expiry", "grant"]
    found = store.read(lambda tx: balances.balance_at(tx, None), purse.org_id)
    assert (found.balance, found.lifetime_granted) == (100 * MICRO, 200 * MICRO)


def test_what_a_plan_allows_at_most(store: MemoryStore) -> None:
    """Without one, anything."""
    purse = Purse(store, limits=PlanLimits(documents=3, storage_bytes=5))
    assert store.read(plans.limits, purse.org_id) == PlanLimits(documents=3, storage_bytes=5)
    assert store.read(plans.limits, store.org()) == PlanLimits()


def test_another_plan_goes_on_within_the_month(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=HUNDRED)
    store.clock.advance(DAY)
    purse.subscribe(included_credits=Credits(7 * MICRO))
    assert purse.balance == 100
    purse.subscribe(included_credits=Credits(107 * MICRO))
    assert purse.balance == 107
    store.write(lambda tx: booking.change_plan(tx, None), purse.org_id)
    purse.use(5, "op_1")
    assert purse.balance == 107, "without a plan nothing is metered"
    move_to(store, "2027-06-20")
    assert seen(purse) == 0


def test_a_hold_outlives_a_change_of_plan(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    hold = purse.hold(8, "op_1")
    purse.subscribe(soft_limit=True)
    purse.use(15, "op_2")
    assert purse.balance == -5
    assert store.read(lambda tx: balances.balance_at(tx, None), purse.org_id).available == -5 * MICRO
    assert store.read(invariants.faults_of_grants, purse.org_id) == []
    purse.settle(hold, 8)
    assert purse.balance == -13
    assert store.read(invariants.faults_of_grants, purse.org_id) == []
    purse.give(20)
    assert purse.balance == 7
    assert store.read(invariants.faults_of_grants, purse.org_id) == []


def test_the_daemon_books_much_a_part_at_a_time(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    purse = Purse(store)
    for _ in range(7):
        purse.give(1, expires_at=Instant(store.now() + HOUR))
    store.clock.advance(HOUR)
    monkeypatch.setattr(grants, "DUE_AT_ONCE", 3)
    found = []
    while (org_id := store.read(booking.organization_with_due)) is not None:
        store.write(booking.book_what_is_due, org_id)
        found.append(purse.balance)
    assert found == [4, 1, 0]


def test_the_daemon_books_what_is_due_of_every_organization(store: MemoryStore) -> None:
    planned = Purse(store, included_credits=HUNDRED)
    expiring, holding, idle = Purse(store), Purse(store), Purse(store)
    expiring.give(5, expires_at=Instant(store.now() + HOUR))
    holding.give(5)
    holding.hold(5, "op_1", seconds=60)
    idle.give(5)
    move_to(store, "2026-12-21")
    found = []
    while (org_id := store.read(booking.organization_with_due)) is not None:
        found.append(org_id)
        store.write(booking.book_what_is_due, org_id)
    assert set(found) == {purse.org_id for purse in (planned, expiring, holding)}
    assert [purse.balance for purse in (planned, expiring, holding, idle)] == [100, 0, 5, 5]
    holding.use(5, "op_2")


@pytest.mark.parametrize("what", ["a hold", "a grant", "a month"])
def test_it_is_due_from_the_instant_on_and_once(store: MemoryStore, what: str) -> None:
    idle, purse = Purse(store), Purse(store, included_credits=HUNDRED if what == "a month" else Credits(0))
    ends = from_wire("2026-12-20T00:00:00Z")
    idle.give(5)
    purse.give(5, expires_at=ends if what == "a grant" else None)
    store.clock.advance(ends - HOUR - store.now())
    if what == "a hold":
        purse.hold(5, "op_1", seconds=3600)
    idle.hold(5, "op_1", seconds=7200)
    store.clock.advance(HOUR - 1)
    assert store.read(booking.organization_with_due) is None
    store.clock.advance(1)
    booked = []
    while (org_id := store.read(booking.organization_with_due)) is not None and len(booked) < 3:
        store.write(booking.book_what_is_due, org_id)
        booked.append(org_id)
    assert set(booked) == {purse.org_id}
    assert len(booked) == (2 if what == "a month" else 1), "what is over is booked apart from what begins"
    assert purse.balance == {"a hold": 5, "a grant": 0, "a month": 105}[what]
