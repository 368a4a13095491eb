"""What billing clients look like (domain model B5): requests, responses, and the part that is stored as JSON."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Address,
    AddressRequest,
    Amount,
    CountryCode,
    Currency,
    Email,
    ExternalId,
    Flat,
    Id,
    Request,
    Response,
    Search,
    Timestamp,
    Version,
)
from gatewayd.ledger.vat.vat_rates import VatCode

ClientKind = Literal["company", "person", "public_body"]
ClientStatus = Literal["active", "archived"]

DEFAULT_TERMS_DAYS = 30  # domain model B5
DEFAULT_CURRENCY = "GBP"  # Chosen
DEFAULT_COUNTRY = "GB"  # Chosen

ClientName = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]
ContactName = Annotated[str, Meta(max_length=160)]
CcEmails = Annotated[list[Email], Meta(max_length=20)]
Phone = Annotated[str, Meta(max_length=32)]
CompanyNumber = Annotated[str, Meta(max_length=32, examples=["01234567"])]
VatNumber = Annotated[str, Meta(max_length=32, examples=["GB980780684"])]
TermsDays = Annotated[int, Meta(ge=0, le=365)]
Language = Annotated[str, Meta(pattern="^[a-z]{2}(-[A-Z]{2})?$", examples=["en"])]
Notes = Annotated[str, Meta(max_length=4000)]


class CreateClient(Request, frozen=True, kw_only=True):
    """A new client. `cisRegistered` is another name of `cisContractor`.

    `countryCode` is by default that of the billing address, else GB. A client with the name, VAT number or company
    number of one that exists is refused unless `allowDuplicate`.
    """

    name: ClientName
    kind: ClientKind = "company"
    contact_name: ContactName | None = None
    email: Email | None = None
    cc_emails: CcEmails | None = None
    phone: Phone | None = None
    billing_address: AddressRequest | None = None
    company_number: CompanyNumber | None = None
    vat_number: VatNumber | None = None
    country_code: CountryCode | None = None
    currency: Currency = DEFAULT_CURRENCY
    payment_terms_days: TermsDays = DEFAULT_TERMS_DAYS
    default_vat_treatment: VatCode | None = None
    cis_contractor: bool | None = None
    cis_registered: bool | None = None
    end_user: bool = False
    language: Language = "en"
    notes: Notes | None = None
    external_id: ExternalId | None = None
    allow_duplicate: bool = False


class GetClient(Request, frozen=True, kw_only=True):
    """Which client."""

    client_id: Id


class ArchiveClient(Request, frozen=True, kw_only=True):
    """Which client to hide from lists."""

    client_id: Id
    expected_version: Version | None = None


class ListClients(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `q` looks in names, the email address and the numbers."""

    q: Search | None = None
    status: ClientStatus | None = None
    external_id: ExternalId | None = None
    include_archived: bool = False


class VatCheck(Response, frozen=True, kw_only=True):
    """The last time the VAT number was checked with the tax authority."""

    valid: bool
    checked_at: Timestamp
    consultation_number: str | None


class Balances(Response, frozen=True, kw_only=True):
    """What is due on the client's invoices in its own currency, and how much of it is overdue today."""

    outstanding: Amount
    overdue: Amount
    currency: str


class StoredClient(Response, frozen=True, kw_only=True):
    """The part of a client whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    name: str
    kind: ClientKind
    status: ClientStatus
    contact_name: str | None
    email: str | None
    cc_emails: list[str]
    phone: str | None
    billing_address: Address | None
    company_number: str | None
    vat_number: str | None
    vat_check: Flat[VatCheck] | None
    country_code: str
    currency: str
    payment_terms_days: int
    default_vat_treatment: VatCode | None
    cis_contractor: bool
    cis_registered: bool
    end_user: bool
    language: str
    notes: str | None
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


@updates(CreateClient, of=StoredClient)
class UpdateClient(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears, an object or a list replaces the one before.

    `cisRegistered` is another name of `cisContractor`. A name or number that another client has is refused unless
    `allowDuplicate`. `status` brings back a client that was archived.
    """

    client_id: Id
    expected_version: Version | None = None
    status: Literal["active"] | UnsetType = UNSET
    vat_number: VatNumber | UnsetType | None = UNSET
    cis_contractor: bool | UnsetType = UNSET
    cis_registered: bool | UnsetType = UNSET
    allow_duplicate: bool = False


class Client(StoredClient, frozen=True, kw_only=True):
    """A billing client."""

    balances: Balances
