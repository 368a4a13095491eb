"""What properties look like (Domain B4): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.landlord.mortgages.shapes import Mortgage
from gatewayd.areas.landlord.register.properties import (
    Furnished,
    Jurisdiction,
    Licensing,
    PropertyOwner,
    PropertyStatus,
    PropertyType,
    StoredProperty,
    Tenure,
    Uprn,
    Use,
)
from gatewayd.areas.landlord.tenancies.shapes import Tenancy
from gatewayd.areas.landlord.units.shapes import Bedrooms, PropertyUnit
from gatewayd.areas.landlord.valuations import PropertyValuation
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    AddressRequest,
    Amount,
    AmountText,
    CanonicalDecimal,
    Currency,
    Date,
    DateText,
    DecimalText,
    ExternalId,
    Id,
    Request,
    Search,
    Version,
)
from gatewayd.ledger.certificate_shapes import Certificate

Inclusion = Literal["units", "tenancies", "mortgages", "valuations", "certificates"]

PropertyName = Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S")]
ShortText = Annotated[str, Meta(max_length=120)]
Band = Annotated[str, Meta(pattern="^[A-I]$", description="Council tax band, A to I.", examples=["D"])]
ForeignId = Annotated[str, Meta(min_length=1, max_length=36)]


class PropertyAddressRequest(AddressRequest, frozen=True, kw_only=True):
    """A postal address, and what registers know it by."""

    uprn: Uprn | None = None


Owners = Annotated[list[PropertyOwner], Meta(max_length=20)]


class Property(StoredProperty, frozen=True, kw_only=True):
    """A property of a business.

    `owners` empty: nobody named any. `ownerSharePercent` is the share of the business's legal entity: that of its
    entries in `owners`, or what they leave of 100 where they name others alone; without owners that of the business.
    `gasSupply` null: nobody said. `currentValue` is the latest valuation's, in `currency`; null where there is none.
    """

    owner_share_percent: CanonicalDecimal
    current_value: Amount | None
    current_value_date: DateText | None


class ListProperties(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    business_id: Id | None = None
    status: PropertyStatus | None = None
    use: Use | None = None
    q: Search | None = None
    external_id: ExternalId | None = None
    include_archived: bool = False


class PropertyDetail(Property, frozen=True, kw_only=True):
    """A property with what `include` asks for: at most 200 of each kind, of which the lists have all."""

    units: list[PropertyUnit] | UnsetType = UNSET
    tenancies: list[Tenancy] | UnsetType = UNSET
    mortgages: list[Mortgage] | UnsetType = UNSET
    valuations: list[PropertyValuation] | UnsetType = UNSET
    certificates: list[Certificate] | UnsetType = UNSET


class GetProperty(Request, frozen=True, kw_only=True):
    """Which property, and what of it to answer with it: units that are not archived, the newest of others first."""

    id: Id
    include: list[Inclusion] | None = None


class CreateProperty(Request, frozen=True, kw_only=True):
    """A new property of a business with income from property. Its name is the first line of its address by default.

    By default it lies in England, and one that is abroad elsewhere. `ownership` is another name of `owners`.
    """

    business_id: Id
    name: PropertyName | None = None
    address: PropertyAddressRequest | None = None
    jurisdiction: Jurisdiction | None = None
    type: PropertyType
    use: Use = "residential_let"
    tenure: Tenure | None = None
    lease_expiry_date: Date | None = None
    ground_rent_annual: AmountText | None = None
    service_charge_annual: AmountText | None = None
    furnished: Furnished | None = None
    bedrooms: Bedrooms | None = None
    area_sqm: DecimalText | None = None
    owners: Owners | None = None
    ownership: Owners | None = None
    acquisition_date: Date | None = None
    purchase_price: AmountText | None = None
    acquisition_costs: AmountText | None = None
    improvement_costs: AmountText | None = None
    currency: Currency | None = None
    local_authority: ShortText | None = None
    council_tax_band: Band | None = None
    licensing: Licensing = "unknown"
    gas_supply: bool | None = None
    foreign_property_id: ForeignId | None = None
    external_id: ExternalId | None = None


@updates(CreateProperty, of=Property, without=("business_id", "currency"))
class UpdateProperty(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears.

    `keepTenancies` lets a property be sold or archived whose tenancies go on.
    """

    id: Id
    expected_version: Version | None = None
    owners: Owners | UnsetType = UNSET
    ownership: Owners | UnsetType = UNSET
    disposal_date: Date | UnsetType | None = UNSET
    disposal_proceeds: AmountText | UnsetType | None = UNSET
    disposal_costs: AmountText | UnsetType | None = UNSET
    foreign_property_id: ForeignId | UnsetType | None = UNSET
    status: PropertyStatus | UnsetType = UNSET
    keep_tenancies: bool = False
