"""Pictures of documents (Spec §4, Domain A7): operations."""

from typing import Final, Protocol

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.parsing.engine import Parsing
from gatewayd.parsing.thumbnail_shapes import CachedThumbnail, GenerateAndCacheThumbnail


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def parsing(self) -> Parsing: ...


async def generate_and_cache_thumbnail(
    deps: Deps, caller: Caller, request: GenerateAndCacheThumbnail
) -> CachedThumbnail:
    """Draw a page of a document and keep the picture, which `thumbnailUrl` of the document leads to from then on."""
    return await deps.parsing.made_files.cache_thumbnail(caller.org_id, request)


OPERATIONS: Final = (
    Operation(
        id="vault.generateAndCacheThumbnail",
        kind="call",
        method="POST",
        path="/vault/documents/:documentId/cache-thumbnail",
        scopes=("vault:write",),
        request=GenerateAndCacheThumbnail,
        response=CachedThumbnail,
        handler=generate_and_cache_thumbnail,
        errors=("gone", "no_thumbnail_for_type", "not_uploaded"),
        example={"documentId": "doc_01k0000000000000000000000a", "width": 640},
    ),
)
