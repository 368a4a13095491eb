"""The bank transaction resource (Spec §4, domain model A6 and B6): its operation."""

from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.transactions import pages
from gatewayd.areas.banking.transactions.shapes import ListTransactions, TransactionPage, TransactionsAccount
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Rendered, encode
from gatewayd.store import ReadTx


def get_transactions(tx: ReadTx, caller: Caller, request: ListTransactions) -> Rendered[TransactionPage]:
    """List the transactions of a bank account, as its statements told them.

    Booked ones, latest first, unless the filters ask otherwise. `q` looks in descriptions, names and references.
    """
    account = ACCOUNTS.get(tx, request.account_id)
    page = pages.page(tx, request, account.currency)
    as_of = max((balance.as_of for balance in account.balances), default=None)
    about = encode(TransactionsAccount(currency=account.currency, balance_as_of=as_of))
    cursor = encode(page.next_cursor)
    return Rendered(b'{"data":%b,"nextCursor":%b,"account":%b}' % (page.data, cursor, about))


OPERATIONS = (
    Operation(
        id="banking.getTransactions",
        kind="read",
        method="GET",
        path="/accounts/:accountId/transactions",
        scopes=("banking:read",),
        request=ListTransactions,
        response=TransactionPage,
        handler=get_transactions,
        errors=("date_order",),
        example={"accountId": "bac_01k0000000000000000000000a", "fromDate": "2026-04-06", "limit": 20},
    ),
)
