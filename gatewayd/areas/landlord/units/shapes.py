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
    name: str
    type: UnitType
    floor: str | None
    bedrooms: int | None
    area_sqm: CanonicalDecimal | None
    market_rent: Amount | None
    rent_frequency: RentFrequency | None
    currency: str
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class PropertyUnit(StoredUnit, frozen=True, kw_only=True):
    """A part of a property that is let by itself.

    `marketRent` is what it would fetch for each `rentFrequency`, in the property's currency; both are null together.
    `occupancy` is that of today, by the tenancies of the unit and of the whole property; `ending`: notice was served,
    or the last day is within 60 days.
    """

    occupancy: Occupancy


class ListPropertyUnits(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `status` is the occupancy, or `archived`."""

    property_id: Id | None = None
    status: UnitFilter | None = None
    external_id: ExternalId | None = None
    include_archived: bool = False


class CreatePropertyUnit(Request, frozen=True, kw_only=True):
    """A new unit of a property. Its market rent is monthly unless `rentFrequency` says otherwise."""

    property_id: Id
    name: UnitName
    type: UnitType = "other"
    floor: Floor | None = None
    bedrooms: Bedrooms | None = None
    area_sqm: DecimalText | None = None
    market_rent: AmountText | None = None
    rent_frequency: RentFrequency | None = None
    external_id: ExternalId | None = None


@updates(CreatePropertyUnit, of=PropertyUnit, without=("property_id",))
class UpdatePropertyUnit(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears. `archived` moves it into the archive or out of it."""

    id: Id
    expected_version: Version | None = None
    rent_frequency: RentFrequency | UnsetType | None = UNSET
    archived: bool | UnsetType = UNSET
