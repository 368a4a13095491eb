"""Lists over one table: a page holds what fits, and the cursor leads to all the rest."""

import datetime

import msgspec
import pytest

from gatewayd.areas.accounting.clients.operations import create_client, list_clients
from gatewayd.areas.accounting.clients.shapes import CreateClient, ListClients
from gatewayd.areas.crm.leads import CreateLead, ListLeads, create_lead, list_leads
from gatewayd.contract.pages import PAGE_BYTES
from tests.support.store import MemoryStore, make_caller

NOTES = 4_000 * "\N{HAMMER}"  # 16 kB as JSON
CLIENT = CreateClient(name="Birch Ltd", notes=NOTES, allow_duplicate=True)
LONG_AGO = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
COUNT = 95


@pytest.mark.parametrize("since", [None, LONG_AGO])
@pytest.mark.parametrize(
    ("create", "request_", "list_", "page"),
    [
        (create_lead, CreateLead(source="web", notes=NOTES), list_leads, ListLeads),
        (create_client, CLIENT, list_clients, ListClients),
    ],
    ids=["leads", "clients"],
)
def test_a_page_of_long_rows_holds_what_fits_and_leads_to_all(
    store: MemoryStore,
    create: object,
    request_: object,
    list_: object,
    page: type[ListLeads] | type[ListClients],
    since: datetime.datetime | None,
) -> None:
    assert callable(create)
    assert callable(list_)
    org_id = store.org()
    caller = make_caller(org_id)
    for _ in range(COUNT):
        store.write(lambda tx: create(tx, caller, request_), org_id)
    found: list[str] = []
    sizes, cursor = [], None
    while cursor is not None or not sizes:
        asked = page(limit=100, updated_since=since, cursor=cursor)
        listing = store.read(lambda tx, asked=asked: list_(tx, caller, asked), org_id)
        assert len(listing.data) <= PAGE_BYTES
        ids = [item["id"] for item in msgspec.json.decode(listing.data)]
        sizes.append(len(ids))
        found += ids
        cursor = listing.next_cursor
    assert len(sizes) == 2
    assert sizes[0] >= 60  # most of what a mebibyte holds
    assert len(set(found)) == len(found) == COUNT
