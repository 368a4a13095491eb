"""What documents look like (Domain B7): requests, responses, and the row where it differs."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.vault.names import VaultName
from gatewayd.areas.vault.parses.shapes import DocumentParse, ExtractedFacts, ParseStatus
from gatewayd.contract.pages import PageRequest, SortOrder, SyncRequest
from gatewayd.contract.wire import Date, DateText, ExternalId, Id, Part, Request, Response, Since, Timestamp, Version

StoredStatus = Literal["pending_upload", "uploaded", "deleted"]
DocumentStatus = Literal["pending_upload", "uploaded", "upload_expired", "deleted"]
LinkType = Literal["property", "tenancy", "certificate", "invoice", "bank_transaction", "business", "client"]
Sort = Literal["name", "createdAt", "documentDate", "size"]
SortOfAll = Literal["createdAt", "documentDate"]
OnDuplicate = Literal["allow", "reject"]
Disposition = Literal["attachment", "inline"]

MimeType = Annotated[
    str,
    Meta(
        max_length=127,
        pattern=r"^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$",
        extra={"form": "a media type in small letters"},
        examples=["application/pdf"],
    ),
]
Sha256 = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{64}$",
        extra={"form": "64 hexadecimal digits in small letters"},
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
        extra={"form": "an address that begins with https:// or /vault/"},
        description="https, or a path of the vault. It is never fetched here.",
        examples=["https://example.com/1.webp"],
    ),
]


DocumentFolderFilter = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        description="Only those that lie in this folder itself; `root`: those at the top, which lie in none.",
    ),
]


class DocumentLink(Part, frozen=True, kw_only=True):
    """What a document belongs to."""

    type: LinkType
    """What kind of thing it belongs to."""
    id: Id
    """The id of the property, tenancy, certificate, invoice, bank transaction, business or client."""


MOST_LINKS = 20
DocumentLinks = Annotated[list[DocumentLink], Meta(max_length=MOST_LINKS)]


class StoredDocument(Response, frozen=True, kw_only=True):
    """The part of a document that does not depend on today."""

    id: Id
    external_id: str | None
    name: str
    """What people call it; several documents of a folder may have one name."""
    original_name: str
    """The name that it was created with, whatever it is called since."""
    mime_type: str
    """The media type that was given, else the one that the ending of its name says."""
    size_bytes: int | None
    """How many bytes were received. Null: they are not confirmed."""
    sha256: str | None
    """SHA-256 of the bytes that were received, in lower-case hexadecimal. Null: they are not confirmed."""
    page_count: int | None
    """How many pages it has. Null: it was not read so far, or its kind has no pages."""
    folder_id: Id | None
    """The folder that it lies in. Null: at the top."""
    starred: bool
    """Whether it has a star, which is the organization's and not one user's."""
    thumbnail_url: str | None
    """Where a picture of it is: an https address, or a path of the vault. Null: there is none."""
    contract_id: str | None
    """The id of a contract in a system of yours, which is never checked. Null: none."""
    document_date: DateText | None
    """The document's own date, as somebody said or as it was read. Null: none is known."""
    links: list[DocumentLink]
    """What it belongs to: properties, invoices, bank transactions and others."""
    created_by: str
    """The user who created it, or the credential where there is no user."""
    deleted_at: Timestamp | None
    """When it was put into the trash. Null: it is not there."""
    archive_until_date: DateText | None
    """The last day on which it has to be kept, as a record of a business: until then it stays in the trash. Null:
    nothing asks for that."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Document(StoredDocument, frozen=True, kw_only=True):
    """A document."""

    status: DocumentStatus
    """`pending_upload`: its bytes are to come, or to be confirmed; `upload_expired`: none came within 24 hours;
    `uploaded`: they are there; `deleted`: it is in the trash."""
    last_accessed_at: Timestamp | None
    """When anybody read it last. Null: nobody did."""
    parse: DocumentParse
    """How far the reading of its text has come."""
    extracted: ExtractedFacts | None
    """What it seems to be by its text. Null: it was not read so far, or could not be."""


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
    """A document, and when it was read last."""

    read_at: Timestamp
    """When the caller's user read it last; what a key read counts as its owner's."""


class Upload(Response, frozen=True, kw_only=True):
    """Where the bytes of a document go: one request, whose body they are."""

    url: str
    """The URL, which takes the bytes once and needs no other credential: nobody else is to see it."""
    method: Literal["PUT"]
    """The method of that request."""
    headers: dict[str, str]
    """The headers of that request."""
    expires_at: Timestamp
    """When the URL ends: 24 hours after the record was created."""
    max_bytes: int
    """How many bytes it takes at most: the `sizeBytes` that were given, else what the settings of the server allow."""


class CreatedDocument(Response, frozen=True, kw_only=True):
    """The record of a document whose bytes are to come."""

    document: Document
    """The record, which is `pending_upload` until the bytes are confirmed."""
    upload: Upload
    """Where the bytes are to be sent."""


class SomeDocuments(PageRequest, frozen=True, kw_only=True):
    """Filters of any list of documents."""

    external_id: ExternalId | None = None
    parse_status: ParseStatus | None = None
    """Only those whose reading has come so far."""


class ListDocuments(SomeDocuments, frozen=True, kw_only=True):
    """Filters and order of a list of documents."""

    sort: Sort = "createdAt"
    """By what they go. Those without a `documentDate` or a size count as less than any."""
    order: SortOrder | None = None
    """Left out: `name` from A to Z, `asc`, and all else `desc`: the newest, latest or largest first."""


class ListAllDocuments(SyncRequest, frozen=True, kw_only=True):
    """Filters and order of the list over all folders."""

    former_names: ClassVar = {"fromDate": "documentDateFrom", "toDate": "documentDateTo"}

    sort: SortOfAll | None = None
    """By what they go. Left out: by `documentDate` with `documentDateFrom` or `documentDateTo`, else by `createdAt`.
    Not with `updatedSince`, which has an order of its own."""
    order: SortOrder | None = None
    """Left out: `desc`, the newest or latest first. Those without a `documentDate` count as before any."""
    folder_id: DocumentFolderFilter | None = None
    folder_ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None
    """Only those in one of these folders, or below."""
    status: DocumentStatus | None = None
    """Only those in this state. Left out: all but those in the trash, and with `updatedSince` those too."""
    parse_status: ParseStatus | None = None
    """Only those whose reading has come so far."""
    starred: bool | None = None
    """True: only those with a star; false: only those without."""
    contract_id: ContractId | None = None
    mime_type: Annotated[list[MimeType], Meta(min_length=1, max_length=50)] | None = None
    """Only those of one of these media types."""
    sha256: Sha256 | None = None
    """Only those with these bytes."""
    property_id: Id | None = None
    """Only those that are linked to this property."""
    created_from: Since | None = None
    """Only those created at this instant or later."""
    created_to: Since | None = None
    """Only those created at this instant or earlier."""
    document_date_from: Date | None = None
    """Only those whose own date is this day or later."""
    document_date_to: Date | None = None
    """Only those whose own date is this day or earlier."""
    external_id: ExternalId | None = None


class GetFolderDocuments(ListDocuments, frozen=True, kw_only=True):
    """The documents of which folder."""

    folder_id: Id
    """The folder that they lie in."""
    recursive: bool = False
    """Whether those in the folders below it are listed too."""


class GetStarredDocuments(SomeDocuments, frozen=True, kw_only=True):
    """The documents with a star."""


class ListTrash(SomeDocuments, frozen=True, kw_only=True):
    """The documents in the trash."""


class GetRecentDocuments(Request, frozen=True, kw_only=True):
    """Those that the caller's user read last."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class CreateDocumentRecord(Request, frozen=True, kw_only=True):
    """A document to come."""

    name: VaultName
    """What people call it, without slashes and control characters; several documents of a folder may have one name."""
    folder_id: Id | None = None
    """The folder that it is to lie in. Null: at the top, where a new document lies by default."""
    mime_type: MimeType | None = None
    """The media type. Left out: the one that the ending of its name says."""
    size_bytes: SizeBytes | None = None
    """How many bytes are to come: another number is refused. Left out: it is not compared."""
    sha256: Sha256 | None = None
    """SHA-256 of the bytes to come, in lower-case hexadecimal: other bytes are refused. Left out: it is not
    compared."""
    document_date: Date | None = None
    """The document's own date; of a new document by default the one that is read in it, if any."""
    contract_id: ContractId | None = None
    """The id of a contract in a system of yours, which is never checked."""
    links: DocumentLinks | None = None
    """What it belongs to, at most 20 things; a link to a bank transaction needs `accounting:write` as well."""
    on_duplicate: OnDuplicate = "allow"
    """Whether a document is refused, `reject`, where another one has the same bytes, or taken all the same, `allow`."""
    external_id: ExternalId | None = None


