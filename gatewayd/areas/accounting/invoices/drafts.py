"""From a request to a draft: what it says of itself, who sells to whom, dates, currency, figures, and then the row.

A draft that changes goes the way of a new one, so that its figures come about in one way: what is stored and what the
request gives become the request of a new draft. Reads, but for a client that a request brings.
"""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting import client_checks
from gatewayd.areas.accounting.clients import rows as clients
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import StoredClient
from gatewayd.areas.accounting.invoices import crediting, totals
from gatewayd.areas.accounting.invoices.line_shapes import LineRequest, LineRow
from gatewayd.areas.accounting.invoices.rows import INVOICES, lines_of
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, InvoiceRow, UpdateInvoice
from gatewayd.areas.accounting.invoices.states import CREDITABLE
from gatewayd.areas.accounting.invoices.totals import Charged, Conditions, TaxContext
from gatewayd.clock import days_after
from gatewayd.contract.wire import project
from gatewayd.errors import FieldError, either, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger import references
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.money import Money, canonical, exponent
from gatewayd.store import ReadTx, WriteTx

EARLIEST, LATEST = datetime.date(1973, 4, 1), datetime.date(2199, 12, 31)  # Chosen: VAT began in 1973
COPIED = (
    *("amounts_are", "vat_rounding", "net_total", "vat_total", "gross_total", "discount_amount", "discount_total"),
    *("reverse_charge_vat", "vat_summary", "cis_deduction", "cis_rate"),
)
"""What a full credit takes from the invoice, never computed again (domain model C4.6)."""
_FIGURES = ("amounts_are", "vat_rounding", "discount_amount")
"""What says how lines are computed; a full credit copies it with them."""
_NEVER_AGREED = frozenset({"status", "number", "external_id"})
"""What terms have of their own under a name that an invoice has too."""
_OF_THE_INVOICE = ("unit_price", "unit", "vat_code", "category", "property_id")
"""What a line that credits another takes from it."""


class Parties(NamedTuple):
    """Who sells to whom, and the invoice that is credited, if this is a credit note."""

    seller: Seller
    client: StoredClient
    original: InvoiceRow | None


class Dates(NamedTuple):
    """ISO dates."""

    issue: str
    supply: str
    due: str


class Draft(NamedTuple):
    """What is about to be stored, and who it is between."""

    row: InvoiceRow
    lines: list[LineRow]
    parties: Parties


def of_request(tx: WriteTx, request: CreateInvoice, wrong: Iterable[FieldError] = ()) -> Draft:
    """The draft that a request describes; a new client is stored. `wrong` is what is known to be wrong already.

    Raises `Problem` `validation_failed`, `invalid_state` (what is credited is a draft or void), and what a new client
    raises.
    """
    errors = [*wrong, *_conflicts(request), *_unknown(tx, request)]
    return draft(tx, request, _parties_of_request(tx, request, errors), errors)


def of_change(tx: WriteTx, before: InvoiceRow, request: CreateInvoice) -> Draft:
    """A draft that becomes what `request` says. Raises `Problem` `validation_failed`, `invalid_state`."""
    errors = [*_conflicts(request), *_unknown(tx, request)]
    return draft(tx, request, _parties_of_change(tx, before, request, errors), errors)


# -- what a request says of itself, and what it names


def _conflicts(request: CreateInvoice) -> list[FieldError]:
    """Where what a request says of itself does not hold together."""
    errors = []
    credit = request.kind == "credit_note"
    if credit and request.credits_invoice_id is None:
        errors.append(FieldError("creditsInvoiceId", "required", "Which invoice does the credit note credit?"))
    if not credit and request.credits_invoice_id is not None:
        message = "Only a credit note credits an invoice: give `kind` credit_note, or leave this out."
        errors.append(FieldError("creditsInvoiceId", "conflict", message))
    if request.client_id is not None and request.client is not None:
        errors.append(FieldError("client", "conflict", "Give clientId or client, not both."))
    if not credit and request.client_id is None and request.client is None:
        errors.append(FieldError("clientId", "required", "Whom is the invoice for? Give clientId or client."))
    if credit and request.client is not None:
        errors.append(FieldError("client", "conflict", "A credit note is for the client of the invoice it credits."))
    if not credit and request.lines is None:
        errors.append(FieldError("lines", "required", "This field is required: an invoice has at least one line."))
    if request.due_date is not None and request.payment_terms_days is not None:
        errors.append(FieldError("paymentTermsDays", "conflict", "Give dueDate or paymentTermsDays, not both."))
    by_lines = _takes_lines_back(request.lines)
    errors += _form_mistakes(request.lines or (), of_credit=credit, by_lines=by_lines)
    if by_lines or request.lines is None:
        errors += [
            FieldError(name, "conflict", "The figures of the invoice are credited as they are: leave this out.")
            for name, value in (
                ("amountsAre", request.amounts_are),
                ("vatRounding", request.vat_rounding),
                ("discountAmount", request.discount_amount),
            )
            if value is not None
        ]
    return errors


