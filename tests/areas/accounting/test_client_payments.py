"""Payments of several invoices, what is on account, credit that is set against invoices, and refunds (Domain B5)."""

import pytest

from gatewayd.clock import DAY
from gatewayd.errors import Problem
from gatewayd.store import ReadTx
from tests.areas.accounting.books import Books, Json, fields_of, lines


def owing(books: Books, client: str, amount: str, **fields: object) -> Json:
    """An issued invoice for a client, of an amount without VAT."""
    return books.invoice(clientId=client, lines=lines({"unitPrice": amount}), **fields)


def balances(books: Books, client: str) -> tuple[str, str]:
    """What a client owes, and its credit."""
    found = books.one("getClient", f"clientId={client}")["balances"]
    return found["outstanding"], found["credit"]


def invoice(books: Books, id_: str) -> Json:
    return books.one("getInvoice", f"invoiceId={id_}")


def due(books: Books, *invoices: Json) -> list[tuple[str, str]]:
    """State and balance of each."""
    found = [invoice(books, each["id"]) for each in invoices]
    return [(each["status"], each["balanceDue"]) for each in found]


def parts(payment: Json) -> list[tuple[str, str]]:
    return sorted((part["invoiceId"], part["amount"]) for part in payment["invoices"])


def refused(books: Books, operation: str, /, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **body)
    return caught.value


def test_a_payment_is_for_the_oldest_tax_points_and_the_rest_is_on_account(books: Books) -> None:
    client = books.client()
    newer = owing(books, client, "50.00", issueDate="2026-10-02")
    older = owing(books, client, "100.00", issueDate="2026-10-01")
    newest = owing(books, client, "30.00", issueDate="2026-10-03")
    paid = books.post("recordClientPayment", clientId=client, amount="120.00", date="2026-10-20", method="cash")
    assert parts(paid) == sorted([(older["id"], "100.00"), (newer["id"], "20.00")])
    assert paid["onAccount"] == "0.00"
    assert "warnings" not in paid
    assert due(books, older, newer, newest) == [("paid", "0.00"), ("part_paid", "30.00"), ("issued", "30.00")]
    assert balances(books, client) == ("60.00", "0.00")
    more = books.post("recordClientPayment", clientId=client, amount="75.00", reference="All of it")
    assert (more["onAccount"], [warning["code"] for warning in more["warnings"]]) == ("15.00", ["on_account"])
    assert balances(books, client) == ("0.00", "15.00")
    shown = invoice(books, newest["id"])["payments"][0]
    assert (shown["reference"], shown["clientPaymentId"]) == ("All of it", more["id"])


def test_a_payment_is_for_the_invoices_that_it_names(books: Books) -> None:
    client = books.client()
    first, second, third = (owing(books, client, "100.00") for _ in range(3))
    named = [{"invoiceId": third["id"], "amount": "40.00"}, {"invoiceId": second["id"]}]
    paid = books.post("recordClientPayment", clientId=client, amount="150.00", invoices=named)
    assert paid["onAccount"] == "10.00"
    assert due(books, first, second, third) == [("issued", "100.00"), ("paid", "0.00"), ("part_paid", "60.00")]


def test_what_is_for_no_invoice_stays_on_account(books: Books) -> None:
    client = books.client()
    owed = owing(books, client, "100.00")
    paid = books.post("recordClientPayment", clientId=client, amount="40.00", invoices=[])
    assert (paid["invoices"], paid["onAccount"]) == ([], "40.00")
    assert balances(books, client) == ("100.00", "40.00")
    used = books.post("applyCredit", clientId=client, reference="As agreed")
    assert (used["kind"], used["amount"], used["onAccount"], used["reference"]) == (
        *("credit", "40.00", "-40.00", "As agreed"),
    )
    assert due(books, owed) == [("part_paid", "60.00")]
    assert balances(books, client) == ("60.00", "0.00")


def test_what_was_paid_too_much_is_set_against_another_invoice_and_taken_back(books: Books) -> None:
    client = books.client()
    over, other = owing(books, client, "800.00"), owing(books, client, "300.00")
    books.post("recordPayment", invoiceId=over["id"], amount="900.00")
    assert balances(books, client) == ("300.00", "100.00")
    used = books.post("applyCredit", clientId=client, invoices=[{"invoiceId": other["id"]}])
    assert parts(used) == sorted([(over["id"], "-100.00"), (other["id"], "100.00")])
    assert (used["amount"], used["onAccount"]) == ("100.00", "0.00")
    assert due(books, over, other) == [("paid", "0.00"), ("part_paid", "200.00")]
    assert invoice(books, over["id"])["paidTotal"] == "800.00"
    books.post("removeClientPayment", clientPaymentId=used["id"])
    assert due(books, over, other) == [("paid", "-100.00"), ("sent", "300.00")]
    assert balances(books, client) == ("300.00", "100.00")


