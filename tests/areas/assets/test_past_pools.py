"""A pool of a past day has nothing of what came later, also not by way of a spouse or of another instrument (C5)."""

from typing import Any

import pytest

from tests.areas.accounting.books import Json
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore

THEN = "2026-09-05"
"""Between what left at cost and what was bought later."""


class Couple(Shelves):
    """Two spouses with an account each, of whom one has 100 shares at 1,000."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.accounts: dict[str, str] = {}
        self.portfolios: dict[str, str] = {}
        for name in ("giver", "taker"):
            person = self.person()
            self.portfolios[name] = self.portfolio(person)["id"]
            self.accounts[name] = self.account(self.portfolios[name])["id"]
        self.share = self.instrument(name="Lobster plc").id
        self.trade("giver", "buy", "2026-01-10", "100", "1000")

    def trade(self, name: str, kind: str, date: str, quantity: str, gross: str, **fields: object) -> Json:
        values = {"instrumentId": self.share, "quantity": quantity, "grossAmount": gross, **fields}
        return self.enter(self.accounts[name], kind, date, **values)

    def give(self, date: str, quantity: str, giver: str = "giver", taker: str = "taker") -> Json:
        fields: dict[str, Any] = {"counterAccountId": self.accounts[taker], "spouseTransfer": True}
        account = self.accounts[giver]
        return self.enter(account, "transfer_out", date, instrumentId=self.share, quantity=quantity, **fields)

    def seen(self, name: str, day: str, instrument: str | None = None) -> tuple[str, str, str]:
        """Quantity, cost and gain of a position, as of a day."""
        query = f"portfolioId={self.portfolios[name]}&asOfDate={day}&includeClosed=true"
        (one,) = [one for one in self.positions(query) if one["instrumentId"] == (instrument or self.share)]
        return one["quantity"], one["costBasisBase"], one["realisedGainTaxYear"]


@pytest.fixture
def couple(store: MemoryStore) -> Couple:
    return Couple(store)


def test_a_gift_cost_what_it_cost_by_then(couple: Couple) -> None:
    """50 of 100 at 10 each; that 50 are bought for 900 within 30 days, with which the gift is matched, is not known."""
    couple.give("2026-09-01", "50")
    before = couple.seen("taker", THEN), couple.seen("giver", THEN)
    assert before == (("50", "500.00", "0.00"), ("50", "500.00", "0.00"))
    couple.trade("giver", "buy", "2026-09-10", "50", "900")
    assert (couple.seen("taker", THEN), couple.seen("giver", THEN)) == before
    assert (couple.seen("taker", "2026-09-10")[1], couple.seen("giver", "2026-09-10")[1]) == ("900.00", "1000.00")


def test_a_gift_that_came_back_is_of_then(couple: Couple) -> None:
    """After more than 30 days, so that neither gift depends on the other."""
    couple.give("2026-07-01", "50")
    couple.give("2026-09-01", "50", "taker", "giver")
    before = couple.seen("taker", THEN), couple.seen("giver", THEN)
    assert before == (("0", "0.00", "0.00"), ("100", "1000.00", "0.00"))
    couple.trade("taker", "buy", "2026-09-10", "50", "900")
    assert (couple.seen("taker", THEN), couple.seen("giver", THEN)) == before
    assert couple.seen("giver", "2026-09-10")[1] == "1400.00"


def test_a_gain_of_the_receiver_is_the_one_of_then(couple: Couple) -> None:
    couple.give("2026-09-01", "50")
    couple.trade("taker", "sell", "2026-09-03", "20", "300")
    couple.trade("giver", "buy", "2026-09-10", "50", "900")
    assert couple.seen("taker", THEN) == ("30", "300.00", "100.00")  # 300 - 20/50 x 500
    assert couple.seen("taker", "2026-09-10") == ("30", "540.00", "-60.00")  # 300 - 20/50 x 900


def test_what_went_on_to_a_third_is_of_then_too(couple: Couple) -> None:
    third = couple.person()
    couple.portfolios["third"] = couple.portfolio(third)["id"]
    couple.accounts["third"] = couple.account(couple.portfolios["third"])["id"]
    couple.give("2026-09-01", "50")
    couple.give("2026-09-02", "30", "taker", "third")
    before = [couple.seen(name, THEN) for name in ("giver", "taker", "third")]
    couple.trade("giver", "buy", "2026-09-10", "50", "900")
    assert [couple.seen(name, THEN) for name in ("giver", "taker", "third")] == before
    assert before == [("50", "500.00", "0.00"), ("20", "200.00", "0.00"), ("30", "300.00", "0.00")]
    assert [couple.seen(name, "2026-09-10")[1] for name in ("giver", "taker", "third")] == [
        "1000.00",
        "360.00",
        "540.00",
    ]


def test_what_went_to_another_instrument_is_of_then(couple: Couple) -> None:
    """50 are sold, the other 50 at 500 give a fifth to a demerger, and 50 are bought back 9 days after the sale."""
    new = couple.instrument(name="Claw plc").id
    couple.trade("giver", "sell", "2026-09-01", "50", "700")
    told = {"instrumentId": new, "quantity": "5", "fromInstrumentId": couple.share, "costShare": "0.2"}
    couple.enter(couple.accounts["giver"], "spin_off", "2026-09-04", **told)
    before = couple.seen("giver", THEN), couple.seen("giver", THEN, new)
    assert before == (("50", "400.00", "200.00"), ("5", "100.00", "0.00"))
    couple.trade("giver", "buy", "2026-09-10", "50", "900")
    assert (couple.seen("giver", THEN), couple.seen("giver", THEN, new)) == before


def test_an_explanation_of_then_has_the_cost_of_then(couple: Couple) -> None:
    couple.give("2026-09-01", "50")
    couple.trade("giver", "buy", "2026-09-10", "50", "900")
    query = f"portfolioId={couple.portfolios['taker']}&explain=true&asOfDate={THEN}"
    ((came,),) = [one["explanation"]["days"] for one in couple.positions(query)]
    assert (came["acquiredCost"], came["poolAfter"]["cost"]) == ("500.00", "500.00")
    given = f"portfolioId={couple.portfolios['giver']}&explain=true&asOfDate={THEN}"
    ((_, gave),) = [one["explanation"]["days"] for one in couple.positions(given)]
    assert (gave["removedCost"], gave["poolAfter"]["cost"], gave["matches"][0]["rule"]) == ("500.00", "500.00", "pool")
