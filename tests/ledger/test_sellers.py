"""Sellers: who sells where nobody is named, and whether VAT may be charged on a day."""

import pytest

from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from tests.areas.accounting.books import BRITISH_VAT_NUMBER, Books
from tests.support.store import MemoryStore


def only(books: Books) -> Seller | None:
    return books.store.read(sellers.find_only, books.org_id)


def found(books: Books, entity: str) -> Seller | None:
    return books.store.read(lambda tx: sellers.find(tx, entity), books.org_id)


def test_an_organization_without_entities_sells_in_its_own_name(store: MemoryStore) -> None:
    books = Books(store, "Ash & Co")
    seller = only(books)
    assert seller is not None
    assert (seller.legal_entity_id, seller.key, seller.name) == (None, books.org_id, "Ash & Co")
    assert not seller.registered_on("2026-11-20")


def test_the_one_active_entity_sells(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity(legalName="Oak Joinery")
    seller = only(books)
    assert seller is not None
    assert (seller.legal_entity_id, seller.name) == (entity, "Oak Joinery")
    assert seller.vat_number == BRITISH_VAT_NUMBER


def test_with_several_there_is_a_choice(store: MemoryStore) -> None:
    books = Books(store)
    books.entity()
    books.unregistered_entity(name="Elm")
    assert only(books) is None


def test_an_archived_entity_is_no_choice_but_can_be_found(store: MemoryStore) -> None:
    books = Books(store)
    active, archived = books.entity(), books.unregistered_entity(name="Elm")
    store.write(lambda tx: tx.run("UPDATE legal_entities SET archived_at = :now WHERE id = :id", id=archived))
    seller, old = only(books), found(books, archived)
    assert seller is not None
    assert seller.legal_entity_id == active
    assert old is not None
    assert old.archived


def test_the_first_entity_has_the_numbers_of_the_organization_and_others_their_own(store: MemoryStore) -> None:
    books = Books(store)
    first, second = books.entity(), books.unregistered_entity(name="Elm")
    for entity, key in ((first, books.org_id), (second, second)):
        seller = found(books, entity)
        assert seller is not None
        assert seller.key == key


def test_another_organizations_entity_is_unknown(store: MemoryStore) -> None:
    assert found(Books(store), Books(store).entity()) is None


@pytest.mark.parametrize(
    ("vat", "before", "on", "after"),
    [
        ({"status": "registered", "effectiveDate": "2026-05-01"}, False, True, True),
        ({"status": "registered"}, True, True, True),
        ({"status": "registered", "deregistrationDate": "2026-05-01"}, True, False, False),
        (
            {"status": "deregistered", "effectiveDate": "2020-01-01", "deregistrationDate": "2026-05-01"},
            True,
            False,
            False,
        ),
        ({"status": "pending", "effectiveDate": "2026-01-01"}, False, False, False),
        ({"status": "not_registered"}, False, False, False),
    ],
)
def test_registered_on(store: MemoryStore, vat: dict[str, str], before: bool, on: bool, after: bool) -> None:
    books = Books(store)
    seller = found(books, books.entity(vat=vat))
    assert seller is not None
    days = ("2026-04-30", "2026-05-01", "2026-05-02")
    assert [seller.registered_on(day) for day in days] == [before, on, after]


@pytest.mark.parametrize(
    ("cis", "rate"),
    [
        ({"subcontractor": True, "verifiedRate": 20}, 20),
        ({"subcontractor": True, "verifiedRate": 0}, 0),
        ({"subcontractor": True}, 30),
        ({"contractor": True}, None),
    ],
)
def test_rate_of_a_subcontractor(store: MemoryStore, cis: dict[str, object], rate: int | None) -> None:
    books = Books(store)
    seller = found(books, books.entity(cis=cis))
    assert seller is not None
    assert seller.cis_rate == rate
