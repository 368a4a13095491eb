"""The rules that the fields of a unit follow (Domain B4). Pure."""

from collections.abc import Iterator
from decimal import Decimal

from msgspec.structs import replace

from gatewayd.areas.landlord.units.shapes import StoredUnit
from gatewayd.errors import FieldError


def with_frequency(row: StoredUnit) -> StoredUnit:
    """The unit whose market rent says how often. Chosen: monthly by default; without a rent there is none."""
    if row.market_rent is None:
        return replace(row, rent_frequency=None)
    return replace(row, rent_frequency=row.rent_frequency or "monthly")


def mistakes(row: StoredUnit) -> Iterator[FieldError]:
    """What is wrong with area and market rent."""
    if row.area_sqm is not None and Decimal(row.area_sqm) <= 0:
        yield FieldError("areaSqm", "out_of_range", "Expected more than 0.")
    if row.market_rent is not None and row.market_rent.minor < 0:
        yield FieldError("marketRent", "out_of_range", "Expected 0 or more.")
