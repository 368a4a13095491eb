"""What is asked and answered about the bytes of documents (Domain A7)."""

from typing import Annotated

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import Disposition
from gatewayd.areas.vault.links import LinkPassword, Variant
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


class GenerateTemporalLink(Request, frozen=True, kw_only=True):
    """To which document, and until when: `permanent`, or for `expiresInSeconds`."""

    document_id: Id
    expires_in_seconds: Annotated[int, Meta(ge=60, le=31_536_000)] | None = None
    permanent: bool = False
    password: LinkPassword | None = None
    max_downloads: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    variant: Variant = "original"


class TemporalLink(Response, frozen=True, kw_only=True):
    """A link for anybody. Its address and its token, which is the end of it, are shown this once."""

    id: Id
    url: str
    token: str
    expires_at: Timestamp | None
    permanent: bool
