"""From a request to a draft: dates and currency, then taxed lines, then totals, then the row that is not stored yet."""

import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from gatewayd.areas.accounting import client_checks
from gatewayd.areas.accounting.invoices import credited_lines, lines, totals
from gatewayd.areas.accounting.invoices.line_shapes import LineRow
from gatewayd.areas.accounting.invoices.lines import TaxContext
from gatewayd.areas.accounting.invoices.parties import Parties
from gatewayd.areas.accounting.invoices.rows import INVOICES, lines_of
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, InvoiceRow
from gatewayd.areas.accounting.invoices.totals import Terms, Totals
from gatewayd.clock import days_after
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger import references
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.references import Reference
from gatewayd.money import Money, canonical, exponent
from gatewayd.store import ReadTx, WriteTx

EARLIEST, LATEST = datetime.date(1973, 4, 1), datetime.date(2199, 12, 31)  # Chosen: VAT began in 1973
COPIED = (
    *("amounts_are", "vat_rounding", "net_total", "vat_total", "gross_total", "discount_amount", "discount_total"),
    *("reverse_charge_vat", "vat_summary", "cis_deduction", "cis_rate"),
)
"""What a full credit takes from the invoice, never computed again (domain model C4.6)."""


class Dates(NamedTuple):
    """ISO dates."""

    issue: str
    supply: str
    due: str


class Draft(NamedTuple):
    """What is about to be stored."""

    row: InvoiceRow
    lines: list[LineRow]


def refuse_conflicts(request: CreateInvoice) -> None:
    """Raises `Problem` `validation_failed` where what a request says of itself does not hold together."""
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
    by_lines = credited_lines.is_by_lines(request.lines)
    errors += lines.form_mistakes(request.lines or (), of_credit=credit, by_lines=by_lines)
    if by_lines or request.lines is None:
        errors += [
            FieldError(name, "conflict", "The figures of the invoice are credited as they are.")
            for name, value in (
                ("amountsAre", request.amounts_are),
                ("vatRounding", request.vat_rounding),
                ("discountAmount", request.discount_amount),
            )
            if value is not None
        ]
    if errors:
        raise invalid(*errors)


def refuse_unknown(tx: ReadTx, request: CreateInvoice) -> None:
    """Raises `Problem` `validation_failed` where a request names what the organization does not have."""
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


def draft(tx: WriteTx, request: CreateInvoice, parties: Parties) -> Draft:
    """The draft that a request describes. Raises `Problem` `validation_failed`."""
    seller, client, original = parties
    business_id = _business_id(tx, request, original)
    dates = _dates(tx.today, request, parties)
    currency = _currency(request, parties)
    if original is not None and request.lines is None:
        figures = {name: getattr(original, name) for name in COPIED}
        rows = lines_of(tx, original)
    elif original is not None and credited_lines.is_by_lines(request.lines):
        totals_, rows = credited_lines.credited(tx, original, request.lines or ())
        figures = {name: getattr(original, name) for name in ("amounts_are", "vat_rounding")}
        figures |= {"discount_amount": Money(0, currency), **_amounts(totals_, currency)}
    else:
        figures, rows = _computed(request, parties, dates, currency)
    fx_rate = _fx_rate(request, parties, currency)
    nothing = Money(0, currency)
    due = figures["gross_total"] - figures["cis_deduction"]
    row = INVOICES.new(
        tx,
        request,
        status="draft",
        number=None,
        seller_key=seller.key,
        legal_entity_id=seller.legal_entity_id,
        business_id=business_id,
        client_id=client.id,
        issue_date=dates.issue,
        supply_date=dates.supply,
        due_date=dates.due,
        currency=currency,
        base_currency=seller.base_currency,
        fx_rate=fx_rate,
        fx_rate_source=None,
        fx_rate_date=None,
        vat_total_base=vat_in_base(figures["vat_total"], fx_rate, seller.base_currency),
        paid_total=nothing,
        credited_total=nothing,
        balance_due=nothing if request.kind == "credit_note" else due,  # Chosen: a credit note has no balance
        payments=[],
        **figures,
    )
    return Draft(row, rows)


def _business_id(tx: ReadTx, request: CreateInvoice, original: InvoiceRow | None) -> str | None:
    """The business that an invoice names, else that of the properties which it names: they are all of one.

    A credit note counts in the business of its invoice, whatever it names. Raises `Problem` `validation_failed`.
    """
    named = [("propertyId", request.property_id)]
    named += [(f"lines[{index}].propertyId", line.property_id) for index, line in enumerate(request.lines or ())]
    business_id = request.business_id if original is None else original.business_id
    errors = []
    for path, property_id in named:
        let = None if property_id is None else lets.find(tx, property_id)
        if let is None:
            continue
        if business_id is None and original is None:
            business_id = let.business_id
        elif business_id != let.business_id:
            errors.append(FieldError(path, "conflict", "It is a property of another business."))
    if errors:
        raise invalid(*errors)
    return business_id if original is None else request.business_id


