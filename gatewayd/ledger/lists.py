"""Lists over one table: the two orders that every list of the API has, from constant pieces of SQL.

The SELECT a caller gives names `id` and `updated_at` as its first two columns, ends inside its WHERE clause
(`... WHERE org_id = :org_id`), and is followed by the filters in force and one of the two orders:

    newest first          by id, which sorts by creation
    `updatedSince` given  by `updated_at` and id, oldest first, so that a client can follow changes
"""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from gatewayd.clock import from_moment
from gatewayd.contract.pages import MAX_KEY, Listing, SyncRequest, cursor_key, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.store import ReadTx, Row, Table

R = TypeVar("R", bound=msgspec.Struct)

_NEWEST = " AND id < :after_id ORDER BY id DESC LIMIT :count"
_CHANGES = " AND (updated_at, id) > (:after_at, :after_id) ORDER BY updated_at, id LIMIT :count"


def table_page(tx: ReadTx, request: SyncRequest, table: Table[R], filters: Mapping[str, object]) -> Listing[R]:
    """One page of the resources of a table, as they are. See `sync_page`."""
    return sync_page(tx, request, table.select, filters, lambda row: encode(table.read(tx, row)))


def sync_page(
    tx: ReadTx, request: SyncRequest, select: str, filters: Mapping[str, object], item: Callable[[Row], bytes]
) -> Listing[Any]:
    """One page of `select`.

    `filters` maps a condition (`status = :status`) to the value of the one parameter that it names, and one that names
    none to True; conditions whose value is None are left out. `item` renders a row. Raises `Problem` `invalid_cursor`.
    """
    values: dict[str, object] = {}
    for condition, value in filters.items():
        if value is not None:
            select += f" AND {condition}"
            values |= dict.fromkeys(_parameters(condition), value)
    if request.updated_since is None:
        rows, cursor = _newest(tx, request, select, values)
    else:
        rows, cursor = _changes(tx, request, select, values)
    return Listing.of(map(item, rows), cursor)


def _newest(tx: ReadTx, request: SyncRequest, select: str, values: dict[str, object]) -> tuple[list[Row], str | None]:
    key = cursor_key(request, str)
    after_id = MAX_KEY if key is None else key[0]
    rows = tx.rows(select + _NEWEST, after_id=after_id, count=request.limit + 1, **values)
    if len(rows) <= request.limit:
        return rows, None
    rows.pop()
    return rows, next_cursor(request, (rows[-1][0],))


def _changes(tx: ReadTx, request: SyncRequest, select: str, values: dict[str, object]) -> tuple[list[Row], str | None]:
    key = cursor_key(request, int, str)
    assert request.updated_since is not None
    since = from_moment(request.updated_since)
    after_at, after_id = (since, "") if key is None else key
    rows = tx.rows(select + _CHANGES, after_at=after_at, after_id=after_id, count=request.limit + 1, **values)
    if len(rows) <= request.limit:
        return rows, None
    rows.pop()
    return rows, next_cursor(request, (cast(int, rows[-1][1]), rows[-1][0]))


@functools.cache  # conditions are constants of the program
def _parameters(condition: str) -> frozenset[str]:
    names = frozenset(re.findall(r":([a-z_]+)", condition))
    assert len(names) <= 1, condition
    return names


def archive_filter(status: str | None, included: bool) -> dict[str, object]:
    """The filter of lists that leave out what is archived, unless `status` asks for it or, without one, `included`."""
    if status == "archived":
        return {"archived_at IS NOT NULL": True}
    return {} if status is None and included else {"archived_at IS NULL": True}


def contains(text: str | None) -> str | None:
    """The LIKE pattern of rows whose folded text holds `text` (use with `ESCAPE '!'`); None stays None."""
    if text is None:
        return None
    escaped = text.casefold().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
