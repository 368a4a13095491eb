"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord.finance_costs import operations as finance_costs
from gatewayd.areas.landlord.linked_transactions import operations as linked_transactions
from gatewayd.areas.landlord.results import operations as results
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (*linked_transactions.OPERATIONS, *results.OPERATIONS, *finance_costs.OPERATIONS),
)
