"""How much of a period's expenses has a document, and closing that asks for so much (domain model F)."""

import pytest

from gatewayd.errors import Problem
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.areas.periods.desk import Desk, Json
from tests.support.store import MemoryStore


class Closing(LedgerBooks):
    """A sole trader with two businesses, and the first tax year of both, in which nothing else is to be done."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.unregistered_entity()
        self.trade_id, self.other = self.trade(self.owner), self.trade(self.owner, name="Carving")
        self.desk = Desk(store)
        self.desk.org_id = self.org_id
        query = f"type=itsa_quarter&businessId={self.trade_id}&taxYear=2026-27"
        self.quarter = self.desk.periods(query)[0]["id"]
        self.year = self.desk.periods(f"type=tax_year&legalEntityId={self.owner}&taxYear=2026-27")[0]["id"]

    def buy(self, business_id: str, amount: int, *, documented: bool, **values: object) -> None:
        made = self.enter(business_id, "adminCosts", amount, "2026-05-01", **values)
        if documented:
            self.set(made.id, document_ids='["doc_1"]')

    def points(self, period_id: str, percent: int | None) -> dict[str, Json]:
        """What is in the way of closing, by code."""
        with pytest.raises(Problem) as refused:
            self.desk.do("periods.close", id=period_id, evidencePercent=percent)
        assert refused.value.code == "invalid_state"
        undone = refused.value.extra["checklist"]
        assert isinstance(undone, list)
        return {check["code"]: check for check in undone}


@pytest.fixture
def closing(store: MemoryStore) -> Closing:
    return Closing(store)


def test_less_than_is_asked_for_is_in_the_way(closing: Closing) -> None:
    """60.00 of 90.00 is two thirds: 66 per cent is there, and 67 is not."""
    closing.buy(closing.trade_id, 60_00, documented=True)
    closing.buy(closing.trade_id, 20_00, documented=False)
    closing.buy(closing.trade_id, 10_00, documented=False)
    closing.buy(closing.other, 10_00, documented=False)  # of another business's quarter
    found = closing.desk.ask("periods.get", f"id={closing.quarter}")
    evidence = found["totals"]["profitAndLoss"][0]["evidence"]
    assert evidence == {"expenses": "90.00", "documented": "60.00", "percent": "66.6", "missing": 2}
    assert "expenses_documented" not in [check["code"] for check in found["checklist"]]
    assert "expenses_documented" not in closing.points(closing.quarter, None)
    assert "expenses_documented" not in closing.points(closing.quarter, 66)
    assert closing.points(closing.quarter, 67)["expenses_documented"] == {
        "code": "expenses_documented",
        "done": False,
        "count": 2,
        "detail": closing.trade_id,
        "name": "Joinery",
    }


def test_each_business_of_an_entity_has_so_much(closing: Closing) -> None:
    closing.buy(closing.trade_id, 1_000_00, documented=True)
    closing.buy(closing.other, 1_00, documented=False)
    assert closing.points(closing.year, 1)["expenses_documented"]["detail"] == closing.other


def test_without_expenses_there_is_nothing_to_document(closing: Closing) -> None:
    closing.enter(closing.trade_id, "turnover", 1_000_00, "2026-05-01")
    assert "expenses_documented" not in closing.points(closing.quarter, 100)


def test_it_is_closed_by_force(closing: Closing) -> None:
    closing.buy(closing.trade_id, 1_00, documented=False)
    asked = {"id": closing.quarter, "evidencePercent": 100, "force": True, "reason": "The receipt was lost"}
    assert closing.desk.do("periods.close", **asked)["forcedReason"] == "The receipt was lost"


def test_what_cannot_be_counted_is_in_the_way(closing: Closing) -> None:
    foreign = closing.enter(closing.trade_id, "adminCosts", 60_00, "2026-05-01", currency="EUR", fx_rate="0.8")
    closing.set(foreign.id, fx_rate=None)
    point = closing.points(closing.quarter, 1)["expenses_documented"]
    assert (point["count"], "EUR" in str(point["detail"])) == (1, True)
