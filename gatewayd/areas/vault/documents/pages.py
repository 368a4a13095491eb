"""Pages of the documents in a folder, in each of their orders: every one is an index's own.

name          from A on
createdAt     newest first
documentDate  latest first, those without a date last
size          largest first, those without bytes last

Of those whose reading has come so far, pages are an index's own where most have. Of the few others all are put in
order.
"""

from typing import Final, NamedTuple

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import Document, DocumentStatus, ListAllDocuments, ListDocuments, Sort
from gatewayd.areas.vault.names import TOP
from gatewayd.contract.pages import Listing, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.ledger.lists import Changed, changes_page, start_of_changes
from gatewayd.store import ReadTx, Row

_LIVE: Final = " AND d.status <> 'deleted'"
_IN_FOLDER: Final = f"{_LIVE} AND coalesce(d.folder_id, '') = :folder_id"
_BELOW: Final = f"""{_LIVE} AND d.folder_id IN (
    WITH RECURSIVE below (id) AS (
        SELECT id FROM vault_folders WHERE org_id = :org_id AND id = :folder_id
        UNION ALL
        SELECT f.id FROM vault_folders f JOIN below ON f.parent_id = below.id WHERE f.org_id = :org_id
    )
    SELECT id FROM below
)"""
_STARRED: Final = f"{rows.SELECT}{_LIVE} AND d.starred = 1"
_TRASH: Final = f"{rows.SELECT} AND d.status = 'deleted'"
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


_ORDERS: Final[dict[Sort, _Order]] = {
    "name": _Order(
        "name_key", " AND (d.name_key, d.id) > (:after, :after_id)", " ORDER BY d.name_key, d.id LIMIT :count"
    ),
    "createdAt": _Order("id", " AND d.id < :after", " ORDER BY d.id DESC LIMIT :count"),
    "documentDate": _Order(
        "date_key", " AND (d.date_key, d.id) < (:after, :after_id)", " ORDER BY d.date_key DESC, d.id DESC LIMIT :count"
    ),
    "size": _Order(
        "size_key", " AND (d.size_key, d.id) < (:after, :after_id)", " ORDER BY d.size_key DESC, d.id DESC LIMIT :count"
    ),
}
_KEYS: Final = {
    sort: f"SELECT {order.key} FROM vault_documents WHERE org_id = :org_id AND id = :id"
    for sort, order in _ORDERS.items()
}


def in_folder(tx: ReadTx, request: ListDocuments, folder_id: str | None, *, recursive: bool) -> Listing[Document]:
    """The documents in a folder, and with `recursive` in those below it; None: at the top."""
    select = rows.SELECT_BY_PARSE if request.parse_status in _FEW else rows.SELECT
    select += _BELOW if recursive else _IN_FOLDER
    values: dict[str, object] = {"folder_id": folder_id or ""}
    if request.external_id is not None:
        select += _EXTERNAL
        values["external_id"] = request.external_id
    if request.parse_status is not None:
        select += "" if request.parse_status in _FEW else _PARSED
        values["parse_status"] = request.parse_status
    return _page(tx, request, request.sort, select, values)


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
    conditions, values = _filters(request)
    select += conditions
    if request.updated_since is not None:
        return _changes(tx, request, select, values)
    by_date = request.from_date is not None or request.to_date is not None
    return _page(tx, request, "documentDate" if by_date else "createdAt", select, values)


def _filters(request: ListAllDocuments) -> tuple[str, dict[str, object]]:
    """The conditions in force but for those of states, and the values that all of them name."""
    # a page behind another begins where that ended: an index is entered at one place
    until = request.to_date if request.cursor is None or request.updated_since is not None else None
    named = {
        " AND coalesce(d.folder_id, '') = :folder_id": request.folder_id,
        " AND d.contract_id = :contract_id": request.contract_id,
        " AND d.date_key >= :from_date": request.from_date and request.from_date.isoformat(),
        " AND d.date_key <= :to_date": None if until is None else until.isoformat(),
        " AND d.external_id = :external_id": request.external_id,
    }
    in_force = {condition: value for condition, value in named.items() if value is not None}
    values: dict[str, object] = {condition.rpartition(":")[2]: value for condition, value in in_force.items()}
    conditions = "".join(in_force)
    if request.folder_id == TOP:
        values["folder_id"] = ""
    if request.to_date is not None and request.from_date is None:
        conditions += " AND d.date_key > ''"  # those without a date have none up to a day
    if request.starred is not None:
        conditions += " AND d.starred = 1" if request.starred else " AND d.starred = 0"
    if request.parse_status is not None:
        values["parse_status"] = request.parse_status
    return conditions, values


def _changes(tx: ReadTx, request: ListAllDocuments, select: str, values: dict[str, object]) -> Listing[Document]:
    start = start_of_changes(tx, request, DOCUMENTS.name)
    stored = tx.each(select + _CHANGES, after_at=start[0], after_id=start[1], count=request.limit + 1, **values)
    changed = (Changed(row[_UPDATED_AT], row[0], encode(rows.read(tx, row))) for row in stored)
    return changes_page(tx, request, DOCUMENTS.name, start, changed)


def starred(tx: ReadTx, request: PageRequest) -> Listing[Document]:
    """The documents with a star, newest first."""
    return _page(tx, request, "createdAt", _STARRED, {})


def failed(tx: ReadTx, count: int) -> list[Document]:
    """The uploaded documents that could not be read at the latest attempt, newest first, wherever they lie."""
    return [rows.read(tx, row) for row in tx.rows(_FAILED, parse_status="failed", count=count)]


def in_trash(tx: ReadTx, request: PageRequest) -> Listing[Document]:
    """The documents in the trash, newest first."""
    return _page(tx, request, "createdAt", _TRASH, {})


def _page(tx: ReadTx, request: PageRequest, sort: Sort, select: str, values: dict[str, object]) -> Listing[Document]:
    """A page begins behind a document: its name may be longer than a cursor. Raises `Problem` `invalid_cursor`."""
    key, order = cursor_key(request, str), _ORDERS[sort]
    sql = select + order.by
    if key is not None:
        after = tx.row(_KEYS[sort], id=key[0])
        if after is None:
            raise Problem("invalid_cursor", "The document behind which the page begins is gone: begin anew.")
        sql, values = select + order.behind + order.by, {**values, "after": after[0], "after_id": key[0]}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(encode(rows.read(tx, row)))
        return len(items[-1])

    taken, more = fill(tx.each(sql, count=request.limit + 1, **values), request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1][0],)) if more else None)
