"""What others read: today's holdings, those of a past day, and gains of a range of days."""

from fractions import Fraction
from typing import Any

from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.exact import COST_UNIT
from gatewayd.areas.assets.pools.reading import Holding
from gatewayd.store import ReadTx
from tests.areas.assets.holdings import Holdings


def _told(holdings: list[Holding]) -> list[Any]:
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
        assert _told(reading.of_scope(tx, holdings.account)) == [own]
        assert _told(reading.of_portfolio(tx, holdings.person, holdings.portfolio)) == sorted([own, wrapped])
        assert _told(reading.of_entity(tx, holdings.person)) == sorted([own, wrapped, (other, 10, 130)])
        assert _told(reading.of_scope(tx, holdings.person)) == [(holdings.person, 110, 1130)]
        assert len(reading.of_scope(tx, holdings.person, closed=True)) == 2

    holdings.store.read(ask, holdings.org_id)


def test_a_past_day_knows_no_later_trade_and_matches_none(holdings: Holdings) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-03-01", 50, "700")
    holdings.buy("2025-03-10", 50, "300")  # matched: until then the pool had given them
    holdings.split("2025-04-01", 2)

    def ask(tx: ReadTx) -> None:
        def past(date: str) -> list[Any]:
            return _told(reading.as_of(tx, reading.of_scope(tx, holdings.person), date))

        assert past("2025-01-09") == []
        assert past("2025-01-10") == [(holdings.person, 100, 1000)]
        assert past("2025-03-09") == [(holdings.person, 50, 500)]
        assert past("2025-03-10") == past("2025-03-31") == [(holdings.person, 100, 1000)]
        assert past("2025-04-01") == past("2026-01-01") == [(holdings.person, 200, 1000)]
        account = reading.of_scope(tx, holdings.account)
        assert _told(reading.as_of(tx, account, "2025-03-09")) == [(holdings.account, 50, 500)]
        assert _told(reading.as_of(tx, account, "2025-12-31")) == [(holdings.account, 200, 800)]

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
        assert reading.realised(tx, holdings.account, *year) == {
            holdings.share: (50_00, 100_00),
            other: (-10_00, -10_00),
        }
        assert reading.realised(tx, holdings.person, *year) == {holdings.share: (50_00, None), other: (-10_00, None)}
        assert [day.date for _, day in reading.disposals(tx, holdings.person, *year)] == ["2025-04-06", "2025-04-07"]

    holdings.store.read(ask, holdings.org_id)
