"""The moves of an invoice: enter, issue, mark as sent, rate, void, delete a draft (domain model B5).

Operations of the API, the command line, imports and payment matching make them. Each move is a plain function of one
write transaction. Money that comes for an invoice is in `payments`; what it makes of the state goes through `settle`.

An invoice in another currency than its seller's is worth what it was on its supply date: for VAT (VATA 1994 Sch 6 para
11), and for profit. Who gives no rate has one taken that is known of the day, and told; where none is known, it is
asked for.

What a VAT invoice has to print of the parties stands in the VAT Regulations 1995 reg. 14(1). It is one where the seller
is registered for VAT on the supply date and sells anything that VAT could be on.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import crediting, drafts, numbers, particulars, rows, states
from gatewayd.areas.accounting.invoices.drafts import Draft, Parties
from gatewayd.areas.accounting.invoices.line_shapes import LineRow
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import (
    ClientSnapshot,
    InvoiceRow,
    InvoiceWarning,
    SellerSnapshot,
    TakenRateSource,
)
from gatewayd.areas.accounting.invoices.states import Settlement
from gatewayd.contract.wire import Address, project
from gatewayd.errors import FieldError, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.calendar.period_locks import LockState
from gatewayd.ledger.exchange import exchange_rates
from gatewayd.ledger.exchange.exchange_rates import Pair
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.ledger.vat.vat_rates import VatCode
from gatewayd.money import Money, is_decimal
from gatewayd.store import ReadTx, WriteTx

MAX_REASON_CHARACTERS = 500  # Chosen
_TAKEN: Final[dict[str, TakenRateSource]] = {"recorded": "recorded", "hmrc": "hmrc"}
_NO_VAT_ON: Final = frozenset[VatCode]({"exempt", "outside_scope"})


class TakenRate(NamedTuple):
    """A rate of exchange that nobody gave: units of the seller's currency, and the ISO date that it is of."""

    text: str
    source: TakenRateSource
    date: str


# -- a new one, and one that is issued


def enter(tx: WriteTx, draft: Draft, *, issued: bool, number: str | None) -> bytes:
    """Store a new invoice, as a draft or issued at once. Returns its whole JSON, with what is to be said of it.

    `number` is what an imported invoice brings. Raises `Problem` as to issue does, and `validation_failed` where a
    credit note takes back more than was charged.
    """
    row, original = draft.row, draft.parties.original
    if issued:
        row = _as_issued(tx, row, draft.parties, number)
    elif original is not None:
        crediting.refuse_excess(tx, row, original)
    wire = rows.insert(tx, row, draft.lines, warnings(row, draft.lines))
    if original is not None and issued:
        _update_credited(tx, original.id)
    return wire


def _as_issued(tx: WriteTx, row: InvoiceRow, parties: Parties, number: str | None) -> InvoiceRow:
    """`row`, not stored yet, as issued: numbered and with the parties frozen as they will be printed.

    `number` is what an imported invoice brings; None allots the next of the seller's sequence. Raises `Problem`:
    `period_closed`, `number_taken`, `invalid_state` (the numbers are used up), `validation_failed` (a foreign invoice
    without a rate of exchange, where none is known, a VAT invoice without the seller's address unless it was issued
    elsewhere).
    """
    refuse_closed(tx, row, row.issue_date, row.supply_date)
    errors: list[FieldError] = []
    row = gathered(errors, _rated, tx, row) or row
    if parties.original is not None:
        gathered(errors, crediting.refuse_excess, tx, row, parties.original)
    issued = replace(
        row,
        status="issued",
        client_snapshot=project(parties.client, ClientSnapshot),
        seller_snapshot=seller_snapshot(parties.seller, row.supply_date),
    )
    if number is None:
        gathered(errors, _refuse_without_address, issued)
    if row.quote_id:
        gathered(errors, _refuse_beyond_quote, tx, row)
    if errors:
        raise invalid(*errors)
    if number is None:
        number = numbers.allot(tx, row.seller_key, row.kind, row.issue_date)
    else:
        numbers.take(tx, row.seller_key, number)
    return replace(issued, number=number)


def seller_snapshot(seller: Seller, supply_date: str) -> SellerSnapshot:
    """The seller as it is printed, with the VAT number that it has on an ISO date."""
    return SellerSnapshot(
        name=seller.name,
        address=None if seller.address is None else msgspec.json.decode(seller.address, type=Address),
        vat_number=seller.vat_number if seller.registered_on(supply_date) else None,
        company_number=seller.company_number,
    )


