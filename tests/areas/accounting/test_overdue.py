"""`invoice.overdue`: told once for a due date, on the day after it, of what is still owed then."""

import msgspec
import pytest

from gatewayd.areas.accounting.invoices import overdue
from gatewayd.clock import from_wire
from gatewayd.store import StoreFailure, WriteTx
from tests.areas.accounting.books import Books, Json

_TOLD = "SELECT data FROM events WHERE org_id = :org_id AND kind = 'invoice.overdue' ORDER BY id"
NOW = {"issueDate": "2026-11-20", "dueDate": "2026-12-04"}


def at(books: Books, moment: str) -> None:
    books.store.clock.advance(from_wire(moment) - books.store.now())


def told(books: Books) -> list[Json]:
    """What was told of the books' invoices, after the daemon has told whatever it has to tell."""
    for _ in range(50):
        if books.store.read(overdue.is_silent):
            found = books.store.read(lambda tx: tx.rows(_TOLD), books.org_id)
            return [msgspec.json.decode(data) for (data,) in found]
        books.store.write(overdue.tell_some)
    raise AssertionError("it never ends")


def test_it_is_told_on_the_day_after_the_due_date_and_never_again(books: Books) -> None:
    invoice = books.invoice(**NOW)
    books.post("recordPayment", invoiceId=invoice["id"], amount="30.00", date="2026-11-20")
    at(books, "2026-12-04T23:59:59Z")
    assert told(books) == []
    at(books, "2026-12-05T00:00:00Z")
    expected = {
        "invoice_id": invoice["id"],
        "client_id": invoice["clientId"],
        "business_id": None,
        "number": invoice["number"],
        "due_date": "2026-12-04",
        "days_overdue": 1,
        "balance_due": "70.00",
        "currency": "GBP",
    }
    assert told(books) == [expected]
    books.post("recordPayment", invoiceId=invoice["id"], amount="20.00", date="2026-12-05")
    at(books, "2027-03-01T12:00:00Z")
    assert told(books) == [expected]


def test_the_day_is_londons(books: Books) -> None:
    """In summer its next day begins an hour before that of UTC."""
    at(books, "2027-07-01T12:00:00Z")
    books.invoice(issueDate="2027-07-01", dueDate="2027-07-10")
    at(books, "2027-07-10T22:59:59Z")
    assert told(books) == []
    at(books, "2027-07-10T23:00:00Z")
    assert [each["days_overdue"] for each in told(books)] == [1]


def test_what_a_stopped_daemon_missed_is_told_late_and_says_so(books: Books) -> None:
    books.invoice(**NOW)
    at(books, "2027-01-03T08:00:00Z")
    assert [each["days_overdue"] for each in told(books)] == [30]


def test_what_is_paid_credited_void_or_a_draft_is_not_told(books: Books) -> None:
    paid, credited, void = (books.invoice(**NOW) for _ in range(3))
    books.invoice(**NOW, status="draft")
    books.post("recordPayment", invoiceId=paid["id"], amount="100.00", date="2026-11-20")
    books.credit(credited["id"])
    books.post("voidInvoice", invoiceId=void["id"], reason="By mistake")
    at(books, "2026-12-05T12:00:00Z")
    assert told(books) == []


def test_a_payment_that_bounces_makes_it_overdue_but_only_once(books: Books) -> None:
    invoice = books.invoice(**NOW)
    for day in ("2026-12-10", "2026-12-20"):
        books.post("recordPayment", invoiceId=invoice["id"], amount="100.00", date="2026-11-20")
        at(books, f"{day}T12:00:00Z")
        before = len(told(books))
        books.post("removePayment", invoiceId=invoice["id"], position=1)
        after = told(books)
        assert (before, len(after)) == ((0, 1) if day == "2026-12-10" else (1, 1))
    assert after[0]["days_overdue"] == 6


def test_what_was_due_before_it_came_into_the_books_is_no_news(books: Books) -> None:
    books.invoice(issueDate="2026-09-01", dueDate="2026-09-15")
    books.invoice(issueDate="2026-09-01", dueDate="2026-11-20")  # today is still in time
    assert told(books) == []
    at(books, "2026-11-21T00:00:00Z")
    assert [each["due_date"] for each in told(books)] == ["2026-11-20"]


def test_each_organization_is_told_of_its_own(books: Books) -> None:
    other = Books(books.store, "Other Ltd")
    mine, theirs = books.invoice(**NOW), other.invoice(**NOW)
    at(books, "2026-12-05T12:00:00Z")
    assert [each["invoice_id"] for each in told(books)] == [mine["id"]]
    assert [each["invoice_id"] for each in told(other)] == [theirs["id"]]


def test_many_are_told_some_at_a_time(books: Books) -> None:
    client = books.client()
    numbers = {books.invoice(**NOW, clientId=client)["number"] for _ in range(overdue.TOLD_AT_ONCE + 3)}
    at(books, "2026-12-05T12:00:00Z")
    books.store.write(overdue.tell_some)
    assert not books.store.read(overdue.is_silent)
    assert {each["number"] for each in told(books)} == numbers


def test_what_fails_after_it_was_told_is_told_the_next_time(books: Books) -> None:
    """Event and note are one transaction."""
    books.invoice(**NOW)
    at(books, "2026-12-05T12:00:00Z")

    def killed(tx: WriteTx) -> None:
        overdue.tell_some(tx)
        raise StoreFailure("killed")

    with pytest.raises(StoreFailure):
        books.store.write(killed)
    assert len(told(books)) == 1


def test_that_it_was_told_is_no_new_version(books: Books) -> None:
    invoice = books.invoice(**NOW)
    at(books, "2026-12-05T12:00:00Z")
    assert len(told(books)) == 1
    after = books.one("getInvoice", f"invoiceId={invoice['id']}")
    assert (after["version"], after["updatedAt"]) == (invoice["version"], invoice["updatedAt"])
