"""The invoice resource (Spec §4, domain model A5, B5 and C4): its operations.

A new invoice goes through the files in this order, each once:

    drafts    what the request says of itself, who sells to whom, dates and currency, then
    totals    how each line is taxed, and the arithmetic
    moves     where it is issued: parties as they are printed, the rate of exchange, and
    numbers   the next of the sequence
    rows      the tables

A draft that changes goes the same way. What a credit note may take back of its invoice stands in `crediting`.

`moves` is what happens to an invoice afterwards, `states` the table of its moves, `transitions` the operations over
them, `numbering` those over the sequences, `pages` the list.
"""

from gatewayd.areas.accounting.invoices import drafts, moves, pages
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice, Invoice, ListInvoices
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import Rendered
from gatewayd.errors import FieldError, Problem, invalid
from gatewayd.store import ReadTx, WriteTx


def list_invoices(tx: ReadTx, caller: Caller, request: ListInvoices) -> Listing[Invoice]:
    """List invoices and credit notes.

    Newest first; with a range of issue or due dates by that date, latest first; with `updatedSince` in the order of
    change. `status` takes several and `overdue` beside the stored ones. `summaryOnly` leaves the lines out.
    """
    return pages.page(tx, request)


def create_invoice(tx: WriteTx, caller: Caller, request: CreateInvoice) -> Rendered[Invoice]:
    """Create an invoice or a credit note, as a draft or issued at once.

    For `clientId` or a new `client`. The seller is `legalEntityId`, by default the one there is; an organization
    without any sells in its own name. The issue date is by default today, the supply date the issue date, and the due
    date follows from `paymentTermsDays` or the client's. Lines without `vatCode` bear the standard rate where the
    seller is registered for VAT on the supply date. The number is allotted without gaps at issue: see
    accounting.setNumbering.

    A VAT invoice is issued once the seller has an address; without one of the client there are `warnings`. One in
    another currency than the seller's takes the rate that is known of the supply date where there is no `fxRate`, and
    tells it; where none is known it is asked for.

    A credit note names the invoice in `creditsInvoiceId`; without lines it credits all of it. An administrator may
    bring in invoices that have a number already, with `origin` imported; what is issued then is numbered after it.
    """
    _refuse_origin(caller, request)
    INVOICES.refuse_taken(tx, request.external_id)
    draft = drafts.of_request(tx, request)
    issued = request.status == "issued" or request.number is not None
    return Rendered(moves.enter(tx, draft, issued=issued, number=request.number))


def _refuse_origin(caller: Caller, request: CreateInvoice) -> None:
    """Only what is imported brings its number, and only an administrator imports."""
    if request.origin != "imported":
        if request.number is not None:
            raise invalid(
                FieldError("number", "conflict", "Numbers are allotted; only imported invoices bring theirs.")
            )
        return
    if not caller.is_admin:
        raise Problem("forbidden", "Only an administrator of the organization can import invoices.")
    if request.number is None:
        raise invalid(FieldError("number", "required", "An imported invoice has a number."))
    if request.status == "draft":  # Chosen: a number means that it was issued
        raise invalid(FieldError("status", "conflict", "An imported invoice was issued."))


OPERATIONS = (
    Operation(
        id="accounting.listInvoices",
        kind="read",
        method="GET",
        path="/invoices",
        scopes=("accounting:read",),
        request=ListInvoices,
        response=SyncPage[Invoice],
        handler=list_invoices,
        errors=("date_order",),
        example={"status": ["issued", "overdue"], "issueDateFrom": "2026-04-06", "limit": 20},
    ),
    Operation(
        id="accounting.createInvoice",
        kind="write",
        method="POST",
        path="/invoices",
        scopes=("accounting:write",),
        request=CreateInvoice,
        response=Invoice,
        handler=create_invoice,
        errors=("already_exists", "forbidden", "invalid_state", "number_taken", "period_closed", "possible_duplicate"),
        example={
            "clientId": "cli_01k0000000000000000000000a",
            "status": "issued",
            "paymentTermsDays": 14,
            "reference": "Kitchen, phase 2",
            "lines": [
                {"description": "Joinery", "quantity": "7.5", "unit": "hours", "unitPrice": "85.00"},
                {"description": "Oak boards", "quantity": "12", "unitPrice": "49.99", "discountPercent": "10"},
            ],
        },
    ),
)
