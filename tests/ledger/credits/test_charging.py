"""Charging for work: the example of Domain C8, the order of grants, and each piece of work once."""

import pytest

from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.ledger.credits import charging
from gatewayd.money import MICRO
from tests.ledger.credits.purses import Purse
from tests.support import purses
from tests.support.store import MemoryStore


def test_the_example_of_the_domain(store: MemoryStore) -> None:
    """Domain C8: G1 of 100 that expires, G2 of 500 that was bought; 30, 90 and 50 are used."""
    purse = Purse(store)
    first = purse.give(100, expires_at=Instant(store.now() + 30 * DAY))
    second = purse.give(500, source="purchase", category="paid")
    for number, amount in enumerate((30, 90, 50)):
        purse.use(amount, f"op_{number}")
    assert purse.ledger == [
        ("grant", 100, 100, first),
        ("purchase", 500, 600, second),
        ("usage", -30, 570, first),
        ("usage", -70, 500, first),
        ("usage", -20, 480, second),
        ("usage", -50, 430, second),
    ]
    assert (purse.left(first), purse.left(second)) == (0, 430)


def test_what_is_left_of_a_grant_expires_by_date(store: MemoryStore) -> None:
    purse = Purse(store)
    first = purse.give(100, expires_at=Instant(store.now() + DAY))
    purse.use(75, "op_1")
    store.clock.advance(DAY)
    with pytest.raises(Problem, match="insufficient_credits"):
        purse.use(1, "op_2")
    purse.book()
    assert purse.ledger[-1] == ("expiry", -25, 0, first)


def test_grants_are_drawn_from_in_order(store: MemoryStore) -> None:
    """Lower priority number, earliest expiry, promotional before paid, oldest."""
    purse = Purse(store)
    soon, later = (Instant(store.now() + days * DAY) for days in (5, 9))
    paid = purse.give(1, category="paid")
    old = purse.give(1)
    young = purse.give(1)
    expires_later = purse.give(1, expires_at=later)
    expires_paid = purse.give(1, expires_at=soon, category="paid")
    expires = purse.give(1, expires_at=soon)
    first = purse.give(1, priority=1, category="paid")
    purse.use(7, "op_1")
    drawn = [grant_id for kind, _, _, grant_id in purse.ledger if kind == "usage"]
    assert drawn == [first, expires, expires_paid, expires_later, old, young, paid]


def test_work_is_charged_once(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10)
    purse.use(4, "op_1")
    purse.use(4, "op_1")
    assert purse.balance == 6
    other = Purse(store)
    other.give(10)
    other.use(4, "op_1")
    assert other.balance == 6


def test_nothing_is_written_where_nothing_is_metered(store: MemoryStore) -> None:
    org_id = store.org()
    of_work = charging.Charge(operation="vault.parse", amount=5, operation_id="op_1")
    store.write(lambda tx: charging.charge(tx, of_work), org_id)
    until = Instant(store.now() + HOUR)
    hold = store.write(lambda tx: charging.hold(tx, "vault.parse", 5, "op_2", until), org_id)
    assert hold == charging.NOT_METERED
    store.write(lambda tx: charging.settle(tx, hold, 5), org_id)
    tables = ("credit_entries", "credit_holds", "credit_usage")
    counts = [store.connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in tables]
    assert counts == [0, 0, 0]
    assert not store.read(charging.is_metered, org_id)


def test_free_work_is_not_entered(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.use(0, "op_1")
    assert purse.hold(0, "op_2") == charging.NOT_METERED
    assert purse.ledger == []


def test_a_price_holds_from_its_day_on(store: MemoryStore) -> None:
    purse = Purse(store)
    assert not store.read(charging.priced_by_call)
    purse.cost("vault.parse", 3, "page")
    pages = store.read(lambda tx: charging.price_of(tx, "vault.parse", "page"))
    calls = store.read(lambda tx: charging.price_of(tx, "vault.parse"))
    assert (pages, calls) == (3 * MICRO, 0)
    assert store.read(charging.priced_by_call) == frozenset()
    purse.cost("crm.createLead", 1)
    assert store.read(charging.priced_by_call) == {"crm.createLead"}


def test_a_refusal_says_what_is_missing_and_takes_nothing(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(3)
    with pytest.raises(Problem) as refusal:
        purse.use(5, "op_1")
    assert refusal.value.code == "insufficient_credits"
    assert refusal.value.extra == {"required": "5", "available": "3"}
    assert purse.balance == 3
    purse.use(3, "op_1")
    assert purse.balance == 0


def test_a_price_holds_to_the_end_of_its_last_day(store: MemoryStore) -> None:
    """Of each unit by itself."""
    purse = Purse(store)
    for days, amount in ((0, 5), (3, 7), (5, 0)):
        store.write(lambda tx, days=days, amount=amount: purses.price(tx, "vault.parse", amount, days, "page"))
    store.write(lambda tx: purses.price(tx, "vault.parse", 2, 4, "mb"))
    found = []
    for _ in range(7):
        found.append(
            tuple(
                store.read(lambda tx, unit=unit: charging.price_of(tx, "vault.parse", unit), purse.org_id)
                for unit in ("page", "mb", "call")
            )
        )
        store.clock.advance(DAY)
    pages, megabytes, calls = zip(*found, strict=True)
    assert (pages, megabytes, calls) == ((5, 5, 5, 7, 7, 0, 0), (0, 0, 0, 0, 2, 2, 2), (0,) * 7)


def test_what_may_be_charged_by_the_call_has_a_price_above_nothing(store: MemoryStore) -> None:
    """Today or on another day, and only while anybody has a plan."""
    for name, amount, days, unit in (
        ("tax.forward", 1, 0, "call"),
        ("crm.createLead", 1, 9, "call"),
        ("crm.listLeads", 0, 0, "call"),
        ("vault.parse", 1, 0, "page"),
    ):
        store.write(lambda tx, of=(name, amount, days, unit): purses.price(tx, *of))
    assert store.read(charging.priced_by_call) == frozenset()
    Purse(store)
    assert store.read(charging.priced_by_call) == {"tax.forward", "crm.createLead"}
