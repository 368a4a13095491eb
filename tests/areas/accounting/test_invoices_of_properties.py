"""Invoices that name properties, whole or line by line: they are of the business that lets them."""

from typing import NamedTuple

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of, lines
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.ledger.lets import insert_property
from tests.support.store import MemoryStore


class Lets(NamedTuple):
    """A property business with two houses, and a business abroad with a villa."""

    books: LedgerBooks
    business: str
    house: str
    other: str
    abroad: str
    villa: str


@pytest.fixture
def lets(store: MemoryStore) -> Lets:
    books = LedgerBooks(store)
    owner = books.unregistered_entity()
    business = books.trade(owner, type="uk_property", name="Lets")
    abroad = books.trade(owner, type="foreign_property", name="Abroad")
    house, other, villa = (
        books.write(lambda tx, b=one: insert_property(tx, b)) for one in (business, business, abroad)
    )
    return Lets(books, business, house, other, abroad, villa)


def refused(lets: Lets, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        lets.books.invoice(**fields)
    return fields_of(caught.value)


def test_the_business_follows_from_the_property(lets: Lets) -> None:
    assert lets.books.invoice(propertyId=lets.house)["businessId"] == lets.business
    made = lets.books.invoice(lines=lines({}, {"propertyId": lets.villa}))
    assert (made["businessId"], made["propertyId"]) == (lets.abroad, None)
    assert [line["propertyId"] for line in made["lines"]] == [None, lets.villa]


def test_an_invoice_is_of_one_business(lets: Lets) -> None:
    assert refused(lets, businessId=lets.abroad, propertyId=lets.house) == [("propertyId", "conflict")]
    each = lines({"propertyId": lets.house}, {"propertyId": lets.villa}, {"propertyId": lets.other})
    assert refused(lets, lines=each) == [("lines[1].propertyId", "conflict")]


def test_a_draft_that_changes_is_looked_at_as_a_new_one(lets: Lets) -> None:
    made = lets.books.invoice(status="draft", propertyId=lets.house)
    with pytest.raises(Problem) as caught:
        lets.books.post("updateInvoice", invoiceId=made["id"], propertyId=lets.villa)
    assert fields_of(caught.value) == [("propertyId", "conflict")]
    moved = lets.books.post("updateInvoice", invoiceId=made["id"], propertyId=lets.villa, businessId=None)
    assert (moved["businessId"], moved["propertyId"]) == (lets.abroad, lets.villa)
    assert lets.books.post("issueInvoice", invoiceId=made["id"])["businessId"] == lets.abroad


def test_a_credit_note_names_properties_of_the_business_of_its_invoice(lets: Lets) -> None:
    made = lets.books.invoice(propertyId=lets.house)

    def credit(property_id: str) -> Json:
        return lets.books.credit(made["id"], lines=lines({"unitPrice": "10.00", "propertyId": property_id}))

    with pytest.raises(Problem) as caught:
        credit(lets.villa)
    assert fields_of(caught.value) == [("lines[0].propertyId", "conflict")]
    assert credit(lets.other)["lines"][0]["propertyId"] == lets.other
