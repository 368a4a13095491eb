"""Billing: credits, what they were used for, plans and costs (Spec §4, Domain A8)."""

from functools import partial

from gatewayd.areas.billing import corrections, costs, grants, ledger, plans
from gatewayd.areas.billing.costs import PricedWork
from gatewayd.contract.operation import Area, Handlers

AREA = Area(
    "billing",
    "Billing",
    (
        *ledger.OPERATIONS,
        *plans.OPERATIONS,
        *costs.OPERATIONS,
        *grants.OPERATIONS,
        *corrections.OPERATIONS,
    ),
)


def handlers(priced: PricedWork) -> Handlers:
    """The handlers that need to know which work can have a price: that is `priced`."""
    return {
        "billing.getOperationCosts": partial(costs.get_operation_costs, priced=priced),
        "billing.setOperationCost": partial(costs.set_operation_cost, priced=priced),
        "billing.importEntries": partial(corrections.import_entries, priced=priced),
    }
