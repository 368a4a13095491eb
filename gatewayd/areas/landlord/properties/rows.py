"""Properties as they are stored. Owns the table `properties`.

What a property is worth is the latest valuation's, and without owners of its own its business says whose share it is:
both are looked up when it is read, so that neither can be out of date. `may_lack` is 0 where no certificate is missing.
"""

from gatewayd.areas.landlord.certificates import missing
from gatewayd.areas.landlord.properties.shapes import Property, StoredProperty
from gatewayd.contract.wire import project
from gatewayd.errors import invalid, invalid_state, not_found
from gatewayd.ledger.references import unknown_reference
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, Table, WriteTx


def _uprn(row: StoredProperty) -> str | None:
    return None if row.address is None else row.address.uprn


def _search_text(row: StoredProperty) -> str:
    """What `q` looks in: the name and the address, each on a line of its own."""
    address = row.address
    lines = () if address is None else (address.line1, address.line2, address.town, address.postcode, address.uprn)
    return "\n".join(text for text in (row.name, *lines) if text).casefold()


def _postcode_key(row: StoredProperty) -> str:
    return postcode_key((row.address and row.address.postcode) or "")


def postcode_key(postcode: str) -> str:
    """What two spellings of a postcode have in common."""
    return postcode.replace(" ", "").upper()


PROPERTIES = Table(
    "properties",
    StoredProperty,
    kind="property",
    prefix="prop",
    written={"uprn": _uprn, "search_text": _search_text, "postcode_key": _postcode_key},
)
_LATEST = """(
    SELECT v.{column} FROM property_valuations v
    WHERE v.org_id = properties.org_id AND v.property_id = properties.id AND v.valuation_date <= :today
    ORDER BY v.valuation_date DESC, v.id DESC LIMIT 1
)"""
_BUSINESS_SHARE = """(
    SELECT b.owner_share_percent FROM businesses b
    WHERE b.org_id = properties.org_id AND b.id = properties.business_id
)"""
SELECT_SHOWN = f"""
SELECT {PROPERTIES.sql}, coalesce(owner_share_percent, {_BUSINESS_SHARE}), {_LATEST.format(column="valuation_date")},
    {_LATEST.format(column="amount")}
FROM properties WHERE org_id = :org_id
"""
_SELECT_ONE = f"{SELECT_SHOWN} AND id = :id"
_SELECT_OF_POSTCODE = f"""
{PROPERTIES.select} AND postcode_key = :postcode_key AND archived_at IS NULL ORDER BY id LIMIT :count
"""
_SELECT_LASTING_TENANCY = """
SELECT id FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND cancelled_at IS NULL
    AND (last_day IS NULL OR last_day >= :day)
LIMIT 1
"""
_SELECT_LASTING_TYPES = """
SELECT id, type FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND cancelled_at IS NULL
    AND (last_day IS NULL OR last_day >= :day)
ORDER BY id
"""

_KEEP_LACKING = "UPDATE properties SET may_lack = :may_lack WHERE org_id = :org_id AND id = :property_id"


def note_certificates(tx: WriteTx, property_id: str) -> None:
    """Keep true whether a property may lack a certificate, where it, a unit or a certificate of it has changed."""
    tx.run(_KEEP_LACKING, property_id=property_id, may_lack=int(missing.lacks(tx, property_id)))


def shown(values: Row) -> Property:
    """The property of a row of `SELECT_SHOWN`."""
    *stored, share, value_date, value = values
    row = PROPERTIES.load(tuple(stored))
    return project(
        row,
        Property,
        owner_share_percent=share,
        current_value=None if value is None else Money(value, row.currency),
        current_value_date=value_date,
    )


def get_shown(tx: ReadTx, property_id: str) -> Property:
    """The property as it is today, archived or not. Raises `Problem` `not_found`."""
    values = tx.row(_SELECT_ONE, id=property_id, today=tx.today)
    if values is None:
        raise not_found(PROPERTIES.kind)
    return shown(values)


def of_postcode(tx: ReadTx, postcode: str, count: int) -> list[StoredProperty]:
    """The properties at a postcode, however it is spaced, that are not archived: oldest first."""
    rows = tx.rows(_SELECT_OF_POSTCODE, postcode_key=postcode_key(postcode), count=count)
    return [PROPERTIES.read(tx, values) for values in rows]


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


def lasting_tenancy(tx: ReadTx, property_id: str, day: str) -> str | None:
    """The id of a tenancy that has not ended before an ISO date, begun or not; None: there is none."""
    found: str | None = tx.value(_SELECT_LASTING_TENANCY, property_id=property_id, day=day)
    return found


def lasting_types(tx: ReadTx, property_id: str, day: str) -> list[tuple[str, str]]:
    """The ids and types of tenancies that have not ended before an ISO date, begun or not."""
    return [(id_, type_) for id_, type_ in tx.rows(_SELECT_LASTING_TYPES, property_id=property_id, day=day)]
