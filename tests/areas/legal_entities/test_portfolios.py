"""What portfolios a legal entity has decides whether it can be archived, and of what type it can become."""

import pytest

from tests.areas.assets.shelves import Shelves
from tests.areas.legal_entities.entities import Firm as Entities
from tests.areas.legal_entities.entities import refuses
from tests.support.store import MemoryStore

COMPANY = {"type": "limited_company", "companyNumber": "01234567"}
PERSON = {"type": "individual", "companyNumber": None}


@pytest.fixture
def shelves(store: MemoryStore) -> Shelves:
    return Shelves(store)


@pytest.fixture
def entities(shelves: Shelves) -> Entities:
    """The legal entities of the same organization."""
    view = Entities(shelves.store)
    view.org_id, view.caller = shelves.org_id, shelves.caller
    return view


def hold(shelves: Shelves, portfolio_id: str) -> str:
    """Buy something, and return the transaction's id."""
    account = shelves.account(portfolio_id)["id"]
    share = shelves.instrument(name="Elm plc").id
    made = shelves.enter(account, "buy", "2026-05-01", instrumentId=share, quantity="1", grossAmount="5")
    return str(made["id"])


def test_a_portfolio_that_is_not_archived_refuses_the_archive_but_by_force(
    shelves: Shelves, entities: Entities
) -> None:
    first, second = shelves.person(), shelves.person()
    portfolio = shelves.portfolio(first)["id"]
    shelves.portfolio(second)
    problem = refuses(entities.archive, first)
    assert (problem.code, problem.extra) == ("invalid_state", {"currentState": "active", "allowedStates": []})
    assert portfolio in problem.message
    shelves.post("archivePortfolio", id=portfolio)
    assert entities.archive(first)["status"] == "archived"
    assert entities.archive(second, force=True)["status"] == "archived"


def test_another_organizations_portfolio_refuses_nothing(
    shelves: Shelves, entities: Entities, store: MemoryStore
) -> None:
    Shelves(store).portfolio()
    assert entities.archive(shelves.person())["status"] == "archived"


def test_who_held_as_a_person_does_not_become_a_company(shelves: Shelves, entities: Entities) -> None:
    person = shelves.person()
    portfolio = shelves.portfolio(person, costBasisMethod="average_cost")["id"]
    bought = hold(shelves, portfolio)
    shelves.post("archivePortfolio", id=portfolio)  # what it held, it held
    problem = refuses(entities.update, person, **COMPANY)
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "individual")
    assert entities.update(person, type="trust")["type"] == "trust"
    shelves.post("updatePortfolio", id=portfolio, status="active")
    (row,) = shelves.get("listTransactions", f"portfolioId={portfolio}")[0]
    taken = {"type": "reversal", "tradeDate": "2026-05-01", "reversesTransactionId": bought}
    shelves.post("createTransaction", accountId=row["accountId"], **taken)
    assert entities.update(person, **COMPANY)["type"] == "limited_company"


def test_what_a_company_held_has_no_pools_for_a_person(shelves: Shelves, entities: Entities) -> None:
    company = shelves.company()
    hold(shelves, shelves.portfolio(company)["id"])
    assert refuses(entities.update, company, **PERSON).code == "invalid_state"
    assert entities.update(company, type="llp")["type"] == "llp"


def test_a_portfolio_at_section_104_is_not_a_companys(shelves: Shelves, entities: Entities) -> None:
    person = shelves.person()
    portfolio = shelves.portfolio(person)["id"]
    problem = refuses(entities.update, person, **COMPANY)
    assert (problem.code, portfolio in problem.message) == ("invalid_state", True)
    shelves.post("updatePortfolio", id=portfolio, costBasisMethod="fifo")
    assert entities.update(person, **COMPANY)["type"] == "limited_company"
    assert entities.update(person, **PERSON)["type"] == "individual"
