"""Totals of positions: what has no price is counted, and never a part of one side of a figure alone (Domain B3)."""

import pytest

from gatewayd.clock import DAY
from tests.areas.accounting.books import Json
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore

NOTHING = {"positions": 0, "value": "0.00", "cost": "0.00", "unrealisedGain": "0.00", "currency": "GBP"}


class Saver(Shelves):
    """A person with one account, on 20 November 2026."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.portfolio_id = self.portfolio(self.person())["id"]
        self.broker = self.account(self.portfolio_id)["id"]

    def bought(self, gross: str, price: str | None, **fields: object) -> str:
        """A share of which 100 were bought, with its price of today, if it has one."""
        share = self.instrument(name=f"Share for {gross}", **fields).id
        self.enter(self.broker, "buy", "2026-05-01", instrumentId=share, quantity="100", grossAmount=gross)
        if price is not None:
            self.post("recordPrice", instrumentId=share, price=price, date="2026-11-20")
        return share

    def totals(self) -> list[Json]:
        """Those of the portfolio, of its one account and of its one class of assets."""
        portfolio = self.one("getPortfolio", f"id={self.portfolio_id}")["totals"]
        (of_class,) = portfolio["byAssetClass"]
        return [portfolio, self.one("getAccount", f"id={self.broker}")["totals"], of_class]


@pytest.fixture
def saver(store: MemoryStore) -> Saver:
    return Saver(store)


def told(totals: Json) -> tuple[object, ...]:
    names = ("value", "cost", "unrealisedGain", "unpricedPositions", "stalePositions")
    return tuple(totals[name] for name in names)


def test_where_nothing_has_a_price_there_is_no_value_and_no_gain(saver: Saver) -> None:
    """Not a value of 0.00, of which all that it cost would be a loss."""
    saver.bought("1500", None)
    for totals in saver.totals():
        assert told(totals) == (None, "1500.00", None, 1, 0)
        assert totals["priced"] == NOTHING


def test_what_has_a_price_is_told_with_its_own_cost(saver: Saver) -> None:
    saver.bought("1000", "12")
    for totals in saver.totals():
        assert told(totals) == ("1200.00", "1000.00", "200.00", 0, 0)
    saver.bought("1500", None)
    for totals in saver.totals():
        assert told(totals) == (None, "2500.00", None, 1, 0)
        assert totals["priced"] == {
            "positions": 1,
            "value": "1200.00",
            "cost": "1000.00",
            "unrealisedGain": "200.00",
            "currency": "GBP",
        }
    account = saver.one("getAccount", f"id={saver.broker}")
    assert (account["value"], account["unpricedPositions"]) == (None, 1)


def test_what_has_a_price_and_no_rate_of_exchange_has_none(saver: Saver) -> None:
    share = saver.bought("1000", None)
    saver.post("recordPrice", instrumentId=share, price="12", currency="BMD", date="2026-11-20")
    for totals in saver.totals():
        assert told(totals) == (None, "1000.00", None, 1, 0)


def test_what_is_of_an_old_price_or_rate_is_counted(saver: Saver, store: MemoryStore) -> None:
    saver.bought("1000", "12")
    abroad = saver.bought("2000", None)
    saver.post("recordPrice", instrumentId=abroad, price="30", currency="BMD", date="2026-11-20")
    saver.post("recordExchangeRate", currency="BMD", rate="0.5", date="2026-11-13")
    saver.enter(saver.broker, "deposit", "2026-11-20", grossAmount="8", currency="BMD", fxRate="0.5")
    for totals in saver.totals():
        assert told(totals) == ("2700.00", "3000.00", "-300.00", 0, 0)
    saver.post("recordExchangeRate", currency="BMD", rate="0.5", date="2026-11-12")
    store.clock.advance(DAY)
    saver.post("recordPrice", instrumentId=abroad, price="30", currency="BMD", date="2026-11-21")
    assert [one["stalePositions"] for one in saver.totals()] == [0, 0, 0]  # the rate of a deposit is of 7 days before
    store.clock.advance(7 * DAY)
    for totals in saver.totals():
        assert told(totals) == ("2700.00", "3000.00", "-300.00", 0, 2)
    assert saver.totals()[0]["staleCashBalances"] == 1


def test_where_nothing_is_held_it_is_worth_nothing(saver: Saver) -> None:
    totals = saver.one("getPortfolio", f"id={saver.portfolio_id}")["totals"]
    assert told(totals) == ("0.00", "0.00", "0.00", 0, 0)
    assert (totals["priced"], totals["byAssetClass"], totals["staleCashBalances"]) == (NOTHING, [], 0)
