"""Sending: the mail with its cause, whom it goes to, what it says, and what became of it."""

from typing import Any

import msgspec
import pytest

from gatewayd.areas.accounting import handlers, sending
from gatewayd.areas.accounting.recurring import making
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.wire import Id
from gatewayd.errors import Problem
from gatewayd.identity.people import users
from gatewayd.ledger.calendar import period_locks
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.notices import Mailing
from tests.areas.accounting.books import LINE, OPERATIONS, Books, Json, fields_of
from tests.support.store import make_caller

MAILING = Mailing("https://books.example")
_LETTERS = "SELECT id, recipient, kind, about, org_id, letter_sealed FROM mails ORDER BY id"
_STATE = "UPDATE mails SET status = 'bounced', due_at = NULL, completed_at = 5, last_error = :why WHERE id = :id"


def letters(books: Books) -> list[tuple[str, Letter]]:
    """Each mail that waits: its recipient and what it says."""

    def read(tx: Any) -> list[tuple[str, Letter]]:
        found = []
        for id_, recipient, _, _, _, sealed in tx.rows(_LETTERS):
            letter = outbox.open_letter(tx, id_, sealed)
            assert letter is not None
            found.append((recipient, letter))
        return found

    return books.store.read(read)


def invoice(books: Books, client: Json | None = None, **fields: object) -> Json:
    """An issued one, to a client with an address of mail but for what `client` says."""
    given = {"email": "accounts@harbour.example", **(client or {})}
    return books.invoice(clientId=books.client(**given), **fields)


def send(books: Books, of: Json, **fields: object) -> Json:
    return books.post("sendInvoice", invoiceId=of["id"], **fields)


def refused(books: Books, operation: str, **fields: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **fields)
    return caught.value


def quote(books: Books, *, issued: bool = True, **fields: object) -> Json:
    client = books.client(email="accounts@harbour.example")
    made = books.post("createQuote", clientId=client, lines=[LINE], **fields)
    return books.post("issueQuote", quoteId=made["id"]) if issued else made


# -- an invoice


def test_an_invoice_is_mailed_and_marked_as_sent(registered: Books) -> None:
    made = invoice(registered)
    sent = send(registered, made)
    assert (sent["status"], sent["number"], sent["version"]) == ("sent", "INV-000001", 2)
    assert sent["link"].startswith("https://gatewayd.example/i/gwd_i_") or "/i/gwd_i_" in sent["link"]
    assert [(mail["recipient"], mail["status"], mail["attempts"]) for mail in sent["mails"]] == [
        ("accounts@harbour.example", "queued", 0)
    ]
    [(recipient, letter)] = letters(registered)
    assert recipient == "accounts@harbour.example"
    assert letter.subject == "Invoice INV-000001 from Oak"
    assert letter.paragraphs == ("Here is our invoice of 20 Nov 2026. Please pay £120.00 by 20 Dec 2026.",)
    assert letter.facts == (
        ("Number", "INV-000001"),
        ("Total", "£120.00"),
        ("To pay", "£120.00"),
        ("Pay by", "20 Dec 2026"),
    )
    assert letter.action is not None
    assert (letter.action.label, letter.action.url) == ("See the invoice", sent["link"])
    assert (letter.from_name, letter.to, letter.cc, letter.paper) == (
        "Oak",
        ("accounts@harbour.example",),
        (),
        made["id"],
    )
    shown = registered.one("getInvoice", f"invoiceId={made['id']}")
    assert (shown["status"], shown["sentAt"], shown["viewedAt"]) == ("sent", sent["sentAt"], None)
    again = registered.one("getSending", f"paperId={made['id']}")
    assert again == {**sent, "warnings": []}


def test_addresses_subject_and_message_are_the_firms_own(registered: Books) -> None:
    made = invoice(registered, {"ccEmails": ["books@harbour.example"]})
    to, cc = ["ann@harbour.example", "bob@harbour.example"], ["cat@harbour.example", "ann@harbour.example"]
    send(registered, made, to=to, cc=cc, subject="For the staircase", message="Dear Ann,\n\nThank you.", issue=True)
    found = letters(registered)
    assert [recipient for recipient, _ in found] == [
        "ann@harbour.example",
        "bob@harbour.example",
        "cat@harbour.example",
    ]
    assert {letter for _, letter in found} == {found[0][1]}
    letter = found[0][1]
    assert (letter.subject, letter.paragraphs) == ("For the staircase", ("Dear Ann,", "Thank you."))
    assert (letter.to, letter.cc) == (tuple(to), tuple(cc))