def _dates(today: str, request: CreateInvoice, parties: Parties) -> Dates:
    errors = []
    given = {
        "issueDate": request.issue_date,
        "supplyDate": request.supply_date,
        "dueDate": request.due_date,
    }
    for name, date in given.items():
        if date is not None and not EARLIEST <= date <= LATEST:
            errors.append(FieldError(name, "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}."))
    issue = today if request.issue_date is None else request.issue_date.isoformat()
    if parties.original is not None and issue < parties.original.issue_date:
        message = f"It is before the issue date of the invoice, {parties.original.issue_date}."
        errors.append(FieldError("issueDate", "date_order", message))
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
    return days_after(issue, days)


def _currency(request: CreateInvoice, parties: Parties) -> str:
    """Chosen: the client's currency, where none is given."""
    if parties.original is not None:
        return parties.original.currency
    return request.currency or parties.client.currency


def _computed(
    request: CreateInvoice, parties: Parties, dates: Dates, currency: str
) -> tuple[dict[str, Any], list[LineRow]]:
    """The figures of the row and its lines."""
    seller, client, original = parties
    amounts_are = request.amounts_are or ("exclusive" if original is None else original.amounts_are)
    rounding = request.vat_rounding or ("line" if original is None else original.vat_rounding)
    registered = seller.registered_on(dates.supply)
    context = TaxContext(
        amounts_are=amounts_are,
        supply_date=dates.supply,
        registered=registered,
        default_code=lines.default_code(amounts_are, registered, client.default_vat_treatment),
        client_is_vat_registered=client.vat_number is not None
        and client_checks.is_british(client.vat_number, client.country_code),
        client_is_end_user=client.end_user,
    )
    taxed = lines.taxed(request.lines or (), context)
    discount = _discount(request, currency)
    cis_rate = seller.cis_rate if client.cis_contractor else None
    terms = Terms(amounts_are, rounding, exponent(currency), discount.minor, cis_rate)
    computed = totals.compute([line.figures for line in taxed], terms)
    figures = {"amounts_are": amounts_are, "vat_rounding": rounding, "discount_amount": discount}
    return {**figures, **_amounts(computed, currency)}, lines.rows(taxed, computed.lines, currency)


def _amounts(computed: Totals, currency: str) -> dict[str, Any]:
    """Totals under the names of the row's fields."""
    return {
        "net_total": Money(computed.net, currency),
        "vat_total": Money(computed.vat, currency),
        "gross_total": Money(computed.gross, currency),
        "discount_total": Money(computed.discount, currency),
        "reverse_charge_vat": Money(computed.reverse_charge_vat, currency),
        "cis_deduction": Money(computed.cis_deduction, currency),
        "cis_rate": computed.cis_rate,
        "vat_summary": [lines.summary(group, currency) for group in computed.vat_summary],
    }


def _discount(request: CreateInvoice, currency: str) -> Money:
    if request.discount_amount is None:
        return Money(0, currency)
    try:
        amount = Money.of(request.discount_amount, currency)
    except ValueError as error:
        raise invalid_field("discountAmount", "invalid_decimal", f"{error}.") from None
    if amount.minor < 0:
        raise invalid_field("discountAmount", "out_of_range", "A discount is not negative.")
    return amount


def _fx_rate(request: CreateInvoice, parties: Parties, currency: str) -> str | None:
    base_currency = parties.seller.base_currency
    if request.fx_rate is not None:
        return rate_of_exchange(request.fx_rate, currency, base_currency)
    return None if parties.original is None or currency == base_currency else parties.original.fx_rate


def rate_of_exchange(text: str, currency: str, base_currency: str) -> str | None:
    """The rate as it is stored: units of the seller's currency for one of the invoice's, None where they are the same.

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


def vat_in_base(vat: Money, fx_rate: str | None, base_currency: str) -> Money | None:
    """The VAT total in the seller's currency, which a foreign invoice prints too (VAT Regulations 1995 reg. 14(1A)).

    None without a rate. Raises `Problem` `validation_failed`.
    """
    if fx_rate is None:
        return None
    converted = totals.convert(vat.minor, Decimal(fx_rate), exponent(vat.currency), exponent(base_currency))
    if not totals.fits(converted, exponent(base_currency)):
        raise invalid_field("fxRate", "out_of_range", "The VAT would have more than 13 whole digits.")
    return Money(converted, base_currency)
