"""Search in the vault (Spec §4, Domain A7 and C9): operations."""

from typing import Final, Protocol

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.search.engine import Search
from gatewayd.search.shapes import SearchDocuments, SearchedDocuments


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def search(self) -> Search: ...


async def search_documents(deps: Deps, caller: Caller, request: SearchDocuments) -> SearchedDocuments:
    """Search documents by their words, by what they are about, or by both.

    Words may be mistyped in a letter; what stands in quotation marks is found as it stands, and numbers and codes
    however they are punctuated. `modeUsed` is text, with a warning, where nothing gives meanings to texts.
    """
    return await deps.search.search(caller.org_id, request)


OPERATIONS: Final = (
    Operation(
        id="vault.searchDocuments",
        kind="call",
        method="POST",
        path="/vault/search",
        scopes=("vault:read",),
        request=SearchDocuments,
        response=SearchedDocuments,
        handler=search_documents,
        work="vault.search.vector",
        does_work=lambda request: request.mode != "text",
        did_work=lambda found: found.mode_used != "text",
        example={"query": "boiler repair", "filters": {"mimeTypes": ["application/pdf"]}},
    ),
)
