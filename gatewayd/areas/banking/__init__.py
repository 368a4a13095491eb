"""Banking: bank lines and what they are for (Spec §4)."""

from gatewayd.areas.banking.allocations import operations as allocations
from gatewayd.contract.operation import Area

AREA = Area("banking", "Banking", (*allocations.OPERATIONS,))
