"""What credits there are, what became of them, and what was used day by day (Spec §4, Domain A8): operations."""

import datetime
import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from gatewayd.clock import Instant, date_in, from_moment, midnight
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, LongLimit, Page, PageRequest, SortOrder, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Date, ExternalId, Request, Since, encode, project
from gatewayd.errors import invalid_field
from gatewayd.identity.people import organizations
from gatewayd.ledger.calendar.report_ranges import check_date
from gatewayd.ledger.credits import balances, usage
from gatewayd.ledger.credits.entries import ENTRIES
from gatewayd.ledger.credits.shapes import (
    CreditBalance,
    EntryRow,
    EntryType,
    LedgerEntry,
    OperationName,
    UsageSummary,
)
from gatewayd.store import ReadTx

DAYS_DEFAULT: Final = 30
DAYS_MAX: Final = 366
_DAY = datetime.timedelta(days=1)


TimeZone = Annotated[
    str,
    Meta(
        max_length=64,
        pattern=r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
        extra={"form": "the name of a time zone"},
        description="An IANA name; by default the organization's.",
        examples=["Europe/Paris"],
    ),
]
_SELECT = f"SELECT {ENTRIES.sql} FROM credit_entries WHERE org_id = :org_id"
_SELECT_EXTERNAL = f"{_SELECT} AND external_id = :external_id"
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


class GetBalance(Request, frozen=True, kw_only=True):
    """Which instant is asked about."""

    as_of: Since | None = None
    """The instant that is asked about. By default now; of one to come, without what expires until then."""


