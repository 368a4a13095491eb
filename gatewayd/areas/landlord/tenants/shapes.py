"""What tenants look like (Domain B4): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Address,
    AddressRequest,
    Date,
    Email,
    ExternalId,
    Flat,
    Id,
    Part,
    Request,
    Response,
    Search,
    Timestamp,
    Version,
)

TenantKind = Literal["person", "company"]
TenantStatus = Literal["prospective", "current", "past"]
RightToRentStatus = Literal["not_checked", "passed", "time_limited", "failed", "exempt"]

NamePart = Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S")]
WholeName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=241,
        pattern=r"\S",
        description="In the place of its parts: a company's name, or a person's, the last word of which is lastName.",
    ),
]
CompanyNumber = Annotated[
    str,
    Meta(
        pattern="^[A-Z0-9]{2,20}$",
        extra={"form": "a company number of capital letters and digits"},
        examples=["01234567"],
    ),
]
Phone = Annotated[str, Meta(max_length=32)]
TenantNotes = Annotated[str, Meta(max_length=2000)]
EraseReason = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]


class RightToRent(Part, frozen=True, kw_only=True):
    """A check that a person may rent a home, which the law asks for in England."""

    status: RightToRentStatus = "not_checked"
    """What the check found; `time_limited`: until `expiryDate`; `exempt`: nothing has to be checked."""
    checked_date: Date | None = None
    """The day of the check, not one to come. Null: not entered."""
    expiry_date: Date | None = None
    """The last day of the right to rent, which one that is `time_limited` needs. Null: no end is known."""


class Guarantor(Part, frozen=True, kw_only=True):
    """Who answers for the rent."""

    name: NamePart
    """The name of whoever pays if the tenant does not."""
    email: Email | None = None
    """Their email address. Null: not entered."""
    phone: Phone | None = None
    """Their phone number. Null: not entered."""


class Tenant(Response, frozen=True, kw_only=True):
    """Who rents, or may come to."""

    id: Id
    external_id: str | None
    kind: TenantKind
    """Whether it is a person or a company."""
    name: str
    """The full name: a company's own, or a person's first and last name."""
    first_name: str | None
    """A person's first names; of a company, of whom one speaks to. Null: not entered."""
    last_name: str | None
    """A person's last name; of a company, of whom one speaks to. Null: not entered."""
    company_name: str | None
    """The name of a company. Null: it is a person."""
    company_number: str | None
    """The number of a company at Companies House or a register like it. Null: not entered, or a person."""
    email: str | None
    """The email address. Null: not entered."""
    phone: str | None
    """The phone number. Null: not entered."""
    correspondence_address: Address | None
    """Where letters go. Null: not entered."""
    right_to_rent: Flat[RightToRent]
    """The check that they may rent a home."""
    guarantor: Guarantor | None
    """Who answers for the rent. Null: nobody is named."""
    notes: str | None
    """Whatever people want to remember of them. Null: nothing."""
    status: TenantStatus
    """`current`: a tenant of a tenancy that is active or under notice; `prospective`: of one to come, or of none ever;
    `past`: after the last."""
    anonymised_at: Timestamp | None
    """When all that tells who it was was erased; the tenant stays under the id for the books. Null: it was not."""
    anonymised_reason: str | None
    """Why it was erased while records had still to be kept. Null: they had not, or it was not erased."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListTenants(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    property_id: Id | None = None
    """Only those who are tenants of this property, or ever were."""
    business_id: Id | None = None
    """Only those who are tenants of one of this business's properties, or ever were."""
    legal_entity_id: Id | None = None
    """Only those who are tenants of one of the properties of this legal entity's businesses, or ever were."""
    tenancy_id: Id | None = None
    """Only those who are tenants of this tenancy, or ever were."""
    include_former: bool = True
    """Whether `propertyId`, `tenancyId`, `businessId` and `legalEntityId` find those too who were replaced while their
    tenancy went on."""
    status: TenantStatus | None = None
    """Only those in this state today."""
    kind: TenantKind | None = None
    q: Search | None = None
    """Text to look for in names, email address and phone number, in any letter case."""
    external_id: ExternalId | None = None


class GetTenant(Request, frozen=True, kw_only=True):
    """Which tenant."""

    id: Id


class CreateTenant(Request, frozen=True, kw_only=True):
    """A new tenant, with a `name` or the parts of one."""

    kind: TenantKind
    name: WholeName | None = None
    first_name: NamePart | None = None
    """A person's first names; of a company, of whom one speaks to. Not beside `name`."""
    last_name: NamePart | None = None
    """A person's last name; of a company, of whom one speaks to. Not beside `name`."""
    company_name: NamePart | None = None
    """The name of a company; a person has none. Not beside `name`."""
    company_number: CompanyNumber | None = None
    """The number of a company at Companies House or a register like it; a person has none."""
    email: Email | None = None
    phone: Phone | None = None
    correspondence_address: AddressRequest | None = None
    right_to_rent: RightToRent | None = None
    """The check that they may rent a home; by default `not_checked`."""
    guarantor: Guarantor | None = None
    notes: TenantNotes | None = None
    external_id: ExternalId | None = None


@updates(CreateTenant, of=Tenant)
class UpdateTenant(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears, an object replaces the one before.

    `name` is the whole name, in the place of its parts.
    """

    id: Id
    expected_version: Version | None = None
    name: WholeName | UnsetType = UNSET
    first_name: NamePart | UnsetType | None = UNSET
    last_name: NamePart | UnsetType | None = UNSET
    company_name: NamePart | UnsetType | None = UNSET
    right_to_rent: RightToRent | UnsetType | None = UNSET


class EraseTenant(Request, frozen=True, kw_only=True):
    """Whom to erase."""

    id: Id
    expected_version: Version | None = None
    force: bool = False
    """Whether to erase while records have still to be kept: an administrator can, with a `reason`."""
    reason: EraseReason | None = None
    """Why it is done while records have still to be kept. Left out: they have not."""
