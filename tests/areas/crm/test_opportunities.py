"""Opportunities: a move to another stage is told, and nothing else is."""

from typing import Any

import msgspec
import pytest

from gatewayd.areas.crm.leads import CreateLead, create_lead
from gatewayd.areas.crm.opportunities import (
    OPPORTUNITIES,
    CreateOpportunity,
    ListOpportunities,
    MoveOpportunity,
    Opportunity,
    create_opportunity,
    list_opportunities,
    move_opportunity,
)
from gatewayd.errors import Problem
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import shown

_MOVES = "SELECT data FROM events WHERE org_id = :org_id AND kind = 'opportunity.stage_changed' ORDER BY id"


def make(store: MemoryStore, org_id: str, request: CreateOpportunity) -> Opportunity:
    return store.write(lambda tx: create_opportunity(tx, make_caller(org_id), request), org_id)


def move(store: MemoryStore, org_id: str, request: MoveOpportunity) -> Opportunity:
    return store.write(lambda tx: move_opportunity(tx, make_caller(org_id), request), org_id)


def moves(store: MemoryStore, org_id: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(data) for (data,) in store.read(lambda tx: tx.rows(_MOVES), org_id)]


def lead_of(store: MemoryStore, org_id: str) -> str:
    return store.write(lambda tx: create_lead(tx, make_caller(org_id), CreateLead(source="web")), org_id).id


def test_a_new_opportunity_is_answered_whole_and_fires_nothing(store: MemoryStore) -> None:
    org_id = store.org()
    lead_id = lead_of(store, org_id)
    request = CreateOpportunity(
        name="Bookkeeping", lead_id=lead_id, stage="proposal", amount="2400", currency="GBP", external_id="x"
    )
    made = make(store, org_id, request)
    assert shown(made) == {
        "id": made.id,
        "externalId": "x",
        "leadId": lead_id,
        "name": "Bookkeeping",
        "pipelineId": "default",
        "stage": "proposal",
        "amount": "2400.00",
        "currency": "GBP",
        "createdAt": "2026-11-20T09:30:00.000Z",
        "updatedAt": "2026-11-20T09:30:00.000Z",
        "version": 1,
    }
    assert moves(store, org_id) == []


def test_a_name_is_enough(store: MemoryStore) -> None:
    made = make(store, store.org(), CreateOpportunity(name="Bookkeeping"))
    assert (made.lead_id, made.pipeline_id, made.stage, made.amount) == (None, "default", "new", None)


def test_a_move_is_told_with_where_from_and_by_whom(store: MemoryStore) -> None:
    org_id = store.org()
    lead_id = lead_of(store, org_id)
    made = make(store, org_id, CreateOpportunity(name="Bookkeeping", lead_id=lead_id, stage="proposal"))
    moved = move(store, org_id, MoveOpportunity(id=made.id, stage="won", expected_version=1))
    assert (moved.stage, moved.version) == ("won", 2)
    assert moves(store, org_id) == [
        {
            "opportunity_id": made.id,
            "pipeline_id": "default",
            "from_stage": "proposal",
            "to_stage": "won",
            "changed_by": make_caller(org_id).reference,
            "lead_id": lead_id,
        }
    ]


def test_a_move_to_the_same_stage_changes_and_tells_nothing(store: MemoryStore) -> None:
    org_id = store.org()
    made = make(store, org_id, CreateOpportunity(name="Bookkeeping", stage="proposal"))
    assert move(store, org_id, MoveOpportunity(id=made.id, stage="proposal")) == made
    assert moves(store, org_id) == []


def test_version_conflict_moves_nothing(store: MemoryStore) -> None:
    org_id = store.org()
    made = make(store, org_id, CreateOpportunity(name="Bookkeeping", stage="proposal"))
    with pytest.raises(Problem) as refused:
        move(store, org_id, MoveOpportunity(id=made.id, stage="proposal", expected_version=2))
    assert refused.value.code == "version_conflict"
    assert moves(store, org_id) == []


def test_not_found_for_an_unknown_id_and_for_another_organizations(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    theirs = make(store, other, CreateOpportunity(name="Bookkeeping"))
    for unknown in (theirs.id, "opp_nothing"):
        with pytest.raises(Problem) as refused:
            move(store, org_id, MoveOpportunity(id=unknown, stage="won"))
        assert refused.value.code == "not_found"
    assert moves(store, other) == []


def test_already_exists_for_an_external_id_used_before(store: MemoryStore) -> None:
    org_id = store.org()
    first = make(store, org_id, CreateOpportunity(name="A", external_id="x"))
    with pytest.raises(Problem) as refused:
        make(store, org_id, CreateOpportunity(name="B", external_id="x"))
    assert refused.value.code == "already_exists"
    assert refused.value.extra["existingId"] == first.id


def test_validation_failed_for_a_lead_that_is_unknown_or_another_organizations(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    for lead_id in (lead_of(store, other), "lead_nothing"):
        with pytest.raises(Problem) as refused:
            make(store, org_id, CreateOpportunity(name="A", lead_id=lead_id))
        assert [(error.path, error.code) for error in refused.value.errors] == [("leadId", "unknown_reference")]


@pytest.mark.parametrize(
    ("amount", "currency", "code"),
    [("10.005", "GBP", "invalid_decimal"), ("10.5", "JPY", "invalid_decimal"), ("-1", "GBP", "out_of_range")],
)
def test_validation_failed_for_an_amount_the_currency_does_not_have(
    store: MemoryStore, amount: str, currency: str, code: str
) -> None:
    with pytest.raises(Problem) as refused:
        make(store, store.org(), CreateOpportunity(name="A", amount=amount, currency=currency))
    assert [(error.path, error.code) for error in refused.value.errors] == [("amount", code)]


def test_lists_newest_first_with_filters_and_only_the_organizations_own(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    lead_id = lead_of(store, org_id)
    make(store, other, CreateOpportunity(name="theirs"))
    first = make(store, org_id, CreateOpportunity(name="first", lead_id=lead_id, amount="1.50"))
    second = make(
        store, org_id, CreateOpportunity(name="second", pipeline_id="sales", stage="won", external_id="deal-7")
    )

    def ids(request: ListOpportunities) -> list[str]:
        page = store.read(lambda tx: list_opportunities(tx, make_caller(org_id), request), org_id)
        return [found["id"] for found in shown(page)]

    assert ids(ListOpportunities()) == [second.id, first.id]
    assert ids(ListOpportunities(lead_id=lead_id)) == [first.id]
    assert ids(ListOpportunities(external_id="deal-7")) == [second.id]
    assert ids(ListOpportunities(pipeline_id="sales")) == [second.id]
    assert ids(ListOpportunities(stage="new")) == [first.id]


def test_the_operator_can_ask_whose_an_opportunity_is(store: MemoryStore) -> None:
    org_id = store.org()
    made = make(store, org_id, CreateOpportunity(name="A"))
    assert store.read(lambda tx: OPPORTUNITIES.organization_of(tx, made.id)) == org_id
    with pytest.raises(Problem) as refused:
        store.read(lambda tx: OPPORTUNITIES.organization_of(tx, "opp_nothing"))
    assert refused.value.code == "not_found"
