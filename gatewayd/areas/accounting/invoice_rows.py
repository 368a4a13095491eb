"""Invoices as they are kept. Owns the tables `invoices`, `invoice_lines` and `invoice_payments`.

Money is in minor units, decimals are canonical text, dates ISO text, instants microseconds. The typed columns are the
truth; `wire` is their JSON, written with them and never without.
"""

from msgspec.structs import asdict, astuple, replace

from gatewayd.areas.accounting import invoice_rendering as rendering
from gatewayd.areas.accounting.invoice_rendering import AmountTexts, InvoiceRow, LineRow, PaymentRow
from gatewayd.errors import not_found
from gatewayd.store import ReadTx, Row, WriteTx

_COLUMNS = ", ".join(InvoiceRow.__struct_fields__)
_VALUES = ", ".join(f":{name}" for name in InvoiceRow.__struct_fields__)
_LINE_COLUMNS = ", ".join(LineRow.__struct_fields__)
_LINE_VALUES = ", ".join(f":{name}" for name in LineRow.__struct_fields__)
_PAYMENT_COLUMNS = ", ".join(PaymentRow.__struct_fields__)
_PAYMENT_VALUES = ", ".join(f":{name}" for name in PaymentRow.__struct_fields__)

_INSERT = f"""
INSERT INTO invoices (org_id, {_COLUMNS}, search_text, open_due_date, head_length, wire)
VALUES (:org_id, {_VALUES}, :search_text, :open_due_date, :head_length, :wire)
"""
_INSERT_LINE = f"""
INSERT INTO invoice_lines (org_id, invoice_id, {_LINE_COLUMNS}) VALUES (:org_id, :invoice_id, {_LINE_VALUES})
"""
_INSERT_PAYMENT = f"""
INSERT INTO invoice_payments (org_id, invoice_id, created_at, {_PAYMENT_COLUMNS})
VALUES (:org_id, :invoice_id, :now, {_PAYMENT_VALUES})
"""
_SELECT = f"SELECT {_COLUMNS} FROM invoices WHERE org_id = :org_id AND id = :id"
_SELECT_LINES = f"""
SELECT {_LINE_COLUMNS} FROM invoice_lines WHERE org_id = :org_id AND invoice_id = :id ORDER BY position
"""
_SELECT_PAYMENTS = f"""
SELECT {_PAYMENT_COLUMNS} FROM invoice_payments WHERE org_id = :org_id AND invoice_id = :id ORDER BY position
"""
_SELECT_WIRE = """
SELECT wire, open_due_date < :today FROM invoices WHERE org_id = :org_id AND id = :id
"""
_SELECT_LINES_WIRE = """
SELECT substr(wire, CAST(head_length AS INTEGER) + 1) FROM invoices WHERE org_id = :org_id AND id = :id
"""
_SELECT_EXTERNAL = "SELECT id FROM invoices WHERE org_id = :org_id AND external_id = :external_id"
_SELECT_CREDITED = """
SELECT coalesce(sum(gross_total), 0), coalesce(sum(gross_total - cis_deduction), 0) FROM invoices
WHERE org_id = :org_id AND credits_invoice_id = :id AND status NOT IN ('draft', 'void')
"""
_UPDATE = """
UPDATE invoices SET
    status = :status, number = :number, client_snapshot = :client_snapshot, seller_snapshot = :seller_snapshot,
    paid_total = :paid_total, credited_total = :credited_total, balance_due = :balance_due, sent_at = :sent_at,
    viewed_at = :viewed_at, paid_date = :paid_date, voided_at = :voided_at, void_reason = :void_reason,
    pdf_document_id = :pdf_document_id, updated_at = :updated_at, version = :version,
    search_text = :search_text, open_due_date = :open_due_date, head_length = :head_length, wire = :wire,
    fx_rate = :fx_rate, vat_total_base = :vat_total_base
WHERE org_id = :org_id AND id = :id
"""
_SELECT_ORGANIZATION_ANY_ORG = "SELECT org_id FROM invoices WHERE id = :id"
_DELETE_LINES = "DELETE FROM invoice_lines WHERE org_id = :org_id AND invoice_id = :id"
_DELETE = "DELETE FROM invoices WHERE org_id = :org_id AND id = :id"
_DELETE_PAYMENT = """
DELETE FROM invoice_payments WHERE org_id = :org_id AND invoice_id = :id AND position = :position
"""


