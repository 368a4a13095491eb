"""The vault: documents in folders, their bytes, and links to them (Spec §4)."""

from gatewayd.areas.vault import links, trash
from gatewayd.areas.vault.documents import operations as documents
from gatewayd.areas.vault.documents import reading
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.folders import operations as folders
from gatewayd.areas.vault.proposals import operations as proposals
from gatewayd.contract.operation import Area


def area(settings: Settings) -> Area:
    """The rows of a daemon with these settings."""
    return Area(
        "vault",
        "Vault",
        (
            *folders.OPERATIONS,
            *documents.operations(settings),
            *trash.OPERATIONS,
            *links.OPERATIONS,
            *reading.OPERATIONS,
            *proposals.OPERATIONS,
        ),
    )


__all__ = ["AREA", "DEFAULTS", "Settings", "area"]

DEFAULTS = Settings("http://127.0.0.1:8080", 100 << 20)
AREA = area(DEFAULTS)
"""The same with those that are the default."""