def test_a_credit_note_on_a_paid_invoice_is_carried_to_the_next(books: Books) -> None:
    client = books.client()
    sold, other = owing(books, client, "120.00"), owing(books, client, "50.00")
    books.post("recordPayment", invoiceId=sold["id"])
    books.credit(sold["id"])
    used = books.post("applyCredit", clientId=client, amount="50.00")
    assert due(books, sold, other) == [("paid", "-70.00"), ("paid", "0.00")]
    back = books.post("refundClient", clientId=client, method="cheque", reference="000017", date="2026-11-20")
    assert (back["kind"], back["amount"], back["method"], back["reference"]) == ("refund", "70.00", "cheque", "000017")
    assert parts(back) == [(sold["id"], "-70.00")]
    assert due(books, sold) == [("paid", "0.00")]
    assert refused(books, "removePayment", invoiceId=sold["id"], position=1).code == "invalid_state"
    books.post("removeClientPayment", clientPaymentId=used["id"], expectedVersion=1)
    assert due(books, sold, other) == [("paid", "-50.00"), ("sent", "50.00")]


def test_no_more_goes_back_than_there_is(books: Books) -> None:
    client = books.client()
    over = owing(books, client, "800.00")
    books.post("recordPayment", invoiceId=over["id"], amount="850.00", date="2026-11-10")
    books.post("recordClientPayment", clientId=client, amount="20.00", date="2026-11-12")
    wrong = refused(books, "refundClient", clientId=client, amount="70.01")
    assert fields_of(wrong) == [("amount", "out_of_range")]
    assert "70.00" in wrong.message
    assert fields_of(refused(books, "refundClient", clientId=client, date="2026-11-09")) == [("amount", "out_of_range")]
    assert books.post("refundClient", clientId=client, date="2026-11-11")["amount"] == "50.00"
    assert books.post("refundClient", clientId=client)["onAccount"] == "-20.00"
    assert fields_of(refused(books, "refundClient", clientId=client)) == [("amount", "out_of_range")]
    assert fields_of(refused(books, "applyCredit", clientId=client)) == [("amount", "out_of_range")]


def test_what_was_used_is_not_taken_back(books: Books) -> None:
    client = books.client()
    paid = books.post("recordClientPayment", clientId=client, amount="40.00", date="2026-11-02")
    refund = books.post("refundClient", clientId=client, amount="30.00", date="2026-11-03")
    problem = refused(books, "removeClientPayment", clientPaymentId=paid["id"])
    assert (problem.code, balances(books, client)) == ("invalid_state", ("0.00", "10.00"))
    later = books.post("recordClientPayment", clientId=client, amount="40.00", date="2026-11-04")
    assert refused(books, "removeClientPayment", clientPaymentId=paid["id"]).code == "invalid_state"  # not yet there
    books.post("removeClientPayment", clientPaymentId=refund["id"])
    books.post("removeClientPayment", clientPaymentId=paid["id"])
    assert balances(books, client) == ("0.00", "40.00")
    wrong = refused(books, "removeClientPayment", clientPaymentId=later["id"], expectedVersion=2)
    assert wrong.code == "version_conflict"


def test_a_part_is_taken_back_with_the_whole(books: Books) -> None:
    client = books.client()
    first, second = owing(books, client, "100.00"), owing(books, client, "100.00")
    paid = books.post("recordClientPayment", clientId=client, amount="200.00")
    problem = refused(books, "removePayment", invoiceId=first["id"], position=1)
    assert problem.code == "invalid_state"
    assert paid["id"] in problem.message
    books.post("removeClientPayment", clientPaymentId=paid["id"])
    assert due(books, first, second) == [("sent", "100.00"), ("sent", "100.00")]
    assert books.get("listClientPayments") == ([], None)


