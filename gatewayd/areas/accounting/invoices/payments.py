"""Money that comes for invoices: payments, by themselves or as parts of bank transactions (domain model B4, B5).

With a bank transaction a payment takes its part of that, and gives it back when it is removed. The invoice counts in
profit and loss itself, so that the part is `not_pnl`; what somebody on the way kept is an expense of the business.

What a payment in another currency than the seller's brings more or less than the invoice was worth is a difference of
exchange (Domain B5, C1).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import moves, rows, states
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoicePayment, InvoiceRow, TakenRateSource
from gatewayd.areas.accounting.invoices.totals import fits
from gatewayd.errors import FieldError, either, gathered, invalid, invalid_field, invalid_state, not_found
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES, Category
from gatewayd.ledger.exchange.exchange_rates import text_of
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.allocated_money import convert
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.money import Money, exponent
from gatewayd.store import ReadTx, WriteTx

_PATH = "bankTransactionId"
_SELECT_TAKEN = f"{ALLOCATIONS.select} AND source_id = :source_id AND invoice_id = :invoice_id"


class Payment(NamedTuple):
    """Money received. `amount` is decimal text, None for all that is due; `date` is ISO, None for today.

    With `bank_transaction_id` None is no more than what is left of that, and its day. `charges` were kept of the amount
    before it came to the bank. `fx_rate` is decimal text, units of the seller's currency for one of the invoice's; None
    is what the bank transaction brought, else what is known of the day.
    """

    amount: str | None = None
    date: str | None = None
    method: str | None = None
    reference: str | None = None
    bank_transaction_id: str | None = None
    charges: str | None = None
    fx_rate: str | None = None


class PaymentRate(NamedTuple):
    """Units of the seller's currency for one of the invoice's; None: it is the same. `source` None: it was given."""

    text: str | None
    source: TakenRateSource | None = None


class _Taking(NamedTuple):
    """What an invoice takes of a bank line. `date` is the payment's, ISO.

    `charges` are what somebody on the way kept of `amount`, so that the line has no more than the rest.
    """

    invoice_id: str
    business_id: str | None
    legal_entity_id: str | None
    amount: Money
    charges: Money
    date: str


def pay(tx: WriteTx, invoice_id: str, payment: Payment) -> InvoiceRow:
    """Record money received. More than is due leaves a negative balance: what the client overpaid.

    With a bank transaction the payment takes its part of it, and is of its day. Raises `Problem`: `not_found`,
    `invalid_state`, `period_closed`, `limit_reached` (the bank transaction's parts), `validation_failed`.
    """
    row = INVOICES.get(tx, invoice_id)
    if row.kind == "credit_note":
        message = f"A credit note takes no payment: record it with the invoice, {row.credits_invoice_id}."
        raise invalid_state(message, row.status, ())
    states.check_payment(row.status)
    line, charges, amount, date = _paid(tx, row, payment)
    moves.refuse_closed(tx, row, date)
    paid_total = row.paid_total + amount
    if not fits(paid_total.minor, exponent(row.currency)):
        raise invalid_field("amount", "out_of_range", "The payments come to more than 13 whole digits.")
    if line is not None and line.currency != row.currency:
        rate, part = _brought(row, amount, line, payment.fx_rate)
    else:
        rate, part = rate_of_payment(tx, row, payment.fx_rate, date), amount
    if line is not None:
        kept = charges if charges else Money(0, line.currency)
        _take(tx, line, _Taking(row.id, row.business_id, row.legal_entity_id, part, kept, date))
    position = max((paid.position for paid in rows.payments_of(tx, row.id, row.currency)), default=0) + 1
    paid = InvoicePayment(
        position=position,
        date=date,
        amount=amount,
        bank_transaction_id=payment.bank_transaction_id,
        method=payment.method,
        reference=payment.reference,
        fx_rate=rate.text,
        fx_rate_source=rate.source,
    )
    rows.insert_payment(tx, row.id, paid)
    return moves.settle(tx, replace(row, paid_total=paid_total), date, grows=True)


def unpay(tx: WriteTx, invoice_id: str, position: int) -> InvoiceRow:
    """Take back a payment that bounced or was matched wrongly. `position` counts its payments from 1.

    A bank transaction gets its part back. Raises `Problem`: `not_found` (no such invoice or payment), `invalid_state`,
    `period_closed`.
    """
    row = INVOICES.get(tx, invoice_id)
    states.check("unsettle", row.status)
    payments = {paid.position: paid for paid in rows.payments_of(tx, row.id, row.currency)}
    if position not in payments:
        raise not_found("payment")
    paid = payments[position]
    if paid.client_payment_id:
        message = f"It is a part of {paid.client_payment_id}: `accounting.removeClientPayment` takes all of that back."
        raise invalid_state(message, "client_payment", ())
    moves.refuse_closed(tx, row, paid.date)
    refuse_unpaid_refund(row, paid.amount)
    rows.delete_payment(tx, invoice_id, position)
    if paid.bank_transaction_id is not None:
        _give_back(tx, row.id, paid.bank_transaction_id)
    return moves.settle(tx, replace(row, paid_total=row.paid_total - paid.amount), tx.today, grows=False)


def refuse_unpaid_refund(row: InvoiceRow, amount: Money) -> None:
    """Raises `Problem` `invalid_state` where more went back of an invoice than would be paid without an amount."""
    if row.paid_total < amount:
        message = f"Of what was paid on {row.number} more was refunded, or set against other invoices, than would stay:"
        raise invalid_state(f"{message} take that back first, with `accounting.removeClientPayment`.", row.status, ())


# -- how much


def _paid(tx: ReadTx, row: InvoiceRow, payment: Payment) -> tuple[BankLine | None, Money, Money, str]:
    """With which bank transaction it is paid, what that cost, how much and on which ISO date.

    Raises `Problem`: `invalid_state` (the bank transaction is not booked), `validation_failed` with all that is wrong.
    """
    errors: list[FieldError] = []
    line_id = payment.bank_transaction_id
    line = None if line_id is None else gathered(errors, _paying_line, tx, row, line_id)
    charges = gathered(errors, _charges, row, payment, line)
    amount = None
    if payment.amount is not None or (charges is not None and not errors):
        default = None if charges is None or errors else _due(row, line, charges)
        amount = gathered(errors, _paid_amount, row, payment.amount, default)
    date = payment.date or (tx.today if line is None else line.date)
    if date > tx.today:
        message = f"It lies ahead: expected {tx.today} or an earlier day."
        errors.append(FieldError("date", "out_of_range", message))
    if errors or charges is None or amount is None:
        raise invalid(*errors)
    return line, charges, amount, date


def _charges(row: InvoiceRow, payment: Payment, line: BankLine | None) -> Money:
    if payment.charges is None:
        return Money(0, row.currency)
    if payment.bank_transaction_id is None:
        message = "This field is required: of which bank transaction were the charges kept?"
        raise invalid_field("bankTransactionId", "required", message)
    if line is not None and line.currency != row.currency:
        raise invalid_field("charges", "conflict", f"The bank transaction is in {line.currency}: enter them apart.")
    try:
        return Money.of(payment.charges, row.currency)
    except ValueError as error:
        raise invalid_field("charges", "invalid_decimal", f"{error}.") from None


def _due(row: InvoiceRow, line: BankLine | None, charges: Money) -> Money | None:
    """What a payment is by default; None: a bank transaction in another currency doesn't tell."""
    if line is None:
        return row.balance_due
    return min(row.balance_due, line.rest + charges) if line.currency == row.currency else None


def _paid_amount(row: InvoiceRow, text: str | None, default: Money | None) -> Money:
    if text is None and default is None:
        message = f"How much of the invoice's {row.currency} did the {row.base_currency} of the bank transaction pay?"
        raise invalid_field("amount", "required", message)
    try:
        amount = default if text is None and default is not None else Money.of(text or "", row.currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if amount.minor <= 0:
        message = "Nothing is due: how much was paid?" if text is None else "Expected more than 0."
        raise invalid_field("amount", "out_of_range", message)
    return amount


def rate_of_payment(tx: ReadTx, row: InvoiceRow, text: str | None, date: str) -> PaymentRate:
    """At what rate money counts that was received on an ISO date: the given one, else what is known of the day.

    Raises `Problem` `validation_failed` where it is not known, or given and not needed.
    """
    if text is not None:
        return PaymentRate(moves.given_rate(row, text))
    if not moves.is_foreign(row):
        return PaymentRate(None)
    rate = moves.taken_rate(tx, row, date, "payment")
    return PaymentRate(rate.text, rate.source)


def _brought(row: InvoiceRow, amount: Money, line: BankLine, text: str | None) -> tuple[PaymentRate, Money]:
    """At what rate a bank transaction in the seller's currency paid an amount, and how much of it did.

    All that is left of it, unless a rate is given. Raises `Problem` `validation_failed`.
    """
    if text is not None:
        rate = PaymentRate(moves.given_rate(row, text))
        assert rate.text is not None  # the currencies differ
        return rate, Money(convert(amount.minor, rate.text, row.currency, line.currency), line.currency)
    if not line.rest.minor:
        raise invalid_field("amount", "out_of_range", "Nothing of the bank transaction is left.")
    scale = Fraction(10) ** (exponent(row.currency) - exponent(line.currency))
    return PaymentRate(text_of(Fraction(line.rest.minor, amount.minor) * scale)), line.rest


# -- its part of a bank transaction


def _paying_line(tx: ReadTx, row: InvoiceRow, line_id: str) -> BankLine:
    """The bank transaction that an invoice is paid with.

    Raises `Problem`: `invalid_state` (it is not booked), `validation_failed`.
    """
    line = bank_lines.find(tx, line_id)
    if line is None:
        raise invalid(unknown_reference(_PATH, "bank_transaction"))
    allocations.refuse_unbooked(line)
    if line.amount < 0:
        raise invalid_field(_PATH, "conflict", "Money went out with it: expected one with which money came in.")
    if line.currency not in (row.currency, row.base_currency):
        message = (
            f"It is in {line.currency}: expected one in"
            f" {either(tuple(dict.fromkeys((row.currency, row.base_currency))))}."
        )
        raise invalid_field(_PATH, "currency_mismatch", message)
    if None not in (line.legal_entity_id, row.legal_entity_id) and line.legal_entity_id != row.legal_entity_id:
        raise invalid_field(_PATH, "conflict", "Its account belongs to another legal entity than the invoice.")
    return line


def _take(tx: WriteTx, line: BankLine, taking: _Taking) -> None:
    """Allocate a part of `line` to the invoice, and charges, which are an expense of its business.

    Raises `Problem`: `period_closed`, `limit_reached`, `validation_failed`.
    """
    errors = list(_taking_mistakes(tx, line, taking))
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
        business = _bearer_of_charges(tx, line, taking)
        category: Category = "financialCosts" if business.type in PROPERTY_TYPES else "financeCharges"
        charges = taking.charges.minor
        parts.append(Part(category, None, business.id, direction="out", amount=charges, invoice_id=taking.invoice_id))
    allocations.allocate(tx, line, parts)


def takes(tx: ReadTx, line_id: str, invoice_id: str) -> bool:
    """Whether an invoice takes a part of a bank line already."""
    return tx.row(_SELECT_TAKEN, source_id=line_id, invoice_id=invoice_id) is not None


def _taking_mistakes(tx: ReadTx, line: BankLine, taking: _Taking) -> Iterator[FieldError]:
    if takes(tx, line.id, taking.invoice_id):
        yield FieldError(_PATH, "conflict", "It pays this invoice already: take that payment back first.")
    if taking.date != line.date:  # the same money on two days would count in two periods
        message = f"It is that of the bank transaction: expected {line.date}, or leave this out."
        yield FieldError("date", "conflict", message)
    if not Money(0, line.currency) <= taking.charges <= taking.amount:
        yield FieldError("charges", "out_of_range", f"They are a part of the payment: expected 0 to {taking.amount}.")
    elif line.rest < taking.amount - taking.charges:
        message = f"{line.rest} {line.currency} of the bank transaction is left: expected no more."
        yield FieldError("amount", "out_of_range", message)


def _bearer_of_charges(tx: ReadTx, line: BankLine, taking: _Taking) -> Business:
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


def _give_back(tx: WriteTx, invoice_id: str, line_id: str) -> None:
    """Take back what the payment of an invoice took of a bank line, and its charges.

    Raises `Problem` `period_closed`.
    """
    rows = tx.rows(_SELECT_TAKEN, source_id=line_id, invoice_id=invoice_id)
    allocations.remove(tx, *(ALLOCATIONS.read(tx, row) for row in rows))
