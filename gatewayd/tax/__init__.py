"""Tax: the restricted subtree (Spec §4): the forwarding proxy, its checks and the sandbox authority."""

from typing import Final

from gatewayd.contract.operation import Area, Handlers
from gatewayd.tax import business_sync, obligation_sync
from gatewayd.tax.operations import OPERATIONS

AREA = Area("tax", "Tax", OPERATIONS)
HANDLERS: Final[Handlers] = {
    business_sync.ID: business_sync.sync_tax_business,
    obligation_sync.ID: obligation_sync.sync_obligations,
}
"""Of the areas whose operations ask the authority."""
