"""The bytes of documents (Spec §4, Domain A7): handlers."""

from typing import Final, Protocol

from gatewayd.areas.vault.downloads import DocumentDownload, GetDocumentDownloadUrl
from gatewayd.areas.vault.links import GenerateTemporalLink, TemporalLink
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Handlers
from gatewayd.vault_files.engine import VaultFiles


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def vault_files(self) -> VaultFiles: ...


async def get_document_download_url(deps: Deps, caller: Caller, request: GetDocumentDownloadUrl) -> DocumentDownload:
    """Get a URL that gives the bytes of a document for a while, five minutes by default, without another credential."""
    return await deps.vault_files.download_url(caller, request)


async def generate_temporal_link(deps: Deps, caller: Caller, request: GenerateTemporalLink) -> TemporalLink:
    """Generate a link to a document for people outside: for some time or for good, behind a password or for anybody.

    `maxDownloads` ends it after so many. `revokeLink` ends it at once.
    """
    return await deps.vault_files.create_link(caller, request)


HANDLERS: Final[Handlers] = {
    "vault.getDocumentDownloadUrl": get_document_download_url,
    "vault.generateTemporalLink": generate_temporal_link,
}
