"""A business ceases with its last entry or after it, never before (domain model B2)."""

import pytest

from gatewayd.errors import Problem
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.support.store import MemoryStore

LATER = ": expected that day or a later one."


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def cease(books: LedgerBooks, business_id: str, date: str) -> str:
    """What the business then is, or why not."""
    try:
        return str(books.change("setStatus", id=business_id, status="ceased", effectiveDate=date)["cessationDate"])
    except Problem as problem:
        return str(problem)


def test_it_does_not_cease_before_money_that_counts(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 100, "2026-10-12")
    assert cease(books, trade, "2026-10-11") == "invalid_state: The business has an entry of 2026-10-12" + LATER
    assert cease(books, trade, "2026-10-12") == "2026-10-12"


def test_the_date_is_corrected_no_further_back(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 100, "2026-10-12")
    cease(books, trade, "2026-10-31")
    with pytest.raises(Problem) as refused:
        books.change("update", id=trade, cessationDate="2026-10-01")
    assert [(error.path, error.code) for error in refused.value.errors] == [("cessationDate", "date_order")]
    assert books.change("update", id=trade, cessationDate="2026-10-12")["cessationDate"] == "2026-10-12"


def test_drawings_may_come_after_it(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "not_pnl", 100, "2026-11-01", purpose="drawings")
    assert cease(books, trade, "2026-10-11") == "2026-10-11"


def test_on_accruals_the_day_of_the_bill_counts(books: LedgerBooks) -> None:
    trade = books.trade(accountingBasis="accruals")
    books.enter(trade, "adminCosts", 100, "2026-11-01", document_date="2026-09-30")
    assert cease(books, trade, "2026-09-29") == "invalid_state: The business has an entry of 2026-09-30" + LATER
    assert cease(books, trade, "2026-09-30") == "2026-09-30"


def test_it_does_not_cease_before_what_it_supplied(books: LedgerBooks) -> None:
    entity = books.unregistered_entity()
    trade = books.trade(entity)
    draft = books.invoice(legalEntityId=entity, businessId=trade, issueDate="2026-11-10", status="draft")
    assert draft["status"] == "draft"
    books.invoice(legalEntityId=entity, businessId=trade, issueDate="2026-11-02")
    assert cease(books, trade, "2026-11-01") == "invalid_state: The business has an entry of 2026-11-02" + LATER
    assert cease(books, trade, "2026-11-02") == "2026-11-02"
