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
    disposition: Disposition = "attachment"
    variant: Variant = "original"
    ttl_seconds: Annotated[int, Meta(ge=60, le=3600)] = 300


class DocumentDownload(Response, frozen=True, kw_only=True):
    """A URL that gives the bytes to whoever has it, until it expires."""

    url: str
    expires_at: Timestamp
    file_name: str
    mime_type: str
    size_bytes: int
    sha256: str


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
