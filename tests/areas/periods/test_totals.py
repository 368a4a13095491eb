"""What came together in a period: the boxes of its VAT return, and profit and loss (domain model B9, C1 and C4)."""

import pytest

from tests.areas.businesses.ledger_books import LedgerBooks
from tests.areas.periods.desk import Desk, Json
from tests.support.store import MemoryStore

NO_VAT_RETURN = {"vatReturn": None, "profitAndLoss": [], "warnings": []}


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def totals(books: LedgerBooks, query: str) -> Json:
    """Of the first period of a query."""
    desk = Desk(books.store)
    desk.org_id = books.org_id
    period = desk.periods(query)[0]
    found: Json = desk.ask("periods.get", f"id={period['id']}")["totals"]
    return found


def seller(books: LedgerBooks) -> str:
    """Registered, with periods that end in March, June, September and December."""
    vat = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "standard", "staggerGroup": 1}
    return books.entity(vat=vat)


def test_a_vat_period_has_the_boxes_of_its_return(books: LedgerBooks) -> None:
    """Sold 1,000.00 and 50.99 zero-rated; bought 120.00 with 20.00 of VAT, and wages; a credit note comes later."""
    owner = seller(books)
    each = [
        {"description": "Work", "unitPrice": "1000.00"},
        {"description": "Books", "unitPrice": "50.99", "vatCode": "zero"},
    ]
    sold = books.invoice(legalEntityId=owner, issueDate="2026-09-30", supplyDate="2026-09-30", lines=each)["id"]
    books.credit(sold, issueDate="2026-10-01", lines=[{"description": "Back", "unitPrice": "100.00"}])
    trade = books.trade(owner)
    books.enter(trade, "adminCosts", 120_00, "2026-10-02", vat_amount=20_00, document_date="2026-07-01")
    books.enter(trade, "wagesAndStaffCosts", 600_00, "2026-09-01")
    found = totals(books, "type=vat_period&fromDate=2026-07-01&toDate=2026-09-30")
    assert found["vatReturn"] == {
        "currency": "GBP",
        "vatDueSales": "200.00",
        "vatDueAcquisitions": "0.00",
        "totalVatDue": "200.00",
        "vatReclaimedCurrPeriod": "20.00",
        "netVatDue": "180.00",
        "totalValueSalesExVAT": "1050.00",
        "totalValuePurchasesExVAT": "100.00",
        "totalValueGoodsSuppliedExVAT": "0.00",
        "totalAcquisitionsExVAT": "0.00",
    }
    assert (found["profitAndLoss"], found["warnings"]) == ([], [])


def test_what_names_no_business_is_invoiced_in_the_only_one(books: LedgerBooks) -> None:
    """As in its profit and loss on accruals: 100.00 and 30.00 less 10.00, and what came while there were two is not."""
    owner = books.unregistered_entity()
    trade = books.trade(owner, accountingBasis="accruals", commencementDate="2020-01-01")
    work = {"description": "Work", "vatCode": "outside_scope"}
    lines = {price: [{**work, "unitPrice": price}] for price in ("100", "30", "10")}
    of = {"legalEntityId": owner, "status": "issued"}
    sold = books.invoice(**of, issueDate="2026-06-30", lines=lines["100"])["id"]
    books.invoice(**of, issueDate="2026-06-30", businessId=trade, lines=lines["30"])
    books.trade(owner, name="Carving", commencementDate="2026-07-01")
    books.invoice(**of, issueDate="2026-07-01", lines=lines["100"])
    books.credit(sold, issueDate="2026-07-02", lines=lines["10"])
    found = totals(books, f"type=itsa_quarter&businessId={trade}&taxYear=2026-27")
    assert [(one["count"], one["net"]) for one in found["invoiced"]] == [(3, "120.00")]
    assert [one["income"] for one in found["profitAndLoss"]] == ["120.00"]


def test_a_quarter_has_profit_and_loss_of_its_business(books: LedgerBooks) -> None:
    """300.00 less 100.00, of which 40.00 is disallowable; the days beside it and the other business are not in it."""
    owner = books.unregistered_entity()
    trade, other = books.trade(owner), books.trade(owner, name="Carving")
    for date in ("2026-04-05", "2026-04-06", "2026-07-05", "2026-07-06"):
        books.enter(trade, "turnover", 150_00, date)
    books.enter(trade, "adminCosts", 100_00, "2026-05-01", disallowable_amount=40_00)
    books.enter(other, "turnover", 7_00, "2026-05-01")
    found = totals(books, f"type=itsa_quarter&businessId={trade}&taxYear=2026-27")
    assert found == NO_VAT_RETURN | {
        "invoiced": [],
        "profitAndLoss": [
            {
                "businessId": trade,
                "basis": "cash",
                "currency": "GBP",
                "income": "300.00",
                "expenses": "100.00",
                "disallowable": "40.00",
                "netProfit": "200.00",
                "taxableProfit": "240.00",
                "evidence": {"expenses": "100.00", "documented": "0.00", "percent": "0", "missing": 1},
            }
        ],
    }


