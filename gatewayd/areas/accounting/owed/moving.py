"""Payments, refunds and credit of clients: recorded and taken back, each in one transaction (domain model B5).

What is for an invoice is a payment of that; what is taken of one that was paid too much is a payment below zero. What
is for none is the client's, on account. A bank transaction gets a part for each, and none of them is income: invoices
count in profit and loss themselves.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.invoices import drafts, moves, payments
from gatewayd.areas.accounting.invoices import rows as invoices
from gatewayd.areas.accounting.invoices.payments import PaymentRate
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoicePayment
from gatewayd.areas.accounting.owed import choosing, rows
from gatewayd.areas.accounting.owed.choosing import Leg
from gatewayd.areas.accounting.owed.rows import CLIENT_PAYMENTS, Account
from gatewayd.areas.accounting.owed.shapes import ApplyCredit, ClientPayment, RecordClientPayment, RefundClient
from gatewayd.errors import FieldError, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.exchange.exchange_rates import text_of
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.allocated_money import convert
from gatewayd.ledger.vat import sellers
from gatewayd.money import Money, exponent
from gatewayd.store import ReadTx, WriteTx

_LINE = "bankTransactionId"
Request = RecordClientPayment | ApplyCredit | RefundClient


class _Setting(NamedTuple):
    """Between whom it is and when. `line` None: no bank transaction is named; `date` is ISO."""

    account: Account
    base_currency: str
    date: str
    line: BankLine | None = None

    @property
    def legal_entity_id(self) -> str | None:
        return self.account.of or None


def record(tx: WriteTx, request: RecordClientPayment) -> ClientPayment:
    """Record money that a client paid. Raises `Problem`: `period_closed`, `limit_reached`, `validation_failed` and
    `invalid_state` (the bank transaction is not booked).
    """
    setting = _setting(tx, request, "in")
    amount = _amount(setting, request.amount, None if setting.line is None else setting.line.rest)
    legs = choosing.pays(tx, setting.account, request.invoices, amount)
    over = amount - sum((leg.amount for leg in legs), Money(0, amount.currency))
    row = _new(tx, "payment", request, setting, amount, over)
    rate = _rate(setting, request.fx_rate, amount)
    _take(tx, setting, legs, over, rate)
    return _stored(tx, row, legs, setting, rate)


def apply(tx: WriteTx, request: ApplyCredit) -> ClientPayment:
    """Set a client's credit against invoices. Raises `Problem`: `period_closed`, `validation_failed`."""
    setting = _setting(tx, request, None)
    there = choosing.credit(tx, setting.account, setting.date)
    least = there if request.invoices is not None else min(there, choosing.due(tx, setting.account))
    named = [share.amount for share in request.invoices or ()]
    if request.amount is None and named and None not in named:
        least = sum((_money(setting, text or "", "invoices") for text in named), Money(0, there.currency))
    amount = _amount(setting, request.amount, least)
    taken = choosing.takes(tx, setting.account, amount, setting.date)
    legs = choosing.pays(tx, setting.account, request.invoices, amount)
    used = sum((leg.amount for leg in legs), Money(0, amount.currency))
    if request.amount is None and used < amount:
        amount = used
        taken = choosing.takes(tx, setting.account, amount, setting.date)
    if used != amount:
        raise invalid_field("amount", "out_of_range", f"The invoices take {used}: expected no more.")
    row = _new(tx, "credit", request, setting, amount, taken.on_account)
    return _stored(tx, row, [*taken.legs, *legs], setting, _rate(setting, request.fx_rate, amount))


def refund(tx: WriteTx, request: RefundClient) -> ClientPayment:
    """Record money that went back to a client. Raises `Problem` as `record` does."""
    setting = _setting(tx, request, "out")
    there = choosing.credit(tx, setting.account, setting.date)
    line = setting.line
    most = there if line is None or line.currency != there.currency else min(there, line.rest)
    amount = _amount(setting, request.amount, most)
    taken = choosing.takes(tx, setting.account, amount, setting.date)
    row = _new(tx, "refund", request, setting, amount, taken.on_account)
    rate = _rate(setting, None, amount)
    nothing = Money(0, amount.currency)
    _take(tx, setting, [Leg(leg.row, nothing - leg.amount) for leg in taken.legs], nothing - taken.on_account, rate)
    return _stored(tx, row, taken.legs, setting, None)


