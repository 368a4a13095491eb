"""Pages of periods and obligations: in the order of a date that each has, or of change.

    periods        by `end_date`, earliest first
    obligations    by `due_date`, earliest first
    both, with `updatedSince`    by `updated_at`, oldest first

Each statement is pieced together from constants, and each order alone stays flat however many rows there are.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gatewayd.contract.pages import Listing, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.ledger.calendar.periods import PERIODS
from gatewayd.ledger.lists import CHANGES, Changed, changes_page, start_of_changes
from gatewayd.ledger.obligations.obligations import OBLIGATIONS
from gatewayd.store import ReadTx, Table


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
    """The conditions of filters, each such as `due_date >= :due_date_from`, with the value of the parameter in its end.

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
    """One page of the rows on which all conditions are true. Raises `Problem`: `invalid_cursor`, `cursor_expired`."""
    sql, values = kept.table.select, dict[str, object]()
    for condition in conditions:
        sql += f" AND {condition.sql}"
        values |= condition.values
    values["count"] = request.limit + 1
    table = kept.table
    if request.updated_since is not None:
        start = start_of_changes(tx, request, table.name)
        sql += CHANGES.behind + CHANGES.by
        changes = (table.read(tx, row) for row in tx.each(sql, after_at=start[0], after_id=start[1], **values))
        changed = (Changed(row.updated_at, row.id, item(row)) for row in changes)
        return changes_page(tx, request, table.name, start, changed)
    key = cursor_key(request, str, str)
    if key is not None:
        sql += kept.behind
        values |= {"after_at": key[0], "after_id": key[1]}
    items: list[bytes] = []

    def size(row: Any) -> int:
        items.append(item(row))
        return len(items[-1])

    rows, more = fill((table.read(tx, row) for row in tx.each(sql + kept.by, **values)), request.limit, size)
    cursor = next_cursor(request, (getattr(rows[-1], kept.date), rows[-1].id)) if more else None
    return Listing.of(items[: len(rows)], cursor)
