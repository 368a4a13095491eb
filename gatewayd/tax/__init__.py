"""Tax: the restricted subtree (Spec §4): the forwarding proxy, its checks and the sandbox authority."""

from gatewayd.contract.operation import Area
from gatewayd.tax.operations import OPERATIONS

AREA = Area("tax", "Tax", OPERATIONS)