def remove(tx: WriteTx, id_: str, expected_version: int | None) -> None:
    """Take back a payment, a refund or credit, with all that it did to invoices and the bank transaction.

    Raises `Problem`: `not_found`, `version_conflict`, `period_closed`, `invalid_state` (what it brought was used).
    """
    row = CLIENT_PAYMENTS.get(tx, id_, expected_version)
    account = Account(row.client_id, row.legal_entity_id or "", row.currency)
    if row.on_account.minor:
        period_locks.refuse_closed(tx, row.legal_entity_id, row.date)
    for part in row.invoices:
        invoice = INVOICES.get(tx, part.invoice_id)
        moves.refuse_closed(tx, invoice, row.date)
        payments.refuse_unpaid_refund(invoice, part.amount)
        invoices.delete_payment(tx, invoice.id, part.position)
        paid_total = invoice.paid_total - part.amount
        moves.settle(tx, replace(invoice, paid_total=paid_total), tx.today, grows=part.amount.minor < 0)
    if row.bank_transaction_id is not None:
        _give_back(tx, row, row.bank_transaction_id)
    CLIENT_PAYMENTS.delete(tx, row.id)
    if not rows.is_covered(tx, account):
        message = "What it left on account was refunded, or set against invoices: take that back first."
        raise invalid_state(f"{message} `accounting.listClientPayments` has it.", "used", ())


# -- between whom, when and how much


def _setting(tx: ReadTx, request: Request, direction: str | None) -> _Setting:
    """Raises `Problem`: `invalid_state` (the bank transaction is not booked), `validation_failed`."""
    errors: list[FieldError] = []
    client = CLIENTS.find(tx, request.client_id)
    if client is None:
        errors.append(unknown_reference("clientId", "client"))
    currency = request.currency or ("" if client is None else client.currency)
    line_id = None if isinstance(request, ApplyCredit) else request.bank_transaction_id
    line = None if line_id is None else gathered(errors, _line, tx, line_id, direction)
    asked = request.legal_entity_id or (None if line is None else line.legal_entity_id)
    seller = sellers.find_only(tx) if asked is None else sellers.find(tx, asked)
    if seller is None:
        code = "required" if asked is None else "unknown_reference"
        message = "The organization has several: which one sold?" if asked is None else "There is no such one."
        errors.append(FieldError("legalEntityId", code, message))
    date = tx.today if line is None else line.date
    if request.date is not None:
        errors += _date_mistakes(tx.today, request.date.isoformat(), line)
        date = request.date.isoformat()
    if line is not None and seller is not None:
        errors += _line_mistakes(line, currency, seller.base_currency, seller.legal_entity_id)
    if errors or seller is None or client is None:
        raise invalid(*errors)
    return _Setting(Account(client.id, seller.legal_entity_id or "", currency), seller.base_currency, date, line)


def _line(tx: ReadTx, line_id: str, direction: str | None) -> BankLine:
    line = bank_lines.find(tx, line_id)
    if line is None:
        raise invalid(unknown_reference(_LINE, "bank_transaction"))
    allocations.refuse_unbooked(line)
    if line.direction != direction:
        went, way = ("in", "out") if direction == "out" else ("out", "in")
        message = f"Money went {went} with it: expected one with which money went {way}."
        raise invalid_field(_LINE, "conflict", message)
    if (other := rows.of_line(tx, line_id)) is not None:
        raise invalid_field(_LINE, "conflict", f"It is of {other} already: take that back first.")
    return line


def _date_mistakes(today: str, date: str, line: BankLine | None) -> list[FieldError]:
    if line is not None and date != line.date:  # the same money on two days would count in two periods
        message = f"It is that of the bank transaction: expected {line.date}, or leave this out."
        return [FieldError("date", "conflict", message)]
    if date > today:
        return [FieldError("date", "out_of_range", f"It lies ahead: expected {today} or an earlier day.")]
    return []


def _line_mistakes(line: BankLine, currency: str, base: str, legal_entity_id: str | None) -> list[FieldError]:
    errors = []
    if line.currency not in (currency, base):
        errors.append(FieldError(_LINE, "currency_mismatch", f"It is in {line.currency}: expected {currency}."))
    if None not in (line.legal_entity_id, legal_entity_id) and line.legal_entity_id != legal_entity_id:
        errors.append(FieldError(_LINE, "conflict", "Its account belongs to another legal entity than who sold."))
    return errors


def _amount(setting: _Setting, text: str | None, default: Money | None) -> Money:
    """How much it is. `default` may be in another currency, which doesn't tell."""
    if text is not None:
        amount = _money(setting, text, "amount")
    elif default is None or default.currency != setting.account.currency:
        message = f"This field is required: how much was it in {setting.account.currency}?"
        raise invalid_field("amount", "required", message)
    else:
        amount = default
    if amount.minor <= 0:
        message = "Expected more than 0." if text is not None else "There is nothing that could be moved."
        raise invalid_field("amount", "out_of_range", message)
    line = setting.line
    if line is not None and line.currency == amount.currency and line.rest < amount:
        message = f"{line.rest} {line.currency} of the bank transaction is left: expected no more."
        raise invalid_field("amount", "out_of_range", message)
    return amount


