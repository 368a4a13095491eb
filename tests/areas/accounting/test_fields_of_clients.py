"""Each field of a billing client: kept as it was given, changed alone, and taken with an invoice that makes one."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, Books
from tests.areas.changes import expect_change

ADDRESS = {
    "line1": "4 Quay Street",
    "line2": "Unit 7",
    "town": "Bristol",
    "county": "Avon",
    "postcode": "BS1 4SB",
    "countryCode": "GB",
}
WHOLE = {
    "name": "Harbour Council",
    "kind": "public_body",
    "contactName": "Ann",
    "email": "ann@harbour.example",
    "ccEmails": ["bob@harbour.example", "cy@harbour.example"],
    "phone": "0117 000000",
    "billingAddress": ADDRESS,
    "companyNumber": "01234567",
    "countryCode": "IE",
    "currency": "EUR",
    "paymentTermsDays": 14,
    "defaultVatTreatment": "reduced",
    "cisContractor": True,
    "endUser": True,
    "language": "ga-IE",
    "notes": "Quay entrance",
    "reminders": False,
    "externalId": "crm-7",
}
CHANGES: dict[str, object] = {
    "kind": "person",
    "contactName": "Bob",
    "email": "bob@harbour.example",
    "ccEmails": ["dee@harbour.example"],
    "billingAddress": {**ADDRESS, "line1": "5", "line2": "B", "town": "Bath", "county": "Kent", "postcode": "BA1 1AA"},
    "currency": "USD",
    "language": "fr",
    "phone": None,
    "reminders": True,
    "notes": None,
}


def test_a_client_is_kept_as_it_was_given(books: Books) -> None:
    client = books.post("createClient", **WHOLE)
    assert {name: client[name] for name in WHOLE} == WHOLE
    assert books.one("getClient", f"clientId={client['id']}") == client


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_changes_alone(books: Books, name: str) -> None:
    before = books.post("createClient", **WHOLE)
    after = books.post("updateClient", clientId=before["id"], **{name: CHANGES[name]})
    balances = {**before["balances"], "currency": after["currency"]}
    expect_change(before, after, **{name: CHANGES[name]}, balances=balances)
    assert books.one("getClient", f"clientId={before['id']}") == after


def test_an_invoice_makes_its_client_of_every_field(books: Books) -> None:
    made = books.post("createInvoice", client=WHOLE, lines=[LINE], status="draft")
    client = books.one("getClient", f"clientId={made['clientId']}")
    assert {name: client[name] for name in WHOLE} == WHOLE


def test_an_invoice_makes_a_client_by_the_other_name_of_a_contractor(books: Books) -> None:
    made = books.post("createInvoice", client={"name": "Ann", "cisRegistered": True}, lines=[LINE])
    assert books.one("getClient", f"clientId={made['clientId']}")["cisContractor"] is True


def test_an_invoice_makes_no_second_client_of_an_external_id(books: Books) -> None:
    books.post("createClient", **WHOLE)
    with pytest.raises(Problem) as caught:
        books.post("createInvoice", client={"name": "Other", "externalId": "crm-7"}, lines=[LINE])
    assert caught.value.code == "already_exists"
