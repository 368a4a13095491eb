"""Lists over one table: the two orders that every list of the API has, from constant pieces of SQL.

The SELECT a caller gives names `id` and `updated_at` as its first two columns, ends inside its WHERE clause
(`... WHERE org_id = :org_id`), and is followed by the filters in force and one of the two orders:

    newest first          by id, which sorts by creation
    `updatedSince` given  by `updated_at` and id, oldest first, so that a client can follow changes
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from gatewayd.clock import from_moment
from gatewayd.contract.pages import MAX_KEY, Listing, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.store import ReadTx, Row, Table

R = TypeVar("R", bound=msgspec.Struct)

_NOTHING: Final[Mapping[str, object]] = {}
_ANY = ("",)


class _Order(NamedTuple):
    """What is behind a cursor, and in which order it follows."""

    behind: str
    by: str


_NEWEST = _Order(" AND id < :after_id", " ORDER BY id DESC LIMIT :count")
_CHANGES = _Order(" AND (updated_at, id) > (:after_at, :after_id)", " ORDER BY updated_at, id LIMIT :count")


def table_page(
    tx: ReadTx,
    request: SyncRequest,
    table: Table[R],
    filters: Mapping[str, object],
    named: Mapping[str, object] = _NOTHING,
    any_of: Sequence[str] = _ANY,
) -> Listing[R]:
    """One page of the resources of a table, as they are, which meet one of some conditions. See `sync_page`."""
    selects = [table.select + condition for condition in any_of]
    return sync_page(tx, request, selects, filters, lambda row: encode(table.read(tx, row)), named)


def sync_page(
    tx: ReadTx,
    request: SyncRequest,
    select: str | Sequence[str],
    filters: Mapping[str, object],
    item: Callable[[Row], bytes],
    named: Mapping[str, object] = _NOTHING,
) -> Listing[Any]:
    """One page of `select`, each row of which `item` renders. See `sync_rows`."""
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(item(row))
        return len(items[-1])

    rows, cursor = sync_rows(tx, request, select, filters, size, named)
    return Listing.of(items[: len(rows)], cursor)


def sync_rows(
    tx: ReadTx,
    request: SyncRequest,
    select: str | Sequence[str],
    filters: Mapping[str, object],
    size: Callable[[Row], int],
    named: Mapping[str, object] = _NOTHING,
) -> tuple[list[Row], str | None]:
    """The rows of one page of `select`, and the cursor of the next. `size` is how long a row is as JSON.

    `named` are the parameters of `select` itself; conditions may name them too, and `:org_id`. `filters` maps a
    condition (`status = :status`) to the value of the one other parameter that it names, and one that names none to
    True; conditions whose value is None are left out. Several of `select`, of which no row is in two, are read off an
    index each and made one order as they are read. Raises `Problem` `invalid_cursor`.
    """
    selects = [select] if isinstance(select, str) else select
    values: dict[str, object] = dict(named)
    conditions = ""
    for condition, value in filters.items():
        if value is not None:
            conditions += f" AND {condition}"
            own = _parameters(condition) - named.keys()
            assert len(own) <= 1, condition
            values |= dict.fromkeys(own, value)
    order = _NEWEST if request.updated_since is None else _CHANGES
    sql = " UNION ALL ".join(one + conditions + order.behind for one in selects) + order.by
    found = tx.each(sql, count=request.limit + 1, **_start(request), **values)
    rows, more = fill(found, request.limit, size)
    if not more:
        return rows, None
    id_, updated_at, *_ = rows[-1]
    return rows, next_cursor(request, (id_,) if request.updated_since is None else (updated_at, id_))


def _start(request: SyncRequest) -> dict[str, object]:
    """The values that the order names: those of the cursor, or else what nothing is before."""
    if request.updated_since is None:
        key = cursor_key(request, str)
        return {"after_id": MAX_KEY if key is None else key[0]}
    key = cursor_key(request, int, str) or (from_moment(request.updated_since), "")
    return {"after_at": key[0], "after_id": key[1]}


@functools.cache  # conditions are constants of the program
def _parameters(condition: str) -> frozenset[str]:
    """What a condition names, but for what the transaction binds."""
    return frozenset(re.findall(r":([a-z_]+)", condition)) - {"org_id"}


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
