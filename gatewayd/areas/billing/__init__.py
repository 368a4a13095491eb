"""Billing: credits, what they were used for, plans and costs (Spec §4, Domain A8)."""

from gatewayd.areas.billing import corrections, costs, grants, ledger, plans
from gatewayd.contract.operation import Area

AREA = Area(
    "billing",
    "Billing",
    ledger.OPERATIONS + plans.OPERATIONS + costs.OPERATIONS + grants.OPERATIONS + corrections.OPERATIONS,
)
