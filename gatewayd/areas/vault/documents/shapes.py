"""What documents look like (Domain B7): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.vault.names import VaultName
from gatewayd.areas.vault.parses.shapes import DocumentParse, ExtractedFacts, ParseStatus
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Date, DateText, ExternalId, Id, Part, Request, Response, Timestamp, Version

StoredStatus = Literal["pending_upload", "uploaded", "deleted"]
DocumentStatus = Literal["pending_upload", "uploaded", "upload_expired", "deleted"]
LinkType = Literal["property", "tenancy", "certificate", "invoice", "bank_transaction", "business", "client"]
Sort = Literal["name", "createdAt", "documentDate", "size"]
OnDuplicate = Literal["allow", "reject"]
Disposition = Literal["attachment", "inline"]

MimeType = Annotated[
    str,
    Meta(
        max_length=127, pattern=r"^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$", examples=["application/pdf"]
    ),
]
Sha256 = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{64}$",
        description="SHA-256 of the bytes, in lower-case hexadecimal.",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ),
]
SizeBytes = Annotated[int, Meta(ge=0, le=1 << 40)]
ContractId = Annotated[str, Meta(min_length=1, max_length=128, description="Of a system of yours; never checked.")]
ThumbnailUrl = Annotated[
    str,
    Meta(
        max_length=2000,
        pattern=r"^(https://[^\s\x00-\x1f]+|/vault/[^\s\x00-\x1f]+)$",
        description="https, or a path of the vault. It is never fetched here.",
        examples=["https://example.com/1.webp"],
    ),
]


class DocumentLink(Part, frozen=True, kw_only=True):
    """What a document belongs to."""

    type: LinkType
    id: Id


MOST_LINKS = 20
DocumentLinks = Annotated[list[DocumentLink], Meta(max_length=MOST_LINKS)]


class StoredDocument(Response, frozen=True, kw_only=True):
    """The part of a document that does not depend on today."""

    id: Id
    external_id: str | None
    name: str
    original_name: str
    mime_type: str
    size_bytes: int | None
    sha256: str | None
    page_count: int | None
    folder_id: Id | None
    starred: bool
    thumbnail_url: str | None
    contract_id: str | None
    document_date: DateText | None
    links: list[DocumentLink]
    created_by: str
    deleted_at: Timestamp | None
    archive_until_date: DateText | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Document(StoredDocument, frozen=True, kw_only=True):
    """A document. `sizeBytes` and `sha256` are of the bytes that were received, and null until they are confirmed.

    `folderId` null: at the top. A star is the organization's. `lastAccessedAt`: when anybody read it last. `parse` is
    how far its reading has come, `extracted` what was found; null: nothing was, so far.
    """

    status: DocumentStatus
    last_accessed_at: Timestamp | None
    parse: DocumentParse
    extracted: ExtractedFacts | None


class DocumentRow(StoredDocument, frozen=True, kw_only=True):
    """A document as it is stored.

    `upload_hash` None: the URL is over. `received_at`: since when it takes no more bytes. `declared_*` is what was said
    of the bytes before they came.
    """

    status: StoredStatus
    on_duplicate: OnDuplicate
    upload_hash: bytes | None
    upload_expires_at: Timestamp
    declared_size_bytes: int | None
    declared_sha256: str | None
    received_at: Timestamp | None
    confirmed_at: Timestamp | None


class RecentDocument(Document, frozen=True, kw_only=True):
    """A document, and when the caller's user read it last."""

    read_at: Timestamp


class Upload(Response, frozen=True, kw_only=True):
    """Where the bytes go: one request of `method` with `headers`, whose body they are. Nobody else is to see `url`."""

    url: str
    method: Literal["PUT"]
    headers: dict[str, str]
    expires_at: Timestamp
    max_bytes: int


class CreatedDocument(Response, frozen=True, kw_only=True):
    """The record of a document whose bytes are to come."""

    document: Document
    upload: Upload


class ListDocuments(PageRequest, frozen=True, kw_only=True):
    """Filters and order of a list of documents."""

    sort: Sort = "createdAt"
    external_id: ExternalId | None = None
    parse_status: ParseStatus | None = None


class GetFolderDocuments(ListDocuments, frozen=True, kw_only=True):
    """Of which folder; `recursive`: and of those below it."""

    folder_id: Id
    recursive: bool = False


class GetStarredDocuments(PageRequest, frozen=True, kw_only=True):
    """The documents with a star."""


class ListTrash(PageRequest, frozen=True, kw_only=True):
    """The documents in the trash."""


class GetRecentDocuments(Request, frozen=True, kw_only=True):
    """How many of those that the caller's user read last."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class CreateDocumentRecord(Request, frozen=True, kw_only=True):
    """A document to come. `sizeBytes` and `sha256` are compared with what is received, where they are given."""

    name: VaultName
    folder_id: Id | None = None
    mime_type: MimeType | None = None
    size_bytes: SizeBytes | None = None
    sha256: Sha256 | None = None
    document_date: Date | None = None
    contract_id: ContractId | None = None
    links: DocumentLinks | None = None
    on_duplicate: OnDuplicate = "allow"
    external_id: ExternalId | None = None


class ConfirmUpload(Request, frozen=True, kw_only=True):
    """Which document's bytes are there. `sizeBytes` and `sha256` are compared with them, where they are given."""

    document_id: Id
    size_bytes: SizeBytes | None = None
    sha256: Sha256 | None = None


class GetDocument(Request, frozen=True, kw_only=True):
    """Which document."""

    document_id: Id


class UpdateDocument(Request, frozen=True, kw_only=True):
    """The fields to change, at least one. `unique`: not where another document in the folder has the name."""

    document_id: Id
    expected_version: Version | None = None
    name: VaultName | UnsetType = UNSET
    folder_id: Id | UnsetType | None = UNSET
    starred: bool | UnsetType = UNSET
    document_date: Date | UnsetType | None = UNSET
    links: DocumentLinks | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
    unique: bool = False


class ToggleDocumentStar(Request, frozen=True, kw_only=True):
    """Whether there is to be a star; absent: the opposite of now, so that who retries should send it."""

    document_id: Id
    starred: bool | None = None


class UpdateDocumentFolder(Request, frozen=True, kw_only=True):
    """The folder that a document is to lie in; null: at the top."""

    document_id: Id
    folder_id: Id | None


class UpdateDocumentContractId(Request, frozen=True, kw_only=True):
    """The contract of another system that a document belongs to; null: to none."""

    document_id: Id
    contract_id: ContractId | None


class SetDocumentThumbnailUrl(Request, frozen=True, kw_only=True):
    """Where a picture of a document is; null: nowhere."""

    document_id: Id
    thumbnail_url: ThumbnailUrl | None


class DeletedDocument(Response, frozen=True, kw_only=True):
    """What was deleted."""

    id: Id
    deleted: Literal[True]


class BulkMoveDocuments(Request, frozen=True, kw_only=True):
    """Documents, and the folder that they are to lie in; null: at the top. `partial`: those that can be moved."""

    document_ids: Annotated[list[Id], Meta(min_length=1, max_length=500)]
    folder_id: Id | None
    partial: bool = False


class FailedMove(Response, frozen=True, kw_only=True):
    """A document that was not moved, and why."""

    id: str
    code: Literal["not_found"]


class BulkMoved(Response, frozen=True, kw_only=True):
    """What was moved, and what was not."""

    moved: list[Id]
    failed: list[FailedMove]