def _takes_lines_back(lines: Sequence[LineRequest] | None) -> bool:
    """True where lines name those of an invoice."""
    return any(line.credits_line is not None for line in lines or ())


def _form_mistakes(lines: Sequence[LineRequest], *, of_credit: bool, by_lines: bool) -> Iterator[FieldError]:
    """What is missing from lines, and what does not go together in them. `by_lines`: some take a line back."""
    for index, line in enumerate(lines):
        if not by_lines and line.description is not None and line.unit_price is not None:
            continue
        path = f"lines[{index}]"
        if line.credits_line is not None:
            if not of_credit:
                message = "Only a credit note takes a line back: leave this out."
                yield FieldError(f"{path}.creditsLine", "conflict", message)
            yield from _foreign_to_credit(line, path)
        elif by_lines:  # Chosen: a sum that is no part of the invoice is another credit note
            message = "This field is required, as the other lines have it: which line of the invoice?"
            yield FieldError(f"{path}.creditsLine", "required", message)
        else:
            if line.description is None:
                yield FieldError(f"{path}.description", "required", "This field is required: what is it for?")
            if line.unit_price is None:
                message = "This field is required: what does one cost, such as 250.00?"
                yield FieldError(f"{path}.unitPrice", "required", message)


def _foreign_to_credit(line: LineRequest, path: str) -> Iterator[FieldError]:
    names = [name for name in _OF_THE_INVOICE if getattr(line, name) is not None]
    names += ["discount_percent"] if line.discount_percent != "0" else []
    names += [name for name in ("cis_labour", "capital_goods") if getattr(line, name)]
    for name in names:
        head, *tail = name.split("_")
        camel = head + "".join(map(str.capitalize, tail))
        message = "Beside `creditsLine` it is that of the invoice: leave this out."
        yield FieldError(f"{path}.{camel}", "conflict", message)


def _unknown(tx: ReadTx, request: CreateInvoice) -> Iterable[FieldError]:
    """What a request names that the organization does not have."""
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
    return references.unknown(tx, named) if named else ()


# -- who sells to whom


def _parties_of_request(tx: WriteTx, request: CreateInvoice, errors: list[FieldError]) -> Parties | None:
    """The parties that a request names; a new client is stored. None: something is wrong with them, told in `errors`.

    Raises `Problem` `invalid_state` (what is credited is a draft or void), and what a new client raises.
    """
    if request.kind == "credit_note":
        return _parties_of_credit(tx, request, errors)
    selling = gathered(errors, seller, tx, request.legal_entity_id)
    client = None
    if request.client is None and request.client_id is not None:
        client = gathered(errors, _client, tx, request.client_id)
    elif request.client is not None and request.client_id is None:
        client = gathered(errors, clients.add, tx, request.client, "client.")
    return None if selling is None or client is None else Parties(selling, client, None)


def _parties_of_change(
    tx: WriteTx, row: InvoiceRow, request: CreateInvoice, errors: list[FieldError]
) -> Parties | None:
    """The parties of a draft that becomes what `request` says: those it had may have been archived since.

    None: something is wrong with them, told in `errors`. Raises `Problem` `invalid_state` (what is credited is void).
    """
    if request.kind == "credit_note":
        return _parties_of_credit(tx, request, errors)
    same_seller = row.legal_entity_id is not None and request.legal_entity_id == row.legal_entity_id
    selling = _seller_of(tx, row) if same_seller else gathered(errors, seller, tx, request.legal_entity_id)
    client = None
    if request.client_id == row.client_id:
        client = CLIENTS.get(tx, row.client_id)
    elif request.client_id is not None:
        client = gathered(errors, _client, tx, request.client_id)
    return None if selling is None or client is None else Parties(selling, client, None)


