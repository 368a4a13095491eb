"""Reminders of invoices: the schedule, what is written on which day, and what holds one back or takes it back."""

import pytest

from gatewayd import catalogue
from gatewayd.areas.accounting.reminders import rows, writing
from gatewayd.clock import HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.mail import claims, outbox
from gatewayd.mail.claims import Room
from gatewayd.outbound.transport import Policy
from gatewayd.store import WriteTx
from tests.areas.accounting.books import fields_of
from tests.areas.accounting.reminding import EMAIL, ISSUER, RemindingBooks
from tests.mail.harness import mail_settings
from tests.support.store import MemoryStore

SPENT = ("2026-12-04", "2026-12-11", "2026-12-18")
"""The due date, and a week and two weeks after it; all three are Fridays."""


@pytest.fixture
def books(store: MemoryStore) -> RemindingBooks:
    return RemindingBooks(store)


def refused(books: RemindingBooks, operation: str, **fields: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **fields)
    return caught.value


# -- the schedule


def test_who_has_set_nothing_reminds_nobody_and_is_shown_a_proposal(books: RemindingBooks) -> None:
    proposed = books.one("getReminderSchedule", "")
    assert (proposed["enabled"], proposed["version"], proposed["warnings"]) == (False, 0, [])
    assert [(rung["days"], rung["subject"], rung["text"]) for rung in proposed["rungs"]] == [
        (7, None, None),
        (14, None, None),
        (30, None, None),
    ]
    invoice = books.sent()
    books.on(*SPENT)
    assert (books.mails(), books.of(invoice)["nextDate"]) == ([], None)


def test_what_is_set_is_shown_and_what_is_absent_stays(books: RemindingBooks) -> None:
    rungs = [{"days": 14, "subject": "Pay {number}", "text": "Dear {client},\n\n{balance}: {link}"}, {"days": -3}]
    first = books.post("setReminderSchedule", rungs=rungs)
    assert (first["enabled"], first["version"]) == (False, 1)
    assert first["rungs"] == [
        {"days": -3, "subject": None, "text": None, "since": "2026-11-20"},
        {**rungs[0], "since": "2026-11-20"},
    ]
    second = books.post("setReminderSchedule", enabled=True, expectedVersion=1)
    assert (second["enabled"], second["version"], second["rungs"]) == (True, 2, first["rungs"])
    assert books.one("getReminderSchedule", "") == second


def test_a_rung_holds_from_the_day_on_which_it_was_set_or_all_were_switched_on(books: RemindingBooks) -> None:
    def since() -> dict[int, str]:
        return {rung["days"]: rung["since"] for rung in books.one("getReminderSchedule", "")["rungs"]}

    books.remind(7)
    books.at("2026-11-23T12:00:00Z")
    books.remind(7, 14, text="Other words")
    assert since() == {7: "2026-11-20", 14: "2026-11-23"}
    books.at("2026-11-24T12:00:00Z")
    books.post("setReminderSchedule", enabled=False)
    books.at("2026-11-25T12:00:00Z")
    books.post("setReminderSchedule", enabled=True)
    assert since() == {7: "2026-11-25", 14: "2026-11-25"}


def test_a_version_that_is_not_expected(books: RemindingBooks) -> None:
    assert refused(books, "setReminderSchedule", enabled=True, expectedVersion=1).code == "version_conflict"
    books.remind(7)
    assert refused(books, "setReminderSchedule", enabled=False, expectedVersion=2).code == "version_conflict"


@pytest.mark.parametrize(
    ("rungs", "wrong"),
    [
        ([{"days": 7}, {"days": 7}], [("rungs[1].days", "conflict")]),
        ([{"days": 7, "subject": "{amount}"}], [("rungs[0].subject", "invalid_format")]),
        ([{"days": 7, "text": "Dear {client"}], [("rungs[0].text", "invalid_format")]),
        ([{"days": 7, "text": "100} and {}"}], [("rungs[0].text", "invalid_format")]),
        ([{"days": 7, "text": "{client.name}"}], [("rungs[0].text", "invalid_format")]),
        ([{"days": -31}], [("rungs[0].days", "out_of_range")]),
        ([{"days": 121}], [("rungs[0].days", "out_of_range")]),
        ([], [("rungs", "out_of_range")]),
        ([{"days": each} for each in range(6)], [("rungs", "out_of_range")]),
    ],
)
def test_a_schedule_that_cannot_be(books: RemindingBooks, rungs: object, wrong: list[tuple[str, str]]) -> None:
    assert fields_of(refused(books, "setReminderSchedule", rungs=rungs)) == wrong