def _refuse_without_address(row: InvoiceRow) -> None:
    """Raises `Problem` `validation_failed` for a VAT invoice that would not say where its seller is."""
    seller = row.seller_snapshot
    if seller is not None and seller.address is None and _is_vat_invoice(row):
        message = (
            f"A VAT invoice prints the seller's address: give one to the legal entity {row.legal_entity_id},"
            " as `address` of legalEntity.updateLegalEntity."
        )
        raise invalid_field("legalEntityId", "seller_address_required", message)


def _refuse_beyond_quote(tx: ReadTx, row: InvoiceRow) -> None:
    """Raises `Problem` `validation_failed` where the invoices of a quote would come to more than it."""
    left = rows.left_of_quote(tx, row)
    if row.gross_total > left:
        message = f"Of the quote {left} is left to invoice, VAT included: expected no more."
        raise invalid_field("lines", "out_of_range", message)


def _is_vat_invoice(row: InvoiceRow) -> bool:
    """True for an issued document by which VAT is charged or taken back, be it at nothing or the client's to pay."""
    registered = row.seller_snapshot is not None and row.seller_snapshot.vat_number is not None
    return registered and any(group.vat_code not in _NO_VAT_ON for group in row.vat_summary)


def warnings(row: InvoiceRow, lines: Sequence[LineRow]) -> list[InvoiceWarning]:
    """What to tell of an invoice as it is issued; nothing of a draft."""
    descriptions = [line.description for line in lines]
    found = [*_address_warnings(row), *particulars.warnings(row, descriptions), *rate_warnings(row)]
    return [*found, *particulars.print_warnings(row, descriptions)]


def _address_warnings(row: InvoiceRow) -> list[InvoiceWarning]:
    """What an issued document lacks, and is issued all the same: the client may get on without it."""
    client = row.client_snapshot
    if client is None or client.billing_address is not None or not _is_vat_invoice(row):
        return []
    message = "A VAT invoice prints the client's address: the client has no `billingAddress`."
    return [InvoiceWarning(path="clientSnapshot.billingAddress", code="client_address_missing", message=message)]


def rate_warnings(row: InvoiceRow) -> list[InvoiceWarning]:
    """What to tell of an invoice whose rate nobody gave."""
    if not row.fx_rate_source:
        return []
    whose = "HMRC's of the month from" if row.fx_rate_source == "hmrc" else "recorded on"
    rate = f"1 {row.currency} is {row.fx_rate} {row.base_currency}"
    message = f"No `fxRate` was given: {rate}, {whose} {row.fx_rate_date}."
    return [InvoiceWarning(path="fxRate", code="fx_rate_taken", message=message)]


def issue(tx: WriteTx, invoice_id: str, fx_rate: str | None = None) -> InvoiceRow:
    """Issue a draft. Registration, reverse charge, period and credit are checked again, as they are today, and what
    nobody chose is computed again: VAT, and the CIS deduction.

    `fx_rate` is decimal text, units of the seller's currency for one of the invoice's, and goes before the draft's own.

    Raises `Problem`: `not_found`, `invalid_state`, `period_closed`, `validation_failed`.
    """
    row = INVOICES.get(tx, invoice_id)
    states.check("issue", row.status)
    parties = drafts.parties_of(tx, row)
    row = _computed_anew(tx, row, parties)
    if fx_rate is not None:
        row = _at_given_rate(row, fx_rate)
    row = rows.update(tx, _as_issued(tx, row, parties, None))
    if row.credits_invoice_id is not None:
        _update_credited(tx, row.credits_invoice_id)
    return row


def _computed_anew(tx: WriteTx, row: InvoiceRow, parties: Parties) -> InvoiceRow:
    """A draft by today's facts of seller and client, and after what other credit notes took back meanwhile.

    A credit note that names no line stays: it takes back what was charged, rightly or not. Raises `Problem`
    `validation_failed` for a code that was asked for and is not allowed any more, or where less is left to credit.
    """
    stored = rows.lines_of(tx, row)
    if row.kind == "credit_note" and not any(line.credits_line for line in stored):
        return row
    request = drafts.request_of(row, stored)
    if parties.seller.base_currency != row.base_currency:
        request = replace(request, fx_rate=None)
    draft = drafts.draft(tx, request, parties)
    if draft.lines == stored and rows.is_same(row, draft.row):
        return row
    rows.rewrite(tx, row, draft.row, draft.lines)
    return INVOICES.get(tx, row.id)


