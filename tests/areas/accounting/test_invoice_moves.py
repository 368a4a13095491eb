"""What happens to an invoice after it was made: issue, send, pay, unpay, void, delete."""

import re
from collections.abc import Callable

import pytest

from gatewayd.areas.accounting.invoices import moves, payments, rows
from gatewayd.areas.accounting.invoices.payments import Payment
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.clock import DAY
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.money import Money
from gatewayd.store.sqlite import schema
from tests.areas.accounting.books import LINE, OTHER_BRITISH_VAT_NUMBER, Books, Json, fields_of
from tests.support.store import MemoryStore


def move(books: Books, work: Callable[..., object], invoice_id: str, *arguments: object) -> Json:
    """Make a move and answer the invoice as it is then listed."""
    books.store.write(lambda tx: work(tx, invoice_id, *arguments), books.org_id)
    return found(books, invoice_id)


def found(books: Books, invoice_id: str) -> Json:
    (invoice,) = [each for each in books.get("listInvoices")[0] if each["id"] == invoice_id]
    return invoice


def refused(books: Books, work: Callable[..., object], *arguments: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.store.write(lambda tx: work(tx, *arguments), books.org_id)
    return caught.value


def test_issue_a_draft(registered: Books) -> None:
    draft = registered.invoice(status="draft")
    registered.store.clock.advance(DAY)
    invoice = move(registered, moves.issue, draft["id"])
    assert (invoice["status"], invoice["number"], invoice["version"]) == ("issued", "INV-000001", 2)
    assert invoice["issueDate"] == draft["issueDate"]
    assert invoice["sellerSnapshot"]["vatNumber"] == "980780684"
    assert invoice["lines"] == draft["lines"]
    assert refused(registered, moves.issue, draft["id"]).code == "invalid_state"


def test_snapshots_are_frozen_at_issue(registered: Books) -> None:
    invoice = registered.invoice()
    registered.store.write(
        lambda tx: tx.run("UPDATE legal_entities SET name = 'New' WHERE org_id = :org_id"), registered.org_id
    )
    assert move(registered, moves.mark_sent, invoice["id"])["sellerSnapshot"]["name"] == "Oak"


def test_issue_checks_the_period(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    draft = books.invoice(status="draft")
    store.write(lambda tx: period_locks.close(tx, entity, "2026-11-01", "2026-11-30"), books.org_id)
    assert refused(books, moves.issue, draft["id"]).code == "period_closed"
    store.write(lambda tx: period_locks.reopen(tx, entity, "2026-11-01", "2026-11-30"), books.org_id)
    assert move(books, moves.issue, draft["id"])["number"] == "INV-000001"


def test_issue_checks_the_registration_again(registered: Books) -> None:
    draft = registered.invoice(
        status="draft", lines=[{**LINE, "vatCode": "zero"}, {**LINE, "vatCode": "standard"}, LINE]
    )
    sql = "UPDATE legal_entities SET vat_status = 'deregistered', vat_deregistration_date = '2026-11-20'"
    registered.store.write(lambda tx: tx.run(sql))
    assert fields_of(refused(registered, moves.issue, draft["id"])) == [("lines[1].vatCode", "vat_not_registered")]


def test_a_draft_of_before_the_registration_bears_vat_when_it_is_issued_after_it(books: Books) -> None:
    entity = books.unregistered_entity()
    each = [LINE, {**LINE, "vatCode": "outside_scope"}, {**LINE, "unitPrice": "50"}]
    draft = books.invoice(status="draft", lines=each, discountAmount="25")
    assert (draft["grossTotal"], draft["lines"][0]["vatCode"]) == ("225.00", "outside_scope")
    register(books, entity)
    invoice = books.post("issueInvoice", invoiceId=draft["id"])
    assert [line["vatCode"] for line in invoice["lines"]] == ["standard", "outside_scope", "standard"]
    assert (invoice["netTotal"], invoice["vatTotal"], invoice["grossTotal"]) == ("225.00", "27.00", "252.00")
    assert (invoice["balanceDue"], invoice["number"]) == ("252.00", "INV-000001")
    kept = ("id", "createdAt", "issueDate", "dueDate", "clientId", "discountAmount")
    assert {name: invoice[name] for name in kept} == {name: draft[name] for name in kept}
    assert found(books, draft["id"]) == invoice


def test_a_draft_of_before_the_deregistration_bears_no_vat_when_it_is_issued_after_it(registered: Books) -> None:
    draft = registered.invoice(status="draft")
    sql = "UPDATE legal_entities SET vat_status = 'deregistered', vat_deregistration_date = '2026-11-20'"
    registered.store.write(lambda tx: tx.run(sql))
    invoice = registered.post("issueInvoice", invoiceId=draft["id"])
    assert (draft["vatTotal"], invoice["vatTotal"], invoice["grossTotal"]) == ("20.00", "0.00", "100.00")


def test_a_draft_for_a_client_who_is_taxed_otherwise_by_now(registered: Books) -> None:
    client = registered.client()
    draft = registered.invoice(status="draft", clientId=client)
    registered.post("updateClient", clientId=client, defaultVatTreatment="zero")
    assert registered.post("issueInvoice", invoiceId=draft["id"])["vatTotal"] == "0.00"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"vatNumber": None}, "reverse_charge_needs_vrn"), ({"endUser": True}, "reverse_charge_end_user")],
)
def test_issue_checks_again_whether_the_client_may_account_for_the_vat(
    registered: Books, changes: Json, code: str
) -> None:
    client = registered.client(vatNumber=OTHER_BRITISH_VAT_NUMBER)
    reverse_charged = {**LINE, "vatCode": "reverse_charge_domestic_standard"}
    draft = registered.invoice(status="draft", clientId=client, lines=[reverse_charged])
    registered.post("updateClient", clientId=client, **changes)
    assert fields_of(refused(registered, moves.issue, draft["id"])) == [("lines[0].vatCode", code)]