class ConfirmUpload(Request, frozen=True, kw_only=True):
    """Which document's bytes are there."""

    document_id: Id
    """The document whose bytes were sent."""
    size_bytes: SizeBytes | None = None
    """How many bytes were sent: another number is refused. Left out: it is not compared."""
    sha256: Sha256 | None = None
    """SHA-256 of the bytes that were sent, in lower-case hexadecimal: others are refused. Left out: it is not
    compared."""
    expected_version: Version | None = None


class GetDocument(Request, frozen=True, kw_only=True):
    """Which document."""

    document_id: Id
    """The document."""


class DeleteDocument(GetDocument, frozen=True, kw_only=True):
    """Which document to put into the trash."""

    expected_version: Version | None = None


class RestoreDocument(GetDocument, frozen=True, kw_only=True):
    """Which document to take out of the trash."""

    expected_version: Version | None = None


class ReadDocument(GetDocument, frozen=True, kw_only=True):
    """Which document, and whether it may lie in the trash."""

    include_deleted: bool = False
    """Whether it is answered from the trash too. False: there it is not found."""


class UpdateDocument(Request, frozen=True, kw_only=True):
    """The fields to change, at least one. `unique`: not where another document in the folder has the name."""

    document_id: Id
    """The document to change."""
    expected_version: Version | None = None
    name: VaultName | UnsetType = UNSET
    folder_id: Id | UnsetType | None = UNSET
    starred: bool | UnsetType = UNSET
    document_date: Date | UnsetType | None = UNSET
    links: DocumentLinks | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
    unique: bool = False
    """Whether to refuse a name that another document of the folder has."""


