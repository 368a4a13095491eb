"""What will not come of an invoice (domain model B5, C1, C4): written off, and taken back.

VAT of a bad debt is claimed once it is unpaid for six months after the later of the day on which it was due and the
time of supply, and no later than four years and six months after that (VATA 1994 s.36, VAT Regulations 1995 reg. 165A,
VR7420; Notice 700/18 section 2). Who accounts for VAT by payments never paid it. The flat rate scheme has an allowance
of its own (Notice 733 section 14), and who is not registered any more claims with form VAT427 (VBDR3100): both are
told, and not counted.
"""

from typing import NamedTuple

from gatewayd.areas.accounting.invoices import moves, rows
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import (
    ChangeInvoice,
    Invoice,
    InvoiceRow,
    InvoiceWarning,
    VatRelief,
    WriteOff,
    WriteOffInvoice,
)
from gatewayd.areas.accounting.invoices.states import OPEN
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Rendered
from gatewayd.errors import FieldError, either, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger.dates.date_ranges import later
from gatewayd.ledger.vat import vat_standing
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

UNPAID_MONTHS = 6  # VAT Regulations 1995 reg. 165A(1), VR7420
LAST_MONTHS = 54  # four years and six months: the same


class _Relief(NamedTuple):
    """What becomes of the VAT of a debt, and the ISO date on which it is claimed; None: it is not."""

    kind: VatRelief
    date: str | None = None


def write_off_invoice(tx: WriteTx, caller: Caller, request: WriteOffInvoice) -> Rendered[Invoice]:
    """Write off what will not come of an invoice: nothing of it is due, overdue or reminded of any more.

    On accruals it is an expense of the day, and on cash basis nothing, since it was no income. Its VAT is claimed back
    in box 4 of the return that has `vatReliefDate`, 6 months after it was due; `warnings` tell what that takes, and
    where it is not counted. What comes after all is recorded as any payment: it lowers the expense, and its VAT is
    repaid in box 1.
    """
    row = INVOICES.get(tx, request.invoice_id, request.expected_version)
    _check(row)
    errors: list[FieldError] = []
    amount = gathered(errors, _amount, row, request.amount)
    date = tx.today if request.date is None else request.date.isoformat()
    if not row.issue_date <= date <= tx.today:
        message = f"Expected a day from {row.issue_date}, on which it was issued, to {tx.today}."
        errors.append(FieldError("date", "out_of_range", message))
    relief = gathered(errors, _relief, tx, row, date, request)
    if errors or amount is None or relief is None:
        raise invalid(*errors)
    moves.refuse_closed(tx, row, date, relief.date or date)
    off = WriteOff(
        date=date,
        amount=amount,
        unpaid=amount,
        reason=request.reason,
        vat_relief=relief.kind,
        vat_relief_date=relief.date,
    )
    rows.insert_write_off(tx, row.id, off)
    moves.settle_write_off(tx, row)
    return Rendered(rows.wire_of(tx, row.id, _warnings(row, relief)))


def reverse_write_off(tx: WriteTx, caller: Caller, request: ChangeInvoice) -> Rendered[Invoice]:
    """Take back that an invoice was written off, as if it had not been: what is unpaid is due again.

    Not where it counts in a closed period: what comes after all is then recorded as a payment.
    """
    row = INVOICES.get(tx, request.invoice_id, request.expected_version)
    off = row.write_off
    if not off:
        message = "Nothing of it is written off: `accounting.writeOffInvoice` does that."
        raise invalid_state(message, row.status, ("written_off",))
    moves.refuse_closed(tx, row, off.date, off.vat_relief_date or off.date)
    rows.delete_write_off(tx, row.id)
    moves.settle_write_off(tx, row)
    return Rendered(rows.wire_of(tx, row.id))


def _check(row: InvoiceRow) -> None:
    """Raises `Problem` `invalid_state` where nothing can be written off."""
    if row.kind == "credit_note":
        message = f"A credit note is owed nothing: write off its invoice, {row.credits_invoice_id}."
        raise invalid_state(message, row.status, ())
    if row.write_off:
        message = "It is written off already: take that back first, with `accounting.reverseWriteOff`."
        raise invalid_state(message, "written_off", ())
    if row.status not in OPEN:
        message = f"An invoice that is {row.status} cannot be written off: only one that is {either(OPEN)}."
        raise invalid_state(message, row.status, OPEN)


