"""From a request to a draft: who sells to whom, under which dates and currency, for which lines.

A draft is an `InvoiceRow` that is not stored yet. Whether it is also issued at once is `invoice_moves`' business.
"""

import datetime
import functools
from decimal import Decimal
from typing import NamedTuple

from gatewayd.areas.accounting import client_checks, clients, invoice_lines, invoice_rows, invoice_totals
from gatewayd.areas.accounting.clients import ClientRow
from gatewayd.areas.accounting.invoice_lines import TaxContext
from gatewayd.areas.accounting.invoice_rendering import InvoiceRow, LineRow, summary_text
from gatewayd.areas.accounting.invoice_shapes import CreateInvoice
from gatewayd.areas.accounting.invoice_states import CREDITABLE
from gatewayd.areas.accounting.invoice_totals import AmountsAre, Terms, Totals, VatRounding
from gatewayd.errors import FieldError, invalid, invalid_field, invalid_state
from gatewayd.ledger import references, sellers
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.ledger.sellers import Seller
from gatewayd.money import canonical, exponent, to_minor
from gatewayd.store import ReadTx, WriteTx

EARLIEST, LATEST = datetime.date(1973, 4, 1), datetime.date(2199, 12, 31)  # Chosen: VAT began in 1973


class Parties(NamedTuple):
    """Who sells to whom, and the invoice that is credited, if this is a credit note."""

    seller: Seller
    client: ClientRow
    original: InvoiceRow | None


class Dates(NamedTuple):
    """ISO dates."""

    issue: str
    supply: str
    due: str


class Figures(NamedTuple):
    """Everything about a draft that is money. `lines` are ready to be stored."""

    amounts_are: AmountsAre
    vat_rounding: VatRounding
    discount_amount: int
    totals: Totals
    vat_summary: str
    lines: list[LineRow]


class Draft(NamedTuple):
    """What is about to be stored, and what issuing it needs."""

    row: InvoiceRow
    lines: list[LineRow]
    parties: Parties


def draft(tx: WriteTx, request: CreateInvoice) -> Draft:
    """The draft a request describes.

    Raises `Problem` `validation_failed`, `invalid_state` (what is credited is a draft or void), and what an inline
    client raises.
    """
    _refuse_conflicts(request)
    _refuse_unknown(tx, request)
    parties = _parties(tx, request)
    dates = _dates(tx, request, parties)
    currency = _currency(request, parties)
    if parties.original is not None and request.lines is None:
        figures = _copied(tx, parties.original)
    else:
        figures = _computed(request, parties, dates, currency)
    row = _row(tx, request, parties, dates, figures, currency)
    return Draft(row, figures.lines, parties)


def refuse_excess_credit(tx: WriteTx, row: InvoiceRow, original: InvoiceRow) -> None:
    """Raises `Problem` `validation_failed` where the credit notes in force would be above what they credit."""
    gross, _ = invoice_rows.credited(tx, original.id)
    if gross + row.gross_total > original.gross_total:
        raise invalid_field("lines", "out_of_range", "The credit notes would come to more than the invoice.")


def _refuse_conflicts(request: CreateInvoice) -> None:
    """What the request says about itself that does not hold together."""
    errors = []
    credit = request.kind == "credit_note"
    if credit and request.credits_invoice_id is None:
        errors.append(FieldError("creditsInvoiceId", "required", "Which invoice does the credit note credit?"))
    if not credit and request.credits_invoice_id is not None:
        errors.append(FieldError("creditsInvoiceId", "conflict", "Only a credit note credits an invoice."))
    if request.client_id is not None and request.client is not None:
        errors.append(FieldError("client", "conflict", "Give clientId or client, not both."))
    if not credit and request.client_id is None and request.client is None:
        errors.append(FieldError("clientId", "required", "Whom is the invoice for? Give clientId or client."))
    if credit and request.client is not None:
        errors.append(FieldError("client", "conflict", "A credit note is for the client of the invoice it credits."))
    if not credit and request.lines is None:
        errors.append(FieldError("lines", "required", "An invoice has at least one line."))
    if request.due_date is not None and request.payment_terms_days is not None:
        errors.append(FieldError("paymentTermsDays", "conflict", "Give dueDate or paymentTermsDays, not both."))
    if request.lines is None:
        errors += [
            FieldError(name, "conflict", "Without lines the figures of the invoice are credited as they are.")
            for name, value in (
                ("amountsAre", request.amounts_are),
                ("vatRounding", request.vat_rounding),
                ("discountAmount", request.discount_amount),
            )
            if value is not None
        ]
    if errors:
        raise invalid(*errors)