def test_a_server_without_mail_says_that_nobody_is_reminded(books: RemindingBooks) -> None:
    offered = catalogue.build(Policy(), 1, 1, sends_mail=False).operations
    books.operations = {each.id.partition(".")[2]: each for each in offered if each.area == "accounting"}  # type: ignore[misc]
    for shown in (books.one("getReminderSchedule", ""), books.remind(7)):
        assert [(warning["path"], warning["code"]) for warning in shown["warnings"]] == [("enabled", "mail_not_set")]


# -- what is written


def test_each_rung_is_written_once_on_its_day(books: RemindingBooks) -> None:
    books.remind(0, 7, 14)
    invoice = books.sent()
    assert books.of(invoice)["nextDate"] == "2026-12-04"
    books.on("2026-12-03", "2026-12-04", "2026-12-04", "2026-12-10", "2026-12-11", "2026-12-18", "2027-03-01")
    assert books.done(invoice) == [(days, "written", None, date) for days, date in zip((0, 7, 14), SPENT, strict=True)]
    assert [mail.recipient for mail in books.mails()] == [EMAIL] * 3
    assert books.of(invoice)["nextDate"] is None


def test_a_letter_says_what_is_owed_in_our_words_and_leads_to_the_invoice(books: RemindingBooks) -> None:
    books.remind(-1, 0, 7)
    invoice = books.sent()
    books.on("2026-12-03", *SPENT[:2])
    before, on, after = (books.letter(mail) for mail in books.mails())
    number = invoice["number"]
    assert [letter.subject for letter in (before, on, after)] == [
        f"Invoice {number} is due on 4 Dec 2026",
        f"Invoice {number} is due today",
        f"Invoice {number} is overdue",
    ]
    assert "£100.00 is to be paid by then" in before.paragraphs[0]
    assert "is due today, 4 Dec 2026" in on.paragraphs[0]
    assert "was due on 4 Dec 2026, and £100.00 is still to be paid" in after.paragraphs[0]
    assert dict(after.facts) == {"Number": number, "To pay": "£100.00", "Pay by": "4 Dec 2026"}
    assert (after.from_name, after.reply_to, after.to, after.cc) == ("Oak Ltd", "", (EMAIL,), ())
    assert after.paper == invoice["id"], "the PDF goes with it"
    assert after.action is not None
    assert after.action.url.startswith(f"{ISSUER}/i/")
    assert before.action == after.action, "the same address each time"
    assert number in after.reason


def test_words_of_the_firm_are_filled_in_once_and_make_no_lines_of_their_own(books: RemindingBooks) -> None:
    books.remind(7, subject="{client} owes {balance}", text="Dear {client},\n\n{number} was due on {dueDate}.\n{link}")
    client = books.client("{link}\nBcc: eve@example.com", email=EMAIL)
    invoice = books.sent(clientId=client)
    books.post("recordPayment", invoiceId=invoice["id"], amount="40.00", date="2026-11-20")
    books.on(SPENT[1])
    (mail,) = books.mails()
    letter = books.letter(mail)
    assert mail.subject == "{link} Bcc: eve@example.com owes £60.00"
    assert letter.action is not None
    assert letter.paragraphs == (
        "Dear {link}",
        "Bcc: eve@example.com,",
        f"{invoice['number']} was due on 4 Dec 2026.",
        letter.action.url,
    )


def test_answers_go_to_the_seller_under_the_name_that_it_trades_by(books: RemindingBooks) -> None:
    entity = books.entity(email="ann@oak.example")
    books.post("setPaper", legalEntityId=entity, tradingName="Oak & Son", owners="Ann Oak, 1 Mill Lane")
    books.remind(7)
    books.sent(legalEntityId=entity)
    books.on(SPENT[1])
    letter = books.letter(books.mails()[0])
    assert (letter.from_name, letter.reply_to) == ("Oak & Son", "ann@oak.example")
    assert "Oak & Son" in letter.reason


