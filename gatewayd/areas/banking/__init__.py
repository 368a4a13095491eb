"""Banking: bank lines and what they are for (Spec §4)."""

from gatewayd.areas.banking.allocations import operations as allocations
from gatewayd.areas.banking.proposals import operations as proposals
from gatewayd.areas.banking.rules import operations as rules
from gatewayd.contract.operation import Area

AREA = Area("banking", "Banking", (*allocations.OPERATIONS, *rules.OPERATIONS, *proposals.OPERATIONS))
