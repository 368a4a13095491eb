"""Payments of invoices as parts of bank lines: what an invoice takes of a line, and gives back (Domain B4, B5).

The invoice counts in profit and loss itself, so the part of the line is `not_pnl`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES, Category
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_PATH = "bankTransactionId"
_SELECT_TAKEN = f"{ALLOCATIONS.select} AND source_id = :source_id AND invoice_id = :invoice_id"


class Taking(NamedTuple):
    """What an invoice takes of a bank line. `date` is the payment's, ISO.

    `charges` are what somebody on the way kept of `amount`, so that the line has no more than the rest.
    """

    invoice_id: str
    business_id: str | None
    legal_entity_id: str | None
    amount: Money
    charges: Money
    date: str


def paying(tx: ReadTx, line_id: str, currencies: tuple[str, str], legal_entity_id: str | None) -> BankLine:
    """The bank line that an invoice is paid with; `currencies` are the invoice's and its seller's.

    Raises `Problem`: `invalid_state` (it is not booked), `validation_failed`.
    """
    line = bank_lines.find(tx, line_id)
    if line is None:
        raise invalid(unknown_reference(_PATH, "bank_transaction"))
    allocations.refuse_unbooked(line)
    if line.amount < 0:
        raise invalid_field(_PATH, "conflict", "Money went out with it.")
    if line.currency not in currencies:
        raise invalid_field(
            _PATH, "currency_mismatch", f"It is in {line.currency}, and the invoice in {currencies[0]}."
        )
    if None not in (line.legal_entity_id, legal_entity_id) and line.legal_entity_id != legal_entity_id:
        raise invalid_field(_PATH, "conflict", "Its account belongs to another legal entity than the invoice.")
    return line


def take(tx: WriteTx, line: BankLine, taking: Taking) -> None:
    """Allocate a part of `line` to the invoice, and charges, which are an expense of its business.

    Raises `Problem`: `period_closed`, `limit_reached`, `validation_failed`.
    """
    errors = list(_mistakes(tx, line, taking))
    if errors:
        raise invalid(*errors)
    payment = Part(
        "not_pnl",
        "invoice_payment",
        business_id=taking.business_id,
        amount=taking.amount.minor,
        invoice_id=taking.invoice_id,
        legal_entity_id=taking.legal_entity_id,
    )
    parts = [payment]
    if taking.charges:
        business = _business(tx, line, taking)
        category: Category = "financialCosts" if business.type in PROPERTY_TYPES else "financeCharges"
        charges = taking.charges.minor
        parts.append(Part(category, None, business.id, direction="out", amount=charges, invoice_id=taking.invoice_id))
    allocations.allocate(tx, line, parts)


def give_back(tx: WriteTx, invoice_id: str, line_id: str) -> None:
    """Take back what the payment of an invoice took of a bank line, and its charges.

    Raises `Problem` `period_closed`.
    """
    rows = tx.rows(_SELECT_TAKEN, source_id=line_id, invoice_id=invoice_id)
    allocations.remove(tx, *(ALLOCATIONS.read(tx, row) for row in rows))


def _mistakes(tx: ReadTx, line: BankLine, taking: Taking) -> Iterator[FieldError]:
    if tx.row(_SELECT_TAKEN, source_id=line.id, invoice_id=taking.invoice_id) is not None:
        yield FieldError(_PATH, "conflict", "It pays this invoice already: take that payment back first.")
    if taking.date != line.date:  # the same money on two days would count in two periods
        yield FieldError("date", "conflict", f"It is that of the bank transaction, {line.date}.")
    if not Money(0, line.currency) <= taking.charges <= taking.amount:
        yield FieldError("charges", "out_of_range", f"They are a part of {taking.amount}.")
    elif line.rest < taking.amount - taking.charges:
        yield FieldError("amount", "out_of_range", f"{line.rest} {line.currency} of the bank transaction is left.")


def _business(tx: ReadTx, line: BankLine, taking: Taking) -> Business:
    """Whose expense the charges are: the invoice's business, else the one that the account names."""
    named = taking.business_id or (line.business_ids[0] if len(line.business_ids) == 1 else None)
    business = None if named is None else businesses.find(tx, named)
    if business is None:
        raise invalid_field("charges", "conflict", "Neither invoice nor account names the business that bears them.")
    if business.currency != line.currency:
        raise invalid_field("charges", "currency_mismatch", f"Its business counts in {business.currency}.")
    if line.legal_entity_id not in (None, business.legal_entity_id):
        raise invalid_field(_PATH, "conflict", "Its account belongs to another legal entity than the business.")
    return business
