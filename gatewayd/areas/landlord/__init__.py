"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord.rents import operations as rents
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (*rents.OPERATIONS,),
)
