"""Uploads: the URL that a document's bytes go to once, and what is known of them when they are there (Domain B7).

createDocumentRecord    a URL with a token, of which the hash is stored
the bytes arrive        they are durable before the row says so, and then the URL takes no others
confirmUpload           the document is there for everybody
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.vault.documents import rules, usage
from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOAD_LASTS
from gatewayd.areas.vault.documents.shapes import DocumentRow, Upload
from gatewayd.clock import Instant
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.identity.people import suspensions
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, WriteTx

PATH: Final = "/vault/uploads/"
"""Where bytes are received, beside the API; the token follows."""
PREFIX: Final = "gwd_upl_"  # logs hide what begins so

_SELECT_ANY_ORG = "SELECT org_id, id FROM vault_documents WHERE upload_hash = :hash"

_SELECT_OPEN = """
SELECT d.id, d.name, u.id, d.created_by, d.created_at, d.upload_expires_at
FROM vault_documents d LEFT JOIN users u ON u.id = d.created_by
WHERE d.org_id = :org_id AND d.id >= :first AND d.upload_hash IS NOT NULL AND d.status = 'pending_upload'
    AND d.received_at IS NULL AND d.upload_expires_at > :at
    AND (CAST(:user_id AS TEXT) IS NULL OR d.created_by = :user_id)
ORDER BY d.id LIMIT :limit
"""


class Settings(NamedTuple):
    """Where clients see the daemon; the most bytes of a document, and of an organization's: 0: as many as it likes."""

    public_url: str
    max_bytes: int
    organization_bytes: int = 0


class Expected(NamedTuple):
    """A document whose bytes may come now, or have come."""

    org_id: str
    row: DocumentRow

    @property
    def is_received(self) -> bool:
        """Whether all of them have, and are durable."""
        return self.row.received_at is not None


def new_token() -> tuple[str, bytes]:
    """A token, and the hash of it that is stored."""
    token = make_token(PREFIX)
    return token, hash_token(token)


def shown(row: DocumentRow, token: str, settings: Settings) -> Upload:
    """What a client needs to send the bytes."""
    return Upload(
        url=f"{settings.public_url}{PATH}{token}",
        method="PUT",
        headers={"Content-Type": row.mime_type},
        expires_at=row.upload_expires_at,
        max_bytes=settings.max_bytes if row.declared_size_bytes is None else row.declared_size_bytes,
    )


def expires_at(now: Instant) -> Instant:
    """When a URL that is made now ends."""
    return Instant(now + UPLOAD_LASTS)


def standing(tx: ReadTx, token: str) -> Expected | None:
    """The document that a token is for; the transaction acts for its organization from now on.

    None: there is no such token, it has expired, or its organization is suspended.
    """
    values = tx.row(_SELECT_ANY_ORG, hash=hash_token(token))
    if values is None or suspensions.is_suspended(tx, values[0]):
        return None
    org_id, id_ = values
    tx.bind(org_id)
    row = DOCUMENTS.get(tx, id_)
    return None if row.upload_expires_at <= tx.now else Expected(org_id, row)


def find(tx: ReadTx, token: str) -> Expected | None:
    """The same, for bytes that are yet to come. None: they came already, too."""
    expected = standing(tx, token)
    return None if expected is None or expected.is_received else expected


def receive(tx: WriteTx, token: str, size: int, sha256: str, organization_bytes: int = 0) -> DocumentRow | None:
    """Note that the bytes are there, durable: the URL takes no others. None as in `find`: another request was faster.

    Raises `Problem`: `checksum_mismatch`, `payload_too_large` or `limit_reached` where the organization would have more
    than it may; the URL stays.
    """
    expected = find(tx, token)
    if expected is None:
        return None
    rules.refuse_other_bytes(size, sha256, expected.row)
    usage.refuse_over_quota(tx, size, organization_bytes)
    usage.add(tx, size)
    return DOCUMENTS.update(tx, replace(expected.row, size_bytes=size, sha256=sha256, received_at=tx.now))


def declare(tx: WriteTx, token: str, size: int, organization_bytes: int) -> Expected | None:
    """Note how many bytes are to come, where nobody said so before; else it stays as it is. None as in `find`.

    Raises `Problem` `payload_too_large` or `limit_reached` as `receive` does.
    """
    expected = find(tx, token)
    if expected is None or expected.row.declared_size_bytes is not None:
        return expected
    usage.refuse_over_quota(tx, size, organization_bytes)
    return expected._replace(row=DOCUMENTS.update(tx, replace(expected.row, declared_size_bytes=size)))


def end(tx: WriteTx, token: str) -> DocumentRow | None:
    """End an upload: its URL takes nothing any more, and the record is that of one that expired. None as in `find`."""
    expected = find(tx, token)
    return None if expected is None else _end_upload(tx, expected.row)


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The URLs that take bytes, by the ids of their documents."""
    return [Opening._make((*row, None)) for row in tx.rows(_SELECT_OPEN, **sought._asdict())]


def end_of(tx: WriteTx, document_id: str) -> DocumentRow:
    """End the upload of a document. Raises `Problem` `not_found`."""
    return _end_upload(tx, DOCUMENTS.get(tx, document_id))


def _end_upload(tx: WriteTx, row: DocumentRow) -> DocumentRow:
    return DOCUMENTS.update(tx, replace(row, upload_hash=None, upload_expires_at=Instant(tx.now)))