def _parties_of_credit(tx: WriteTx, request: CreateInvoice, errors: list[FieldError]) -> Parties | None:
    original_id = request.credits_invoice_id
    return None if original_id is None else gathered(errors, _of_credit, tx, request, original_id)


def parties_of(tx: ReadTx, row: InvoiceRow) -> Parties:
    """The parties of a draft, by today's facts: one that names no legal entity is sold by the one there is now.

    Raises `Problem`: `invalid_state` (what it credits is void), `validation_failed` (there are several now).
    """
    original = None if row.credits_invoice_id is None else INVOICES.get(tx, row.credits_invoice_id)
    if original is not None and original.status not in CREDITABLE:
        message = (
            f"The invoice it credits is {original.status}: it has to be {either(sorted(CREDITABLE))}."
            " `accounting.deleteInvoice` deletes this draft."
        )
        raise invalid_state(message, original.status, tuple(sorted(CREDITABLE)))
    if original is None and row.legal_entity_id is None:
        return Parties(seller(tx, None), CLIENTS.get(tx, row.client_id), None)
    return Parties(_seller_of(tx, row), CLIENTS.get(tx, row.client_id), original)


def _client(tx: ReadTx, client_id: str) -> StoredClient:
    client = CLIENTS.find(tx, client_id)
    if client is None:
        raise invalid(unknown_reference("clientId", "client"))
    if client.archived_at is not None:
        raise invalid_field("clientId", "conflict", "The client is archived: bring it back first, or choose another.")
    return client


def seller(tx: ReadTx, legal_entity_id: str | None) -> Seller:
    """The seller that a request names; None: the one there is. Raises `Problem` `validation_failed`."""
    if legal_entity_id is None:
        only = sellers.find_only(tx)
        if only is None:
            message = "The organization has several legal entities: which one sells?"
            raise invalid_field("legalEntityId", "required", message)
        return only
    selling = sellers.find(tx, legal_entity_id)
    if selling is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if selling.archived:
        raise invalid_field(
            "legalEntityId", "conflict", "The legal entity is archived: bring it back first, or choose another."
        )
    return selling


def _of_credit(tx: WriteTx, request: CreateInvoice, invoice_id: str) -> Parties:
    """A credit note stands between the same parties as the invoice it credits."""
    original = INVOICES.find(tx, invoice_id)
    if original is None:
        raise invalid(unknown_reference("creditsInvoiceId", "invoice"))
    if original.kind != "invoice":
        message = "This is a credit note: expected the invoice that it credits."
        raise invalid_field("creditsInvoiceId", "conflict", message)
    if original.status not in CREDITABLE:
        message = (
            f"An invoice that is {original.status} cannot be credited: only one that is {either(sorted(CREDITABLE))}."
        )
        raise invalid_state(message, original.status, tuple(sorted(CREDITABLE)))
    errors = []
    if request.client_id not in (None, original.client_id):
        message = f"The invoice that is credited is for {original.client_id}: leave this out."
        errors.append(FieldError("clientId", "conflict", message))
    if request.legal_entity_id not in (None, original.legal_entity_id):
        message = "The invoice that is credited is another seller's: leave this out."
        errors.append(FieldError("legalEntityId", "conflict", message))
    if request.currency not in (None, original.currency):
        message = f"The invoice that is credited is in {original.currency}."
        errors.append(FieldError("currency", "currency_mismatch", message))
    if errors:
        raise invalid(*errors)
    return Parties(_seller_of(tx, original), CLIENTS.get(tx, original.client_id), original)


def _seller_of(tx: ReadTx, row: InvoiceRow) -> Seller:
    """The seller of an invoice, by today's facts."""
    selling = sellers.organization(tx) if row.legal_entity_id is None else sellers.find(tx, row.legal_entity_id)
    assert selling is not None  # a foreign key
    return selling


# -- dates, currency and figures


