"""Payments and refunds of clients with bank transactions: each part is of its invoice, or of what is on account."""

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json, fields_of, lines
from tests.areas.banking.conftest import Trading
from tests.areas.banking.lines import BankedBooks


def owing(trading: Trading, client: str, amount: str, **fields: object) -> Json:
    line = {"unitPrice": amount, "vatCode": "zero"}
    return trading.invoice(clientId=client, lines=lines(line), **fields)


def parts(trading: BankedBooks, line: str) -> list[tuple[str, str | None, str]]:
    """Direction, invoice and amount of each part of a line, none of which is income."""
    found, _ = trading.get("listAllocations", f"bankTransactionId={line}")
    assert {(row["category"], row["purpose"]) for row in found} <= {("not_pnl", "invoice_payment")}
    return sorted((row["direction"], row["invoiceId"] or "", row["amount"]) for row in found)


def refused(books: BankedBooks, operation: str, /, **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        books.post(operation, **body)
    return caught.value


def test_each_invoice_takes_its_part_of_the_line_and_gives_it_back(trading: Trading) -> None:
    client = trading.client()
    first, second = owing(trading, client, "100.00"), owing(trading, client, "50.00")
    line = trading.line(trading.current, 170_00)
    paid = trading.post("recordClientPayment", clientId=client, bankTransactionId=line)
    assert (paid["amount"], paid["onAccount"], paid["date"]) == ("170.00", "20.00", trading.line_of(line).date)
    wanted = [("in", first["id"], "100.00"), ("in", second["id"], "50.00"), ("in", "", "20.00")]
    assert parts(trading, line) == sorted(wanted)
    assert trading.left(line) == 0
    over = next(row for row in trading.get("listAllocations", "")[0] if row["invoiceId"] is None)
    problem = refused(trading, "removeAllocation", allocationId=over["id"])
    assert (problem.code, "removeClientPayment" in problem.message) == ("invalid_state", True)
    assert [row["id"] for row in trading.walk("listClientPayments", f"bankTransactionId={line}")] == [paid["id"]]
    trading.post("removeClientPayment", clientPaymentId=paid["id"])
    assert (parts(trading, line), trading.left(line)) == ([], 170_00)


def test_a_refund_is_a_part_of_money_that_went_out(trading: Trading) -> None:
    client = trading.client()
    sold = owing(trading, client, "100.00")
    came = trading.line(trading.current, 130_00)
    trading.post("recordPayment", invoiceId=sold["id"], amount="130.00", bankTransactionId=came)
    ahead = trading.line(trading.current, 15_00)
    trading.post("recordClientPayment", clientId=client, bankTransactionId=ahead)
    went = trading.line(trading.current, -40_00)
    back = trading.post("refundClient", clientId=client, bankTransactionId=went)
    assert (back["amount"], back["onAccount"]) == ("40.00", "-10.00")
    assert parts(trading, went) == [("out", "", "10.00"), ("out", sold["id"], "30.00")]
    assert trading.left(went) == 0
    wrong = refused(trading, "refundClient", clientId=client, amount="1.00", bankTransactionId=went)
    assert fields_of(wrong) == [("bankTransactionId", "conflict")]
    trading.post("removeClientPayment", clientPaymentId=back["id"])
    assert (parts(trading, went), trading.left(went)) == ([], -40_00)


def test_what_is_wrong_with_the_line_is_told(trading: Trading) -> None:
    client = trading.client()
    sold = owing(trading, client, "100.00")
    went, came = trading.line(trading.current, -40_00), trading.line(trading.current, 40_00)
    pay = {"clientId": client, "amount": "10.00"}
    wrong = refused(trading, "recordClientPayment", **pay, bankTransactionId=went)
    assert fields_of(wrong) == [("bankTransactionId", "conflict")]
    wrong = refused(trading, "refundClient", **pay, bankTransactionId=came)
    assert fields_of(wrong) == [("bankTransactionId", "conflict")]
    wrong = refused(trading, "recordClientPayment", **pay, bankTransactionId="btx_01k0000000000000000000000z")
    assert fields_of(wrong) == [("bankTransactionId", "unknown_reference")]
    wrong = refused(trading, "recordClientPayment", **pay, bankTransactionId=came, date="2026-01-02")
    assert fields_of(wrong) == [("date", "conflict")]
    wrong = refused(trading, "recordClientPayment", clientId=client, amount="40.01", bankTransactionId=came)
    assert fields_of(wrong) == [("amount", "out_of_range")]
    wrong = refused(trading, "recordClientPayment", **pay, bankTransactionId=came, currency="EUR", fxRate="0")
    assert fields_of(wrong) == [("fxRate", "out_of_range")]
    trading.post("recordPayment", invoiceId=sold["id"], amount="5.00", bankTransactionId=came)
    wrong = refused(trading, "recordClientPayment", **pay, bankTransactionId=came)
    assert fields_of(wrong) == [("bankTransactionId", "conflict")]
    other = trading.entity(name="Quay", vatNumber="GB 434 0314 94")
    theirs = trading.line(trading.account(other, trading.business(other)), 40_00)
    wrong = refused(trading, "recordClientPayment", **pay, legalEntityId=trading.owner, bankTransactionId=theirs)
    assert fields_of(wrong) == [("bankTransactionId", "conflict")]


def test_a_line_in_pounds_pays_invoices_in_dollars_by_what_it_brought(trading: Trading) -> None:
    """80 GBP for 100 USD are 0.8 each; of the line 48 and 16 are for the invoices, and 16 are over."""
    client = trading.client(currency="USD")
    first = owing(trading, client, "60.00", fxRate="0.75")
    second = owing(trading, client, "20.00", fxRate="0.75")
    line = trading.line(trading.current, 80_00)
    wrong = refused(trading, "recordClientPayment", clientId=client, bankTransactionId=line)
    assert fields_of(wrong) == [("amount", "required")]
    paid = trading.post("recordClientPayment", clientId=client, amount="100.00", bankTransactionId=line)
    assert paid["onAccount"] == "20.00"
    assert parts(trading, line) == sorted(
        [("in", first["id"], "48.00"), ("in", second["id"], "16.00"), ("in", "", "16.00")]
    )
    assert trading.one("getInvoice", f"invoiceId={first['id']}")["payments"][0]["fxRate"] == "0.8"
    went = trading.line(trading.current, -17_00)
    back = trading.post("refundClient", clientId=client, amount="20.00", bankTransactionId=went)
    assert (back["onAccount"], parts(trading, went)) == ("-20.00", [("out", "", "17.00")])


def test_closed_days_stay_as_they_are(trading: Trading) -> None:
    client = trading.client()
    over = owing(trading, client, "100.00", issueDate="2026-11-02")
    trading.post("recordPayment", invoiceId=over["id"], amount="110.00", date="2026-11-02")
    paid = trading.post("recordClientPayment", clientId=client, amount="20.00", date="2026-10-05", invoices=[])
    moved = trading.post("recordClientPayment", clientId=client, amount="5.00", date="2026-11-05", invoices=[])
    owed = owing(trading, client, "50.00", issueDate="2026-11-03")
    close = ("2026-10-01", "2026-10-31")
    trading.store.write(lambda tx: period_locks.close(tx, trading.owner, *close), trading.org_id)
    for operation, body in (
        ("recordClientPayment", {"amount": "1.00", "date": "2026-10-10"}),
        ("recordClientPayment", {"amount": "1.00", "date": "2026-10-10", "invoices": []}),
        ("applyCredit", {"amount": "1.00", "date": "2026-10-10"}),
        ("refundClient", {"amount": "1.00", "date": "2026-10-10"}),
    ):
        assert refused(trading, operation, clientId=client, **body).code == "period_closed"
    assert refused(trading, "removeClientPayment", clientPaymentId=paid["id"]).code == "period_closed"
    trading.post("removeClientPayment", clientPaymentId=moved["id"])
    assert trading.post("applyCredit", clientId=client)["amount"] == "30.00"
    assert trading.one("getInvoice", f"invoiceId={owed['id']}")["balanceDue"] == "20.00"


def test_a_line_has_room_for_so_many_parts(trading: Trading) -> None:
    client = trading.client()
    line, went = trading.line(trading.current, 300_00), trading.line(trading.current, -300_00)
    for each in (line, went):
        for _ in range(2):
            filled = [{"category": "adminCosts", "amount": "1.00"}] * 100
            trading.post("allocate", bankTransactionId=each, parts=filled)
    trading.post("recordClientPayment", clientId=client, amount="10.00", date="2026-11-01")
    pay = {"clientId": client, "amount": "10.00"}
    assert refused(trading, "recordClientPayment", **pay, bankTransactionId=line).code == "limit_reached"
    assert refused(trading, "refundClient", **pay, bankTransactionId=went).code == "limit_reached"


def test_a_line_that_is_not_booked_pays_nothing(trading: Trading) -> None:
    client = trading.client()
    trading.post("recordClientPayment", clientId=client, amount="10.00")
    for operation, amount in (("recordClientPayment", 10_00), ("refundClient", -10_00)):
        line = trading.line(trading.current, amount, status="pending")
        problem = refused(trading, operation, clientId=client, amount="10.00", bankTransactionId=line)
        assert problem.code == "invalid_state"
