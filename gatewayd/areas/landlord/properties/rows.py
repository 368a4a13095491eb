"""Properties as they are stored. Owns the table `properties`."""

from gatewayd.areas.landlord.properties.shapes import StoredProperty
from gatewayd.store import Table


def _uprn(row: StoredProperty) -> str | None:
    return None if row.address is None else row.address.uprn


def _search_text(row: StoredProperty) -> str:
    """What `q` looks in: the name and the address, each on a line of its own."""
    address = row.address
    lines = () if address is None else (address.line1, address.line2, address.town, address.postcode, address.uprn)
    return "\n".join(text for text in (row.name, *lines) if text).casefold()


PROPERTIES = Table(
    "properties",
    StoredProperty,
    kind="property",
    prefix="prop",
    written={"uprn": _uprn, "search_text": _search_text},
)
