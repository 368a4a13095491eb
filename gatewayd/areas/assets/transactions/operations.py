"""The transaction resource (Spec §4, Domain A3 and B3): its operations. Nothing is changed or deleted, but reversed."""

from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.transactions import entering, pages, reversing, supposing
from gatewayd.areas.assets.transactions.entering import Origin
from gatewayd.areas.assets.transactions.shapes import CreateTransaction, EnteredTransaction, ListAssetTransactions
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.contract.wire import project
from gatewayd.store import ReadTx, WriteTx


def list_transactions(tx: ReadTx, caller: Caller, request: ListAssetTransactions) -> Listing[AssetTransaction]:
    """List the transactions of accounts with assets.

    Latest trade first, or in the order of change with `updatedSince`. What was reversed is left out, with its
    reversals, unless `includeReversed` or `updatedSince` is given. `type` may be given again.
    """
    return pages.page(tx, request)


def create_transaction(tx: WriteTx, caller: Caller, request: CreateTransaction) -> EnteredTransaction:
    """Enter a transaction of an account, or reverse one.

    The type says which fields are needed and which way they go. The instrument is given by its id, or by what
    identifies it, which makes one that is new. A transfer with `counterAccountId` makes both halves. A reversal names
    account and date of what it reverses. `unitPrice` x `quantity` gives `grossAmount` where that is left out.
    `warnings` tell what was supposed because it was not given.
    """
    # Chosen: what a person at the command line enters is manual
    origin = Origin("manual" if caller.kind == "operator" else "api")
    if request.type == "reversal":
        return project(reversing.reverse(tx, request, origin), EnteredTransaction, warnings=[])
    rows = entering.store(tx, request, origin)
    recording.record(tx, rows)
    return project(rows[0], EnteredTransaction, warnings=list(supposing.warnings(tx, rows[0])))


OPERATIONS = (
    Operation(
        id="assets.listTransactions",
        kind="read",
        method="GET",
        path="/assets/listTransactions",
        scopes=("accounting:read",),
        request=ListAssetTransactions,
        response=Page[AssetTransaction],
        handler=list_transactions,
        errors=("date_order",),
        example={"type": ["buy", "sell"], "fromDate": "2026-04-06", "limit": 100},
    ),
    Operation(
        id="assets.createTransaction",
        kind="write",
        method="POST",
        path="/assets/createTransaction",
        scopes=("accounting:write",),
        request=CreateTransaction,
        response=EnteredTransaction,
        handler=create_transaction,
        errors=(
            "already_exists",
            "amount_mismatch",
            "conflict",
            "currency_mismatch",
            "date_order",
            "insufficient_quantity",
            "invalid_state",
            "out_of_range",
            "period_closed",
            "unknown_reference",
        ),
        example={
            "accountId": "acc_01k0000000000000000000000a",
            "type": "buy",
            "tradeDate": "2026-10-05",
            "instrumentId": "ins_01k0000000000000000000000a",
            "quantity": "100",
            "unitPrice": "7.42",
            "fees": "5.95",
            "taxes": "3.71",
        },
    ),
)
