"""Search in the vault (Spec §4, Domain A7 and C9): its handler."""

from typing import Final, Protocol

from gatewayd.areas.vault.search import SearchDocuments, SearchedDocuments
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Handlers
from gatewayd.search.engine import Search


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


HANDLERS: Final[Handlers] = {"vault.searchDocuments": search_documents}
