"""Tax: the restricted subtree (Spec §4): the forwarding proxy, its checks and the sandbox authority."""

from gatewayd.contract.operation import Area
from gatewayd.tax import business_sync, obligation_sync
from gatewayd.tax.operations import OPERATIONS

AREA = Area("tax", "Tax", OPERATIONS)
OF_BUSINESSES = (business_sync.OPERATION,)
"""Rows of the area of businesses that ask the authority, and so are ours."""
OF_PERIODS = (obligation_sync.OPERATION,)
"""The same of the area of periods and obligations."""
