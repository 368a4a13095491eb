"""Pages of invoices: one statement for each combination of filters, built from constant pieces and kept.

Every filter alone stays flat with a million invoices, because the order follows the filter:

    updatedSince                  by `updated_at`, oldest first
    issueDateFrom, issueDateTo    by issue date, latest first
    dueDateFrom, dueDateTo        by due date, latest first
    anything else                 newest created first

Each order is total, by the id in the end. Several states are a merge of one ordered branch for each.
"""

import datetime
import functools
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gatewayd.areas.accounting.invoices.rows import INVOICES, NOT_OVERDUE, OVERDUE, id_of
from gatewayd.areas.accounting.invoices.shapes import Invoice, ListInvoices
from gatewayd.areas.accounting.invoices.states import OPEN, STATUSES
from gatewayd.clock import LAST_DATE
from gatewayd.contract.pages import MAX_KEY, PAGE_BYTES, Listing, cursor_key, fill, next_cursor
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.lists import Changed, changes_page, contains, start_of_changes
from gatewayd.store import ReadTx, Row

Order = Literal["newest", "changes", "issued", "due"]


class _Ordering(NamedTuple):
    """`columns` are the sort key, `after` the rows behind the cursor, `key` the types of the cursor's members."""

    columns: str
    after: str
    by: str
    key: tuple[type, ...]


_ORDERINGS: dict[Order, _Ordering] = {
    "newest": _Ordering("id", "id < :after_id", "id DESC", (str,)),
    "changes": _Ordering("updated_at, id", "(updated_at, id) > (:after_at, :after_id)", "updated_at, id", (int, str)),
    "issued": _Ordering(
        "issue_date, id", "(issue_date, id) < (:after_at, :after_id)", "issue_date DESC, id DESC", (str, str)
    ),
    "due": _Ordering("due_date, id", "(due_date, id) < (:after_at, :after_id)", "due_date DESC, id DESC", (str, str)),
}
_CONDITIONS = {
    "client_id": "client_id = :client_id",
    "business_id": "business_id = :business_id",
    "legal_entity_id": "legal_entity_id = :legal_entity_id",
    "property_id": "property_id = :property_id",
    "kind": "kind = :kind",
    "credits_invoice_id": "credits_invoice_id = :credits_invoice_id",
    "recurring_id": "recurring_id = :recurring_id",
    "quote_id": "quote_id = :quote_id",
    "issue_date_from": "issue_date >= :issue_date_from",
    "issue_date_to": "issue_date <= :issue_date_to",
    "due_date_from": "due_date >= :due_date_from",
    "due_date_to": "due_date <= :due_date_to",
    "currency": "currency = :currency",
    "external_id": "external_id = :external_id",
    "pattern": "search_text LIKE :pattern ESCAPE '!'",
}
_PLAIN_FILTERS = tuple(name for name in _CONDITIONS if name != "pattern")
_INDEXED = frozenset({"client_id", "business_id", "credits_invoice_id", "recurring_id", "quote_id", "external_id"})
"""Filters with an index of their own."""
_SELECT_PAGE = """
SELECT {wire}, open_due_date < :today{key} FROM invoices WHERE org_id = :org_id AND {after}{conditions}
"""
_ENDS = {None: NOT_OVERDUE + b",", 0: NOT_OVERDUE + b",", 1: OVERDUE + b","}
_END_BYTES = max(map(len, _ENDS.values()))
_WIRE = itemgetter(0)
_ROWS_AT_ONCE = 16  # Chosen: so many of the largest, of 300 kB, are read in two milliseconds
_UNINDEXED = " || ''"


class _Branch(NamedTuple):
    """Invoices of one stored state, all of them or those that are overdue."""

    status: str
    overdue: bool


def page(tx: ReadTx, request: ListInvoices) -> Listing[Invoice]:
    """One page of invoices. Raises `Problem`: `invalid_cursor`, `cursor_expired`, `validation_failed`."""
    if errors := [*_reversed(request)]:
        raise invalid(*errors)
    order = _order(request)
    branches = _branches(request.status)
    filters = _filters(request)
    values: dict[str, Any] = {**filters, **_start(tx, request, order)}
    for index, branch in enumerate(branches):
        values[f"status_{index}"] = branch.status
    sql = _page_sql(order, tuple(filters), tuple(branch.overdue for branch in branches), request.summary_only)
    found = tx.each(sql, today=tx.today, count=request.limit + 1, **values)
    if order == "changes":
        changed = (Changed(at, id_, wire + _ENDS[overdue][:-1]) for wire, overdue, at, id_ in found)
        return changes_page(tx, request, INVOICES.name, (values["after_at"], values["after_id"]), changed)
    rows, more = _fill(found, request.limit)
    cursor = None
    if more:
        wire, _, *key = rows[-1]
        cursor = next_cursor(request, tuple(key) or (id_of(wire),))
    return Listing(_pieces(rows), cursor)


