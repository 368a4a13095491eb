"""What legal entities look like (domain model B1): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Address,
    AddressRequest,
    CountryCode,
    Currency,
    Date,
    DateText,
    DecimalText,
    Email,
    ExternalId,
    Flat,
    Id,
    Name,
    Part,
    Request,
    Response,
    Search,
    Timestamp,
    Version,
)

EntityType = Literal[
    "individual", "sole_trader", "limited_company", "llp", "partnership", "trust", "charity", "club", "other"
]
TaxResidency = Literal["england_ni", "scotland", "wales", "non_uk"]
VatStatus = Literal["not_registered", "registered", "deregistered", "pending"]
VatScheme = Literal["standard", "cash", "flat_rate", "annual"]
ReturnFrequency = Literal["monthly", "quarterly", "annual"]
IncorporationDate = Annotated[Date, Meta(description="Of companies: their accounts and statements count from it.")]
VatNumber = Annotated[str, Meta(max_length=20, description="VAT registration number; GB may precede it.")]
CompanyNumber = Annotated[str, Meta(max_length=12, description="Companies House number.", examples=["01234567"])]
Utr = Annotated[str, Meta(max_length=16, description="Unique Taxpayer Reference, ten digits.")]
Nino = Annotated[str, Meta(max_length=16, description="National Insurance number; persons only.")]
Month = Annotated[int, Meta(ge=1, le=12)]
FlatRateCategory = Annotated[str, Meta(pattern=r"^(0[0-4]\d|05[0-5]|999)$", description="HMRC's frsCategory.")]
Phone = Annotated[str, Meta(max_length=32)]
Website = Annotated[str, Meta(max_length=254)]


class Vat(Part, frozen=True, kw_only=True):
    """VAT registration."""

    status: VatStatus = "not_registered"
    effective_date: Date | None = None
    deregistration_date: Date | None = None
    scheme: VatScheme | None = None
    return_frequency: ReturnFrequency | None = None
    stagger_group: Annotated[int, Meta(ge=1, le=3)] | None = None
    period_end_month: Month | None = None
    flat_rate_category: FlatRateCategory | None = None
    flat_rate_percent: DecimalText | None = None
    flat_rate_start_date: Date | None = None


class YearEnd(Part, frozen=True, kw_only=True):
    """The last day of the accounting year."""

    month: Month
    day: Annotated[int, Meta(ge=1, le=31)]


class Cis(Part, frozen=True, kw_only=True):
    """Standing in the Construction Industry Scheme. `verifiedRate` is the percentage contractors deduct."""

    contractor: bool = False
    subcontractor: bool = False
    verified_rate: Literal[0, 20, 30] | None = None


class GetLegalEntities(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    type: EntityType | None = None
    status: Literal["active", "archived"] | None = None
    external_id: ExternalId | None = None
    q: Search | None = None
    include_archived: bool = False


class GetLegalEntity(Request, frozen=True, kw_only=True):
    """Which entity."""

    id: Id


class CreateLegalEntity(Request, frozen=True, kw_only=True):
    """A new entity. A VAT number without `vat` means that the entity is registered."""

    name: Name
    type: EntityType
    legal_name: Name | None = None
    external_id: ExternalId | None = None
    company_number: CompanyNumber | None = None
    incorporation_date: IncorporationDate | None = None
    utr: Utr | None = None
    nino: Nino | None = None
    vat_number: VatNumber | None = None
    vat: Vat | None = None
    accounting_year_end: YearEnd | None = None
    base_currency: Currency = "GBP"
    country_code: CountryCode = "GB"
    tax_residency: TaxResidency | None = None
    address: AddressRequest | None = None
    email: Email | None = None
    phone: Phone | None = None
    website: Website | None = None
    cis: Cis | None = None


class ArchiveLegalEntity(Request, frozen=True, kw_only=True):
    """Which entity to hide from lists.

    `force` archives one with businesses that are neither ceased nor archived, or with portfolios that are not archived.
    """

    id: Id
    expected_version: Version | None = None
    force: bool = False


class TaxConnection(Response, frozen=True, kw_only=True):
    """Which services the tax authority grants: by the entity's own connection, else by its organization's."""

    vat: bool
    itsa: bool
    expires_at: Timestamp | None


class ItsaStatus(Response, frozen=True, kw_only=True):
    """The entity's standing in Making Tax Digital for Income Tax in a tax year, as HMRC said last.

    `obligations.sync` asks for it.
    """

    tax_year: str
    status: str
    reason: str | None
    fetched_at: Timestamp


class StoredEntity(Response, frozen=True, kw_only=True):
    """The part of an entity whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    name: str
    legal_name: str | None
    type: EntityType
    status: Literal["active", "archived"]
    company_number: str | None
    incorporation_date: DateText | None
    vat_number: str | None
    vat: Flat[Vat]
    accounting_year_end: Flat[YearEnd]
    base_currency: str
    country_code: str
    tax_residency: TaxResidency | None
    address: Address | None
    email: str | None
    phone: str | None
    website: str | None
    cis: Flat[Cis]
    itsa_status: Flat[ItsaStatus] | None
    tax_connection: TaxConnection
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class LegalEntity(StoredEntity, frozen=True, kw_only=True):
    """A person, company or partnership. In lists `utr` and `nino` show their last three characters only."""

    utr: str | None
    nino: str | None


@updates(CreateLegalEntity, of=LegalEntity)
class UpdateLegalEntity(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears, an object replaces the one before.

    `status` brings back an entity that was archived.
    """

    id: Id
    expected_version: Version | None = None
    status: Literal["active"] | UnsetType = UNSET


class EntityRow(LegalEntity, frozen=True, kw_only=True):
    """A legal entity as it is stored: with its tax identifiers encrypted, and the ends of them for lists.

    `numbered_as_organization`: its invoices go on in the sequences that the organization began in its own name.
    """

    utr_sealed: bytes | None
    utr_hint: str | None
    nino_sealed: bytes | None
    nino_hint: str | None
    numbered_as_organization: bool