def test_the_cis_deduction_is_that_of_the_day_a_draft_is_issued(books: Books) -> None:
    entity, client = books.entity(cis={"subcontractor": True}), books.client(cisContractor=True)
    draft = books.invoice(status="draft", clientId=client, lines=[{**LINE, "cisLabour": True}])
    sql = "UPDATE legal_entities SET cis_verified_rate = 20 WHERE id = :id"
    books.store.write(lambda tx: tx.run(sql, id=entity))
    invoice = books.post("issueInvoice", invoiceId=draft["id"])
    figures = [(each["cisDeduction"], each["cisRate"], each["balanceDue"]) for each in (draft, invoice)]
    assert figures == [("30.00", 30, "90.00"), ("20.00", 20, "100.00")]


def test_a_draft_that_names_no_seller_is_sold_by_the_one_there_is(books: Books) -> None:
    draft = books.invoice(status="draft", lines=[LINE])
    other = books.invoice(status="draft", currency="EUR", fxRate="0.9")
    entity = books.entity(baseCurrency="EUR")
    invoice = books.post("issueInvoice", invoiceId=draft["id"], fxRate="1.1")
    assert (invoice["legalEntityId"], invoice["vatTotal"], invoice["vatTotalBase"]) == (entity, "20.00", "22.00")
    assert invoice["sellerSnapshot"]["vatNumber"] == "980780684"
    assert books.post("issueInvoice", invoiceId=other["id"])["fxRate"] is None


def test_a_draft_that_names_no_seller_needs_one_where_there_are_several(books: Books) -> None:
    draft = books.invoice(status="draft")
    entity = books.entity()
    books.unregistered_entity(name="Elm")
    problem = refused(books, moves.issue, draft["id"])
    assert fields_of(problem) == [("legalEntityId", "required")]
    books.post("updateInvoice", invoiceId=draft["id"], legalEntityId=entity)
    assert books.post("issueInvoice", invoiceId=draft["id"])["vatTotal"] == "20.00"


def test_a_draft_of_a_credit_note_keeps_its_codes(books: Books) -> None:
    """It takes back what was charged, whatever the seller has become since."""
    entity = books.unregistered_entity()
    invoice = books.invoice()
    credit = books.credit(invoice["id"], status="draft", lines=[{**LINE, "unitPrice": "10"}])
    register(books, entity)
    assert books.post("updateInvoice", invoiceId=credit["id"], notes="n")["vatTotal"] == "0.00"
    issued = books.post("issueInvoice", invoiceId=credit["id"])
    assert (issued["grossTotal"], issued["vatTotal"]) == ("10.00", "0.00")


def register(books: Books, entity: str) -> None:
    sql = "UPDATE legal_entities SET vat_status = 'registered', vat_number = '980780684' WHERE id = :id"
    books.store.write(lambda tx: tx.run(sql, id=entity))


