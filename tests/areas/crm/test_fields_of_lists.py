"""Opportunities are listed page by page, and by what changed."""

import datetime

from gatewayd.areas.crm.opportunities import CreateOpportunity, ListOpportunities, MoveOpportunity, list_opportunities
from gatewayd.clock import DAY
from tests.areas.crm.test_opportunities import make, move
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import shown


def listed(store: MemoryStore, org_id: str, request: ListOpportunities) -> tuple[list[str], str | None]:
    page = store.read(lambda tx: list_opportunities(tx, make_caller(org_id), request), org_id)
    return [one["id"] for one in shown(page)], page.next_cursor


def test_they_come_page_by_page(store: MemoryStore) -> None:
    org_id = store.org()
    made = [make(store, org_id, CreateOpportunity(name=f"Books {n}")).id for n in range(3)]
    first, cursor = listed(store, org_id, ListOpportunities(limit=2))
    assert (first, cursor is not None) == ([made[2], made[1]], True)
    assert listed(store, org_id, ListOpportunities(limit=2, cursor=cursor)) == ([made[0]], None)


def test_those_that_did_not_change_since_are_left_out(store: MemoryStore) -> None:
    org_id = store.org()
    made = [make(store, org_id, CreateOpportunity(name=f"Books {n}")).id for n in range(2)]
    since = ListOpportunities(updated_since=datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC))
    assert listed(store, org_id, since)[0] == []
    store.clock.advance(DAY)
    move(store, org_id, MoveOpportunity(id=made[0], stage="proposal"))
    assert listed(store, org_id, since)[0] == [made[0]]
