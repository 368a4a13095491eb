"""Which invoices money of a client is for, and which credit it is taken of (domain model B5). Reads only.

Chosen: what names no invoices pays those on which money is due by the oldest tax point first, as VAT attributes a
payment that the payer did not (VAT Regulations 1995 reg. 170). Credit is taken of invoices that were paid too much by
the oldest first, and then of what is on account.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow
from gatewayd.areas.accounting.invoices.states import OPEN
from gatewayd.areas.accounting.owed import rows
from gatewayd.areas.accounting.owed.rows import Account
from gatewayd.areas.accounting.owed.shapes import MOST_INVOICES, InvoiceShare
from gatewayd.errors import FieldError, either, invalid, invalid_field
from gatewayd.money import Money
from gatewayd.store import ReadTx


class Leg(NamedTuple):
    """How much is for an invoice; below zero, how much is taken of what was paid too much on it."""

    row: InvoiceRow
    amount: Money


class Taken(NamedTuple):
    """What is taken of a client's credit: of invoices, below zero each, and of what is on account."""

    legs: list[Leg]
    on_account: Money


def pays(tx: ReadTx, account: Account, shares: Sequence[InvoiceShare] | None, amount: Money) -> list[Leg]:
    """What an amount pays: the invoices that are named, else those that are due. It may be more than they are.

    Raises `Problem` `validation_failed` with all that is wrong.
    """
    if shares is None:
        return list(_oldest(tx, account, amount))
    errors: list[FieldError] = []
    legs: list[Leg] = []
    left = amount
    for index, share in enumerate(shares):
        leg = _named(tx, account, share, left, f"invoices[{index}].", errors)
        if leg is None:
            continue
        if any(leg.row.id == other.row.id for other in legs):
            errors.append(FieldError(f"invoices[{index}].invoiceId", "conflict", "It is named twice: name it once."))
        legs.append(leg)
        left -= leg.amount
    if not errors and left.minor < 0:
        errors.append(FieldError("invoices", "out_of_range", f"They come to {amount - left}, and {amount} was paid."))
    if errors:
        raise invalid(*errors)
    return legs


def _oldest(tx: ReadTx, account: Account, amount: Money) -> Iterator[Leg]:
    left = amount
    for invoice_id in rows.open_invoices(tx, account, MOST_INVOICES):
        if left.minor <= 0:
            return
        row = INVOICES.get(tx, invoice_id)
        part = min(left, row.balance_due)
        left -= part
        yield Leg(row, part)


def _named(
    tx: ReadTx, account: Account, share: InvoiceShare, left: Money, path: str, errors: list[FieldError]
) -> Leg | None:
    """What is for one invoice. None: something is wrong with it, which is told."""
    row = INVOICES.find(tx, share.invoice_id)
    if row is None:
        errors.append(FieldError(f"{path}invoiceId", "unknown_reference", "There is no such invoice."))
        return None
    if wrong := _not_payable(account, row):
        errors.append(FieldError(f"{path}invoiceId", *wrong))
        return None
    most = _most(row)
    if share.amount is None:
        amount = min(row.balance_due, left)
    else:
        try:
            amount = Money.of(share.amount, row.currency)
        except ValueError as error:
            errors.append(FieldError(f"{path}amount", "invalid_decimal", f"{error}."))
            return None
    if not Money(0, row.currency) < amount <= most:
        message = f"Of the invoice {most} is unpaid: expected more than 0 and no more than that."
        if amount.minor <= 0 and share.amount is None:
            message = "Nothing is left for it: how much of it was paid?"
        errors.append(FieldError(f"{path}amount", "out_of_range", message))
    return Leg(row, amount)


def _not_payable(account: Account, row: InvoiceRow) -> tuple[str, str] | None:
    """Code and message of why an invoice cannot be paid from an account; None: it can."""
    if row.kind == "credit_note":
        return "conflict", f"A credit note takes no payment: name its invoice, {row.credits_invoice_id}."
    if row.client_id != account.client_id:
        return "conflict", f"It is made out to {row.client_id}: expected an invoice of the client."
    if (row.legal_entity_id or "") != account.of:
        return "conflict", "Another legal entity sold: expected an invoice of the same."
    if row.currency != account.currency:
        return "currency_mismatch", f"It is in {row.currency}: expected one in {account.currency}."
    if row.status not in OPEN:
        return "conflict", f"It is {row.status}: expected one that is {either(OPEN)}."
    return None


def _most(row: InvoiceRow) -> Money:
    """What is unpaid of an invoice, with what was written off of it."""
    return row.gross_total - row.cis_deduction - row.paid_total - row.credited_total


def credit(tx: ReadTx, account: Account, date: str) -> Money:
    """All of a client's credit that may be taken on an ISO date."""
    overpaid = (INVOICES.get(tx, id_) for id_ in rows.overpaid_invoices(tx, account))
    of_invoices = sum(-row.balance_due.minor for row in overpaid if _last_day(tx, row) <= date)
    return Money(of_invoices + max(0, rows.on_account(tx, account, date)), account.currency)


def due(tx: ReadTx, account: Account) -> Money:
    """What is due on the invoices that an amount pays which names none."""
    opened = (INVOICES.get(tx, id_) for id_ in rows.open_invoices(tx, account, MOST_INVOICES))
    return Money(sum(row.balance_due.minor for row in opened), account.currency)


def takes(tx: ReadTx, account: Account, amount: Money, date: str) -> Taken:
    """Of what an amount of credit is taken on an ISO date. Raises `Problem` `validation_failed` for more than it is."""
    there = credit(tx, account, date)
    if amount > there:
        message = f"The client has {there} {account.currency} of credit on {date}: expected no more."
        raise invalid_field("amount", "out_of_range", message)
    legs: list[Leg] = []
    left = amount
    for invoice_id in rows.overpaid_invoices(tx, account):
        row = INVOICES.get(tx, invoice_id)
        if left.minor > 0 and _last_day(tx, row) <= date:
            part = min(left, _negative(row.balance_due))
            left -= part
            legs.append(Leg(row, _negative(part)))
    return Taken(legs, _negative(left))


def _negative(amount: Money) -> Money:
    return Money(-amount.minor, amount.currency)


def _last_day(tx: ReadTx, row: InvoiceRow) -> str:
    """The ISO date of the last payment or credit note of an invoice: what is over is not known before."""
    return max([rows.latest_credit_note(tx, row.id), *(paid.date for paid in row.payments)])