def test_issue_needs_a_rate_of_exchange_for_foreign_vat(registered: Books) -> None:
    draft = registered.invoice(status="draft", currency="BTN")
    assert fields_of(refused(registered, moves.issue, draft["id"])) == [("fxRate", "required")]


def test_issue_at_a_rate_of_exchange(registered: Books) -> None:
    draft = registered.invoice(status="draft", currency="EUR")
    invoice = move(registered, moves.issue, draft["id"], "0.8500")
    assert (invoice["status"], invoice["fxRate"], invoice["vatTotalBase"]) == ("issued", "0.85", "17.00")
    row = registered.store.read(lambda tx: INVOICES.get(tx, draft["id"]), registered.org_id)
    assert (row.fx_rate, row.vat_total_base) == ("0.85", Money(1700, "GBP"))


@pytest.mark.parametrize(
    ("currency", "rate", "code"),
    [
        ("EUR", "0", "out_of_range"),
        ("EUR", "-1", "out_of_range"),
        ("EUR", "a", "invalid_decimal"),
        ("EUR", "9999999999999", "out_of_range"),
        ("GBP", "2", "conflict"),
    ],
)
def test_rates_of_exchange_that_are_none(registered: Books, currency: str, rate: str, code: str) -> None:
    draft = registered.invoice(status="draft", currency=currency)
    assert fields_of(refused(registered, moves.issue, draft["id"], rate)) == [("fxRate", code)]
    assert found(registered, draft["id"])["status"] == "draft"


def test_issue_a_credit_note(registered: Books) -> None:
    invoice = registered.invoice()
    first, second = (registered.credit(invoice["id"], status="draft") for _ in range(2))
    assert move(registered, moves.issue, first["id"])["number"] == "CN-000001"
    assert found(registered, invoice["id"])["status"] == "paid"
    assert fields_of(refused(registered, moves.issue, second["id"])) == [("lines", "out_of_range")]


def test_issue_a_credit_note_of_what_was_voided(registered: Books) -> None:
    invoice = registered.invoice()
    credit = registered.credit(invoice["id"], status="draft")
    move(registered, moves.void, invoice["id"], "made twice")
    problem = refused(registered, moves.issue, credit["id"])
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "void")
    assert problem.message == (
        "The invoice it credits is void: it has to be issued, paid, part_paid or sent."
        " `accounting.deleteInvoice` deletes this draft."
    )


def test_mark_sent(registered: Books) -> None:
    invoice = move(registered, moves.mark_sent, registered.invoice()["id"])
    assert (invoice["status"], invoice["sentAt"]) == ("sent", "2026-11-20T09:30:00.000Z")
    assert refused(registered, moves.mark_sent, invoice["id"]).code == "invalid_state"


def test_pay_in_parts(registered: Books) -> None:
    invoice = registered.invoice()
    part = move(registered, payments.pay, invoice["id"], Payment("20", "2026-11-01", "card", "r-1"))
    assert (part["status"], part["paidTotal"], part["balanceDue"], part["paidDate"]) == (
        "part_paid",
        "20.00",
        "100.00",
        None,
    )
    paid = move(registered, payments.pay, invoice["id"], Payment())
    assert (paid["status"], paid["balanceDue"], paid["paidDate"]) == ("paid", "0.00", "2026-11-20")
    taken = {"bankTransactionId": None}
    assert paid["payments"] == [
        {"position": 1, "date": "2026-11-01", "amount": "20.00", **taken, "method": "card", "reference": "r-1"},
        {"position": 2, "date": "2026-11-20", "amount": "100.00", **taken, "method": None, "reference": None},
    ]
    assert refused(registered, payments.pay, invoice["id"], Payment("1")).code == "invalid_state"


def test_a_penny_is_a_payment(registered: Books) -> None:
    part = move(registered, payments.pay, registered.invoice()["id"], Payment("0.01"))
    assert (part["status"], part["balanceDue"]) == ("part_paid", "119.99")


def test_payments_are_counted_up(registered: Books) -> None:
    invoice = registered.invoice()
    for amount in ("1", "2", "3"):
        move(registered, payments.pay, invoice["id"], Payment(amount))
    left = move(registered, payments.unpay, invoice["id"], 2)
    assert [payment["amount"] for payment in left["payments"]] == ["1.00", "3.00"]
    again = move(registered, payments.pay, invoice["id"], Payment("4"))
    assert [payment["amount"] for payment in again["payments"]] == ["1.00", "3.00", "4.00"]