class ToggleDocumentStar(Request, frozen=True, kw_only=True):
    """Whether a document is to have a star."""

    document_id: Id
    """The document."""
    starred: bool | None = None
    """Whether it is to have a star. Left out: the opposite of now, at a retry too."""
    expected_version: Version | None = None


class UpdateDocumentFolder(Request, frozen=True, kw_only=True):
    """The folder that a document is to lie in; null: at the top."""

    document_id: Id
    """The document to move."""
    folder_id: Id | None
    expected_version: Version | None = None


class UpdateDocumentContractId(Request, frozen=True, kw_only=True):
    """The contract of another system that a document belongs to; null: to none."""

    document_id: Id
    """The document to change."""
    contract_id: ContractId | None
    expected_version: Version | None = None


class SetDocumentThumbnailUrl(Request, frozen=True, kw_only=True):
    """Where a picture of a document is."""

    document_id: Id
    """The document."""
    thumbnail_url: ThumbnailUrl | None
    """Where the picture is: an https address, or a path of the vault. It is never fetched here. Null: nowhere."""
    expected_version: Version | None = None


class DeletedDocument(Response, frozen=True, kw_only=True):
    """What was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class BulkMoveDocuments(Request, frozen=True, kw_only=True):
    """Documents, and the folder that they are to lie in."""

    document_ids: Annotated[list[Id], Meta(min_length=1, max_length=500)]
    """The documents to move."""
    folder_id: Id | None
    """The folder that they are to lie in. Null: at the top."""
    partial: bool = False
    """Whether those that there are are moved although others are unknown or in the trash; else none is."""


class FailedMove(Response, frozen=True, kw_only=True):
    """A document that was not moved, and why."""

    id: str
    """The id of the document, as it was given."""
    code: Literal["not_found"]
    """`not_found`: there is no such document, or it is in the trash."""


class BulkMoved(Response, frozen=True, kw_only=True):
    """What was moved, and what was not."""

    moved: list[Id]
    """The ids of the documents that were moved."""
    failed: list[FailedMove]
    """The documents that were not moved; there are some with `partial` alone."""
