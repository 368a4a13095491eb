"""Which file an upload is, and who appends to it. Owns `upload_files`.

Where several daemons take uploads, each request claims its upload first, and lets it go when it ends. Whoever finds the
claim of another, which may be dead, be stopped, or have lost its client, goes on with a copy of the file under a new
name: what the other still writes goes into a file that nobody reads any more. Before anything is acknowledged it is
asked whether the claim stands.
"""

from typing import Final, NamedTuple

from gatewayd.store import ReadTx, WriteTx

_SELECT: Final = """
SELECT file, writer FROM upload_files WHERE org_id = :org_id AND document_id = :document_id
"""
_CLAIM: Final = """
INSERT INTO upload_files (org_id, document_id, file, writer) VALUES (:org_id, :document_id, :document_id, :writer)
ON CONFLICT (org_id, document_id) DO UPDATE SET writer = excluded.writer
"""
_MOVE: Final = """
UPDATE upload_files SET file = :file WHERE org_id = :org_id AND document_id = :document_id AND writer = :writer
"""
_RELEASE: Final = """
UPDATE upload_files SET writer = NULL WHERE org_id = :org_id AND document_id = :document_id AND writer = :writer
"""
_FORGET: Final = "DELETE FROM upload_files WHERE org_id = :org_id AND document_id = :document_id"
_FORGET_OVER_ANY_ORG: Final = """
DELETE FROM upload_files WHERE NOT EXISTS (
    SELECT 1 FROM vault_documents
    WHERE vault_documents.id = upload_files.document_id AND vault_documents.status = 'pending_upload'
        AND vault_documents.received_at IS NULL AND vault_documents.upload_expires_at > :at
)
"""
_SELECT_OVER_ANY_ORG: Final = """
SELECT 1 FROM upload_files WHERE NOT EXISTS (
    SELECT 1 FROM vault_documents
    WHERE vault_documents.id = upload_files.document_id AND vault_documents.status = 'pending_upload'
        AND vault_documents.received_at IS NULL AND vault_documents.upload_expires_at > :at
) LIMIT 1
"""
_SELECT_AWAITED_ANY_ORG: Final = """
SELECT coalesce(f.file, d.id) FROM vault_documents d
LEFT JOIN upload_files f ON f.org_id = d.org_id AND f.document_id = d.id
WHERE d.id = :id AND d.status = 'pending_upload' AND d.received_at IS NULL AND d.upload_expires_at > :at
"""


class UploadLost(Exception):
    """Another request goes on with the upload."""


class UploadFile(NamedTuple):
    """The name of a file in the folder of uploads, and the request that appends to it; None: none does now."""

    name: str
    writer: str | None


def find(tx: ReadTx, document_id: str) -> UploadFile:
    """The file of an upload, whether or not any bytes came."""
    row = tx.row(_SELECT, document_id=document_id)
    return UploadFile(document_id, None) if row is None else UploadFile(row[0], row[1])


def claim(tx: WriteTx, document_id: str, writer: str) -> UploadFile:
    """Append to an upload from now on, whoever did before; answers its file as it was until now."""
    before = find(tx, document_id)
    tx.run(_CLAIM, document_id=document_id, writer=writer)
    return before


def require(tx: ReadTx, document_id: str, file: UploadFile) -> None:
    """Raises `UploadLost` where another request has claimed the upload since, or it is over."""
    if find(tx, document_id) != file:
        raise UploadLost


def move(tx: WriteTx, document_id: str, file: UploadFile) -> None:
    """Go on with another file. Raises `UploadLost` where another request has claimed the upload since."""
    if not tx.run(_MOVE, document_id=document_id, file=file.name, writer=file.writer):
        raise UploadLost


def release(tx: WriteTx, document_id: str, writer: str) -> None:
    """Nobody appends now, unless another request has claimed it since: all that was written is in the file."""
    tx.run(_RELEASE, document_id=document_id, writer=writer)


def forget(tx: WriteTx, document_id: str) -> None:
    """The upload is over: whoever still appends is told so."""
    tx.run(_FORGET, document_id=document_id)


def forget_over(tx: WriteTx) -> None:
    """Forget those of which no bytes are awaited any more, of all organizations."""
    tx.run(_FORGET_OVER_ANY_ORG, at=tx.now)


def is_any_over(tx: ReadTx) -> bool:
    """Whether there is one to forget."""
    return tx.row(_SELECT_OVER_ANY_ORG, at=tx.now) is not None


def awaited_of_any(tx: ReadTx, document_id: str) -> str | None:
    """The name of the file of a document whose bytes may still come, of whichever organization. None: they may not."""
    row = tx.row(_SELECT_AWAITED_ANY_ORG, id=document_id, at=tx.now)
    return None if row is None else str(row[0])
