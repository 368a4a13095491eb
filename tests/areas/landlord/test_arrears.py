"""What tenancies owe. Today is 20 November 2026."""

import datetime
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.landlord.rents.arrears import Owed
from gatewayd.clock import days_after
from gatewayd.ledger.allocating import allocations, rents_received
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from gatewayd.ledger.rents.schedule import Step, Terms
from gatewayd.store.sqlite import schema
from tests.areas.landlord.lets import AT, step
from tests.areas.landlord.rent_books import Owes, RentBooks
from tests.ledger.rents import schedule_oracle
from tests.support.store import MemoryStore

_SELECT_SUMS = "SELECT org_id, tenancy_id, currency, amount FROM rents_received ORDER BY tenancy_id"


@pytest.fixture
def lets(store: MemoryStore) -> RentBooks:
    return RentBooks(store)


def test_what_is_due_less_what_came(lets: RentBooks) -> None:
    """Eleven months of 950.00 from January on are 10,450.00; 9,000.00 came, which pays nine and 450.00 of October's."""
    let = lets.let()
    lets.paid(let, "8550.00", date="2026-09-30")
    lets.paid(let, "450.00", date="2026-10-02")
    assert lets.owed(let) == Owed(10450_00, 9000_00, 1450_00, 0, "2026-10-01", "2026-11-01")
    assert lets.owing() == [Owes(let, lets.house, "GBP", 1450_00, 50)]


def test_of_a_day_in_the_past_only_what_had_come(lets: RentBooks) -> None:
    let = lets.let()
    lets.paid(let, "950.00", date="2026-01-01")
    lets.paid(let, "950.00", date="2026-02-03")
    assert lets.owed(let, "2026-01-31") == Owed(950_00, 950_00, 0, 0, None, "2026-01-01")
    assert lets.owed(let, "2026-02-01") == Owed(1900_00, 950_00, 950_00, 0, "2026-02-01", "2026-02-01")
    assert lets.owed(let, "2026-02-03").arrears == 0
    assert [lets.owing(day) for day in ("2026-01-31", "2026-02-03")] == [[], []]
    assert lets.owing("2026-02-02") == [Owes(let, lets.house, "GBP", 950_00, 1)]


