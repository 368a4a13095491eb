"""The billing client resource (Spec §4, domain model A5 and B5): its operations."""

from msgspec.structs import replace

from gatewayd.areas.accounting.clients import rows
from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.clients.shapes import (
    ArchiveClient,
    Client,
    CreateClient,
    GetClient,
    ListClients,
    UpdateClient,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import Rendered
from gatewayd.errors import archived_already
from gatewayd.ledger.lists import Source, archive_filter, contains, sync_page
from gatewayd.store import ReadTx, WriteTx

_SELECT_PAGE = f"SELECT id, updated_at, wire, currency, {rows.BALANCES} FROM clients WHERE org_id = :org_id"


def list_clients(tx: ReadTx, caller: Caller, request: ListClients) -> Listing[Client]:
    """List billing clients, with what is outstanding and overdue on their invoices.

    Newest first, or in the order of change with `updatedSince`. Archived clients are left out unless `includeArchived`,
    `updatedSince` or `status` asks for them.
    """
    filters = {
        **archive_filter(request),
        "external_id = :external_id": request.external_id,
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    source = Source(CLIENTS, [_SELECT_PAGE])
    return sync_page(tx, request, source, filters, lambda row: rows.served(tx, row), {"today": tx.today})


def create_client(tx: WriteTx, caller: Caller, request: CreateClient) -> Rendered[Client]:
    """Create a billing client.

    VAT numbers of the United Kingdom and the European Union are checked by their check digits; British ones are kept
    without GB. `externalId` may be used once.
    """
    return Rendered(rows.wire_of(tx, rows.add(tx, request, "")))


def get_client(tx: ReadTx, caller: Caller, request: GetClient) -> Rendered[Client]:
    """Get one billing client, archived or not, with what is outstanding and overdue on its invoices."""
    return Rendered(rows.wire_of(tx, CLIENTS.get(tx, request.client_id)))


def update_client(tx: WriteTx, caller: Caller, request: UpdateClient) -> Rendered[Client]:
    """Change the given fields of a billing client.

    Invoices that were issued keep the client as they were printed. The check of a VAT number is forgotten where the
    number changes.
    """
    before = CLIENTS.get(tx, request.client_id, request.expected_version)
    return Rendered(rows.wire_of(tx, rows.change(tx, before, request)))


def archive_client(tx: WriteTx, caller: Caller, request: ArchiveClient) -> Rendered[Client]:
    """Archive a billing client: lists hide it, no invoice can be made out to it, and it can still be read.

    Its invoices stay as they are, and what is due on them can be paid. updateClient brings it back with `status`.
    """
    before = CLIENTS.get(tx, request.client_id, request.expected_version)
    if before.archived_at is not None:
        raise archived_already(CLIENTS.kind)
    return Rendered(rows.wire_of(tx, CLIENTS.update(tx, replace(before, archived_at=tx.now))))


OPERATIONS = (
    Operation(
        id="accounting.listClients",
        kind="read",
        method="GET",
        path="/clients",
        scopes=("accounting:read",),
        request=ListClients,
        response=SyncPage[Client],
        handler=list_clients,
        example={"q": "birch", "limit": 20},
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
            "vatNumber": "GB314159283",
            "companyNumber": "01234567",
            "billingAddress": {"line1": "4 Quay Street", "town": "Bristol", "postcode": "BS1 4SB", "countryCode": "GB"},
            "paymentTermsDays": 14,
        },
    ),
    Operation(
        id="accounting.getClient",
        kind="read",
        method="GET",
        path="/clients/:clientId",
        scopes=("accounting:read",),
        request=GetClient,
        response=Client,
        handler=get_client,
        extension=True,
        example={"clientId": "cli_01k0000000000000000000000a"},
    ),
    Operation(
        id="accounting.updateClient",
        kind="write",
        method="PATCH",
        path="/clients/:clientId",
        scopes=("accounting:write",),
        request=UpdateClient,
        response=Client,
        handler=update_client,
        errors=("already_exists", "possible_duplicate", "version_conflict"),
        extension=True,
        example={"clientId": "cli_01k0000000000000000000000a", "email": "invoices@birch.example", "expectedVersion": 1},
    ),
    Operation(
        id="accounting.archiveClient",
        kind="write",
        method="POST",
        path="/clients/:clientId/archive",
        scopes=("accounting:write",),
        request=ArchiveClient,
        response=Client,
        handler=archive_client,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"clientId": "cli_01k0000000000000000000000a"},
    ),
)
