"""Billing clients: whom the organization invoices (Spec §4, domain model A5 and B5). Owns the table `clients`.

The row carries its wire form. A client's balances depend on its invoices and on today; they are added on serving.
"""

import functools
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gatewayd.areas.accounting import client_checks
from gatewayd.clock import Instant, to_wire
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
    Id,
    Rendered,
    Request,
    Response,
    Search,
    Timestamp,
    encode,
    open_wire,
)
from gatewayd.errors import FieldError, Problem, external_id_exists, invalid
from gatewayd.ledger.lists import archive_filter, contains, sync_page
from gatewayd.ledger.vat_rates import VatCode
from gatewayd.money import from_minor
from gatewayd.store import ReadTx, Row, WriteTx

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


class KeptClient(Response, frozen=True, kw_only=True):
    """The part of a client whose JSON is kept with its row."""

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
    vat_check: VatCheck | None
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


class Client(KeptClient, frozen=True, kw_only=True):
    """A billing client."""

    balances: Balances


class ClientRow(msgspec.Struct, frozen=True):
    """The typed columns of one client, in the order the table's statements name them."""

    id: str
    external_id: str | None
    name: str
    kind: ClientKind
    contact_name: str | None
    email: str | None
    cc_emails: str
    phone: str | None
    billing_address: str | None
    company_number: str | None
    vat_number: str | None
    vat_check_valid: int | None
    vat_checked_at: Instant | None
    vat_check_consultation: str | None
    country_code: str
    currency: str
    payment_terms_days: int
    default_vat_treatment: VatCode | None
    cis_contractor: int
    end_user: int
    language: str
    notes: str | None
    archived_at: Instant | None
    created_at: Instant
    updated_at: Instant
    version: int


_COLUMNS = ", ".join(ClientRow.__struct_fields__)
_VALUES = ", ".join(f":{name}" for name in ClientRow.__struct_fields__)

_SELECT_PAGE = "SELECT id, updated_at, wire, currency FROM clients WHERE org_id = :org_id"
_SELECT = f"SELECT {_COLUMNS} FROM clients WHERE org_id = :org_id AND id = :id"
_SELECT_EXTERNAL = "SELECT id FROM clients WHERE org_id = :org_id AND external_id = :external_id"
_SELECT_DUPLICATE = """
SELECT id FROM clients
WHERE org_id = :org_id AND archived_at IS NULL
    AND (name_folded = :name_folded OR vat_number = :vat_number OR company_number = :company_number)
LIMIT 1
"""
_INSERT = f"""
INSERT INTO clients (org_id, {_COLUMNS}, name_folded, search_text, wire)
VALUES (:org_id, {_VALUES}, :name_folded, :search_text, :wire)
"""
_SELECT_BALANCES = """
SELECT clients.id, sum(balance_due), sum(CASE WHEN open_due_date < :today THEN balance_due ELSE 0 END)
FROM clients JOIN invoices ON invoices.org_id = clients.org_id AND client_id = clients.id
    AND invoices.currency = clients.currency AND open_due_date IS NOT NULL
WHERE clients.org_id = :org_id AND clients.id IN ({ids})
GROUP BY clients.id
"""


def list_clients(tx: ReadTx, caller: Caller, request: ListClients) -> Listing:
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


def create_client(tx: WriteTx, caller: Caller, request: CreateClient) -> Rendered:
    """Create a billing client.

    VAT numbers of the United Kingdom and the European Union are checked by their check digits; British ones are kept
    without GB. `externalId` may be used once.
    """
    client = add(tx, request, "")
    return Rendered(_served(render(client), client.currency, 0, 0))


