"""A legal entity of another type: its businesses have to be such as that type has."""

import pytest

from tests.areas.businesses.trades import LETS, Firm
from tests.areas.legal_entities.entities import Firm as Entities
from tests.areas.legal_entities.entities import refuses
from tests.support.store import MemoryStore


@pytest.fixture
def firm(store: MemoryStore) -> Firm:
    return Firm(store)


def entities(firm: Firm) -> Entities:
    """The legal entities of the same organization."""
    view = Entities(firm.store)
    view.org_id, view.caller = firm.org_id, firm.caller
    return view


@pytest.mark.parametrize("kind", ["individual", "sole_trader"])
def test_a_person_has_one_uk_property_business(firm: Firm, kind: str) -> None:
    company, view = firm.company(), entities(firm)
    first, second = (firm.create(**LETS, legalEntityId=company)["id"] for _ in range(2))
    problem = refuses(view.update, company, type=kind, companyNumber=None)
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "limited_company")
    assert view.update(company, type="trust")["type"] == "trust"
    firm.archive(first)
    assert view.update(company, type=kind)["type"] == kind
    assert refuses(firm.move, first, "active").code == "already_exists"
    assert firm.get(second)["status"] == "active"


@pytest.mark.parametrize("kind", ["limited_company", "llp"])
def test_a_company_has_no_self_employment(firm: Firm, kind: str) -> None:
    business, view = firm.create()["id"], entities(firm)
    assert refuses(view.update, firm.person, type=kind, companyNumber="01234567").code == "invalid_state"
    firm.move(business, "ceased", "2026-11-01")
    assert view.update(firm.person, type=kind, companyNumber="01234567")["type"] == kind


@pytest.mark.parametrize("ended", ["ceased", "archived"])
def test_a_self_employment_does_not_come_back_to_a_company(firm: Firm, ended: str) -> None:
    business, view = firm.create()["id"], entities(firm)
    if ended == "ceased":
        firm.move(business, "ceased", "2026-11-01")
    else:
        firm.archive(business)
    view.update(firm.person, type="limited_company", companyNumber="01234567")
    problem = refuses(firm.move, business, "active")
    assert (problem.code, problem.extra) == ("invalid_state", {"currentState": ended, "allowedStates": []})
    assert firm.get(business)["status"] == ended
    view.update(firm.person, type="sole_trader", companyNumber=None)
    assert firm.move(business, "active")["status"] == "active"


def test_a_type_that_stays_is_nobodys_affair(firm: Firm) -> None:
    firm.create()
    assert entities(firm).update(firm.person, type="sole_trader", name="Ann")["name"] == "Ann"