def test_what_is_paid_ahead_is_credit(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    lets.paid(let, "1000.00", date="2026-10-28")
    assert lets.owed(let) == Owed(950_00, 1000_00, 0, 50_00, None, "2026-11-01")
    assert lets.owed(let, "2026-10-31") == Owed(0, 1000_00, 0, 1000_00, None, None)
    assert lets.owing() == []


def test_rent_that_is_given_back_is_owed_again(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    lets.paid(let, "950.00")
    back = {"category": "periodAmount", "tenancyId": let, "direction": "out", "amount": "100.00", "description": "Back"}
    lets.post("allocate", parts=[back])
    assert (lets.owed(let).received, lets.owed(let).arrears) == (850_00, 100_00)
    assert [owing.arrears for owing in lets.owing()] == [100_00]


def test_who_was_given_back_more_than_came_owes_no_more_than_the_rent(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-21", "950.00"))
    back = {"category": "periodAmount", "tenancyId": let, "direction": "out", "amount": "5.00", "description": "Back"}
    lets.post("allocate", parts=[back])
    assert lets.owed(let) == Owed(0, 0, 0, 0, None, None)
    assert lets.owing() == []
    assert (lets.owed(let, "2026-11-21").arrears, lets.owing("2026-11-21")[0].arrears) == (316_67, 316_67)


def test_what_is_not_rent_or_of_another_currency_pays_none(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    part = {"tenancyId": let, "direction": "in", "amount": "950.00", "description": "Money"}
    lets.post("allocate", parts=[{**part, "category": "otherIncome"}])
    lets.post("allocate", parts=[{**part, "category": "not_pnl", "purpose": "deposit", "businessId": lets.lets}])
    lets.post("allocate", parts=[{**part, "category": "periodAmount", "fxRate": "0.85"}], currency="EUR")
    assert (lets.owed(let).received, lets.owed(let).arrears) == (0, 950_00)
    assert [owing.arrears for owing in lets.owing()] == [950_00]


def test_a_bank_transaction_that_is_allocated_to_the_tenancy_pays_its_rent(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"))
    line = lets.line(lets.current, 950_00, description="A TENANT", match_key="")
    lets.part(line, "periodAmount", tenancyId=let)
    assert lets.owed(let).arrears == 0


def test_a_tenant_who_left_owes_what_was_not_paid(lets: RentBooks) -> None:
    """January to 10 March 2025: 950.00 twice and 10 days of 31, which are 306.45."""
    let = lets.let(step("2025-01-01", "950.00"), end_date="2025-03-10")
    lets.paid(let, "1900.00", date="2025-02-10")
    assert lets.owed(let) == Owed(2206_45, 1900_00, 306_45, 0, "2025-03-01", "2025-03-01")
    assert lets.owing() == [Owes(let, lets.house, "GBP", 306_45, 629)]
    lets.paid(let, "306.45")
    assert lets.owing() == []
    assert lets.owed(let).arrears == 0
    assert [each.arrears for each in lets.owing("2026-11-01")] == [306_45], "before that came"


def test_a_tenancy_that_was_called_off_owes_nothing(lets: RentBooks) -> None:
    let = lets.let(step("2026-11-01", "950.00"), cancelled_at=AT)
    assert lets.owed(let) == Owed(0, 0, 0, 0, None, None)
    assert lets.owing() == []


def test_another_organization_owes_nothing_here(lets: RentBooks, store: MemoryStore) -> None:
    lets.let()
    assert RentBooks(store, "Other Ltd").owing() == []


def test_a_sum_that_no_column_holds_does_not_break_the_row(lets: RentBooks) -> None:
    let = lets.let(step("0001-01-01", "9999999999999.00"), rent_frequency="weekly", end_date="9999-12-31")
    assert lets.owed(let).arrears > 1 << 63
    assert len(lets.owing()) == 1


# -- the sums


def test_the_sum_of_a_tenancy_follows_every_change_of_an_allocation(lets: RentBooks) -> None:
    let, other = lets.let(step("2026-11-01", "950.00")), lets.let(step("2026-11-01", "800.00"))
    row = lets.part(lets.line(lets.current, 1000_00), "periodAmount", tenancyId=let, amount="500.00")
    owed = lambda: [(one.tenancy_id, one.arrears) for one in lets.owing()]  # noqa: E731
    assert owed() == [(let, 450_00), (other, 800_00)]
    for change, expected in (
        ({"amount": "700.00"}, [250_00, 800_00]),
        ({"tenancyId": other}, [950_00, 100_00]),
        ({"description": "Rent of November"}, [950_00, 100_00]),
        ({"category": "otherIncome"}, [950_00, 800_00]),
        ({"category": "periodAmount"}, [950_00, 100_00]),
        ({"direction": "in", "amount": "900.00"}, [950_00]),
    ):
        lets.post("updateAllocation", allocationId=row["id"], **change)
        assert [arrears for _, arrears in owed()] == expected
    lets.post("removeAllocation", allocationId=row["id"])
    assert owed() == [(let, 950_00), (other, 800_00)]


def test_rents_of_before_the_migration_are_summed_by_it(lets: RentBooks) -> None:
    let = lets.let()
    lets.paid(let, "8550.00", date="2026-09-30")
    lets.paid(lets.let(step("2026-11-01", "100.00")), "20.00")
    lets.part(lets.line(lets.current, 1000_00), "otherIncome", tenancyId=let)
    kept = lets.store.connection.execute(_SELECT_SUMS).fetchall()
    assert [amount for *_, amount in kept] == [8550_00, 20_00]
    (migration,) = [one for one in schema.packaged() if one.name.endswith("sum_rents_received.sql")]
    fill = re.search(r"^INSERT INTO rents_received.*?;", migration.sql, re.MULTILINE | re.DOTALL)
    assert fill is not None
    lets.store.connection.execute(f"DELETE FROM rents_received; {fill[0]}")
    assert lets.store.connection.execute(_SELECT_SUMS).fetchall() == kept


def test_a_sum_that_is_not_that_of_the_allocations_is_found(lets: RentBooks) -> None:
    let = lets.let()
    lets.paid(let, "950.00")
    lets.write(lambda tx: tx.run("UPDATE rents_received SET amount = amount + 1 WHERE org_id = :org_id"))
    assert lets.store.read(lambda tx: rents_received.stale(tx, "", 10), lets.org_id) == [(let, True)]
    assert lets.store.read(lambda tx: rents_received.stale(tx, let, 10), lets.org_id) == []


# -- beside a walk over the days


def test_what_former_tenants_owe_is_read_off_indexes(lets: RentBooks) -> None:
    sql = f"EXPLAIN QUERY PLAN {arrears._SELECT_ENDED}"
    plan = lets.store.read(lambda tx: tx.rows(sql, day="2026-11-20"), lets.org_id)
    assert [row[3].partition(" USING ")[2].partition(" (")[0] for row in plan] == [
        "COVERING INDEX rents_received_unpaid",
        "COVERING INDEX tenancies_that_may_owe",
    ]


class Drawn(NamedTuple):
    terms: Terms
    payments: list[tuple[datetime.date, int]]


days = st.dates(datetime.date(2024, 1, 1), datetime.date(2026, 11, 20))


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    start = draw(days)
    end = draw(st.none() | st.integers(0, 500).map(lambda length: days_after(start.isoformat(), length)))
    weekly = draw(st.booleans())
    steps = (Step(start.isoformat(), draw(st.integers(1, 2000_00))),)
    terms = Terms(start.isoformat(), end, "weekly" if weekly else "monthly", draw(st.integers(1, 7)), steps)
    return Drawn(terms, draw(st.lists(st.tuples(days, st.integers(-500_00, 3000_00).filter(bool)), max_size=4)))


def pay(lets: RentBooks, tenancy_id: str, date: datetime.date, amount: int) -> None:
    part = Part(
        "periodAmount",
        direction="in" if amount > 0 else "out",
        amount=abs(amount),
        tenancy_id=tenancy_id,
        description="Rent",
    )
    lets.write(lambda tx: allocations.enter(tx, [part], Entry(date.isoformat(), "GBP")))


@pytest.fixture(scope="module")
def new_books(database_image: bytes) -> Callable[[], RentBooks]:
    return lambda: RentBooks(MemoryStore(database_image))


@settings(max_examples=60, deadline=None)
@given(st.lists(drawn(), min_size=1, max_size=3), days)
def test_one_and_all_owe_what_a_walk_over_the_days_says(
    new_books: Callable[[], RentBooks], tenancies: list[Drawn], day: datetime.date
) -> None:
    lets = new_books()
    expected = []
    for its, payments in tenancies:
        values = {"rent_frequency": its.frequency, "rent_due_day": its.due_day, "end_date": its.end}
        ((first, amount, _),) = its.steps
        let = lets.let(step(first, f"{amount // 100}.{amount % 100:02}"), **values)
        for date, paid in payments:
            pay(lets, let, date, paid)
        due = sum(due.amount for due in schedule_oracle.dues(its, day))
        came = max(sum(paid for date, paid in payments if date <= day), 0)
        owed = lets.owed(let, day.isoformat())
        assert (owed.due, owed.received) == (due, came)
        assert (owed.arrears, owed.credit) == (max(due - came, 0), max(came - due, 0))
        if due > came:
            left = came
            for rent in schedule_oracle.dues(its, day):
                left -= rent.amount
                if left < 0:
                    break
            assert owed.oldest_due == rent.first
            age = (day - datetime.date.fromisoformat(rent.first)).days
            expected.append(Owes(let, lets.house, "GBP", due - came, age))
    assert sorted(lets.owing(day.isoformat())) == sorted(expected)
