"""Quotes and recurring invoices change in each of their terms, whole and line by line."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, OTHER_BRITISH_VAT_NUMBER, Books, Json, fields_of
from tests.areas.accounting.test_quotes import accepted, quote
from tests.areas.accounting.test_quotes import act as act_on_quote
from tests.areas.accounting.test_quotes import refused as refused_of_quote
from tests.areas.accounting.test_recurring import TODAY, recurring
from tests.areas.accounting.test_recurring import act as act_on_recurring
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.ledger.lets import insert_property
from tests.support.store import MemoryStore

SOLD = {
    **LINE,
    "quantity": "3",
    "unit": "hours",
    "discountPercent": "10",
    "category": "turnover",
    "vatCode": "zero",
    "cisLabour": True,
    "capitalGoods": True,
}
"""300.00 less 30.00, at no VAT."""
OFFERED = {
    "amountsAre": "inclusive",
    "vatRounding": "total",
    "discountAmount": "20.00",
    "currency": "EUR",
    "poNumber": "PO 7",
    "terms": "Half of it first",
}


def seller_of(books: Books) -> Json:
    """Another seller with its business, and another client."""
    seller = books.entity(name="Elm", vatNumber=OTHER_BRITISH_VAT_NUMBER)
    return {"legalEntityId": seller, "businessId": books.business(seller), "clientId": books.client("Second Ltd")}


def is_sold(found: Json) -> None:
    """It has the line of `SOLD`, and is of 270.00 less 20.00."""
    (line,) = found["lines"]
    assert {name: line[name] for name in SOLD} == {**SOLD, "unitPrice": "100"} | {"unitPrice": line["unitPrice"]}
    assert float(line["unitPrice"]) == 100


def test_each_term_of_a_quote_changes(registered: Books) -> None:
    found = quote(registered)
    asked = {**seller_of(registered), **OFFERED, "issueDate": "2026-11-19", "lines": [SOLD]}
    changed = act_on_quote(registered, "updateQuote", found, **asked)
    assert {name: changed[name] for name in asked if name != "lines"} == {
        name: value for name, value in asked.items() if name != "lines"
    }
    is_sold(changed)
    assert (changed["grossTotal"], changed["vatTotal"], changed["version"]) == ("250.00", "0.00", 2)


def test_each_term_of_a_recurring_invoice_changes(registered: Books) -> None:
    found = recurring(registered)
    asked = {
        **seller_of(registered),
        **OFFERED,
        "lines": [SOLD],
        "endDate": "2027-11-20",
        "makes": "draft",
        "paymentTermsDays": 7,
    }
    changed = act_on_recurring(registered, "updateRecurring", found, **asked)
    assert {name: changed[name] for name in asked if name != "lines"} == {
        name: value for name, value in asked.items() if name != "lines"
    }
    is_sold(changed)
    with pytest.raises(Problem) as caught:
        act_on_recurring(registered, "updateRecurring", found, bankAccountId="bac_x")
    assert fields_of(caught.value) == [("bankAccountId", "unknown_reference")]


def test_properties_of_both_change(store: MemoryStore) -> None:
    books = LedgerBooks(store)
    business = books.trade(books.unregistered_entity(), type="uk_property", name="Lets")
    house, other = (books.write(lambda tx: insert_property(tx, business)) for _ in range(2))
    offered = quote(books, lines=[{**LINE, "propertyId": house}])
    again = recurring(books, lines=[{**LINE, "propertyId": house}])
    assert [line["propertyId"] for line in (*offered["lines"], *again["lines"])] == [house, house]
    asked: dict[str, Any] = {"propertyId": other, "lines": [{**LINE, "propertyId": other}]}
    for changed in (
        act_on_quote(books, "updateQuote", offered, **asked),
        act_on_recurring(books, "updateRecurring", again, **asked),
    ):
        assert (changed["propertyId"], changed["lines"][0]["propertyId"]) == (other, other)


def test_a_line_of_a_quote_says_all_that_one_of_an_invoice_does(registered: Books) -> None:
    asked = seller_of(registered)
    found = quote(registered, **asked, amountsAre="inclusive", discountAmount="20.00", lines=[SOLD])
    is_sold(found)
    assert found["grossTotal"] == "250.00"


def test_quotes_are_listed_a_page_at_a_time(registered: Books) -> None:
    made = [quote(registered)["id"] for _ in range(3)]
    assert [each["id"] for each in registered.walk("listQuotes", "limit=2")] == made[::-1]


def test_what_is_accepted_changes_no_more(registered: Books) -> None:
    assert refused_of_quote(registered, "updateQuote", accepted(registered), notes="N").code == "invalid_state"


def test_a_recurring_invoice_ends_once_and_moves_by_its_version(registered: Books) -> None:
    found = recurring(registered, startDate=TODAY)

    def refused(operation: str, **fields: object) -> str:
        with pytest.raises(Problem) as caught:
            act_on_recurring(registered, operation, found, **fields)
        return caught.value.code

    assert refused("pauseRecurring", expectedVersion=7) == "version_conflict"
    act_on_recurring(registered, "pauseRecurring", found)
    assert refused("resumeRecurring", expectedVersion=7, missed="make") == "version_conflict"
    act_on_recurring(registered, "endRecurring", found)
    assert refused("endRecurring") == "invalid_state"
