"""Bills as they are stored. Owns the tables `bills`, `bill_lines` and `bill_payments`."""

import datetime
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from gatewayd.areas.accounting.bills.shapes import Bill, BillLine, BillPayment, BillRow, BillWarning
from gatewayd.contract.wire import project
from gatewayd.ledger.dates.months import months_after
from gatewayd.store import Columns, ReadTx, RemovableTable, WriteTx

_MONTHS_TO_PAY: Final = 6
OPEN: Final = ("awaiting_payment", "part_paid")
"""States in which money may be due."""


def open_due_date(row: BillRow) -> str | None:
    """The ISO due date where money is still due, else None."""
    return row.due_date if row.status in OPEN and row.balance_due.minor > 0 else None


def folded(number: str | None) -> str | None:
    """A supplier's number as it is compared: its letters and digits."""
    return None if number is None else "".join(filter(str.isalnum, number.casefold())) or number


def repay_vat_on(row: BillRow) -> str | None:
    """The ISO date on which VAT goes back of what is not paid of a supplier's bill by then (VATA 1994 s26A).

    It is six months after the tax point or, if that is later, the due date. None: no VAT was charged, or it is no bill.
    """
    if row.kind != "bill" or not row.vat_total:
        return None
    relevant = datetime.date.fromisoformat(max(row.tax_point, row.due_date))
    return months_after(relevant, _MONTHS_TO_PAY).isoformat()


BILLS: Final = RemovableTable(
    "bills",
    BillRow,
    kind="bill",
    prefix="bill",
    written={
        "open_due_date": open_due_date,
        "repay_vat_on": repay_vat_on,
        "number_folded": lambda row: folded(row.number),
    },
)
_LINES: Final = Columns(BillLine)
_PAYMENTS: Final = Columns(BillPayment)
_SELECT_LINES = f"SELECT {_LINES.sql} FROM bill_lines WHERE org_id = :org_id AND bill_id = :id ORDER BY position"
_INSERT_LINE = (
    f"INSERT INTO bill_lines (org_id, bill_id, {_LINES.sql})"
    f" VALUES (:org_id, :bill_id, {', '.join(':' + name for name in _LINES.names)})"
)
_DELETE_LINES = "DELETE FROM bill_lines WHERE org_id = :org_id AND bill_id = :id"
_SELECT_PAYMENTS = (
    f"SELECT {_PAYMENTS.sql} FROM bill_payments WHERE org_id = :org_id AND bill_id = :id ORDER BY position"
)
_INSERT_PAYMENT = (
    f"INSERT INTO bill_payments (org_id, bill_id, created_at, {_PAYMENTS.sql})"
    f" VALUES (:org_id, :bill_id, :created_at, {', '.join(':' + name for name in _PAYMENTS.names)})"
)
_DELETE_PAYMENT = "DELETE FROM bill_payments WHERE org_id = :org_id AND bill_id = :id AND position = :position"
_SELECT_CREDITED = """
SELECT coalesce(sum(gross_total), 0), coalesce(sum(vat_total), 0) FROM bills
WHERE org_id = :org_id AND credits_bill_id = :id AND id <> :but AND status NOT IN ('draft', 'void')
"""
_SELECT_SAME_NUMBER = """
SELECT id FROM bills
WHERE org_id = :org_id AND supplier_id = :supplier_id AND number_folded = :number_folded AND id <> :id
    AND kind = :kind AND status <> 'void'
ORDER BY id LIMIT 1
"""
_SELECT_SAME_TOTAL = """
SELECT id FROM bills
WHERE org_id = :org_id AND supplier_id = :supplier_id AND bill_date = :bill_date AND gross_total = :gross_total
    AND currency = :currency AND id <> :id AND kind = :kind AND status <> 'void'
ORDER BY id LIMIT 1
"""
_SELECT_SAME_CLAIM = """
SELECT id FROM bills
WHERE org_id = :org_id AND kind = 'expense_claim' AND claimant = :claimant AND bill_date = :bill_date
    AND gross_total = :gross_total AND currency = :currency AND id <> :id AND status <> 'void'
ORDER BY id LIMIT 1
"""