def test_a_tax_year_has_each_business_of_its_entity(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade, other = books.trade(owner), books.trade(owner, name="Carving", usesConsolidatedExpenses=True)
    stranger = books.trade(books.unregistered_entity(name="Elm"))
    for business, amount in ((trade, 5_00), (other, 7_00), (stranger, 9_00)):
        books.enter(business, "turnover", amount, "2026-11-20")
        books.enter(business, "adminCosts", 2_00, "2026-04-06", disallowable_amount=1_00)
    found = totals(books, f"type=tax_year&legalEntityId={owner}&taxYear=2026-27")["profitAndLoss"]
    shown = {
        one["businessId"]: (one["income"], one["expenses"], one["netProfit"], one["taxableProfit"]) for one in found
    }
    assert shown == {trade: ("5.00", "2.00", "3.00", "4.00"), other: ("7.00", "1.00", "6.00", "6.00")}
    for one in found:
        account = books.pnl(one["businessId"])["totals"]
        assert {name: one[name] for name in account} == account


def test_what_has_no_rate_of_exchange_is_told_and_the_rest_is_served(books: LedgerBooks) -> None:
    owner = seller(books)
    trade, other = books.trade(owner), books.trade(owner, name="Carving")
    foreign = books.enter(trade, "turnover", 60_00, "2026-08-01", currency="EUR", fx_rate="0.8")
    books.set(foreign.id, fx_rate=None)
    books.enter(other, "turnover", 12_00, "2026-08-01", vat_amount=2_00)
    year = totals(books, f"type=tax_year&legalEntityId={owner}&taxYear=2026-27")
    assert [(one["businessId"], one["income"]) for one in year["profitAndLoss"]] == [(other, "10.00")]
    quarter = totals(books, "type=vat_period&fromDate=2026-07-01&toDate=2026-09-30")
    assert quarter["vatReturn"] is None
    for found in (year, quarter):
        (warning,) = found["warnings"]
        assert warning["code"] == "currency_mismatch"
        assert foreign.id in warning["message"]


def test_purchases_that_the_flat_rate_leaves_out_are_told(books: LedgerBooks) -> None:
    vat = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "10"}
    owner = books.entity(vat={**vat, "staggerGroup": 1})
    trade = books.trade(owner)
    query = "type=vat_period&fromDate=2026-07-01&toDate=2026-09-30"
    books.enter(trade, "turnover", 120_00, "2026-08-01", vat_code="standard")
    assert totals(books, query)["warnings"] == []
    books.enter(trade, "costOfGoods", 120_00, "2026-08-01", vat_code="postponed_import_standard")
    found = totals(books, query)
    assert [warning["code"] for warning in found["warnings"]] == ["flat_rate_purchases"]
    assert (found["vatReturn"]["vatDueSales"], found["vatReturn"]["vatReclaimedCurrPeriod"]) == ("12.00", "0.00")


def test_purchases_that_may_be_capital_goods_are_told(books: LedgerBooks) -> None:
    """On the flat rate the VAT of a computer of 2,200.00 is reclaimed once it is marked: 366.67 of it."""
    vat = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "10"}
    trade = books.trade(books.entity(vat={**vat, "staggerGroup": 1}))
    query = "type=vat_period&fromDate=2026-07-01&toDate=2026-09-30"
    computer = books.enter(trade, "adminCosts", 2_200_00, "2026-08-01", vat_code="standard")
    (warning,) = totals(books, query)["warnings"]
    assert (warning["code"], "not marked (`capitalGoods`): 1." in warning["message"]) == (
        "flat_rate_capital_goods_unmarked",
        True,
    )
    books.set(computer.id, capital_goods=1)
    found = totals(books, query)
    assert found["warnings"] == []
    boxes = found["vatReturn"]
    assert (boxes["vatReclaimedCurrPeriod"], boxes["totalValuePurchasesExVAT"]) == ("366.67", "1833.00")
