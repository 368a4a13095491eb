"""Periods and obligations: what is open, what is due, and the closing of books (Spec §4)."""

from gatewayd.areas.periods import obligations, operations
from gatewayd.contract.operation import Area

AREA = Area("periods", "Periods and obligations", (*operations.OPERATIONS, *obligations.OPERATIONS))
