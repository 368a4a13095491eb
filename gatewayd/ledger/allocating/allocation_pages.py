"""Pages of allocations: one statement for each combination of filters, built from constant pieces and kept.

Every filter alone stays flat with a million allocations, because each has an index in the order of the list:

    updatedSince      by `updated_at`, oldest first
    anything else     by the date of the money, latest first

Each order is total, by the id in the end. Reads only.
"""

import datetime
import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gatewayd.clock import LAST_DATE
from gatewayd.contract.pages import MAX_KEY, Listing, SyncRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.lists import Changed, changes_page, start_of_changes
from gatewayd.store import ReadTx

_CONDITIONS: Mapping[str, str] = {
    "external_id": "external_id = :external_id",
    "bank_transaction_id": "source_id = :bank_transaction_id",
    "invoice_id": "invoice_id = :invoice_id",
    "bill_id": "bill_id = :bill_id",
    "business_id": "business_id = :business_id",
    "property_id": "property_id = :property_id",
    "unit_id": "unit_id = :unit_id",
    "tenancy_id": "tenancy_id = :tenancy_id",
    "mortgage_id": "mortgage_id = :mortgage_id",
    "rule_id": "rule_id = :rule_id",
    "category": "category = :category",
    "direction": "direction = :direction",
    "matched_by": "matched_by = :matched_by",
    "from_date": "date >= :from_date",
    "to_date": "date <= :to_date",
    "of_lets": "property_id IS NOT NULL",
}
"""The condition of each filter, by name. `of_lets` has no parameter: that it is among the filters is enough."""
_NARROW = frozenset(
    {"bank_transaction_id", "invoice_id", "bill_id", "property_id", "unit_id", "tenancy_id", "mortgage_id", "rule_id"}
)
_BESIDE_NARROW: Mapping[str, str] = {
    "category": "coalesce(category, '') = :category",
    "direction": "coalesce(direction, '') = :direction",
    "matched_by": "coalesce(matched_by, '') = :matched_by",
}
"""Filters that leave many rows, where a narrow one stands beside them. `coalesce`, which changes nothing since none of
these columns is null, keeps SQLite from choosing their index instead of the narrow one's."""
_ANY_CATEGORY = "coalesce(category, '')"
_OF_LETS_BESIDE = "coalesce(property_id, '') <> ''"
"""`of_lets` beside a filter whose index finds fewer rows: written so that SQLite does not choose the index of lets."""
_CATEGORY = "category_"
"""Begins the names of the parameters of several categories."""
_BY_DATE = " AND (date, id) < (:after_at, :after_id) ORDER BY date DESC, id DESC LIMIT :count"
_BY_CHANGE = " AND (updated_at, id) > (:after_at, :after_id) ORDER BY updated_at, id LIMIT :count"
_SELECT_TOTALS = """
SELECT currency, count(id), sum(CASE WHEN direction = 'in' THEN amount ELSE 0 END),
    sum(CASE WHEN direction = 'out' THEN amount ELSE 0 END)
FROM allocations WHERE org_id = :org_id AND {conditions} GROUP BY currency ORDER BY currency
"""
_SELECT_WRITTEN_OFF = """
SELECT currency, sum(amount) FROM allocations
WHERE org_id = :org_id AND {conditions} AND purpose = 'rent_written_off' GROUP BY currency
"""
_ANY_DAY = f"date <= '{LAST_DATE}'"

Filters = Mapping[str, object]


class CurrencyTotal(NamedTuple):
    """How many came in and went out in one currency, and how much, minor units."""

    currency: str
    number: int
    money_in: int
    money_out: int


def filters_of(**filters: object) -> dict[str, object]:
    """The filters that are given, by the names above; dates are turned into text."""
    return {
        name: value.isoformat() if isinstance(value, datetime.date) else value
        for name, value in filters.items()
        if value is not None
    }


def of_categories(categories: Sequence[str]) -> dict[str, object]:
    """The filter of allocations that have one of some categories; of none, no filter."""
    if len(categories) == 1:
        return {"category": categories[0]}
    return {f"{_CATEGORY}{index}": category for index, category in enumerate(categories)}


def page(tx: ReadTx, request: SyncRequest, filters: Filters) -> Listing[Allocation]:
    """One page of allocations. Raises `Problem`: `invalid_cursor`, `cursor_expired`."""
    if request.updated_since is not None:
        return _changes(tx, request, filters)
    named = {name: value for name, value in filters.items() if name != "to_date"}
    names = tuple(named)
    key = cursor_key(request, str, str) or (str(filters.get("to_date", LAST_DATE)), MAX_KEY)
    named |= {"after_at": key[0], "after_id": key[1]}  # at the last day of a range: an index is entered at one place
    items: list[bytes] = []

    def size(row: Allocation) -> int:
        items.append(encode(row))
        return len(items[-1])

    rows = tx.each(_page_sql(names, False), count=request.limit + 1, **named)
    taken, more = fill((ALLOCATIONS.read(tx, row) for row in rows), request.limit, size)
    cursor = next_cursor(request, (taken[-1].date, taken[-1].id)) if more else None
    return Listing.of(items[: len(taken)], cursor)


def _changes(tx: ReadTx, request: SyncRequest, filters: Filters) -> Listing[Allocation]:
    start = start_of_changes(tx, request, ALLOCATIONS.name)
    sql = _page_sql(tuple(filters), True)
    rows = tx.each(sql, count=request.limit + 1, after_at=start[0], after_id=start[1], **filters)
    allocations = (ALLOCATIONS.read(tx, row) for row in rows)
    changed = (Changed(row.updated_at, row.id, encode(row)) for row in allocations)
    return changes_page(tx, request, ALLOCATIONS.name, start, changed)


def totals(tx: ReadTx, filters: Filters) -> list[CurrencyTotal]:
    """The sums of all that the filters leave, in each currency. Rent that was written off is counted, and no money."""
    names = tuple(filters)
    sums = [CurrencyTotal(*row) for row in tx.rows(_totals_sql(_SELECT_TOTALS, names), **filters)]
    lost: dict[str, int] = dict(tx.rows(_totals_sql(_SELECT_WRITTEN_OFF, names), **filters)) if sums else {}
    return [total._replace(money_in=total.money_in - lost.get(total.currency, 0)) for total in sums]


@functools.cache  # of constant pieces: as many as there are combinations of filters
def _page_sql(names: tuple[str, ...], changes: bool) -> str:
    filters = "".join(f" AND {condition}" for condition in _conditions(names))
    return ALLOCATIONS.select + filters + (_BY_CHANGE if changes else _BY_DATE)


@functools.cache
def _totals_sql(select: str, names: tuple[str, ...]) -> str:
    conditions = _conditions(names)
    if "of_lets" in names and any(name.startswith(("category", "direction")) for name in names):
        conditions = [_OF_LETS_BESIDE if condition == _CONDITIONS["of_lets"] else condition for condition in conditions]
    return select.format(conditions=" AND ".join(conditions) or _ANY_DAY)


def _conditions(names: tuple[str, ...]) -> list[str]:
    narrow = bool(_NARROW.intersection(names))
    by_name = {**_CONDITIONS, **_BESIDE_NARROW} if narrow else _CONDITIONS
    conditions = [by_name[name] for name in names if not name.startswith(_CATEGORY)]
    several = ", ".join(f":{name}" for name in names if name.startswith(_CATEGORY))
    if several:
        conditions.append(f"{_ANY_CATEGORY if narrow else 'category'} IN ({several})")
    return conditions
