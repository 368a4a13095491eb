"""Payments of an invoice, a part of the invoice resource (domain model B5): their operations."""

from gatewayd.areas.accounting.invoices import moves, rows
from gatewayd.areas.accounting.invoices.moves import Payment
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.invoices.shapes import Invoice, RecordPayment, RemovePayment
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Rendered
from gatewayd.store import WriteTx


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
    moves.pay(tx, request.invoice_id, payment)
    return Rendered(rows.wire_of(tx, request.invoice_id))


def remove_payment(tx: WriteTx, caller: Caller, request: RemovePayment) -> Rendered[Invoice]:
    """Take back a payment that bounced or was recorded by mistake. The others keep their positions."""
    INVOICES.get(tx, request.invoice_id, request.expected_version)
    moves.unpay(tx, request.invoice_id, request.position)
    return Rendered(rows.wire_of(tx, request.invoice_id))


OPERATIONS = (
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
            "amount": "20.00",
            "date": "2026-11-20",
            "method": "bank_transfer",
            "reference": "Harbour 7",
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
