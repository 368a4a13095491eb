"""The trash (Domain B7): what is deleted lies there, can be restored, and goes for good in the end. An extension."""

from msgspec.structs import replace

from gatewayd.areas.vault.documents import index_queue, pages, rows
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import Document, GetDocument, ListTrash
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.errors import invalid_state
from gatewayd.store import ReadTx, WriteTx


def list_trash(tx: ReadTx, caller: Caller, request: ListTrash) -> Listing[Document]:
    """List the documents in the trash, newest created first."""
    return pages.in_trash(tx, request)


def restore_document(tx: WriteTx, caller: Caller, request: GetDocument) -> Document:
    """Take a document out of the trash, into the folder where it was, or to the top where that is gone.

    What was never uploaded comes back without its bytes, and needs a new record.
    """
    row = DOCUMENTS.get(tx, request.document_id)
    if row.status != "deleted":
        raise invalid_state("The document is not in the trash.", row.status, ("deleted",))
    status = rows.UPLOADED if row.confirmed_at is not None else rows.PENDING
    row = DOCUMENTS.update(tx, replace(row, status=status, deleted_at=None))
    if status == rows.UPLOADED:
        parses.queue(tx, row.id)
        index_queue.put(tx, row.id)
    return rows.shown(tx, row)


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
        request=GetDocument,
        response=Document,
        handler=restore_document,
        errors=("invalid_state",),
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000d"},
    ),
)