def test_copies_go_to_whom_the_client_names_and_to_each_address_once(books: RemindingBooks) -> None:
    books.remind(7)
    client = books.client(email=EMAIL, ccEmails=["boss@harbour.example", EMAIL.upper(), "boss@harbour.example"])
    invoice = books.sent(clientId=client)
    books.on(SPENT[1])
    assert [mail.recipient for mail in books.mails()] == [EMAIL, "boss@harbour.example"]
    (reminder,) = books.of(invoice)["reminders"]
    assert reminder["mails"] == [
        {"recipient": EMAIL, "status": "queued"},
        {"recipient": "boss@harbour.example", "status": "queued"},
    ]


def test_the_address_is_that_which_the_client_has_by_then(books: RemindingBooks) -> None:
    books.remind(7)
    client = books.client(email=EMAIL)
    books.sent(clientId=client)
    books.post("updateClient", clientId=client, email="new@harbour.example")
    books.on(SPENT[1])
    assert [mail.recipient for mail in books.mails()] == ["new@harbour.example"]


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        ("2026-12-11T07:59:59Z", False),
        ("2026-12-11T08:00:00Z", True),
        ("2026-12-11T17:59:59Z", True),
        ("2026-12-11T18:00:00Z", False),
        ("2026-12-12T12:00:00Z", False),
        ("2026-12-13T12:00:00Z", False),
        ("2026-12-14T08:00:00Z", True),
    ],
)
def test_it_is_written_in_working_hours(books: RemindingBooks, moment: str, written: bool) -> None:
    books.remind(7)
    books.sent()
    books.at(moment)
    books.round()
    assert bool(books.mails()) is written


def test_hours_are_londons(books: RemindingBooks) -> None:
    """Eight in the morning of a summer's day is seven in UTC."""
    books.at("2027-06-01T12:00:00Z")
    books.remind(0)
    books.sent(issueDate="2027-06-01", dueDate="2027-06-15")
    books.at("2027-06-15T06:59:59Z")
    books.round()
    assert books.mails() == []
    books.at("2027-06-15T07:00:00Z")
    books.round()
    assert len(books.mails()) == 1


def test_the_next_day_is_shown_and_a_weekend_stands_for_monday(books: RemindingBooks) -> None:
    books.remind(1, 14)  # a Saturday, and a Friday
    invoice = books.sent()
    assert books.of(invoice)["nextDate"] == "2026-12-07"
    books.on("2026-12-05", "2026-12-07")
    assert books.done(invoice) == [(1, "written", None, "2026-12-07")]
    assert books.of(invoice)["nextDate"] == "2026-12-18"


def test_after_downtime_the_latest_alone_is_written(books: RemindingBooks) -> None:
    books.remind(-2, 0, 7, 14)
    invoice = books.sent()
    books.on("2026-12-23")
    assert books.done(invoice) == [
        (-2, "skipped", "past_due", "2026-12-23"),
        (0, "skipped", "overtaken", "2026-12-23"),
        (7, "skipped", "overtaken", "2026-12-23"),
        (14, "written", None, "2026-12-23"),
    ]
    assert len(books.mails()) == 1


def test_nobody_is_reminded_on_the_day_on_which_the_invoice_came(books: RemindingBooks) -> None:
    books.remind(-14, 0, 7)
    invoice = books.sent()  # its first rung is today
    books.round()
    assert books.done(invoice) == [(-14, "skipped", "before_sending", "2026-11-20")]
    assert books.mails() == []


def test_two_reminders_never_go_out_on_one_day(books: RemindingBooks) -> None:
    books.remind(4)
    invoice = books.sent()
    books.on("2026-12-08")
    books.remind(3, 4)  # Monday's is of the past
    books.on("2026-12-09")
    books.remind(4, 5)
    books.at("2026-12-09T13:00:00Z")
    books.remind(4, 5, 6)
    books.round()
    assert len(books.mails()) == 2
    books.on("2026-12-10")
    assert [(days, date) for days, status, _, date in books.done(invoice) if status == "written"] == [
        (4, "2026-12-08"),
        (5, "2026-12-09"),
        (6, "2026-12-10"),
    ]


