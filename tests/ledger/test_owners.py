"""Owners: what a legal entity says about what it owns."""

import pytest

from gatewayd.ledger.taxpayers import owners
from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore


@pytest.mark.parametrize(
    ("kind", "person", "incorporated", "pools"),
    [
        ("individual", True, False, True),
        ("sole_trader", True, False, True),
        ("limited_company", False, True, False),
        ("llp", False, True, False),
        ("partnership", False, False, True),
        ("trust", False, False, True),
        ("charity", False, False, False),
    ],
)
def test_an_owner_is_a_person_or_a_company_or_neither(
    store: MemoryStore, kind: str, person: bool, incorporated: bool, pools: bool
) -> None:
    books = Books(store)
    entity = books.unregistered_entity(type=kind, companyNumber="01234567", baseCurrency="EUR")
    owner = store.read(lambda tx: owners.find(tx, entity), books.org_id)
    assert owner == (entity, kind, "EUR", False, "GB")
    assert owner is not None
    assert (owner.is_person, owner.is_incorporated, owner.has_pools) == (person, incorporated, pools)


def test_an_archived_owner_is_found_and_another_organizations_is_not(store: MemoryStore) -> None:
    books, others = Books(store), Books(store)
    entity = books.unregistered_entity()
    store.write(lambda tx: tx.run("UPDATE legal_entities SET archived_at = :now WHERE id = :id", id=entity))
    owner = store.read(lambda tx: owners.find(tx, entity), books.org_id)
    assert owner is not None
    assert owner.archived
    assert store.read(lambda tx: owners.find(tx, entity), others.org_id) is None