def test_payments_of_before_the_migration_show_their_positions_after_it(registered: Books) -> None:
    """The stored form is the one that the columns give, whatever the texts in it are."""
    odd = '"payments":[{é],"reference":'
    invoice, other = registered.invoice(reference=odd, notes=odd), registered.invoice()
    for amount in ("1", "2", "3"):
        move(registered, payments.pay, invoice["id"], Payment(amount, method=odd, reference=odd))
    move(registered, payments.unpay, invoice["id"], 2)
    connection = registered.store.connection
    for id_, wire, head in connection.execute("SELECT id, wire, head_length FROM invoices").fetchall():
        before = re.sub(rb'{"position":\d+,"date"', b'{"date"', wire)
        head -= len(wire) - len(before)
        connection.execute("UPDATE invoices SET wire = ?, head_length = ? WHERE id = ?", (before, head, id_))
    (sql,) = [each.sql for each in schema.packaged() if each.name.endswith("_show_positions_of_payments.sql")]
    connection.execute(sql)
    stale = registered.store.read(lambda tx: rows.stale(tx, "", 9), registered.org_id)
    assert stale == [(invoice["id"], False), (other["id"], False)]
    assert [payment["position"] for payment in found(registered, invoice["id"])["payments"]] == [1, 3]
    (summary,) = [each for each in registered.get("listInvoices", "summaryOnly=true")[0] if each["id"] == invoice["id"]]
    assert "lines" not in summary


def test_an_overpayment_is_a_negative_balance(registered: Books) -> None:
    paid = move(registered, payments.pay, registered.invoice()["id"], Payment("150"))
    assert (paid["status"], paid["balanceDue"]) == ("paid", "-30.00")


def test_a_paid_invoice_can_be_credited(registered: Books) -> None:
    invoice = registered.invoice()
    move(registered, payments.pay, invoice["id"], Payment())
    registered.credit(invoice["id"])
    credited = found(registered, invoice["id"])
    assert (credited["status"], credited["balanceDue"]) == ("paid", "-120.00")


@pytest.mark.parametrize(
    ("payment", "error"),
    [
        (Payment("0"), ("amount", "out_of_range")),
        (Payment("-1"), ("amount", "out_of_range")),
        (Payment("0.001"), ("amount", "invalid_decimal")),
        (Payment("ten"), ("amount", "invalid_decimal")),
        (Payment("1", "2026-11-21"), ("date", "out_of_range")),
    ],
)
def test_payments_that_are_none(registered: Books, payment: Payment, error: tuple[str, str]) -> None:
    invoice = registered.invoice()
    problem = refused(registered, payments.pay, invoice["id"], payment)
    assert fields_of(problem) == [error]
    assert problem.errors[0].message != "Nothing is due: how much was paid?"
    assert found(registered, invoice["id"]) == invoice


def test_where_nothing_is_due_nothing_is_paid_by_default(registered: Books) -> None:
    invoice = registered.invoice(lines=[{**LINE, "unitPrice": "0"}])
    problem = refused(registered, payments.pay, invoice["id"], Payment())
    assert fields_of(problem) == [("amount", "out_of_range")]
    assert problem.errors[0].message == "Nothing is due: how much was paid?"


def test_payments_out_of_range_together(registered: Books) -> None:
    invoice = registered.invoice(lines=[{**LINE, "unitPrice": "8000000000000", "vatCode": "zero"}])
    move(registered, payments.pay, invoice["id"], Payment("7000000000000"))
    problem = refused(registered, payments.pay, invoice["id"], Payment("7000000000000"))
    assert fields_of(problem) == [("amount", "out_of_range")]


def test_a_draft_and_a_credit_note_take_no_payment(registered: Books) -> None:
    draft, credit = registered.invoice(status="draft"), registered.credit(registered.invoice()["id"])
    assert refused(registered, payments.pay, draft["id"], Payment("1")).code == "invalid_state"
    assert refused(registered, payments.pay, credit["id"], Payment("1")).code == "invalid_state"


