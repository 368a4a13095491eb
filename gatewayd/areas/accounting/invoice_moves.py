"""The moves of an invoice: issue, mark as sent, pay, unpay, void, delete a draft (domain model B5).

The API creates invoices; the operator, imports and payment matching move them. Each move is a plain function of one
write transaction. Money that is no longer due, or due again, always goes through `invoice_states`.
"""

from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting import clients, invoice_drafting, invoice_lines, invoice_numbers, invoice_rows
from gatewayd.areas.accounting import invoice_states as states
from gatewayd.areas.accounting.clients import ClientRow
from gatewayd.areas.accounting.invoice_drafting import Parties, refuse_excess_credit
from gatewayd.areas.accounting.invoice_rendering import InvoiceRow, PaymentRow, at_hand
from gatewayd.areas.accounting.invoice_shapes import ClientSnapshot, SellerSnapshot
from gatewayd.areas.accounting.invoice_states import Settlement
from gatewayd.areas.accounting.invoice_totals import fits
from gatewayd.contract.wire import Address, encode
from gatewayd.errors import Problem, invalid, invalid_field, invalid_state, not_found
from gatewayd.ledger import period_locks
from gatewayd.ledger.sellers import Seller
from gatewayd.money import exponent, is_decimal, to_minor
from gatewayd.store import ReadTx, WriteTx

MAX_REASON_CHARACTERS = 500  # Chosen


class Payment(NamedTuple):
    """Money received. `amount` is decimal text, None for all that is due; `date` is ISO, None for today."""

    amount: str | None = None
    date: str | None = None
    method: str | None = None
    reference: str | None = None
    bank_transaction_id: str | None = None


def issued(tx: WriteTx, row: InvoiceRow, parties: Parties, number: str | None) -> InvoiceRow:
    """`row`, not stored yet, as issued: numbered and with the parties frozen as they will be printed.

    `number` is what an imported invoice brings; None allots the next of the seller's sequence. Raises `Problem`:
    `period_closed`, `number_taken`, `validation_failed` (a foreign invoice with VAT and no rate of exchange).
    """
    period_locks.refuse_closed(tx, row.legal_entity_id, row.issue_date, row.supply_date)
    if row.vat_total and row.fx_rate is None and row.currency != row.base_currency:
        raise invalid_field("fxRate", "required", f"The VAT is printed in {row.base_currency} too: at what rate?")
    if parties.original is not None:
        refuse_excess_credit(tx, row, parties.original)
    if number is None:
        number = invoice_numbers.allot(tx, row.seller_key, row.kind)
    else:
        _refuse_taken(tx, row.seller_key, number)
    return replace(
        row,
        status="issued",
        number=number,
        client_snapshot=_client_snapshot(parties.client),
        seller_snapshot=_seller_snapshot(parties.seller, row.supply_date),
    )


def credit_changed(tx: WriteTx, invoice_id: str) -> None:
    """Bring an invoice up to date after a credit note against it was issued or voided."""
    row = _get(tx, invoice_id)
    _, credited_total = invoice_rows.credited(tx, invoice_id)
    if credited_total != row.credited_total:
        grows = credited_total > row.credited_total
        _settle(tx, replace(row, credited_total=credited_total), tx.today, grows=grows)


def issue(tx: WriteTx, invoice_id: str, fx_rate: str | None = None) -> InvoiceRow:
    """Issue a draft. Registration, period and credit are checked again, as they are today.

    `fx_rate` is decimal text, units of the seller's currency for one of the invoice's, and goes before the draft's own.

    Raises `Problem`: `not_found`, `invalid_state`, `period_closed`, `validation_failed`.
    """
    row = _get(tx, invoice_id)
    states.check("issue", row.status)
    parties = _parties(tx, row)
    codes = [line.vat_code for line in invoice_rows.lines_of(tx, invoice_id)]
    errors = invoice_lines.registration_errors(codes, parties.seller.registered_on(row.supply_date))
    if errors and row.kind == "invoice":  # a credit takes back what was charged, rightly or not
        raise invalid(*errors)
    if fx_rate is not None:
        row = _at_rate(row, fx_rate)
    row = invoice_rows.update(tx, issued(tx, row, parties, None))
    if row.credits_invoice_id is not None:
        credit_changed(tx, row.credits_invoice_id)
    return row


def mark_sent(tx: WriteTx, invoice_id: str) -> InvoiceRow:
    """Record that an issued invoice went out. Raises `Problem`: `not_found`, `invalid_state`."""
    row = _get(tx, invoice_id)
    states.check("send", row.status)
    return invoice_rows.update(tx, replace(row, status="sent", sent_at=tx.now))


def pay(tx: WriteTx, invoice_id: str, payment: Payment) -> InvoiceRow:
    """Record money received. More than is due leaves a negative balance: what the client overpaid.

    Raises `Problem`: `not_found`, `invalid_state`, `validation_failed`.
    """
    row = _get(tx, invoice_id)
    if row.kind == "credit_note":
        raise invalid_state("A credit note takes no payment.", row.status, ())
    states.check_payment(row.status)
    amount = _paid_amount(row, payment.amount)
    date = payment.date or tx.today
    if date > tx.today:
        raise invalid_field("date", "out_of_range", "The payment is in the future.")
    if not fits(row.paid_total + amount, exponent(row.currency)):
        raise invalid_field("amount", "out_of_range", "The payments come to more than 13 whole digits.")
    position = max((kept.position for kept in invoice_rows.payments_of(tx, invoice_id)), default=0) + 1
    kept = PaymentRow(position, date, amount, payment.bank_transaction_id, payment.method, payment.reference)
    invoice_rows.insert_payment(tx, invoice_id, kept)
    return _settle(tx, replace(row, paid_total=row.paid_total + amount), date, grows=True)