def _money(setting: _Setting, text: str, path: str) -> Money:
    try:
        return Money.of(text, setting.account.currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None


def _rate(setting: _Setting, text: str | None, amount: Money) -> str | None:
    """The rate that was given, or by which a bank transaction in the seller's currency paid; None: neither.

    Raises `Problem` `validation_failed`.
    """
    line = setting.line
    if text is not None:
        return drafts.rate_of_exchange(text, amount.currency, setting.base_currency)
    if line is None or line.currency == amount.currency:
        return None
    if not line.rest.minor:
        raise invalid_field(_LINE, "out_of_range", "Nothing of the bank transaction is left.")
    scale = Fraction(10) ** (exponent(amount.currency) - exponent(line.currency))
    return text_of(Fraction(line.rest.minor, amount.minor) * scale)


# -- stored, and with it what it does


def _new(
    tx: WriteTx, kind: str, request: Request, setting: _Setting, amount: Money, on_account: Money
) -> ClientPayment:
    CLIENT_PAYMENTS.refuse_taken(tx, request.external_id)
    if on_account.minor:
        period_locks.refuse_closed(tx, setting.legal_entity_id, setting.date)
    return CLIENT_PAYMENTS.new(
        tx,
        None,
        kind=kind,
        external_id=request.external_id,
        client_id=setting.account.client_id,
        legal_entity_id=setting.legal_entity_id,
        date=setting.date,
        currency=amount.currency,
        amount=amount,
        on_account=on_account,
        bank_transaction_id=None if setting.line is None else setting.line.id,
        method=getattr(request, "method", None),
        reference=request.reference,
    )


def _stored(tx: WriteTx, row: ClientPayment, legs: Sequence[Leg], setting: _Setting, rate: str | None) -> ClientPayment:
    """Store a payment, and each of its parts as a payment of the invoice. Raises `Problem` `period_closed`."""
    CLIENT_PAYMENTS.insert(tx, row)
    for leg in legs:
        invoice = INVOICES.get(tx, leg.row.id)
        moves.refuse_closed(tx, invoice, row.date)
        of_day = PaymentRate(None)
        if leg.amount.minor > 0:
            of_day = payments.rate_of_payment(tx, invoice, None, row.date) if rate is None else PaymentRate(rate)
        paid = InvoicePayment(
            position=max((paid.position for paid in invoice.payments), default=0) + 1,
            date=row.date,
            amount=leg.amount,
            bank_transaction_id=row.bank_transaction_id,
            method=row.method,
            reference=row.reference,
            fx_rate=of_day.text or UNSET,
            fx_rate_source=of_day.source or UNSET,
            client_payment_id=row.id,
        )
        invoices.insert_payment(tx, invoice.id, paid)
        paid_total = invoice.paid_total + leg.amount
        moves.settle(tx, replace(invoice, paid_total=paid_total), row.date, grows=leg.amount.minor > 0)
    return CLIENT_PAYMENTS.get(tx, row.id)


# -- its parts of a bank transaction


def _take(tx: WriteTx, setting: _Setting, legs: Sequence[Leg], over: Money, rate: str | None) -> None:
    """Allocate a part of the bank line to each invoice, and one to what is on account. Amounts are above zero.

    Raises `Problem`: `period_closed`, `limit_reached`, `validation_failed`.
    """
    line = setting.line
    if line is None:
        return
    errors = [
        FieldError(_LINE, "conflict", f"It pays the invoice {leg.row.number} already: take that payment back first.")
        for leg in legs
        if payments.takes(tx, line.id, leg.row.id)
    ]
    if errors:
        raise invalid(*errors)
    parts = []
    before = after = 0
    for leg in (*legs, None):
        amount = over if leg is None else leg.amount
        after += amount.minor
        part = Part("not_pnl", "invoice_payment", legal_entity_id=setting.legal_entity_id)
        part = part._replace(amount=_in_line(line, after, amount, rate) - _in_line(line, before, amount, rate))
        before = after
        if leg is None:
            part = part._replace(on_account=True)
        else:
            part = part._replace(invoice_id=leg.row.id, business_id=leg.row.business_id)
        if part.amount:
            parts.append(part)
    allocations.allocate(tx, line, parts)


def _in_line(line: BankLine, minor: int, of: Money, rate: str | None) -> int:
    """Minor units of the invoices' currency in that of a bank line, rounded half up."""
    if line.currency == of.currency or rate is None:
        return minor
    return convert(minor, rate, of.currency, line.currency)


def _give_back(tx: WriteTx, row: ClientPayment, line_id: str) -> None:
    """Take back what a payment or refund took of a bank line. Raises `Problem` `period_closed`."""
    invoice_ids = {None, *(part.invoice_id for part in row.invoices)}
    parts = [
        part
        for part in allocations.of_line(tx, line_id)
        if part.purpose == "invoice_payment" and part.invoice_id in invoice_ids
    ]
    allocations.remove(tx, *parts)
