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
Band = Annotated[
    str,
    Meta(
        pattern="^[A-I]$",
        extra={"form": "a capital letter from A to I"},
        description="Council tax band, A to I.",
        examples=["D"],
    ),
]
ForeignId = Annotated[str, Meta(min_length=1, max_length=36)]


class PropertyAddressRequest(AddressRequest, frozen=True, kw_only=True):
    """A postal address, and what registers know it by."""

    uprn: Uprn | None = None


Owners = Annotated[list[PropertyOwner], Meta(max_length=20)]


class Property(StoredProperty, frozen=True, kw_only=True):
    """A property of a business."""

    owner_share_percent: CanonicalDecimal
    """The share of the business's legal entity today, in percent: that of its entries in `owners`, or what they leave
    of 100 where they name others alone; without owners the share of the business."""
    current_value: Amount | None
    """What all of it is worth by the latest valuation, in `currency`. Null: there is none."""
    current_value_date: DateText | None
    """The day of the latest valuation. Null: there is none."""


class ListProperties(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    business_id: Id | None = None
    legal_entity_id: Id | None = None
    """Only those of this legal entity's businesses, whoever else owns a part."""
    status: PropertyStatus | None = None
    use: Use | None = None
    type: PropertyType | None = None
    jurisdiction: Jurisdiction | None = None
    q: Search | None = None
    """Text to look for in the name and the address, in any letter case."""
    external_id: ExternalId | None = None
    include_archived: bool = False
    """Whether archived ones are listed too; `status` archived lists them alone."""


class PropertyDetail(Property, frozen=True, kw_only=True):
    """A property with what `include` asks for: at most 200 of each kind, of which the lists have all."""

    units: list[PropertyUnit] | UnsetType = UNSET
    """Its units that are not archived, the oldest first. Absent: not asked for."""
    tenancies: list[Tenancy] | UnsetType = UNSET
    """Its tenancies of all times, the latest to begin first. Absent: not asked for."""
    mortgages: list[Mortgage] | UnsetType = UNSET
    """Its mortgages, redeemed ones too, the newest first. Absent: not asked for."""
    valuations: list[PropertyValuation] | UnsetType = UNSET
    """Its valuations, the latest day first. Absent: not asked for."""
    certificates: list[Certificate] | UnsetType = UNSET
    """Its certificates that are not superseded, by type; missing ones are not among them. Absent: not asked for."""


class GetProperty(Request, frozen=True, kw_only=True):
    """Which property, and what to answer with it."""

    id: Id
    include: list[Inclusion] | None = None
    """What to answer with it. Left out: the property alone."""


class CreateProperty(Request, frozen=True, kw_only=True):
    """A new property of a business with income from property."""

    business_id: Id
    """The business whose property it is, which is neither ceased nor archived: a property business, or a company's
    trade."""
    name: PropertyName | None = None
    """What people call it; a new property has by default the first line of its `address`, and needs one of the two."""
    address: PropertyAddressRequest | None = None
    jurisdiction: Jurisdiction | None = None
    """Whose law its tenancies and certificates are under; of a new property by default England's, and `other` for a
    foreign property business or an address abroad."""
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
    """Another name of `owners`: give one of the two."""
    acquisition_date: Date | None = None
    purchase_price: AmountText | None = None
    acquisition_costs: AmountText | None = None
    improvement_costs: AmountText | None = None
    currency: Currency | None = None
    """The currency of its amounts. Left out: that of the business."""
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
    """Whether it may be sold or archived while its tenancies go on."""
