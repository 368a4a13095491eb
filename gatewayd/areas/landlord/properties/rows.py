"""Properties as they are stored. Owns the table `properties`."""

from gatewayd.areas.landlord.properties.shapes import StoredProperty
from gatewayd.errors import invalid, invalid_state
from gatewayd.ledger.references import unknown_reference
from gatewayd.store import ReadTx, Table


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


def in_use(tx: ReadTx, property_id: str) -> StoredProperty:
    """The property that something new is to belong to; one that is sold may take it, for its books go on.

    Raises `Problem`: `validation_failed` where there is none, `invalid_state` for one that is archived.
    """
    row = PROPERTIES.find(tx, property_id)
    if row is None:
        raise invalid(unknown_reference("propertyId", "property"))
    refuse_archived(row)
    return row


def refuse_archived(row: StoredProperty) -> None:
    """Raises `Problem` `invalid_state` for a property that is archived."""
    if row.archived_at is not None:
        raise invalid_state("The property is archived: bring it back first.", "archived", ("active",))