def _refuse_unknown(tx: WriteTx, request: CreateInvoice) -> None:
    named = []
    if request.business_id is not None:
        named.append(Reference("businessId", "business", request.business_id))
    if request.property_id is not None:
        named.append(Reference("propertyId", "property", request.property_id))
    if request.bank_account_id is not None:
        named.append(Reference("bankAccountId", "bank_account", request.bank_account_id))
    for index, line in enumerate(request.lines or ()):
        if line.property_id is not None:
            named.append(Reference(f"lines[{index}].propertyId", "property", line.property_id))
    errors = tuple(references.unknown(tx, named)) if named else ()
    if errors:
        raise invalid(*errors)


def _parties(tx: WriteTx, request: CreateInvoice) -> Parties:
    if request.credits_invoice_id is not None:
        return _credited_parties(tx, request, request.credits_invoice_id)
    seller = _seller(tx, request.legal_entity_id)
    if request.client is not None:
        return Parties(seller, clients.add(tx, request.client, "client."), None)
    client = clients.find(tx, request.client_id or "")
    if client is None:
        raise invalid(unknown_reference("clientId", "client"))
    if client.archived_at is not None:
        raise invalid_field("clientId", "conflict", "The client is archived.")
    return Parties(seller, client, None)


def _seller(tx: WriteTx, legal_entity_id: str | None) -> Seller:
    if legal_entity_id is None:
        seller = sellers.find_only(tx)
        if seller is None:
            raise invalid_field("legalEntityId", "required", "The organization has several: which one sells?")
        return seller
    seller = sellers.find(tx, legal_entity_id)
    if seller is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if seller.archived:
        raise invalid_field("legalEntityId", "conflict", "The legal entity is archived.")
    return seller


def _credited_parties(tx: WriteTx, request: CreateInvoice, invoice_id: str) -> Parties:
    """A credit note stands between the same parties as the invoice it credits."""
    original = invoice_rows.find(tx, invoice_id)
    if original is None:
        raise invalid_field("creditsInvoiceId", "unknown_reference", "There is no such invoice.")
    if original.kind != "invoice":
        raise invalid_field("creditsInvoiceId", "conflict", "A credit note credits an invoice, not a credit note.")
    if original.status not in CREDITABLE:
        message = f"An invoice that is {original.status} cannot be credited."
        raise invalid_state(message, original.status, tuple(sorted(CREDITABLE)))
    if request.client_id not in (None, original.client_id):
        raise invalid_field("clientId", "conflict", "The invoice that is credited is another client's.")
    if request.legal_entity_id not in (None, original.legal_entity_id):
        raise invalid_field("legalEntityId", "conflict", "The invoice that is credited is another seller's.")
    if request.currency not in (None, original.currency):
        raise invalid_field("currency", "currency_mismatch", f"The invoice that is credited is in {original.currency}.")
    client = clients.find(tx, original.client_id)
    assert client is not None  # a foreign key
    return Parties(seller_of(tx, original), client, original)


def seller_of(tx: ReadTx, row: InvoiceRow) -> Seller:
    """The seller of an invoice, by today's facts."""
    seller = sellers.organization(tx) if row.legal_entity_id is None else sellers.find(tx, row.legal_entity_id)
    assert seller is not None  # a foreign key
    return seller


