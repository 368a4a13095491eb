"""Holds: what they keep from others, and every way in which they end."""

import pytest

from gatewayd.areas.billing import entering
from gatewayd.clock import DAY, HOUR, SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.ledger.credits import balances
from gatewayd.money import MICRO
from tests.ledger.credits.purses import Purse
from tests.support.store import MemoryStore


def standing(purse: Purse, at: Instant | None = None) -> tuple[int, int, int]:
    """Balance, held and available."""
    found = purse.store.read(lambda tx: balances.balance_at(tx, at), purse.org_id)
    return found.balance // MICRO, found.held // MICRO, found.available // MICRO


def test_what_is_held_is_nobody_elses(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    hold = purse.hold(7, "op_1")
    assert standing(purse) == (10, 7, 3)
    with pytest.raises(Problem, match="insufficient_credits"):
        purse.use(4, "op_2")
    with pytest.raises(Problem, match="insufficient_credits"):
        purse.hold(4, "op_2")
    purse.settle(hold, 5)
    assert standing(purse) == (5, 0, 5)
    assert purse.ledger[-1][:3] == ("usage", -5, 5)


def test_no_more_is_settled_than_was_held(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    purse.settle(purse.hold(4, "op_1"), 9)
    assert standing(purse) == (6, 0, 6)


def test_a_hold_is_settled_once(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    hold = purse.hold(4, "op_1")
    purse.settle(hold, 4)
    purse.settle(hold, 4)
    assert purse.hold(4, "op_1") == hold
    purse.use(4, "op_1")
    assert standing(purse) == (6, 0, 6)


def test_what_is_released_is_there_again_and_can_be_held_anew(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    hold = purse.hold(10, "op_1")
    purse.release(hold)
    purse.settle(hold, 10)
    assert standing(purse) == (10, 0, 10)
    assert purse.hold(6, "op_1") == hold
    purse.settle(hold, 6)
    assert standing(purse) == (4, 0, 4)


def test_a_hold_that_nobody_ends_is_over_by_its_date(store: MemoryStore) -> None:
    """Its process was killed: nothing is lost, and nothing has to run for it."""
    purse = Purse(store)
    purse.give(10)
    hold = purse.hold(10, "op_1", seconds=60)
    store.clock.advance(HOUR)
    assert standing(purse) == (10, 0, 10)
    purse.use(8, "op_2")
    purse.settle(hold, 10)  # the work was done after all: as far as there are credits
    assert standing(purse) == (0, 0, 0)


def test_what_is_held_does_not_expire_under_the_work(store: MemoryStore) -> None:
    purse = Purse(store)
    grant = purse.give(10, expires_at=Instant(store.now() + HOUR))
    hold = purse.hold(6, "op_1", seconds=7200)
    store.clock.advance(HOUR)
    assert standing(purse) == (6, 6, 0)
    purse.settle(hold, 4)
    assert standing(purse) == (0, 0, 0)
    purse.book()
    assert [entry[:2] for entry in purse.ledger] == [("grant", 10), ("expiry", -4), ("usage", -4), ("expiry", -2)]
    assert purse.left(grant) == 0


def test_a_hold_is_over_within_a_day(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    purse.hold(10, "op_1", seconds=10 * 86400)
    store.clock.advance(DAY)
    assert standing(purse) == (10, 0, 10)


def test_what_was_held_at_an_instant(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    then = store.now()
    hold = purse.hold(6, "op_1")
    store.clock.advance(HOUR // 2)
    purse.settle(hold, 2)
    store.clock.advance(HOUR)
    assert standing(purse, then) == (10, 6, 4)
    assert standing(purse) == (8, 0, 8)


def test_holds_add_up(store: MemoryStore) -> None:
    """Of one grant and of several, in each organization apart."""
    purse, other = Purse(store), Purse(store)
    purse.give(4)
    purse.give(10)
    other.give(10)
    purse.hold(6, "op_1")
    purse.hold(3, "op_2", seconds=60)
    other.hold(1, "op_1", seconds=60)
    then = store.now()
    assert (standing(purse), standing(other)) == ((14, 9, 5), (10, 1, 9))
    store.clock.advance(HOUR // 2)
    assert (standing(purse), standing(other)) == ((14, 6, 8), (10, 0, 10))
    assert (standing(purse, then), standing(other, then)) == ((14, 9, 5), (10, 1, 9))


@pytest.mark.parametrize(("of_grant", "of_hold"), [(60, 60), (60, 30), (30, 60)])
@pytest.mark.parametrize("booked", [False, True])
def test_what_is_held_expires_with_the_later_of_both(
    store: MemoryStore, of_grant: int, of_hold: int, booked: bool
) -> None:
    """Of a grant whose day is over, what is held until then, to the instant; the rest has expired before."""
    purse = Purse(store)
    purse.give(10, expires_at=Instant(store.now() + of_grant * SECOND))
    purse.give(7, expires_at=Instant(store.now() + HOUR))
    purse.hold(6, "op_1", seconds=of_hold)
    purse.hold(1, "op_2", seconds=of_hold)
    store.clock.advance(60 * SECOND - 1)
    assert standing(purse)[0] == {(60, 60): 17, (60, 30): 17, (30, 60): 14}[(of_grant, of_hold)]
    store.clock.advance(1)
    if booked:
        purse.book()
    assert standing(purse) == (7, 0, 7)
    then = store.now()
    store.clock.advance(SECOND)
    assert standing(purse, then) == (7, 0, 7)


def test_what_is_held_stays_with_its_work_where_its_grant_is_taken_back(store: MemoryStore) -> None:
    purse = Purse(store)
    grant = purse.give(10)
    hold = purse.hold(4, "op_1")
    purse.hold(3, "op_2", seconds=60)
    store.clock.advance(60 * SECOND)  # the second is over, and nobody has booked that
    voided = store.write(lambda tx: entering.void(tx, grant, None), purse.org_id)
    assert (voided.voided // MICRO, voided.remaining // MICRO, voided.held // MICRO) == (6, 4, 4)
    purse.settle(hold, 3)
    purse.book()
    assert [entry[:3] for entry in purse.ledger[1:]] == [("void", -6, 4), ("usage", -3, 1), ("expiry", -1, 0)]


def test_what_is_held_or_used_does_not_expire_soon(store: MemoryStore) -> None:
    purse = Purse(store)
    for amount, hours in ((4, 1), (5, 2), (6, 3)):
        purse.give(amount, expires_at=Instant(store.now() + hours * HOUR))
    purse.use(4, "op_1")
    purse.hold(2, "op_2")
    soon = store.read(lambda tx: balances.balance_at(tx, None), purse.org_id).expiring_soon
    assert [(one.amount // MICRO, one.expires_at - store.now()) for one in soon] == [(3, 2 * HOUR), (6, 3 * HOUR)]


def test_how_a_hold_ends_does_not_rest_on_a_job(store: MemoryStore) -> None:
    """It is over before it is released, whether or not that is booked."""
    for booked in (False, True):
        purse = Purse(store)
        purse.give(10)
        hold = purse.hold(6, "op_1", seconds=60)
        store.clock.advance(HOUR)
        if booked:
            purse.book()
        purse.release(hold)
        purse.settle(hold, 6)
        assert standing(purse) == (4, 0, 4)
