"""Invoices as they are stored. Owns the tables `invoices`, `invoice_lines`, `invoice_payments` and
`invoice_write_offs`.

    wire         the JSON of the invoice, its lines last, without `isOverdue` and the closing brace
    head_length  the bytes of it before `,"lines":`

Served are `wire`, or its head where no lines are asked for, and whether it is overdue today. The typed columns are the
truth; `wire` is written with them and never without.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices.line_shapes import InvoiceLine, LineRow
from gatewayd.areas.accounting.invoices.shapes import InvoiceHead, InvoicePayment, InvoiceRow, InvoiceWarning, WriteOff
from gatewayd.areas.accounting.invoices.states import OPEN
from gatewayd.contract.wire import encode, open_wire
from gatewayd.errors import not_found
from gatewayd.money import Money, exponent
from gatewayd.store import Columns, ReadTx, RemovableTable, WriteTx

Group = tuple[str, str]
"""A VAT code and its rate, percent."""

_LINES = b',"lines":'
OVERDUE = b',"isOverdue":true}'
NOT_OVERDUE = b',"isOverdue":false}'
_ID = b'{"id":"'


def payments_of(tx: ReadTx, invoice_id: str, currency: str) -> list[InvoicePayment]:
    """The payments of an invoice, in the order they were entered."""
    payments = (_PAYMENTS.load(row, currency) for row in tx.rows(_SELECT_PAYMENTS, id=invoice_id))
    return [
        replace(payment, **{name: getattr(payment, name) or UNSET for name in _SHOWN_IF_ANY}) for payment in payments
    ]


def _own_payments(tx: ReadTx, row: InvoiceRow) -> list[InvoicePayment]:
    return payments_of(tx, row.id, row.currency)


def write_off_of(tx: ReadTx, row: InvoiceRow) -> WriteOff | UnsetType:
    """What was written off of an invoice, with what of it is unpaid by the totals of `row`; UNSET: nothing."""
    found = tx.row(_SELECT_WRITE_OFF, id=row.id)
    if found is None:
        return UNSET
    amount, date, reason, vat_relief, vat_relief_date = found
    unpaid = row.gross_total - row.cis_deduction - row.paid_total - row.credited_total
    return WriteOff(
        date=date,
        amount=Money(amount, row.currency),
        unpaid=Money(max(0, min(amount, unpaid.minor)), row.currency),
        reason=reason,
        vat_relief=vat_relief,
        vat_relief_date=vat_relief_date,
    )


INVOICES = RemovableTable(
    "invoices",
    InvoiceRow,
    kind="invoice",
    prefix="inv",
    derived={"payments": _own_payments, "write_off": write_off_of},
)
_WRITTEN = ("search_text", "open_due_date", "head_length", "wire")
_CHANGING = (
    *("status", "number", "client_snapshot", "seller_snapshot", "fx_rate", "fx_rate_source", "fx_rate_date"),
    *("vat_total_base", "paid_total", "credited_total", "balance_due", "sent_at", "viewed_at", "paid_date"),
    *("voided_at", "void_reason", "pdf_document_id", "updated_at", "version"),
)
"""What moves change: an update of all columns would write every index anew."""
_KEPT = ("id", "origin", "created_at", "recurring_id", "quote_id")
"""What a draft keeps that is computed anew."""
_SHOWN_IF_ANY = ("fx_rate", "fx_rate_source", "client_payment_id")
"""Of a payment: absent where there is none."""
_LINE_ROWS = Columns(LineRow)
_PAYMENTS = Columns(InvoicePayment)


def _parameters(names: Sequence[str]) -> str:
    return ", ".join(f":{name}" for name in names)


_INSERT = f"""
INSERT INTO invoices (org_id, {INVOICES.sql}, {", ".join(_WRITTEN)})
VALUES (:org_id, {_parameters((*INVOICES.names, *_WRITTEN))})
"""
_UPDATE = f"""
UPDATE invoices SET {", ".join(f"{name} = :{name}" for name in (*_CHANGING, *_WRITTEN))}
WHERE org_id = :org_id AND id = :id
"""
_INSERT_LINE = f"""
INSERT INTO invoice_lines (org_id, invoice_id, {_LINE_ROWS.sql})
VALUES (:org_id, :invoice_id, {_parameters(_LINE_ROWS.names)})
"""
_INSERT_PAYMENT = f"""
INSERT INTO invoice_payments (org_id, invoice_id, created_at, {_PAYMENTS.sql})
VALUES (:org_id, :invoice_id, :created_at, {_parameters(_PAYMENTS.names)})
"""
_SELECT_LINES = f"""
SELECT {_LINE_ROWS.sql} FROM invoice_lines WHERE org_id = :org_id AND invoice_id = :id ORDER BY position
"""
_SELECT_PAYMENTS = f"""
SELECT {_PAYMENTS.sql} FROM invoice_payments WHERE org_id = :org_id AND invoice_id = :id ORDER BY position
"""
_SELECT_WRITE_OFF = """
SELECT amount, date, reason, vat_relief, vat_relief_date FROM invoice_write_offs
WHERE org_id = :org_id AND invoice_id = :id
"""
_INSERT_WRITE_OFF = """
INSERT INTO invoice_write_offs (org_id, invoice_id, date, amount, reason, vat_relief, vat_relief_date, created_at)
VALUES (:org_id, :id, :date, :amount, :reason, :vat_relief, :vat_relief_date, :now)
"""
_DELETE_WRITE_OFF = "DELETE FROM invoice_write_offs WHERE org_id = :org_id AND invoice_id = :id"
_SELECT_WIRE = "SELECT wire, open_due_date < :today FROM invoices WHERE org_id = :org_id AND id = :id"
_SELECT_WIRES = "SELECT id, wire FROM invoices WHERE org_id = :org_id AND id > :after ORDER BY id LIMIT :count"
_SELECT_LINES_WIRE = """
SELECT substr(wire, CAST(head_length AS INTEGER) + 1) FROM invoices WHERE org_id = :org_id AND id = :id
"""
_SELECT_CREDITED = """
SELECT coalesce(sum(gross_total), 0), coalesce(sum(gross_total - cis_deduction), 0) FROM invoices
WHERE org_id = :org_id AND credits_invoice_id = :id AND status NOT IN ('draft', 'void')
"""
_SELECT_CREDITED_GROUPS = """
SELECT vat_code, vat_rate_percent, sum(net), sum(vat + invoice_lines.reverse_charge_vat)
FROM invoices JOIN invoice_lines ON invoice_lines.org_id = invoices.org_id AND invoice_id = invoices.id
WHERE invoices.org_id = :org_id AND credits_invoice_id = :id AND status NOT IN ('draft', 'void')
GROUP BY vat_code, vat_rate_percent
"""
_SELECT_CREDITED_LINES = f"""
SELECT {", ".join(f"credited.{name}" for name in _LINE_ROWS.names)}
FROM invoices JOIN invoice_lines AS credited ON credited.org_id = invoices.org_id AND invoice_id = invoices.id
WHERE invoices.org_id = :org_id AND credits_invoice_id = :id AND status NOT IN ('draft', 'void')
"""
_SELECT_CREDIT_NOTES = """
SELECT id FROM invoices
WHERE org_id = :org_id AND credits_invoice_id = :id AND status NOT IN ('draft', 'void') ORDER BY id
"""
_SELECT_LEFT_OF_QUOTE = "SELECT gross_total - invoiced_total FROM quotes WHERE org_id = :org_id AND id = :id"
# Chosen: that something was told is no change that a caller's `expectedVersion` could run into.
_MARK_OVERDUE = "UPDATE invoices SET overdue_for = open_due_date WHERE org_id = :org_id AND id = :id"
_DELETE_LINES = "DELETE FROM invoice_lines WHERE org_id = :org_id AND invoice_id = :id"
_DELETE = "DELETE FROM invoices WHERE org_id = :org_id AND id = :id"
_DELETE_PAYMENT = """
DELETE FROM invoice_payments WHERE org_id = :org_id AND invoice_id = :id AND position = :position
"""


def lines_of(tx: ReadTx, row: InvoiceRow) -> list[LineRow]:
    """The lines of an invoice, in order."""
    return [_LINE_ROWS.load(line, row.currency) for line in tx.rows(_SELECT_LINES, id=row.id)]


def wire_of(tx: ReadTx, invoice_id: str, warnings: Sequence[InvoiceWarning] = ()) -> bytes:
    """The whole JSON of an invoice, from the bytes that are stored. Raises `Problem` `not_found`."""
    row = tx.row(_SELECT_WIRE, id=invoice_id, today=tx.today)
    if row is None:
        raise not_found(INVOICES.kind)
    return served(row[0], bool(row[1]), warnings)


def credited(tx: ReadTx, row: InvoiceRow) -> tuple[Money, Money]:
    """What the credit notes in force against an invoice come to: gross, and gross less their CIS deductions."""
    sums = tx.row(_SELECT_CREDITED, id=row.id)
    assert sums is not None
    return Money(sums[0], row.currency), Money(sums[1], row.currency)


def left_of_quote(tx: ReadTx, row: InvoiceRow) -> Money:
    """What is not invoiced yet of the quote that an invoice was made of."""
    return Money(tx.value(_SELECT_LEFT_OF_QUOTE, id=row.quote_id), row.currency)


def credit_notes(tx: ReadTx, row: InvoiceRow) -> list[str]:
    """The ids of the credit notes in force against an invoice."""
    return [note_id for (note_id,) in tx.rows(_SELECT_CREDIT_NOTES, id=row.id)]


def credited_groups(tx: ReadTx, row: InvoiceRow) -> dict[Group, tuple[int, int]]:
    """Net and VAT that the credit notes in force against an invoice take back of each code and rate."""
    return {(code, rate): (net, vat) for code, rate, net, vat in tx.rows(_SELECT_CREDITED_GROUPS, id=row.id)}


def credited_lines(tx: ReadTx, row: InvoiceRow) -> list[LineRow]:
    """The lines of the credit notes in force against an invoice, in no order."""
    return [_LINE_ROWS.load(line, row.currency) for line in tx.rows(_SELECT_CREDITED_LINES, id=row.id)]


def insert(tx: WriteTx, row: InvoiceRow, lines: Sequence[LineRow], warnings: Sequence[InvoiceWarning] = ()) -> bytes:
    """Store a new invoice. Returns its whole JSON, and in it the warnings, which are not stored."""
    wire = _put(tx, row, lines, warnings)
    tx.changed(INVOICES.name, row.id, None, row)
    return wire


def rewrite(tx: WriteTx, before: InvoiceRow, row: InvoiceRow, lines: Sequence[LineRow]) -> bytes:
    """Store `row` and its lines in the place of a draft, as its next version. Returns its whole JSON."""
    tx.run(_DELETE_LINES, id=before.id)
    tx.run(_DELETE, id=before.id)
    kept = {name: getattr(before, name) for name in _KEPT}
    after = replace(row, **kept, version=before.version + 1)
    wire = _put(tx, after, lines)
    tx.changed(INVOICES.name, after.id, before, after)
    return wire


def _put(tx: WriteTx, row: InvoiceRow, lines: Sequence[LineRow], warnings: Sequence[InvoiceWarning] = ()) -> bytes:
    head = _head_wire(row)
    wire = head + _lines_wire(lines, row.currency)
    org_id, due = tx.org_id, open_due_date(row)
    tx.run_each(_INSERT, [(org_id, *INVOICES.dump(row), _search_text(row), due, len(head), wire)])
    tx.run_each(_INSERT_LINE, [(org_id, row.id, *_LINE_ROWS.dump(line)) for line in lines])
    return served(wire, due is not None and due < tx.today, warnings)


def is_same(before: InvoiceRow, row: InvoiceRow) -> bool:
    """True where `row` in the place of the draft `before` would change nothing but its version."""
    kept = {name: getattr(before, name) for name in (*_KEPT, "updated_at", "version")}
    return replace(row, **kept) == before


def update(tx: WriteTx, row: InvoiceRow) -> InvoiceRow:
    """Store what a move changed, as the next version."""
    return save(tx, replace(row, version=row.version + 1))


def save(tx: WriteTx, row: InvoiceRow) -> InvoiceRow:
    """Store what an invoice has become without raising its version, as `expectedVersion` sees it."""
    before = INVOICES.find(tx, row.id) if tx.reacts(INVOICES.name) else None
    row = replace(row, updated_at=tx.updated_at, payments=_own_payments(tx, row), write_off=write_off_of(tx, row))
    head = _head_wire(row)
    wire = head + tx.value(_SELECT_LINES_WIRE, id=row.id)
    values = dict(zip(INVOICES.names, INVOICES.dump(row), strict=True))
    written = dict(zip(_WRITTEN, (_search_text(row), open_due_date(row), len(head), wire), strict=True))
    tx.run(_UPDATE, **values, **written)
    tx.changed(INVOICES.name, row.id, before, row)
    return row


def insert_payment(tx: WriteTx, invoice_id: str, payment: InvoicePayment) -> None:
    """Store a payment; the invoice is updated after it."""
    stored = replace(payment, **{name: getattr(payment, name) or None for name in _SHOWN_IF_ANY})
    tx.run_each(_INSERT_PAYMENT, [(tx.org_id, invoice_id, tx.now, *_PAYMENTS.dump(stored))])


def delete_payment(tx: WriteTx, invoice_id: str, position: int) -> None:
    """Delete a payment; the invoice is updated after it."""
    tx.run(_DELETE_PAYMENT, id=invoice_id, position=position)


def mark_overdue(tx: WriteTx, invoice_id: str) -> None:
    """Note that it was told of the due date that has passed."""
    tx.run(_MARK_OVERDUE, id=invoice_id)


def insert_write_off(tx: WriteTx, invoice_id: str, off: WriteOff) -> None:
    """Store what is written off; the invoice is updated after it."""
    values = {"vat_relief": off.vat_relief, "vat_relief_date": off.vat_relief_date, "reason": off.reason}
    tx.run(_INSERT_WRITE_OFF, id=invoice_id, date=off.date, amount=off.amount.minor, **values)


def delete_write_off(tx: WriteTx, invoice_id: str) -> None:
    """Delete what was written off; the invoice is updated after it."""
    tx.run(_DELETE_WRITE_OFF, id=invoice_id)


def delete(tx: WriteTx, invoice_id: str) -> None:
    """Delete a draft and its lines. Whether it is a draft is for the caller to know."""
    tx.run(_DELETE_LINES, id=invoice_id)
    INVOICES.delete(tx, invoice_id)


def stale(tx: ReadTx, after: str, count: int) -> list[tuple[str, bool]]:
    """The next `count` invoices after an id: the id of each, and whether its `wire` is not what its rows give."""
    checked = []
    for invoice_id, wire in tx.rows(_SELECT_WIRES, after=after, count=count):
        row = INVOICES.get(tx, invoice_id)
        checked.append((invoice_id, _head_wire(row) + _lines_wire(lines_of(tx, row), row.currency) != wire))
    return checked


def served(wire: bytes, overdue: bool, warnings: Sequence[InvoiceWarning] = ()) -> bytes:
    """The JSON of an invoice, lines or no lines."""
    full = wire + (OVERDUE if overdue else NOT_OVERDUE)
    return b'%b,"warnings":%b}' % (full[:-1], encode(warnings)) if warnings else full


def id_of(wire: bytes) -> str:
    """The id of an invoice, which is the first member of its JSON and has nothing to escape."""
    return wire[len(_ID) : wire.index(b'"', len(_ID))].decode()


def open_due_date(row: InvoiceRow) -> str | None:
    """The due date where money is still due, else None."""
    return row.due_date if row.status in OPEN and row.balance_due.minor > 0 else None


def _head_wire(row: InvoiceRow) -> bytes:
    """`wire` without its lines."""
    shown = replace(
        row,
        fx_rate_source=row.fx_rate_source or UNSET,
        fx_rate_date=row.fx_rate_date or UNSET,
        recurring_id=row.recurring_id or UNSET,
        quote_id=row.quote_id or UNSET,
        write_off=row.write_off or UNSET,
    )
    return open_wire(shown, InvoiceHead)


def _lines_wire(rows: Sequence[LineRow], currency: str) -> bytes:
    """The rest of `wire`."""
    digits = exponent(currency)
    shown = [
        replace(
            row,
            unit_price=_padded(row.unit_price, digits),
            credits_line=row.credits_line or UNSET,
            capital_goods=row.capital_goods or UNSET,
        )
        for row in rows
    ]
    return b"%b[%b]" % (_LINES, b",".join([open_wire(row, InvoiceLine) + b"}" for row in shown]))


def _padded(price: str, digits: int) -> str:
    """A canonical decimal with at least `digits` fraction digits."""
    integer, _, fraction = price.partition(".")
    fraction = fraction.ljust(digits, "0")
    return f"{integer}.{fraction}" if fraction else integer


def _search_text(row: InvoiceRow) -> str:
    return "\n".join([text.casefold() for text in (row.number, row.reference) if text])
