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

Uprn = Annotated[
    str,
    Meta(
        pattern="^[0-9]{1,12}$",
        extra={"form": "a UPRN of at most 12 digits"},
        description="Unique Property Reference Number: at most 12 digits.",
    ),
]
Percent = Annotated[DecimalText, Meta(examples=["50"])]


class PropertyAddress(Address, frozen=True, kw_only=True):
    """A postal address, as it is kept."""

    uprn: str | None = None
    """Unique Property Reference Number, by which registers know it. Null: not entered."""


OwnerFromDate = Annotated[
    Date,
    Meta(
        description="The first day of this share: owners with the same one own the property from that day on, in the "
        "place of all before. Null: from the first day on. Of spouses whose income is not split in half it is the day "
        "of the declaration on Form 17, which has to reach HMRC within 60 days."
    ),
]


class PropertyOwner(Part, frozen=True, kw_only=True):
    """Who owns a part: a legal entity of yours, or somebody else by name."""

    legal_entity_id: Id | None = None
    """The legal entity of yours that owns the part. Null: somebody else does."""
    name: Annotated[str, Meta(min_length=1, max_length=160)] | None = None
    """Who else owns the part. Null: `legalEntityId` says it."""
    share_percent: Percent
    """The part in percent: more than 0; those of all owners of a day come to 100 at most."""
    from_date: OwnerFromDate | None = None


class StoredProperty(Response, frozen=True, kw_only=True):
    """What of a property stands in its row. `owner_share_percent` None: it is that of its business."""

    id: Id
    external_id: str | None
    business_id: Id
    """The business that it belongs to: a property business, or a company's trade."""
    name: str
    """What people call it."""
    address: PropertyAddress | None
    """Where it lies. Null: not entered."""
    jurisdiction: Jurisdiction
    """Whose law its tenancies and certificates are under; `other`: abroad."""
    type: PropertyType
    """What kind of building or land it is; `hmo`: a house in multiple occupation; `block`: a building of several
    flats."""
    use: Use
    """What it is used for: it decides which certificates are needed, and whether finance costs are restricted.
    `rent_a_room`: lodgers in the landlord's own home."""
    tenure: Tenure | None
    """How it is owned. Null: not entered."""
    lease_expiry_date: DateText | None
    """The day on which the lease ends that a leasehold is held on. Null: not entered."""
    ground_rent_annual: Amount | None
    """The ground rent of a year, in `currency`. Null: not entered."""
    service_charge_annual: Amount | None
    """The service charge of a year, in `currency`. Null: not entered."""
    furnished: Furnished | None
    """With how much furniture it is let. Null: not entered."""
    bedrooms: int | None
    """How many bedrooms it has. Null: not entered."""
    area_sqm: CanonicalDecimal | None
    """The floor area in square metres. Null: not entered."""
    owners: list[PropertyOwner]
    """Who owns which part from which day on. Empty: nobody named any, and the share of the business counts."""
    owner_share_percent: CanonicalDecimal | None
    acquisition_date: DateText | None
    """The day on which it was acquired. Null: not entered, and it counts as held on all days."""
    purchase_price: Amount | None
    """What was paid for all of it, in `currency`, without `acquisitionCosts`. Null: not entered."""
    acquisition_costs: Amount | None
    """What it cost to acquire beside the price, such as Stamp Duty Land Tax and solicitors. Null: not entered."""
    improvement_costs: Amount | None
    """What improving it has cost in all, which lowers the gain when it is sold. Null: not entered."""
    disposal_date: DateText | None
    """The day on which it was sold, or is to be while it is `under_offer`. Null: none is known."""
    disposal_proceeds: Amount | None
    """What it was sold for, in `currency`, before `disposalCosts`. Null: not entered."""
    disposal_costs: Amount | None
    """What it cost to sell, such as agents and solicitors. Null: not entered."""
    currency: str
    """The currency of its amounts, and of its units, tenancies, mortgages, valuations and certificates."""
    local_authority: str | None
    """The council that it lies in. Null: not entered."""
    council_tax_band: str | None
    """The band of Council Tax, A to I. Null: not entered."""
    licensing: Licensing
    """Which licence letting it needs: that is missing until it is entered as a certificate. `unknown`: nobody said, and
    none is asked for."""
    gas_supply: bool | None
    """Whether there is gas, and a gas safety record is needed. Null: nobody said, and one is asked for."""
    foreign_property_id: str | None
    """The id that HMRC gave a property abroad, of a foreign property business alone. Null: not entered."""
    status: PropertyStatus
    """`under_offer`: a sale is agreed; `sold`: its `disposalDate` has come; `archived`: lists leave it out; else
    `active`."""
    archived_at: Timestamp | None
    """When it was archived. Null: it is not."""
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
_TOUCH_OF_BUSINESS = """
UPDATE properties SET updated_at = :updated_at
WHERE org_id = :org_id AND business_id = :business_id AND owner_share_percent IS NULL
"""
_KEEP_LACKING = "UPDATE properties SET may_lack = :may_lack WHERE org_id = :org_id AND id = :property_id"


def note_lacking(tx: WriteTx, property_id: str, *, may_lack: bool) -> None:
    """Keep whether a property may lack a certificate."""
    tx.run(_KEEP_LACKING, property_id=property_id, may_lack=int(may_lack))


def touch_shared(tx: WriteTx, business_id: str) -> None:
    """Let who follows changes learn that a business shares its properties otherwise: those without a share of their
    own."""
    tx.run(_TOUCH_OF_BUSINESS, business_id=business_id, updated_at=tx.updated_at)


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
        message = "The property is archived: bring it back first, by `status` of `landlord.updateProperty`."
        raise invalid_state(message, "archived", ("active",))
