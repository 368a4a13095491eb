"""Mails to clients: what became of each, and once more what did not arrive."""

from typing import Any

import pytest

from gatewayd.areas.accounting import mails
from gatewayd.areas.accounting.mails import GetMail
from gatewayd.clock import DAY, Instant
from gatewayd.errors import Problem
from gatewayd.mail import outbox
from gatewayd.mail.outbox import Attempt
from tests.areas.accounting.books import LINE, Books, Json
from tests.mail.harness import new_mail

_END = """
UPDATE mails SET status = :status, due_at = NULL, completed_at = :now, attempts = 1, last_code = 550,
    last_error = :why, last_attempt_at = :now
WHERE id = :id
"""
WHY = "No such mailbox."


def sent(books: Books, address: str = "accounts@harbour.example") -> tuple[Json, str]:
    """An invoice that was sent, and the id of its mail."""
    made = books.invoice(clientId=books.client(email=address))
    return made, str(books.post("sendInvoice", invoiceId=made["id"])["mails"][0]["id"])


def offered(books: Books) -> tuple[Json, str]:
    """A quote that was sent, and the id of its mail."""
    made = books.post("createQuote", clientId=books.client(email="ann@ash.example"), lines=[LINE])
    return made, str(books.post("sendQuote", quoteId=made["id"], issue=True)["mails"][0]["id"])


def end(books: Books, mail_id: str, status: str = "bounced") -> None:
    """It is given up after an attempt."""

    def work(tx: Any) -> None:
        tx.run(_END, id=mail_id, status=status, why=WHY)
        outbox.insert_attempts(tx, [(mail_id, Attempt(1, Instant(tx.now), 41, "bounced", 550, WHY))])

    books.store.write(work)


def ids(books: Books, query: str = "") -> list[str]:
    return [each["id"] for each in books.walk("listMails", query)]


def refused(books: Books, mail_id: str) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post("resendMail", mailId=mail_id)
    return caught.value


def test_mails_to_clients_are_listed_newest_first(registered: Books) -> None:
    made, first = sent(registered)
    quote, second = offered(registered)
    [latest, older] = registered.walk("listMails", "limit=1")
    assert (latest["id"], latest["kind"], latest["paperId"]) == (second, "quote", quote["id"])
    assert (older["id"], older["kind"], older["paperId"]) == (first, "invoice", made["id"])
    assert (older["recipient"], older["subject"]) == ("accounts@harbour.example", "Invoice INV-000001 from Oak")
    assert (older["status"], older["attempts"], older["nextAttemptAt"]) == ("queued", 0, older["createdAt"])
    assert (older["lastError"], older["lastCode"], older["completedAt"]) == (None, None, None)
    assert older["canBeResent"] is False


def test_mails_are_sought_by_state_kind_paper_and_address(registered: Books) -> None:
    made, first = sent(registered)
    _, second = offered(registered)
    end(registered, first)
    assert ids(registered, "status=bounced") == [first]
    assert ids(registered, "status=queued") == [second]
    assert ids(registered, "status=failed") == []
    assert ids(registered, "kind=quote") == [second]
    assert ids(registered, "kind=invoice_reminder") == []
    assert ids(registered, f"paperId={made['id']}") == [first]
    assert ids(registered, "recipient=ANN@ash.example") == [second]
    assert ids(registered, f"paperId={made['id']}&kind=quote") == []


def test_a_paper_that_there_is_not_is_no_filter(registered: Books) -> None:
    made, _ = sent(registered)
    for books, paper_id in ((registered, "inv_nowhere"), (Books(registered.store, "Birch Ltd"), made["id"])):
        with pytest.raises(Problem) as caught:
            books.get("listMails", f"paperId={paper_id}")
        assert [(each.path, each.code) for each in caught.value.errors] == [("paperId", "unknown_reference")]


def test_a_cursor_of_other_filters_is_refused(registered: Books) -> None:
    sent(registered), sent(registered)
    _, cursor = registered.get("listMails", "limit=1")
    with pytest.raises(Problem) as caught:
        registered.get("listMails", f"limit=1&status=queued&cursor={cursor}")
    assert caught.value.code == "invalid_cursor"


