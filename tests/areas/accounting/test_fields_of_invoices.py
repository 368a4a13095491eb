"""What a draft is changed to: the account it is paid to, and categories, properties and credits of its lines."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, Json, fields_of, lines
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.ledger.bank_books import insert_account
from tests.ledger.lets import insert_property
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def changed(books: LedgerBooks, draft: Json, **fields: object) -> Json:
    books.post("updateInvoice", invoiceId=draft["id"], **fields)
    return books.one("getInvoice", f"invoiceId={draft['id']}")


def test_the_account_that_a_draft_is_paid_to(books: LedgerBooks) -> None:
    owner = books.entity()
    first, second = (books.write(lambda tx: insert_account(tx, owner)) for _ in range(2))
    draft = books.invoice(status="draft", legalEntityId=owner, bankAccountId=first)
    assert draft["bankAccountId"] == first
    assert changed(books, draft, bankAccountId=second)["bankAccountId"] == second
    assert changed(books, draft, bankAccountId=None)["bankAccountId"] is None
    with pytest.raises(Problem) as caught:
        changed(books, draft, bankAccountId="bac_1")
    assert fields_of(caught.value) == [("bankAccountId", "unknown_reference")]


def test_the_category_of_a_line(books: LedgerBooks) -> None:
    trade = books.trade(books.entity())
    draft = books.invoice(status="draft", businessId=trade, lines=lines({"category": "turnover"}))
    other = changed(books, draft, lines=lines({"category": "otherIncome"}, {}))
    assert [line["category"] for line in other["lines"]] == ["otherIncome", None]


def test_the_property_of_a_line(books: LedgerBooks) -> None:
    lets = books.trade(books.unregistered_entity(), type="uk_property", name="Lets")
    house, other = (books.write(lambda tx: insert_property(tx, lets)) for _ in range(2))
    draft = books.invoice(status="draft", lines=lines({"propertyId": house}))
    after = changed(books, draft, lines=lines({"propertyId": other}, {}))
    assert [line["propertyId"] for line in after["lines"]] == [other, None]
    with pytest.raises(Problem) as caught:
        changed(books, draft, lines=lines({"propertyId": "prop_1"}))
    assert fields_of(caught.value) == [("lines[0].propertyId", "unknown_reference")]


def test_the_line_that_a_credit_note_takes_back(books: LedgerBooks) -> None:
    books.entity()
    invoice = books.invoice(lines=[{**LINE, "unitPrice": "10.00"}, {**LINE, "unitPrice": "7.00", "quantity": "3"}])
    draft = books.credit(invoice["id"], status="draft", lines=[{"creditsLine": 1}])
    after = changed(books, draft, lines=[{"creditsLine": 2, "quantity": "2"}])
    (line,) = after["lines"]
    assert (line["creditsLine"], line["quantity"], line["unitPrice"]) == (2, "2", "7.00")
    with pytest.raises(Problem) as caught:
        changed(books, draft, lines=[{"creditsLine": 3}])
    assert fields_of(caught.value)[0][0] == "lines[0].creditsLine"