def test_a_second_one_of_a_day_waits_for_the_next(books: RemindingBooks) -> None:
    books.remind(1)
    invoice = books.sent()
    books.on("2026-12-07")  # Monday, of the Saturday
    books.remind(1, 3)
    books.round()
    assert len(books.mails()) == 1
    books.on("2026-12-08")
    assert [each[:2] for each in books.done(invoice)] == [(1, "written"), (3, "written")]
    assert books.done(invoice)[1][3] == "2026-12-08"


def test_who_switches_it_on_reminds_nobody_of_last_year(books: RemindingBooks) -> None:
    old = books.sent(issueDate="2025-01-02", dueDate="2025-02-01")
    recent = books.sent(dueDate="2026-11-23")
    books.at("2026-12-01T09:00:00Z")
    books.remind(7, 14)
    books.on("2026-12-01", "2026-12-07")
    assert books.done(old) == []
    assert books.done(recent) == [(14, "written", None, "2026-12-07")]


def test_a_rung_that_is_taken_out_and_set_again_is_written_no_second_time(books: RemindingBooks) -> None:
    books.remind(4)
    invoice = books.sent()
    books.on("2026-12-08")
    books.remind(9)
    books.remind(4)
    books.on("2026-12-09", "2026-12-10")
    assert books.done(invoice) == [(4, "written", None, "2026-12-08")]


# -- what holds one back


def test_drafts_what_was_never_sent_and_what_is_settled_are_not_reminded_of(books: RemindingBooks) -> None:
    books.remind(0, 7, 14)
    client = books.client(email=EMAIL)
    of = {"clientId": client, "issueDate": "2026-11-20", "dueDate": "2026-12-04"}
    others = [books.invoice(**of, status="draft"), books.invoice(**of)]
    unsent = books.invoice(**of)
    books.post("recordPayment", invoiceId=unsent["id"], amount="10.00", date="2026-11-20")
    paid, credited, void = (books.sent(clientId=client) for _ in range(3))
    books.post("recordPayment", invoiceId=paid["id"], amount="100.00", date="2026-11-20")
    note = books.credit(credited["id"])
    books.post("voidInvoice", invoiceId=void["id"], reason="By mistake")
    books.on(*SPENT)
    for invoice in (*others, unsent, paid, credited, note, void):
        assert (books.done(invoice), books.of(invoice)["nextDate"]) == ([], None)
    assert books.mails() == []


def test_a_payment_that_bounces_lets_the_reminders_go_on(books: RemindingBooks) -> None:
    books.remind(0, 7, 14)
    invoice = books.sent()
    books.post("recordPayment", invoiceId=invoice["id"], amount="100.00", date="2026-11-20")
    books.on(*SPENT[:2])
    books.post("removePayment", invoiceId=invoice["id"], position=1)
    books.on("2026-12-15", SPENT[2])
    assert books.done(invoice) == [
        (0, "skipped", "overtaken", "2026-12-15"),
        (7, "written", None, "2026-12-15"),
        (14, "written", None, "2026-12-18"),
    ]


def test_an_invoice_that_is_stopped_is_left_out_until_it_goes_on(books: RemindingBooks) -> None:
    books.remind(0, 7, 14)
    invoice = books.sent()
    stopped = books.post("updateInvoiceReminders", invoiceId=invoice["id"], enabled=False)
    assert (stopped["enabled"], stopped["nextDate"]) == (False, None)
    assert books.post("updateInvoiceReminders", invoiceId=invoice["id"], enabled=False) == stopped
    books.on(*SPENT[:2])
    again = books.post("updateInvoiceReminders", invoiceId=invoice["id"], enabled=True)
    assert (again["enabled"], again["nextDate"]) == (True, "2026-12-18")
    books.on(SPENT[2])
    assert [each[:3] for each in books.done(invoice)] == [
        (0, "skipped", "stopped"),
        (7, "skipped", "stopped"),
        (14, "written", None),
    ]


