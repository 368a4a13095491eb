"""Documents as they are stored. Owns the tables `vault_documents` and `vault_accesses`.

Bytes lie beside the database, under their digest, and several documents may have the same ones.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.vault.documents import keeping, usage
from gatewayd.areas.vault.documents.shapes import Document, DocumentRow, DocumentStatus, RecentDocument, StoredStatus
from gatewayd.clock import HOUR, Instant
from gatewayd.contract.wire import project
from gatewayd.errors import not_found
from gatewayd.store import ReadTx, Row, Table, WriteTx

PURGED_AT_ONCE: Final = 100  # Chosen: of one transaction
PENDING: Final[StoredStatus] = "pending_upload"
UPLOADED: Final[StoredStatus] = "uploaded"
UPLOAD_LASTS: Final = 24 * HOUR  # Domain B7

DOCUMENTS = Table(
    "vault_documents",
    DocumentRow,
    kind="document",
    prefix="doc",
    written={
        "name_key": lambda row: row.name.casefold(),
        "date_key": lambda row: row.document_date or "",
        "size_key": lambda row: -1 if row.size_bytes is None else row.size_bytes,
    },
)
_SELECT_LAST_ACCESS = """
SELECT max(a.at) FROM vault_accesses a WHERE a.org_id = :org_id AND a.document_id = :document_id
"""
_SELECT_IN_FOLDER = """
SELECT id FROM vault_documents
WHERE org_id = :org_id AND coalesce(folder_id, '') = :folder_id AND status <> 'deleted' ORDER BY id
"""
_LEAVE_FOLDER = """
UPDATE vault_documents SET folder_id = NULL WHERE org_id = :org_id AND coalesce(folder_id, '') = :folder_id
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
SELECT at, {", ".join(f"d.{name}" for name in DOCUMENTS.names)}
FROM vault_accesses a
JOIN vault_documents d ON d.org_id = a.org_id AND d.id = a.document_id
WHERE a.org_id = :org_id AND a.reader = :reader AND d.status <> 'deleted'
ORDER BY a.at DESC, a.document_id DESC LIMIT :count
"""
_SELECT_OLD_ANY_ORG = """
SELECT org_id, id FROM vault_documents
WHERE deleted_at < :before AND (archive_until_date IS NULL OR archive_until_date < :today)
ORDER BY deleted_at, id LIMIT :count
"""
_FORGET_ACCESSES = "DELETE FROM vault_accesses WHERE org_id = :org_id AND document_id = :document_id"
_FORGET = "DELETE FROM vault_documents WHERE org_id = :org_id AND id = :document_id"
_NOTE_ACCESS = """
INSERT INTO vault_accesses (org_id, reader, document_id, at) VALUES (:org_id, :reader, :document_id, :now)
ON CONFLICT (org_id, reader, document_id) DO UPDATE SET at = excluded.at
"""


def old_in_trash(tx: ReadTx, before: Instant) -> list[tuple[str, str]]:
    """Organization and id of some documents that went into the trash before an instant and need not be kept.

    They are of all organizations.
    """
    sought = {"before": before, "today": tx.today, "count": PURGED_AT_ONCE}
    return [(row[0], row[1]) for row in tx.rows(_SELECT_OLD_ANY_ORG, **sought)]


def is_to_be_kept(tx: WriteTx, document_id: str) -> bool:
    """Whether a document in the trash has to be kept as the organization's entities are now, which is noted."""
    row = DOCUMENTS.get(tx, document_id)
    until = keeping.archive_until(tx, row.links, row.document_date, row.created_at)
    if until is None or until < tx.today:
        return False
    DOCUMENTS.update(tx, replace(row, archive_until_date=until))
    return True


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete a document for good, to which no link leads. Its bytes are swept once no other document has them."""
    row = DOCUMENTS.get(tx, document_id)
    if row.size_bytes is not None:
        usage.take(tx, row.size_bytes)
    tx.run(_FORGET_ACCESSES, document_id=document_id)
    tx.run(_FORGET, document_id=document_id)


def get(tx: ReadTx, document_id: str, expected_version: int | None = None) -> DocumentRow:
    """A document that is not in the trash. Raises `Problem`: `not_found`, `version_conflict`."""
    row = DOCUMENTS.get(tx, document_id, expected_version)
    if row.status == "deleted":
        raise not_found(DOCUMENTS.kind)
    return row


def status_of(row: DocumentRow, now: Instant) -> DocumentStatus:
    """The state at an instant: an upload that nobody made ends by itself."""
    if row.status == "pending_upload" and row.received_at is None and row.upload_expires_at <= now:
        return "upload_expired"
    return row.status


def shown(tx: ReadTx, row: DocumentRow) -> Document:
    """The document as it is answered."""
    last = tx.value(_SELECT_LAST_ACCESS, document_id=row.id)
    hidden = {} if row.status != "pending_upload" else {"size_bytes": None, "sha256": None}
    return project(
        row,
        Document,
        status=status_of(row, tx.now),
        last_accessed_at=None if last is None else Instant(last),
        **hidden,
    )


def recent(tx: ReadTx, reader: str, count: int) -> list[RecentDocument]:
    """What somebody read last, the latest first."""
    return [_recent(tx, row) for row in tx.rows(_SELECT_RECENT, reader=reader, count=count)]


def note_access(tx: WriteTx, document_id: str, reader: str) -> None:
    """Note that somebody reads a document now."""
    tx.run(_NOTE_ACCESS, document_id=document_id, reader=reader)


def same_content(tx: ReadTx, sha256: str, but: str) -> str | None:
    """Another document of the organization with these bytes."""
    found: str | None = tx.value(_SELECT_SAME_CONTENT, sha256=sha256, id=but)
    return found


def named(tx: ReadTx, row: DocumentRow) -> str | None:
    """Another document beside it that has its name, in any letter case."""
    sought = {"of": row.folder_id or "", "name_key": row.name.casefold(), "id": row.id}
    found: str | None = tx.value(_SELECT_NAMED, **sought)
    return found


def ids_in(tx: ReadTx, folder_ids: Sequence[str]) -> list[str]:
    """The documents that lie in any of the folders."""
    return [row[0] for id_ in folder_ids for row in tx.rows(_SELECT_IN_FOLDER, folder_id=id_)]


def trash(tx: WriteTx, document_ids: Sequence[str]) -> None:
    """Put documents into the trash; their folder stays known as long as it is there."""
    for id_ in document_ids:
        row = DOCUMENTS.get(tx, id_)
        DOCUMENTS.update(tx, replace(row, status="deleted", deleted_at=tx.now, upload_hash=None))


def leave_folders(tx: WriteTx, folder_ids: Sequence[str]) -> None:
    """Let what lies in the trash be at the top, since its folders go."""
    for id_ in folder_ids:
        tx.run(_LEAVE_FOLDER, folder_id=id_)


def _recent(tx: ReadTx, values: Row) -> RecentDocument:
    at, *columns = values
    document = shown(tx, DOCUMENTS.read(tx, tuple(columns)))
    return project(document, RecentDocument, read_at=Instant(at))
