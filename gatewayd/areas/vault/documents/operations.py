"""The document resource (Spec §4, Domain A7 and B7): its operations."""

from collections.abc import Iterator
from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.vault.documents import evidence, keeping, pages, rows, rules, uploads, usage
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import (
    BulkMoved,
    BulkMoveDocuments,
    ConfirmUpload,
    CreatedDocument,
    CreateDocumentRecord,
    DeletedDocument,
    DeleteDocument,
    Document,
    DocumentRow,
    FailedMove,
    GetFolderDocuments,
    GetRecentDocuments,
    GetStarredDocuments,
    ListAllDocuments,
    ListDocuments,
    ReadDocument,
    RecentDocument,
    SetDocumentThumbnailUrl,
    ToggleDocumentStar,
    UpdateDocument,
    UpdateDocumentContractId,
    UpdateDocumentFolder,
)
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, Page, SyncPage
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, not_found
from gatewayd.store import ReadTx, WriteTx


def get_document(tx: ReadTx, caller: Caller, request: ReadDocument) -> Document:
    """Get one document; with `includeDeleted` also one that lies in the trash."""
    get = DOCUMENTS.get if request.include_deleted else rows.get
    return rows.shown(tx, get(tx, request.document_id))


def list_documents(tx: ReadTx, caller: Caller, request: ListAllDocuments) -> Listing[Document]:
    """List the documents of all folders.

    Newest first, with `documentDateFrom` or `documentDateTo` latest `documentDate` first, or as `sort` and `order` say;
    in the order of change with `updatedSince`: that a document went into the trash is a change of its `status`, and
    once it is gone for good it is `removed`. That somebody read one is no change.
    """
    if errors := [*_order_mistakes(request)]:
        raise invalid(*errors)
    return pages.everywhere(tx, request)


def _order_mistakes(request: ListAllDocuments) -> Iterator[FieldError]:
    first, last = request.document_date_from, request.document_date_to
    if first and last and last < first:
        message = "It is before documentDateFrom: expected that day or a later one."
        yield FieldError("documentDateTo", "date_order", message)
    if request.created_from and request.created_to and request.created_to < request.created_from:
        yield FieldError("createdTo", "date_order", "It is before createdFrom: expected that instant or a later one.")
    if request.updated_since is not None:
        message = "With updatedSince the list is in the order of change: leave it out."
        yield from (FieldError(name, "conflict", message) for name in ("sort", "order") if getattr(request, name))


def get_folder_documents(tx: ReadTx, caller: Caller, request: GetFolderDocuments) -> Listing[Document]:
    """List the documents in a folder, and with `recursive` those in the folders below it."""
    rules.refuse_missing_folder(tx, request.folder_id)
    return pages.in_folder(tx, request, request.folder_id, recursive=request.recursive)


def get_organization_documents(tx: ReadTx, caller: Caller, request: ListDocuments) -> Listing[Document]:
    """List the documents at the top, which lie in no folder."""
    return pages.in_folder(tx, request, None, recursive=False)


def get_starred_documents(tx: ReadTx, caller: Caller, request: GetStarredDocuments) -> Listing[Document]:
    """List the documents with a star, newest first."""
    return pages.starred(tx, request)


def get_recent_documents(tx: ReadTx, caller: Caller, request: GetRecentDocuments) -> Listing[RecentDocument]:
    """List the documents that the caller's user read last, the latest first.

    What a key read counts as read by its owner.
    """
    return Listing.of([encode(document) for document in rows.recent(tx, caller.reference, request.limit)], None)


