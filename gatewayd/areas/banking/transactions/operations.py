"""The bank transaction resource (Spec §4, domain model A6 and B6): its operations.

Pages come in the order that the filters ask for. Every filter alone stays flat with a million transactions, because an
index has its order:

    minAmount, maxAmount   by amount, smallest first, and the oldest of one amount first
    updatedSince           by `updated_at`, oldest first
    anything else          by date, latest first

`q` alone reads one line after the other; where that takes long, it goes on in a thread. Of all accounts it is a page of
each, merged as they are read. What an import brought is found by the import, and put in order: a file has so many lines
and no more.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gatewayd.areas.banking.accounts.rows import ACCOUNTS, ids_of_accounts
from gatewayd.areas.banking.transactions import rows
from gatewayd.areas.banking.transactions.shapes import (
    BankTransaction,
    GetBankTransaction,
    ListBankTransactions,
    ListTransactions,
    TransactionPage,
    TransactionsAccount,
)
from gatewayd.clock import LAST_DATE
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, SyncPage, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Rendered, encode
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.lists import Changed, changes_page, contains, start_of_changes
from gatewayd.money import to_minor
from gatewayd.store import ReadTx, Row

Order = Literal["latest", "amounts", "changes"]
Filters = ListTransactions | ListBankTransactions
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_ROWS_AT_ONCE = 50  # so many are rendered together


class _Place(NamedTuple):
    """Where lines lie together: the condition, and the values that it names."""

    condition: str
    values: dict[str, str]


class _Ordering(NamedTuple):
    """`after` are the rows behind the cursor, `by` their order, `key` the columns of the sort key with their types."""

    after: str
    by: str
    key: dict[str, type]


_ORDERINGS: dict[Order, _Ordering] = {
    "latest": _Ordering("(date, id) < (:after_date, :after_id)", "date DESC, id DESC", {"date": str, "id": str}),
    "amounts": _Ordering(
        "(amount, date, id) > (:after_amount, :after_date, :after_id)",
        "amount, date, id",
        {"amount": int, "date": str, "id": str},
    ),
    "changes": _Ordering(
        "(updated_at, id) > (:after_updated_at, :after_id)", "updated_at, id", {"updated_at": int, "id": str}
    ),
}
_OF_ACCOUNT = "account_id = :account_id"
_OF_IMPORT = "import_id = :import_id"
# coalesce: what an import brought is found by the import, and not by the account or the organization
_OF_ACCOUNT_AND_IMPORT = f"coalesce(account_id, '') = :account_id AND {_OF_IMPORT}"
_UPDATED_AT, _ID = map(rows.COLUMNS.names.index, ("updated_at", "id"))
_KEYS = {name: tuple(map(rows.COLUMNS.names.index, ordering.key)) for name, ordering in _ORDERINGS.items()}


def get_transactions(tx: ReadTx, caller: Caller, request: ListTransactions) -> Rendered[TransactionPage]:
    """List the transactions of a bank account, as its statements told them.

    Booked ones, latest first, unless the filters ask otherwise. `q` looks in descriptions, names and references.
    """
    account = ACCOUNTS.get(tx, request.account_id)
    least = _minor("minAmount", request.min_amount, account.currency)
    most = _minor("maxAmount", request.max_amount, account.currency)
    if least is not None and most is not None and most < least:
        raise invalid(FieldError("maxAmount", "out_of_range", "It is less than minAmount: expected that or more."))
    page = _page(tx, request, (least, most))
    as_of = max((balance.as_of for balance in account.balances), default=None)
    about = encode(TransactionsAccount(currency=account.currency, balance_as_of=as_of))
    cursor = encode(page.next_cursor)
    return Rendered(b'{"data":%b,"nextCursor":%b,"account":%b%b}' % (page.data, cursor, about, page.extra))


def list_transactions(tx: ReadTx, caller: Caller, request: ListBankTransactions) -> Listing[BankTransaction]:
    """List the transactions of all bank accounts, as their statements told them.

    Booked ones, latest first, unless the filters ask otherwise; in the order of change with `updatedSince`. `q` looks
    in descriptions, names and references.
    """
    return _page(tx, request, (None, None))


def get_transaction(tx: ReadTx, caller: Caller, request: GetBankTransaction) -> Rendered[BankTransaction]:
    """Get one transaction of a bank account, as its statement told it."""
    return Rendered(rows.item(tx, request.transaction_id))


def _page(tx: ReadTx, request: Filters, bounds: tuple[int | None, int | None]) -> Listing[BankTransaction]:
    """One page; `bounds` are the least and the most minor units.

    Raises `Problem`: `invalid_cursor`, `cursor_expired`, `validation_failed`.
    """
    if request.from_date and request.to_date and request.to_date < request.from_date:
        raise invalid(FieldError("toDate", "date_order", "It is before fromDate: expected that day or a later one."))
    order = _order(request, bounds)
    conditions, values = _filters(request, bounds, order)
    start = _start(tx, request, order)
    rows_behind = _merged(tx, request, order, (conditions, {**values, **start}))
    if order == "changes":
        changed = (Changed(row[_UPDATED_AT], row[_ID], item) for row, item in _rendered(tx, rows_behind))
        key = (start["after_updated_at"], start["after_id"])
        return changes_page(tx, request, rows.NAME, key, changed, import_runs.oldest_hidden(tx))
    taken, more = fill(_rendered(tx, rows_behind), request.limit, lambda pair: len(pair[1]))
    cursor = None
    if more:
        last = taken[-1][0]
        cursor = next_cursor(request, tuple(last[index] for index in _KEYS[order]))
    return Listing.of([item for _, item in taken], cursor)


def _merged(
    tx: ReadTx, request: Filters, order: Order, filters: tuple[Sequence[str], dict[str, object]]
) -> Iterator[Row]:
    """What a page may hold, and one more, of every place in one order."""
    (conditions, values), ordering = filters, _ORDERINGS[order]
    of_each = []
    for place in _places(tx, request):
        sql = " AND ".join([rows.SELECT, place.condition, *conditions, ordering.after])
        sql = f"{sql} ORDER BY {ordering.by} LIMIT :count"
        of_each.append(tx.each(sql, count=request.limit + 1, **values, **place.values))
    merged = heapq.merge(*of_each, key=itemgetter(*_KEYS[order]), reverse=order == "latest")
    return itertools.islice(merged, request.limit + 1)


def _places(tx: ReadTx, request: Filters) -> list[_Place]:
    """Where to look: in what an import brought, in one account, or in each."""
    if request.import_id is not None:
        of_import = {"import_id": request.import_id}
        if request.account_id is None:
            return [_Place(_OF_IMPORT, of_import)]
        return [_Place(_OF_ACCOUNT_AND_IMPORT, {"account_id": request.account_id, **of_import})]
    accounts = ids_of_accounts(tx) if request.account_id is None else [request.account_id]
    return [_Place(_OF_ACCOUNT, {"account_id": account_id}) for account_id in accounts]


def _rendered(tx: ReadTx, selected: Iterator[Row]) -> Iterator[tuple[Row, bytes]]:
    """Each row with its JSON. They are rendered some at a time, which asks for allocations once for all of them."""
    chunk: list[Row] = []
    for row in selected:
        chunk.append(row)
        if len(chunk) == _ROWS_AT_ONCE:
            yield from zip(chunk, rows.items(tx, chunk), strict=True)
            chunk = []
    yield from zip(chunk, rows.items(tx, chunk), strict=True)


def _order(request: Filters, bounds: tuple[int | None, int | None]) -> Order:
    if request.updated_since is not None:
        return "changes"
    return "latest" if bounds == (None, None) else "amounts"


def _start(tx: ReadTx, request: Filters, order: Order) -> dict[str, Any]:
    """The values that say where the page starts."""
    if order == "changes":
        return dict(zip(("after_updated_at", "after_id"), start_of_changes(tx, request, rows.NAME), strict=True))
    names = _ORDERINGS[order].key
    key = cursor_key(request, *names.values())
    if key is not None:
        return {f"after_{name}": value for name, value in zip(names, key, strict=True)}
    if order == "amounts":
        return {"after_amount": _LEAST, "after_date": "", "after_id": ""}
    last = LAST_DATE if request.to_date is None else request.to_date.isoformat()
    return {"after_date": last, "after_id": MAX_KEY}


def _filters(
    request: Filters, bounds: tuple[int | None, int | None], order: Order
) -> tuple[list[str], dict[str, object]]:
    """The conditions, and the values that they name. Those of partial indexes are written out, without parameters.

    In the order of dates `toDate` is no condition: the page starts at that day, where the index is entered.
    """
    literal = {
        "status = 'booked'": request.status == "booked" and request.unallocated is None,
        "status = 'pending'": request.status == "pending",
        "amount >= 0": request.direction == "in",
        "amount < 0": request.direction == "out",
        "allocated <> amount AND status = 'booked'": request.unallocated is True,
        "allocated = amount AND status = 'booked'": request.unallocated is False,
    }
    named = {
        "date >= :from_date": request.from_date and request.from_date.isoformat(),
        "date <= :to_date": request.to_date.isoformat() if request.to_date and order != "latest" else None,
        "amount >= :min_amount": bounds[0],
        "amount <= :max_amount": bounds[1],
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    bound = {condition: value for condition, value in named.items() if value is not None}
    conditions = [*(condition for condition, wanted in literal.items() if wanted), *bound]
    return conditions, {condition.partition(":")[2].partition(" ")[0]: value for condition, value in bound.items()}


def _minor(path: str, text: str | None, currency: str) -> int | None:
    if text is None:
        return None
    try:
        return to_minor(text, currency)
    except ValueError as error:
        raise invalid(FieldError(path, "invalid_decimal", f"{error}.")) from None


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
        held=HeldBy(leads={"account_id": "bank_account"}, days=Days()),
        errors=("date_order",),
        example={"accountId": "bac_01k0000000000000000000000a", "fromDate": "2026-04-06", "limit": 20},
    ),
    Operation(
        id="banking.listTransactions",
        kind="read",
        method="GET",
        path="/transactions",
        scopes=("banking:read",),
        request=ListBankTransactions,
        response=SyncPage[BankTransaction],
        handler=list_transactions,
        held=HeldBy(leads={"account_id": "bank_account"}, days=Days()),
        errors=("date_order",),
        extension=True,
        example={"fromDate": "2026-04-06", "unallocated": True, "limit": 20},
    ),
    Operation(
        id="banking.getTransaction",
        kind="read",
        method="GET",
        path="/transactions/:transactionId",
        scopes=("banking:read",),
        request=GetBankTransaction,
        response=BankTransaction,
        handler=get_transaction,
        held=HeldBy(leads={"transaction_id": "bank_transaction"}, day_of=("date",)),
        extension=True,
        example={"transactionId": "btx_01k0000000000000000000000c"},
    ),
)
