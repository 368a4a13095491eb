"""Pictures of documents (Spec §4, Domain A7): shapes and the row, whose handler is `parsing`'s."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import Document
from gatewayd.contract.operation import AT_CATALOGUE, Operation
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