def _reversed(request: ListInvoices) -> Iterator[FieldError]:
    """Ranges that end before they begin."""
    if request.issue_date_from and request.issue_date_to and request.issue_date_to < request.issue_date_from:
        yield FieldError("issueDateTo", "date_order", "It is before issueDateFrom: expected that day or a later one.")
    if request.due_date_from and request.due_date_to and request.due_date_to < request.due_date_from:
        yield FieldError("dueDateTo", "date_order", "It is before dueDateFrom: expected that day or a later one.")


def _fill(stored: Iterator[Row], limit: int) -> tuple[list[Row], bool]:
    """The rows that `contract.pages.fill` would choose, at a third of the cost: sizes of several are added at once."""
    rows: list[Row] = []
    room = PAGE_BYTES
    while taken := list(islice(stored, _ROWS_AT_ONCE)):
        rows += taken
        room -= sum(map(len, map(_WIRE, taken))) + _END_BYTES * len(taken)
        if room < 0:
            return fill(rows, limit, _size)
    return rows[:limit], len(rows) > limit


def _size(row: Row) -> int:
    return len(row[0]) + _END_BYTES - 1


def _pieces(rows: list[Row]) -> list[bytes]:
    """The pieces of a `Listing`; rows start with the kept bytes and whether it is overdue (None: nothing is due)."""
    if not rows:
        return []
    wires, overdue, *_ = zip(*rows, strict=True)
    pieces = [b""] * (2 * len(rows))  # filled a column at a time: half the cost of a loop over the rows
    pieces[::2] = wires
    pieces[1::2] = map(_ENDS.__getitem__, overdue)
    pieces[-1] = pieces[-1][:-1]
    return pieces


def _order(request: ListInvoices) -> Order:
    if request.updated_since is not None:
        return "changes"
    if request.issue_date_from is not None or request.issue_date_to is not None:
        return "issued"
    if request.due_date_from is not None or request.due_date_to is not None:
        return "due"
    return "newest"


def _start(tx: ReadTx, request: ListInvoices, order: Order) -> dict[str, object]:
    """Where the page starts."""
    if order == "changes":
        return dict(zip(("after_at", "after_id"), start_of_changes(tx, request, INVOICES.name), strict=True))
    key = cursor_key(request, *_ORDERINGS[order].key)
    if order == "newest":
        return {"after_id": MAX_KEY if key is None else key[0]}
    if key is not None:
        return {"after_at": key[0], "after_id": key[1]}
    return {"after_at": LAST_DATE, "after_id": MAX_KEY}


def _filters(request: ListInvoices) -> dict[str, object]:
    filters: dict[str, object] = {}
    for name in _PLAIN_FILTERS:
        value = getattr(request, name)
        if value is not None:
            filters[name] = value.isoformat() if isinstance(value, datetime.date) else value
    if request.q is not None:
        filters["pattern"] = contains(request.q)
    return filters


def _branches(wanted: Sequence[str] | None) -> list[_Branch]:
    """The stored states asked for; `overdue` is a part of those in which money may be due. Empty is no filter."""
    if wanted is None or set(wanted) >= set(STATUSES):
        return []
    branches = [_Branch(status, False) for status in STATUSES if status in wanted]
    if "overdue" in wanted:
        branches += [_Branch(status, True) for status in OPEN if status not in wanted]
    return branches


@functools.cache  # of constant pieces: as many as there are combinations of filters
def _page_sql(order: Order, conditions: tuple[str, ...], branches: tuple[bool, ...], summary: bool) -> str:
    ordering = _ORDERINGS[order]
    parts = [_CONDITIONS[name] for name in conditions]
    if order != "newest" or _INDEXED.intersection(conditions):
        states = _states(branches)
        alternatives = [[*parts, states]] if states else [parts]
    else:
        alternatives = [[*parts, _state(index, overdue, "")] for index, overdue in enumerate(branches)] or [parts]
    # Every column costs, and the key of the last row alone is used: of a page by id it is taken from the JSON. A merge
    # needs the columns that it is ordered by.
    key = "" if order == "newest" and len(alternatives) == 1 else f", {ordering.columns}"
    selects = [_select(ordering, alternative, summary, key) for alternative in alternatives]
    return f"{' UNION ALL '.join(selects)} ORDER BY {ordering.by} LIMIT :count"


def _select(ordering: _Ordering, conditions: list[str], summary: bool, key: str) -> str:
    return _SELECT_PAGE.format(
        wire="substr(wire, 1, CAST(head_length AS INTEGER))" if summary else "wire",
        key=key,
        after=ordering.after,
        conditions="".join(f" AND {condition}" for condition in conditions),
    )


def _states(branches: tuple[bool, ...]) -> str:
    """The states as one condition on rows that another index finds; `_UNINDEXED` keeps the index on states out of it.

    It would be worse: a client has few invoices and a state has many.
    """
    if not branches:
        return ""
    return f"({' OR '.join(_state(index, overdue, _UNINDEXED) for index, overdue in enumerate(branches))})"


def _state(index: int, overdue: bool, suffix: str) -> str:
    condition = f"status{suffix} = :status_{index}"
    return f"({condition} AND open_due_date < :today)" if overdue else condition