def draft(tx: WriteTx, request: CreateInvoice, parties: Parties | None, wrong: Sequence[FieldError] = ()) -> Draft:
    """The draft that a request describes. `wrong` is what is known to be wrong already, as it is without parties.

    Raises `Problem` `validation_failed` with all of that, and with all that is wrong besides.
    """
    errors = [*wrong]
    original = None if parties is None else parties.original
    business_id = gathered(errors, _business_id, tx, request, original)
    errors += _date_mistakes(tx.today, request, original)
    if parties is None:
        raise invalid(*errors)
    currency = _currency(request, parties)
    fx_rate = gathered(errors, _fx_rate, request, parties, currency)
    dates = figured = None
    if not any(map(_concerns_figures, errors)):
        dates = _dates(tx.today, request, parties)
        figured = gathered(errors, _figured, tx, request, parties, dates)
    if errors or dates is None or figured is None:
        raise invalid(*errors)
    return Draft(_row(tx, request, parties, _Parts(business_id, dates, fx_rate, figured[0])), figured[1], parties)


class _Parts(NamedTuple):
    """What a draft is made of, besides its request and its parties."""

    business_id: str | None
    dates: Dates
    fx_rate: str | None
    figures: dict[str, Any]


def _concerns_figures(error: FieldError) -> bool:
    """Whether figures would only be wrong because this is."""
    of_line = error.path.startswith("lines") and not error.path.endswith(".propertyId")
    return of_line or error.path in ("issueDate", "supplyDate")


def _figured(
    tx: WriteTx, request: CreateInvoice, parties: Parties, dates: Dates
) -> tuple[dict[str, Any], list[LineRow]]:
    """Figures under the names of the row's fields, and the lines. Raises `Problem` `validation_failed`."""
    original, currency = parties.original, _currency(request, parties)
    if original is not None and request.lines is None:
        return {name: getattr(original, name) for name in COPIED}, lines_of(tx, original)
    if original is not None and _takes_lines_back(request.lines):
        totals_, rows = crediting.credited(tx, original, request.lines or ())
        figures = {name: getattr(original, name) for name in ("amounts_are", "vat_rounding")}
        return {**figures, "discount_amount": Money(0, currency), **totals.amounts_of(totals_, currency)}, rows
    return _charged(request, parties, dates, currency)


def _row(tx: WriteTx, request: CreateInvoice, parties: Parties, parts: _Parts) -> InvoiceRow:
    """Raises `Problem` `validation_failed` for VAT that is too much in the seller's currency."""
    seller, currency, figures = parties.seller, _currency(request, parties), parts.figures
    nothing = Money(0, currency)
    due = figures["gross_total"] - figures["cis_deduction"]
    return INVOICES.new(
        tx,
        request,
        status="draft",
        number=None,
        seller_key=seller.key,
        legal_entity_id=seller.legal_entity_id,
        business_id=parts.business_id,
        client_id=parties.client.id,
        issue_date=parts.dates.issue,
        supply_date=parts.dates.supply,
        due_date=parts.dates.due,
        currency=currency,
        base_currency=seller.base_currency,
        fx_rate=parts.fx_rate,
        fx_rate_source=None,
        fx_rate_date=None,
        recurring_id=None,
        quote_id=None,
        vat_total_base=vat_in_base(figures["vat_total"], parts.fx_rate, seller.base_currency),
        paid_total=nothing,
        credited_total=nothing,
        balance_due=nothing if request.kind == "credit_note" else due,  # Chosen: a credit note has no balance
        payments=[],
        write_off=UNSET,
        **figures,
    )


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
            message = f"It is a property of another business, {let.business_id}: all have to be of one."
            errors.append(FieldError(path, "conflict", message))
    if errors:
        raise invalid(*errors)
    return business_id if original is None else request.business_id


def _date_mistakes(today: str, request: CreateInvoice, original: InvoiceRow | None) -> Iterator[FieldError]:
    requested = {
        "issueDate": request.issue_date,
        "supplyDate": request.supply_date,
        "dueDate": request.due_date,
    }
    for name, date in requested.items():
        if date is not None and not EARLIEST <= date <= LATEST:
            yield FieldError(name, "out_of_range", f"Expected a date from {EARLIEST} to {LATEST}.")
    issue = _issue_date(today, request)
    if original is not None and issue < original.issue_date:
        message = (
            f"It is before the issue date of the invoice, {original.issue_date}: expected that day or a later one."
        )
        yield FieldError("issueDate", "date_order", message)
    if request.due_date is not None and request.due_date.isoformat() < issue:
        message = f"It is before the issue date, {issue}: expected that day or a later one."
        yield FieldError("dueDate", "date_order", message)


def _issue_date(today: str, request: CreateInvoice) -> str:
    return today if request.issue_date is None else request.issue_date.isoformat()


