"""The moves of a bill: enter, change, void, delete a draft, and what payments and credit notes make of its state.

    draft --change--> awaiting_payment --pay, credit--> part_paid, paid        awaiting_payment --void--> void

A credit note is set against its bill at once, and is `paid` from the start; it can be voided. A bill changes while
nothing is paid or credited of it. Each move is a plain function of one write transaction.
"""

from typing import Final

from msgspec.structs import replace

from gatewayd.areas.accounting.bills import drafting, rows
from gatewayd.areas.accounting.bills.drafting import Drafted
from gatewayd.areas.accounting.bills.rows import BILLS, OPEN
from gatewayd.areas.accounting.bills.shapes import BillRow, BillStatus, CreateBill, UpdateBill
from gatewayd.errors import FieldError, Problem, either, invalid, invalid_state
from gatewayd.ledger.calendar import period_locks
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_PAY_BACK: Final = " `accounting.removeBillPayment` takes its payments back, and `accounting.voidBill` credit notes."


def enter(tx: WriteTx, request: CreateBill) -> Drafted:
    """Store a new bill, as a draft or owed.

    Raises `Problem`: `already_exists`, `possible_duplicate`, `invalid_state` (what it credits is a draft or void),
    `period_closed`, `validation_failed`.
    """
    BILLS.refuse_taken(tx, request.external_id)
    drafted = drafting.of_request(tx, request)
    row, original = _set_off(drafted.row), drafted.original
    _refuse_lookalike(tx, row, allowed=request.allow_duplicate)
    if original is not None:
        _refuse_excess(tx, row, original)
    if row.status != "draft":
        refuse_closed(tx, row, row.bill_date, row.tax_point)
    row = rows.insert(tx, row, drafted.lines)
    if original is not None:
        _settle_credited(tx, original.id)
    return drafted._replace(row=row)


def change(tx: WriteTx, before: BillRow, request: UpdateBill) -> Drafted:
    """Store what a bill becomes. Raises `Problem` as `enter` does, and `invalid_state` once it is paid or credited."""
    is_open = before.status == "awaiting_payment" and not before.paid_total and not before.credited_total
    if before.status != "draft" and not is_open:
        message = f"A bill that is {before.status} cannot be changed: only one of which nothing is paid or credited."
        raise invalid_state(message + _PAY_BACK, before.status, ("draft", "awaiting_payment"))
    if before.status != "draft":
        refuse_closed(tx, before, before.bill_date, before.tax_point)
    asked = drafting.amended(tx, before, request)
    BILLS.refuse_taken(tx, asked.external_id, before.id)
    drafted = drafting.of_request(tx, asked, before)
    row, original = _set_off(drafted.row), drafted.original
    if _is_another(before, row):
        _refuse_lookalike(tx, row, allowed=request.allow_duplicate)
    if original is not None:
        _refuse_excess(tx, row, original)
    if row.status != "draft":
        refuse_closed(tx, row, row.bill_date, row.tax_point)
    row = rows.rewrite(tx, row, drafted.lines)
    if original is not None:
        _settle_credited(tx, original.id)
    return drafted._replace(row=row)


def void(tx: WriteTx, bill_id: str, reason: str) -> BillRow:
    """Void a bill or credit note that was entered by mistake.

    Raises `Problem`: `not_found`, `invalid_state` (it is a draft, void, or something is paid or credited of it),
    `period_closed`.
    """
    row = BILLS.get(tx, bill_id)
    is_credit = row.kind == "credit_note" and row.status == "paid"
    if not is_credit and (row.status != "awaiting_payment" or row.paid_total or row.credited_total):
        message = f"A bill that is {row.status} cannot be voided: only one of which nothing is paid or credited."
        way_out = " `accounting.deleteBill` deletes a draft." if row.status == "draft" else _PAY_BACK
        raise invalid_state(message + way_out, row.status, ("awaiting_payment",))
    refuse_closed(tx, row, row.bill_date, row.tax_point)
    nothing = Money(0, row.currency)
    row = BILLS.update(tx, replace(row, status="void", balance_due=nothing, voided_at=tx.now, void_reason=reason))
    if row.credits_bill_id is not None:
        _settle_credited(tx, row.credits_bill_id)
    return row


