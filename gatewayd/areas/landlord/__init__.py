"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord.properties import operations as properties
from gatewayd.areas.landlord.units import operations as units
from gatewayd.areas.landlord.valuations import operations as valuations
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (
        *properties.OPERATIONS,
        *units.OPERATIONS,
        *valuations.OPERATIONS,
    ),
)
