"""What is asked and answered about pictures of documents (Domain A7)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.contract.wire import Id, Request, Response


class GenerateAndCacheThumbnail(Request, frozen=True, kw_only=True):
    """Of which page, and how many pixels wide."""

    document_id: Id
    page: Annotated[int, Meta(ge=1, le=10_000)] = 1
    width: Annotated[int, Meta(ge=64, le=1024)] = 320


class CachedThumbnail(Response, frozen=True, kw_only=True):
    """A picture, and the document that names it now. `thumbnailUrl` is a path of the vault that gives it, WebP.

    Whoever has that path sees the picture, without another credential, as long as the document names it.
    """

    document: Document
    thumbnail_url: str
    width: int
    height: int
    cached: Literal[True]
