"""The vault: documents in folders, their bytes, and links to them (Spec §4)."""

from functools import partial

from gatewayd.areas.vault import downloads, links, search, trash
from gatewayd.areas.vault.documents import operations as documents
from gatewayd.areas.vault.documents import reading, thumbnails
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.folders import operations as folders
from gatewayd.areas.vault.proposals import correcting
from gatewayd.areas.vault.proposals import operations as proposals
from gatewayd.contract.operation import Area, Handlers

__all__ = ["AREA", "DEFAULTS", "Settings", "handlers"]

AREA = Area(
    "vault",
    "Vault",
    (
        *folders.OPERATIONS,
        *documents.OPERATIONS,
        *trash.OPERATIONS,
        *links.OPERATIONS,
        *reading.OPERATIONS,
        *correcting.OPERATIONS,
        *proposals.OPERATIONS,
        *downloads.OPERATIONS,
        *links.BY_ENGINE,
        *thumbnails.OPERATIONS,
        *search.OPERATIONS,
        *proposals.BY_ENGINE,
    ),
)
DEFAULTS = Settings("http://127.0.0.1:8080", 100 << 20)


def handlers(settings: Settings) -> Handlers:
    """Of a daemon with these settings."""
    return {"vault.createDocumentRecord": partial(documents.create_document_record, settings=settings)}
