"""Pages of periods and obligations: in the order of a date that each has, or of change.

    periods        by `end_date`, earliest first
    obligations    by `due_date`, earliest first
    both, with `updatedSince`    by `updated_at`, oldest first

Each statement is pieced together from constants, and each order alone stays flat however many rows there are.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gatewayd.clock import from_moment
from gatewayd.contract.pages import Listing, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.ledger.calendar.periods import PERIODS
from gatewayd.ledger.obligations.obligations import OBLIGATIONS
from gatewayd.store import ReadTx, Table

_CHANGES = " AND (updated_at, id) > (:after_at, :after_id) ORDER BY updated_at, id LIMIT :count"


class Condition(NamedTuple):
    """A filter in force: a piece of SQL, and the values that it names."""

    sql: str
    values: Mapping[str, object]


class DatedTable(NamedTuple):
    """A table with its order by a date. `behind` are the rows after the cursor, `by` is the order, with its limit."""

    table: Table[Any]
    date: str
    behind: str
    by: str


BY_END = DatedTable(
    PERIODS, "end_date", " AND (end_date, id) > (:after_at, :after_id)", " ORDER BY end_date, id LIMIT :count"
)
BY_DUE = DatedTable(
    OBLIGATIONS, "due_date", " AND (due_date, id) > (:after_at, :after_id)", " ORDER BY due_date, id LIMIT :count"
)


def matching(filters: Mapping[str, object]) -> list[Condition]:
    """The conditions of filters, each such as `due_date >= :due_from`, with the value of the parameter in its end.

    Dates are compared as the ISO texts that are stored; None is no filter.
    """
    conditions = []
    for sql, value in filters.items():
        if value is not None:
            text = value.isoformat() if isinstance(value, datetime.date) else value
            conditions.append(Condition(sql, {sql.rpartition(":")[2]: text}))
    return conditions


def one_of(column: str, wanted: Sequence[str] | None) -> list[Condition]:
    """The condition that a column has one of several values. None, or an empty list, is no filter."""
    if not wanted:
        return []
    names = [f"{column}_{index}" for index in range(len(wanted))]
    sql = f"{column} IN ({', '.join(f':{name}' for name in names)})"
    if len(wanted) == 1:  # an index whose next column is the order's is of use
        sql = f"{column} = :{names[0]}"
    return [Condition(sql, dict(zip(names, wanted, strict=True)))]


def dated_page(
    tx: ReadTx,
    request: SyncRequest,
    kept: DatedTable,
    conditions: Iterable[Condition],
    item: Callable[[Any], bytes],
) -> Listing[Any]:
    """One page of the rows on which all conditions are true. Raises `Problem` `invalid_cursor`."""
    sql, values = kept.table.select, dict[str, object]()
    for condition in conditions:
        sql += f" AND {condition.sql}"
        values |= condition.values
    if request.updated_since is None:
        key = cursor_key(request, str, str)
        sql += kept.by if key is None else kept.behind + kept.by
    else:
        key = cursor_key(request, int, str) or (from_moment(request.updated_since), "")
        sql += _CHANGES
    if key is not None:
        values |= {"after_at": key[0], "after_id": key[1]}
    return _page(tx, request, kept, (sql, values), item)


def _page(
    tx: ReadTx,
    request: SyncRequest,
    kept: DatedTable,
    statement: tuple[str, Mapping[str, object]],
    item: Callable[[Any], bytes],
) -> Listing[Any]:
    items: list[bytes] = []

    def size(row: Any) -> int:
        items.append(item(row))
        return len(items[-1])

    sql, values = statement
    selected = tx.each(sql, count=request.limit + 1, **values)
    rows, more = fill((kept.table.read(tx, row) for row in selected), request.limit, size)
    if not more:
        return Listing.of(items[: len(rows)], None)
    last = rows[-1]
    at = getattr(last, kept.date) if request.updated_since is None else last.updated_at
    return Listing.of(items[: len(rows)], next_cursor(request, (at, last.id)))
