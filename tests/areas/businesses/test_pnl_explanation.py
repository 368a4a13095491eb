"""The rows behind each figure (Domain F.1)."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.allocations import Origin
from tests.areas.businesses.ledger_books import Json, LedgerBooks
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def walk(books: LedgerBooks, business: str, **query: object) -> list[Json]:
    """Every row, two at a time."""
    rows: list[Json] = []
    cursor: dict[str, object] = {}
    while True:
        page = books.pnl(business, explain=True, limit=2, **query, **cursor)["explanation"]
        assert len(page["data"]) <= 2
        rows += page["data"]
        if page["nextCursor"] is None:
            return rows
        assert len(page["data"]) == 2
        cursor = {"cursor": page["nextCursor"]}


def test_an_allocation_shows_bank_line_rule_and_document(books: LedgerBooks) -> None:
    owner = books.entity()
    trade = books.trade(owner)
    line = books.line(books.account(owner, trade), -60_00, description="Tesco Stores 3017")
    part = Part(category="carVanTravelExpenses", vat_amount=10_00, disallowable_amount=12_00)
    origin = Origin("rule", "rul_1", "The text holds TESCO")
    (made,) = books.write(lambda tx: allocations.allocate(tx, bank_lines.get(tx, line), [part], origin))
    books.set(made.id, document_ids='["doc_1"]')
    (row,) = books.pnl(trade, explain=True)["explanation"]["data"]
    assert row == {
        "category": "carVanTravelExpenses",
        "date": "2026-11-02",
        "amount": "50.00",
        "disallowable": "10.00",
        "source": "allocation",
        "propertyId": None,
        "tenancyId": None,
        "allocationId": made.id,
        "bankTransactionId": line,
        "importId": "imp_1",
        "invoiceId": None,
        "billId": None,
        "paymentPosition": None,
        "creditNoteId": None,
        "billCreditNoteId": None,
        "description": "Tesco Stores 3017",
        "matchedBy": "rule",
        "ruleId": "rul_1",
        "reason": "The text holds TESCO",
        "documentIds": ["doc_1"],
    }


def test_invoices_show_their_payments_and_credit_notes(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    sold = books.invoice(businessId=trade, legalEntityId=owner, issueDate="2026-10-01")["id"]
    for amount in ("60.00", "40.00"):
        books.post("recordPayment", invoiceId=sold, amount=amount, date="2026-10-02")
    back = books.credit(sold, issueDate="2026-10-03", lines=[{"description": "Back", "unitPrice": "10.00"}])["id"]
    shown = [
        (row["source"], row["invoiceId"], row["paymentPosition"], row["creditNoteId"], row["amount"])
        for row in walk(books, trade)
    ]
    assert shown == [
        ("payment", sold, 1, None, "60.00"),
        ("payment", sold, 2, None, "40.00"),
        ("credit_note", sold, None, back, "-10.00"),
    ]
    assert sorted(
        (row["source"], row["invoiceId"], row["creditNoteId"]) for row in walk(books, trade, basis="accruals")
    ) == [
        ("credit_note", sold, back),
        ("invoice", sold, None),
    ]


@pytest.mark.parametrize("basis", ["cash", "accruals"])
def test_pages_hold_every_row_once(books: LedgerBooks, basis: str) -> None:
    """Allocations by the date of the money, then invoices by date."""
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    made = [
        books.enter(trade, "adminCosts", 100 + day, f"2026-10-{day:02}", document_date=bill).id
        for day, bill in ((9, None), (9, "2026-10-30"), (3, "2026-10-01"), (5, None), (9, None))
    ]
    sold = [
        books.invoice(businessId=trade, legalEntityId=owner, issueDate=date)["id"]
        for date in ("2026-10-08", "2026-10-02", "2026-10-04")
    ]
    for invoice_id in sold:
        books.post("recordPayment", invoiceId=invoice_id, date="2026-10-20")
    rows = walk(books, trade, basis=basis)
    assert [row["allocationId"] for row in rows[:5]] == [made[2], made[3], made[0], made[1], made[4]]
    assert sorted(row["invoiceId"] for row in rows[5:]) == sorted(sold)
    assert [row["invoiceId"] for row in walk(books, trade, basis=basis, category="turnover")] == [
        row["invoiceId"] for row in rows[5:]
    ]
    assert len(walk(books, trade, basis=basis, category="adminCosts")) == 5


def test_a_cursor_belongs_to_its_question(books: LedgerBooks) -> None:
    trade = books.trade()
    for _ in range(2):
        books.enter(trade, "adminCosts", 1_00)
    cursor = books.pnl(trade, explain=True, limit=1)["explanation"]["nextCursor"]
    for query in ({"category": "turnover"}, {"basis": "accruals"}):
        with pytest.raises(Problem, match="invalid_cursor"):
            books.pnl(trade, explain=True, limit=1, cursor=cursor, **query)