def organization_of(tx: ReadTx, invoice_id: str) -> str:
    """Whose invoice it is: for the operator of the instance alone. Raises `Problem` `not_found`."""
    org_id: str | None = tx.value(_SELECT_ORGANIZATION_ANY_ORG, id=invoice_id)
    if org_id is None:
        raise not_found("invoice")
    return org_id


def find(tx: ReadTx, invoice_id: str) -> InvoiceRow | None:
    """The invoice of the caller's organization, from its typed columns."""
    row = tx.row(_SELECT, id=invoice_id)
    return None if row is None else InvoiceRow(*row)


def lines_of(tx: ReadTx, invoice_id: str) -> list[LineRow]:
    """Its lines, in order."""
    return [LineRow(*row) for row in tx.rows(_SELECT_LINES, id=invoice_id)]


def payments_of(tx: ReadTx, invoice_id: str) -> list[PaymentRow]:
    """Its payments, in the order they were entered."""
    return [PaymentRow(*row) for row in tx.rows(_SELECT_PAYMENTS, id=invoice_id)]


def wire_of(tx: ReadTx, invoice_id: str) -> bytes | None:
    """Its whole JSON, from the bytes that are kept."""
    row: Row | None = tx.row(_SELECT_WIRE, id=invoice_id, today=tx.today)
    return None if row is None else rendering.whole(row[0], bool(row[1]))


def find_external(tx: ReadTx, external_id: str) -> str | None:
    """The id of the invoice that bears this external id."""
    found: str | None = tx.value(_SELECT_EXTERNAL, external_id=external_id)
    return found


def credited(tx: ReadTx, invoice_id: str) -> tuple[int, int]:
    """What the credit notes in force against an invoice come to: gross, and gross less their CIS deductions."""
    row = tx.row(_SELECT_CREDITED, id=invoice_id)
    assert row is not None
    return row[0], row[1]


def insert(tx: WriteTx, row: InvoiceRow, lines: list[LineRow]) -> bytes:
    """Keep a new invoice and answer its whole JSON."""
    texts = AmountTexts(row.currency)
    head = rendering.head(row, [], texts)
    wire = head + rendering.lines(lines, texts)
    org_id, open_due_date = tx.org_id, rendering.open_due_date(row)
    tx.run_each(_INSERT, [(org_id, *astuple(row), _search_text(row), open_due_date, len(head), wire)])
    tx.run_each(_INSERT_LINE, [(org_id, row.id, *astuple(line)) for line in lines])
    return rendering.whole(wire, open_due_date is not None and open_due_date < tx.today)


def update(tx: WriteTx, row: InvoiceRow) -> InvoiceRow:
    """Keep what a move changed, as the next version."""
    row = replace(row, version=row.version + 1, updated_at=tx.now)
    head = rendering.head(row, payments_of(tx, row.id), AmountTexts(row.currency))
    wire = head + tx.value(_SELECT_LINES_WIRE, id=row.id)
    follow = {"search_text": _search_text(row), "open_due_date": rendering.open_due_date(row)}
    tx.run(_UPDATE, **asdict(row), **follow, head_length=len(head), wire=wire)
    return row


def insert_payment(tx: WriteTx, invoice_id: str, payment: PaymentRow) -> None:
    """Keep a payment; the invoice is updated after it."""
    tx.run(_INSERT_PAYMENT, invoice_id=invoice_id, **asdict(payment))


def delete_payment(tx: WriteTx, invoice_id: str, position: int) -> None:
    """Drop a payment; the invoice is updated after it."""
    tx.run(_DELETE_PAYMENT, id=invoice_id, position=position)


def delete(tx: WriteTx, invoice_id: str) -> None:
    """Drop a draft and its lines. Whether it is a draft is for the caller to know."""
    tx.run(_DELETE_LINES, id=invoice_id)
    tx.run(_DELETE, id=invoice_id)


def _search_text(row: InvoiceRow) -> str:
    return "\n".join([text.casefold() for text in (row.number, row.reference) if text])
