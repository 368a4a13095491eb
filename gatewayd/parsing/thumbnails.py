"""Pictures of documents (Spec §4, Domain A7): handlers."""

from typing import Final, Protocol

from gatewayd.areas.vault.documents.thumbnails import CachedThumbnail, GenerateAndCacheThumbnail
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Handlers
from gatewayd.parsing.engine import Parsing


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def parsing(self) -> Parsing: ...


async def generate_and_cache_thumbnail(
    deps: Deps, caller: Caller, request: GenerateAndCacheThumbnail
) -> CachedThumbnail:
    """Draw a page of a document and keep the picture, which `thumbnailUrl` of the document leads to from then on."""
    return await deps.parsing.made_files.cache_thumbnail(caller.org_id, request)


HANDLERS: Final[Handlers] = {"vault.generateAndCacheThumbnail": generate_and_cache_thumbnail}
