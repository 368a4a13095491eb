"""Which days another choice is asked of may be said as a tax year or as a period."""

import pytest

from tests.areas.businesses.ledger_books import LedgerBooks
from tests.areas.businesses.test_profit_and_loss import period_of
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def test_a_tax_year_is_the_days_of_it(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 1_00, "2026-04-05")
    books.enter(trade, "turnover", 2_00, "2026-04-06")
    found = books.ask("whatIf", id=trade, taxYear="2026-27", basis="accruals")
    assert (found["fromDate"], found["toDate"]) == ("2026-04-06", "2027-04-05")
    assert found["actual"]["totals"]["income"] == "2.00"


def test_a_period_is_the_days_of_it(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    period = period_of(books, owner, trade)
    shown = books.ask("businessPnl", id=trade, periodId=period)
    found = books.ask("whatIf", id=trade, periodId=period)
    assert (found["fromDate"], found["toDate"]) == (shown["fromDate"], shown["toDate"])
    assert found["fromDate"] == "2026-04-06"