def unpay(tx: WriteTx, invoice_id: str, position: int) -> InvoiceRow:
    """Take back a payment that bounced or was matched wrongly. `position` counts its payments from 1.

    Raises `Problem`: `not_found` (no such invoice or payment), `invalid_state`.
    """
    row = _get(tx, invoice_id)
    states.check("unsettle", row.status)
    amounts = {kept.position: kept.amount for kept in invoice_rows.payments_of(tx, invoice_id)}
    if position not in amounts:
        raise not_found("payment")
    invoice_rows.delete_payment(tx, invoice_id, position)
    return _settle(tx, replace(row, paid_total=row.paid_total - amounts[position]), tx.today, grows=False)


def void(tx: WriteTx, invoice_id: str, reason: str) -> InvoiceRow:
    """Void an invoice or credit note that was issued by mistake. Its number stays taken.

    Raises `Problem`: `not_found`, `invalid_state`, `period_closed` (its VAT period is filed), `validation_failed`.
    """
    row = _get(tx, invoice_id)
    if not reason.strip() or len(reason) > MAX_REASON_CHARACTERS:
        raise invalid_field("reason", "out_of_range", f"Expected 1 to {MAX_REASON_CHARACTERS} characters.")
    has_payments = row.paid_total != 0 or row.credited_total != 0
    is_filed = any(period_locks.is_closed(tx, row.legal_entity_id, date) for date in (row.issue_date, row.supply_date))
    states.refuse_void(row.status, has_payments, is_filed)
    row = invoice_rows.update(tx, replace(row, status="void", balance_due=0, voided_at=tx.now, void_reason=reason))
    if row.credits_invoice_id is not None:
        credit_changed(tx, row.credits_invoice_id)
    return row


def delete_draft(tx: WriteTx, invoice_id: str) -> None:
    """Delete a draft, which never had a number. Raises `Problem`: `not_found`, `invalid_state`."""
    states.check("delete", _get(tx, invoice_id).status)
    invoice_rows.delete(tx, invoice_id)


def _at_rate(row: InvoiceRow, text: str) -> InvoiceRow:
    if not is_decimal(text):
        raise invalid_field("fxRate", "invalid_decimal", "A rate of exchange is a decimal such as 0.8412.")
    fx_rate = invoice_drafting.rate_of_exchange(text, row.currency, row.base_currency)
    vat = invoice_drafting.vat_in_base(row.vat_total, fx_rate, row.currency, row.base_currency)
    return replace(row, fx_rate=fx_rate, vat_total_base=vat)


def _get(tx: ReadTx, invoice_id: str) -> InvoiceRow:
    row = invoice_rows.find(tx, invoice_id)
    if row is None:
        raise not_found("invoice")
    return row


def _parties(tx: ReadTx, row: InvoiceRow) -> Parties:
    client = clients.find(tx, row.client_id)
    assert client is not None  # a foreign key
    original = None if row.credits_invoice_id is None else _get(tx, row.credits_invoice_id)
    if original is not None and original.status not in states.CREDITABLE:
        message = f"The invoice it credits is {original.status}."
        raise invalid_state(message, original.status, tuple(sorted(states.CREDITABLE)))
    return Parties(invoice_drafting.seller_of(tx, row), client, original)


def _settle(tx: WriteTx, row: InvoiceRow, date: str, *, grows: bool) -> InvoiceRow:
    """Keep new totals of what was paid and credited, with the state and balance that follow from them."""
    settlement = Settlement(row.gross_total - row.cis_deduction, row.paid_total + row.credited_total)
    move = states.after_settlement if grows else states.after_unsettlement
    status = move(row.status, settlement)
    paid_date = (row.paid_date or date) if status == "paid" else None
    return invoice_rows.update(tx, replace(row, status=status, balance_due=settlement.balance, paid_date=paid_date))


def _paid_amount(row: InvoiceRow, text: str | None) -> int:
    try:
        amount = row.balance_due if text is None else to_minor(text, row.currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if amount <= 0:
        raise invalid_field("amount", "out_of_range", "Nothing is due." if text is None else "A payment is above zero.")
    return amount


def _refuse_taken(tx: WriteTx, seller_key: str, number: str) -> None:
    existing_id = invoice_numbers.holder(tx, seller_key, number)
    if existing_id is not None:
        message = f"The seller has an invoice {number} already: {existing_id}."
        raise Problem("number_taken", message, extra={"existingId": existing_id})


def _client_snapshot(client: ClientRow) -> str:
    return encode(
        ClientSnapshot(
            name=client.name,
            contact_name=client.contact_name,
            billing_address=_address(client.billing_address),
            vat_number=client.vat_number,
            company_number=client.company_number,
            country_code=client.country_code,
        )
    ).decode()


def _seller_snapshot(seller: Seller, supply_date: str) -> str:
    return encode(
        SellerSnapshot(
            name=seller.name,
            address=_address(seller.address),
            vat_number=seller.vat_number if seller.registered_on(supply_date) else None,
            company_number=seller.company_number,
        )
    ).decode()


def _address(text: str | None) -> Address | None:
    return None if text is None else at_hand(text, Address)
