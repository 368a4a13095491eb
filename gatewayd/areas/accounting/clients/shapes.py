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
Language = Annotated[str, Meta(pattern="^[a-z]{2}(-[A-Z]{2})?$", extra={"form": "a language's code"}, examples=["en"])]
Notes = Annotated[str, Meta(max_length=4000)]


class CreateClient(Request, frozen=True, kw_only=True):
    """A new client."""

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
    """Another name of `cisContractor`; where both are given they agree."""
    end_user: bool = False
    language: Language = "en"
    notes: Notes | None = None
    external_id: ExternalId | None = None
    allow_duplicate: bool = False
    """Whether it is stored although another client in use has its name, VAT number or company number. Otherwise that is
    refused."""


class GetClient(Request, frozen=True, kw_only=True):
    """Which client."""

    client_id: Id
    """The `id` of the client."""


class ArchiveClient(Request, frozen=True, kw_only=True):
    """Which client to hide from lists."""

    client_id: Id
    """The `id` of the client."""
    expected_version: Version | None = None


class ListClients(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    q: Search | None = None
    """Text to look for in names, the email address, and the VAT and company numbers, in any letter case."""
    status: ClientStatus | None = None
    """The state to list. By default those in use, and with `includeArchived` all."""
    external_id: ExternalId | None = None
    include_archived: bool = False
    """Whether archived clients are listed too, where no `status` is given."""


class VatCheck(Response, frozen=True, kw_only=True):
    """The last time the VAT number was checked with the tax authority."""

    valid: bool
    """Whether the tax authority knows the number."""
    checked_at: Timestamp
    """When the tax authority was asked."""
    consultation_number: str | None
    """The tax authority's proof that it was asked. Null: it gave none."""


class CurrencyBalances(Response, frozen=True, kw_only=True):
    """What a client owes today in one currency."""

    outstanding: Amount
    """What is still to be paid on issued invoices, VAT included; overpayments are not taken off."""
    overdue: Amount
    """The part of `outstanding` whose due date is before today in London."""
    credit: Amount
    """What the client paid too much, was credited on paid invoices, or has on account."""
    currency: str
    """What the amounts are in."""


class Balances(CurrencyBalances, frozen=True, kw_only=True):
    """What a client owes today."""

    currency: str
    """The client's own currency: what is in another one stands in `byCurrency` alone."""
    by_currency: list[CurrencyBalances]
    """The same in each currency in which anything is owed or in hand, by its code: they are never added. Empty: nothing
    is."""


class StoredClient(Response, frozen=True, kw_only=True):
    """The part of a client whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    name: str
    """Whom invoices are made out to."""
    kind: ClientKind
    """A firm of any form (`company`), a `person`, or a `public_body` such as a council."""
    status: ClientStatus
    """An `archived` client is hidden from lists and gets no further invoices."""
    contact_name: str | None
    """The person to write to there. Null: nobody is named."""
    email: str | None
    """Where invoices are to go. Null: not known."""
    cc_emails: list[str]
    """Who is to have a copy of what goes to `email`. Empty: nobody."""
    phone: str | None
    """Telephone number, as it was given. Null: not known."""
    billing_address: Address | None
    """The address that invoices print. Null: not known; a VAT invoice is then issued with a warning."""
    company_number: str | None
    """Number in the register of companies; a British one is Companies House's, of eight characters. Null: none is
    known."""
    vat_number: str | None
    """VAT number, whose check digits are right: of a British client without GB, else with the letters of its country.
    Null: none is known."""
    vat_check: Flat[VatCheck] | None
    """The last check of `vatNumber` with the tax authority. Reserved: nothing checks it so far, and it is always
    null."""
    country_code: str
    """Where the client is; it says how its numbers are read. A new client has that of its billing address, else GB."""
    currency: str
    """The currency of its invoices, unless one says otherwise."""
    payment_terms_days: int
    """Days from the issue date of an invoice to its due date, unless the invoice says otherwise."""
    default_vat_treatment: VatCode | None
    """VAT code of invoice lines that name none, where the seller is registered for VAT. Null: `standard`."""
    cis_contractor: bool
    """Whether it withholds Construction Industry Scheme tax from what it pays for labour."""
    cis_registered: bool
    """Another name of `cisContractor`."""
    end_user: bool
    """Whether construction work is for its own use: VAT is charged as usual, and a domestic reverse charge refused."""
    language: str
    """The language it is written to in: ISO 639-1, with a country where that matters (`en-GB`)."""
    notes: str | None
    """Notes for whoever keeps the books: no invoice prints them. Null: none."""
    archived_at: Timestamp | None
    """When it was archived. Null: it is in use."""
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
    """The client to change."""
    expected_version: Version | None = None
    status: Literal["active"] | UnsetType = UNSET
    vat_number: VatNumber | UnsetType | None = UNSET
    cis_contractor: bool | UnsetType = UNSET
    cis_registered: bool | UnsetType = UNSET
    allow_duplicate: bool = False


class Client(StoredClient, frozen=True, kw_only=True):
    """A billing client."""

    balances: Balances
    """What the client owes today."""
