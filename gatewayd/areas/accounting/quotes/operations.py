"""The quote resource (domain model B5): its operations. Lines and totals come about as those of invoices."""

import datetime
from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import drafts, moves, numbers
from gatewayd.areas.accounting.invoices.drafts import Draft
from gatewayd.areas.accounting.invoices.line_shapes import LineRow, SoldLine, requested
from gatewayd.areas.accounting.invoices.shapes import ClientSnapshot, CreateInvoice, Invoice
from gatewayd.areas.accounting.quotes import invoicing, rows
from gatewayd.areas.accounting.quotes.rows import QUOTES
from gatewayd.areas.accounting.quotes.shapes import (
    AcceptQuote,
    ChangeQuote,
    CreateQuote,
    DeclineQuote,
    DeletedQuote,
    GetQuote,
    InvoiceQuote,
    ListQuotes,
    Quote,
    QuoteLine,
    QuoteStatus,
    StoredQuote,
    UpdateQuote,
)
from gatewayd.clock import days_after
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import Rendered, encode, project
from gatewayd.errors import FieldError, either, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

VALID_DAYS: Final = 30  # Chosen
_FIGURES: Final = (
    *("legal_entity_id", "business_id", "seller_key", "issue_date", "currency", "amounts_are", "vat_rounding"),
    *("net_total", "vat_total", "gross_total", "discount_amount", "discount_total", "reverse_charge_vat"),
    *("vat_summary", "cis_deduction", "cis_rate"),
)
"""What a quote takes from the invoice that it would be."""
_WAYS_OUT: Final = {
    "draft": " `accounting.issueQuote` issues it first.",
    "sent": " `accounting.acceptQuote` accepts it first.",
    "expired": " `accounting.updateQuote` gives it another `validUntil`.",
}


def list_quotes(tx: ReadTx, caller: Caller, request: ListQuotes) -> Listing[Quote]:
    """List quotes, newest first, or in the order of change with `updatedSince`."""
    filters: dict[str, object] = {
        "client_id = :client_id": request.client_id,
        "external_id = :external_id": request.external_id,
    }
    condition = "" if request.status is None else rows.OF_STATUS[request.status]
    source, named = Source(QUOTES, [QUOTES.select + condition]), {"today": tx.today} if ":today" in condition else {}
    return sync_page(tx, request, source, filters, lambda row: encode(_shown(QUOTES.read(tx, row))), named)


def create_quote(tx: WriteTx, caller: Caller, request: CreateQuote) -> Quote:
    """Create a quote, as a draft. Its lines come to what those of an invoice of the same day would."""
    QUOTES.refuse_taken(tx, request.external_id)
    values = _figured(tx, request)
    return _shown(QUOTES.insert(tx, QUOTES.new(tx, request, state="draft", **values)))


def get_quote(tx: ReadTx, caller: Caller, request: GetQuote) -> Quote:
    """Get one quote, with its lines and what is invoiced of it."""
    return _shown(QUOTES.get(tx, request.quote_id))


def update_quote(tx: WriteTx, caller: Caller, request: UpdateQuote) -> Quote:
    """Change the given fields of a draft; figures are computed anew, by the facts of today.

    Of a quote that is sent or has expired `validUntil` alone can change.
    """
    before = QUOTES.get(tx, request.quote_id, request.expected_version)
    _require(before, ("draft", "sent", "expired"))
    if before.state != "draft":
        return _shown(QUOTES.update(tx, _extended(before, request)))
    terms = _amended(before, request)
    QUOTES.refuse_taken(tx, terms.external_id, before.id)
    return _shown(QUOTES.update(tx, QUOTES.changed(before, terms, **_figured(tx, terms))))


def issue_quote(tx: WriteTx, caller: Caller, request: ChangeQuote) -> Quote:
    """Issue a draft to the client: its number is allotted, and the parties are frozen as they are printed.

    Nothing is sent from here. VAT is computed again by the facts of today, of the date on the quote.
    """
    before = QUOTES.get(tx, request.quote_id, request.expected_version)
    _require(before, ("draft",))
    terms = _terms_of(before)
    draft = drafts.of_request(tx, _as_invoice(terms))
    values = _figures_of(terms, draft)
    number = numbers.allot(tx, draft.row.seller_key, "quote", draft.row.issue_date)
    issued = replace(
        before,
        **values,
        state="sent",
        number=number,
        sent_at=tx.now,
        client_snapshot=project(draft.parties.client, ClientSnapshot),
        seller_snapshot=moves.seller_snapshot(draft.parties.seller, draft.row.issue_date),
    )
    return _shown(QUOTES.update(tx, issued))


def accept_quote(tx: WriteTx, caller: Caller, request: AcceptQuote) -> Quote:
    """Record that the client accepted a quote, on a day on which it held: an expired one by its `acceptedDate`."""
    before = QUOTES.get(tx, request.quote_id, request.expected_version)
    _require(before, ("sent", "expired"))
    date = tx.today if request.accepted_date is None else request.accepted_date.isoformat()
    last = min(before.valid_until, tx.today)
    if not before.issue_date <= date <= last:
        message = f"It holds from {before.issue_date} to {before.valid_until}: expected a day of these until today."
        raise invalid_field("acceptedDate", "out_of_range", message)
    return _shown(QUOTES.update(tx, replace(before, state="accepted", accepted_date=date, answered_by=None)))


