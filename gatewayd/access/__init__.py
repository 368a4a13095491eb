"""What is open to the outside, by who made it; its end; and how people come to leave. An extension of the API."""

from gatewayd.access.operations import OPERATIONS
from gatewayd.contract.operation import Area

AREA = Area("access", "Access", OPERATIONS)
