"""What billing clients look like (domain model B5): requests, responses, and the part that is stored as JSON."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import (
    Address,
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
)
from gatewayd.ledger.vat_rates import VatCode

ClientKind = Literal["company", "person", "public_body"]
ClientStatus = Literal["active", "archived"]

DEFAULT_TERMS_DAYS = 30  # domain model B5
DEFAULT_CURRENCY = "GBP"  # Chosen
DEFAULT_COUNTRY = "GB"  # Chosen


class CreateClient(Request, frozen=True, kw_only=True):
    """A new client. `cisRegistered` is another name of `cisContractor`.

    `countryCode` is by default that of the billing address, else GB. A client with the name, VAT number or company
    number of one that exists is refused unless `allowDuplicate`.
    """

    name: Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]
    kind: ClientKind = "company"
    contact_name: Annotated[str, Meta(max_length=160)] | None = None
    email: Email | None = None
    cc_emails: Annotated[list[Email], Meta(max_length=20)] | None = None
    phone: Annotated[str, Meta(max_length=32)] | None = None
    billing_address: Address | None = None
    company_number: Annotated[str, Meta(max_length=32, examples=["01234567"])] | None = None
    vat_number: Annotated[str, Meta(max_length=32, examples=["GB980780684"])] | None = None
    country_code: CountryCode | None = None
    currency: Currency = DEFAULT_CURRENCY
    payment_terms_days: Annotated[int, Meta(ge=0, le=365)] = DEFAULT_TERMS_DAYS
    default_vat_treatment: VatCode | None = None
    cis_contractor: bool | None = None
    cis_registered: bool | None = None
    end_user: bool = False
    language: Annotated[str, Meta(pattern="^[a-z]{2}(-[A-Z]{2})?$", examples=["en"])] = "en"
    notes: Annotated[str, Meta(max_length=4000)] | None = None
    external_id: ExternalId | None = None
    allow_duplicate: bool = False


class ListClients(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `q` looks in names, the email address and the numbers."""

    q: Search | None = None
    status: ClientStatus | None = None
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


class Client(StoredClient, frozen=True, kw_only=True):
    """A billing client."""

    balances: Balances
