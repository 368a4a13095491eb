"""The invoice resource (Spec §4, domain model A5, B5 and C4): its two operations.

invoice_shapes     what crosses the wire          invoice_rows       the tables
invoice_drafting   from a request to a draft      invoice_rendering  from rows to bytes
invoice_lines      how lines are taxed            invoice_pages      pages of the list
invoice_totals     the arithmetic                 invoice_moves      what happens to an invoice afterwards
invoice_numbers    the sequences                  invoice_states     which moves there are
"""

from gatewayd.areas.accounting import invoice_drafting, invoice_moves, invoice_pages, invoice_rows
from gatewayd.areas.accounting.invoice_shapes import CreateInvoice, Invoice, ListInvoices
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.contract.wire import Rendered
from gatewayd.errors import FieldError, Problem, external_id_exists, invalid
from gatewayd.store import ReadTx, WriteTx


def list_invoices(tx: ReadTx, caller: Caller, request: ListInvoices) -> Listing:
    """List invoices and credit notes.

    Newest first; with a range of issue or due dates by that date, latest first; with `updatedSince` in the order of
    change. `status` takes several and `overdue` beside the stored ones. `summaryOnly` leaves the lines out.
    """
    return invoice_pages.page(tx, request)


def create_invoice(tx: WriteTx, caller: Caller, request: CreateInvoice) -> Rendered:
    """Create an invoice or a credit note, as a draft or issued at once.

    For `clientId` or a new `client`. The seller is `legalEntityId`, by default the one there is; an organization
    without any sells in its own name. The issue date is by default today, the supply date the issue date, and the due
    date follows from `paymentTermsDays` or the client's. Lines without `vatCode` bear the standard rate where the
    seller is registered for VAT on the supply date. The number is allotted without gaps at issue.

    A credit note names the invoice in `creditsInvoiceId`; without lines it credits all of it. An administrator may
    bring in invoices that have a number already, with `origin` imported.
    """
    _refuse_origin(caller, request)
    _refuse_external(tx, request.external_id)
    row, lines, parties = invoice_drafting.draft(tx, request)
    if request.status == "issued" or request.number is not None:
        row = invoice_moves.issued(tx, row, parties, request.number)
    elif parties.original is not None:
        invoice_drafting.refuse_excess_credit(tx, row, parties.original)
    wire = invoice_rows.insert(tx, row, lines)
    if parties.original is not None and row.status == "issued":
        invoice_moves.credit_changed(tx, parties.original.id)
    return Rendered(wire)


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


def _refuse_external(tx: WriteTx, external_id: str | None) -> None:
    if external_id is None:
        return
    existing_id = invoice_rows.find_external(tx, external_id)
    if existing_id is not None:
        raise external_id_exists("An invoice", existing_id)


OPERATIONS = (
    Operation(
        id="accounting.listInvoices",
        kind="read",
        method="GET",
        path="/invoices",
        scopes=("accounting:read",),
        request=ListInvoices,
        response=Page[Invoice],
        handler=list_invoices,
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