def test_a_draft_may_be_stopped_before_it_is_issued_and_changes_or_goes_nevertheless(books: RemindingBooks) -> None:
    draft, gone = (books.invoice(status="draft", clientId=books.client()) for _ in range(2))
    for each in (draft, gone):
        books.post("updateInvoiceReminders", invoiceId=each["id"], enabled=False)
    books.post("updateInvoice", invoiceId=draft["id"], notes="Changed")
    books.post("deleteInvoice", invoiceId=gone["id"])
    assert books.of(draft)["enabled"] is False
    left = books.store.read(lambda tx: tx.rows("SELECT invoice_id FROM reminder_stops"))
    assert left == [(draft["id"],)]


def test_a_client_that_is_not_to_be_reminded_is_not(books: RemindingBooks) -> None:
    books.remind(0, 7)
    client = books.client(email=EMAIL, reminders=False)
    invoice = books.sent(clientId=client)
    assert books.of(invoice)["nextDate"] is None
    books.on(SPENT[0])
    assert books.post("updateClient", clientId=client, reminders=True)["reminders"] is True
    books.on(SPENT[1])
    assert [each[:3] for each in books.done(invoice)] == [(0, "skipped", "client_stopped"), (7, "written", None)]


def test_a_client_without_an_address_is_left_out(books: RemindingBooks) -> None:
    books.remind(7)
    invoice = books.sent(clientId=books.client(ccEmails=["boss@harbour.example"]))
    assert books.of(invoice)["nextDate"] is None
    books.on(SPENT[1])
    assert books.done(invoice) == [(7, "skipped", "no_address", SPENT[1])]
    assert books.mails() == []


def test_nobody_is_reminded_for_an_organization_that_nobody_acts_for(books: RemindingBooks) -> None:
    books.remind(7)
    books.sent()
    suspend = "UPDATE organizations SET suspended_at = :at WHERE id = :org_id"
    books.store.write(lambda tx: tx.run(suspend, at=1), books.org_id)
    books.on(SPENT[1])
    assert books.mails() == []
    books.store.write(lambda tx: tx.run(suspend, at=None), books.org_id)
    books.round()
    assert len(books.mails()) == 1


def test_another_organization_sees_and_sets_none_of_it(books: RemindingBooks) -> None:
    others = RemindingBooks(books.store, "Ash Ltd")
    books.remind(7)
    invoice = books.sent()
    assert others.one("getReminderSchedule", "")["enabled"] is False
    with pytest.raises(Problem) as unknown:
        others.of(invoice)
    assert unknown.value.code == "not_found"
    assert refused(others, "updateInvoiceReminders", invoiceId=invoice["id"], enabled=False).code == "not_found"
    theirs = others.sent()
    books.on(SPENT[1])
    assert (len(books.mails()), others.mails(), others.done(theirs)) == (1, [], [])


# -- what takes one back


def handed_over(books: RemindingBooks) -> list[str]:
    """The recipients of what the dispatcher takes from the outbox now."""

    def work(tx: WriteTx) -> list[str]:
        found = claims.claim_due(tx, Room("dmn_1:a", 10), mail_settings(25), Instant(tx.now))
        return [claim.recipient for claim in found.claims]

    return books.store.write(work)


def test_what_is_paid_between_queueing_and_sending_is_not_sent(books: RemindingBooks) -> None:
    books.remind(7)
    paid, part = books.sent(), books.sent(clientId=books.client(email="other@harbour.example"))
    books.on(SPENT[1])
    for invoice, amount in ((paid, "100.00"), (part, "1.00")):
        books.post("recordPayment", invoiceId=invoice["id"], amount=amount, date=SPENT[1])
    assert handed_over(books) == ["other@harbour.example"]
    assert books.done(paid) == [(7, "withdrawn", "settled", SPENT[1])]
    assert books.of(paid)["reminders"][0]["mails"] == [{"recipient": EMAIL, "status": "failed"}]
    first, _ = books.mails()
    assert first.last_error == outbox.WITHDRAWN
    assert not books.store.write(lambda tx: outbox.resend(tx, first.id)), "nobody sends it by hand either"
    books.post("removePayment", invoiceId=paid["id"], position=1)
    books.on("2026-12-14")
    assert handed_over(books) == [], "it had its turn"