def test_neither_mails_of_people_nor_of_others_are_shown(registered: Books) -> None:
    _, theirs = sent(registered)
    other = Books(registered.store, "Birch Ltd")
    invitation = registered.store.write(
        lambda tx: outbox.queue(tx, new_mail("bob@example.com", registered.org_id, kind="invitation", about="inv_1"))
    )
    account = registered.store.write(lambda tx: outbox.queue(tx, new_mail("ann@example.com", about="usr_1")))
    end(registered, theirs)
    assert ids(registered) == [theirs]
    assert ids(other) == []
    for books, mail_id in ((registered, invitation), (registered, account), (other, theirs)):
        with pytest.raises(Problem) as caught:
            books.one("getMail", f"mailId={mail_id}")
        assert caught.value.code == "not_found"
        assert refused(books, mail_id).code == "not_found"
    assert registered.one("getMail", f"mailId={theirs}")["status"] == "bounced"


def test_a_mail_is_shown_with_its_attempts_and_not_with_what_it_says(registered: Books) -> None:
    _, mail_id = sent(registered)
    end(registered, mail_id)
    shown = registered.one("getMail", f"mailId={mail_id}")
    [attempt] = shown.pop("attemptLog")
    assert (attempt["number"], attempt["outcome"], attempt["code"], attempt["answer"]) == (1, "bounced", 550, WHY)
    assert attempt["durationMs"] == 41
    assert shown == registered.walk("listMails", "")[0]
    assert (shown["status"], shown["lastCode"], shown["lastError"]) == ("bounced", 550, WHY)
    assert (shown["canBeResent"], shown["nextAttemptAt"]) == (True, None)
    assert "/i/" not in str(shown)


@pytest.mark.parametrize("status", ["bounced", "failed"])
def test_what_was_given_up_is_sent_again(registered: Books, status: str) -> None:
    for _, mail_id in (sent(registered), offered(registered)):
        end(registered, mail_id, status)
        registered.store.clock.advance(DAY)
        registered.store.announced.clear()
        again = registered.post("resendMail", mailId=mail_id)
        assert (again["id"], again["status"], again["canBeResent"]) == (mail_id, "queued", False)
        assert again["nextAttemptAt"] == again["createdAt"]
        assert len(again["attemptLog"]) == 1
        assert outbox.TOPIC in registered.store.announced
        assert refused(registered, mail_id).code == "invalid_state"  # once is enough


def test_what_waits_or_was_sent_is_not_sent_again(registered: Books) -> None:
    _, mail_id = sent(registered)
    assert refused(registered, mail_id).code == "invalid_state"
    end(registered, mail_id, "sent")
    assert refused(registered, mail_id).code == "invalid_state"


def test_what_is_void_or_declined_is_not_sent_again(registered: Books) -> None:
    made, mail_id = sent(registered)
    quote, other = offered(registered)
    for each in (mail_id, other):
        end(registered, each)
    registered.post("voidInvoice", invoiceId=made["id"], reason="Wrong client")
    registered.post("declineQuote", quoteId=quote["id"])
    for each, state in ((mail_id, "void"), (other, "declined")):
        problem = refused(registered, each)
        assert (problem.code, state in problem.message) == ("invalid_state", True)


def test_what_it_says_must_be_kept(registered: Books) -> None:
    _, mail_id = sent(registered)
    end(registered, mail_id)
    registered.store.write(lambda tx: outbox.forget_letter(tx, mail_id))
    assert registered.one("getMail", f"mailId={mail_id}")["canBeResent"] is False
    problem = refused(registered, mail_id)
    assert (problem.code, "accounting.sendInvoice" in problem.message) == ("invalid_state", True)


def test_without_a_server_nothing_is_sent_again(registered: Books) -> None:
    _, mail_id = sent(registered)
    end(registered, mail_id)
    with pytest.raises(Problem) as caught:
        registered.store.write(
            lambda tx: mails.resend_mail(tx, registered.caller, GetMail(mail_id=mail_id), mailing=None),
            registered.org_id,
        )
    assert caught.value.code == "invalid_state"
    assert ids(registered, "status=bounced") == [mail_id]
