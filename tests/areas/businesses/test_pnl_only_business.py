"""Invoices that name no business count in the only one that their legal entity has on the supply date (Domain C1)."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.businesses.ledger_books import LedgerBooks, lines
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def told(account: dict[str, Any]) -> list[str]:
    """The warnings, but for that the business keeps its books on the other basis."""
    return [warning["code"] for warning in account["warnings"] if warning["code"] != "other_basis"]


def sold(books: LedgerBooks, owner: str, date: str = "2026-06-01", **fields: object) -> str:
    """An invoice of 100.00 that names no business."""
    each = [{"description": "Work", "unitPrice": "100.00", "vatCode": "outside_scope"}]
    return str(books.invoice(legalEntityId=owner, issueDate=date, supplyDate=date, lines=each, **fields)["id"])


def test_it_counts_when_it_is_supplied_on_accruals_and_when_it_is_paid_on_cash(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    invoice = sold(books, owner)
    accruals = books.pnl(trade, basis="accruals")
    assert (lines(accruals), told(accruals)) == ({"turnover": "100.00"}, ["invoices_of_only_business"])
    assert lines(books.pnl(trade)) == {}
    books.post("recordPayment", invoiceId=invoice, amount="40.00", date="2026-07-01")
    cash = books.pnl(trade, explain=True)
    assert (lines(cash), told(cash)) == ({"turnover": "40.00"}, ["invoices_of_only_business"])
    assert [row["invoiceId"] for row in cash["explanation"]["data"]] == [invoice]


@pytest.mark.parametrize("basis", ["cash", "accruals"])
def test_its_credit_note_counts_with_it(books: LedgerBooks, basis: str) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    invoice = sold(books, owner)
    books.post("recordPayment", invoiceId=invoice, amount="100.00", date="2026-07-01")
    back = [{"description": "Back", "unitPrice": "30.00", "vatCode": "outside_scope"}]
    books.credit(invoice, issueDate="2026-08-01", lines=back)
    assert lines(books.pnl(trade, basis=basis)) == {"turnover": "70.00"}


def test_beside_another_business_it_counts_nowhere(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trades = [books.trade(owner), books.trade(owner, name="Carving")]
    sold(books, owner)
    for trade in trades:
        account = books.pnl(trade, basis="accruals")
        assert (lines(account), told(account)) == ({}, ["invoices_without_business"])


@pytest.mark.parametrize(
    ("date", "whose"),
    [("2026-05-31", 0), ("2026-06-01", None), ("2026-06-30", None), ("2026-07-01", 1)],
)
def test_each_day_has_its_own_only_business(books: LedgerBooks, date: str, whose: int | None) -> None:
    """The first ceased on 30 June, the second commenced on the 1st."""
    owner = books.unregistered_entity()
    trades = [books.trade(owner), books.trade(owner, name="Carving", commencementDate="2026-06-01")]
    books.change("setStatus", id=trades[0], status="ceased", effectiveDate="2026-06-30")
    sold(books, owner, date)
    found = [lines(books.pnl(trade, basis="accruals")) for trade in trades]
    assert found == [{"turnover": "100.00"} if place == whose else {} for place in (0, 1)]
    warned = [told(books.pnl(trade, basis="accruals")) for trade in trades]
    for place in (0, 1):
        expected = {None: "invoices_without_business", place: "invoices_of_only_business"}.get(whose)
        assert warned[place] == ([expected] if expected else [])


def test_before_the_only_business_commenced_it_counts_nowhere(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner, commencementDate="2026-06-02")
    sold(books, owner, "2026-06-01")
    assert told(books.pnl(trade, basis="accruals")) == ["invoices_without_business"]


def test_one_that_was_archived_before_is_none(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade, gone = books.trade(owner), books.trade(owner, name="Carving")
    books.change("archive", id=gone, force=True)
    sold(books, owner, "2026-11-20")
    assert lines(books.pnl(trade, basis="accruals")) == {"turnover": "100.00"}
    assert lines(books.pnl(gone, basis="accruals")) == {}


def test_another_entitys_invoice_never_counts(books: LedgerBooks) -> None:
    trade = books.trade()
    sold(books, books.unregistered_entity(name="Elm"))
    account = books.pnl(trade, basis="accruals")
    assert (lines(account), told(account)) == ({}, [])


def test_what_the_only_business_has_closed_stays_as_it_is(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    invoice = sold(books, owner)
    books.write(lambda tx: period_locks.close(tx, owner, "2026-04-06", "2026-07-05", trade))
    for act in (
        lambda: sold(books, owner),
        lambda: books.post("recordPayment", invoiceId=invoice, amount="1.00", date="2026-07-01"),
        lambda: books.post("voidInvoice", invoiceId=invoice, reason="Slip"),
    ):
        with pytest.raises(Problem, match="period_closed"):
            act()
    books.trade(owner, name="Carving")
    sold(books, owner)
