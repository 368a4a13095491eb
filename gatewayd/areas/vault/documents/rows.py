"""Documents as they are stored. Owns the tables `vault_documents` and `vault_accesses`.

What a document shows of its reading is joined to it.

Bytes lie beside the database, under their digest, and several documents may have the same ones.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from gatewayd.areas.vault.documents import evidence, keeping, usage
from gatewayd.areas.vault.documents.shapes import (
    MOST_LINKS,
    Document,
    DocumentLink,
    DocumentRow,
    DocumentStatus,
    RecentDocument,
    StoredStatus,
)
from gatewayd.areas.vault.names import name_key
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.parses import variants
from gatewayd.clock import HOUR, Instant
from gatewayd.contract.wire import project
from gatewayd.errors import Problem, not_found
from gatewayd.store import ReadTx, RemovableTable, Row, WriteTx

PENDING: Final[StoredStatus] = "pending_upload"
UPLOADED: Final[StoredStatus] = "uploaded"
UPLOAD_LASTS: Final = 24 * HOUR  # Domain B7

PREFIX: Final = "doc"
DOCUMENTS = RemovableTable(
    "vault_documents",
    DocumentRow,
    kind="document",
    prefix=PREFIX,
    written={
        "name_key": lambda row: name_key(row.name),
        "date_key": lambda row: row.document_date or "",
        "size_key": lambda row: -1 if row.size_bytes is None else row.size_bytes,
    },
)
_WIDTH: Final = len(DOCUMENTS.names)
_OWN: Final = ", ".join(f"d.{name}" for name in DOCUMENTS.names)
_BESIDE: Final = f"""(SELECT max(a.at) FROM vault_accesses a WHERE a.org_id = :org_id AND a.document_id = d.id),
    {parses.COLUMNS}"""
_JOIN_PARSE: Final = "LEFT JOIN vault_parses p ON p.org_id = :org_id AND p.document_id = d.id"
SELECT: Final = f"""
SELECT {_OWN}, {_BESIDE} FROM vault_documents d {_JOIN_PARSE}
WHERE d.org_id = :org_id"""
"""Documents `d` of the organization with what they show beside their row: see `read`."""
SELECT_BY_PARSE: Final = f"""
SELECT {_OWN}, {_BESIDE} FROM vault_parses p CROSS JOIN vault_documents d
WHERE p.org_id = :org_id AND p.status = :parse_status AND d.org_id = :org_id AND d.id = p.document_id"""
"""The same of those whose reading has come so far, beginning with it: where few have."""
SELECT_PROPOSING: Final = f"""
SELECT {_OWN}, {_BESIDE} FROM vault_proposals q CROSS JOIN vault_documents d {_JOIN_PARSE}
WHERE q.org_id = :org_id AND q.decision IS NULL AND d.org_id = :org_id AND d.id = q.document_id
    AND d.status = 'uploaded'"""
"""The same of those on whose proposals `q` nobody has decided."""
_SELECT_BESIDE = f"""
SELECT {_BESIDE} FROM vault_documents d {_JOIN_PARSE}
WHERE d.org_id = :org_id AND d.id = :document_id
"""
_SELECT_IN_FOLDER = """
SELECT id FROM vault_documents
WHERE org_id = :org_id AND coalesce(folder_id, '') = :folder_id AND status <> 'deleted' ORDER BY id
"""
_LEAVE_FOLDER = """
UPDATE vault_documents SET folder_id = NULL, updated_at = :updated_at
WHERE org_id = :org_id AND coalesce(folder_id, '') = :folder_id
"""
_SELECT_NAMED = """
SELECT id FROM vault_documents
WHERE org_id = :org_id AND coalesce(folder_id, '') = :of AND name_key = :name_key AND id <> :id AND status <> 'deleted'
ORDER BY id LIMIT 1
"""
_SELECT_SAME_CONTENT = """
SELECT id FROM vault_documents
WHERE org_id = :org_id AND sha256 = :sha256 AND id <> :id AND status = 'uploaded' ORDER BY id LIMIT 1
"""
_SELECT_RECENT = f"""
SELECT r.at, {_OWN}, {_BESIDE}
FROM vault_accesses r
JOIN vault_documents d ON d.org_id = r.org_id AND d.id = r.document_id
{_JOIN_PARSE}
WHERE r.org_id = :org_id AND r.reader = :reader AND d.status <> 'deleted'
ORDER BY r.at DESC, r.document_id DESC LIMIT :count
"""
_SELECT_PICTURES = f"""
SELECT id, thumbnail_url FROM vault_documents
WHERE org_id = :org_id AND substr(thumbnail_url, 1, {len(variants.THUMBNAILS)}) = '{variants.THUMBNAILS}'
"""
_FORGET_ACCESSES = "DELETE FROM vault_accesses WHERE org_id = :org_id AND document_id = :document_id"
_NOTE_ACCESS = """
INSERT INTO vault_accesses (org_id, reader, document_id, at) VALUES (:org_id, :reader, :document_id, :now)
ON CONFLICT (org_id, reader, document_id) DO UPDATE SET at = excluded.at
"""


def store(tx: WriteTx, before: DocumentRow, after: DocumentRow) -> Document:
    """Store what a document has become; what is so already costs no version."""
    if (after.links, after.document_date) != (before.links, before.document_date):
        until = keeping.archive_until(tx, after.links, after.document_date, after.created_at)
        after = replace(after, archive_until_date=until)
    if after.links != before.links:
        evidence.settle(tx, after.id, bank_lines_of(before), bank_lines_of(after), counts=after.status == UPLOADED)
    return shown(tx, before if after == before else DOCUMENTS.update(tx, after))


def link(tx: WriteTx, row: DocumentRow, links: Sequence[DocumentLink]) -> Document:
    """Let a document belong to more than before. Raises `Problem` `limit_reached`."""
    after = [*row.links, *(added for added in links if added not in row.links)]
    if len(after) > MOST_LINKS:
        message = f"A document has at most {MOST_LINKS} links: take one away first."
        raise Problem("limit_reached", message, extra={"limit": MOST_LINKS})
    return store(tx, row, replace(row, links=after))


def link_to_property(property_id: str) -> str:
    """The link as it stands in a row's JSON."""
    return msgspec.json.encode(DocumentLink(type="property", id=property_id)).decode()


