"""Properties as they are stored. Owns the table `properties`. `may_lack` is 0 where no certificate is missing."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.contract.wire import (
    Address,
    Amount,
    CanonicalDecimal,
    Date,
    DateText,
    DecimalText,
    Id,
    Part,
    Response,
    Timestamp,
)
from gatewayd.errors import invalid, invalid_state
from gatewayd.ledger.references import unknown_reference
from gatewayd.store import ReadTx, Table, WriteTx

Jurisdiction = Literal["england", "wales", "scotland", "northern_ireland", "other"]
PropertyType = Literal[
    "house",
    "flat",
    "maisonette",
    "bungalow",
    "hmo",
    "studio",
    "block",
    "commercial",
    "mixed_use",
    "land",
    "garage",
    "other",
]
Use = Literal["residential_let", "commercial_let", "mixed", "holiday_let", "rent_a_room", "own_use", "vacant"]
Tenure = Literal["freehold", "leasehold", "commonhold", "other"]
Furnished = Literal["furnished", "part_furnished", "unfurnished"]
Licensing = Literal["none", "mandatory_hmo", "additional_hmo", "selective", "unknown"]
PropertyStatus = Literal["active", "under_offer", "sold", "archived"]

KEPT: Final[tuple[PropertyStatus, ...]] = ("active", "under_offer")
"""Of what is still the owner's business."""

Uprn = Annotated[str, Meta(pattern="^[0-9]{1,12}$", description="Unique Property Reference Number: at most 12 digits.")]
Percent = Annotated[DecimalText, Meta(description="Percent: more than 0, at most 100.")]


class PropertyAddress(Address, frozen=True, kw_only=True):
    """A postal address, as it is kept."""

    uprn: str | None = None


OwnerFromDate = Annotated[
    Date,
    Meta(
        description="The first day of this share. Of spouses whose income is not split in half that of the declaration "
        "on Form 17, which has to reach HMRC within 60 days."
    ),
]


class PropertyOwner(Part, frozen=True, kw_only=True):
    """Who owns a part: a legal entity of yours, or somebody else by name.

    `fromDate`: owners with the same one own it from that day on, in the place of all before; null: from the first on.
    """

    legal_entity_id: Id | None = None
    name: Annotated[str, Meta(min_length=1, max_length=160)] | None = None
    share_percent: Percent
    from_date: OwnerFromDate | None = None


class StoredProperty(Response, frozen=True, kw_only=True):
    """What of a property stands in its row. `owner_share_percent` None: it is that of its business."""

    id: Id
    external_id: str | None
    business_id: Id
    name: str
    address: PropertyAddress | None
    jurisdiction: Jurisdiction
    type: PropertyType
    use: Use
    tenure: Tenure | None
    lease_expiry_date: DateText | None
    ground_rent_annual: Amount | None
    service_charge_annual: Amount | None
    furnished: Furnished | None
    bedrooms: int | None
    area_sqm: CanonicalDecimal | None
    owners: list[PropertyOwner]
    owner_share_percent: CanonicalDecimal | None
    acquisition_date: DateText | None
    purchase_price: Amount | None
    acquisition_costs: Amount | None
    improvement_costs: Amount | None
    disposal_date: DateText | None
    disposal_proceeds: Amount | None
    disposal_costs: Amount | None
    currency: str
    local_authority: str | None
    council_tax_band: str | None
    licensing: Licensing
    gas_supply: bool | None
    foreign_property_id: str | None
    status: PropertyStatus
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


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
_SELECT_OF_POSTCODE = f"""
{PROPERTIES.select} AND postcode_key = :postcode_key AND archived_at IS NULL ORDER BY id LIMIT :count
"""
_KEEP_LACKING = "UPDATE properties SET may_lack = :may_lack WHERE org_id = :org_id AND id = :property_id"


def note_lacking(tx: WriteTx, property_id: str, *, may_lack: bool) -> None:
    """Keep whether a property may lack a certificate."""
    tx.run(_KEEP_LACKING, property_id=property_id, may_lack=int(may_lack))


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
