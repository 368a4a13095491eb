"""Businesses: the sources of income that a legal entity keeps books for (Spec §4)."""

from gatewayd.areas.businesses.operations import OPERATIONS
from gatewayd.contract.operation import Area

AREA = Area("businesses", "Businesses", OPERATIONS)
