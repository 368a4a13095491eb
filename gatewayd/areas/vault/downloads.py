"""URLs of the bytes of a document (Domain A7): shapes and the row, whose handler is `vault_files`'s."""

from typing import Annotated, Final

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import Disposition
from gatewayd.areas.vault.links import Variant
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import Id, Request, Response, Timestamp


class GetDocumentDownloadUrl(Request, frozen=True, kw_only=True):
    """Of which document, and for how long."""

    document_id: Id
    """The document, whose bytes have to be there."""
    disposition: Disposition = "attachment"
    """Whether browsers save it, `attachment`, or show it, `inline`."""
    variant: Variant = "original"
    """`original`: the bytes that were uploaded; `searchable_pdf`: a scan with its text behind the picture; `text`: what
    was read in it, UTF-8; `thumbnail`: a picture of the first page."""
    ttl_seconds: Annotated[int, Meta(ge=60, le=3600)] = 300
    """For how many seconds the URL gives the bytes."""


class DocumentDownload(Response, frozen=True, kw_only=True):
    """A URL that gives the bytes to whoever has it, until it expires."""

    url: str
    """The URL, which needs no other credential: whoever has it reads the bytes."""
    expires_at: Timestamp
    """When the URL ends; it ends earlier where the caller may read the document no more."""
    file_name: str
    """The name that the bytes are saved under."""
    mime_type: str
    """The media type of the bytes."""
    size_bytes: int
    """How many bytes there are."""
    sha256: str
    """SHA-256 of the bytes, in lower-case hexadecimal."""


OPERATIONS: Final = (
    Operation(
        id="vault.getDocumentDownloadUrl",
        kind="call",
        method="GET",
        path="/vault/documents/:documentId/download",
        scopes=("vault:read",),
        request=GetDocumentDownloadUrl,
        response=DocumentDownload,
        handler=AT_CATALOGUE,
        errors=("gone", "not_uploaded"),
        example={"documentId": "doc_01k0000000000000000000000a", "ttlSeconds": 600},
    ),
)
