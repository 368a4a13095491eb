"""Closed periods of people who hold the same share: what one enters changes nothing on a closed day of another."""

from typing import Any

import pytest

from gatewayd.areas.assets.books.instruments import Instrument, Ratio
from gatewayd.areas.assets.instruments.operations import update_instrument
from gatewayd.areas.assets.instruments.shapes import UpdateInstrument
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import WriteTx
from tests.areas.assets.holdings import Holdings

CLOSED = ("2025-04-06", "2026-04-05")


@pytest.fixture
def other(holdings: Holdings) -> str:
    """An account of somebody else."""
    return holdings.new_account(holdings.new_portfolio(holdings.entity("individual")))


def close(holdings: Holdings, *, begin: bool = False) -> None:
    """The person's books are closed, or being closed; those of the other are open."""
    lock = period_locks.begin_closing if begin else period_locks.close
    holdings.write(lambda tx: lock(tx, holdings.person, *CLOSED))


@pytest.mark.parametrize("day", ["2025-04-06", "2026-04-05"])
def test_a_split_that_another_tells_restates_no_closed_day(holdings: Holdings, other: str, day: str) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 100, "1000", account=other)
    close(holdings)
    before = holdings.everything()
    with pytest.raises(Problem) as caught:
        holdings.split(day, 2, account=other)
    assert (caught.value.code, caught.value.extra["date"]) == ("period_closed", day)
    assert holdings.everything() == before
    holdings.split("2026-04-06", 2, account=other)
    assert holdings.pool() == (200, 1000)


def test_a_split_of_a_closed_day_stays_when_another_takes_it_back(holdings: Holdings, other: str) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    split = holdings.split("2025-06-10", 2, account=other)
    assert holdings.pool() == (200, 1000)
    close(holdings)
    with pytest.raises(Problem, match="is closed"):
        holdings.reverse(split)
    assert holdings.pool() == (200, 1000)


def test_a_split_is_refused_where_it_would_restate_a_sale(holdings: Holdings, other: str) -> None:
    """All was sold before the split: what is bought within 30 days is matched with the sale, restated."""
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2025-06-01", 100, "1200")
    close(holdings)
    for day in ("2025-06-02", "2025-07-01"):
        with pytest.raises(Problem, match="is closed"):
            holdings.split(day, 2, account=other)
    holdings.split("2025-07-02", 2, account=other)  # nothing that is bought from then on is matched with the sale
    assert holdings.gains() == {"2025-06-01": 200_00}


def test_who_bought_on_the_day_of_a_split_is_no_hindrance(holdings: Holdings, other: str) -> None:
    holdings.buy("2025-06-11", 100, "1000")
    close(holdings)
    holdings.split("2025-06-11", 2, account=other)
    assert holdings.pool() == (100, 1000)


def test_what_is_being_closed_takes_a_split_that_overrides(holdings: Holdings, other: str) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    close(holdings, begin=True)
    with pytest.raises(Problem) as caught:
        holdings.split("2025-06-10", 2, account=other)
    assert caught.value.extra["state"] == "closing"

    def split(tx: WriteTx) -> None:
        tx.overrides = frozenset({period_locks.CLOSING})
        holdings.enter_in(tx, "split", "2025-06-10", split_ratio=Ratio(numerator=2, denominator=1), account=other)

    holdings.write(split)
    assert holdings.pool() == (200, 1000)


def update(holdings: Holdings, **change: Any) -> Instrument:
    request = UpdateInstrument(id=holdings.share, **change)
    return holdings.write(lambda tx: update_instrument(tx, holdings.caller, request))


@pytest.mark.parametrize("change", [{"cgt_exempt": True}, {"reporting_fund": False}])
def test_gains_of_a_closed_day_are_treated_as_they_were(holdings: Holdings, change: dict[str, bool]) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.sell("2026-04-05", 10, "200")
    close(holdings)
    with pytest.raises(Problem) as caught:
        update(holdings, **change)
    assert (caught.value.code, caught.value.extra["date"]) == ("period_closed", "2026-04-05")
    renamed = update(holdings, name="Oak plc", cgt_exempt=False)
    assert (renamed.name, renamed.cgt_exempt) == ("Oak plc", False)


def test_who_has_no_gain_in_a_closed_period_is_no_hindrance(holdings: Holdings, other: str) -> None:
    holdings.buy("2025-01-10", 100, "1000")
    holdings.buy("2025-01-10", 100, "1000", account=other)
    holdings.sell("2026-04-06", 10, "200")
    holdings.sell("2025-06-01", 10, "200", account=other)
    close(holdings)
    assert update(holdings, cgt_exempt=True).cgt_exempt
