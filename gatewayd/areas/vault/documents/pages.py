"""Pages of the documents in a folder, in each of their orders: every one is an index's own.

name          from A on
createdAt     newest first
documentDate  latest first, those without a date last
size          largest first, those without bytes last
"""

from typing import Final, NamedTuple

from gatewayd.areas.vault.documents import rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import Document, ListDocuments, Sort
from gatewayd.contract.pages import Listing, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, Row

_LIVE: Final = f"{DOCUMENTS.select} AND status <> 'deleted'"
_IN_FOLDER: Final = f"{_LIVE} AND coalesce(folder_id, '') = :folder_id"
_BELOW: Final = f"""
WITH RECURSIVE below (id) AS (
    SELECT id FROM vault_folders WHERE org_id = :org_id AND id = :folder_id
    UNION ALL
    SELECT f.id FROM vault_folders f JOIN below ON f.parent_id = below.id WHERE f.org_id = :org_id
)
{_LIVE} AND folder_id IN (SELECT id FROM below)
"""
_STARRED: Final = f"{_LIVE} AND starred = 1"
_TRASH: Final = f"{DOCUMENTS.select} AND status = 'deleted'"
_EXTERNAL: Final = " AND external_id = :external_id"


class _Order(NamedTuple):
    """An order: what is selected of the document behind which a page begins, what lies behind it, and the order."""

    key: str
    behind: str
    by: str


_ORDERS: Final[dict[Sort, _Order]] = {
    "name": _Order("name_key", " AND (name_key, id) > (:after, :after_id)", " ORDER BY name_key, id LIMIT :count"),
    "createdAt": _Order("id", " AND id < :after", " ORDER BY id DESC LIMIT :count"),
    "documentDate": _Order(
        "date_key", " AND (date_key, id) < (:after, :after_id)", " ORDER BY date_key DESC, id DESC LIMIT :count"
    ),
    "size": _Order(
        "size_key", " AND (size_key, id) < (:after, :after_id)", " ORDER BY size_key DESC, id DESC LIMIT :count"
    ),
}
_KEYS: Final = {
    sort: f"SELECT {order.key} FROM vault_documents WHERE org_id = :org_id AND id = :id"
    for sort, order in _ORDERS.items()
}


def in_folder(tx: ReadTx, request: ListDocuments, folder_id: str | None, *, recursive: bool) -> Listing[Document]:
    """The documents in a folder, and with `recursive` in those below it; None: at the top."""
    select = _BELOW if recursive else _IN_FOLDER
    if request.external_id is not None:
        select += _EXTERNAL
    asked: dict[str, object] = {"folder_id": folder_id or ""}
    if request.external_id is not None:
        asked["external_id"] = request.external_id
    return _page(tx, request, request.sort, select, asked)


def starred(tx: ReadTx, request: PageRequest) -> Listing[Document]:
    """The documents with a star, newest first."""
    return _page(tx, request, "createdAt", _STARRED, {})


def in_trash(tx: ReadTx, request: PageRequest) -> Listing[Document]:
    """The documents in the trash, newest first."""
    return _page(tx, request, "createdAt", _TRASH, {})


def _page(tx: ReadTx, request: PageRequest, sort: Sort, select: str, asked: dict[str, object]) -> Listing[Document]:
    """A page begins behind a document: its name may be longer than a cursor. Raises `Problem` `invalid_cursor`."""
    key, order = cursor_key(request, str), _ORDERS[sort]
    sql = select + order.by
    if key is not None:
        after = tx.row(_KEYS[sort], id=key[0])
        if after is None:
            raise Problem("invalid_cursor", "The document behind which the page begins is gone: begin anew.")
        sql, asked = select + order.behind + order.by, {**asked, "after": after[0], "after_id": key[0]}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(encode(rows.shown(tx, DOCUMENTS.read(tx, row))))
        return len(items[-1])

    found, more = fill(tx.each(sql, count=request.limit + 1, **asked), request.limit, size)
    return Listing.of(items[: len(found)], next_cursor(request, (found[-1][0],)) if more else None)
