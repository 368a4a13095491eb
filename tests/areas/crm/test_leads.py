"""Leads: what creating one leaves behind, and the list in both its orders."""

import datetime
from typing import Any

import msgspec
import pytest

from gatewayd.areas.crm.leads import CreateLead, Lead, ListLeads, create_lead, list_leads
from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from tests.support.store import START, MemoryStore, make_caller
from tests.support.wire import shown

_EVENTS = "SELECT kind, data FROM events WHERE org_id = :org_id ORDER BY id"


def make(store: MemoryStore, org_id: str, request: CreateLead) -> Lead:
    return store.write(lambda tx: create_lead(tx, make_caller(org_id), request), org_id)


def listed(store: MemoryStore, org_id: str, request: ListLeads) -> tuple[list[dict[str, Any]], str | None]:
    page = store.read(lambda tx: list_leads(tx, make_caller(org_id), request), org_id)
    return shown(page), page.next_cursor


def test_a_new_lead_is_answered_whole_and_told_to_the_outbox(store: MemoryStore) -> None:
    org_id = store.org()
    request = CreateLead(
        source="website",
        name="Priya Shah",
        email="priya@example.com",
        phone="+44 20 7946 0000",
        company="Shah Interiors",
        notes="met at the fair",
        status="contacted",
        external_id="crm-7",
    )
    lead = make(store, org_id, request)
    assert shown(lead) == {
        "id": lead.id,
        "externalId": "crm-7",
        "source": "website",
        "name": "Priya Shah",
        "email": "priya@example.com",
        "phone": "+44 20 7946 0000",
        "company": "Shah Interiors",
        "notes": "met at the fair",
        "status": "contacted",
        "createdAt": "2026-11-20T09:30:00.000Z",
        "updatedAt": "2026-11-20T09:30:00.000Z",
        "version": 1,
    }
    assert lead.id.startswith("lead_")
    ((kind, data),) = store.read(lambda tx: tx.rows(_EVENTS), org_id)
    assert kind == "lead.created"
    assert msgspec.json.decode(data) == {"lead_id": lead.id, "source": "website", "status": "contacted"}


def test_a_source_is_enough(store: MemoryStore) -> None:
    org_id = store.org()
    lead = make(store, org_id, CreateLead(source="phone"))
    assert (lead.status, lead.name, lead.external_id) == ("new", None, None)


def test_already_exists_for_an_external_id_used_before(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    first = make(store, org_id, CreateLead(source="web", external_id="x"))
    with pytest.raises(Problem) as refused:
        make(store, org_id, CreateLead(source="web", external_id="x"))
    assert refused.value.code == "already_exists"
    assert refused.value.extra == {"existingId": first.id, "field": "externalId"}
    assert len(store.read(lambda tx: tx.rows(_EVENTS), org_id)) == 1
    assert make(store, other, CreateLead(source="web", external_id="x")).id != first.id


def test_lists_newest_first_page_by_page(store: MemoryStore) -> None:
    org_id = store.org()
    made = [make(store, org_id, CreateLead(source="web")).id for _ in range(3)]
    first, cursor = listed(store, org_id, ListLeads(limit=2))
    assert [lead["id"] for lead in first] == [made[2], made[1]]
    rest, end = listed(store, org_id, ListLeads(limit=2, cursor=cursor))
    assert [lead["id"] for lead in rest] == [made[0]]
    assert end is None


def test_lists_changes_since_an_instant_oldest_first(store: MemoryStore) -> None:
    org_id = store.org()
    make(store, org_id, CreateLead(source="web"))
    store.clock.advance(10 * SECOND)
    later = [make(store, org_id, CreateLead(source="web")).id for _ in range(2)]
    since = datetime.datetime.fromtimestamp((START + 5 * SECOND) / SECOND, datetime.UTC)
    found, _ = listed(store, org_id, ListLeads(updated_since=since))
    assert [lead["id"] for lead in found] == later


def test_filters_by_status_and_source(store: MemoryStore) -> None:
    org_id = store.org()
    web = make(store, org_id, CreateLead(source="web", status="qualified")).id
    phone = make(store, org_id, CreateLead(source="phone", status="qualified")).id
    make(store, org_id, CreateLead(source="phone"))
    assert [lead["id"] for lead in listed(store, org_id, ListLeads(status="qualified"))[0]] == [phone, web]
    assert [lead["id"] for lead in listed(store, org_id, ListLeads(status="qualified", source="web"))[0]] == [web]


def test_found_by_external_id(store: MemoryStore) -> None:
    org_id = store.org()
    wanted = make(store, org_id, CreateLead(source="web", external_id="form-7")).id
    make(store, org_id, CreateLead(source="web", external_id="form-8"))
    make(store, store.org("Other Ltd"), CreateLead(source="web", external_id="form-7"))
    assert [lead["id"] for lead in listed(store, org_id, ListLeads(external_id="form-7"))[0]] == [wanted]


def test_another_organizations_leads_are_not_listed(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    make(store, other, CreateLead(source="web"))
    assert listed(store, org_id, ListLeads()) == ([], None)
