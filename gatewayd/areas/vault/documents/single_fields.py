"""Changes of one thing of a document (Spec §4, Domain A7): operations."""

from msgspec.structs import replace

from gatewayd.areas.vault.documents import changing, rows
from gatewayd.areas.vault.documents.shapes import (
    Document,
    SetDocumentThumbnailUrl,
    ToggleDocumentStar,
    UpdateDocumentContractId,
    UpdateDocumentFolder,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.store import WriteTx


def toggle_document_star(tx: WriteTx, caller: Caller, request: ToggleDocumentStar) -> Document:
    """Give a document a star, or take it away. Without `starred` it becomes the opposite, at a retry too."""
    before = rows.get(tx, request.document_id)
    starred = not before.starred if request.starred is None else request.starred
    return changing.store(tx, before, replace(before, starred=starred))


def update_document_folder(tx: WriteTx, caller: Caller, request: UpdateDocumentFolder) -> Document:
    """Move a document into a folder, or to the top."""
    before = rows.get(tx, request.document_id)
    changing.refuse_unknown_folder(tx, request.folder_id)
    return changing.store(tx, before, replace(before, folder_id=request.folder_id))


def update_document_contract_id(tx: WriteTx, caller: Caller, request: UpdateDocumentContractId) -> Document:
    """Attach the id of a contract in another system to a document, or take it away."""
    before = rows.get(tx, request.document_id)
    return changing.store(tx, before, replace(before, contract_id=request.contract_id))


def set_document_thumbnail_url(tx: WriteTx, caller: Caller, request: SetDocumentThumbnailUrl) -> Document:
    """Set where a picture of a document is, or take it away. Nothing is fetched from there."""
    before = rows.get(tx, request.document_id)
    return changing.store(tx, before, replace(before, thumbnail_url=request.thumbnail_url))


OPERATIONS = (
    Operation(
        id="vault.toggleDocumentStar",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId/star",
        scopes=("vault:write",),
        request=ToggleDocumentStar,
        response=Document,
        handler=toggle_document_star,
        example={"documentId": "doc_01k0000000000000000000000a", "starred": True},
    ),
    Operation(
        id="vault.updateDocumentFolder",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId/folder",
        scopes=("vault:write",),
        request=UpdateDocumentFolder,
        response=Document,
        handler=update_document_folder,
        example={"documentId": "doc_01k0000000000000000000000b", "folderId": None},
    ),
    Operation(
        id="vault.setDocumentThumbnailUrl",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId/thumbnail",
        scopes=("vault:write",),
        request=SetDocumentThumbnailUrl,
        response=Document,
        handler=set_document_thumbnail_url,
        example={"documentId": "doc_01k0000000000000000000000a", "thumbnailUrl": "https://example.com/1.webp"},
    ),
    Operation(
        id="vault.updateDocumentContractId",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId/contract",
        scopes=("vault:write",),
        request=UpdateDocumentContractId,
        response=Document,
        handler=update_document_contract_id,
        example={"documentId": "doc_01k0000000000000000000000a", "contractId": "C-2026-17"},
    ),
)
