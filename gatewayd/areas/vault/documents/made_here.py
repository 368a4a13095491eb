"""Documents that the program makes itself, such as the paper of an invoice: their bytes are durable before the row.

They are not read: what they say is known, and what they would propose was entered already.
"""

from typing import NamedTuple

from gatewayd.areas.vault.documents import keeping, usage
from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOADED
from gatewayd.areas.vault.documents.shapes import DocumentLink, DocumentRow
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.store import ReadTx, WriteTx


class MadeDocument(NamedTuple):
    """One that is to be kept. `document_date` is ISO."""

    name: str
    mime_type: str
    size_bytes: int
    sha256: str
    document_date: str
    link: DocumentLink


def add(tx: WriteTx, caller: Caller, made: MadeDocument, organization_bytes: int) -> DocumentRow:
    """Store it at the top of the vault. Raises `Problem` as an upload does where the organization may keep no more."""
    usage.refuse_over_quota(tx, made.size_bytes, organization_bytes)
    usage.add(tx, made.size_bytes)
    links = [made.link]
    row = DOCUMENTS.new(
        tx,
        None,
        name=made.name,
        original_name=made.name,
        mime_type=made.mime_type,
        size_bytes=made.size_bytes,
        sha256=made.sha256,
        document_date=made.document_date,
        archive_until_date=keeping.archive_until(tx, links, made.document_date, Instant(tx.now)),
        links=links,
        starred=False,
        status=UPLOADED,
        on_duplicate="allow",
        upload_expires_at=Instant(tx.now),
        received_at=tx.now,
        confirmed_at=tx.now,
        created_by=caller.reference,
    )
    return DOCUMENTS.insert(tx, row)


def kept(tx: ReadTx, document_id: str) -> DocumentRow | None:
    """One whose bytes are there, in the trash too; None: it is gone for good."""
    row = DOCUMENTS.find(tx, document_id)
    return row if row is not None and row.sha256 is not None else None