def test_an_invoice_whose_money_came_and_went_back_is_not_void(books: Books) -> None:
    client = books.client()
    sold = owing(books, client, "120.00")
    books.post("recordPayment", invoiceId=sold["id"], date="2026-11-20")
    note = books.credit(sold["id"])
    books.post("refundClient", clientId=client)
    books.post("voidInvoice", invoiceId=note["id"], reason="A slip")
    assert due(books, sold) == [("sent", "120.00")]
    assert refused(books, "voidInvoice", invoiceId=sold["id"], reason="A slip").code == "invalid_state"


def test_what_is_wrong_with_the_invoices_is_told_all_at_once(books: Books) -> None:
    client, other = books.client(), books.client("Quay Ltd")
    paid, owed = owing(books, client, "10.00"), owing(books, client, "10.00")
    books.post("recordPayment", invoiceId=paid["id"])
    note = books.credit(owed["id"], lines=lines({"unitPrice": "1.00"}))
    foreign = owing(books, client, "10.00", currency="USD", fxRate="0.75")
    named = [
        {"invoiceId": "inv_01k0000000000000000000000z"},
        {"invoiceId": paid["id"]},
        {"invoiceId": note["id"]},
        {"invoiceId": owing(books, other, "10.00")["id"]},
        {"invoiceId": foreign["id"]},
        {"invoiceId": owed["id"], "amount": "9.001"},
        {"invoiceId": owed["id"], "amount": "9.01"},
        {"invoiceId": owed["id"], "amount": "5.00"},
    ]
    wrong = refused(books, "recordClientPayment", clientId=client, amount="100.00", invoices=named)
    assert fields_of(wrong) == [
        ("invoices[0].invoiceId", "unknown_reference"),
        ("invoices[1].invoiceId", "conflict"),
        ("invoices[2].invoiceId", "conflict"),
        ("invoices[3].invoiceId", "conflict"),
        ("invoices[4].invoiceId", "currency_mismatch"),
        ("invoices[5].amount", "invalid_decimal"),
        ("invoices[6].amount", "out_of_range"),
        ("invoices[7].invoiceId", "conflict"),
    ]
    named = [{"invoiceId": owed["id"], "amount": "9.00"}]
    wrong = refused(books, "recordClientPayment", clientId=client, amount="8.00", invoices=named)
    assert fields_of(wrong) == [("invoices", "out_of_range")]
    wrong = refused(books, "applyCredit", clientId=client, invoices=named)
    assert fields_of(wrong) == [("amount", "out_of_range")]


def test_what_is_wrong_with_the_rest_is_told(books: Books) -> None:
    client = books.client()
    far = "2027-01-01"
    unknown = "cli_01k0000000000000000000000z"
    wrong = refused(books, "recordClientPayment", clientId=unknown, amount="1.00", date=far)
    assert fields_of(wrong) == [("clientId", "unknown_reference"), ("date", "out_of_range")]
    assert fields_of(refused(books, "recordClientPayment", clientId=client)) == [("amount", "required")]
    for amount, code in (("0.00", "out_of_range"), ("-1.00", "out_of_range"), ("1.001", "invalid_decimal")):
        assert fields_of(refused(books, "recordClientPayment", clientId=client, amount=amount)) == [("amount", code)]
    wrong = refused(books, "refundClient", clientId=client, legalEntityId="ent_01k0000000000000000000000z")
    assert fields_of(wrong) == [("legalEntityId", "unknown_reference")]
    wrong = refused(books, "recordClientPayment", clientId=client, amount="1.00", fxRate="0.9")
    assert fields_of(wrong) == [("fxRate", "conflict")]


def test_credit_is_of_one_seller_and_one_currency(registered: Books) -> None:
    books = registered
    client = books.client()
    other = books.entity(name="Quay", vatNumber="GB 434 0314 94")
    (first,) = set(books.store.read(_entities, books.org_id)) - {other}
    assert fields_of(refused(books, "recordClientPayment", clientId=client, amount="1.00")) == [
        ("legalEntityId", "required")
    ]
    books.post("recordClientPayment", clientId=client, legalEntityId=first, amount="100.00", externalId="a")
    books.post(
        "recordClientPayment", clientId=client, legalEntityId=first, amount="70.00", currency="EUR", externalId="b"
    )
    for body in ({"legalEntityId": other}, {"legalEntityId": first, "currency": "USD"}):
        assert fields_of(refused(books, "refundClient", clientId=client, **body)) == [("amount", "out_of_range")]
    sold = owing(books, client, "40.00", legalEntityId=other)
    named = [{"invoiceId": sold["id"], "amount": "1.00"}]
    wrong = refused(books, "applyCredit", clientId=client, legalEntityId=first, invoices=named)
    assert fields_of(wrong) == [("invoices[0].invoiceId", "conflict")]
    foreign = owing(books, client, "40.00", legalEntityId=first, currency="EUR", fxRate="0.85")
    used = books.post(
        "applyCredit", clientId=client, legalEntityId=first, currency="EUR", fxRate="0.86", date="2026-11-20"
    )
    assert (used["amount"], used["date"]) == ("48.00", "2026-11-20")
    assert invoice(books, foreign["id"])["payments"][0]["fxRate"] == "0.86"
    back = books.post("refundClient", clientId=client, legalEntityId=first, currency="EUR", externalId="c")
    assert back["amount"] == "22.00"
    assert balances(books, client) == ("48.00", "100.00")


