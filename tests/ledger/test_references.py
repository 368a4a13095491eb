"""References: what exists in the caller's organization, and how the rest looks."""

from typing import get_args

import pytest

from gatewayd.ledger import references
from gatewayd.ledger.references import Kind, Reference
from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore


def test_existing_resources_are_found(store: MemoryStore) -> None:
    books = Books(store)
    entity, client = books.entity(), books.client()
    business = books.business(entity)
    assert store.read(lambda tx: references.exists(tx, "legal_entity", entity), books.org_id)
    assert store.read(lambda tx: references.exists(tx, "business", business), books.org_id)
    assert store.read(lambda tx: references.exists(tx, "client", client), books.org_id)


def test_another_organizations_resources_are_unknown(store: MemoryStore) -> None:
    books, others = Books(store), Books(store)
    entity, client = books.entity(), books.client()
    named = [
        Reference("a", "legal_entity", entity),
        Reference("lines[0].b", "client", client),
        Reference("c", "business", books.business(entity)),
    ]
    errors = store.read(lambda tx: list(references.unknown(tx, named)), others.org_id)
    assert [(error.path, error.code) for error in errors] == [
        ("a", "unknown_reference"),
        ("lines[0].b", "unknown_reference"),
        ("c", "unknown_reference"),
    ]


def test_the_id_of_another_kind_is_unknown(store: MemoryStore) -> None:
    books = Books(store)
    client = books.client()
    assert not store.read(lambda tx: references.exists(tx, "legal_entity", client), books.org_id)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_id_that_leads_nowhere_is_unknown_for_every_kind(store: MemoryStore, kind: Kind) -> None:
    books = Books(store)
    assert not store.read(lambda tx: references.exists(tx, kind, "xyz_1"), books.org_id)


def test_a_field_left_out_is_no_error(store: MemoryStore) -> None:
    books = Books(store)
    named = [Reference("businessId", "business", None)]
    assert store.read(lambda tx: list(references.unknown(tx, named)), books.org_id) == []