class GetLedger(PageRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    limit: LongLimit = 50
    from_date: Date | None = None
    """The first day on which entries occurred, in the organization's time zone."""
    to_date: Date | None = None
    """The last day on which entries occurred, inclusive, in the organization's time zone."""
    type: Annotated[list[EntryType], Meta(min_length=1)] | None = None
    """The types to list, any of them."""
    operation: OperationName | None = None
    external_id: ExternalId | None = None
    order: SortOrder = "desc"
    """By when entries occurred, then by `sequence`."""


class GetUsageSummary(Request, frozen=True, kw_only=True):
    """Which days, at most 366."""

    from_date: Date | None = None
    """The first day. By default 29 days before `toDate`."""
    to_date: Date | None = None
    """The last day, inclusive. By default today in the time zone."""
    timezone: TimeZone | None = None
    group_by: Literal["day", "operation"] = "day"
    """`operation`: `data` is empty, and `totals` has the operations."""


class Place(NamedTuple):
    """Where a page begins: behind the entry of this instant and number."""

    at: int
    sequence: int


class EntryFilter(NamedTuple):
    """Which entries: from `first` on and before `behind`; `types` None: of all types, `external_id` None: of any."""

    first: Instant
    behind: Instant
    types: tuple[EntryType, ...] | None
    operation: str | None
    ascending: bool
    external_id: str | None = None


def get_balance(tx: ReadTx, caller: Caller, request: GetBalance) -> CreditBalance:
    """How many credits the organization has, now or at another instant.

    What has expired is not in it, whether or not its expiry is booked yet.
    """
    return balances.balance_at(tx, None if request.as_of is None else from_moment(request.as_of))


def get_ledger(tx: ReadTx, caller: Caller, request: GetLedger) -> Listing[LedgerEntry]:
    """List what became of credits, by when it occurred.

    Entries never change: what corrects one is another, with `reversalOf`.
    """
    if request.from_date and request.to_date and request.to_date < request.from_date:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    key = cursor_key(request, int, int)
    place = None if key is None else Place(int(key[0]), int(key[1]))
    items: list[bytes] = []

    def size(row: EntryRow) -> int:
        items.append(encode(project(row, LedgerEntry)))
        return len(items[-1])

    taken, more = fill(page(tx, _filter_of(tx, request), place, request.limit + 1), request.limit, size)
    cursor = next_cursor(request, (taken[-1].occurred_at, taken[-1].sequence)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def get_usage_summary(tx: ReadTx, caller: Caller, request: GetUsageSummary) -> UsageSummary:
    """Sum up what was used, by day of a time zone or by operation.

    Every day of the range is there. What was refunded is taken off the day on which it was used.
    """
    zone = organizations.time_zone_of(tx) if request.timezone is None else usage.time_zone(request.timezone)
    today = datetime.date.fromisoformat(date_in(tx.now, zone))
    last = request.to_date or today
    check_date(last.isoformat(), "toDate")
    first = request.from_date or last - (DAYS_DEFAULT - 1) * _DAY
    check_date(first.isoformat(), "fromDate")
    if last < first:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    if (last - first).days >= DAYS_MAX:
        raise invalid_field("toDate", "range_too_long", f"Expected at most {DAYS_MAX} days.")
    days = usage.by_day(tx, first, last, zone) if request.group_by == "day" else []
    sums = usage.added(used for _, used in days) if days else usage.of_days(tx, first, last, zone)
    return UsageSummary(
        data=[usage.day_of(date, used) for date, used in days],
        totals=usage.totals_of(sums),
        from_date=first.isoformat(),
        to_date=last.isoformat(),
        timezone=zone.key,
    )


def _filter_of(tx: ReadTx, request: GetLedger) -> EntryFilter:
    zone = organizations.time_zone_of(tx)
    last = None if request.to_date == datetime.date.max else request.to_date  # no date follows it
    return EntryFilter(
        first=EARLIEST if request.from_date is None else midnight(request.from_date, zone),
        behind=LATEST if last is None else midnight(last + _DAY, zone),
        types=None if request.type is None else tuple(request.type),
        operation=request.operation,
        ascending=request.order == "asc",
        external_id=request.external_id,
    )


def page(tx: ReadTx, wanted: EntryFilter, place: Place | None, count: int) -> Iterator[EntryRow]:
    """The first entries behind a place, in order; None: from the first on."""
    if place is None:
        place = Place(wanted.first, 0) if wanted.ascending else Place(wanted.behind, 0)
    if wanted.external_id is not None:
        return itertools.islice(_of_external_id(tx, wanted, place), count)
    kinds: Sequence[EntryType | None] = [None] if wanted.types is None else sorted(set(wanted.types))
    by_kind = [_of_type(tx, wanted, kind, (place, count)) for kind in kinds]
    merged = heapq.merge(*by_kind, key=_entry_key, reverse=not wanted.ascending)
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


def _of_external_id(tx: ReadTx, wanted: EntryFilter, place: Place) -> Iterator[EntryRow]:
    """The entries behind a place that have an identifier of the caller's, which are those of one import's line."""
    rows = [ENTRIES.load(values) for values in tx.rows(_SELECT_EXTERNAL, external_id=wanted.external_id)]
    for row in sorted(rows, key=_entry_key, reverse=not wanted.ascending):
        is_behind = _entry_key(row) > place if wanted.ascending else _entry_key(row) < place
        is_of_days = wanted.first <= row.occurred_at < wanted.behind
        of_type = wanted.types is None or row.type in wanted.types
        if is_behind and is_of_days and of_type and wanted.operation in (None, row.operation):
            yield row


def _entry_key(row: EntryRow) -> tuple[int, int]:
    return row.occurred_at, row.sequence


OPERATIONS = (
    Operation(
        id="billing.getBalance",
        kind="read",
        method="GET",
        path="/billing/balance",
        scopes=("billing:read",),
        request=GetBalance,
        response=CreditBalance,
        handler=get_balance,
        example={"asOf": "2026-11-20T09:00:00Z"},
    ),
    Operation(
        id="billing.getLedger",
        kind="read",
        method="GET",
        path="/billing/ledger",
        scopes=("billing:read",),
        request=GetLedger,
        response=Page[LedgerEntry],
        handler=get_ledger,
        errors=("date_order",),
        example={"fromDate": "2026-11-01", "type": ["usage", "refund"], "limit": 20},
    ),
    Operation(
        id="billing.getUsageSummary",
        kind="read",
        method="GET",
        path="/billing/usage",
        scopes=("billing:read",),
        request=GetUsageSummary,
        response=UsageSummary,
        handler=get_usage_summary,
        errors=("date_order", "invalid_format", "out_of_range", "range_too_long"),
        long=True,
        example={"fromDate": "2026-11-18", "toDate": "2026-11-30", "timezone": "Europe/London"},
    ),
)