# -- what becomes of it


def mark_sent(tx: WriteTx, invoice_id: str) -> InvoiceRow:
    """Record that an issued invoice went out. Raises `Problem`: `not_found`, `invalid_state`."""
    row = INVOICES.get(tx, invoice_id)
    states.check("send", row.status)
    return rows.update(tx, replace(row, status="sent", sent_at=tx.now))


def set_rate(tx: WriteTx, invoice_id: str, text: str | None) -> InvoiceRow:
    """Give an issued invoice the rate of exchange that it lacks, and credit notes against it that lack one too.

    `text` None takes what is known of the supply date. Where there is a rate, another takes its place unless VAT was
    printed at it. Raises `Problem`: `not_found`, `invalid_state`, `period_closed` (a day of it, of its payments or
    credit notes), `validation_failed`.
    """
    row = INVOICES.get(tx, invoice_id)
    states.check("rate", row.status)
    if not is_foreign(row):
        raise invalid_field("fxRate", "conflict", f"{row.currency} is the seller's own currency: it needs no rate.")
    if row.fx_rate is not None and row.vat_total:
        raise invalid_field("fxRate", "conflict", f"Its VAT was printed at {row.fx_rate}: credit it instead.")
    refuse_closed(tx, row, row.issue_date, row.supply_date, *(paid.date for paid in row.payments))
    if row.write_off:
        refuse_closed(tx, row, row.write_off.date, row.write_off.vat_relief_date or row.write_off.date)
    rated = _rated(tx, replace(row, fx_rate=None)) if text is None else _at_given_rate(row, text)
    for note_id in rows.credit_notes(tx, row):
        note = INVOICES.get(tx, note_id)
        refuse_closed(tx, note, note.issue_date, note.supply_date)
        follows = note.fx_rate in (None, row.fx_rate) or (note.fx_rate_source and not note.vat_total)
        if follows and rated.fx_rate is not None:
            rows.update(tx, _at_given_rate(note, rated.fx_rate))
    return rows.update(tx, rated)


def void(tx: WriteTx, invoice_id: str, reason: str) -> InvoiceRow:
    """Void an invoice or credit note that was issued by mistake. Its number stays taken.

    Raises `Problem`: `not_found`, `invalid_state`, `period_closed` (its VAT period is filed), `validation_failed`.
    """
    row = INVOICES.get(tx, invoice_id)
    if not reason.strip() or len(reason) > MAX_REASON_CHARACTERS:
        raise invalid_field("reason", "out_of_range", f"Expected 1 to {MAX_REASON_CHARACTERS} characters.")
    days = (row.issue_date, row.supply_date)
    states.refuse_void(row.status, any(_lock_on(tx, row, day) == "closed" for day in days))
    if row.write_off:
        message = "It was written off: take that back first, with `accounting.reverseWriteOff`."
        raise invalid_state(message, "written_off", ())
    if row.payments:  # what came and went back still counts on its days
        message = "Money came for it and went back: take that back first, with `accounting.removeClientPayment`."
        raise invalid_state(message, row.status, ())
    refuse_closed(tx, row, *days)  # what is being closed
    row = rows.update(
        tx, replace(row, status="void", balance_due=Money(0, row.currency), voided_at=tx.now, void_reason=reason)
    )
    if row.credits_invoice_id is not None:
        _update_credited(tx, row.credits_invoice_id)
    return row


def delete_draft(tx: WriteTx, invoice_id: str) -> None:
    """Delete a draft, which never had a number. Raises `Problem`: `not_found`, `invalid_state`."""
    states.check("delete", INVOICES.get(tx, invoice_id).status)
    rows.delete(tx, invoice_id)


def _update_credited(tx: WriteTx, invoice_id: str) -> None:
    """Bring an invoice up to date after a credit note against it was issued or voided."""
    row = INVOICES.get(tx, invoice_id)
    _, credited_total = rows.credited(tx, row)
    if credited_total != row.credited_total:
        grows = credited_total > row.credited_total
        settle(tx, replace(row, credited_total=credited_total), tx.today, grows=grows)