def create_document_record(
    tx: WriteTx, caller: Caller, request: CreateDocumentRecord, *, settings: Settings
) -> CreatedDocument:
    """Create the record of a document, and a URL to send its bytes to.

    Send them with PUT within 24 hours, or in parts by the tus protocol 1.0, then call confirm-upload. The URL takes
    them once and needs no other credential. With `onDuplicate` reject no record is made where a document with these
    bytes exists. A link to a bank transaction needs `accounting:write` as well: the document becomes evidence for what
    is allocated of it.
    """
    if request.size_bytes is not None and request.size_bytes > settings.max_bytes:
        raise Problem("payload_too_large", f"A document may have at most {settings.max_bytes} bytes.")
    usage.refuse_over_quota(tx, request.size_bytes or 0, settings.organization_bytes)
    links = request.links or []
    rules.refuse_lines_of_others(caller, (), links)
    if errors := [*rules.reference_mistakes(tx, request.folder_id, links)]:
        raise invalid(*errors)
    document_date = None if request.document_date is None else request.document_date.isoformat()
    token, hashed = uploads.new_token()
    row = DOCUMENTS.new(
        tx,
        None,
        **_record_fields(request),
        links=links,
        original_name=request.name,
        mime_type=request.mime_type or rules.type_of(request.name),
        document_date=document_date,
        archive_until_date=keeping.archive_until(tx, links, document_date, Instant(tx.now)),
        declared_size_bytes=request.size_bytes,
        declared_sha256=request.sha256,
        starred=False,
        status="pending_upload",
        upload_hash=hashed,
        upload_expires_at=uploads.expires_at(tx.now),
        created_by=caller.reference,
    )
    if request.sha256 is not None:
        _refuse_duplicate(tx, row, request.sha256)
    row = DOCUMENTS.insert(tx, row)
    evidence.settle(tx, row.id, (), rows.bank_lines_of(row), counts=False)
    return CreatedDocument(document=rows.shown(tx, row), upload=uploads.shown(row, token, settings))


def confirm_upload(tx: WriteTx, caller: Caller, request: ConfirmUpload) -> Document:
    """Confirm that the bytes of a document have landed: it can be downloaded from now on, and its text is read soon.

    `sizeBytes` and `sha256` are compared with what was received. To confirm again changes nothing.
    """
    row = rows.get(tx, request.document_id, request.expected_version)
    if row.size_bytes is None or row.sha256 is None:
        if rows.status_of(row, tx.now) == "upload_expired":
            raise Problem("upload_expired", "Nothing was sent in time: create the record anew.")
        raise Problem("upload_missing", "Nothing has been sent to the upload URL: send the bytes there first.")
    rules.refuse_other_bytes(row.size_bytes, row.sha256, request)
    if row.status == "pending_upload":
        _refuse_duplicate(tx, row, row.sha256)
        row = DOCUMENTS.update(tx, replace(row, status="uploaded", confirmed_at=tx.now))
        parses.queue(tx, row.id)
        for line_id in rows.bank_lines_of(row):
            evidence.count(tx, line_id, row.id)
    return rows.shown(tx, row)


def update_document(tx: WriteTx, caller: Caller, request: UpdateDocument) -> Document:
    """Change the given fields of a document, at least one.

    Several documents of a folder may have one name, unless `unique` refuses that. To make or take links to bank
    transactions needs `accounting:write` as well.
    """
    before = rows.get(tx, request.document_id, request.expected_version)
    if all(value is UNSET for value in _requested_values(request)):
        raise invalid_field("name", "required", "Nothing is to be changed: give at least one field, such as `name`.")
    after = DOCUMENTS.changed(before, request)
    rules.refuse_lines_of_others(caller, before.links, after.links)
    if errors := [*rules.reference_mistakes(tx, after.folder_id, after.links)]:
        raise invalid(*errors)
    if request.unique and (existing_id := rows.named(tx, after)) is not None:
        message = f"A document of that name is in the folder, {existing_id}: give another name."
        raise Problem("name_taken", message, extra={"existingId": existing_id, "field": "name"})
    return rows.store(tx, before, after)


def delete_document(tx: WriteTx, caller: Caller, request: DeleteDocument) -> DeletedDocument:
    """Put a document into the trash, from where it can be restored until its days there are over."""
    row = rows.get(tx, request.document_id, request.expected_version)
    rows.trash(tx, [row.id])
    return DeletedDocument(id=row.id, deleted=True)