def test_the_clients_copies_go_with_its_own_address_alone(registered: Books) -> None:
    made = invoice(registered, {"ccEmails": ["books@harbour.example"]})
    send(registered, made)
    assert [recipient for recipient, _ in letters(registered)] == ["accounts@harbour.example", "books@harbour.example"]
    send(registered, made, to=["ann@harbour.example"])
    assert [recipient for recipient, _ in letters(registered)][2:] == ["ann@harbour.example"]


@pytest.mark.parametrize(
    "text", ["Hello\r\nBcc: eve@evil.example", "x\nContent-Type: text/html\n\n<script>", "\u2028Bcc: a@b\u202e"]
)
def test_no_text_makes_a_header(registered: Books, text: str) -> None:
    send(registered, invoice(registered), subject=text, message=text)
    [(_, letter)] = letters(registered)
    assert "\n" not in letter.subject + "".join(letter.paragraphs)
    assert "\r" not in letter.subject + "".join(letter.paragraphs)
    assert len(letters(registered)) == 1


@pytest.mark.parametrize(
    "address",
    ['"a b"@harbour.example', "a,b@harbour.example", "a>@harbour.example", "ann@not a host", "a@b@harbour.example"],
)
def test_what_is_no_address_is_refused(registered: Books, address: str) -> None:
    made = invoice(registered)
    with pytest.raises(Problem) as caught:
        send(registered, made, to=["ann@harbour.example"], cc=[address])
    assert [path.partition(".")[0] for path, _ in fields_of(caught.value)] in (["cc"], ["cc[0]"])
    assert letters(registered) == []
    assert registered.one("getInvoice", f"invoiceId={made['id']}")["status"] == "issued"


@pytest.mark.parametrize("address", ["ann@harbour.example\r\nBcc: eve@evil.example", "nobody", "", "a@b\n"])
def test_an_address_that_holds_more_is_refused_by_its_type(address: str) -> None:
    with pytest.raises(Problem) as caught:
        RequestDecoder(OPERATIONS["sendInvoice"]).body(msgspec.json.encode({"invoiceId": "inv_1", "to": [address]}))
    assert caught.value.code == "validation_failed"


def test_too_many_addresses_are_refused() -> None:
    decode = RequestDecoder(OPERATIONS["sendInvoice"]).body
    for name in ("to", "cc"):
        with pytest.raises(Problem):
            decode(msgspec.json.encode({"invoiceId": "inv_1", name: [f"a{n}@b.example" for n in range(6)]}))


def test_a_client_without_an_address_asks_for_one(registered: Books) -> None:
    made = invoice(registered, {"email": None})
    with pytest.raises(Problem) as caught:
        send(registered, made)
    assert fields_of(caught.value) == [("to", "required")]
    send(registered, made, to=["ann@harbour.example"])


def test_answers_go_to_the_seller_else_to_who_sends(registered: Books) -> None:
    made = invoice(registered)
    sent = send(registered, made)
    assert [warning["code"] for warning in sent["warnings"]] == ["reply_address_missing"]
    assert letters(registered)[0][1].reply_to == ""
    user_id = registered.store.user(registered.org_id)
    registered.caller = make_caller(registered.org_id, user_id=user_id)
    assert send(registered, made)["warnings"] == []
    own = registered.store.read(lambda tx: users.get(tx, user_id).email)
    assert letters(registered)[1][1].reply_to == own
    entity = registered.unregistered_entity(email="books@oak.example")
    client = registered.client(email="a@b.example")
    send(registered, registered.invoice(clientId=client, legalEntityId=entity))
    assert letters(registered)[2][1].reply_to == "books@oak.example"


def test_a_trading_name_is_what_the_client_knows(registered: Books) -> None:
    registered.post("setPaper", tradingName="Oak & Son")
    send(registered, invoice(registered))
    [(_, letter)] = letters(registered)
    assert (letter.subject, letter.from_name) == ("Invoice INV-000001 from Oak & Son", "Oak & Son")


