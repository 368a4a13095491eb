"""The invoice resource (Spec §4, domain model A5, B5 and C4): its operations.

A new invoice goes through the files in this order, each once:

    drafts    what the request says of itself, who sells to whom, dates and currency, then
    totals    how each line is taxed, and the arithmetic
    moves     where it is issued: parties as they are printed, the rate of exchange, and
    numbers   the next of the sequence
    rows      the tables

A draft that changes goes the same way. What a credit note may take back of its invoice stands in `crediting`.

`moves` is what happens to an invoice afterwards, `payments` the money that comes for it, `states` the table of its
moves, `pages` the list, `numbering` the operations over the sequences.
"""

from collections.abc import Iterator

from gatewayd.areas.accounting.invoices import crediting, drafts, moves, pages, payments, rows, states
from gatewayd.areas.accounting.invoices.payments import Payment
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import (
    ChangeInvoice,
    CreateInvoice,
    DeletedInvoice,
    GetInvoice,
    Invoice,
    InvoiceRow,
    IssueInvoice,
    ListInvoices,
    RecordPayment,
    RemovePayment,
    SetInvoiceRate,
    UpdateInvoice,
    VoidInvoice,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import Rendered
from gatewayd.errors import FieldError, Problem
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
    _refuse_import(caller, request)
    INVOICES.refuse_taken(tx, request.external_id)
    draft = drafts.of_request(tx, request, _origin_mistakes(request))
    issued = request.status == "issued" or request.number is not None
    return Rendered(moves.enter(tx, draft, issued=issued, number=request.number))


def _refuse_import(caller: Caller, request: CreateInvoice) -> None:
    """Only an administrator imports."""
    if request.origin == "imported" and not caller.is_admin:
        raise Problem("forbidden", "Only an administrator of the organization can import invoices.")


def _origin_mistakes(request: CreateInvoice) -> Iterator[FieldError]:
    """Only what is imported brings its number."""
    if request.origin != "imported":
        if request.number is not None:
            message = "Numbers are allotted, and only invoices of `origin` imported bring theirs: leave this out."
            yield FieldError("number", "conflict", message)
        return
    if request.number is None:
        message = "This field is required: an invoice of `origin` imported has the number that it was issued with."
        yield FieldError("number", "required", message)
    if request.status == "draft":  # Chosen: a number means that it was issued
        yield FieldError("status", "conflict", "An invoice of `origin` imported was issued: expected issued.")


def get_invoice(tx: ReadTx, caller: Caller, request: GetInvoice) -> Rendered[Invoice]:
    """Get one invoice or credit note, with its lines."""
    return Rendered(rows.wire_of(tx, request.invoice_id))


def update_invoice(tx: WriteTx, caller: Caller, request: UpdateInvoice) -> Rendered[Invoice]:
    """Change the given fields of a draft; figures are computed anew, by the facts of today.

    A field that is absent stays, also one that followed from others when the draft was made: the due date stays where
    the issue date moves. A `vatCode` that was left out follows the seller and the client until the invoice is issued.
    Another currency or seller forgets `fxRate`.
    """
    before = INVOICES.get(tx, request.invoice_id, request.expected_version)
    states.check("change", before.status)
    changed = _amended(tx, before, request)
    INVOICES.refuse_taken(tx, changed.external_id, before.id)
    row, lines, parties = drafts.of_change(tx, before, changed)
    if parties.original is not None:
        crediting.refuse_excess(tx, row, parties.original)
    return Rendered(rows.rewrite(tx, before, row, lines))


def _amended(tx: ReadTx, before: InvoiceRow, request: UpdateInvoice) -> CreateInvoice:
    lines = rows.lines_of(tx, before)
    request_before, credits_all = drafts.request_of(before, lines), False
    if before.credits_invoice_id is not None:
        original = INVOICES.get(tx, before.credits_invoice_id)
        credits_all = drafts.is_full_credit(before, lines, original, rows.lines_of(tx, original))
    return drafts.amended(request_before, request, credits_all=credits_all)


def issue_invoice(tx: WriteTx, caller: Caller, request: IssueInvoice) -> Rendered[Invoice]:
    """Issue a draft: its number is allotted without gaps, and the parties are frozen as they are printed.

    Registration for VAT, reverse charge, period and credit are checked again, as they are today: lines without
    `vatCode` bear what holds now, the CIS deduction is of the rate that holds now, and the totals follow. A VAT invoice
    is issued once the seller has an address; without one of the client there are `warnings`. In another currency than
    the seller's it takes the rate that is known of the supply date where there is no `fxRate`, and tells it.
    """
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    issued = moves.issue(tx, request.invoice_id, request.fx_rate)
    warnings = moves.warnings(issued, rows.lines_of(tx, issued))
    return Rendered(rows.wire_of(tx, request.invoice_id, warnings))


def set_invoice_rate(tx: WriteTx, caller: Caller, request: SetInvoiceRate) -> Rendered[Invoice]:
    """Give an invoice that was issued in another currency than its seller's the rate of exchange that it lacks.

    Without `fxRate` it takes the one that is known of its supply date, and says so in `warnings`. A rate takes the
    place of another where no VAT was printed at it, and no closed period holds the invoice, a payment or a credit note.
    """
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    row = moves.set_rate(tx, request.invoice_id, request.fx_rate)
    return Rendered(rows.wire_of(tx, request.invoice_id, moves.rate_warnings(row)))


def void_invoice(tx: WriteTx, caller: Caller, request: VoidInvoice) -> Rendered[Invoice]:
    """Void an invoice or credit note that was issued by mistake. Its number stays taken.

    One with payments or credits, or whose VAT period is closed, takes a credit note instead.
    """
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    moves.void(tx, request.invoice_id, request.reason)
    return Rendered(rows.wire_of(tx, request.invoice_id))


def delete_invoice(tx: WriteTx, caller: Caller, request: ChangeInvoice) -> DeletedInvoice:
    """Delete a draft, which never had a number. What was issued can be voided or credited."""
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    moves.delete_draft(tx, request.invoice_id)
    return DeletedInvoice(id=request.invoice_id, deleted=True)


def record_payment(tx: WriteTx, caller: Caller, request: RecordPayment) -> Rendered[Invoice]:
    """Record money received on an invoice.

    It becomes part_paid or paid; more than is due leaves a negative balance, what the client overpaid. A credit note
    and an invoice that is paid take none. With `bankTransactionId` the payment is a part of that bank transaction,
    which is allocated to the invoice; removing the payment gives it back. `charges` are what a payment provider kept
    of the amount: an expense of the business. Money in another currency than the seller's has an `fxRate`; what it
    brings more or less than the invoice was worth is a difference of exchange in profit and loss.
    """
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    date = None if request.date is None else request.date.isoformat()
    more = (request.method, request.reference, request.bank_transaction_id, request.charges)
    payment = Payment(request.amount, date, *more, request.fx_rate)
    payments.pay(tx, request.invoice_id, payment)
    return Rendered(rows.wire_of(tx, request.invoice_id))


def remove_payment(tx: WriteTx, caller: Caller, request: RemovePayment) -> Rendered[Invoice]:
    """Take back a payment that bounced or was recorded by mistake. The others keep their positions."""
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    payments.unpay(tx, request.invoice_id, request.position)
    return Rendered(rows.wire_of(tx, request.invoice_id))


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
        held=HeldBy(
            entity="legal_entity_id",
            leads={
                "business_id": "business",
                "property_id": "property",
                "credits_invoice_id": "invoice",
                "quote_id": "quote",
                "recurring_id": "recurring_invoice",
            },
            days=Days(first="issue_date_from", last="issue_date_to"),
        ),
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
            "legalEntityId": "ent_01k0000000000000000000000a",
            "businessId": "biz_01k0000000000000000000000a",
            "clientId": "cli_01k0000000000000000000000a",
            "status": "issued",
            "paymentTermsDays": 14,
            "reference": "Flat 5, Canal Wharf",
            "lines": [
                {"description": "Joinery", "quantity": "7.5", "unit": "hours", "unitPrice": "85.00"},
                {"description": "Oak boards", "quantity": "12", "unitPrice": "49.99", "discountPercent": "10"},
            ],
        },
    ),
    Operation(
        id="accounting.getInvoice",
        kind="read",
        method="GET",
        path="/invoices/:invoiceId",
        scopes=("accounting:read",),
        request=GetInvoice,
        response=Invoice,
        handler=get_invoice,
        held=HeldBy(leads={"invoice_id": "invoice"}, day_of=("issueDate",)),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000c"},
    ),
    Operation(
        id="accounting.updateInvoice",
        kind="write",
        method="PATCH",
        path="/invoices/:invoiceId",
        scopes=("accounting:write",),
        request=UpdateInvoice,
        response=Invoice,
        handler=update_invoice,
        errors=("already_exists", "invalid_state", "version_conflict"),
        extension=True,
        example={
            "invoiceId": "inv_01k0000000000000000000000a",
            "reference": "Flat 3, Canal Wharf, second visit",
            "lines": [{"description": "Fitting", "quantity": "11", "unit": "hours", "unitPrice": "42.50"}],
        },
    ),
    Operation(
        id="accounting.issueInvoice",
        kind="write",
        method="POST",
        path="/invoices/:invoiceId/issue",
        scopes=("accounting:write",),
        request=IssueInvoice,
        response=Invoice,
        handler=issue_invoice,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000a", "expectedVersion": 1},
    ),
    Operation(
        id="accounting.setInvoiceRate",
        kind="write",
        method="POST",
        path="/invoices/:invoiceId/exchangeRate",
        scopes=("accounting:write",),
        request=SetInvoiceRate,
        response=Invoice,
        handler=set_invoice_rate,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000d", "fxRate": "0.7871"},
    ),
    Operation(
        id="accounting.voidInvoice",
        kind="write",
        method="POST",
        path="/invoices/:invoiceId/void",
        scopes=("accounting:write",),
        request=VoidInvoice,
        response=Invoice,
        handler=void_invoice,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000b", "reason": "Made out to the wrong client"},
    ),
    Operation(
        id="accounting.deleteInvoice",
        kind="write",
        method="DELETE",
        path="/invoices/:invoiceId",
        scopes=("accounting:write",),
        request=ChangeInvoice,
        response=DeletedInvoice,
        handler=delete_invoice,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000a"},
    ),
    Operation(
        id="accounting.recordPayment",
        kind="write",
        method="POST",
        path="/invoices/:invoiceId/payments",
        scopes=("accounting:write",),
        request=RecordPayment,
        response=Invoice,
        handler=record_payment,
        errors=("invalid_state", "limit_reached", "period_closed", "version_conflict"),
        extension=True,
        example={
            "invoiceId": "inv_01k0000000000000000000000b",
            "amount": "50.00",
            "date": "2026-11-20",
            "method": "bank_transfer",
            "reference": "Hazel, part payment",
        },
    ),
    Operation(
        id="accounting.removePayment",
        kind="write",
        method="DELETE",
        path="/invoices/:invoiceId/payments/:position",
        scopes=("accounting:write",),
        request=RemovePayment,
        response=Invoice,
        handler=remove_payment,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"invoiceId": "inv_01k0000000000000000000000c", "position": 1},
    ),
)
