"""Lists over one table: the two orders that every list of the API has, from constant pieces of SQL.

The SELECT a caller gives names `id` and `updated_at` as its first two columns, ends inside its WHERE clause
(`... WHERE org_id = :org_id`), and is followed by the filters in force and one of the two orders:

    newest first          by id, which sorts by creation
    `updatedSince` given  by `updated_at` and id, oldest first, so that a client can follow changes
"""

import datetime
import functools
import heapq
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from gatewayd.clock import Instant, from_moment
from gatewayd.contract.pages import MAX_KEY, Listing, Removal, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, Row, Table
from gatewayd.store.rows import removals

R = TypeVar("R", bound=msgspec.Struct)

_NOTHING: Final[Mapping[str, object]] = {}
_ANY = ("",)


class _Order(NamedTuple):
    """What is behind a cursor, and in which order it follows."""

    behind: str
    by: str


_NEWEST = _Order(" AND id < :after_id", " ORDER BY id DESC LIMIT :count")
CHANGES: Final = _Order(" AND (updated_at, id) > (:after_at, :after_id)", " ORDER BY updated_at, id LIMIT :count")
_REMOVED_BYTES: Final = 120
_BEGIN_ANEW: Final = (
    "What was deleted since then is not known any more, or a restore from a backup took back what changed: begin the "
    "copy of this list anew, with updatedSince=1970-01-01T00:00:00Z."
)


class Source(NamedTuple):
    """What a list reads: statements, and the table whose removals belong to it.

    Several statements, of which no row is in two, are read off an index each and made one order as they are read.
    """

    table: Table[Any]
    selects: Sequence[str]


class Changed(NamedTuple):
    """A row that has changed: when, and its JSON."""

    at: int
    id: str
    item: bytes


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
    return sync_page(tx, request, Source(table, selects), filters, lambda row: encode(table.read(tx, row)), named)


def sync_page(
    tx: ReadTx,
    request: SyncRequest,
    source: Source,
    filters: Mapping[str, object],
    item: Callable[[Row], bytes],
    named: Mapping[str, object] = _NOTHING,
) -> Listing[Any]:
    """One page of a source, each row of which `item` renders.

    `named` are the parameters of its statements themselves; conditions may name them too, and `:org_id`. `filters` maps
    a condition (`status = :status`) to the value of the one other parameter that it names, and one that names none to
    True; conditions whose value is None are left out. Raises `Problem`: `invalid_cursor`, `cursor_expired`.
    """
    values: dict[str, object] = dict(named)
    conditions = ""
    for condition, value in filters.items():
        if value is not None:
            conditions += f" AND {condition}"
            own = _parameters(condition) - named.keys()
            assert len(own) <= 1, condition
            values |= dict.fromkeys(own, value)
    order = _NEWEST if request.updated_since is None else CHANGES
    sql = " UNION ALL ".join(one + conditions + order.behind for one in source.selects) + order.by
    values["count"] = request.limit + 1
    if request.updated_since is not None:
        start = start_of_changes(tx, request, source.table.name)
        rows = tx.each(sql, after_at=start[0], after_id=start[1], **values)
        return changes_page(tx, request, source.table.name, start, (Changed(row[1], row[0], item(row)) for row in rows))
    key = cursor_key(request, str)
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(item(row))
        return len(items[-1])

    rows = tx.each(sql, after_id=MAX_KEY if key is None else key[0], **values)
    taken, more = fill(rows, request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1][0],)) if more else None)


# -- what has changed


class _Place(NamedTuple):
    """Behind which instant and id a page of changes begins.

    `began` is when the first page was answered; None: this is the first, or a cursor of an older program does not say.
    """

    at: int
    id: str
    began: Instant | None


def _place(request: SyncRequest) -> _Place:
    assert request.updated_since is not None
    try:
        key = cursor_key(request, int, str, int)
    except Problem:
        key = (*(cursor_key(request, int, str) or ()), None)
    return _Place(from_moment(request.updated_since), "", None) if key is None else _Place(*key)


def start_of_changes(tx: ReadTx, request: SyncRequest, resource: str) -> tuple[int, str]:
    """The instant and the id behind which a page of changes begins: those of the cursor, or `updatedSince`.

    `resource` is the name of the table.

    Raises `Problem`: `invalid_cursor`, and `cursor_expired` where a deletion of since then is not known any more.
    """
    assert request.updated_since is not None
    place = _place(request)
    if removals.is_lost(tx, resource, from_moment(request.updated_since), Instant(place.at), place.began):
        raise Problem("cursor_expired", _BEGIN_ANEW)
    return place.at, place.id


def changes_page(
    tx: ReadTx,
    request: SyncRequest,
    resource: str,
    start: tuple[int, str],
    changed: Iterable[Changed],
    until: int | None = None,
) -> Listing[Any]:
    """One page of what changed behind `start` in a table: what there is of it, and between it what was deleted.

    `changed` has one row more than the page takes, where there are so many. `until`: nothing from this instant on is
    told yet, for rows of then will still appear; None: all is told.
    """
    deleted = removals.behind(tx, resource, start, request.limit + 1)
    merged = heapq.merge(changed, (Changed(at, id_, b"") for at, id_ in deleted), key=itemgetter(0, 1))
    told = merged if until is None else itertools.takewhile(lambda change: change.at < until, merged)
    taken, more = fill(told, request.limit, lambda change: len(change.item) or _REMOVED_BYTES)
    removed = [Removal(id=one.id, removed_at=Instant(one.at)) for one in taken if not one.item]
    cursor = next_cursor(request, (*taken[-1][:2], _began(tx, request))) if more else None
    return Listing.of([one.item for one in taken if one.item], cursor, b',"removed":%b' % encode(removed))


def _began(tx: ReadTx, request: SyncRequest) -> int:
    """When the first of the pages was answered, of which this is one."""
    if request.cursor is None:
        return tx.now
    return _place(request).began or 0


@functools.cache  # conditions are constants of the program
def _parameters(condition: str) -> frozenset[str]:
    """What a condition names, but for what the transaction binds."""
    return frozenset(re.findall(r":([a-z_]+)", condition)) - {"org_id"}


class _Archiving(Protocol):
    """A request of a list that leaves out what is archived."""

    @property
    def status(self) -> str | None: ...
    @property
    def include_archived(self) -> bool: ...
    @property
    def updated_since(self) -> datetime.datetime | None: ...


def archive_filter(request: _Archiving) -> dict[str, object]:
    """The filter of lists that leave out what is archived unless `status` asks for it or, without one, the caller.

    Whoever follows changes has to learn that something was archived.
    """
    if request.status == "archived":
        return {"archived_at IS NOT NULL": True}
    included = request.include_archived or request.updated_since is not None
    return {} if request.status is None and included else {"archived_at IS NULL": True}


def contains(text: str | None) -> str | None:
    """The LIKE pattern of rows whose folded text holds `text` (use with `ESCAPE '!'`); None stays None."""
    if text is None:
        return None
    escaped = text.casefold().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
