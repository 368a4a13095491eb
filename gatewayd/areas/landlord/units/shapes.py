"""What units of properties look like (Domain B4): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.landlord.register.tenancy_shapes import RentFrequency
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    CanonicalDecimal,
    DecimalText,
    ExternalId,
    Id,
    Request,
    Response,
    Timestamp,
    Version,
)

UnitType = Literal["whole", "room", "flat", "commercial_unit", "parking", "storage", "other"]
Occupancy = Literal["vacant", "let", "ending"]
UnitFilter = Literal["vacant", "let", "ending", "archived"]

UnitName = Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S", examples=["Flat 2"])]
Floor = Annotated[str, Meta(min_length=1, max_length=40, examples=["ground", "2"])]
Bedrooms = Annotated[int, Meta(ge=0, le=99)]


class StoredUnit(Response, frozen=True, kw_only=True):
    """What of a unit stands in its row."""

    id: Id
    external_id: str | None
    property_id: Id
    """The property that it is a part of."""
    name: str
    """What people call it; each name is taken once in a property, whatever its letter case."""
    type: UnitType
    """What kind of part it is; `whole`: all of the property."""
    floor: str | None
    """The floor that it is on. Null: not entered."""
    bedrooms: int | None
    """How many bedrooms it has. Null: not entered."""
    area_sqm: CanonicalDecimal | None
    """The floor area in square metres, above 0. Null: not entered."""
    market_rent: Amount | None
    """What it would fetch for each `rentFrequency`, in `currency`. Null: not entered."""
    rent_frequency: RentFrequency | None
    """How often `marketRent` would be due. Null: there is no `marketRent`."""
    currency: str
    """The property's currency."""
    archived_at: Timestamp | None
    """When it was archived. Null: it is not."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class PropertyUnit(StoredUnit, frozen=True, kw_only=True):
    """A part of a property that is let by itself."""

    occupancy: Occupancy
    """Today, by the tenancies of the unit and of the whole property: `vacant`: none runs; `ending`: each that runs is
    under notice, or has its last day within 60 days; else `let`."""


class ListPropertyUnits(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    property_id: Id | None = None
    business_id: Id | None = None
    """Only those of this business's properties."""
    legal_entity_id: Id | None = None
    """Only those of the properties of this legal entity's businesses."""
    status: UnitFilter | None = None
    """Only those with this occupancy today, or those that are `archived`."""
    type: UnitType | None = None
    external_id: ExternalId | None = None
    include_archived: bool = False
    """Whether archived ones are listed too; `status` archived lists them alone."""


class GetPropertyUnit(Request, frozen=True, kw_only=True):
    """Which unit."""

    id: Id


class CreatePropertyUnit(Request, frozen=True, kw_only=True):
    """A new unit of a property."""

    property_id: Id
    name: UnitName
    type: UnitType = "other"
    floor: Floor | None = None
    bedrooms: Bedrooms | None = None
    area_sqm: DecimalText | None = None
    market_rent: AmountText | None = None
    rent_frequency: RentFrequency | None = None
    """How often `marketRent` would be due, `monthly` by default; without a `marketRent` it is refused."""
    external_id: ExternalId | None = None


@updates(CreatePropertyUnit, of=PropertyUnit, without=("property_id",))
class UpdatePropertyUnit(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears. `archived` moves it into the archive or out of it."""

    id: Id
    expected_version: Version | None = None
    rent_frequency: RentFrequency | UnsetType | None = UNSET
    archived: bool | UnsetType = UNSET
    """Whether it is in the archive; not while a tenancy of its own goes on."""
