"""What others read: today's holdings, those of a past day, and gains of a range of days."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from gatewayd.areas.assets.pools import held, reading
from gatewayd.areas.assets.pools.exact import COST_UNIT
from gatewayd.areas.assets.pools.held import Held, HeldOn, Whose
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.store import ReadTx
from tests.areas.assets.holdings import Holdings


def _told(holdings: Iterable[Held]) -> list[Any]:
    return [(one.scope_id, one.quantity, Fraction(one.cost, COST_UNIT)) for one in holdings]


def test_holdings_of_accounts_portfolios_and_persons(holdings: Holdings) -> None:
    isa, second = holdings.new_account(wrapper="isa"), holdings.instrument()
    other = holdings.new_account(holdings.new_portfolio(holdings.person))
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-11", 50, "600", account=isa)
    holdings.buy("2025-01-12", 10, "130", account=other)
    holdings.buy("2025-01-12", 10, "130", instrument=second)
    holdings.sell("2025-01-13", 10, "130", instrument=second)

    def ask(tx: ReadTx) -> None:
        own, wrapped = (holdings.account, 100, 1000), (isa, 50, 600)

        def told(**whose: str) -> list[Any]:
            return _told(HeldOn(tx, Whose(holdings.person, **whose), tx.today).accounts())

        assert told(account_id=holdings.account) == [own]
        assert told(portfolio_id=holdings.portfolio) == sorted([own, wrapped])
        assert told() == sorted([own, wrapped, (other, 10, 130)])
        whose = Whose(holdings.person)
        assert _told(HeldOn(tx, whose, tx.today).pools().values()) == [(holdings.person, 110, 1130)]
        assert len(HeldOn(tx, whose, tx.today, closed=True).pools()) == 2

    holdings.store.read(ask, holdings.org_id)


def test_a_past_day_knows_no_later_trade_and_matches_none(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 50, "700")
    holdings.buy("2025-03-10", 50, "300")  # matched: until then the pool had given them
    holdings.split("2025-04-01", 2)

    def ask(tx: ReadTx) -> None:
        def past(date: str) -> list[Any]:
            return _told(HeldOn(tx, Whose(holdings.person), date).pools().values())

        assert past("2025-01-09") == []
        assert past("2025-01-10") == [(holdings.person, 100, 1000)]
        assert past("2025-03-09") == [(holdings.person, 50, 500)]
        assert past("2025-03-10") == past("2025-03-31") == [(holdings.person, 100, 1000)]
        assert past("2025-04-01") == past("2026-01-01") == [(holdings.person, 200, 1000)]
        whose = Whose(holdings.person, account_id=holdings.account)
        assert _told(HeldOn(tx, whose, "2025-03-09").accounts()) == [(holdings.account, 50, 500)]
        assert _told(HeldOn(tx, whose, "2025-12-31").accounts()) == [(holdings.account, 200, 800)]

    holdings.store.read(ask, holdings.org_id)


def test_gains_of_a_tax_year_by_instrument(holdings: Holdings) -> None:
    other = holdings.instrument()
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-20", 100, "2000")
    holdings.buy("2025-01-10", 100, "1000", instrument=other)
    holdings.sell("2025-04-05", 10, "200")
    holdings.sell("2025-04-06", 10, "200")
    holdings.sell("2025-04-07", 10, "90", instrument=other)

    def ask(tx: ReadTx) -> None:
        year = ("2025-04-06", "2026-04-05")
        on_last_day = HeldOn(tx, Whose(holdings.person), year[1])
        assert on_last_day.gains(list(on_last_day.accounts()), year[0], pooled=True) == {
            (holdings.account, holdings.share): (50_00, 100_00),
            (holdings.account, other): (-10_00, -10_00),
            (holdings.person, holdings.share): (50_00, 0),
            (holdings.person, other): (-10_00, 0),
        }
        assert [day.date for _, day in reading.disposals(tx, holdings.person, Range(*year))] == [
            "2025-04-06",
            "2025-04-07",
        ]

    holdings.store.read(ask, holdings.org_id)


@pytest.mark.parametrize("sql", [held._SELECT_GAINS, held._SELECT_GAINS_BEFORE])
def test_gains_are_added_up_from_an_index(holdings: Holdings, sql: str) -> None:
    """The row of a day is long: its figures alone are needed."""
    names = ("scope_id", "instrument_id", "first", "date", "until", "after", "last")
    values: Any = {name: "" for name in names if f":{name}" in sql}
    plan = holdings.store.read(lambda tx: tx.rows(f"EXPLAIN QUERY PLAN {sql}", **values), holdings.org_id)
    assert ["USING COVERING INDEX asset_days_of_gains" in step for *_, step in plan] == [True]
