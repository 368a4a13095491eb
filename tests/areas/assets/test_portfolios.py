"""Portfolios: what is made, changed, archived and brought back, and what is refused."""

import pytest

from gatewayd.areas.legal_entities.operations import archive_legal_entity
from gatewayd.areas.legal_entities.shapes import ArchiveLegalEntity
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets import records
from tests.areas.assets.shelves import Shelves
from tests.support.store import MemoryStore, make_caller


def archive_owner(shelves: Shelves, entity_id: str) -> None:
    request = ArchiveLegalEntity(id=entity_id, force=True)
    caller = make_caller(shelves.org_id)
    shelves.store.write(lambda tx: archive_legal_entity(tx, caller, request), shelves.org_id)


def test_a_new_portfolio_is_answered_whole(shelves: Shelves) -> None:
    entity = shelves.person()
    made = shelves.portfolio(entity, description="Funds", externalId="p-1")
    assert made["id"].startswith("prt_")
    assert {name: made[name] for name in ("name", "legalEntityId", "baseCurrency", "costBasisMethod", "status")} == {
        "name": "Savings",
        "legalEntityId": entity,
        "baseCurrency": "GBP",
        "costBasisMethod": "section_104",
        "status": "active",
    }
    assert (made["isDefault"], made["archivedAt"], made["version"]) == (False, None, 1)
    assert shelves.one("getPortfolio", f"id={made['id']}")["description"] == "Funds"
    with pytest.raises(Problem) as caught:
        shelves.portfolio(entity, externalId="p-1")
    assert caught.value.code == "already_exists"
    other = shelves.portfolio(entity)
    with pytest.raises(Problem) as caught:
        shelves.post("updatePortfolio", id=other["id"], externalId="p-1")
    assert caught.value.code == "already_exists"


@pytest.mark.parametrize(
    ("fields", "currency", "method"),
    [
        ({"type": "individual"}, "GBP", "section_104"),
        ({"type": "trust"}, "GBP", "section_104"),
        ({"type": "partnership"}, "GBP", "section_104"),
        ({"type": "individual"}, "USD", "average_cost"),
        ({"type": "individual", "countryCode": "FR"}, "GBP", "average_cost"),
        ({"type": "limited_company", "companyNumber": "01234567"}, "GBP", "average_cost"),
        ({"type": "charity"}, "GBP", "average_cost"),
    ],
)
def test_the_cost_basis_is_that_of_its_owner(
    shelves: Shelves, fields: dict[str, str], currency: str, method: str
) -> None:
    made = shelves.portfolio(shelves.unregistered_entity(**fields), baseCurrency=currency)
    assert made["costBasisMethod"] == method


def test_section_104_is_for_persons_and_pounds(shelves: Shelves) -> None:
    for entity, currency in ((shelves.company(), "GBP"), (shelves.person(), "EUR")):
        with pytest.raises(Problem) as caught:
            shelves.portfolio(entity, baseCurrency=currency, costBasisMethod="section_104")
        assert fields_of(caught.value) == [("costBasisMethod", "conflict")]
    company = shelves.portfolio(shelves.unregistered_entity(type="llp", companyNumber="OC123456"))
    with pytest.raises(Problem) as caught:
        shelves.post("updatePortfolio", id=company["id"], costBasisMethod="section_104")
    assert fields_of(caught.value) == [("costBasisMethod", "conflict")]
    abroad = shelves.person(countryCode="FR")
    assert shelves.portfolio(abroad, costBasisMethod="section_104")["costBasisMethod"] == "section_104"


def test_an_owner_that_is_unknown_or_archived_is_refused(shelves: Shelves, store: MemoryStore) -> None:
    theirs = Shelves(store).person()
    for entity in ("ent_1", theirs):
        with pytest.raises(Problem) as caught:
            shelves.portfolio(entity)
        assert fields_of(caught.value) == [("legalEntityId", "unknown_reference")]
    entity = shelves.person()
    kept = shelves.portfolio(entity)
    shelves.post("archivePortfolio", id=kept["id"])
    archive_owner(shelves, entity)
    with pytest.raises(Problem) as caught:
        shelves.portfolio(entity)
    assert fields_of(caught.value) == [("legalEntityId", "conflict")]
    with pytest.raises(Problem) as caught:
        shelves.post("updatePortfolio", id=kept["id"], status="active")
    assert caught.value.code == "invalid_state"


