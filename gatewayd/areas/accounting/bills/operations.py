"""The bill resource (domain model B5): its operations."""

from typing import Final

from gatewayd.areas.accounting.bills import moves, payments, rows
from gatewayd.areas.accounting.bills.payments import Payment
from gatewayd.areas.accounting.bills.rows import BILLS
from gatewayd.areas.accounting.bills.shapes import (
    AcceptBill,
    Bill,
    ChangeBill,
    CreateBill,
    DeletedBill,
    GetBill,
    ListBills,
    PaidBills,
    PayBills,
    RecordBillPayment,
    RemoveBillPayment,
    UpdateBill,
    VoidBill,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.store import ReadTx, WriteTx


def list_bills(tx: ReadTx, caller: Caller, request: ListBills) -> Listing[Bill]:
    """List bills, expense claims and credit notes, newest first, or in the order of change with `updatedSince`."""
    filters: dict[str, object] = {
        "status = :status": None if request.status == "overdue" else request.status,
        "open_due_date < :today": True if request.status == "overdue" else None,
        "kind = :kind": request.kind,
        "supplier_id = :supplier_id": request.supplier_id,
        "business_id = :business_id": request.business_id,
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "credits_bill_id = :credits_bill_id": request.credits_bill_id,
        "external_id = :external_id": request.external_id,
    }
    named = {"today": tx.today} if request.status == "overdue" else {}
    source = Source(BILLS, [BILLS.select])
    return sync_page(tx, request, source, filters, lambda row: encode(rows.shown(tx, BILLS.read(tx, row))), named)


def create_bill(tx: WriteTx, caller: Caller, request: CreateBill) -> Bill:
    """Enter what a supplier charges, what somebody paid for the business, or a credit note of a supplier.

    Amounts are those that are printed. What a supplier has charged already, by number or by date and total, is refused
    unless `allowDuplicate`. On accruals it counts on its tax point, and on cash basis as it is paid; so does its VAT.
    """
    made = moves.enter(tx, request)
    return rows.shown(tx, made.row, made.warnings)


def get_bill(tx: ReadTx, caller: Caller, request: GetBill) -> Bill:
    """Get one bill, with its lines and payments."""
    return rows.shown(tx, BILLS.get(tx, request.bill_id))


def update_bill(tx: WriteTx, caller: Caller, request: UpdateBill) -> Bill:
    """Change the given fields of a bill of which nothing is paid or credited. VAT that nobody gave is computed anew."""
    before = BILLS.get(tx, request.bill_id, request.expected_version)
    made = moves.change(tx, before, request)
    return rows.shown(tx, made.row, made.warnings)


def delete_bill(tx: WriteTx, caller: Caller, request: ChangeBill) -> DeletedBill:
    """Delete a draft. What is owed is voided instead."""
    row = BILLS.get(tx, request.bill_id, request.expected_version)
    moves.delete_draft(tx, row)
    return DeletedBill(id=row.id, deleted=True)


def void_bill(tx: WriteTx, caller: Caller, request: VoidBill) -> Bill:
    """Void a bill that was entered by mistake and of which nothing is paid or credited, or a credit note.

    It counts nowhere any more. In a closed period it is refused.
    """
    BILLS.get(tx, request.bill_id, request.expected_version)
    return rows.shown(tx, moves.void(tx, request.bill_id, request.reason))


def record_bill_payment(tx: WriteTx, caller: Caller, request: RecordBillPayment) -> Bill:
    """Record money paid on a bill, all of it or a part, in cash or by a bank transaction of which it takes its part.

    Where more was paid than is due, such as after a credit note, it is money that came back.
    """
    BILLS.get(tx, request.bill_id, request.expected_version)
    payment = Payment(
        request.amount,
        None if request.date is None else request.date.isoformat(),
        request.method,
        request.reference,
        request.bank_transaction_id,
        request.fx_rate,
    )
    return rows.shown(tx, payments.pay(tx, request.bill_id, payment))


def remove_bill_payment(tx: WriteTx, caller: Caller, request: RemoveBillPayment) -> Bill:
    """Take back a payment of a bill that bounced, or was entered or matched by mistake.

    A bank transaction gets its part back.
    """
    BILLS.get(tx, request.bill_id, request.expected_version)
    return rows.shown(tx, payments.unpay(tx, request.bill_id, request.position))


def pay_bills(tx: WriteTx, caller: Caller, request: PayBills) -> PaidBills:
    """Record one payment of several bills, all of them or none. Of a bank transaction each takes its part."""
    payment = Payment(
        date=None if request.date is None else request.date.isoformat(),
        method=request.method,
        reference=request.reference,
        bank_transaction_id=request.bank_transaction_id,
    )
    return PaidBills(bills=[rows.shown(tx, row) for row in payments.pay_several(tx, request.bills, payment)])


_READ: Final = ("accounting:read",)
_WRITE: Final = ("accounting:write",)
_OWED: Final = "bill_01k0000000000000000000000a"
_PAID: Final = "bill_01k0000000000000000000000b"
_DRAFT: Final = "bill_01k0000000000000000000000c"
_CHANGES: Final = ("invalid_state", "period_closed", "version_conflict")

BY_ENGINE: Final = (
    Operation(
        id="accounting.acceptBill",
        kind="write",
        method="POST",
        path="/bills/accept",
        scopes=("vault:write", *_WRITE),
        request=AcceptBill,
        response=Bill,
        handler=AT_CATALOGUE,
        errors=("invalid_state", "period_closed", "possible_duplicate"),
        extension=True,
        example={
            "documentId": "doc_01k0000000000000000000000e",
            "category": "costOfGoods",
            "vatCode": "standard",
            "supplierId": "cli_01k0000000000000000000000a",
            "businessId": "biz_01k0000000000000000000000a",
        },
    ),
)
"""What needs the vault too: rows whose handlers are `proposing`'s."""

OPERATIONS = (
    Operation(
        id="accounting.listBills",
        kind="read",
        method="GET",
        path="/bills",
        scopes=_READ,
        request=ListBills,
        response=SyncPage[Bill],
        handler=list_bills,
        extension=True,
        example={"status": "awaiting_payment", "limit": 20},
    ),
    Operation(
        id="accounting.createBill",
        kind="write",
        method="POST",
        path="/bills",
        scopes=_WRITE,
        request=CreateBill,
        response=Bill,
        handler=create_bill,
        errors=("already_exists", "invalid_state", "period_closed", "possible_duplicate"),
        extension=True,
        example={
            "supplierId": "cli_01k0000000000000000000000a",
            "businessId": "biz_01k0000000000000000000000a",
            "number": "SI-20417",
            "billDate": "2026-11-18",
            "lines": [
                {
                    "description": "Oak boards",
                    "amount": "240.00",
                    "category": "costOfGoods",
                    "vatCode": "standard",
                }
            ],
        },
    ),
    Operation(
        id="accounting.payBills",
        kind="write",
        method="POST",
        path="/bills/pay",
        scopes=_WRITE,
        request=PayBills,
        response=PaidBills,
        handler=pay_bills,
        errors=("invalid_state", "limit_reached", "period_closed"),
        extension=True,
        example={"bills": [{"billId": _OWED, "amount": "100.00"}], "date": "2026-11-20", "method": "bank_transfer"},
    ),
    Operation(
        id="accounting.getBill",
        kind="read",
        method="GET",
        path="/bills/:billId",
        scopes=_READ,
        request=GetBill,
        response=Bill,
        handler=get_bill,
        extension=True,
        example={"billId": _OWED},
    ),
    Operation(
        id="accounting.updateBill",
        kind="write",
        method="PATCH",
        path="/bills/:billId",
        scopes=_WRITE,
        request=UpdateBill,
        response=Bill,
        handler=update_bill,
        errors=("already_exists", "possible_duplicate", *_CHANGES),
        extension=True,
        example={"billId": _DRAFT, "dueDate": "2026-12-20", "expectedVersion": 1},
    ),
    Operation(
        id="accounting.voidBill",
        kind="write",
        method="POST",
        path="/bills/:billId/void",
        scopes=_WRITE,
        request=VoidBill,
        response=Bill,
        handler=void_bill,
        errors=_CHANGES,
        extension=True,
        example={"billId": _OWED, "reason": "Entered twice"},
    ),
    Operation(
        id="accounting.deleteBill",
        kind="write",
        method="DELETE",
        path="/bills/:billId",
        scopes=_WRITE,
        request=ChangeBill,
        response=DeletedBill,
        handler=delete_bill,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"billId": _DRAFT},
    ),
    Operation(
        id="accounting.recordBillPayment",
        kind="write",
        method="POST",
        path="/bills/:billId/payments",
        scopes=_WRITE,
        request=RecordBillPayment,
        response=Bill,
        handler=record_bill_payment,
        errors=("limit_reached", *_CHANGES),
        extension=True,
        example={"billId": _OWED, "amount": "50.00", "date": "2026-11-20", "method": "bank_transfer"},
    ),
    Operation(
        id="accounting.removeBillPayment",
        kind="write",
        method="DELETE",
        path="/bills/:billId/payments/:position",
        scopes=_WRITE,
        request=RemoveBillPayment,
        response=Bill,
        handler=remove_bill_payment,
        errors=_CHANGES,
        extension=True,
        example={"billId": _PAID, "position": 1},
    ),
)
