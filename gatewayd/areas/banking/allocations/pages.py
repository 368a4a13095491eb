"""Pages of allocations: one statement for each combination of filters, built from constant pieces and kept.

Every filter alone stays flat with a million allocations, because each has an index in the order of the list:

    updatedSince      by `updated_at`, oldest first
    anything else     by the date of the money, latest first

Each order is total, by the id in the end.
"""

import datetime
import functools
from collections.abc import Mapping

from gatewayd.areas.banking.allocations.shapes import AllocationTotal, ListAllocations
from gatewayd.clock import from_moment
from gatewayd.contract.pages import MAX_KEY, Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid_field
from gatewayd.ledger.allocation_shapes import Allocation
from gatewayd.ledger.allocations import ALLOCATIONS
from gatewayd.money import Money
from gatewayd.store import ReadTx

_CONDITIONS: Mapping[str, str] = {
    "external_id": "external_id = :external_id",
    "bank_transaction_id": "source_id = :bank_transaction_id",
    "invoice_id": "invoice_id = :invoice_id",
    "business_id": "business_id = :business_id",
    "property_id": "property_id = :property_id",
    "tenancy_id": "tenancy_id = :tenancy_id",
    "category": "category = :category",
    "direction": "direction = :direction",
    "matched_by": "matched_by = :matched_by",
    "from_date": "date >= :from_date",
    "to_date": "date <= :to_date",
}
_BY_DATE = " AND (date, id) < (:after_at, :after_id) ORDER BY date DESC, id DESC LIMIT :count"
_BY_CHANGE = " AND (updated_at, id) > (:after_at, :after_id) ORDER BY updated_at, id LIMIT :count"
_SELECT_TOTALS = """
SELECT currency, count(id), sum(CASE WHEN direction = 'in' THEN amount ELSE 0 END),
    sum(CASE WHEN direction = 'out' THEN amount ELSE 0 END)
FROM allocations WHERE org_id = :org_id AND {conditions} GROUP BY currency ORDER BY currency
"""
_LAST_DATE = "9999-12-31"
_ANY_DAY = f"date <= '{_LAST_DATE}'"


def page(tx: ReadTx, request: ListAllocations) -> Listing[Allocation]:
    """One page of allocations. Raises `Problem`: `invalid_cursor`, `validation_failed` (`date_order`)."""
    if request.from_date is not None and request.to_date is not None and request.to_date < request.from_date:
        raise invalid_field("toDate", "date_order", "It is before `fromDate`.")
    filters = _filters(request)
    changes = request.updated_since is not None
    named = {name: value for name, value in filters.items() if changes or name != "to_date"}
    sql = _page_sql(tuple(named), changes)
    items: list[bytes] = []

    def size(row: Allocation) -> int:
        items.append(encode(row))
        return len(items[-1])

    found = tx.each(sql, count=request.limit + 1, **named, **_start(request))
    rows, more = fill((ALLOCATIONS.read(tx, row) for row in found), request.limit, size)
    cursor = None
    if more:
        last = rows[-1]
        key = last.date if request.updated_since is None else int(last.updated_at)
        cursor = next_cursor(request, (key, last.id))
    extra = b',"totals":%b' % encode(_totals(tx, filters)) if request.include_totals else b""
    return Listing.of(items[: len(rows)], cursor, extra)


def _totals(tx: ReadTx, filters: Mapping[str, object]) -> list[AllocationTotal]:
    """The sums of all that the filters leave, in each currency."""
    return [
        AllocationTotal(currency=currency, count=count, money_in=Money(came, currency), money_out=Money(went, currency))
        for currency, count, came, went in tx.rows(_totals_sql(tuple(filters)), **filters)
    ]


def _filters(request: ListAllocations) -> dict[str, object]:
    given = {name: getattr(request, name) for name in _CONDITIONS}
    return {
        name: value.isoformat() if isinstance(value, datetime.date) else value
        for name, value in given.items()
        if value is not None
    }


def _start(request: ListAllocations) -> dict[str, object]:
    """Where the page starts: by date at the last day of the range, for an index is entered at one place."""
    if request.updated_since is None:
        last = _LAST_DATE if request.to_date is None else request.to_date.isoformat()
        key = cursor_key(request, str, str) or (last, MAX_KEY)
    else:
        key = cursor_key(request, int, str) or (from_moment(request.updated_since), "")
    return {"after_at": key[0], "after_id": key[1]}


@functools.cache  # of constant pieces: as many as there are combinations of filters
def _page_sql(conditions: tuple[str, ...], changes: bool) -> str:
    filters = "".join(f" AND {_CONDITIONS[name]}" for name in conditions)
    return ALLOCATIONS.select + filters + (_BY_CHANGE if changes else _BY_DATE)


@functools.cache
def _totals_sql(conditions: tuple[str, ...]) -> str:
    return _SELECT_TOTALS.format(conditions=" AND ".join(_CONDITIONS[name] for name in conditions) or _ANY_DAY)