def _amount(row: InvoiceRow, text: str | None) -> Money:
    try:
        amount = row.balance_due if text is None else Money.of(text, row.currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if not Money(0, row.currency) < amount <= row.balance_due:
        message = f"{row.balance_due} is due: expected more than 0 and no more than that."
        raise invalid_field("amount", "out_of_range", message)
    return amount


def _relief(tx: ReadTx, row: InvoiceRow, date: str, request: WriteOffInvoice) -> _Relief:
    """What becomes of the VAT of an invoice that is written off on an ISO date.

    Raises `Problem` `validation_failed`.
    """
    wanted = None if request.vat_relief_date is None else request.vat_relief_date.isoformat()
    relief = _due_relief(tx, row, date, request.claim_vat_relief, wanted)
    if wanted is not None and relief.kind != "claimed":
        message = f"No VAT of it is claimed on that day ({relief.kind}): leave this out."
        raise invalid_field("vatReliefDate", "conflict", message)
    return relief


def _due_relief(tx: ReadTx, row: InvoiceRow, date: str, claims: bool, wanted: str | None) -> _Relief:
    if row.legal_entity_id is None or not row.vat_total.minor:
        return _Relief("no_vat")
    vat = vat_standing.of_entity(tx, row.legal_entity_id)
    treatment = vat.treatment_on(row.supply_date)
    if treatment != "registered":
        return _Relief("flat_rate" if treatment == "flat_rate" else "no_vat")
    if vat.terms_on(row.supply_date).scheme == "cash":
        return _Relief("cash_accounting")
    if not claims:
        return _Relief("not_claimed")
    since = max(row.due_date, row.supply_date)
    first, last = max(date, later(since, UNPAID_MONTHS)), later(since, LAST_MONTHS)
    if first > last:
        return _Relief("too_late")
    if wanted is not None and not first <= wanted <= last:
        raise invalid_field("vatReliefDate", "out_of_range", f"Expected a day from {first} to {last}.")
    day = wanted or first
    return _Relief("deregistered") if vat.treatment_on(day) == "unregistered" else _Relief("claimed", day)


def _warnings(row: InvoiceRow, relief: _Relief) -> list[InvoiceWarning]:
    if relief.kind == "claimed":
        message = (
            f"Its VAT is claimed in box 4 of the return that has {relief.date}. That takes that it was paid to the tax"
            " authority, stands in a separate account for bad debts, was not sold, and that the price was no more than"
            " is customary (VAT Notice 700/18)."
        )
        return [_warning("vat_relief_conditions", message)]
    if relief.kind == "flat_rate":
        message = (
            "Under the flat rate scheme there may be an allowance: the VAT that was charged less the flat rate of the"
            " amount (VAT Notice 733 section 14). It is not counted here: enter it in box 4 of the return by hand."
        )
        return [_warning("vat_relief_elsewhere", message)]
    if relief.kind == "deregistered":
        message = "Who is not registered any more claims with form VAT427: it is in no return."
        return [_warning("vat_relief_elsewhere", message)]
    if relief.kind == "too_late":
        since = max(row.due_date, row.supply_date)
        message = f"Its VAT could be claimed until {later(since, LAST_MONTHS)}: it is a cost now."
        return [_warning("vat_relief_too_late", message)]
    return []


def _warning(code: str, message: str) -> InvoiceWarning:
    return InvoiceWarning(path="writeOff.vatRelief", code=code, message=message)  # type: ignore[arg-type]


OPERATIONS = (
    Operation(
        id="accounting.writeOffInvoice",
        kind="write",
        method="POST",
        path="/invoices/:invoiceId/write-off",
        scopes=("accounting:write",),
        request=WriteOffInvoice,
        response=Invoice,
        handler=write_off_invoice,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000b", "reason": "The client is insolvent"},
    ),
    Operation(
        id="accounting.reverseWriteOff",
        kind="write",
        method="DELETE",
        path="/invoices/:invoiceId/write-off",
        scopes=("accounting:write",),
        request=ChangeInvoice,
        response=Invoice,
        handler=reverse_write_off,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000e"},
    ),
)