def decline_quote(tx: WriteTx, caller: Caller, request: DeclineQuote) -> Quote:
    """Record that the client declined a quote, or backed out of one of which nothing was invoiced."""
    before = QUOTES.get(tx, request.quote_id, request.expected_version)
    _require(before, ("sent", "expired", "accepted"))
    if before.state == "accepted" and rows.invoices_of(tx, before.id):
        message = "It has invoices: void them first with `accounting.voidInvoice`, or delete the drafts."
        raise invalid_state(message, "accepted", ())
    reason = request.decline_reason
    said = {"declined_at": tx.now, "decline_reason": reason}
    declined = replace(before, state="declined", accepted_date=None, answered_by=None, **said)
    return _shown(QUOTES.update(tx, declined))


def delete_quote(tx: WriteTx, caller: Caller, request: ChangeQuote) -> DeletedQuote:
    """Delete a draft, which never had a number."""
    before = QUOTES.get(tx, request.quote_id, request.expected_version)
    _require(before, ("draft",))
    QUOTES.delete(tx, before.id)
    return DeletedQuote(id=before.id, deleted=True)


def invoice_quote(tx: WriteTx, caller: Caller, request: InvoiceQuote) -> Rendered[Invoice]:
    """Make an invoice of an accepted quote: of all of it, of a part by `percent` or `amount`, or of the rest.

    A part is shared out over what the quote has of each VAT code, and its invoice is a tax point of its own. The last
    invoice has every line of the quote, and takes off what was invoiced before. Together they come to the quote, and
    never to more; then it is `invoiced`. What is void or credited can be invoiced again. Where other VAT would be
    charged than the quote shows it is refused.
    """
    before = QUOTES.get(tx, request.quote_id, request.expected_version)
    _require(before, ("accepted",))
    draft = invoicing.draft_of(tx, before, request)
    return Rendered(moves.enter(tx, draft, issued=request.status == "issued", number=None))


def _shown(row: StoredQuote) -> Quote:
    return project(row, Quote)


def _require(row: StoredQuote, allowed: tuple[QuoteStatus, ...]) -> None:
    """Raises `Problem` `invalid_state`."""
    if row.status not in allowed:
        way_out = _WAYS_OUT.get(row.status, "")
        message = f"A quote that is {row.status} cannot do this: only one that is {either(allowed)}.{way_out}"
        raise invalid_state(message, row.status, allowed)


# -- figures


def _figured(tx: WriteTx, terms: CreateQuote) -> dict[str, Any]:
    """What a draft comes to, under the names of the row's fields. Raises `Problem` with all that is wrong."""
    errors: list[FieldError] = []
    issue = tx.today if terms.issue_date is None else terms.issue_date.isoformat()
    if terms.valid_until is not None and terms.valid_until.isoformat() < issue:
        message = f"It is before the issue date, {issue}: expected that day or a later one."
        errors.append(FieldError("validUntil", "date_order", message))
    draft = gathered(errors, drafts.of_request, tx, _as_invoice(terms))
    if errors or draft is None:
        raise invalid(*errors)
    nothing = Money(0, draft.row.currency)
    return {**_figures_of(terms, draft), "invoiced_total": nothing}


def _figures_of(terms: CreateQuote, draft: Draft) -> dict[str, Any]:
    figures = {name: getattr(draft.row, name) for name in _FIGURES}
    last = days_after(draft.row.issue_date, VALID_DAYS) if terms.valid_until is None else terms.valid_until.isoformat()
    lines = [_line(sold, line) for sold, line in zip(terms.lines, draft.lines, strict=True)]
    return {**figures, "valid_until": last, "lines": lines, "asked": terms.lines}


def _line(sold: SoldLine, line: LineRow) -> QuoteLine:
    amounts = {name: str(getattr(line, name)) for name in ("net", "vat", "gross")}
    charged = {"vat_code": line.vat_code, "vat_rate_percent": line.vat_rate_percent}
    return project(sold, QuoteLine, quantity=line.quantity, **charged, **amounts)


def _as_invoice(terms: CreateQuote) -> CreateInvoice:
    return drafts.request_by(terms, lines=[requested(line) for line in terms.lines])


def _terms_of(row: StoredQuote) -> CreateQuote:
    """The request that makes this draft."""
    return project(
        row,
        CreateQuote,
        lines=row.asked,
        issue_date=datetime.date.fromisoformat(row.issue_date),
        valid_until=datetime.date.fromisoformat(row.valid_until),
        discount_amount=str(row.discount_amount),
    )


def _given(request: UpdateQuote) -> dict[str, Any]:
    names = CreateQuote.__struct_fields__
    return {name: value for name in names if (value := getattr(request, name)) is not UNSET}


