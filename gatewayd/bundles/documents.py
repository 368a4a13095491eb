"""The documents of a bundle: those that allocations and bills name, and those linked to invoices and bank lines.

documents.csv          what they are called, and under which path they lie
documents/SHA256.pdf   the bytes, once for documents that have the same

Left out is what lies in the trash. Bytes that are lost, or not what was uploaded, end the sealing: whoever sealed the
year would believe that they are in it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from gatewayd.bundles.sheets import ALLOCATIONS, BILLS, INVOICES, LINES, Sheet
from gatewayd.errors import Problem
from gatewayd.ledger.csv_text import Cell
from gatewayd.store import ReadTx
from gatewayd.store.files.blobs import Blobs

TABLE: Final = "documents.csv"
FOLDER: Final = "documents/"
HEADING: Final = ["id", "name", "mimeType", "sizeBytes", "sha256", "documentDate", "path"]
MOST: Final = 20_000  # Chosen: the manifest has a line for each
_NAMING: Final = frozenset({ALLOCATIONS, BILLS})
_LINKED: Final = frozenset({INVOICES, LINES})
_LINK_TYPES: Final = frozenset({"invoice", "bank_transaction"})
_ENDING = re.compile(r"\.[a-z0-9]{1,8}\Z", re.ASCII)
_SELECT_LINKS = """
SELECT links FROM vault_documents WHERE org_id = :org_id AND status = 'uploaded' AND links <> '[]'
"""
_SELECT = """
SELECT id, name, mime_type, size_bytes, sha256, document_date, links FROM vault_documents
WHERE org_id = :org_id AND status = 'uploaded' ORDER BY id
"""


class _Link(msgspec.Struct):
    type: str
    id: str


_links: Final = msgspec.json.Decoder(list[_Link])
_ids: Final = msgspec.json.Decoder(list[str])


class BundledDocument(NamedTuple):
    """A document, as a row of the table."""

    id: str
    name: str
    mime_type: str
    size_bytes: int
    sha256: str
    document_date: str | None
    path: str


class Entries:
    """The entries of a bundle that documents belong to, noted while their tables are written.

    Kept is only what a document is linked to: a bundle may have a million lines.
    """

    def __init__(self, tx: ReadTx) -> None:
        each = (_links.decode(row[0]) for row in tx.each(_SELECT_LINKS))
        self._linkable = {link.id for links in each for link in links if link.type in _LINK_TYPES}
        self._linked: set[str] = set()
        self._named: set[str] = set()

    def noting(self, sheet: Sheet, rows: Iterable[list[Cell]]) -> Iterator[list[Cell]]:
        """The same rows."""
        place = sheet.heading.index("documentIds") if sheet.path in _NAMING else 0
        for row in rows:
            if sheet.path in _LINKED and row[0] in self._linkable:
                self._linked.add(str(row[0]))
            elif sheet.path in _NAMING:
                self._named.update(_ids.decode(str(row[place])))
            yield row

    def documents(self, tx: ReadTx) -> list[BundledDocument]:
        """Their documents whose bytes are there and not in the trash. Raises `Problem` `limit_reached`."""
        bundled: list[BundledDocument] = []
        paths: dict[str, str] = {}
        for *row, links in tx.each(_SELECT):
            if self._has(row[0], links):
                path = paths.setdefault(row[4], _path(row[1], row[4]))
                bundled.append(BundledDocument._make((*row, path)))
            if len(bundled) > MOST:
                raise Problem("limit_reached", f"A bundle holds at most {MOST} documents.", extra={"limit": MOST})
        return bundled

    def _has(self, document_id: str, links: str) -> bool:
        if document_id in self._named:
            return True
        return any(link.type in _LINK_TYPES and link.id in self._linked for link in _links.decode(links))


def content(blobs: Blobs, document: BundledDocument) -> Iterator[bytes]:
    """The bytes of a document, a part at a time. Raises `Problem` `gone` where they are not what was uploaded."""
    digest = hashlib.sha256()
    try:
        for chunk in blobs.chunks(document.sha256):
            digest.update(chunk)
            yield chunk
    except FileNotFoundError:
        raise _gone(document, "lost") from None
    if digest.hexdigest() != document.sha256:
        raise _gone(document, "damaged")


def _path(name: str, sha256: str) -> str:
    """Where bytes lie in the bundle; the ending is that of the name of the first that has them, where it is plain."""
    ending = _ENDING.search(name.lower())
    return f"{FOLDER}{sha256}{'' if ending is None else ending.group()}"


def _gone(document: BundledDocument, what: str) -> Problem:
    message = f"The bytes of {document.id} are {what}: restore them, take it from the books, or seal without documents."
    return Problem("gone", message, extra={"documentId": document.id})