def _dates(today: str, request: CreateInvoice, parties: Parties) -> Dates:
    issue = _issue_date(today, request)
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


def _charged(request: CreateInvoice, parties: Parties, dates: Dates, currency: str) -> Charged:
    """What the lines of a request come to, by the facts of the parties on the supply date."""
    seller, client, original = parties
    context = TaxContext(
        amounts_are=request.amounts_are or ("exclusive" if original is None else original.amounts_are),
        supply_date=dates.supply,
        registered=seller.registered_on(dates.supply),
        client_treatment=client.default_vat_treatment,
        client_is_vat_registered=client.vat_number is not None
        and client_checks.is_british(client.vat_number, client.country_code),
        client_is_end_user=client.end_user,
    )
    conditions = Conditions(
        currency=currency,
        vat_rounding=request.vat_rounding or ("line" if original is None else original.vat_rounding),
        discount=request.discount_amount,
        cis_rate=seller.cis_rate if client.cis_contractor else None,
    )
    return totals.charged(request.lines or (), context, conditions)


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
            raise invalid_field("fxRate", "conflict", f"{currency} is the seller's own currency: leave this out.")
        return None
    if rate <= 0:
        raise invalid_field("fxRate", "out_of_range", "Expected more than 0, such as 0.8412.")
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


def request_by(terms: msgspec.Struct, **members: object) -> CreateInvoice:
    """The request for an invoice of what was agreed: the fields that `terms` has of the same names, and `members`."""
    absent = dict.fromkeys(("client", "credits_invoice_id", "status", "number", "external_id", "fx_rate"))
    absent |= dict.fromkeys(("issue_date", "due_date", "supply_date", "payment_terms_days", "bank_account_id"))
    absent = {name: value for name, value in absent.items() if name in _NEVER_AGREED or not hasattr(terms, name)}
    return project(terms, CreateInvoice, **{**absent, "kind": "invoice", "origin": "system", **members})


# -- a draft that changes


def request_of(row: InvoiceRow, lines: Sequence[LineRow]) -> CreateInvoice:
    """The request that makes this draft: nothing is left to a default, but for VAT codes that were left to it.

    Those of a credit note stay: it takes back what was charged.
    """
    copied = dict.fromkeys(_FIGURES) if any(line.credits_line for line in lines) else {}
    return project(
        row,
        CreateInvoice,
        client=None,
        lines=[_line_request(row, line) for line in lines],
        status="draft",
        issue_date=datetime.date.fromisoformat(row.issue_date),
        supply_date=datetime.date.fromisoformat(row.supply_date),
        due_date=datetime.date.fromisoformat(row.due_date),
        payment_terms_days=None,
        **{"discount_amount": str(row.discount_amount), **copied},
        origin="system",
    )


def _line_request(row: InvoiceRow, line: LineRow) -> LineRequest:
    if line.credits_line:
        return LineRequest(description=line.description, quantity=line.quantity, credits_line=line.credits_line)
    follows = line.vat_code_defaulted and row.kind == "invoice"
    return project(line, LineRequest, vat_code=None if follows else line.vat_code, credits_line=None)


def amended(before: CreateInvoice, request: UpdateInvoice, *, credits_all: bool) -> CreateInvoice:
    """The request that makes the draft as it is to become. `credits_all`: it copies the invoice that it credits."""
    changes = {name: getattr(request, name) for name in CreateInvoice.__struct_fields__ if hasattr(request, name)}
    changes = {name: value for name, value in changes.items() if value is not UNSET}
    absent: dict[str, Any] = {}
    if changes.get("payment_terms_days") is not None:
        absent["due_date"] = None
    if any(
        changes.get(name, getattr(before, name)) != getattr(before, name) for name in ("currency", "legal_entity_id")
    ):
        absent["fx_rate"] = None  # Chosen: a rate is of two currencies, and one may be another
    copies = credits_all and not changes.keys() & {"lines", *_FIGURES}
    if copies or changes.get("lines", before.lines) is None:
        absent |= dict.fromkeys(("lines", *_FIGURES))
    return replace(before, **{**absent, **changes})


def is_full_credit(
    row: InvoiceRow, lines: Sequence[LineRow], original: InvoiceRow, original_lines: Sequence[LineRow]
) -> bool:
    """True for a credit note that has the figures of the invoice it credits."""
    return list(lines) == list(original_lines) and all(getattr(row, n) == getattr(original, n) for n in COPIED)
