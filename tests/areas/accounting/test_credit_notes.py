"""Credit notes: what they copy, what they move, and every way to be refused."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, Books, Json, fields_of, lines
from tests.support.store import MemoryStore


def test_a_full_credit_copies_the_figures(registered: Books) -> None:
    each = {"unitPrice": "1.11", "category": "turnover"}
    invoice = registered.invoice(lines=lines(each, each, each), vatRounding="total", discountAmount="0.10")
    credit = registered.credit(invoice["id"])
    assert (credit["kind"], credit["number"], credit["status"]) == ("credit_note", "CN-000001", "issued")
    for name in ("netTotal", "vatTotal", "grossTotal", "discountTotal", "vatSummary", "clientId", "lines"):
        assert credit[name] == invoice[name]
    assert (credit["balanceDue"], credit["isOverdue"]) == ("0.00", False)


def found(books: Books, invoice_id: str) -> Json:
    (invoice,) = [each for each in books.get("listInvoices")[0] if each["id"] == invoice_id]
    return invoice


def test_a_credit_moves_the_invoice(registered: Books) -> None:
    invoice = registered.invoice(lines=lines({}, {}))
    registered.credit(invoice["id"], lines=lines({}))
    part = found(registered, invoice["id"])
    assert (part["status"], part["creditedTotal"], part["balanceDue"]) == ("part_paid", "120.00", "120.00")
    registered.credit(invoice["id"], lines=lines({}))
    paid = found(registered, invoice["id"])
    assert (paid["status"], paid["creditedTotal"], paid["balanceDue"]) == ("paid", "240.00", "0.00")
    assert (paid["paidDate"], paid["version"]) == ("2026-11-20", 3)


def test_a_draft_credit_moves_nothing(registered: Books) -> None:
    invoice = registered.invoice()
    credit = registered.credit(invoice["id"], status="draft")
    assert credit["number"] is None
    assert found(registered, invoice["id"]) == invoice


def test_credits_never_come_to_more_than_the_invoice(registered: Books) -> None:
    invoice = registered.invoice()
    registered.credit(invoice["id"], lines=lines({"unitPrice": "0.01"}))
    for fields in ({}, {"lines": [LINE]}, {"status": "draft"}):
        with pytest.raises(Problem) as caught:
            registered.credit(invoice["id"], **fields)
        assert fields_of(caught.value) == [("lines", "out_of_range")]


def test_a_full_credit_of_a_cis_invoice_leaves_nothing_due(store: MemoryStore) -> None:
    books = Books(store)
    books.entity(cis={"subcontractor": True, "verifiedRate": 30})
    invoice = books.invoice(clientId=books.client(cisContractor=True), lines=lines({"cisLabour": True}))
    books.credit(invoice["id"])
    assert (found(books, invoice["id"])["balanceDue"], found(books, invoice["id"])["status"]) == ("0.00", "paid")


def test_a_credit_is_in_the_invoices_currency_at_its_rate_and_due_at_once(registered: Books) -> None:
    invoice = registered.invoice(currency="EUR", fxRate="0.85")
    credit = registered.credit(invoice["id"], lines=lines({"unitPrice": "10.00"}))
    assert (credit["currency"], credit["fxRate"], credit["vatTotalBase"]) == ("EUR", "0.85", "1.70")
    assert (credit["issueDate"], credit["dueDate"]) == ("2026-11-20", "2026-11-20")


def test_a_credit_takes_the_rates_of_the_invoices_day(registered: Books) -> None:
    invoice = registered.invoice(supplyDate="2009-06-01")
    credit = registered.credit(invoice["id"], lines=lines({"unitPrice": "10.00"}))
    assert (credit["supplyDate"], credit["vatTotal"]) == ("2009-06-01", "1.50")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"creditsInvoiceId": None}, ("creditsInvoiceId", "required")),
        ({"kind": "invoice", "clientId": None, "client": {"name": "Ann"}}, ("creditsInvoiceId", "conflict")),
        ({"client": {"name": "Ann"}}, ("client", "conflict")),
        ({"clientId": "cli_1"}, ("clientId", "conflict")),
        ({"legalEntityId": "ent_1"}, ("legalEntityId", "conflict")),
        ({"currency": "EUR"}, ("currency", "currency_mismatch")),
        ({"creditsInvoiceId": "inv_1"}, ("creditsInvoiceId", "unknown_reference")),
        ({"lines": None, "amountsAre": "inclusive"}, ("amountsAre", "conflict")),
    ],
)
def test_credit_notes_that_cannot_be(registered: Books, fields: Json, error: tuple[str, str]) -> None:
    invoice = registered.invoice()
    with pytest.raises(Problem) as caught:
        registered.credit(invoice["id"], **{"lines": [LINE], **fields})
    assert fields_of(caught.value) == [error]


def test_a_credit_note_is_not_credited(registered: Books) -> None:
    credit = registered.credit(registered.invoice()["id"])
    with pytest.raises(Problem) as caught:
        registered.credit(credit["id"])
    assert fields_of(caught.value) == [("creditsInvoiceId", "conflict")]


def test_another_organizations_invoice_is_an_unknown_reference(store: MemoryStore, registered: Books) -> None:
    invoice = Books(store).invoice()
    with pytest.raises(Problem) as caught:
        registered.credit(invoice["id"])
    assert fields_of(caught.value) == [("creditsInvoiceId", "unknown_reference")]


def test_invalid_state_to_credit_a_draft(registered: Books) -> None:
    invoice = registered.invoice(status="draft")
    with pytest.raises(Problem) as caught:
        registered.credit(invoice["id"])
    assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", "draft")
    assert caught.value.message == (
        "An invoice that is draft cannot be credited: only one that is issued, paid, part_paid or sent."
    )


@pytest.mark.parametrize(
    ("charged", "credited"),
    [
        ({"vatCode": "zero", "unitPrice": "1200"}, {"vatCode": "standard", "unitPrice": "1000"}),
        ({"vatCode": "reverse_charge_domestic_standard", "unitPrice": "1200"}, {"unitPrice": "1000"}),
        ({"vatCode": "standard", "unitPrice": "1000"}, {"vatCode": "zero", "unitPrice": "1200"}),
    ],
)
def test_no_vat_is_credited_that_was_not_charged(registered: Books, charged: Json, credited: Json) -> None:
    client = registered.client(vatNumber="GB 434 0314 94")
    invoice = registered.invoice(clientId=client, lines=lines(charged))
    for status in ("draft", "issued"):
        with pytest.raises(Problem) as caught:
            registered.credit(invoice["id"], status=status, lines=lines(credited))
        assert fields_of(caught.value) == [("lines", "out_of_range")]
    assert found(registered, invoice["id"]) == invoice


def test_the_cis_deduction_is_credited_with_its_labour(store: MemoryStore) -> None:
    books = Books(store)
    books.entity(cis={"subcontractor": True, "verifiedRate": 20})
    labour, materials = {"unitPrice": "1000", "cisLabour": True}, {"unitPrice": "500"}
    invoice = books.invoice(clientId=books.client(cisContractor=True), lines=lines(labour, materials))
    assert invoice["cisDeduction"] == "200.00"
    for wrong in ({"unitPrice": "1500"}, {"unitPrice": "1500", "cisLabour": True}):
        with pytest.raises(Problem) as caught:
            books.credit(invoice["id"], lines=lines(wrong))
        assert fields_of(caught.value) == [("lines", "out_of_range")]
    books.credit(invoice["id"], lines=lines(labour))
    books.credit(invoice["id"], lines=lines(materials))
    assert found(books, invoice["id"])["balanceDue"] == "0.00"


def test_a_credit_note_is_not_dated_before_its_invoice(registered: Books) -> None:
    invoice = registered.invoice(issueDate="2026-11-10")
    with pytest.raises(Problem) as caught:
        registered.credit(invoice["id"], issueDate="2026-11-09")
    assert fields_of(caught.value) == [("issueDate", "date_order")]
    assert registered.credit(invoice["id"], issueDate="2026-11-10")["number"] == "CN-000001"


def test_a_note_that_only_comes_to_the_same_keeps_its_lines(registered: Books) -> None:
    invoice = registered.invoice()
    back = [{**LINE, "description": "Sent back"}]
    note = registered.credit(invoice["id"], status="draft", lines=back)
    assert note["grossTotal"] == invoice["grossTotal"]
    changed = registered.post("updateInvoice", invoiceId=note["id"], notes="By post")
    assert [line["description"] for line in changed["lines"]] == ["Sent back"]


def test_a_note_of_the_same_lines_keeps_its_discount(registered: Books) -> None:
    invoice = registered.invoice(discountAmount="10.00")
    note = registered.credit(invoice["id"], status="draft", lines=[LINE], discountAmount="12.00")
    changed = registered.post("updateInvoice", invoiceId=note["id"], notes="By post")
    assert (changed["discountAmount"], changed["grossTotal"]) == ("12.00", note["grossTotal"])