def _amended(row: StoredQuote, request: UpdateQuote) -> CreateQuote:
    return replace(_terms_of(row), **_given(request))


def _extended(row: StoredQuote, request: UpdateQuote) -> StoredQuote:
    """A quote that is sent, with another last day. Raises `Problem` `validation_failed`."""
    given = _given(request)
    errors = [*_frozen(given)]
    last = given.get("valid_until", datetime.date.fromisoformat(row.valid_until))
    if last.isoformat() < row.issue_date:
        message = f"It is before the issue date, {row.issue_date}: expected that day or a later one."
        errors.append(FieldError("validUntil", "date_order", message))
    if errors:
        raise invalid(*errors)
    return replace(row, valid_until=last.isoformat())


def _frozen(given: dict[str, Any]) -> Iterator[FieldError]:
    paths = dict(zip(CreateQuote.__struct_fields__, CreateQuote.__struct_encode_fields__, strict=True))
    for name in given:
        if name != "valid_until":
            message = "The client has the quote: `validUntil` alone can change. Decline it, and create another."
            yield FieldError(paths[name], "conflict", message)


_WRITE: Final = ("accounting:write",)
_ACCEPTED: Final = "quo_01k0000000000000000000000a"
_DRAFT: Final = "quo_01k0000000000000000000000b"
_SENT: Final = "quo_01k0000000000000000000000c"
_CHANGES: Final = ("invalid_state", "version_conflict")

OPERATIONS = (
    Operation(
        id="accounting.listQuotes",
        kind="read",
        method="GET",
        path="/quotes",
        scopes=("accounting:read",),
        request=ListQuotes,
        response=SyncPage[Quote],
        handler=list_quotes,
        extension=True,
        example={"status": "accepted", "limit": 20},
    ),
    Operation(
        id="accounting.createQuote",
        kind="write",
        method="POST",
        path="/quotes",
        scopes=_WRITE,
        request=CreateQuote,
        response=Quote,
        handler=create_quote,
        errors=("already_exists",),
        extension=True,
        example={
            "clientId": "cli_01k0000000000000000000000a",
            "legalEntityId": "ent_01k0000000000000000000000a",
            "validUntil": "2026-12-31",
            "lines": [
                {"description": "Oak staircase, made and fitted", "unitPrice": "6400.00"},
                {"description": "Removal of the old one", "quantity": "8", "unit": "hours", "unitPrice": "42.50"},
            ],
        },
    ),
    Operation(
        id="accounting.getQuote",
        kind="read",
        method="GET",
        path="/quotes/:quoteId",
        scopes=("accounting:read",),
        request=GetQuote,
        response=Quote,
        handler=get_quote,
        extension=True,
        example={"quoteId": _ACCEPTED},
    ),
    Operation(
        id="accounting.updateQuote",
        kind="write",
        method="PATCH",
        path="/quotes/:quoteId",
        scopes=_WRITE,
        request=UpdateQuote,
        response=Quote,
        handler=update_quote,
        errors=("already_exists", *_CHANGES),
        extension=True,
        example={"quoteId": _DRAFT, "reference": "Showroom, second floor", "expectedVersion": 1},
    ),
    Operation(
        id="accounting.issueQuote",
        kind="write",
        method="POST",
        path="/quotes/:quoteId/issue",
        scopes=_WRITE,
        request=ChangeQuote,
        response=Quote,
        handler=issue_quote,
        errors=_CHANGES,
        extension=True,
        example={"quoteId": _DRAFT},
    ),
    Operation(
        id="accounting.acceptQuote",
        kind="write",
        method="POST",
        path="/quotes/:quoteId/accept",
        scopes=_WRITE,
        request=AcceptQuote,
        response=Quote,
        handler=accept_quote,
        errors=_CHANGES,
        extension=True,
        example={"quoteId": _SENT},
    ),
    Operation(
        id="accounting.declineQuote",
        kind="write",
        method="POST",
        path="/quotes/:quoteId/decline",
        scopes=_WRITE,
        request=DeclineQuote,
        response=Quote,
        handler=decline_quote,
        errors=_CHANGES,
        extension=True,
        example={"quoteId": _SENT, "declineReason": "They found somebody nearer"},
    ),
    Operation(
        id="accounting.deleteQuote",
        kind="write",
        method="DELETE",
        path="/quotes/:quoteId",
        scopes=_WRITE,
        request=ChangeQuote,
        response=DeletedQuote,
        handler=delete_quote,
        errors=_CHANGES,
        extension=True,
        example={"quoteId": _DRAFT},
    ),
    Operation(
        id="accounting.invoiceQuote",
        kind="write",
        method="POST",
        path="/quotes/:quoteId/invoice",
        scopes=_WRITE,
        request=InvoiceQuote,
        response=Invoice,
        handler=invoice_quote,
        errors=("period_closed", *_CHANGES),
        extension=True,
        example={"quoteId": _ACCEPTED, "percent": "30", "status": "issued"},
    ),
)
