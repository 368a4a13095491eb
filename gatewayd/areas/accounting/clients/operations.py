"""The billing client resource (Spec §4, domain model A5 and B5): its operations."""

from gatewayd.areas.accounting.clients import rows
from gatewayd.areas.accounting.clients.shapes import Client, CreateClient, ListClients
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page
from gatewayd.contract.wire import Rendered, open_wire
from gatewayd.ledger.lists import archive_filter, contains, sync_page
from gatewayd.store import ReadTx, Row, WriteTx

_SELECT_PAGE = "SELECT id, updated_at, wire, currency FROM clients WHERE org_id = :org_id"


def list_clients(tx: ReadTx, caller: Caller, request: ListClients) -> Listing[Client]:
    """List billing clients, with what is outstanding and overdue on their invoices.

    Newest first, or in the order of change with `updatedSince`. Archived clients are left out unless `includeArchived`
    or `status` asks for them.
    """
    filters = {
        **archive_filter(request.status, request.include_archived),
        "search_text LIKE :pattern ESCAPE '!'": contains(request.q),
    }
    found: list[Row] = []

    def keep(row: Row) -> bytes:
        found.append(row)
        return bytes(row[2])

    listing = sync_page(tx, request, _SELECT_PAGE, filters, keep)
    balances = rows.balances(tx, [row[0] for row in found])
    items = (rows.served(wire, currency, *balances.get(id_, (0, 0))) for id_, _, wire, currency in found)
    return Listing.of(items, listing.next_cursor)


def create_client(tx: WriteTx, caller: Caller, request: CreateClient) -> Rendered[Client]:
    """Create a billing client.

    VAT numbers of the United Kingdom and the European Union are checked by their check digits; British ones are kept
    without GB. `externalId` may be used once.
    """
    client = rows.add(tx, request, "")
    return Rendered(rows.served(open_wire(client), client.currency, 0, 0))


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