def bulk_move_documents(tx: WriteTx, caller: Caller, request: BulkMoveDocuments) -> BulkMoved:
    """Move several documents into a folder, or to the top: all of them or none, unless `partial` says otherwise."""
    rules.refuse_unknown_folder(tx, request.folder_id)
    documents, missing = [], []
    for id_ in dict.fromkeys(request.document_ids):
        row = DOCUMENTS.find(tx, id_)
        if row is None or row.status == "deleted":
            missing.append(id_)
        else:
            documents.append(row)
    if missing and not request.partial:
        errors = tuple(
            FieldError(
                f"documentIds[{request.document_ids.index(id_)}]",
                "unknown_reference",
                f"There is no document {id_}: `vault.listDocuments` lists those there are.",
            )
            for id_ in missing
        )
        raise Problem("not_found", not_found("document").message, errors=errors, extra={"missingIds": missing})
    for row in documents:
        rows.store(tx, row, replace(row, folder_id=request.folder_id))
    code: Literal["not_found"] = "not_found"
    return BulkMoved(moved=[row.id for row in documents], failed=[FailedMove(id=id_, code=code) for id_ in missing])


# -- one thing of a document


def toggle_document_star(tx: WriteTx, caller: Caller, request: ToggleDocumentStar) -> Document:
    """Give a document a star, or take it away. Without `starred` it becomes the opposite, at a retry too."""
    before = rows.get(tx, request.document_id, request.expected_version)
    starred = not before.starred if request.starred is None else request.starred
    return rows.store(tx, before, replace(before, starred=starred))


def update_document_folder(tx: WriteTx, caller: Caller, request: UpdateDocumentFolder) -> Document:
    """Move a document into a folder, or to the top."""
    before = rows.get(tx, request.document_id, request.expected_version)
    rules.refuse_unknown_folder(tx, request.folder_id)
    return rows.store(tx, before, replace(before, folder_id=request.folder_id))


def update_document_contract_id(tx: WriteTx, caller: Caller, request: UpdateDocumentContractId) -> Document:
    """Attach the id of a contract in another system to a document, or take it away."""
    before = rows.get(tx, request.document_id, request.expected_version)
    return rows.store(tx, before, replace(before, contract_id=request.contract_id))


def set_document_thumbnail_url(tx: WriteTx, caller: Caller, request: SetDocumentThumbnailUrl) -> Document:
    """Set where a picture of a document is, or take it away. Nothing is fetched from there."""
    before = rows.get(tx, request.document_id, request.expected_version)
    return rows.store(tx, before, replace(before, thumbnail_url=request.thumbnail_url))


def _record_fields(request: CreateDocumentRecord) -> dict[str, object]:
    return {
        "name": request.name,
        "folder_id": request.folder_id,
        "contract_id": request.contract_id,
        "on_duplicate": request.on_duplicate,
        "external_id": request.external_id,
    }


def _requested_values(request: UpdateDocument) -> list[object]:
    return [
        request.name,
        request.folder_id,
        request.starred,
        request.document_date,
        request.links,
        request.external_id,
    ]


def _refuse_duplicate(tx: ReadTx, row: DocumentRow, sha256: str) -> None:
    existing_id = rows.same_content(tx, sha256, row.id) if row.on_duplicate == "reject" else None
    if existing_id is not None:
        message = (
            f"A document with these bytes exists: {existing_id}. Use that one, or create the record with onDuplicate:"
            " allow."
        )
        raise Problem("duplicate_content", message, extra={"existingId": existing_id})


