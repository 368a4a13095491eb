"""Statements of account by mail: of which days, what the letter says, and whom it goes to."""

import pytest

from gatewayd.areas.accounting import handlers
from gatewayd.areas.accounting.receivables import letterhead
from gatewayd.areas.accounting.receivables.shapes import GetStatement
from gatewayd.areas.accounting.statement_sending import SendStatement
from gatewayd.contract.wire import Id
from gatewayd.errors import Problem
from gatewayd.mail.letters import Letter
from tests.areas.accounting.books import Books, Json, fields_of
from tests.areas.accounting.test_sending import letters, refused

ACCOUNTS = "accounts@harbour.example"


def client_of(books: Books, **fields: object) -> str:
    return books.client(**{"name": "Harbour Ltd", "email": ACCOUNTS, **fields})


def sold(books: Books, client: str, amount: str, on: str, **fields: object) -> Json:
    line = {"description": "Joinery", "unitPrice": amount, "vatCode": "exempt"}
    return books.invoice(clientId=client, issueDate=on, supplyDate=on, lines=[line], **fields)


def send(books: Books, client: str, **fields: object) -> Json:
    return books.post("sendStatement", clientId=client, **fields)


def statement_in(letter: Letter) -> GetStatement:
    """The statement that goes with it."""
    told = letterhead.statement_named(letter.paper)
    assert told is not None
    return told


def days_of(letter: Letter) -> tuple[str, str]:
    told = statement_in(letter)
    return str(told.from_date), str(told.to_date)


def wrong(books: Books, client: str, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        send(books, client, **fields)
    assert letters(books) == []
    return fields_of(caught.value)


def test_a_statement_is_mailed_of_days_that_are_fixed(registered: Books) -> None:
    client = client_of(registered)
    sold(registered, client, "1200", "2026-09-01", dueDate="2026-09-30")
    sold(registered, client, "34.50", "2026-11-02", dueDate="2026-12-02")
    sent = send(registered, client)
    assert (sent["clientId"], sent["kind"], sent["fromDate"], sent["toDate"]) == (
        client,
        "activity",
        "2026-10-01",
        "2026-11-20",
    )
    assert [(mail["recipient"], mail["status"]) for mail in sent["mails"]] == [(ACCOUNTS, "queued")]
    assert [warning["code"] for warning in sent["warnings"]] == ["reply_address_missing"]
    [(recipient, letter)] = letters(registered)
    assert (recipient, letter.to, letter.from_name, letter.action) == (ACCOUNTS, (ACCOUNTS,), "Oak", None)
    assert letter.subject == "Statement of account, 1 Oct 2026 to 20 Nov 2026, from Oak"
    assert letter.paragraphs == ("Here is your statement of account from 1 Oct 2026 to 20 Nov 2026.",)
    assert letter.facts == (
        ("Statement", "1 Oct 2026 to 20 Nov 2026"),
        ("Balance", "£1,234.50"),
        ("Overdue", "£1,200.00"),
    )
    told = statement_in(letter)
    assert (told.client_id, told.kind, days_of(letter)) == (client, "activity", ("2026-10-01", "2026-11-20"))


def test_days_kind_currency_and_seller_are_as_asked(registered: Books) -> None:
    client = client_of(registered)
    entity = registered.unregistered_entity(email="books@birch.example")
    sold(registered, client, "10", "2026-08-03", legalEntityId=entity)
    given = {"currency": "GBP", "legalEntityId": entity}
    sent = send(registered, client, fromDate="2026-08-01", toDate="2026-08-31", **given)
    assert (sent["fromDate"], sent["toDate"], sent["warnings"]) == ("2026-08-01", "2026-08-31", [])
    send(registered, client, kind="outstanding", **given)
    (_, of_days), (_, of_open) = letters(registered)
    assert of_days.reply_to == "books@birch.example"
    assert days_of(of_days) == ("2026-08-01", "2026-08-31")
    told = statement_in(of_open)
    assert (told.kind, told.currency, told.legal_entity_id) == ("outstanding", "GBP", entity)
    assert days_of(of_open) == ("None", "2026-11-20")
    assert of_open.paragraphs == ("Here is what is open on your account on 20 Nov 2026.",)
    assert of_open.facts[0] == ("Statement", "20 Nov 2026")


def test_what_a_client_has_in_hand_is_in_its_favour(registered: Books) -> None:
    client = client_of(registered)
    made = sold(registered, client, "10", "2026-11-01")
    registered.post("recordPayment", invoiceId=made["id"], amount="15", date="2026-11-05")
    send(registered, client)
    send(registered, client, toDate="2026-01-01")
    assert [letter.facts[1:] for _, letter in letters(registered)] == [
        (("In your favour", "£5.00"),),
        (("Balance", "Nothing is owed"),),
    ]


def test_addresses_subject_and_message_are_the_firms_own(registered: Books) -> None:
    client = client_of(registered, ccEmails=["books@harbour.example"])
    sent = send(registered, client)
    assert [mail["recipient"] for mail in sent["mails"]] == ["books@harbour.example", ACCOUNTS]
    own = {
        "to": ["ann@harbour.example"],
        "cc": ["bob@harbour.example"],
        "subject": "Yours",
        "message": "Dear Ann,\n\nHi.",
    }
    assert len(send(registered, client, **own)["mails"]) == 4
    recipients, written = zip(*letters(registered)[2:], strict=True)
    assert recipients == ("ann@harbour.example", "bob@harbour.example")
    assert {(letter.subject, letter.paragraphs, letter.cc) for letter in written} == {
        ("Yours", ("Dear Ann,", "Hi."), ("bob@harbour.example",))
    }


def test_what_cannot_be_sent_is_refused_and_nothing_is_written(registered: Books) -> None:
    client = client_of(registered, email=None)
    assert wrong(registered, client) == [("to", "required")]
    to = {"to": [ACCOUNTS]}
    assert wrong(registered, client, fromDate="2026-11-02", toDate="2026-11-01", **to) == [("toDate", "date_order")]
    assert wrong(registered, client, kind="outstanding", fromDate="2026-11-02", **to) == [("fromDate", "conflict")]
    unknown = {"legalEntityId": "ent_01k00000000000000000000000"}
    assert wrong(registered, client, **unknown, **to) == [("legalEntityId", "unknown_reference")]
    registered.unregistered_entity()
    assert wrong(registered, client, **to) == [("legalEntityId", "required")]
    assert refused(registered, "sendStatement", clientId=client, expectedVersion=7, **to).code == "version_conflict"


def test_another_organization_finds_nothing(registered: Books) -> None:
    other = Books(registered.store, "Birch Ltd")
    assert refused(other, "sendStatement", clientId=client_of(registered)).code == "not_found"


def test_without_a_server_it_is_refused_and_says_how(registered: Books) -> None:
    request = SendStatement(client_id=Id(client_of(registered)))
    handler = handlers("https://books.example", None)["accounting.sendStatement"]
    with pytest.raises(Problem) as caught:
        registered.store.write(lambda tx: handler(tx, registered.caller, request), registered.org_id)
    assert (caught.value.status, caught.value.code) == (409, "invalid_state")
    assert "`[mail]`" in caught.value.message
    assert "`accounting.getStatementPdf`" in caught.value.message


def test_papers_of_invoices_name_no_statement() -> None:
    assert letterhead.statement_named("inv_01k0000000000000000000000c") is None
