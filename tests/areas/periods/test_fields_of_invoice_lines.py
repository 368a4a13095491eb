"""What a line of an invoice says of capital goods decides the VAT on them under a flat rate (Domain C4)."""

import pytest

from tests.areas.accounting.books import LINE, Json
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.areas.periods.test_totals import totals
from tests.support.store import MemoryStore

FLAT = {
    "status": "registered",
    "effectiveDate": "2000-01-01",
    "scheme": "flat_rate",
    "flatRatePercent": "10",
    "staggerGroup": 1,
}
QUARTER = "type=vat_period&fromDate=2026-07-01&toDate=2026-09-30"


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def pay(books: LedgerBooks, invoice: Json) -> str:
    """All of it in the quarter; answers the VAT due."""
    books.post("recordPayment", invoiceId=invoice["id"], date="2026-08-20")
    return str(totals(books, QUARTER)["vatReturn"]["vatDueSales"])


@pytest.mark.parametrize("changed", [False, True])
def test_the_vat_on_a_van_that_is_sold_is_due_whole(books: LedgerBooks, changed: bool) -> None:
    """A van sold for 1,000.00 and 200.00 of VAT gives 200.00; anything else 10% of the 1,200.00."""
    sold = {"businessId": books.trade(books.entity(vat=FLAT)), "issueDate": "2026-08-01"}
    van = {**LINE, "unitPrice": "1000.00"}
    assert pay(books, books.invoice(lines=[van], **sold)) == "120.00"
    marked = {**van, "capitalGoods": True}
    draft = books.invoice(lines=[van if changed else marked], status="draft", **sold)
    assert ("capitalGoods" in draft["lines"][0]) != changed
    if changed:
        draft = books.post("updateInvoice", invoiceId=draft["id"], lines=[marked])
    assert draft["lines"][0]["capitalGoods"] is True
    assert pay(books, books.post("issueInvoice", invoiceId=draft["id"])) == "320.00"
