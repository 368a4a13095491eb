"""The bytes of documents (Spec §4, Domain A7): operations."""

from typing import Final, Protocol

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.vault_files.engine import VaultFiles
from gatewayd.vault_files.shapes import DocumentDownload, GenerateTemporalLink, GetDocumentDownloadUrl, TemporalLink


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


OPERATIONS: Final = (
    Operation(
        id="vault.getDocumentDownloadUrl",
        kind="call",
        method="GET",
        path="/vault/documents/:documentId/download",
        scopes=("vault:read",),
        request=GetDocumentDownloadUrl,
        response=DocumentDownload,
        handler=get_document_download_url,
        errors=("gone", "not_uploaded"),
        example={"documentId": "doc_01k0000000000000000000000a", "ttlSeconds": 600},
    ),
    Operation(
        id="vault.generateTemporalLink",
        kind="call",
        method="POST",
        path="/vault/documents/:documentId/temporal-link",
        scopes=("vault:write",),
        request=GenerateTemporalLink,
        response=TemporalLink,
        handler=generate_temporal_link,
        secret=True,
        errors=("not_uploaded", "public_links_disabled"),
        example={"documentId": "doc_01k0000000000000000000000a", "expiresInSeconds": 604800, "maxDownloads": 5},
    ),
)
