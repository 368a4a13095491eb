"""Uploads: the URL that a document's bytes go to once, and what is known of them when they are there (Domain B7).

createDocumentRecord    a URL with a token, of which the hash is stored
the bytes arrive        they are durable before the row says so, and the URL is used up with it
confirmUpload           the document is there for everybody
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.vault.documents import rules
from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOAD_LASTS
from gatewayd.areas.vault.documents.shapes import DocumentRow, Upload
from gatewayd.clock import Instant
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, WriteTx

PATH: Final = "/vault/uploads/"
"""Where bytes are received, beside the API; the token follows."""
PREFIX: Final = "gwd_upl_"  # logs hide what begins so

_SELECT_ANY_ORG = "SELECT org_id, id FROM vault_documents WHERE upload_hash = :hash"


class Settings(NamedTuple):
    """Where clients see the daemon, and the most bytes of a document."""

    public_url: str
    max_bytes: int


class Expected(NamedTuple):
    """A document whose bytes may come now."""

    org_id: str
    row: DocumentRow


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


def find(tx: ReadTx, token: str) -> Expected | None:
    """The document that a token is for; the transaction acts for its organization from now on.

    None: there is no such token, it is used up, or it has expired.
    """
    found = tx.row(_SELECT_ANY_ORG, hash=hash_token(token))
    if found is None:
        return None
    org_id, id_ = found
    tx.bind(org_id)
    row = DOCUMENTS.get(tx, id_)
    return None if row.upload_expires_at <= tx.now else Expected(org_id, row)


def receive(tx: WriteTx, token: str, size: int, sha256: str) -> DocumentRow | None:
    """Note that the bytes are there, durable, and use up the token. None as in `find`: another request was faster.

    Raises `Problem` `checksum_mismatch`, and the token stays.
    """
    expected = find(tx, token)
    if expected is None:
        return None
    rules.refuse_other_bytes(size, sha256, expected.row)
    received = replace(expected.row, upload_hash=None, size_bytes=size, sha256=sha256, received_at=tx.now)
    return DOCUMENTS.update(tx, received)
