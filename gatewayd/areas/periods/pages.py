"""Pages of periods and obligations: in the order of a date that each has, or of change.

    periods        by `end_date`, earliest first
    obligations    by `due_date`, earliest first
    both, with `updatedSince`    by `updated_at`, oldest first

Each statement is pieced together from constants; `SELECT` ends inside its WHERE clause as those of `ledger.lists` do.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import from_moment
from gatewayd.contract.pages import Listing, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.store import ReadTx, Table

R = TypeVar("R", bound=msgspec.Struct)

_CHANGES = " AND (updated_at, id) > (:after_at, :after_id) ORDER BY updated_at, id LIMIT :count"


class DatedOrder(NamedTuple):
    """An order by a date. `behind` is the condition of the rows after the cursor, `by` what they are ordered by.

    `date` is the name of the row's field.
    """

    date: str
    behind: str
    by: str


BY_END = DatedOrder("end_date", " AND (end_date, id) > (:after_at, :after_id)", " ORDER BY end_date, id LIMIT :count")
BY_DUE = DatedOrder("due_date", " AND (due_date, id) > (:after_at, :after_id)", " ORDER BY due_date, id LIMIT :count")


class Conditions:
    """The filters in force: pieces of SQL and the values that they name."""

    def __init__(self) -> None:
        self.sql = ""
        self.values: dict[str, object] = {}

    def add(self, condition: str, value: object) -> None:
        """A condition with one parameter of the same name as its column's; None is no condition."""
        if value is not None:
            self.sql += f" AND {condition}"
            name = condition[condition.index(":") + 1 :].split(")")[0].split()[0]
            self.values[name] = value

    def add_any(self, column: str, wanted: Sequence[str] | None) -> None:
        """That a column has one of several values; None and none at all are no condition."""
        if not wanted:
            return
        if len(wanted) == 1:
            self.add(f"{column} = :{column}", wanted[0])
            return
        names = [f"{column}_{index}" for index in range(len(wanted))]
        self.sql += f" AND {column} IN ({', '.join(f':{name}' for name in names)})"
        self.values |= dict(zip(names, wanted, strict=True))

    def say(self, condition: str, values: Mapping[str, object]) -> None:
        """A condition as it is."""
        self.sql += f" AND {condition}"
        self.values |= values


def dated_page(
    tx: ReadTx,
    request: SyncRequest,
    table: Table[R],
    order: DatedOrder,
    conditions: Conditions,
    item: Callable[[R], bytes],
) -> Listing[Any]:
    """One page. Raises `Problem` `invalid_cursor`."""
    items: list[bytes] = []

    def size(row: R) -> int:
        items.append(item(row))
        return len(items[-1])

    select = table.select + conditions.sql
    if request.updated_since is None:
        key = cursor_key(request, str, str)
        sql = select + (order.behind if key is not None else "") + order.by
    else:
        key = cursor_key(request, int, str) or (from_moment(request.updated_since), "")
        sql = select + _CHANGES
    start = {} if key is None else {"after_at": key[0], "after_id": key[1]}
    found = tx.each(sql, count=request.limit + 1, **conditions.values, **start)
    rows, more = fill((table.read(tx, row) for row in found), request.limit, size)
    if not more:
        return Listing.of(items[: len(rows)], None)
    last: Any = rows[-1]
    at = getattr(last, order.date) if request.updated_since is None else last.updated_at
    return Listing.of(items[: len(rows)], next_cursor(request, (at, last.id)))
