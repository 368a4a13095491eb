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
VatNumber = Annotated[str, Meta(max_length=20, description="VAT registration number; GB may precede it.")]
CompanyNumber = Annotated[str, Meta(max_length=12, examples=["01234567"])]
Utr = Annotated[str, Meta(max_length=16, examples=["2234567890"])]
Nino = Annotated[str, Meta(max_length=16, examples=["AA123456A"])]
Month = Annotated[int, Meta(ge=1, le=12)]
FlatRateCategory = Annotated[
    str,
    Meta(
        pattern=r"^(0[0-4]\d|05[0-5]|999)$",
        extra={"form": "the three digits of a flat-rate category"},
        examples=["035"],
    ),
]
Phone = Annotated[str, Meta(max_length=32)]
Website = Annotated[str, Meta(max_length=254)]


class Vat(Part, frozen=True, kw_only=True):
    """Registration for VAT."""

    status: VatStatus = "not_registered"
    """`registered` goes with a VAT number, `deregistered` with the day of it. While it is `pending`, no VAT is
    charged."""
    effective_date: Date | None = None
    """The first day of the registration. Null: not known, and it counts as registered ever since."""
    deregistration_date: Date | None = None
    """The day from which on no VAT is charged any more. Null: the registration goes on."""
    scheme: VatScheme | None = None
    """The scheme by which VAT is accounted for. Null: nobody said, and it is taken for `standard`."""
    return_frequency: ReturnFrequency | None = None
    """How often a return is made. Null: quarterly, or with the `annual` scheme once a year."""
    stagger_group: Annotated[int, Meta(ge=1, le=3)] | None = None
    """With which months the quarters end. 1: March, June, September, December; 2: January, April, July, October; 3:
    February, May, August, November. Null: nobody said, and no quarters are expected."""
    period_end_month: Month | None = None
    """The month with which the year of annual returns ends, from 1. Null: nobody said, and none are expected."""
    flat_rate_category: FlatRateCategory | None = None
    """HMRC's category of trade in the flat rate scheme (`frsCategory`), whose percentage holds. Null: nobody said."""
    flat_rate_percent: DecimalText | None = None
    """Percent of flat-rate turnover, before the discount of the first year. It goes before `flatRateCategory`. Null:
    that of the category."""
    flat_rate_start_date: Date | None = None
    """The first day on the flat rate. Null: that of the registration."""


class YearEnd(Part, frozen=True, kw_only=True):
    """The last day of the accounting year."""

    month: Month
    """The month, from 1."""
    day: Annotated[int, Meta(ge=1, le=31)]
    """The day of the month; 29 February may be one."""


class Cis(Part, frozen=True, kw_only=True):
    """Standing in the Construction Industry Scheme."""

    contractor: bool = False
    """Whether it deducts from what it pays subcontractors; monthly returns are due then."""
    subcontractor: bool = False
    """Whether contractors deduct from what they pay it for labour."""
    verified_rate: Literal[0, 20, 30] | None = None
    """Percent that contractors deduct, as HMRC verified it. Null: not verified, and a subcontractor's is 30."""