def settle(tx: WriteTx, row: InvoiceRow, date: str, *, grows: bool) -> InvoiceRow:
    """Keep new totals of what was paid and credited, with the state and balance that follow from them."""
    settlement = Settlement(row.gross_total - row.cis_deduction, row.paid_total + row.credited_total)
    move = states.after_settlement if grows else states.after_unsettlement
    status = move(row.status, settlement)
    paid_date = (row.paid_date or date) if status == "paid" else None
    return rows.update(tx, _due(tx, replace(row, status=status, paid_date=paid_date), settlement.balance))


def _due(tx: ReadTx, row: InvoiceRow, unpaid: Money) -> InvoiceRow:
    """The invoice with what is due of what is unpaid: less what was written off."""
    off = rows.write_off_of(tx, row)
    return replace(row, balance_due=unpaid - off.unpaid if off else unpaid)


def settle_write_off(tx: WriteTx, row: InvoiceRow) -> InvoiceRow:
    """Keep what is due after something was written off, or is due again. The state stays: nothing was paid."""
    return rows.update(tx, _due(tx, row, row.gross_total - row.cis_deduction - row.paid_total - row.credited_total))


# -- closed periods


def refuse_closed(tx: WriteTx, row: InvoiceRow, *days: str) -> None:
    """Raises `Problem` `period_closed` where one of the ISO days is in a closed period of the seller or business."""
    for day in dict.fromkeys(days):
        lock = _lock_on(tx, row, day)
        if lock is not None:
            period_locks.refuse_lock(tx, day, lock)


def _lock_on(tx: ReadTx, row: InvoiceRow, day: str) -> LockState | None:
    """The lock on an ISO day of the seller, or of the business that the invoice counts in.

    That is the one it names, else the only one of the seller on the supply date; of a credit note those of the invoice
    that it credits.
    """
    locks = period_locks.locks_on(tx, row.legal_entity_id, day)
    if not locks:
        return None
    counted = row if row.credits_invoice_id is None else INVOICES.get(tx, row.credits_invoice_id)
    business_id = counted.business_id
    if business_id is None and counted.legal_entity_id is not None:
        business_id = businesses.sole_on(businesses.of_entity(tx, counted.legal_entity_id), counted.supply_date)
    return period_locks.strictest(locks, business_id)


# -- rates of exchange


def is_foreign(row: InvoiceRow) -> bool:
    """Whether an invoice is in another currency than its seller's books."""
    return row.currency != row.base_currency


def _rated(tx: ReadTx, row: InvoiceRow) -> InvoiceRow:
    """The invoice with a rate: its own, else what is known of its supply date.

    Raises `Problem` `validation_failed` where nothing is known.
    """
    if not is_foreign(row) or row.fx_rate is not None:
        return row
    rate = taken_rate(tx, row, row.supply_date, "invoice")
    return replace(_converted_at(row, rate.text), fx_rate_source=rate.source, fx_rate_date=rate.date)


def taken_rate(tx: ReadTx, row: InvoiceRow, day: str, subject: str) -> TakenRate:
    """What is known of an ISO date, for an invoice in another currency than its seller's; `subject` is what lacks it.

    Raises `Problem` `validation_failed` where nothing is known.
    """
    pair = Pair(row.currency, row.base_currency)
    known = exchange_rates.for_day(tx, pair, day)
    if known is None:
        what = f"The {subject} is in {row.currency} and the books are in {row.base_currency}"
        raise invalid_field("fxRate", "required", exchange_rates.unknown(what, pair))
    return TakenRate(known.text, _TAKEN[known.source or "recorded"], known.date)


def _at_given_rate(row: InvoiceRow, text: str) -> InvoiceRow:
    """The invoice at a rate that somebody gives, decimal text. Raises `Problem` `validation_failed`."""
    return replace(_converted_at(row, given_rate(row, text)), fx_rate_source=None, fx_rate_date=None)


def given_rate(row: InvoiceRow, text: str) -> str | None:
    if not is_decimal(text):
        raise invalid_field("fxRate", "invalid_decimal", "A rate of exchange is a decimal such as 0.8412.")
    return drafts.rate_of_exchange(text, row.currency, row.base_currency)


def _converted_at(row: InvoiceRow, fx_rate: str | None) -> InvoiceRow:
    vat = drafts.vat_in_base(row.vat_total, fx_rate, row.base_currency)
    paper = row.pdf_document_id if fx_rate == row.fx_rate else None  # one that was kept says another rate, or none
    return replace(row, fx_rate=fx_rate, vat_total_base=vat, pdf_document_id=paper)
