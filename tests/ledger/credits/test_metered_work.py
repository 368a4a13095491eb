"""Work whose price is known afterwards: what is held for it, what it costs in the end, and what a failure costs."""

import pytest

from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.ledger.credits import booking, charging
from gatewayd.ledger.credits.charging import HeldWork, Work
from gatewayd.ledger.credits.shapes import Subject
from gatewayd.money import MICRO, Credits
from tests.ledger.credits.purses import Purse
from tests.support import purses
from tests.support.store import MemoryStore

DOCUMENT = Subject(type="document", id="doc_1")


@pytest.fixture
def purse(store: MemoryStore) -> Purse:
    """An organization for which a page costs 2 credits and a megabyte 1."""
    made = Purse(store)
    made.cost("vault.parse", 2, "page")
    made.cost("vault.parse", 1, "mb")
    return made


def begin(purse: Purse, operation_id: str = "parse_1") -> HeldWork:
    """A file of 3 MB that may have up to 100 pages."""
    work = Work("vault.parse", operation_id, {"mb": 3, "page": 1}, {"mb": 3, "page": 100})
    until = Instant(purse.store.now() + HOUR)
    return purse.store.write(lambda tx: charging.begin(tx, work, until), purse.org_id)


def finish(purse: Purse, held: HeldWork, pages: int) -> None:
    purse.store.write(lambda tx: charging.finish(tx, held, {"mb": 3, "page": pages}, DOCUMENT), purse.org_id)


def held(purse: Purse) -> int:
    return purse.store.read(purses.held, purse.org_id) // MICRO


def charged(purse: Purse) -> list[tuple[str, int]]:
    return [(name, amount // MICRO) for name, amount in purse.store.read(purses.charged, purse.org_id)]


def test_the_most_is_held_and_what_it_came_to_is_charged(purse: Purse) -> None:
    purse.give(1_000)
    work = begin(purse)
    assert (held(purse), purse.balance) == (203, 1_000)
    finish(purse, work, 4)
    assert (held(purse), purse.balance, charged(purse)) == (0, 989, [("vault.parse", 11)])
    assert purse.store.read(purses.subjects, purse.org_id) == [("document", "doc_1")]


def test_it_is_charged_once(purse: Purse) -> None:
    purse.give(1_000)
    work = begin(purse)
    finish(purse, work, 4)
    finish(purse, work, 4)
    finish(purse, begin(purse), 4)
    assert charged(purse) == [("vault.parse", 11)]


def test_a_failure_costs_nothing_and_it_may_be_begun_again(purse: Purse) -> None:
    purse.give(1_000)
    work = begin(purse)
    purse.store.write(lambda tx: charging.give_up(tx, work), purse.org_id)
    assert (held(purse), charged(purse)) == (0, [])
    finish(purse, begin(purse), 1)
    assert charged(purse) == [("vault.parse", 5)]


def test_who_can_pay_for_the_least_is_charged_no_more_than_was_left(purse: Purse) -> None:
    purse.give(10)
    work = begin(purse)
    assert held(purse) == 10
    finish(purse, work, 50)
    assert (purse.balance, charged(purse)) == (0, [("vault.parse", 10)])


def test_who_cannot_pay_for_the_least_is_refused(purse: Purse) -> None:
    purse.give(4)
    with pytest.raises(Problem, match="insufficient_credits"):
        begin(purse)
    purse.give(1)
    finish(purse, begin(purse), 1)
    assert (purse.balance, charged(purse)) == (0, [("vault.parse", 5)])


def test_the_prices_are_those_it_began_under(purse: Purse) -> None:
    purse.give(1_000)
    work = begin(purse)
    purse.cost("vault.parse", 7, "page")
    finish(purse, work, 2)
    assert charged(purse) == [("vault.parse", 7)]


def test_who_has_no_plan_or_no_price_pays_nothing(store: MemoryStore, purse: Purse) -> None:
    purse.store.write(lambda tx: purses.price(tx, "vault.parse", 0, unit="page"), purse.org_id)
    purse.store.write(lambda tx: purses.price(tx, "vault.parse", 0, unit="mb"), purse.org_id)
    finish(purse, begin(purse), 4)
    unmetered = store.org()
    work = Work("vault.parse", "parse_1", {"page": 1}, {"page": 9})
    begun = store.write(lambda tx: charging.begin(tx, work, Instant(store.now() + HOUR)), unmetered)
    store.write(lambda tx: charging.finish(tx, begun, {"page": 9}), unmetered)
    assert (charged(purse), store.read(purses.charged, unmetered)) == ([], [])


def test_under_a_soft_limit_all_of_it_is_charged(store: MemoryStore) -> None:
    purse = Purse(store, soft_limit=True)
    purse.cost("vault.parse", 2, "page")
    finish(purse, begin(purse), 50)
    assert (purse.balance, charged(purse)) == (-100, [("vault.parse", 100)])


def left(purse: Purse, amount: int) -> tuple[bool, bool]:
    """Whether so many millionths are left for sure, and whether they are after what has fallen due is booked."""
    surely = purse.store.read(lambda tx: charging.is_covered(tx, amount), purse.org_id)
    try:
        purse.store.write(lambda tx: charging.require(tx, amount), purse.org_id)
    except Problem as problem:
        return surely, problem.code != "insufficient_credits"
    return surely, True


def test_what_is_left_is_left_to_the_millionth(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10, expires_at=Instant(store.now() + HOUR))
    purse.hold(4, "a")
    assert [left(purse, amount) for amount in (0, 6 * MICRO, 6 * MICRO + 1, 7 * MICRO)] == [
        (True, True),
        (True, True),
        (False, False),
        (False, False),
    ]
    store.clock.advance(HOUR)
    assert left(purse, 1) == (False, False)
    assert purse.ledger[-1][:2] == ("grant", 10), "a refusal books nothing"


def test_a_month_that_has_begun_is_left_once_it_is_booked(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=Credits(100 * MICRO))
    purse.cost("vault.parse", 2, "page")
    purse.use(100, "a")
    store.clock.advance(31 * DAY)
    work = begin(purse)
    assert held(purse) == 100
    purse.store.write(lambda tx: charging.give_up(tx, work), purse.org_id)
    store.clock.advance(31 * DAY)
    assert left(purse, 100 * MICRO) == (False, True)
    assert left(purse, 100 * MICRO) == (True, True)


@pytest.mark.parametrize("soft", [True, None])
def test_who_is_refused_nothing_has_anything_left(store: MemoryStore, soft: bool | None) -> None:
    """Under a soft limit, and without a plan."""
    purse = Purse(store, soft_limit=soft or False)
    if soft is None:
        store.write(lambda tx: booking.change_plan(tx, None), purse.org_id)
    assert left(purse, 1_000 * MICRO) == (True, True)