class GetLegalEntities(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    type: EntityType | None = None
    """The legal form to list."""
    status: Literal["active", "archived"] | None = None
    """The state to list. By default those in use, and with `includeArchived` all."""
    external_id: ExternalId | None = None
    q: Search | None = None
    """Text to look for in names, company and VAT numbers, in any letter case."""
    include_archived: bool = False
    """Whether archived entities are listed too, where no `status` is given."""


class GetLegalEntity(Request, frozen=True, kw_only=True):
    """Which entity."""

    id: Id


class CreateLegalEntity(Request, frozen=True, kw_only=True):
    """A new entity."""

    name: Name
    type: EntityType
    legal_name: Name | None = None
    external_id: ExternalId | None = None
    company_number: CompanyNumber | None = None
    incorporation_date: Date | None = None
    utr: Utr | None = None
    nino: Nino | None = None
    vat_number: VatNumber | None = None
    vat: Vat | None = None
    """Registration for VAT. A new entity without it is registered if it has a VAT number."""
    accounting_year_end: YearEnd | None = None
    """The last day of its accounting year. That of a new person is 5 April, of others 31 March, unless it is given."""
    base_currency: Currency = "GBP"
    country_code: CountryCode = "GB"
    tax_residency: TaxResidency | None = None
    address: AddressRequest | None = None
    email: Email | None = None
    phone: Phone | None = None
    website: Website | None = None
    cis: Cis | None = None


class ArchiveLegalEntity(Request, frozen=True, kw_only=True):
    """Which entity to hide from lists."""

    id: Id
    expected_version: Version | None = None
    force: bool = False
    """Whether it is archived although it has businesses that go on, or portfolios in use."""


class TaxConnection(Response, frozen=True, kw_only=True):
    """Which services the tax authority grants: by the entity's own connection, else by its organization's."""

    vat: bool
    """Whether VAT may be asked about."""
    itsa: bool
    """Whether Income Tax (Making Tax Digital) may be asked about."""
    expires_at: Timestamp | None
    """When the grant ends. Null: nothing is granted."""


class ItsaStatus(Response, frozen=True, kw_only=True):
    """The entity's standing in Making Tax Digital for Income Tax in a tax year, as HMRC said last.

    `obligations.sync` asks for it.
    """

    tax_year: str
    """The tax year that it is of."""
    status: str
    """The standing, in HMRC's words."""
    reason: str | None
    """Why, in HMRC's words. Null: it gave no reason."""
    fetched_at: Timestamp
    """When HMRC said it."""


class StoredEntity(Response, frozen=True, kw_only=True):
    """The part of an entity whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    name: str
    """What it is called here."""
    legal_name: str | None
    """The full name that invoices print. Null: `name`."""
    type: EntityType
    """Its legal form; an unincorporated landlord is an `individual`. It decides which taxes and deadlines it has."""
    status: Literal["active", "archived"]
    """An `archived` entity is hidden from lists, sells and begins nothing more."""
    company_number: str | None
    """Companies House number, of eight characters; elsewhere than in GB that of its register. Null: none."""
    incorporation_date: DateText | None
    """The day of incorporation, from which a company's first accounts and statements count. Null: none, or not
    known."""
    vat_number: str | None
    """VAT registration number: nine digits, without GB. Null: none."""
    vat: Flat[Vat]
    """Registration for VAT."""
    accounting_year_end: Flat[YearEnd]
    """The last day of its accounting year."""
    base_currency: str
    """The currency in which its books are kept."""
    country_code: str
    """The country in which it is established."""
    tax_residency: TaxResidency | None
    """Where it is resident for tax; Scotland and Wales have rates of their own. Null: nobody said."""
    address: Address | None
    """The address that invoices print; a VAT invoice needs it. Null: not known."""
    email: str | None
    """Where to write to it. Null: not known."""
    phone: str | None
    """Telephone number, as it was given. Null: not known."""
    website: str | None
    """Its website. Null: none."""
    cis: Flat[Cis]
    """Standing in the Construction Industry Scheme."""
    itsa_status: Flat[ItsaStatus] | None
    """Standing in Making Tax Digital for Income Tax, as HMRC said when `obligations.sync` asked last. Null: nobody
    asked, or the National Insurance number is another one since."""
    tax_connection: TaxConnection
    """Which of the tax authority's services are granted, by its own connection, else by the organization's."""
    archived_at: Timestamp | None
    """When it was archived. Null: it is in use."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class LegalEntity(StoredEntity, frozen=True, kw_only=True):
    """A person, company or partnership."""

    utr: str | None
    """Unique Taxpayer Reference, ten digits; in lists the last three alone. Null: not known."""
    nino: str | None
    """National Insurance number of a person; in lists the last three characters alone. Null: not known."""


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