def _dates(tx: WriteTx, request: CreateInvoice, parties: Parties) -> Dates:
    errors = []
    given = {
        "issueDate": request.issue_date,
        "supplyDate": request.supply_date,
        "dueDate": request.due_date,
    }
    for name, date in given.items():
        if date is not None and not EARLIEST <= date <= LATEST:
            errors.append(FieldError(name, "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}."))
    issue = tx.today if request.issue_date is None else request.issue_date.isoformat()
    if request.due_date is not None and request.due_date.isoformat() < issue:
        errors.append(FieldError("dueDate", "date_order", f"It is before the issue date, {issue}."))
    if errors:
        raise invalid(*errors)
    return Dates(issue, _supply_date(request, parties, issue), _due_date(request, parties, issue))


def _supply_date(request: CreateInvoice, parties: Parties, issue: str) -> str:
    """Chosen: a credit note takes the supply date of the invoice, and with it the rates that held then."""
    if request.supply_date is not None:
        return request.supply_date.isoformat()
    return issue if parties.original is None else parties.original.supply_date


def _due_date(request: CreateInvoice, parties: Parties, issue: str) -> str:
    if request.due_date is not None:
        return request.due_date.isoformat()
    days = request.payment_terms_days
    if days is None:  # Chosen: a credit note is due at once
        days = 0 if parties.original is not None else parties.client.payment_terms_days
    return _days_after(issue, days)


@functools.lru_cache(maxsize=64)  # most invoices are made out today, on one of a few terms
def _days_after(date: str, days: int) -> str:
    return (datetime.date.fromisoformat(date) + datetime.timedelta(days=days)).isoformat()


def _currency(request: CreateInvoice, parties: Parties) -> str:
    """Chosen: the client's currency, where none is given."""
    if parties.original is not None:
        return parties.original.currency
    return request.currency or parties.client.currency


def _computed(request: CreateInvoice, parties: Parties, dates: Dates, currency: str) -> Figures:
    original, client = parties.original, parties.client
    amounts_are = request.amounts_are or ("exclusive" if original is None else original.amounts_are)
    rounding = request.vat_rounding or ("line" if original is None else original.vat_rounding)
    registered = parties.seller.registered_on(dates.supply)
    context = TaxContext(
        amounts_are=amounts_are,
        supply_date=dates.supply,
        registered=registered,
        default_code=invoice_lines.default_code(amounts_are, registered, client.default_vat_treatment),
        client_is_vat_registered=client.vat_number is not None and client_checks.is_british(client.vat_number),
        client_is_end_user=bool(client.end_user),
    )
    lines = invoice_lines.taxed(request.lines or (), context)
    discount = _discount(request, currency)
    cis_rate = parties.seller.cis_rate if client.cis_contractor else None
    terms = Terms(amounts_are, rounding, exponent(currency), discount, cis_rate)
    totals = invoice_totals.compute([line.figures for line in lines], terms)
    return Figures(
        amounts_are=amounts_are,
        vat_rounding=rounding,
        discount_amount=discount,
        totals=totals,
        vat_summary=summary_text(totals.vat_summary, currency),
        lines=invoice_lines.kept(lines, totals.lines),
    )


def _discount(request: CreateInvoice, currency: str) -> int:
    if request.discount_amount is None:
        return 0
    try:
        amount = to_minor(request.discount_amount, currency)
    except ValueError as error:
        raise invalid_field("discountAmount", "invalid_decimal", f"{error}.") from None
    if amount < 0:
        raise invalid_field("discountAmount", "out_of_range", "A discount is not negative.")
    return amount


def _copied(tx: WriteTx, original: InvoiceRow) -> Figures:
    """The figures of a full credit: those of the invoice, never computed again (domain model C4.6)."""
    totals = Totals(
        lines=(),
        net=original.net_total,
        vat=original.vat_total,
        gross=original.gross_total,
        discount=original.discount_total,
        reverse_charge_vat=original.reverse_charge_vat,
        vat_summary=(),
        cis_deduction=original.cis_deduction,
        cis_rate=original.cis_rate,
    )
    return Figures(
        amounts_are=original.amounts_are,
        vat_rounding=original.vat_rounding,
        discount_amount=original.discount_amount,
        totals=totals,
        vat_summary=original.vat_summary,
        lines=invoice_rows.lines_of(tx, original.id),
    )


