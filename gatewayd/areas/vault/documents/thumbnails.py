"""Pictures of documents (Spec §4, Domain A7): shapes and the row, whose handler is `parsing`'s."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import Id, Request, Response


class GenerateAndCacheThumbnail(Request, frozen=True, kw_only=True):
    """Of which page, and how wide."""

    document_id: Id
    """The document, whose bytes have to be there."""
    page: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """The page to draw, the first being 1."""
    width: Annotated[int, Meta(ge=64, le=1024)] = 320
    """How many pixels wide the picture is to be; a small one is not made larger."""


class CachedThumbnail(Response, frozen=True, kw_only=True):
    """A picture of a page, and the document that names it now."""

    document: Document
    """The document, whose `thumbnailUrl` leads to the picture."""
    thumbnail_url: str
    """The path of the vault that gives the picture, as WebP, to whoever has it, for as long as the document names
    it."""
    width: int
    """How many pixels wide the picture is."""
    height: int
    """How many pixels high the picture is."""
    cached: Literal[True]
    """Always true: the picture is kept."""


OPERATIONS: Final = (
    Operation(
        id="vault.generateAndCacheThumbnail",
        kind="call",
        method="POST",
        path="/vault/documents/:documentId/cache-thumbnail",
        scopes=("vault:write",),
        request=GenerateAndCacheThumbnail,
        response=CachedThumbnail,
        handler=AT_CATALOGUE,
        errors=("gone", "no_thumbnail_for_type", "not_uploaded"),
        example={"documentId": "doc_01k0000000000000000000000a", "width": 640},
    ),
)
