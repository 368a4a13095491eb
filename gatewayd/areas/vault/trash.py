"""The trash (Domain B7): what is deleted lies there, can be restored, and goes for good in the end. An extension.

What goes for good goes in one transaction: here alone it is known what is kept of a document, and where.
"""

from typing import Final

from msgspec.structs import replace

from gatewayd.areas.vault import links
from gatewayd.areas.vault.documents import keeping, pages, rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import Document, ListTrash, RestoreDocument
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.parses import texts, variants
from gatewayd.areas.vault.proposals import rows as proposals
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.errors import invalid_state
from gatewayd.ledger.allocating import bank_lines
from gatewayd.store import ReadTx, WriteTx

PURGED_AT_ONCE: Final = 100  # Chosen: of one transaction

_SELECT_OLD_ANY_ORG = """
SELECT org_id, id FROM vault_documents
WHERE deleted_at < :before AND (archive_until_date IS NULL OR archive_until_date < :today)
ORDER BY deleted_at, id LIMIT :count
"""


def list_trash(tx: ReadTx, caller: Caller, request: ListTrash) -> Listing[Document]:
    """List the documents in the trash, newest created first."""
    return pages.in_trash(tx, request)


def restore_document(tx: WriteTx, caller: Caller, request: RestoreDocument) -> Document:
    """Take a document out of the trash, into the folder where it was, or to the top where that is gone.

    What was never uploaded comes back without its bytes, and needs a new record.
    """
    row = DOCUMENTS.get(tx, request.document_id, request.expected_version)
    if row.status != "deleted":
        raise invalid_state(
            "The document is not in the trash: only one that is deleted can be restored.", row.status, ("deleted",)
        )
    status = rows.UPLOADED if row.confirmed_at is not None else rows.PENDING
    row = DOCUMENTS.update(tx, replace(row, status=status, deleted_at=None))
    if status == rows.UPLOADED:
        parses.queue(tx, row.id)
    return rows.shown(tx, row)


# -- for good


def purge_some(tx: WriteTx, before: Instant) -> int:
    """Delete for good some documents that went into the trash before an instant.

    Answers how many were looked at. What has to be kept stays.
    """
    old = _old_in_trash(tx, before)
    for org_id, document_id in old:
        tx.bind(org_id)
        if not _is_to_be_kept(tx, document_id):  # it is where an entity was added since
            forget(tx, document_id)
    return len(old)


def _old_in_trash(tx: ReadTx, before: Instant) -> list[tuple[str, str]]:
    """Organization and id of some documents, of all organizations, that may go for good.

    They went into the trash before an instant, and need not be kept.
    """
    sought = {"before": before, "today": tx.today, "count": PURGED_AT_ONCE}
    return [(row[0], row[1]) for row in tx.rows(_SELECT_OLD_ANY_ORG, **sought)]


def _is_to_be_kept(tx: WriteTx, document_id: str) -> bool:
    """Whether a document in the trash has to be kept, as the organization's entities are now; notes until when."""
    row = DOCUMENTS.get(tx, document_id)
    until = keeping.archive_until(tx, row.links, row.document_date, row.created_at)
    if until is None or until < tx.today:
        return False
    DOCUMENTS.update(tx, replace(row, archive_until_date=until))
    return True


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete a document for good, with its links and all that was made of it, whose bytes are swept as its own are."""
    links.forget(tx, document_id)
    variants.forget(tx, document_id)
    texts.forget(tx, document_id)
    parses.forget(tx, document_id)
    bank_lines.forget_document(tx, document_id)
    proposals.forget(tx, document_id)
    rows.forget(tx, document_id)


OPERATIONS = (
    Operation(
        id="vault.listTrash",
        kind="read",
        method="GET",
        path="/vault/trash",
        scopes=("vault:read",),
        request=ListTrash,
        response=Page[Document],
        handler=list_trash,
        extension=True,
        example={"limit": 20},
    ),
    Operation(
        id="vault.restoreDocument",
        kind="write",
        method="POST",
        path="/vault/documents/:documentId/restore",
        scopes=("vault:write",),
        request=RestoreDocument,
        response=Document,
        handler=restore_document,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000d"},
    ),
)
