"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord.rents import operations as rents
from gatewayd.areas.landlord.tenancies import operations as tenancies
from gatewayd.areas.landlord.tenants import operations as tenants
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (
        *tenants.OPERATIONS,
        *tenancies.OPERATIONS,
        *rents.OPERATIONS,
    ),
)
