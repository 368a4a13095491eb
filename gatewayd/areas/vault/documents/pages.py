"""Pages of the documents in a folder, in each of their orders and either way: every one is an index's own.

name          by default from A on
createdAt     by default newest first
documentDate  by default latest first; those without a date are before any
size          by default largest first; those without bytes are less than any

Those of all folders go by `createdAt` or `documentDate`.

Of those whose reading has come so far, pages are an index's own where most have. Of the few others all are put in
order.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import (
    Document,
    DocumentStatus,
    ListAllDocuments,
    ListDocuments,
    SomeDocuments,
    Sort,
)
from gatewayd.areas.vault.names import TOP
from gatewayd.clock import HOUR, from_moment
from gatewayd.contract.pages import Listing, PageRequest, SortOrder, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.ids import first_at
from gatewayd.ledger.lists import Changed, changes_page, contains, start_of_changes
from gatewayd.store import ReadTx, Row

_LIVE: Final = " AND d.status <> 'deleted'"
_IN_FOLDER: Final = f"{_LIVE} AND coalesce(d.folder_id, '') = :folder_id"
_IN_FOLDERS: Final = """ AND d.folder_id IN (
    WITH RECURSIVE below (id) AS (
        SELECT id FROM vault_folders WHERE org_id = :org_id AND id IN ({names})
        UNION ALL
        SELECT f.id FROM vault_folders f JOIN below ON f.parent_id = below.id WHERE f.org_id = :org_id
    )
    SELECT id FROM below
)"""
_BELOW: Final = _LIVE + _IN_FOLDERS.format(names=":folder_id")
_OF_TYPES: Final = " AND d.mime_type IN ({names})"
_SAME_BYTES: Final = """ AND d.id IN (
    SELECT s.id FROM vault_documents s WHERE s.org_id || '' = :org_id AND s.sha256 = :sha256
)"""  # || '': or SQLite takes an index of all that the organization has
_PARAMETER: Final = re.compile(r":([a-z_0-9]+)")
_APART: Final = HOUR  # Chosen: more than lies between the time of an id and `createdAt`
_STARRED: Final = f"{_LIVE} AND d.starred = 1"
_TRASH: Final = " AND d.status = 'deleted'"
_FAILED: Final = f"{rows.SELECT_BY_PARSE} AND d.status = 'uploaded' ORDER BY d.id DESC LIMIT :count"
_EXTERNAL: Final = " AND d.external_id = :external_id"
_PARSED: Final = " AND coalesce(p.status, 'none') = :parse_status"
_FEW: Final = frozenset({"queued", "running", "failed", "skipped"})
"""States of reading that few documents are in for long."""


_TO_COME: Final = " AND d.status = 'pending_upload'"
_IN_TIME: Final = " AND (d.received_at IS NOT NULL OR d.upload_expires_at > :now)"
_TOO_LATE: Final = " AND d.received_at IS NULL AND d.upload_expires_at <= :now"
_OF_STATUS: Final[dict[DocumentStatus, str]] = {
    "pending_upload": _TO_COME + _IN_TIME,
    "upload_expired": _TO_COME + _TOO_LATE,
    "uploaded": f"{_LIVE} AND d.status = 'uploaded'",
    "deleted": " AND d.status = 'deleted'",
}
"""The conditions of `rows.status_of`, each with those of the index that has its documents."""
_CHANGES: Final = """
 AND (d.updated_at, d.id) > (:after_at, :after_id) ORDER BY d.updated_at, d.id LIMIT :count"""
_UPDATED_AT: Final = DOCUMENTS.names.index("updated_at")


class _Order(NamedTuple):
    """An order: what is selected of the document behind which a page begins, what lies behind it, and the order."""

    key: str
    behind: str
    by: str


def _order_of(column: str, order: SortOrder) -> _Order:
    sign, way = (">", "") if order == "asc" else ("<", " DESC")
    if column == "id":
        return _Order("id", f" AND d.id {sign} :after", f" ORDER BY d.id{way} LIMIT :count")
    behind = f" AND (d.{column}, d.id) {sign} (:after, :after_id)"
    return _Order(column, behind, f" ORDER BY d.{column}{way}, d.id{way} LIMIT :count")


_COLUMNS: Final[Mapping[Sort, str]] = {
    "name": "name_key",
    "createdAt": "id",
    "documentDate": "date_key",
    "size": "size_key",
}
_WAYS: Final[tuple[SortOrder, ...]] = ("asc", "desc")
_ORDERS: Final = {(sort, way): _order_of(column, way) for sort, column in _COLUMNS.items() for way in _WAYS}
_KEYS: Final = {
    sort: f"SELECT {column} FROM vault_documents WHERE org_id = :org_id AND id = :id"
    for sort, column in _COLUMNS.items()
}


class _Sorting(NamedTuple):
    """By what a list goes, and which way; from A to Z where names go no other way, else the greatest first."""

    sort: Sort = "createdAt"
    order: SortOrder = "desc"


def _sorting(sort: Sort, order: SortOrder | None) -> _Sorting:
    return _Sorting(sort, order or ("asc" if sort == "name" else "desc"))


def in_folder(tx: ReadTx, request: ListDocuments, folder_id: str | None, *, recursive: bool) -> Listing[Document]:
    """The documents in a folder, and with `recursive` in those below it; None: at the top."""
    own = _BELOW.format(folders=":folder_id") if recursive else _IN_FOLDER
    return _some(tx, request, own, _sorting(request.sort, request.order), {"folder_id": folder_id or ""})


def _some(
    tx: ReadTx, request: SomeDocuments, own: str, sorting: _Sorting, values: dict[str, object]
) -> Listing[Document]:
    """A page of the documents that meet a condition, and the filters that every list has."""
    select = (rows.SELECT_BY_PARSE if request.parse_status in _FEW else rows.SELECT) + own
    if request.external_id is not None:
        select += _EXTERNAL
        values["external_id"] = request.external_id
    if request.parse_status is not None:
        select += "" if request.parse_status in _FEW else _PARSED
        values["parse_status"] = request.parse_status
    return _page(tx, request, sorting, select, values)


def everywhere(tx: ReadTx, request: ListAllDocuments) -> Listing[Document]:
    """The documents of all folders. Raises `Problem`: `invalid_cursor`, `cursor_expired`."""
    is_few = request.parse_status in _FEW and request.updated_since is None
    select = rows.SELECT_BY_PARSE if is_few else rows.SELECT
    if request.status is not None:
        select += _OF_STATUS[request.status]
    elif request.updated_since is None:
        select += _LIVE
    if request.parse_status is not None and not is_few:
        select += _PARSED
    by_date = request.document_date_from is not None or request.document_date_to is not None
    sorting = _sorting(request.sort or ("documentDate" if by_date else "createdAt"), request.order)
    conditions, values = _filters(request, sorting)
    select += conditions
    if request.updated_since is not None:
        return _changes(tx, request, select, values)
    return _page(tx, request, sorting, select, values)


def _filters(request: ListAllDocuments, sorting: _Sorting) -> tuple[str, dict[str, object]]:
    """The conditions in force but for those of states, and the values that all of them name."""
    link = None if request.property_id is None else rows.link_to_property(request.property_id)
    named: dict[str, object] = {
        " AND coalesce(d.folder_id, '') = :folder_id": "" if request.folder_id == TOP else request.folder_id,
        " AND d.contract_id = :contract_id": request.contract_id,
        _SAME_BYTES: request.sha256,
        " AND d.links LIKE :link ESCAPE '!'": contains(link),
        " AND d.external_id = :external_id": request.external_id,
        **_dates(request, sorting),
        **_instants(request, sorting),
    }
    in_force = {condition: value for condition, value in named.items() if value is not None}
    values = {name: value for condition, value in in_force.items() for name in _PARAMETER.findall(condition)[-1:]}
    conditions = "".join(in_force)
    for name, template, each in (
        ("folder", _IN_FOLDERS, request.folder_ids),
        ("type", _OF_TYPES, request.mime_type),
    ):
        if each is not None:
            some = {f"{name}_{index}": value for index, value in enumerate(dict.fromkeys(each))}
            conditions += template.format(names=", ".join(f":{parameter}" for parameter in some))
            values |= some
    if request.starred is not None:
        conditions += " AND d.starred = 1" if request.starred else " AND d.starred = 0"
    if request.parse_status is not None:
        values["parse_status"] = request.parse_status
    return conditions, values


def _begins(request: ListAllDocuments, sorting: _Sorting, sort: Sort, order: SortOrder) -> bool:
    """Whether an end of a range says where a page begins.

    A page behind another begins where that ended, for an index is entered at one place; the other end says where it
    ends. Of a list that goes by something else both decide of each row.
    """
    return request.cursor is None or request.updated_since is not None or sorting != (sort, order)


def _dates(request: ListAllDocuments, sorting: _Sorting) -> dict[str, object]:
    first, last = request.document_date_from, request.document_date_to
    is_first = _begins(request, sorting, "documentDate", "asc")
    is_last = _begins(request, sorting, "documentDate", "desc")
    key = "d.date_key" if sorting.sort == "documentDate" else "coalesce(d.date_key, '')"  # whose index is not taken
    return {
        f" AND {key} > ''": True if last and not first else None,  # those without a date have none up to a day
        f" AND {key} >= :date_from": first.isoformat() if first and is_first else None,
        f" AND {key} <= :date_to": last.isoformat() if last and is_last else None,
    }


def _instants(request: ListAllDocuments, sorting: _Sorting) -> dict[str, object]:
    """Ids go by when they were made, and so does the index: `_APART` is more than lies between that and `createdAt`."""
    first = None if request.created_from is None else from_moment(request.created_from)
    last = None if request.created_to is None else from_moment(request.created_to)
    conditions: dict[str, object] = {
        " AND d.created_at >= :created_from": first,
        " AND d.created_at <= :created_to": last,
    }
    if sorting.sort != "createdAt" or request.updated_since is not None:
        return conditions
    if first is not None and _begins(request, sorting, "createdAt", "asc"):
        conditions[" AND d.id >= :least_id"] = first_at(rows.PREFIX, first - _APART)
    if last is not None and _begins(request, sorting, "createdAt", "desc"):
        conditions[" AND d.id < :behind_id"] = first_at(rows.PREFIX, last + _APART)
    return conditions


def _changes(tx: ReadTx, request: ListAllDocuments, select: str, values: dict[str, object]) -> Listing[Document]:
    start = start_of_changes(tx, request, DOCUMENTS.name)
    stored = tx.each(select + _CHANGES, after_at=start[0], after_id=start[1], count=request.limit + 1, **values)
    changed = (Changed(row[_UPDATED_AT], row[0], encode(rows.read(tx, row))) for row in stored)
    return changes_page(tx, request, DOCUMENTS.name, start, changed)


def starred(tx: ReadTx, request: SomeDocuments) -> Listing[Document]:
    """The documents with a star, newest first."""
    return _some(tx, request, _STARRED, _Sorting(), {})


def failed(tx: ReadTx, count: int) -> list[Document]:
    """The uploaded documents that could not be read at the latest attempt, newest first, wherever they lie."""
    return [rows.read(tx, row) for row in tx.rows(_FAILED, parse_status="failed", count=count)]


def in_trash(tx: ReadTx, request: SomeDocuments) -> Listing[Document]:
    """The documents in the trash, newest first."""
    return _some(tx, request, _TRASH, _Sorting(), {})


def _page(
    tx: ReadTx, request: PageRequest, sorting: _Sorting, select: str, values: dict[str, object]
) -> Listing[Document]:
    """A page begins behind a document: its name may be longer than a cursor. Raises `Problem` `invalid_cursor`."""
    key, order = cursor_key(request, str), _ORDERS[sorting]
    sql = select + order.by
    if key is not None:
        after = tx.row(_KEYS[sorting.sort], id=key[0])
        if after is None:
            raise Problem("invalid_cursor", "The document behind which the page begins is gone: begin anew.")
        sql, values = select + order.behind + order.by, {**values, "after": after[0], "after_id": key[0]}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(encode(rows.read(tx, row)))
        return len(items[-1])

    taken, more = fill(tx.each(sql, count=request.limit + 1, **values), request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1][0],)) if more else None)
