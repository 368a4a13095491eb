"""Billing clients: whom the organization invoices (Spec §4, domain model A5 and B5). Owns the table `clients`.

The row carries its wire form. A client's balances depend on its invoices and on today; they are added on serving.
"""

import functools
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.accounting import client_checks
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, SyncRequest
from gatewayd.contract.wire import (
    Address,
    Amount,
    CountryCode,
    Currency,
    Email,
    ExternalId,
    Flat,
    Id,
    Rendered,
    Request,
    Response,
    Search,
    Timestamp,
    open_wire,
)
from gatewayd.errors import FieldError, Problem, invalid
from gatewayd.ledger.lists import archive_filter, contains, sync_page
from gatewayd.ledger.vat_rates import VatCode
from gatewayd.money import Money
from gatewayd.store import ReadTx, Row, Table, WriteTx

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


def _search_text(client: StoredClient) -> str:
    texts = (client.name, client.contact_name, client.email, client.company_number, client.vat_number)
    return "\n".join(text.casefold() for text in texts if text)


CLIENTS = Table(
    "clients",
    StoredClient,
    kind="client",
    prefix="cli",
    derived={
        "status": lambda tx, client: "active" if client.archived_at is None else "archived",
        "cis_registered": lambda tx, client: client.cis_contractor,
    },
    written={
        "name_folded": lambda client: client_checks.folded(client.name),
        "search_text": _search_text,
        "wire": open_wire,
    },
)
_SELECT_PAGE = "SELECT id, updated_at, wire, currency FROM clients WHERE org_id = :org_id"
_SELECT_DUPLICATE = """
SELECT id FROM clients
WHERE org_id = :org_id AND archived_at IS NULL
    AND (name_folded = :name_folded OR vat_number = :vat_number OR company_number = :company_number)
LIMIT 1
"""
_SELECT_BALANCES = """
SELECT clients.id, sum(balance_due), sum(CASE WHEN open_due_date < :today THEN balance_due ELSE 0 END)
FROM clients JOIN invoices ON invoices.org_id = clients.org_id AND client_id = clients.id
    AND invoices.currency = clients.currency AND open_due_date IS NOT NULL
WHERE clients.org_id = :org_id AND clients.id IN ({ids})
GROUP BY clients.id
"""


def list_clients(tx: ReadTx, caller: Caller, request: ListClients) -> Listing[Client]:
    """List billing clients, with what is outstanding and overdue on their invoices.

    Newest first, or in the order of change with `updatedSince`. Archived clients are left out unless `includeArchived`
    or `status` asks for them.
    """
    filters = {
        **archive_filter(request.status, request.include_archived),
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    rows: list[Row] = []

    def keep(row: Row) -> bytes:
        rows.append(row)
        return bytes(row[2])

    listing = sync_page(tx, request, _SELECT_PAGE, filters, keep)
    balances = _balances(tx, [row[0] for row in rows])
    items = (_served(wire, currency, *balances.get(id_, (0, 0))) for id_, _, wire, currency in rows)
    return Listing.of(items, listing.next_cursor)


def create_client(tx: WriteTx, caller: Caller, request: CreateClient) -> Rendered[Client]:
    """Create a billing client.

    VAT numbers of the United Kingdom and the European Union are checked by their check digits; British ones are kept
    without GB. `externalId` may be used once.
    """
    client = add(tx, request, "")
    return Rendered(_served(open_wire(client), client.currency, 0, 0))


def add(tx: WriteTx, request: CreateClient, prefix: str) -> StoredClient:
    """Store a new client. `prefix` goes before the paths of fields that are wrong.

    Raises `Problem`: `validation_failed`, `already_exists`, `possible_duplicate`.
    """
    client = _new(tx, request, prefix)
    CLIENTS.refuse_taken(tx, client.external_id)
    if not request.allow_duplicate:
        _refuse_lookalike(tx, client)
    return CLIENTS.insert(tx, client)


def _new(tx: WriteTx, request: CreateClient, prefix: str) -> StoredClient:
    address = request.billing_address
    country = request.country_code or (DEFAULT_COUNTRY if address is None else address.country_code)
    errors = list(_mistakes(request, country, prefix))
    if errors:
        raise invalid(*errors)
    return CLIENTS.new(
        tx,
        request,
        cc_emails=request.cc_emails or [],
        company_number=request.company_number and client_checks.company_number(request.company_number, country),
        vat_number=request.vat_number and client_checks.vat_number(request.vat_number, country),
        country_code=country,
        cis_contractor=bool(request.cis_contractor or request.cis_registered),
    )


def _refuse_lookalike(tx: ReadTx, client: StoredClient) -> None:
    existing_id = tx.value(
        _SELECT_DUPLICATE,
        name_folded=client_checks.folded(client.name),
        vat_number=client.vat_number,
        company_number=client.company_number,
    )
    if existing_id is not None:
        message = f"A client with this name or number exists: {existing_id}."
        raise Problem("possible_duplicate", message, extra={"existingId": existing_id})


def _mistakes(request: CreateClient, country: str, prefix: str) -> Iterator[FieldError]:
    if request.vat_number is not None and client_checks.vat_number(request.vat_number, country) is None:
        yield FieldError(f"{prefix}vatNumber", "invalid_vrn", "This is not a VAT number: check its digits.")
    if request.company_number is not None and client_checks.company_number(request.company_number, country) is None:
        yield FieldError(
            f"{prefix}companyNumber", "invalid_company_number", "Expected 8 digits, or 2 letters and 6 digits."
        )
    if (
        None not in (request.cis_contractor, request.cis_registered)
        and request.cis_contractor != request.cis_registered
    ):
        yield FieldError(f"{prefix}cisRegistered", "conflict", "It is another name of cisContractor, which differs.")


def _balances(tx: ReadTx, client_ids: list[str]) -> dict[str, tuple[int, int]]:
    """Outstanding and overdue of each client that has anything due, in minor units of the client's currency."""
    if not client_ids:
        return {}
    values = {f"id_{index}": client_id for index, client_id in enumerate(client_ids)}
    rows = tx.rows(_balances_sql(len(client_ids)), today=tx.today, **values)
    return {id_: (outstanding, overdue) for id_, outstanding, overdue in rows}


@functools.cache  # at most one statement for each page length
def _balances_sql(count: int) -> str:
    return _SELECT_BALANCES.format(ids=", ".join(f":id_{index}" for index in range(count)))


def _served(wire: bytes, currency: str, outstanding: int, overdue: int) -> bytes:
    return b'%b,"balances":{"outstanding":"%b","overdue":"%b","currency":"%b"}}' % (
        wire,
        str(Money(outstanding, currency)).encode(),
        str(Money(overdue, currency)).encode(),
        currency.encode(),
    )


OPERATIONS = (
    Operation(
        id="accounting.listClients",
        kind="read",
        method="GET",
        path="/clients",
        scopes=("accounting:read",),
        request=ListClients,
        response=Page[Client],
        handler=list_clients,
        example={"q": "harbour", "limit": 20},
    ),
    Operation(
        id="accounting.createClient",
        kind="write",
        method="POST",
        path="/clients",
        scopes=("accounting:write",),
        request=CreateClient,
        response=Client,
        handler=create_client,
        errors=("already_exists", "possible_duplicate"),
        example={
            "name": "Harbour Joinery Ltd",
            "email": "accounts@harbour-joinery.example",
            "vatNumber": "GB980780684",
            "companyNumber": "01234567",
            "billingAddress": {"line1": "4 Quay Street", "town": "Bristol", "postcode": "BS1 4SB", "countryCode": "GB"},
            "paymentTermsDays": 14,
        },
    ),
)
