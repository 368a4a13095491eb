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
CompanyNumber = Annotated[str, Meta(pattern="^[A-Z0-9]{2,20}$", examples=["01234567"])]
Phone = Annotated[str, Meta(max_length=32)]
TenantNotes = Annotated[str, Meta(max_length=2000)]
EraseReason = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]


class RightToRent(Part, frozen=True, kw_only=True):
    """A check that a person may rent, in England. `expiryDate`: until when, of one that is time_limited."""

    status: RightToRentStatus = "not_checked"
    checked_date: Date | None = None
    expiry_date: Date | None = None


class Guarantor(Part, frozen=True, kw_only=True):
    """Who answers for the rent."""

    name: NamePart
    email: Email | None = None
    phone: Phone | None = None


class Tenant(Response, frozen=True, kw_only=True):
    """Who rents, or may come to.

    `firstName` and `lastName` of a company are those of whom one speaks to. `status` follows from tenancies: `current`
    in one that is active or under notice, `prospective` before the first or between two, `past` after the last.
    `anonymisedAt`: when all that tells who it was went; the row stays for the books, with `anonymisedReason` where
    records had still to be kept.
    """

    id: Id
    external_id: str | None
    kind: TenantKind
    name: str
    first_name: str | None
    last_name: str | None
    company_name: str | None
    company_number: str | None
    email: str | None
    phone: str | None
    correspondence_address: Address | None
    right_to_rent: Flat[RightToRent]
    guarantor: Guarantor | None
    notes: str | None
    status: TenantStatus
    anonymised_at: Timestamp | None
    anonymised_reason: str | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListTenants(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `q` looks in names, email address and phone number.

    `propertyId` and `tenancyId` answer all who ever were tenants there; without those who were replaced while their
    tenancy went on where `includeFormer` is false.
    """

    property_id: Id | None = None
    tenancy_id: Id | None = None
    include_former: bool = True
    status: TenantStatus | None = None
    q: Search | None = None
    external_id: ExternalId | None = None


class CreateTenant(Request, frozen=True, kw_only=True):
    """A new tenant, with a `name` or the parts of one: `companyName` of a company, `firstName`, `lastName` of a person.

    A person has no `companyName` and no `companyNumber`.
    """

    kind: TenantKind
    name: WholeName | None = None
    first_name: NamePart | None = None
    last_name: NamePart | None = None
    company_name: NamePart | None = None
    company_number: CompanyNumber | None = None
    email: Email | None = None
    phone: Phone | None = None
    correspondence_address: AddressRequest | None = None
    right_to_rent: RightToRent | None = None
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
    """Whom to make nobody. `force` does it while records are to be kept, and says why in `reason`."""

    id: Id
    expected_version: Version | None = None
    force: bool = False
    reason: EraseReason | None = None