class Credited(NamedTuple):
    """What credit notes take back of a bill, minor units of its currency."""

    gross: int
    vat: int


def lines_of(tx: ReadTx, row: BillRow) -> list[BillLine]:
    """The lines of a bill, in their order."""
    return [_LINES.load(values, row.currency) for values in tx.rows(_SELECT_LINES, id=row.id)]


def payments_of(tx: ReadTx, row: BillRow) -> list[BillPayment]:
    """The payments of a bill, in the order of their positions."""
    return [_PAYMENTS.load(values, row.currency) for values in tx.rows(_SELECT_PAYMENTS, id=row.id)]


def shown(tx: ReadTx, row: BillRow, warnings: Sequence[BillWarning] = ()) -> Bill:
    """A bill as it is answered."""
    due = open_due_date(row)
    return project(
        row,
        Bill,
        is_overdue=due is not None and due < tx.today,
        lines=lines_of(tx, row),
        payments=payments_of(tx, row),
        warnings=list(warnings) or UNSET,
    )


def insert(tx: WriteTx, row: BillRow, lines: Sequence[BillLine]) -> BillRow:
    """Store a new bill with its lines. Raises `Problem` `already_exists`."""
    row = BILLS.insert(tx, row)
    _insert_lines(tx, row.id, lines)
    return row


def rewrite(tx: WriteTx, row: BillRow, lines: Sequence[BillLine]) -> BillRow:
    """Store what a bill has become, lines and all, as its next version."""
    tx.run(_DELETE_LINES, id=row.id)
    _insert_lines(tx, row.id, lines)
    return BILLS.update(tx, row)


def delete(tx: WriteTx, bill_id: str) -> None:
    """Delete a draft and its lines. Whether it is a draft is for the caller to know."""
    tx.run(_DELETE_LINES, id=bill_id)
    BILLS.delete(tx, bill_id)


def insert_payment(tx: WriteTx, bill_id: str, payment: BillPayment) -> None:
    """Store a payment; the bill is updated after it."""
    tx.run_each(_INSERT_PAYMENT, [(tx.org_id, bill_id, tx.now, *_PAYMENTS.dump(payment))])


def delete_payment(tx: WriteTx, bill_id: str, position: int) -> None:
    """Delete a payment; the bill is updated after it."""
    tx.run(_DELETE_PAYMENT, id=bill_id, position=position)


def credited(tx: ReadTx, bill_id: str, but: str = "") -> Credited:
    """What credit notes take back of a bill, but for the one with the id `but`. Drafts and what is void do not."""
    return Credited(*tx.rows(_SELECT_CREDITED, id=bill_id, but=but)[0])


def lookalike(tx: ReadTx, row: BillRow) -> str | None:
    """The id of a bill of the same supplier and number, or date and total; of a claim without a supplier, of the same
    claimant, date and total. None: there is none.
    """
    same = {"id": row.id, "bill_date": row.bill_date, "gross_total": row.gross_total.minor, "currency": row.currency}
    if row.supplier_id is None:
        found: str | None = tx.value(_SELECT_SAME_CLAIM, claimant=row.claimant, **same)
        return found
    of = {"supplier_id": row.supplier_id, "kind": row.kind}
    numbered: str | None = tx.value(_SELECT_SAME_NUMBER, id=row.id, number_folded=folded(row.number), **of)
    if numbered is not None:
        return numbered
    dated: str | None = tx.value(_SELECT_SAME_TOTAL, **of, **same)
    return dated


def _insert_lines(tx: WriteTx, bill_id: str, lines: Sequence[BillLine]) -> None:
    tx.run_each(_INSERT_LINE, [(tx.org_id, bill_id, *_LINES.dump(line)) for line in lines])
