"""The bank transaction resource (Spec §4, domain model A6 and B6): its operation.

Pages come in the order that the filters ask for. Every filter alone stays flat with a million transactions, because an
index has its order:

    minAmount, maxAmount   by amount, smallest first, and the oldest of one amount first
    updatedSince           by `updated_at`, oldest first
    anything else          by date, latest first

`q` alone reads one line after the other; where that takes long, it goes on in a thread.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.transactions import rows
from gatewayd.areas.banking.transactions.shapes import (
    BankTransaction,
    ListTransactions,
    TransactionPage,
    TransactionsAccount,
)
from gatewayd.clock import LAST_DATE
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Rendered, encode
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.lists import Changed, changes_page, contains, start_of_changes
from gatewayd.money import to_minor
from gatewayd.store import ReadTx, Row

Order = Literal["latest", "amounts", "changes"]
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_ROWS_AT_ONCE = 50  # so many are rendered together


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
_UPDATED_AT, _ID = map(rows.COLUMNS.names.index, ("updated_at", "id"))
_KEYS = {name: tuple(map(rows.COLUMNS.names.index, ordering.key)) for name, ordering in _ORDERINGS.items()}


def get_transactions(tx: ReadTx, caller: Caller, request: ListTransactions) -> Rendered[TransactionPage]:
    """List the transactions of a bank account, as its statements told them.

    Booked ones, latest first, unless the filters ask otherwise. `q` looks in descriptions, names and references.
    """
    account = ACCOUNTS.get(tx, request.account_id)
    page = _page(tx, request, account.currency)
    as_of = max((balance.as_of for balance in account.balances), default=None)
    about = encode(TransactionsAccount(currency=account.currency, balance_as_of=as_of))
    cursor = encode(page.next_cursor)
    return Rendered(b'{"data":%b,"nextCursor":%b,"account":%b%b}' % (page.data, cursor, about, page.extra))


def _page(tx: ReadTx, request: ListTransactions, currency: str) -> Listing[BankTransaction]:
    """One page. Raises `Problem`: `invalid_cursor`, `validation_failed`."""
    _refuse_turned(request, currency)
    order = _order(request)
    ordering = _ORDERINGS[order]
    conditions, values = _filters(request, currency, order)
    sql = " AND ".join([rows.SELECT, "account_id = :account_id", *conditions, ordering.after])
    start = _start(tx, request, order)
    rows_behind = tx.each(
        f"{sql} ORDER BY {ordering.by} LIMIT :count",
        account_id=request.account_id,
        count=request.limit + 1,
        **values,
        **start,
    )
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


def _rendered(tx: ReadTx, selected: Iterator[Row]) -> Iterator[tuple[Row, bytes]]:
    """Each row with its JSON. They are rendered some at a time, which asks for allocations once for all of them."""
    chunk: list[Row] = []
    for row in selected:
        chunk.append(row)
        if len(chunk) == _ROWS_AT_ONCE:
            yield from zip(chunk, rows.items(tx, chunk), strict=True)
            chunk = []
    yield from zip(chunk, rows.items(tx, chunk), strict=True)


def _order(request: ListTransactions) -> Order:
    if request.updated_since is not None:
        return "changes"
    return "latest" if request.min_amount is None and request.max_amount is None else "amounts"


def _start(tx: ReadTx, request: ListTransactions, order: Order) -> dict[str, Any]:
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


def _filters(request: ListTransactions, currency: str, order: Order) -> tuple[list[str], dict[str, object]]:
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
        "amount >= :min_amount": _minor("minAmount", request.min_amount, currency),
        "amount <= :max_amount": _minor("maxAmount", request.max_amount, currency),
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


def _refuse_turned(request: ListTransactions, currency: str) -> None:
    if request.from_date and request.to_date and request.to_date < request.from_date:
        raise invalid(FieldError("toDate", "date_order", "It is before fromDate: expected that day or a later one."))
    least = _minor("minAmount", request.min_amount, currency)
    most = _minor("maxAmount", request.max_amount, currency)
    if least is not None and most is not None and most < least:
        raise invalid(FieldError("maxAmount", "out_of_range", "It is less than minAmount."))


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
