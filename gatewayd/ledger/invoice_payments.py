"""Payments of invoices as parts of bank lines: what an invoice takes of a line, and gives back (Domain B4, B5).

The invoice counts in profit and loss itself, so the part of the line is `not_pnl`.
"""

from typing import NamedTuple

from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger import allocations, bank_lines
from gatewayd.ledger.allocation_shapes import Part
from gatewayd.ledger.allocations import ALLOCATIONS
from gatewayd.ledger.bank_lines import BankLine
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_PATH = "bankTransactionId"
_SELECT_TAKEN = f"{ALLOCATIONS.select} AND source_id = :source_id AND invoice_id = :invoice_id AND amount = :amount"


class Taking(NamedTuple):
    """What an invoice takes of a bank line. `date` is the payment's, ISO."""

    invoice_id: str
    business_id: str | None
    legal_entity_id: str | None
    amount: Money
    date: str


def paying(tx: ReadTx, line_id: str, currency: str, legal_entity_id: str | None) -> BankLine:
    """The bank line that an invoice in `currency`, sold by this legal entity, is paid with.

    Raises `Problem`: `invalid_state` (it is not booked), `validation_failed`.
    """
    line = bank_lines.find(tx, line_id)
    if line is None:
        raise invalid(unknown_reference(_PATH, "bank_transaction"))
    allocations.refuse_unbooked(line)
    if line.amount < 0:
        raise invalid_field(_PATH, "conflict", "Money went out with it.")
    if line.currency != currency:
        raise invalid_field(_PATH, "currency_mismatch", f"It is in {line.currency}, and the invoice in {currency}.")
    if None not in (line.legal_entity_id, legal_entity_id) and line.legal_entity_id != legal_entity_id:
        raise invalid_field(_PATH, "conflict", "Its account belongs to another legal entity than the invoice.")
    return line


def take(tx: WriteTx, line: BankLine, taking: Taking) -> None:
    """Allocate a part of `line` to the invoice.

    Raises `Problem`: `period_closed`, `limit_reached`, `validation_failed`.
    """
    errors = []
    if taking.date != line.date:  # the same money on two days would count in two periods
        errors.append(FieldError("date", "conflict", f"It is that of the bank transaction, {line.date}."))
    if line.rest < taking.amount:
        left = f"{line.rest} {line.currency} of the bank transaction is left."
        errors.append(FieldError("amount", "out_of_range", left))
    if errors:
        raise invalid(*errors)
    part = Part(
        "not_pnl",
        "invoice_payment",
        business_id=taking.business_id,
        amount=taking.amount.minor,
        invoice_id=taking.invoice_id,
        legal_entity_id=taking.legal_entity_id,
    )
    allocations.allocate(tx, line, [part])


def give_back(tx: WriteTx, invoice_id: str, line_id: str, amount: Money) -> None:
    """Take back what a payment of the invoice took of a bank line. Raises `Problem` `period_closed`."""
    found = tx.row(_SELECT_TAKEN, source_id=line_id, invoice_id=invoice_id, amount=amount.minor)
    if found is not None:
        allocations.remove(tx, ALLOCATIONS.read(tx, found))