def test_unpay(registered: Books) -> None:
    invoice = registered.invoice()
    move(registered, payments.pay, invoice["id"], Payment("20"))
    move(registered, payments.pay, invoice["id"], Payment())
    part = move(registered, payments.unpay, invoice["id"], 1)
    assert (part["status"], part["balanceDue"], part["paidDate"]) == ("part_paid", "20.00", None)
    assert [payment["amount"] for payment in part["payments"]] == ["100.00"]
    assert refused(registered, payments.unpay, invoice["id"], 1).code == "not_found"
    sent = move(registered, payments.unpay, invoice["id"], 2)
    assert (sent["status"], sent["balanceDue"], sent["payments"]) == ("sent", "120.00", [])
    assert refused(registered, payments.unpay, invoice["id"], 2).code == "invalid_state"


def test_void(registered: Books) -> None:
    invoice = move(registered, moves.void, registered.invoice()["id"], "made twice")
    assert (invoice["status"], invoice["voidReason"], invoice["balanceDue"]) == ("void", "made twice", "0.00")
    assert invoice["voidedAt"] == "2026-11-20T09:30:00.000Z"
    assert invoice["number"] == "INV-000001"
    assert refused(registered, moves.void, invoice["id"], "again").code == "invalid_state"


def test_void_needs_a_reason_and_no_payments(registered: Books) -> None:
    invoice = registered.invoice()
    for reason in (" ", "x" * 501):
        assert fields_of(refused(registered, moves.void, invoice["id"], reason)) == [("reason", "out_of_range")]
    assert move(registered, moves.void, registered.invoice()["id"], "x" * 500)["status"] == "void"
    move(registered, payments.pay, invoice["id"], Payment("1"))
    assert refused(registered, moves.void, invoice["id"], "x").code == "invalid_state"


@pytest.mark.parametrize("closed", ["2026-11-20", "2026-11-19"])
def test_void_in_a_closed_period(store: MemoryStore, closed: str) -> None:
    books = Books(store)
    entity = books.entity()
    invoice = books.invoice(issueDate="2026-11-20", supplyDate="2026-11-19")
    store.write(lambda tx: period_locks.close(tx, entity, closed, closed), books.org_id)
    problem = refused(books, moves.void, invoice["id"], "x")
    assert (problem.code, problem.message) == (
        "period_closed",
        "The period of the invoice is closed: make out a credit note instead.",
    )


def test_void_in_a_period_that_is_being_closed(registered: Books) -> None:
    invoice = registered.invoice()
    whose, day = str(invoice["legalEntityId"]), invoice["issueDate"]
    registered.store.write(lambda tx: period_locks.begin_closing(tx, whose, day, day), registered.org_id)
    problem = refused(registered, moves.void, invoice["id"], "x")
    assert (problem.code, problem.extra["state"]) == ("period_closed", "closing")


def test_voiding_a_credit_note_brings_the_balance_back(registered: Books) -> None:
    invoice = registered.invoice()
    credit = registered.credit(invoice["id"])
    move(registered, moves.void, credit["id"], "wrong invoice")
    again = found(registered, invoice["id"])
    assert (again["status"], again["creditedTotal"], again["balanceDue"]) == ("issued", "0.00", "120.00")
    assert registered.credit(invoice["id"])["number"] == "CN-000002"


def test_delete_a_draft_and_nothing_else(registered: Books) -> None:
    draft, invoice = registered.invoice(status="draft"), registered.invoice()
    registered.store.write(lambda tx: moves.delete_draft(tx, draft["id"]), registered.org_id)
    assert [each["id"] for each in registered.get("listInvoices")[0]] == [invoice["id"]]
    lines = "SELECT position FROM invoice_lines WHERE org_id = :org_id AND invoice_id = :id"
    assert registered.store.read(lambda tx: tx.rows(lines, id=draft["id"]), registered.org_id) == []
    assert refused(registered, moves.delete_draft, invoice["id"]).code == "invalid_state"


@pytest.mark.parametrize(
    ("work", "arguments"),
    [
        (moves.issue, ()),
        (moves.mark_sent, ()),
        (payments.pay, (Payment(),)),
        (payments.unpay, (1,)),
        (moves.void, ("x",)),
        (moves.delete_draft, ()),
    ],
)
def test_another_organizations_invoice_is_not_found(
    store: MemoryStore, registered: Books, work: Callable[..., object], arguments: tuple[object, ...]
) -> None:
    other = Books(store)
    invoice = other.invoice()
    assert refused(registered, work, invoice["id"], *arguments).code == "not_found"
    assert found(other, invoice["id"]) == invoice