def add(tx: WriteTx, request: CreateClient, prefix: str) -> ClientRow:
    """Keep a new client. `prefix` goes before the paths of fields that are wrong.

    Raises `Problem`: `validation_failed`, `already_exists`, `possible_duplicate`.
    """
    client = _settled(tx, request, prefix)
    name_folded = client_checks.folded(client.name)
    if request.external_id is not None:
        existing_id = tx.value(_SELECT_EXTERNAL, external_id=request.external_id)
        if existing_id is not None:
            raise external_id_exists("A client", existing_id)
    if not request.allow_duplicate:
        existing_id = tx.value(
            _SELECT_DUPLICATE,
            name_folded=name_folded,
            vat_number=client.vat_number,
            company_number=client.company_number,
        )
        if existing_id is not None:
            message = f"A client with this name or number exists: {existing_id}."
            raise Problem("possible_duplicate", message, extra={"existingId": existing_id})
    values = msgspec.structs.asdict(client)
    tx.run(_INSERT, **values, name_folded=name_folded, search_text=_search_text(client), wire=render(client))
    return client


def find(tx: ReadTx, client_id: str) -> ClientRow | None:
    """The client of the caller's organization, from its typed columns."""
    row = tx.row(_SELECT, id=client_id)
    return None if row is None else ClientRow(*row)


def render(client: ClientRow) -> bytes:
    """The `wire` column: the JSON without balances and the closing brace."""
    check = None
    if client.vat_check_valid is not None and client.vat_checked_at is not None:
        check = VatCheck(
            valid=bool(client.vat_check_valid),
            checked_at=to_wire(client.vat_checked_at),
            consultation_number=client.vat_check_consultation,
        )
    address = client.billing_address
    return open_wire(
        KeptClient(
            id=client.id,
            external_id=client.external_id,
            name=client.name,
            kind=client.kind,
            status="active" if client.archived_at is None else "archived",
            contact_name=client.contact_name,
            email=client.email,
            cc_emails=msgspec.json.decode(client.cc_emails, type=list[str]),
            phone=client.phone,
            billing_address=None if address is None else msgspec.json.decode(address, type=Address),
            company_number=client.company_number,
            vat_number=client.vat_number,
            vat_check=check,
            country_code=client.country_code,
            currency=client.currency,
            payment_terms_days=client.payment_terms_days,
            default_vat_treatment=client.default_vat_treatment,
            cis_contractor=bool(client.cis_contractor),
            cis_registered=bool(client.cis_contractor),
            end_user=bool(client.end_user),
            language=client.language,
            notes=client.notes,
            archived_at=None if client.archived_at is None else to_wire(client.archived_at),
            created_at=to_wire(client.created_at),
            updated_at=to_wire(client.updated_at),
            version=client.version,
        )
    )


def _settled(tx: WriteTx, request: CreateClient, prefix: str) -> ClientRow:
    address = request.billing_address
    country = request.country_code or (DEFAULT_COUNTRY if address is None else address.country_code)
    errors = list(_mistakes(request, country, prefix))
    if errors:
        raise invalid(*errors)
    return ClientRow(
        id=tx.new_id("cli"),
        external_id=request.external_id,
        name=request.name,
        kind=request.kind,
        contact_name=request.contact_name,
        email=request.email,
        cc_emails=encode(request.cc_emails or []).decode(),
        phone=request.phone,
        billing_address=None if address is None else encode(address).decode(),
        company_number=request.company_number and client_checks.company_number(request.company_number, country),
        vat_number=request.vat_number and client_checks.vat_number(request.vat_number, country),
        vat_check_valid=None,
        vat_checked_at=None,
        vat_check_consultation=None,
        country_code=country,
        currency=request.currency,
        payment_terms_days=request.payment_terms_days,
        default_vat_treatment=request.default_vat_treatment,
        cis_contractor=int(bool(request.cis_contractor or request.cis_registered)),
        end_user=int(request.end_user),
        language=request.language,
        notes=request.notes,
        archived_at=None,
        created_at=tx.now,
        updated_at=tx.now,
        version=1,
    )


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


def _search_text(client: ClientRow) -> str:
    texts = (client.name, client.contact_name, client.email, client.company_number, client.vat_number)
    return "\n".join(text.casefold() for text in texts if text)


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
        from_minor(outstanding, currency).encode(),
        from_minor(overdue, currency).encode(),
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
