"""A legal entity is archived, and entities are found by the id that others gave them."""

import pytest

from tests.areas.accounting.books import Books
from tests.areas.legal_entities.entities import COMPANY, NINO, PERSON, Firm, refuses
from tests.support.store import MemoryStore


def test_archived_it_is_hidden_and_can_be_read(firm: Firm) -> None:
    made, other = firm.create(**PERSON, nino=NINO), firm.create(**COMPANY)
    archived = firm.archive(made["id"], expectedVersion=1)
    assert (archived["status"], archived["archivedAt"]) == ("archived", "2026-11-20T09:30:00.000Z")
    assert firm.get(made["id"]) == archived
    assert archived["nino"] == NINO
    assert firm.names() == [other["name"]]
    assert firm.names(status="archived") == [made["name"]]


def test_it_comes_back_by_an_update(firm: Firm) -> None:
    made = firm.create(**PERSON, nino=NINO)
    firm.archive(made["id"])
    assert firm.update(made["id"], name="Ash B.")["status"] == "archived"
    back = firm.update(made["id"], status="active")
    assert (back["status"], back["archivedAt"], back["nino"], back["version"]) == ("active", None, NINO, 4)
    assert firm.names() == ["Ash B."]
    assert firm.update(made["id"], status="active")["status"] == "active"
    problem = refuses(firm.update, made["id"], status="archived")
    assert [(error.path, error.code) for error in problem.errors] == [("status", "invalid_enum")]


def test_archived_already_or_at_another_version(firm: Firm) -> None:
    made = firm.create(**PERSON)
    assert refuses(firm.archive, made["id"], expectedVersion=2).code == "version_conflict"
    firm.archive(made["id"])
    problem = refuses(firm.archive, made["id"])
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "archived")


@pytest.mark.parametrize("end", ["status = 'ceased', cessation_date = '2026-11-01'", "archived_at = 1"])
def test_a_live_business_refuses_it(store: MemoryStore, firm: Firm, end: str) -> None:
    books = Books(store)
    firm.org_id, firm.caller = books.org_id, books.caller
    first, second = books.entity(), books.unregistered_entity(name="Elm")
    business = books.business(first)
    problem = refuses(firm.archive, first)
    assert (problem.code, problem.extra) == ("invalid_state", {"currentState": "active", "allowedStates": []})
    assert business in problem.message
    assert firm.archive(second)["status"] == "archived"
    store.write(lambda tx: tx.run(f"UPDATE businesses SET {end} WHERE org_id = :org_id"), books.org_id)
    assert firm.archive(first)["status"] == "archived"


def test_a_live_business_does_not_refuse_force(store: MemoryStore, firm: Firm) -> None:
    books = Books(store)
    firm.org_id, firm.caller = books.org_id, books.caller
    entity = books.entity()
    books.business(entity)
    assert firm.archive(entity, force=True)["status"] == "archived"


def test_another_organizations_is_not_found(store: MemoryStore, firm: Firm) -> None:
    assert refuses(firm.archive, Firm(store).create(**PERSON)["id"]).code == "not_found"


def test_found_by_external_id(firm: Firm) -> None:
    firm.create(**{**PERSON, "name": "Ann"}, externalId="x")
    firm.create(**{**PERSON, "name": "Bob"}, externalId="y")
    assert firm.names(externalId="x") == ["Ann"]
    assert firm.names(externalId="z") == []
