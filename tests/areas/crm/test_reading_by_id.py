"""One lead and one opportunity, read by their ids."""

import pytest

from gatewayd.areas.crm.leads import CreateLead, GetLead, create_lead, get_lead
from gatewayd.areas.crm.opportunities import CreateOpportunity, GetOpportunity, create_opportunity, get_opportunity
from gatewayd.errors import Problem
from tests.support.store import MemoryStore, make_caller


def test_a_lead_is_read_by_its_organization_alone(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    lead = store.write(lambda tx: create_lead(tx, make_caller(org_id), CreateLead(source="web")), org_id)
    request = GetLead(id=lead.id)
    assert store.read(lambda tx: get_lead(tx, make_caller(org_id), request), org_id) == lead
    with pytest.raises(Problem, match="not_found"):
        store.read(lambda tx: get_lead(tx, make_caller(other), request), other)


def test_an_opportunity_is_read_by_its_organization_alone(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    made = CreateOpportunity(name="Roof", amount="2400", stage="won")
    opportunity = store.write(lambda tx: create_opportunity(tx, make_caller(org_id), made), org_id)
    request = GetOpportunity(id=opportunity.id)
    assert store.read(lambda tx: get_opportunity(tx, make_caller(org_id), request), org_id) == opportunity
    with pytest.raises(Problem, match="not_found"):
        store.read(lambda tx: get_opportunity(tx, make_caller(other), request), other)
