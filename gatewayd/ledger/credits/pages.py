"""Pages of the ledger of credits: by the time at which entries occurred, then by their number."""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gatewayd.clock import Instant
from gatewayd.ledger.credits.entries import ENTRIES
from gatewayd.ledger.credits.shapes import EntryRow, EntryType
from gatewayd.store import ReadTx

_SELECT = f"SELECT {ENTRIES.sql} FROM credit_entries WHERE org_id = :org_id"
_BEFORE = """
 AND occurred_at >= :last AND (occurred_at, sequence) < (:at, :sequence)
ORDER BY occurred_at DESC, sequence DESC LIMIT :count
"""
_AFTER = """
 AND occurred_at < :last AND (occurred_at, sequence) > (:at, :sequence)
ORDER BY occurred_at, sequence LIMIT :count
"""
_OF_OPERATION = " AND operation = :operation"
_USAGE = " AND type = :type"
_RARE = " AND type = :type AND type <> 'usage'"  # as the index says that has them
_RARE_OF_OPERATION = " AND coalesce(operation, '') = :operation"  # so that the index of all operations is not taken
EARLIEST: Final = Instant(0)
LATEST: Final = Instant(1 << 60)


class Place(NamedTuple):
    """Where a page begins: behind the entry of this instant and number."""

    at: int
    sequence: int


class EntryFilter(NamedTuple):
    """Which entries: from `first` on and before `behind`; `types` None: of all types."""

    first: Instant
    behind: Instant
    types: tuple[EntryType, ...] | None
    operation: str | None
    ascending: bool


def page(tx: ReadTx, wanted: EntryFilter, place: Place | None, count: int) -> Iterator[EntryRow]:
    """The first entries behind a place, in order; None: from the first on."""
    if place is None:
        place = Place(wanted.first, 0) if wanted.ascending else Place(wanted.behind, 0)
    kinds: Sequence[EntryType | None] = [None] if wanted.types is None else sorted(set(wanted.types))
    found = [_of_type(tx, wanted, kind, (place, count)) for kind in kinds]
    merged = heapq.merge(*found, key=_key, reverse=not wanted.ascending)
    return itertools.islice(merged, count)


def _of_type(tx: ReadTx, wanted: EntryFilter, kind: EntryType | None, part: tuple[Place, int]) -> Iterator[EntryRow]:
    place, count = part
    last = wanted.behind if wanted.ascending else wanted.first
    named: dict[str, object] = {"last": last, "count": count, **place._asdict()}
    sql, of_operation = _SELECT, _OF_OPERATION
    if kind is not None:
        sql += _USAGE if kind == "usage" else _RARE
        of_operation = _OF_OPERATION if kind == "usage" else _RARE_OF_OPERATION
        named["type"] = kind
    if wanted.operation is not None:
        sql += of_operation
        named["operation"] = wanted.operation
    rows = tx.each(sql + (_AFTER if wanted.ascending else _BEFORE), **named)
    return (ENTRIES.load(values) for values in rows)


def _key(row: EntryRow) -> tuple[int, int]:
    return row.occurred_at, row.sequence
