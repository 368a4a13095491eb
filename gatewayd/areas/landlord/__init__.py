"""Lets: properties, who lives there, what they owe, what it earns (Spec §4)."""

from gatewayd.areas.landlord.certificates import operations as certificates
from gatewayd.areas.landlord.mortgages import operations as mortgages
from gatewayd.contract.operation import Area

AREA = Area(
    "landlord",
    "Landlord",
    (
        *mortgages.OPERATIONS,
        *certificates.OPERATIONS,
    ),
)
