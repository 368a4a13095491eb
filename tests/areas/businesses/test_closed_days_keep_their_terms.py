"""The VAT scheme and its percentage have no day of their own: closed days keep those they were closed with (Domain C1).

1,200.00 is sold with VAT in the closed quarter and again after it. At 10 % 120.00 is taken off each, at 20 % 240.00,
and on the standard scheme its VAT, 200.00.
"""

import msgspec
import pytest

from gatewayd.areas.legal_entities.operations import update_legal_entity
from gatewayd.areas.legal_entities.shapes import UpdateLegalEntity
from gatewayd.ledger.calendar import period_locks
from tests.areas.businesses.ledger_books import Json, LedgerBooks, lines
from tests.areas.periods.desk import Desk
from tests.support.store import MemoryStore

QUARTER, YEAR = ("2026-01-01", "2026-03-31"), ("2026-01-01", "2026-12-31")
STANDARD: Json = {"status": "registered", "effectiveDate": "2020-01-01", "staggerGroup": 1}
FLAT: Json = {**STANDARD, "scheme": "flat_rate", "flatRatePercent": "10"}
DEARER: Json = {**FLAT, "flatRatePercent": "20"}


class Seller(LedgerBooks):
    """A trade of somebody at the flat rate, who sold something in each quarter but the last."""

    def __init__(self, store: MemoryStore, vat: Json = FLAT) -> None:
        super().__init__(store)
        self.owner = self.entity(vat=vat)
        self.business = self.trade(self.owner)
        for date in ("2026-03-31", "2026-04-01", "2026-09-01"):
            self.enter(self.business, "turnover", 1_200_00, date, vat_amount=200_00)

    def close(self, first: str, last: str, business_id: str | None = None) -> None:
        self.write(lambda tx: period_locks.close(tx, self.owner, first, last, business_id))

    def reopen(self, first: str, last: str) -> None:
        self.write(lambda tx: period_locks.reopen(tx, self.owner, first, last))

    def say(self, vat: Json) -> None:
        request = msgspec.convert({"id": self.owner, "vat": vat}, UpdateLegalEntity)
        self.write(lambda tx: update_legal_entity(tx, self.caller, request))

    def sold(self) -> list[str]:
        """Of the closed quarter, the next, and the one after that."""
        ranges = (QUARTER, ("2026-04-01", "2026-06-30"), ("2026-07-01", "2026-09-30"))
        each = [lines(self.pnl(self.business, *days))["turnover"] for days in ranges]
        # the year is the sum of its parts, wherever the terms change
        whole = self.pnl(self.business, *YEAR, groupBy="month")
        assert float(lines(whole)["turnover"]) == sum(map(float, each))
        assert sum(float(lines(part).get("turnover", "0")) for part in whole["buckets"]) == sum(map(float, each))
        return each


@pytest.fixture
def seller(store: MemoryStore) -> Seller:
    return Seller(store)


def test_without_a_closed_day_it_reaches_back(seller: Seller) -> None:
    assert seller.sold() == ["1080.00"] * 3
    seller.say(DEARER)
    assert seller.sold() == ["960.00"] * 3
    seller.say({**STANDARD, "scheme": "standard"})
    assert seller.sold() == ["1000.00"] * 3


@pytest.mark.parametrize("of_business", [False, True])
@pytest.mark.parametrize(("vat", "after"), [(DEARER, "960.00"), ({**STANDARD, "scheme": "standard"}, "1000.00")])
def test_a_closed_quarter_stays_as_it_is(seller: Seller, vat: Json, after: str, of_business: bool) -> None:
    seller.close(*QUARTER, seller.business if of_business else None)
    seller.say(vat)
    assert seller.sold() == ["1080.00", after, after]


def test_each_closed_quarter_keeps_its_own(seller: Seller) -> None:
    seller.close(*QUARTER)
    seller.say(DEARER)
    seller.close("2026-04-01", "2026-06-30")
    seller.say({**STANDARD, "scheme": "standard"})
    assert seller.sold() == ["1080.00", "960.00", "1000.00"]


def test_what_is_said_twice_holds_once(seller: Seller) -> None:
    seller.close(*QUARTER)
    for vat in (DEARER, {**FLAT, "flatRatePercent": "30"}, DEARER):
        seller.say(vat)
    assert seller.sold() == ["1080.00", "960.00", "960.00"]
    seller.say(FLAT)
    assert seller.sold() == ["1080.00"] * 3


