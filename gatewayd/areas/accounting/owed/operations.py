"""Payments, refunds and credit of clients (domain model B5): their operations.

A request goes through the files in this order: `choosing`, which invoices and which credit, and `moving`, what becomes
of them; `rows` has the table.
"""

from typing import Final

from msgspec.structs import replace

from gatewayd.areas.accounting.owed import moving
from gatewayd.areas.accounting.owed.rows import CLIENT_PAYMENTS
from gatewayd.areas.accounting.owed.shapes import (
    ApplyCredit,
    ClientPayment,
    ClientPaymentWarning,
    GetClientPayment,
    ListClientPayments,
    RecordClientPayment,
    RefundClient,
    RemoveClientPayment,
    RemovedClientPayment,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.errors import invalid_field
from gatewayd.ledger.lists import table_page
from gatewayd.store import ReadTx, WriteTx

_CLIENT: Final = "cli_01k0000000000000000000000a"


def list_client_payments(tx: ReadTx, caller: Caller, request: ListClientPayments) -> Listing[ClientPayment]:
    """List payments and refunds of clients, and credit that was set against invoices: newest first.

    Or in the order of change, with `updatedSince`. Payments that are of one invoice alone stand with that.
    """
    first, last = request.from_date, request.to_date
    if first is not None and last is not None and last < first:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    filters: dict[str, object] = {
        "client_id = :client_id": request.client_id,
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "kind = :kind": request.kind,
        "bank_transaction_id = :bank_transaction_id": request.bank_transaction_id,
        "currency = :currency": request.currency,
        "date >= :from_date": None if first is None else first.isoformat(),
        "date <= :to_date": None if last is None else last.isoformat(),
        "external_id = :external_id": request.external_id,
    }
    return table_page(tx, request, CLIENT_PAYMENTS, filters)


def get_client_payment(tx: ReadTx, caller: Caller, request: GetClientPayment) -> ClientPayment:
    """Get one payment, refund or credit of a client, with what of it is for which invoice."""
    return CLIENT_PAYMENTS.get(tx, request.client_payment_id)


def record_client_payment(tx: WriteTx, caller: Caller, request: RecordClientPayment) -> ClientPayment:
    """Record money that a client paid, for several invoices or for none yet.

    It is for the invoices that are named, else for those on which money is due, by the oldest tax point first. What is
    over is the client's credit on account, and `warnings` say so: it can be set against other invoices, or refunded.
    With `bankTransactionId` each invoice takes a part of that bank transaction, and so does what is over. Rates of
    exchange are as of `accounting.recordPayment`.
    """
    row = moving.record(tx, request)
    if not row.on_account.minor:
        return row
    message = (
        f"{row.on_account} {row.currency} is for no invoice: it is credit of the client. What is paid ahead for"
        " something that is still to be supplied is a tax point (VATA 1994 s.6(4)): invoice that, and set it against"
        " the invoice with `accounting.applyCredit`."
    )
    return replace(row, warnings=[ClientPaymentWarning(code="on_account", message=message)])


def apply_credit(tx: WriteTx, caller: Caller, request: ApplyCredit) -> ClientPayment:
    """Set what a client paid too much, was credited on a paid invoice, or has on account against other invoices.

    Credit is of one seller and one currency. It is taken of the invoices that were paid too much, the oldest first, and
    then of what is on account: the answer says of which. On cash basis it counts as paid on that day.
    """
    return moving.apply(tx, request)


def refund_client(tx: WriteTx, caller: Caller, request: RefundClient) -> ClientPayment:
    """Record money that went back to a client: of what was paid too much, credited on a paid invoice, or on account.

    Never more than that. It counts nowhere in profit and loss, as what was paid too much was no income. With
    `bankTransactionId` it is a part of that bank transaction.
    """
    return moving.refund(tx, request)


def remove_client_payment(tx: WriteTx, caller: Caller, request: RemoveClientPayment) -> RemovedClientPayment:
    """Take back a payment that bounced, a refund, or credit that was set against invoices: all of it at once.

    Invoices are due again, and the bank transaction gets its parts back. What was left on account has to be there
    still.
    """
    moving.remove(tx, request.client_payment_id, request.expected_version)
    return RemovedClientPayment(id=request.client_payment_id, deleted=True)


OPERATIONS = (
    Operation(
        id="accounting.listClientPayments",
        kind="read",
        method="GET",
        path="/client-payments",
        scopes=("accounting:read",),
        request=ListClientPayments,
        response=SyncPage[ClientPayment],
        handler=list_client_payments,
        errors=("date_order",),
        extension=True,
        example={"kind": "payment", "fromDate": "2026-04-06", "limit": 20},
    ),
    Operation(
        id="accounting.getClientPayment",
        kind="read",
        method="GET",
        path="/client-payments/:clientPaymentId",
        scopes=("accounting:read",),
        request=GetClientPayment,
        response=ClientPayment,
        handler=get_client_payment,
        extension=True,
        example={"clientPaymentId": "cpay_01k0000000000000000000000a"},
    ),
    Operation(
        id="accounting.recordClientPayment",
        kind="write",
        method="POST",
        path="/client-payments",
        scopes=("accounting:write",),
        request=RecordClientPayment,
        response=ClientPayment,
        handler=record_client_payment,
        errors=("already_exists", "invalid_state", "limit_reached", "period_closed"),
        extension=True,
        example={
            "clientId": _CLIENT,
            "legalEntityId": "ent_01k0000000000000000000000a",
            "amount": "60.00",
            "method": "bank_transfer",
            "reference": "November, all of it",
        },
    ),
    Operation(
        id="accounting.applyCredit",
        kind="write",
        method="POST",
        path="/client-credits",
        scopes=("accounting:write",),
        request=ApplyCredit,
        response=ClientPayment,
        handler=apply_credit,
        errors=("already_exists", "period_closed"),
        extension=True,
        example={"clientId": _CLIENT, "legalEntityId": "ent_01k0000000000000000000000a", "amount": "10.00"},
    ),
    Operation(
        id="accounting.refundClient",
        kind="write",
        method="POST",
        path="/client-refunds",
        scopes=("accounting:write",),
        request=RefundClient,
        response=ClientPayment,
        handler=refund_client,
        errors=("already_exists", "invalid_state", "limit_reached", "period_closed"),
        extension=True,
        example={"clientId": _CLIENT, "legalEntityId": "ent_01k0000000000000000000000a", "amount": "5.00"},
    ),
    Operation(
        id="accounting.removeClientPayment",
        kind="write",
        method="DELETE",
        path="/client-payments/:clientPaymentId",
        scopes=("accounting:write",),
        request=RemoveClientPayment,
        response=RemovedClientPayment,
        handler=remove_client_payment,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"clientPaymentId": "cpay_01k0000000000000000000000a"},
    ),
)
