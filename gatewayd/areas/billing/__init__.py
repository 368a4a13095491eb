"""Billing: credits, what they were used for, plans and costs (Spec §4, Domain A8)."""

from dataclasses import replace

from gatewayd.areas.billing import corrections, costs, grants, ledger, plans
from gatewayd.areas.billing.priced_work import PricedWork
from gatewayd.contract.operation import Area

AREA = Area("billing", "Billing", ledger.OPERATIONS + plans.OPERATIONS + grants.OPERATIONS + corrections.OPERATIONS)
"""Without the rows that have to know what can have a price."""


def area(priced: PricedWork) -> Area:
    """All rows, of an instance on which such work can have a price."""
    told = (*ledger.OPERATIONS, *plans.OPERATIONS, *costs.operations(priced))
    return replace(AREA, operations=(*told, *grants.OPERATIONS, *corrections.OPERATIONS, corrections.operation(priced)))