def bank_lines_of(row: DocumentRow) -> list[str]:
    """The bank lines that a document belongs to."""
    return [link.id for link in row.links if link.type == "bank_transaction"]


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete a document for good, of which nothing else is kept. Bytes are swept once no other document has them."""
    row = DOCUMENTS.get(tx, document_id)
    if row.size_bytes is not None:
        usage.take(tx, row.size_bytes)
    tx.run(_FORGET_ACCESSES, document_id=document_id)
    DOCUMENTS.delete(tx, document_id)


def get(tx: ReadTx, document_id: str, expected_version: int | None = None) -> DocumentRow:
    """A document that is not in the trash. Raises `Problem`: `not_found`, `version_conflict`."""
    row = DOCUMENTS.get(tx, document_id, expected_version)
    if row.status == "deleted":
        raise not_found(DOCUMENTS.kind)
    return row


def touch(tx: WriteTx, document_id: str) -> None:
    """Let who follows changes learn that its reading came on. Chosen: nobody has edited it, and its version stays."""
    DOCUMENTS.touch(tx, document_id)


def uploaded(tx: ReadTx, document_id: str, expected_version: int | None = None) -> DocumentRow:
    """A document whose bytes are there. Raises `Problem`: `not_found`, `not_uploaded`, `version_conflict`."""
    row = get(tx, document_id, expected_version)
    if row.status != UPLOADED:
        message = "Its bytes have not been uploaded and confirmed: send them, then call `vault.confirmUpload`."
        raise Problem("not_uploaded", message)
    return row


def status_of(row: DocumentRow, now: Instant) -> DocumentStatus:
    """The state at an instant: an upload that nobody made ends by itself."""
    if row.status == "pending_upload" and row.received_at is None and row.upload_expires_at <= now:
        return "upload_expired"
    return row.status


def shown(tx: ReadTx, row: DocumentRow) -> Document:
    """The document as it is answered."""
    beside = tx.row(_SELECT_BESIDE, document_id=row.id)
    assert beside is not None, "stored"
    return _shown_document(tx, row, beside)


def read(tx: ReadTx, values: Row) -> Document:
    """The document of a row that was selected with `SELECT`, as it is answered."""
    return _shown_document(tx, DOCUMENTS.read(tx, values[:_WIDTH]), values[_WIDTH:])


def recent(tx: ReadTx, reader: str, count: int) -> list[RecentDocument]:
    """What somebody read last, the latest first."""
    return [_recent_document(tx, row) for row in tx.rows(_SELECT_RECENT, reader=reader, count=count)]


def note_access(tx: WriteTx, document_id: str, reader: str) -> None:
    """Note that somebody reads a document now."""
    tx.run(_NOTE_ACCESS, document_id=document_id, reader=reader)


def same_content(tx: ReadTx, sha256: str, but: str) -> str | None:
    """Another document of the organization with these bytes."""
    document_id: str | None = tx.value(_SELECT_SAME_CONTENT, sha256=sha256, id=but)
    return document_id


def named(tx: ReadTx, row: DocumentRow) -> str | None:
    """Another document beside it that has its name, in any letter case."""
    sought = {"of": row.folder_id or "", "name_key": name_key(row.name), "id": row.id}
    document_id: str | None = tx.value(_SELECT_NAMED, **sought)
    return document_id


def ids_in(tx: ReadTx, folder_ids: Sequence[str]) -> list[str]:
    """The documents that lie in any of the folders."""
    return [row[0] for id_ in folder_ids for row in tx.rows(_SELECT_IN_FOLDER, folder_id=id_)]


def trash(tx: WriteTx, document_ids: Sequence[str]) -> None:
    """Put documents into the trash; their folder stays known as long as it is there."""
    for id_ in document_ids:
        row = DOCUMENTS.get(tx, id_)
        parses.withdraw(tx, id_)
        DOCUMENTS.update(tx, replace(row, status="deleted", deleted_at=tx.now, upload_hash=None))


def renew_pictures(tx: WriteTx) -> None:
    """Give every picture that a document of the organization shows an address that nobody has seen."""
    for id_, address in tx.rows(_SELECT_PICTURES):
        parsed = variants.parse_address(address)
        if parsed is not None:
            renewed = variants.new_address(id_, *parsed[1:])
            DOCUMENTS.update(tx, replace(DOCUMENTS.get(tx, id_), thumbnail_url=renewed))


def leave_folders(tx: WriteTx, folder_ids: Sequence[str]) -> None:
    """Let what lies in the trash be at the top, since its folders go. Who follows changes learns of it."""
    for id_ in folder_ids:
        tx.run(_LEAVE_FOLDER, folder_id=id_, updated_at=tx.updated_at)


def _recent_document(tx: ReadTx, values: Row) -> RecentDocument:
    return project(read(tx, values[1:]), RecentDocument, read_at=Instant(values[0]))


def _shown_document(tx: ReadTx, row: DocumentRow, beside: Row) -> Document:
    last, *columns = beside
    parse, extracted = parses.shown(tuple(columns))
    hidden = {} if row.status != "pending_upload" else {"size_bytes": None, "sha256": None}
    return project(
        row,
        Document,
        status=status_of(row, tx.now),
        last_accessed_at=None if last is None else Instant(last),
        parse=parse,
        extracted=extracted,
        **hidden,
    )