@pytest.mark.parametrize(
    "how",
    [
        *("voidInvoice", "createInvoice", "writeOffInvoice"),
        *("updateInvoiceReminders", "updateClient", "setReminderSchedule"),
    ],
)
def test_whatever_ends_it_takes_back_what_waits(books: RemindingBooks, how: str) -> None:
    books.remind(7)
    client = books.client(email=EMAIL)
    invoice = books.sent(clientId=client)
    books.on(SPENT[1])
    bodies: dict[str, dict[str, object]] = {
        "voidInvoice": {"invoiceId": invoice["id"], "reason": "By mistake"},
        "createInvoice": {"kind": "credit_note", "creditsInvoiceId": invoice["id"], "status": "issued"},
        "writeOffInvoice": {"invoiceId": invoice["id"], "reason": "Insolvent"},
        "updateInvoiceReminders": {"invoiceId": invoice["id"], "enabled": False},
        "updateClient": {"clientId": client, "reminders": False},
        "setReminderSchedule": {"enabled": False},
    }
    reasons = {
        "updateInvoiceReminders": "stopped",
        "updateClient": "client_stopped",
        "setReminderSchedule": "switched_off",
    }
    books.post(how, **bodies[how])
    assert handed_over(books) == []
    assert books.done(invoice) == [(7, "withdrawn", reasons.get(how, "settled"), SPENT[1])]


def test_what_is_on_its_way_is_not_called_back_and_not_repeated(books: RemindingBooks) -> None:
    books.remind(7)
    invoice = books.sent()
    books.on(SPENT[1])
    assert handed_over(books) == [EMAIL]
    books.post("recordPayment", invoiceId=invoice["id"], amount="100.00", date=SPENT[1])
    assert books.done(invoice) == [(7, "written", None, SPENT[1])]
    books.store.clock.advance(HOUR)  # whoever sent it died
    assert handed_over(books) == []


def test_what_the_server_does_not_take_for_a_day_is_given_up(books: RemindingBooks) -> None:
    books.remind(7)
    invoice = books.sent()
    books.on(SPENT[1])
    books.at("2026-12-12T12:00:00Z")
    assert handed_over(books) == []
    (reminder,) = books.of(invoice)["reminders"]
    assert (reminder["status"], [mail["status"] for mail in reminder["mails"]]) == ("written", ["failed"])


def test_a_mail_that_was_swept_leaves_the_reminder(books: RemindingBooks) -> None:
    books.remind(7)
    invoice = books.sent()
    books.on(SPENT[1])
    books.store.write(lambda tx: tx.run("DELETE FROM mails"))
    (reminder,) = books.of(invoice)["reminders"]
    assert reminder["mails"] == [{"recipient": EMAIL, "status": None}]
    books.on("2026-12-14")
    assert books.mails() == []


# -- two at once, and kills


def test_two_daemons_that_picked_the_same_invoice_write_one(books: RemindingBooks) -> None:
    books.remind(7)
    invoice = books.sent()
    books.at(f"{SPENT[1]}T12:00:00Z")
    both = [books.store.read(lambda tx: rows.due(tx, 10), books.org_id) for _ in range(2)]
    assert both == [[invoice["id"]]] * 2
    done = [books.store.write(lambda tx: writing.remind(tx, ISSUER, invoice["id"]), books.org_id) for _ in range(2)]
    assert (done, len(books.mails())) == ([True, False], 1)


@pytest.mark.parametrize("kill", ["before commit", "after commit"])
def test_a_kill_neither_loses_one_nor_writes_it_twice(books: RemindingBooks, kill: str) -> None:
    books.remind(7)
    first, second = books.sent(), books.sent()
    books.at(f"{SPENT[1]}T12:00:00Z")
    assert not books.round(["", kill])
    assert books.round()
    assert [len(books.done(invoice)) for invoice in (first, second)] == [1, 1]
    assert len(books.mails()) == 2


def test_what_was_paid_since_it_was_picked_is_not_written(books: RemindingBooks) -> None:
    books.remind(7)
    invoice = books.sent()
    books.at(f"{SPENT[1]}T12:00:00Z")
    books.post("recordPayment", invoiceId=invoice["id"], amount="100.00", date=SPENT[1])
    assert not books.store.write(lambda tx: writing.remind(tx, ISSUER, invoice["id"]), books.org_id)
    assert books.mails() == []
