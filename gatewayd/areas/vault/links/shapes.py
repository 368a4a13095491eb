"""What links to documents look like (Domain B7): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Id, Request, Response, Timestamp

Variant = Literal["original", "searchable_pdf", "text", "thumbnail"]
LinkPassword = Annotated[str, Meta(min_length=4, max_length=1024, description="Asked of whoever opens the link.")]


class DocumentLinkAccess(Response, frozen=True, kw_only=True):
    """A link to a document, without its address. `expiresAt` null: it is permanent."""

    id: Id
    document_id: Id
    variant: Variant
    expires_at: Timestamp | None
    permanent: bool
    has_password: bool
    max_downloads: int | None
    downloads: int
    last_accessed_at: Timestamp | None
    revoked_at: Timestamp | None
    created_by: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class LinkRow(Response, frozen=True, kw_only=True):
    """A link as it is stored. `user_id` None: it ends with nobody's membership."""

    id: Id
    document_id: Id
    token_hash: bytes
    variant: Variant
    expires_at: Timestamp | None
    password_hash: str | None
    max_downloads: int | None
    downloads: int
    last_accessed_at: Timestamp | None
    revoked_at: Timestamp | None
    user_id: str | None
    created_by: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListLinks(PageRequest, frozen=True, kw_only=True):
    """The links of which document."""

    document_id: Id


class RevokeLink(Request, frozen=True, kw_only=True):
    """Which link to end."""

    id: Id


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
