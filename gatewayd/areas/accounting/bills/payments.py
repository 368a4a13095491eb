"""Money that is paid on bills, or comes back: payments by themselves, or as parts of bank transactions (Domain B4, B5).

With a bank transaction a payment takes its part of that, and gives it back when it is removed. The bill counts in
profit and loss and VAT itself, so that the part is `not_pnl`. Where more was paid than is due, such as after a credit
note, the next payment is money back: its amount is kept below zero.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.bills import drafting, moves, rows
from gatewayd.areas.accounting.bills.drafting import Rate
from gatewayd.areas.accounting.bills.rows import BILLS
from gatewayd.areas.accounting.bills.shapes import BillPayment, BillRow, PaidBill
from gatewayd.errors import FieldError, Problem, either, gathered, invalid, invalid_field, invalid_state, not_found
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.exchange.exchange_rates import Pair, text_of
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.allocated_money import convert
from gatewayd.money import Money, exponent
from gatewayd.store import ReadTx, WriteTx

_PATH: Final = "bankTransactionId"
_SELECT_TAKEN = f"{ALLOCATIONS.select} AND source_id = :source_id AND bill_id = :bill_id"


class Payment(NamedTuple):
    """Money paid. `amount` is decimal text, None for all that is due; `date` is ISO, None for today.

    With `bank_transaction_id` None is no more than what is left of that, and its day. `fx_rate` is decimal text, units
    of the business's currency for one of the bill's; None is what the bank transaction was, else what is known.
    """

    amount: str | None = None
    date: str | None = None
    method: str | None = None
    reference: str | None = None
    bank_transaction_id: str | None = None
    fx_rate: str | None = None


def pay(tx: WriteTx, bill_id: str, payment: Payment) -> BillRow:
    """Record money paid on a bill; where more was paid than is due, money that came back.

    Raises `Problem`: `not_found`, `invalid_state`, `period_closed`, `limit_reached` (the bank transaction's parts),
    `validation_failed`.
    """
    row = BILLS.get(tx, bill_id)
    moves.require_open(row)
    sign = -1 if row.balance_due.minor < 0 else 1
    errors: list[FieldError] = []
    line_id = payment.bank_transaction_id
    line = None if line_id is None else gathered(errors, _paying_line, tx, row, line_id, sign)
    date = payment.date or (tx.today if line is None else line.date)
    errors += _date_mistakes(tx, line, date)
    amount = None if errors else gathered(errors, _amount, row, payment.amount, line)
    if errors or amount is None:
        raise invalid(*errors)
    moves.refuse_closed(tx, row, date)
    rate, part = _rate(tx, row, amount, line, (payment.fx_rate, date))
    if line is not None:
        _take(tx, line, row, part)
    position = max((paid.position for paid in rows.payments_of(tx, row)), default=0) + 1
    paid = BillPayment(
        position=position,
        date=date,
        amount=Money(sign * amount.minor, row.currency),
        bank_transaction_id=line_id,
        method=payment.method,
        reference=payment.reference,
        fx_rate=rate.text,
        fx_rate_source=rate.source,
    )
    rows.insert_payment(tx, row.id, paid)
    return moves.settle(tx, replace(row, paid_total=row.paid_total + paid.amount), date)


def pay_several(tx: WriteTx, bills: Sequence[PaidBill], payment: Payment) -> list[BillRow]:
    """One payment of several bills, all or none. Raises `Problem` as `pay` does, with paths of `bills[i]`."""
    seen: set[str] = set()
    paid = []
    for index, bill in enumerate(bills):
        path = f"bills[{index}]."
        if bill.bill_id in seen:
            raise invalid_field(f"{path}billId", "conflict", "Each bill stands in a payment once.")
        seen.add(bill.bill_id)
        if BILLS.find(tx, bill.bill_id) is None:
            raise invalid(unknown_reference(f"{path}billId", "bill"))
        try:
            paid.append(pay(tx, bill.bill_id, payment._replace(amount=bill.amount)))
        except Problem as problem:
            if problem.code != "validation_failed":
                raise
            raise invalid(*(_of_one(path, error) for error in problem.errors)) from None
    return paid


def _of_one(path: str, error: FieldError) -> FieldError:
    """What is wrong with the amount is of one bill; the rest is of the payment."""
    return FieldError(path + error.path, error.code, error.message) if error.path == "amount" else error


def unpay(tx: WriteTx, bill_id: str, position: int) -> BillRow:
    """Take back a payment that bounced or was matched wrongly. `position` counts its payments from 1.

    A bank transaction gets its part back. Raises `Problem`: `not_found` (no such bill or payment), `invalid_state`
    (more came back than would be left paid), `period_closed`.
    """
    row = BILLS.get(tx, bill_id)
    payments = {paid.position: paid for paid in rows.payments_of(tx, row)}
    if position not in payments:
        raise not_found("payment")
    paid = payments[position]
    if paid.amount > row.paid_total:
        raise invalid_state("What came back of it has to be taken back first.", row.status, ())
    moves.refuse_closed(tx, row, paid.date)
    rows.delete_payment(tx, bill_id, position)
    if paid.bank_transaction_id is not None:
        taken = tx.rows(_SELECT_TAKEN, source_id=paid.bank_transaction_id, bill_id=bill_id)
        allocations.remove(tx, *(ALLOCATIONS.read(tx, values) for values in taken))
    return moves.settle(tx, replace(row, paid_total=row.paid_total - paid.amount), tx.today)


def _date_mistakes(tx: ReadTx, line: BankLine | None, date: str) -> list[FieldError]:
    if line is not None and date != line.date:  # the same money on two days would count in two periods
        message = f"It is that of the bank transaction: expected {line.date}, or leave this out."
        return [FieldError("date", "conflict", message)]
    if date > tx.today:
        return [FieldError("date", "out_of_range", f"It lies ahead: expected {tx.today} or an earlier day.")]
    return []


def _amount(row: BillRow, text: str | None, line: BankLine | None) -> Money:
    """How much of the bill is paid, or comes back, above zero. Raises `Problem` `validation_failed`."""
    due = Money(abs(row.balance_due.minor), row.currency)
    if text is None and line is not None and line.currency != row.currency:
        message = f"How much of the bill's {row.currency} did the {line.currency} of the bank transaction pay?"
        raise invalid_field("amount", "required", message)
    try:
        amount = (due if line is None else min(due, line.rest)) if text is None else Money.of(text, row.currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if amount.minor <= 0:
        message = "Nothing of the bank transaction is left." if text is None else "Expected more than 0."
        raise invalid_field("amount", "out_of_range", message)
    if row.balance_due.minor < 0 and amount > due:
        raise invalid_field("amount", "out_of_range", f"{due} was paid too much: expected no more to come back.")
    return amount


def _rate(
    tx: ReadTx, row: BillRow, amount: Money, line: BankLine | None, given: tuple[str | None, str]
) -> tuple[Rate, Money]:
    """At what rate a payment counts, and how much of the bank line it is. `given` is a rate, and the ISO date.

    Of a line in the business's currency, all that is left of it unless a rate is given. Raises `Problem`
    `validation_failed`.
    """
    text, date = given
    pair = Pair(row.currency, row.base_currency)
    if line is None or line.currency == row.currency:
        return drafting.rate_of(tx, text, pair, date, "payment"), amount
    if text is not None:
        rate = drafting.rate_of(tx, text, pair, date, "payment")
        assert rate.text is not None  # the currencies differ
        return rate, Money(convert(amount.minor, rate.text, row.currency, line.currency), line.currency)
    if not line.rest.minor:
        raise invalid_field("amount", "out_of_range", "Nothing of the bank transaction is left.")
    scale = Fraction(10) ** (exponent(row.currency) - exponent(line.currency))
    return Rate(text_of(Fraction(line.rest.minor, amount.minor) * scale)), line.rest


def _paying_line(tx: ReadTx, row: BillRow, line_id: str, sign: int) -> BankLine:
    """The bank transaction that pays a bill. `sign` is -1 where money comes back.

    Raises `Problem`: `invalid_state` (it is not booked), `validation_failed`.
    """
    line = bank_lines.find(tx, line_id)
    if line is None:
        raise invalid(unknown_reference(_PATH, "bank_transaction"))
    allocations.refuse_unbooked(line)
    if line.amount * sign > 0:
        way = "Money went out with it: expected one with which it came back."
        if sign > 0:
            way = "Money came in with it: expected one with which it went out."
        raise invalid_field(_PATH, "conflict", way)
    if line.currency not in (row.currency, row.base_currency):
        currencies = either(tuple(dict.fromkeys((row.currency, row.base_currency))))
        raise invalid_field(_PATH, "currency_mismatch", f"It is in {line.currency}: expected one in {currencies}.")
    if line.legal_entity_id not in (None, row.legal_entity_id):
        raise invalid_field(_PATH, "conflict", "Its account belongs to another legal entity than the bill.")
    if tx.row(_SELECT_TAKEN, source_id=line.id, bill_id=row.id) is not None:
        raise invalid_field(_PATH, "conflict", "It pays this bill already: take that payment back first.")
    return line


def _take(tx: WriteTx, line: BankLine, row: BillRow, amount: Money) -> None:
    """Allocate a part of a bank line to the bill. Raises `Problem`: `period_closed`, `limit_reached`, and so on."""
    if line.rest < amount:
        message = f"{line.rest} {line.currency} of the bank transaction is left: expected no more."
        raise invalid_field("amount", "out_of_range", message)
    part = Part(
        "not_pnl",
        "bill_payment",
        business_id=row.business_id,
        amount=amount.minor,
        bill_id=row.id,
        legal_entity_id=row.legal_entity_id,
    )
    allocations.allocate(tx, line, [part])