def test_a_legal_entity_has_one_default(shelves: Shelves) -> None:
    entity, other = shelves.person(), shelves.person()
    first, theirs = shelves.portfolio(entity, isDefault=True), shelves.portfolio(other, isDefault=True)
    second = shelves.portfolio(entity, isDefault=True)

    def defaults() -> set[str]:
        return {row["id"] for row in shelves.get("listPortfolios")[0] if row["isDefault"]}

    assert defaults() == {second["id"], theirs["id"]}
    shelves.post("updatePortfolio", id=first["id"], isDefault=True)
    assert defaults() == {first["id"], theirs["id"]}
    assert shelves.post("archivePortfolio", id=first["id"])["isDefault"] is False
    with pytest.raises(Problem) as caught:
        shelves.post("updatePortfolio", id=first["id"], isDefault=True)
    assert fields_of(caught.value) == [("isDefault", "conflict")]


def test_the_base_currency_is_fixed_once_there_are_transactions(shelves: Shelves, store: MemoryStore) -> None:
    made = shelves.portfolio()
    account = shelves.account(made["id"])
    with pytest.raises(Problem) as caught:
        shelves.post("updatePortfolio", id=made["id"], baseCurrency="EUR")
    assert fields_of(caught.value) == [("costBasisMethod", "conflict")]
    shelves.post("updatePortfolio", id=made["id"], baseCurrency="EUR", costBasisMethod="fifo")
    shelves.post("updatePortfolio", id=made["id"], baseCurrency="GBP")
    store.write(lambda tx: records.transaction(tx, account["id"]), shelves.org_id)
    with pytest.raises(Problem) as caught:
        shelves.post("updatePortfolio", id=made["id"], baseCurrency="EUR")
    assert caught.value.code == "invalid_state"
    assert shelves.post("updatePortfolio", id=made["id"], baseCurrency="GBP", name="Same")["name"] == "Same"


def test_to_archive_twice_changes_nothing(shelves: Shelves) -> None:
    made = shelves.portfolio()
    archived = shelves.post("archivePortfolio", id=made["id"], expectedVersion=1)
    assert (archived["status"], archived["version"]) == ("archived", 2)
    assert shelves.post("archivePortfolio", id=made["id"]) == archived
    assert shelves.get("listPortfolios")[0] == []
    assert [row["id"] for row in shelves.get("listPortfolios", "status=archived")[0]] == [made["id"]]
    assert [row["id"] for row in shelves.get("listPortfolios", "includeArchived=true")[0]] == [made["id"]]
    back = shelves.post("updatePortfolio", id=made["id"], status="active")
    assert (back["status"], back["archivedAt"]) == ("active", None)
    again = shelves.post("updatePortfolio", id=made["id"], status="archived")
    assert again["status"] == "archived"


def test_a_change_is_made_to_the_version_that_was_seen(shelves: Shelves) -> None:
    made = shelves.portfolio()
    for operation in ("updatePortfolio", "archivePortfolio"):
        with pytest.raises(Problem) as caught:
            shelves.post(operation, id=made["id"], expectedVersion=7)
        assert caught.value.code == "version_conflict"


def test_another_organizations_portfolio_is_not_found(shelves: Shelves, store: MemoryStore) -> None:
    theirs = Shelves(store).portfolio()
    for operation in ("updatePortfolio", "archivePortfolio"):
        with pytest.raises(Problem) as caught:
            shelves.post(operation, id=theirs["id"])
        assert caught.value.code == "not_found"
    with pytest.raises(Problem) as caught:
        shelves.one("getPortfolio", f"id={theirs['id']}")
    assert caught.value.code == "not_found"


def test_the_list_is_filtered_and_goes_on(shelves: Shelves) -> None:
    entity = shelves.person()
    made = [shelves.portfolio(entity, name=f"P{n}")["id"] for n in range(5)]
    shelves.portfolio(externalId="x")
    walked = shelves.walk("listPortfolios", f"legalEntityId={entity}&limit=2")
    assert [row["id"] for row in walked] == made[::-1]
    assert len(shelves.get("listPortfolios", "externalId=x")[0]) == 1