def delete_draft(tx: WriteTx, row: BillRow) -> None:
    """Delete a draft. Raises `Problem` `invalid_state`."""
    if row.status != "draft":
        message = f"A bill that is {row.status} cannot be deleted: `accounting.voidBill` voids one that is owed."
        raise invalid_state(message, row.status, ("draft",))
    rows.delete(tx, row.id)


def settle(tx: WriteTx, row: BillRow, date: str) -> BillRow:
    """Keep new totals of what was paid and credited, with the state and balance that follow. `date` is ISO."""
    balance = row.gross_total - row.paid_total - row.credited_total
    status: BillStatus = "part_paid" if row.paid_total or row.credited_total else "awaiting_payment"
    if balance.minor <= 0:
        status = "paid"
    paid_date = (row.paid_date or date) if status == "paid" else None
    return BILLS.update(tx, replace(row, status=status, balance_due=balance, paid_date=paid_date))


def refuse_closed(tx: ReadTx, row: BillRow, *days: str) -> None:
    """Raises `Problem` `period_closed` where one of the ISO days is in a closed period of the entity or business."""
    period_locks.refuse_closed(tx, row.legal_entity_id, *dict.fromkeys(days), business_id=row.business_id)


def require_open(row: BillRow) -> None:
    """Raises `Problem` `invalid_state` for a bill that takes no payment."""
    overpaid = row.status == "paid" and row.balance_due.minor < 0
    if row.kind == "credit_note" or (row.status not in OPEN and not overpaid):
        message = (
            f"A {row.kind.replace('_', ' ')} that is {row.status} takes no payment: only one that is {either(OPEN)}."
        )
        raise invalid_state(message, row.status, OPEN)


def _set_off(row: BillRow) -> BillRow:
    """A credit note is set against its bill at once."""
    if row.kind == "credit_note" and row.status != "draft":
        return replace(row, status="paid", paid_date=row.bill_date)
    return row


def _is_another(before: BillRow, row: BillRow) -> bool:
    """Whether a change may have made it like another bill."""
    names = ("supplier_id", "claimant", "number", "bill_date", "gross_total", "currency")
    return any(getattr(before, name) != getattr(row, name) for name in names)


def _refuse_lookalike(tx: ReadTx, row: BillRow, *, allowed: bool) -> None:
    existing_id = None if allowed else rows.lookalike(tx, row)
    if existing_id is not None:
        message = (
            f"The same number, or the same date and total, is entered already: {existing_id}. If this is another, send"
            " allowDuplicate: true."
        )
        raise Problem("possible_duplicate", message, extra={"existingId": existing_id})


def _refuse_excess(tx: ReadTx, row: BillRow, original: BillRow) -> None:
    """Raises `Problem` `validation_failed` where a credit note takes back more than is left of its bill.

    Chosen: of its VAT too, so that no more is given back than was reclaimed.
    """
    gross, vat = rows.credited(tx, original.id, row.id)
    left = original.gross_total - Money(gross, row.currency)
    errors = []
    if row.gross_total > left:
        errors.append(FieldError("lines", "out_of_range", f"{left} of the bill is left to credit: expected no more."))
    elif row.vat_total > (left := original.vat_total - Money(vat, row.currency)):
        message = f"{left} of the bill's VAT is left to credit: expected no more."
        errors.append(FieldError("lines", "out_of_range", message))
    if errors:
        raise invalid(*errors)


def _settle_credited(tx: WriteTx, bill_id: str) -> None:
    """Bring a bill up to date after a credit note against it was entered or voided."""
    row = BILLS.get(tx, bill_id)
    credited_total = Money(rows.credited(tx, bill_id).gross, row.currency)
    if credited_total != row.credited_total:
        settle(tx, replace(row, credited_total=credited_total), tx.today)