def test_an_opened_quarter_keeps_its_terms_until_others_are_said(seller: Seller) -> None:
    seller.close(*QUARTER)
    seller.say(DEARER)
    seller.reopen(*QUARTER)
    assert seller.sold() == ["1080.00", "960.00", "960.00"]
    seller.say({**FLAT, "flatRatePercent": "5"})
    assert seller.sold() == ["1140.00"] * 3


def test_of_two_closed_quarters_one_is_opened(seller: Seller) -> None:
    """What is said then holds from the other one on."""
    seller.close(*QUARTER)
    seller.close("2026-04-01", "2026-06-30")
    seller.say(DEARER)
    assert seller.sold() == ["1080.00", "1080.00", "960.00"]
    seller.reopen("2026-04-01", "2026-06-30")
    seller.say({**FLAT, "flatRatePercent": "5"})
    assert seller.sold() == ["1080.00", "1140.00", "1140.00"]


def test_the_discount_of_the_first_year_stays_too(store: MemoryStore) -> None:
    """Registered in July 2025, and so at 9 % in the quarter; the day is corrected to one a year before."""
    seller = Seller(store, {**FLAT, "effectiveDate": "2025-07-01"})
    assert seller.sold() == ["1092.00", "1092.00", "1080.00"]
    seller.close(*QUARTER)
    seller.say({**FLAT, "effectiveDate": "2024-07-01"})
    assert seller.sold() == ["1092.00", "1080.00", "1080.00"]


def test_the_flat_rate_begins_with_its_day(store: MemoryStore) -> None:
    seller = Seller(store, {**FLAT, "flatRateStartDate": "2026-04-01"})
    assert seller.sold() == ["1000.00", "1080.00", "1080.00"]
    seller.close(*QUARTER)
    seller.say({**DEARER, "flatRateStartDate": "2026-04-01"})
    assert seller.sold() == ["1000.00", "960.00", "960.00"]


def test_what_was_sold_at_the_flat_rate_and_is_paid_after_it_was_left_bears_it(seller: Seller) -> None:
    """1,000.00 and 200.00 of VAT, less 120.00; the turnover of the return of the day of the money (Notice 733)."""
    sold = seller.invoice(businessId=seller.business, legalEntityId=seller.owner, issueDate="2026-03-01")
    seller.close(*QUARTER)
    seller.say({**STANDARD, "scheme": "standard"})
    before = lines(seller.pnl(seller.business, "2026-04-01", "2026-06-30"))["turnover"]
    seller.post("recordPayment", invoiceId=sold["id"], amount=sold["grossTotal"], date="2026-05-01")
    after = lines(seller.pnl(seller.business, "2026-04-01", "2026-06-30"))["turnover"]
    gross = float(sold["grossTotal"])
    assert round(float(after) - float(before), 2) == round(gross * 0.9, 2)


def test_the_return_of_a_closed_quarter_stays(seller: Seller) -> None:
    """10 % of 1,200.00, also where money counts when it is owed from now on."""
    desk = Desk(seller.store)
    desk.org_id = seller.org_id

    def boxes() -> Json:
        found = desk.periods("type=vat_period&fromDate=2026-01-01&toDate=2026-03-31")[0]
        answer: Json = desk.ask("periods.get", f"id={found['id']}")["totals"]["vatReturn"]
        return answer

    before = boxes()
    assert (before["vatDueSales"], before["totalValueSalesExVAT"]) == ("120.00", "1200.00")
    seller.close(*QUARTER)
    for vat in (DEARER, {**STANDARD, "scheme": "standard"}, {**STANDARD, "scheme": "cash"}):
        seller.say(vat)
        assert boxes() == before


def test_what_is_supposed_is_so_of_closed_days_too(seller: Seller) -> None:
    seller.close(*QUARTER)
    seller.say(DEARER)

    def supposed(**query: object) -> list[str]:
        found = seller.ask("whatIf", id=seller.business, fromDate=YEAR[0], toDate=YEAR[1], **query)
        return [found["actual"]["totals"]["income"], found["whatIf"]["totals"]["income"]]

    assert supposed() == ["3000.00", "3000.00"]  # 1,080 and two of 960
    assert supposed(flatRatePercent="15") == ["3000.00", "3060.00"]
    assert supposed(vatScheme="standard") == ["3000.00", "3000.00"]
    assert supposed(flatRateCategory="002") == ["3000.00", "3204.00"]  # advertising, 11 %