def _entities(tx: ReadTx) -> list[str]:
    return [str(id_) for (id_,) in tx.rows("SELECT id FROM legal_entities WHERE org_id = :org_id")]


def test_an_external_id_is_taken_once(books: Books) -> None:
    client = books.client()
    books.post("recordClientPayment", clientId=client, amount="9.00", externalId="bank-7")
    owing(books, client, "1.00")
    for operation in ("recordClientPayment", "applyCredit", "refundClient"):
        problem = refused(books, operation, clientId=client, amount="1.00", externalId="bank-7")
        assert problem.code == "already_exists"


def test_the_list_has_its_filters(registered: Books) -> None:
    books = registered
    client, other = books.client(), books.client("Quay Ltd")
    first = books.post("recordClientPayment", clientId=client, amount="9.00", date="2026-11-02", externalId="x-1")
    second = books.post("recordClientPayment", clientId=other, amount="9.00", date="2026-11-04", currency="EUR")
    third = books.post("refundClient", clientId=client, amount="2.00", date="2026-11-05")

    def ids(query: str) -> list[str]:
        return [row["id"] for row in books.walk("listClientPayments", query)]

    assert ids("limit=1") == [third["id"], second["id"], first["id"]]
    assert ids(f"clientId={client}") == [third["id"], first["id"]]
    assert ids("kind=refund") == [third["id"]]
    assert ids("currency=EUR") == [second["id"]]
    assert ids("externalId=x-1") == [first["id"]]
    assert ids("fromDate=2026-11-04&toDate=2026-11-04") == [second["id"]]
    assert ids(f"legalEntityId={first['legalEntityId']}") == [third["id"], second["id"], first["id"]]
    assert ids("legalEntityId=ent_01k0000000000000000000000z") == []
    assert ids("bankTransactionId=btx_01k0000000000000000000000z") == []
    since = "2026-11-01T00:00:00Z"
    assert ids(f"updatedSince={since}") == [first["id"], second["id"], third["id"]]
    with pytest.raises(Problem) as caught:
        books.get("listClientPayments", "fromDate=2026-11-04&toDate=2026-11-03")
    assert fields_of(caught.value) == [("toDate", "date_order")]
    assert books.one("getClientPayment", f"clientPaymentId={third['id']}") == third


def test_who_follows_clients_learns_of_their_credit(books: Books) -> None:
    client = books.client()
    before = books.one("getClient", f"clientId={client}")
    books.store.clock.advance(DAY)
    books.post("recordClientPayment", clientId=client, amount="9.00")
    after = books.one("getClient", f"clientId={client}")
    assert after["updatedAt"] > before["updatedAt"]
    assert after["version"] == before["version"]


def test_another_organization_has_none_of_it(books: Books) -> None:
    client = books.client()
    paid = books.post("recordClientPayment", clientId=client, amount="9.00")
    strangers = Books(books.store, "Elm Ltd")
    with pytest.raises(Problem) as caught:
        strangers.one("getClientPayment", f"clientPaymentId={paid['id']}")
    assert caught.value.code == "not_found"
    assert refused(strangers, "removeClientPayment", clientPaymentId=paid["id"]).code == "not_found"
    assert fields_of(refused(strangers, "refundClient", clientId=client)) == [("clientId", "unknown_reference")]
    own, sold = strangers.client(), owing(books, client, "9.00")
    named = [{"invoiceId": sold["id"]}]
    wrong = refused(strangers, "recordClientPayment", clientId=own, amount="9.00", invoices=named)
    assert fields_of(wrong) == [("invoices[0].invoiceId", "unknown_reference")]
