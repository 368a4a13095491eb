"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord import linked_transactions, tax_returns, valuations
from gatewayd.areas.landlord.certificates import operations as certificates
from gatewayd.areas.landlord.dashboard import operations as dashboard
from gatewayd.areas.landlord.finance_costs import operations as finance_costs
from gatewayd.areas.landlord.mortgages import operations as mortgages
from gatewayd.areas.landlord.properties import operations as properties
from gatewayd.areas.landlord.rents import operations as rents
from gatewayd.areas.landlord.results import operations as results
from gatewayd.areas.landlord.tenancies import operations as tenancies
from gatewayd.areas.landlord.tenants import operations as tenants
from gatewayd.areas.landlord.units import operations as units
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (
        *dashboard.OPERATIONS,
        *tenants.OPERATIONS,
        *tenancies.OPERATIONS,
        *rents.OPERATIONS,
        *properties.OPERATIONS,
        *units.OPERATIONS,
        *valuations.OPERATIONS,
        *linked_transactions.OPERATIONS,
        *results.OPERATIONS,
        *finance_costs.OPERATIONS,
        *tax_returns.OPERATIONS,
        *mortgages.OPERATIONS,
        *certificates.OPERATIONS,
    ),
)
