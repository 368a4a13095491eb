"""Organizations of the instance, as whoever runs it looks after them."""

from gatewayd.areas.organizations import operations
from gatewayd.contract.operation import Area

AREA = Area("organizations", "Organizations", operations.OPERATIONS)
