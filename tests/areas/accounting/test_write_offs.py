"""Invoices that are written off, and taken back (Domain B5)."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Books, Json, fields_of, lines


def refused(books: Books, operation: str, /, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **body)
    return caught.value


def written_off(books: Books, made: Json, **fields: object) -> Json:
    return books.post("writeOffInvoice", invoiceId=made["id"], reason="Insolvent", **fields)


def test_nothing_of_it_is_due_any_more_and_it_is_taken_back(registered: Books) -> None:
    books = registered
    client = books.client()
    made = books.invoice(clientId=client, issueDate="2026-09-01", dueDate="2026-09-30")
    assert made["isOverdue"] is True
    off = written_off(books, made, date="2026-11-01", expectedVersion=made["version"])
    assert (off["status"], off["balanceDue"], off["isOverdue"]) == ("issued", "0.00", False)
    assert off["writeOff"] == {
        "date": "2026-11-01",
        "amount": "120.00",
        "unpaid": "120.00",
        "reason": "Insolvent",
        "vatRelief": "claimed",
        "vatReliefDate": "2027-03-30",
    }
    (warning,) = off["warnings"]
    assert (warning["path"], warning["code"]) == ("writeOff.vatRelief", "vat_relief_conditions")
    assert books.one("getClient", f"clientId={client}")["balances"]["outstanding"] == "0.00"
    assert books.get("listInvoices", "status=overdue")[0] == []
    back = books.post("reverseWriteOff", invoiceId=made["id"], expectedVersion=off["version"])
    assert (back["status"], back["balanceDue"], back["isOverdue"], "writeOff" in back) == (
        *("issued", "120.00", True, False),
    )
    assert refused(books, "reverseWriteOff", invoiceId=made["id"]).code == "invalid_state"


def test_a_part_is_written_off(registered: Books) -> None:
    made = registered.invoice(issueDate="2026-09-01")
    off = written_off(registered, made, amount="20.00")
    assert (off["balanceDue"], off["isOverdue"]) == ("100.00", True)
    paid = registered.post("recordPayment", invoiceId=made["id"])
    assert (paid["paidTotal"], paid["balanceDue"], paid["status"]) == ("100.00", "0.00", "part_paid")
    client = made["clientId"]
    named = [{"invoiceId": made["id"], "amount": "20.00"}]
    registered.post("recordClientPayment", clientId=client, amount="20.00", invoices=named)
    after = registered.one("getInvoice", f"invoiceId={made['id']}")
    assert (after["status"], after["balanceDue"], after["writeOff"]["unpaid"]) == ("paid", "0.00", "0.00")


def test_the_day_of_the_claim_can_be_later(registered: Books) -> None:
    made = registered.invoice(issueDate="2026-01-05", dueDate="2026-01-31")
    for day in ("2026-07-30", "2030-08-01"):
        wrong = refused(
            *(registered, "writeOffInvoice"), invoiceId=made["id"], reason="Gone", date="2026-05-01", vatReliefDate=day
        )
        assert fields_of(wrong) == [("vatReliefDate", "out_of_range")]
    off = written_off(registered, made, date="2026-05-01", vatReliefDate="2026-10-01")
    assert off["writeOff"]["vatReliefDate"] == "2026-10-01"


def test_what_is_wrong_with_it_is_told(registered: Books) -> None:
    made = registered.invoice(issueDate="2026-09-01", lines=lines({"vatCode": "zero"}))
    of = {"invoiceId": made["id"], "reason": "Gone"}
    wrong = refused(registered, "writeOffInvoice", **of, amount="100.01", date="2026-08-31")
    assert fields_of(wrong) == [("amount", "out_of_range"), ("date", "out_of_range")]
    assert fields_of(refused(registered, "writeOffInvoice", **of, amount="1.001")) == [("amount", "invalid_decimal")]
    assert fields_of(refused(registered, "writeOffInvoice", **of, date="2026-11-21")) == [("date", "out_of_range")]
    wrong = refused(registered, "writeOffInvoice", **of, vatReliefDate="2027-05-01")
    assert fields_of(wrong) == [("vatReliefDate", "conflict")]
    assert refused(registered, "writeOffInvoice", **of, expectedVersion=7).code == "version_conflict"
    assert refused(registered, "reverseWriteOff", invoiceId=made["id"], expectedVersion=7).code == "version_conflict"
    strangers = Books(registered.store, "Elm Ltd")
    assert refused(strangers, "writeOffInvoice", **of).code == "not_found"
    assert refused(strangers, "reverseWriteOff", invoiceId=made["id"]).code == "not_found"


def test_only_what_is_due_is_written_off_and_once(registered: Books) -> None:
    draft = registered.invoice(status="draft")
    paid, owed = registered.invoice(), registered.invoice()
    registered.post("recordPayment", invoiceId=paid["id"])
    note = registered.credit(registered.invoice()["id"])
    written_off(registered, owed)
    for made in (draft, paid, note, owed):
        problem = refused(registered, "writeOffInvoice", invoiceId=made["id"], reason="Gone")
        assert problem.code == "invalid_state"
    problem = refused(registered, "voidInvoice", invoiceId=owed["id"], reason="Gone")
    assert (problem.code, "reverseWriteOff" in problem.message) == ("invalid_state", True)


def test_closed_days_stay_as_they_are(registered: Books) -> None:
    (entity,) = registered.store.read(
        lambda tx: tx.rows("SELECT id FROM legal_entities WHERE org_id = :org_id"), registered.org_id
    )[0]
    made = registered.invoice(issueDate="2026-01-05", dueDate="2026-01-31")
    close = ("2026-10-01", "2026-10-31")
    registered.store.write(lambda tx: period_locks.close(tx, entity, *close), registered.org_id)
    of = {"invoiceId": made["id"], "reason": "Gone"}
    for days in ({"date": "2026-10-10"}, {"date": "2026-09-10", "vatReliefDate": "2026-10-31"}):
        assert refused(registered, "writeOffInvoice", **of, **days).code == "period_closed"
    written_off(registered, made, date="2026-09-10", vatReliefDate="2026-09-30")
    registered.store.write(lambda tx: period_locks.close(tx, entity, "2026-09-01", "2026-09-30"), registered.org_id)
    assert refused(registered, "reverseWriteOff", invoiceId=made["id"]).code == "period_closed"


def test_an_organization_in_its_own_name_claims_nothing(books: Books) -> None:
    off = written_off(books, books.invoice())
    assert (off["writeOff"]["vatRelief"], "warnings" in off) == ("no_vat", False)
