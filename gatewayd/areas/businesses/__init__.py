"""Businesses: the sources of income that a legal entity keeps books for (Spec §4)."""

from gatewayd.areas.businesses import operations, tax_sync
from gatewayd.areas.businesses.profit_and_loss import operations as profit_and_loss
from gatewayd.areas.businesses.profit_and_loss import what_if
from gatewayd.contract.operation import Area

AREA = Area(
    "businesses",
    "Businesses",
    (
        *operations.OPERATIONS,
        *profit_and_loss.OPERATIONS,
        *what_if.OPERATIONS,
        *tax_sync.OPERATIONS,
    ),
)
