"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord.properties import operations as properties
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (*properties.OPERATIONS,),
)