def test_a_draft_is_refused_or_issued_first(registered: Books) -> None:
    made = invoice(registered, status="draft")
    problem = refused(registered, "sendInvoice", invoiceId=made["id"])
    assert (problem.code, "`issue`" in problem.message) == ("invalid_state", True)
    sent = send(registered, made, issue=True)
    assert (sent["number"], sent["status"]) == ("INV-000001", "sent")


def test_one_in_a_closed_period_is_not_issued(registered: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    made = invoice(registered, status="draft")

    def closed(*_: object, **__: object) -> list[tuple[str | None, str]]:
        return [(None, "closed")]

    monkeypatch.setattr(period_locks, "locks_on", closed)
    assert refused(registered, "sendInvoice", invoiceId=made["id"], issue=True).code == "period_closed"
    assert letters(registered) == []


def test_what_is_void_is_not_sent(registered: Books) -> None:
    made = invoice(registered)
    registered.post("voidInvoice", invoiceId=made["id"], reason="Wrong")
    assert refused(registered, "sendInvoice", invoiceId=made["id"]).code == "invalid_state"


def test_a_paid_one_is_sent_and_stays_paid(registered: Books) -> None:
    made = invoice(registered)
    registered.post("recordPayment", invoiceId=made["id"], amount="120.00")
    sent = send(registered, made)
    assert (sent["status"], sent["sentAt"] is not None) == ("paid", True)
    [(_, letter)] = letters(registered)
    assert letter.paragraphs == ("Here is our invoice of 20 Nov 2026.",)
    assert send(registered, made)["sentAt"] == sent["sentAt"]


def test_a_credit_note_asks_for_nothing(registered: Books) -> None:
    note = registered.credit(invoice(registered)["id"])
    send(registered, note)
    [(_, letter)] = letters(registered)
    assert letter.subject == "Credit note CN-000001 from Oak"
    assert [name for name, _ in letter.facts] == ["Number", "Total"]


def test_another_version_is_refused(registered: Books) -> None:
    made = invoice(registered)
    assert refused(registered, "sendInvoice", invoiceId=made["id"], expectedVersion=7).code == "version_conflict"
    assert refused(registered, "sendQuote", quoteId=quote(registered)["id"], expectedVersion=7).code == (
        "version_conflict"
    )


def test_without_a_server_it_is_refused_and_says_how(registered: Books) -> None:
    made, offered = invoice(registered), quote(registered)
    without = handlers("https://books.example", None)
    for name, request in (
        ("sendInvoice", sending.SendInvoice(invoice_id=Id(made["id"]))),
        ("sendQuote", sending.SendQuote(quote_id=Id(offered["id"]))),
    ):
        handler = without[f"accounting.{name}"]
        with pytest.raises(Problem) as caught:
            registered.store.write(lambda tx: handler(tx, registered.caller, request), registered.org_id)  # noqa: B023
        assert (caught.value.status, "`[mail]`" in caught.value.message) == (409, True)


def test_another_organization_finds_nothing(registered: Books) -> None:
    made, offered = invoice(registered), quote(registered)
    other = Books(registered.store, "Birch Ltd")
    assert refused(other, "sendInvoice", invoiceId=made["id"]).code == "not_found"
    assert refused(other, "sendQuote", quoteId=offered["id"]).code == "not_found"
    for paper in (made, offered):
        assert refused(other, "makeLink", paperId=paper["id"]).code == "not_found"
        with pytest.raises(Problem) as caught:
            other.one("getSending", f"paperId={paper['id']}")
        assert caught.value.code == "not_found"


def test_what_became_of_a_mail_is_told(registered: Books) -> None:
    made = invoice(registered)
    mail_id = send(registered, made)["mails"][0]["id"]
    registered.store.write(lambda tx: tx.run(_STATE, id=mail_id, why="No such mailbox."))
    [mail] = registered.one("getSending", f"paperId={made['id']}")["mails"]
    assert (mail["status"], mail["lastError"]) == ("bounced", "No such mailbox.")
    assert mail["completedAt"] is not None


# -- a quote


def test_a_quote_is_mailed_with_the_day_until_which_it_holds(registered: Books) -> None:
    made = quote(registered)
    sent = registered.post(
        "sendQuote", quoteId=made["id"], cc=["bob@harbour.example"], to=["ann@harbour.example"], subject="Our offer"
    )
    assert (sent["status"], sent["number"]) == ("sent", made["number"])
    (_, letter), (copy, _) = letters(registered)
    assert copy == "bob@harbour.example"
    assert letter.subject == "Our offer"
    assert letter.facts == (("Number", made["number"]), ("Total", "£120.00"), ("Holds until", "20 Dec 2026"))
    assert letter.paragraphs == ("Here is our quote. It holds until 20 Dec 2026.",)
    assert letter.paper == made["id"]


def test_a_draft_of_a_quote_is_issued_first_where_that_is_asked_for(registered: Books) -> None:
    made = quote(registered, issued=False)
    assert refused(registered, "sendQuote", quoteId=made["id"]).code == "invalid_state"
    sent = registered.post("sendQuote", quoteId=made["id"], issue=True, message="As we said.", expectedVersion=1)
    assert (sent["status"], letters(registered)[0][1].paragraphs) == ("sent", ("As we said.",))


def test_a_quote_that_was_declined_is_not_sent(registered: Books) -> None:
    made = quote(registered)
    registered.post("declineQuote", quoteId=made["id"])
    assert refused(registered, "sendQuote", quoteId=made["id"]).code == "invalid_state"


# -- links


def test_a_link_is_made_without_a_mail_and_replaced(registered: Books) -> None:
    made = registered.invoice()
    assert registered.one("getSending", f"paperId={made['id']}")["link"] is None
    first = registered.post("makeLink", paperId=made["id"])
    assert (first["status"], first["mails"]) == ("issued", [])
    assert registered.post("makeLink", paperId=made["id"])["link"] == first["link"]
    assert registered.post("makeLink", paperId=made["id"], replace=True)["link"] != first["link"]
    assert registered.post("makeLink", paperId=quote(registered)["id"])["link"] is not None


def test_the_link_of_another_version_is_not_made(registered: Books) -> None:
    made = registered.invoice()
    problem = refused(registered, "makeLink", paperId=made["id"], expectedVersion=made["version"] + 1)
    assert problem.code == "version_conflict"
    registered.post("makeLink", paperId=made["id"], expectedVersion=made["version"])


def test_a_draft_has_no_link(registered: Books) -> None:
    for made in (registered.invoice(status="draft"), quote(registered, issued=False)):
        assert refused(registered, "makeLink", paperId=made["id"]).code == "invalid_state"


# -- recurring ones


def recurring(books: Books, client: str) -> Json:
    return books.post(
        "createRecurring", clientId=client, lines=[LINE], startDate="2026-11-20", unit="month", makes="sent"
    )


def test_a_recurring_one_is_issued_and_mailed_at_once(registered: Books) -> None:
    made = recurring(registered, registered.client(email="a@harbour.example"))
    assert made["makes"] == "sent"
    assert registered.store.write(lambda tx: making.make(tx, made["id"], MAILING), registered.org_id)
    [(recipient, letter)] = letters(registered)
    [issued], _ = registered.get("listInvoices")
    assert (issued["status"], issued["recurringId"], letter.paper) == ("sent", made["id"], issued["id"])
    assert recipient == "a@harbour.example"


def test_what_cannot_be_sent_is_not_made_either(registered: Books) -> None:
    client = registered.client(email="a@harbour.example")
    made = recurring(registered, client)
    with pytest.raises(Problem) as without_server:
        registered.store.write(lambda tx: making.make(tx, made["id"], None), registered.org_id)
    assert without_server.value.code == "invalid_state"
    registered.post("updateClient", clientId=client, email=None)
    with pytest.raises(Problem) as without_address:
        registered.store.write(lambda tx: making.make(tx, made["id"], MAILING), registered.org_id)
    assert fields_of(without_address.value) == [("to", "required")]
    assert registered.get("listInvoices")[0] == []
    assert letters(registered) == []


def test_a_recurring_one_to_nobody_is_refused(registered: Books) -> None:
    with pytest.raises(Problem) as caught:
        recurring(registered, registered.client())
    assert fields_of(caught.value) == [("makes", "conflict")]