OPERATIONS = (
    Operation(
        id="vault.createDocumentRecord",
        kind="write",
        method="POST",
        path="/vault/documents",
        scopes=("vault:write",),
        request=CreateDocumentRecord,
        response=CreatedDocument,
        handler=AT_CATALOGUE,
        secret=True,
        errors=("already_exists", "duplicate_content", "limit_reached", "payload_too_large"),
        example={"name": "boiler-service-2026.pdf", "mimeType": "application/pdf", "sizeBytes": 48213},
    ),
    Operation(
        id="vault.listDocuments",
        kind="read",
        method="GET",
        path="/vault/documents",
        scopes=("vault:read",),
        request=ListAllDocuments,
        response=SyncPage[Document],
        handler=list_documents,
        errors=("date_order",),
        extension=True,
        example={"status": "uploaded", "limit": 20},
    ),
    Operation(
        id="vault.getRecentDocuments",
        kind="read",
        method="GET",
        path="/vault/documents/recent",
        scopes=("vault:read",),
        request=GetRecentDocuments,
        response=Page[RecentDocument],
        handler=get_recent_documents,
        example={"limit": 10},
    ),
    Operation(
        id="vault.getStarredDocuments",
        kind="read",
        method="GET",
        path="/vault/documents/starred",
        scopes=("vault:read",),
        request=GetStarredDocuments,
        response=Page[Document],
        handler=get_starred_documents,
        example={"limit": 20},
    ),
    Operation(
        id="vault.getOrganizationDocuments",
        kind="read",
        method="GET",
        path="/vault/documents/root",
        scopes=("vault:read",),
        request=ListDocuments,
        response=Page[Document],
        handler=get_organization_documents,
        example={"sort": "name", "limit": 20},
    ),
    Operation(
        id="vault.getFolderDocuments",
        kind="read",
        method="GET",
        path="/vault/folders/:folderId/documents",
        scopes=("vault:read",),
        request=GetFolderDocuments,
        response=Page[Document],
        handler=get_folder_documents,
        example={"folderId": "fld_01k0000000000000000000000a", "recursive": True, "sort": "documentDate"},
    ),
    Operation(
        id="vault.getDocument",
        kind="read",
        method="GET",
        path="/vault/documents/:documentId",
        scopes=("vault:read",),
        request=ReadDocument,
        response=Document,
        handler=get_document,
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000a"},
    ),
    Operation(
        id="vault.confirmUpload",
        kind="write",
        method="POST",
        path="/vault/documents/:documentId/confirm-upload",
        scopes=("vault:write",),
        request=ConfirmUpload,
        response=Document,
        handler=confirm_upload,
        errors=("checksum_mismatch", "duplicate_content", "upload_expired", "upload_missing", "version_conflict"),
        example={"documentId": "doc_01k0000000000000000000000c", "sizeBytes": 36},
    ),
    Operation(
        id="vault.updateDocument",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId",
        scopes=("vault:write",),
        request=UpdateDocument,
        response=Document,
        handler=update_document,
        errors=("already_exists", "name_taken", "version_conflict"),
        example={"documentId": "doc_01k0000000000000000000000a", "name": "Hardwoods NH-20417.pdf", "starred": True},
    ),
    Operation(
        id="vault.bulkMoveDocuments",
        kind="write",
        method="PATCH",
        path="/vault/documents/bulk-move",
        scopes=("vault:write",),
        request=BulkMoveDocuments,
        response=BulkMoved,
        handler=bulk_move_documents,
        errors=("not_found",),
        example={"documentIds": ["doc_01k0000000000000000000000e"], "folderId": "fld_01k0000000000000000000000a"},
    ),
    Operation(
        id="vault.deleteDocument",
        kind="write",
        method="DELETE",
        path="/vault/documents/:documentId",
        scopes=("vault:write",),
        request=DeleteDocument,
        response=DeletedDocument,
        handler=delete_document,
        errors=("version_conflict",),
        example={"documentId": "doc_01k0000000000000000000000b"},
    ),
    Operation(
        id="vault.toggleDocumentStar",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId/star",
        scopes=("vault:write",),
        request=ToggleDocumentStar,
        response=Document,
        handler=toggle_document_star,
        errors=("version_conflict",),
        example={"documentId": "doc_01k0000000000000000000000b", "starred": True},
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
        errors=("version_conflict",),
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
        errors=("version_conflict",),
        example={
            "documentId": "doc_01k0000000000000000000000a",
            "thumbnailUrl": "https://files.oakandson.example/previews/nh-20417.webp",
        },
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
        errors=("version_conflict",),
        example={"documentId": "doc_01k0000000000000000000000a", "contractId": "C-2026-17"},
    ),
)