def _fx_rate(request: CreateInvoice, parties: Parties, currency: str) -> str | None:
    base_currency = parties.seller.base_currency
    if request.fx_rate is not None:
        return rate_of_exchange(request.fx_rate, currency, base_currency)
    return None if parties.original is None or currency == base_currency else parties.original.fx_rate


def rate_of_exchange(text: str, currency: str, base_currency: str) -> str | None:
    """The rate as it is kept: units of the seller's currency for one of the invoice's, None where they are the same.

    `text` is a decimal. Raises `Problem` `validation_failed`.
    """
    rate = Decimal(text)
    if currency == base_currency:
        if rate != 1:
            raise invalid_field("fxRate", "conflict", f"{currency} is the seller's own currency.")
        return None
    if rate <= 0:
        raise invalid_field("fxRate", "out_of_range", "A rate of exchange is above zero.")
    return canonical(text)


def vat_in_base(vat: int, fx_rate: str | None, currency: str, base_currency: str) -> int | None:
    """The VAT total in the seller's currency, which a foreign invoice prints too (VAT Regulations 1995 reg. 14(1A)).

    None without a rate. Raises `Problem` `validation_failed`.
    """
    if fx_rate is None:
        return None
    converted = invoice_totals.convert(vat, Decimal(fx_rate), exponent(currency), exponent(base_currency))
    if not invoice_totals.fits(converted, exponent(base_currency)):
        raise invalid_field("fxRate", "out_of_range", "The VAT would have more than 13 whole digits.")
    return converted


def _row(
    tx: WriteTx, request: CreateInvoice, parties: Parties, dates: Dates, figures: Figures, currency: str
) -> InvoiceRow:
    seller, totals = parties.seller, figures.totals
    credit = request.kind == "credit_note"
    fx_rate = _fx_rate(request, parties, currency)
    return InvoiceRow(
        id=tx.new_id("inv"),
        external_id=request.external_id,
        kind=request.kind,
        origin=request.origin,
        status="draft",
        number=None,
        seller_key=seller.key,
        legal_entity_id=seller.legal_entity_id,
        business_id=request.business_id,
        client_id=parties.client.id,
        credits_invoice_id=request.credits_invoice_id,
        client_snapshot=None,
        seller_snapshot=None,
        issue_date=dates.issue,
        supply_date=dates.supply,
        due_date=dates.due,
        currency=currency,
        base_currency=seller.base_currency,
        fx_rate=fx_rate,
        amounts_are=figures.amounts_are,
        vat_rounding=figures.vat_rounding,
        net_total=totals.net,
        vat_total=totals.vat,
        gross_total=totals.gross,
        discount_amount=figures.discount_amount,
        discount_total=totals.discount,
        reverse_charge_vat=totals.reverse_charge_vat,
        vat_total_base=vat_in_base(totals.vat, fx_rate, currency, seller.base_currency),
        vat_summary=figures.vat_summary,
        cis_deduction=totals.cis_deduction,
        cis_rate=totals.cis_rate,
        paid_total=0,
        credited_total=0,
        balance_due=0 if credit else totals.gross - totals.cis_deduction,  # Chosen: a credit note has no balance
        reference=request.reference,
        po_number=request.po_number,
        notes=request.notes,
        terms=request.terms,
        bank_account_id=request.bank_account_id,
        property_id=request.property_id,
        sent_at=None,
        viewed_at=None,
        paid_date=None,
        voided_at=None,
        void_reason=None,
        pdf_document_id=None,
        created_at=tx.now,
        updated_at=tx.now,
        version=1,
    )
