"""What clients owe: aged debtors of any day, and statements of account."""

import datetime
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.accounting.receivables import balances, operations
from gatewayd.errors import Problem
from tests.areas.accounting.books import OTHER_BRITISH_VAT_NUMBER, RANDOM_BOOKS, Books, Json, fields_of
from tests.support.store import MemoryStore

TODAY = "2026-11-20"


def sold(books: Books, client_id: str, amount: str, on: str, **fields: object) -> Json:
    """An invoice of one line without VAT, issued on a day and due 30 days later, but for what `fields` say."""
    line = {"description": "Joinery", "unitPrice": amount}
    return books.invoice(clientId=client_id, issueDate=on, supplyDate=on, lines=[line], **fields)


def paid(books: Books, invoice: Json, amount: str, on: str, **fields: object) -> Json:
    return books.post("recordPayment", invoiceId=invoice["id"], amount=amount, date=on, **fields)


def aged(books: Books, query: str = "") -> Json:
    return books.one("agedDebtors", query)


def statement(books: Books, client_id: str, query: str = "") -> Json:
    return books.one("getStatement", f"clientId={client_id}&{query}")


def wrong(books: Books, operation: str, query: str) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        books.one(operation, query)
    return fields_of(caught.value)


def amounts(of: Json) -> list[str]:
    return list(of["amounts"])


# -- aged debtors


def test_what_is_owed_is_told_by_its_age(books: Books) -> None:
    client = books.client("Harbour Ltd")
    for amount, due in (("1", "2026-11-20"), ("2", "2026-11-19"), ("4", "2026-10-21"), ("8", "2026-10-20")):
        sold(books, client, amount, "2026-08-01", dueDate=due)
    for amount, due in (("16", "2026-09-21"), ("32", "2026-09-20"), ("64", "2026-08-22"), ("128", "2026-08-21")):
        sold(books, client, amount, "2026-08-01", dueDate=due)
    found = aged(books)
    assert found["asOfDate"] == TODAY
    assert [(band["fromDays"], band["toDays"]) for band in found["bands"]] == [
        (None, None),
        (1, 30),
        (31, 60),
        (61, 90),
        (91, None),
    ]
    # 20 November is the 30th day after 21 October, the 60th after 21 September, the 90th after 22 August
    assert amounts(found["totals"][0]) == ["1.00", "6.00", "24.00", "96.00", "128.00"]
    (line,) = found["clients"]
    assert (line["clientId"], line["clientName"], line["currency"]) == (client, "Harbour Ltd", "GBP")
    assert amounts(line) == amounts(found["totals"][0])
    assert (line["owed"], line["overdue"], line["credit"], line["balance"]) == ("255.00", "254.00", "0.00", "255.00")


def test_a_day_of_the_past_is_as_it_was(books: Books) -> None:
    client = books.client()
    invoice = sold(books, client, "100", "2026-09-01", dueDate="2026-09-30")
    paid(books, invoice, "30", "2026-09-20")
    books.credit(invoice["id"], issueDate="2026-10-10", lines=[{"description": "Back", "unitPrice": "20"}])
    paid(books, invoice, "50", "2026-11-01")
    owed = {
        day: [line["balance"] for line in aged(books, f"asOfDate={day}")["clients"]]
        for day in ("2026-08-31", "2026-09-01", "2026-09-20", "2026-10-09", "2026-10-10", "2026-10-31", "2026-11-01")
    }
    assert list(owed.values()) == [[], ["100.00"], ["70.00"], ["70.00"], ["50.00"], ["50.00"], []]
    assert amounts(aged(books, "asOfDate=2026-09-30")["totals"][0]) == ["70.00", "0.00", "0.00", "0.00", "0.00"]
    assert amounts(aged(books, "asOfDate=2026-10-31")["totals"][0]) == ["0.00", "0.00", "50.00", "0.00", "0.00"]
    assert aged(books)["clients"] == [] == aged(books)["totals"]


def test_what_is_paid_too_much_stands_apart(books: Books) -> None:
    client = books.client()
    sold(books, client, "40", "2026-11-01", dueDate="2026-11-30")
    paid(books, sold(books, client, "100", "2026-11-01"), "130", "2026-11-10")
    (line,) = aged(books)["clients"]
    assert amounts(line)[0] == "40.00"
    assert (line["owed"], line["credit"], line["balance"]) == ("40.00", "30.00", "10.00")
    (total,) = aged(books)["totals"]
    assert (total["owed"], total["credit"], total["balance"]) == ("40.00", "30.00", "10.00")


def test_money_ahead_of_its_invoice_is_credit(books: Books) -> None:
    client = books.client()
    paid(books, sold(books, client, "100", "2026-11-10"), "100", "2026-11-05")
    (line,) = aged(books, "asOfDate=2026-11-07")["clients"]
    assert (line["owed"], line["credit"], line["balance"]) == ("0.00", "100.00", "-100.00")
    found = statement(books, client, "kind=outstanding&toDate=2026-11-07")["currencies"][0]
    assert [(each["kind"], each["amount"]) for each in found["lines"]] == [("payment", "-100.00")]
    assert aged(books)["clients"] == []


def test_drafts_and_what_is_void_are_owed_by_nobody(books: Books) -> None:
    client = books.client()
    sold(books, client, "10", "2026-11-01", status="draft")
    books.post("voidInvoice", invoiceId=sold(books, client, "20", "2026-11-01")["id"], reason="A mistake")
    kept = sold(books, client, "40", "2026-11-01")
    note = books.credit(kept["id"], issueDate="2026-11-02")
    books.post("voidInvoice", invoiceId=note["id"], reason="A mistake")
    assert [line["balance"] for line in aged(books)["clients"]] == ["40.00"]
    assert [line["balance"] for line in aged(books, "asOfDate=2026-11-01")["clients"]] == ["40.00"]
    assert [line["number"] for line in statement(books, client)["currencies"][0]["lines"]] == [kept["number"]]


def test_currencies_are_never_added(books: Books) -> None:
    client = books.client("Quay Ltd", currency="USD")
    sold(books, client, "100", "2026-11-01", currency="USD", fxRate="0.8")
    sold(books, client, "70", "2026-11-01", currency="GBP")
    found = aged(books)
    assert [(line["currency"], line["balance"]) for line in found["totals"]] == [("GBP", "70.00"), ("USD", "100.00")]
    assert [(line["currency"], line["balance"]) for line in found["clients"]] == [("GBP", "70.00"), ("USD", "100.00")]
    assert [line["currency"] for line in aged(books, "currency=USD")["totals"]] == ["USD"]
    accounts = statement(books, client)["currencies"]
    assert [(each["currency"], each["balance"]) for each in accounts] == [("GBP", "70.00"), ("USD", "100.00")]
    assert [each["currency"] for each in statement(books, client, "currency=USD")["currencies"]] == ["USD"]


def test_bands_are_as_one_asks(books: Books) -> None:
    client = books.client()
    sold(books, client, "1", "2026-09-01", dueDate="2026-11-13")
    sold(books, client, "2", "2026-09-01", dueDate="2026-11-12")
    found = aged(books, "bandEnds=7")
    assert [(band["fromDays"], band["toDays"]) for band in found["bands"]] == [(None, None), (1, 7), (8, None)]
    assert amounts(found["totals"][0]) == ["0.00", "1.00", "2.00"]
    six = aged(books, "bandEnds=1,2,3,4,5,6")
    assert amounts(six["totals"][0]) == [*["0.00"] * 7, "3.00"]
    assert wrong(books, "agedDebtors", "bandEnds=30,30") == [("bandEnds", "conflict")]


def test_one_client_or_one_seller_alone(registered: Books) -> None:
    seller = registered.entity(name="Elm", vatNumber=OTHER_BRITISH_VAT_NUMBER)
    other = registered.entity(name="Ash", vatNumber=None, vat=None)
    first, second = registered.client("A"), registered.client("b")
    sold(registered, first, "100", "2026-11-01", legalEntityId=seller)
    sold(registered, second, "50", "2026-11-01", legalEntityId=other)
    assert [line["clientName"] for line in aged(registered)["clients"]] == ["A", "b"]
    assert [line["balance"] for line in aged(registered, f"clientId={second}")["clients"]] == ["50.00"]
    assert [line["balance"] for line in aged(registered, f"legalEntityId={seller}")["clients"]] == ["120.00"]
    assert statement(registered, first, f"legalEntityId={other}")["currencies"] == []
    assert len(statement(registered, first, f"legalEntityId={seller}")["currencies"]) == 1
    unknown = "legalEntityId=ent_01k00000000000000000000000&clientId=cli_01k00000000000000000000000"
    assert wrong(registered, "agedDebtors", unknown) == [
        ("legalEntityId", "unknown_reference"),
        ("clientId", "unknown_reference"),
    ]


def test_nothing_of_another_organization_is_told(store: MemoryStore, books: Books) -> None:
    other = Books(store, "Elm Ltd")
    client = other.client()
    paid(other, sold(other, client, "100", "2026-11-01"), "40", "2026-11-10")
    assert aged(books)["clients"] == [] == aged(books, "asOfDate=2026-11-05")["clients"]
    assert wrong(books, "agedDebtors", f"clientId={client}") == [("clientId", "unknown_reference")]
    with pytest.raises(Problem) as caught:
        statement(books, client)
    assert caught.value.code == "not_found"


def test_today_costs_a_look_at_what_is_open_alone(store: MemoryStore, books: Books) -> None:
    plan = store.read(lambda tx: tx.rows(f"EXPLAIN QUERY PLAN {balances._OPEN}"), books.org_id)
    assert any("COVERING INDEX invoices_open" in row[-1] for row in plan), plan
    overpaid = store.read(lambda tx: tx.rows(f"EXPLAIN QUERY PLAN {balances._OVERPAID}"), books.org_id)
    assert any("INDEX invoices_overpaid" in row[-1] for row in overpaid), overpaid


# -- statements of account


def test_a_statement_runs_from_what_was_there_to_what_is(books: Books) -> None:
    client = books.client("Harbour Ltd")
    before = sold(books, client, "100", "2026-09-15", reference="Stairs")
    paid(books, before, "30", "2026-09-20")
    paid(books, before, "20", "2026-10-01", reference="BACS 7")
    second = sold(books, client, "200", "2026-10-05", dueDate="2026-10-31")
    books.credit(second["id"], issueDate="2026-10-05", lines=[{"description": "Back", "unitPrice": "50"}])
    paid(books, second, "150", TODAY)
    found = statement(books, client, "fromDate=2026-10-01&toDate=2026-10-31")
    assert (found["clientId"], found["clientName"], found["kind"]) == (client, "Harbour Ltd", "activity")
    assert (found["fromDate"], found["toDate"]) == ("2026-10-01", "2026-10-31")
    (account,) = found["currencies"]
    assert (account["currency"], account["openingBalance"]) == ("GBP", "70.00")
    shown = [(line["date"], line["kind"], line["total"], line["amount"], line["balance"]) for line in account["lines"]]
    assert shown == [
        ("2026-10-01", "payment", "20.00", "-20.00", "50.00"),
        ("2026-10-05", "invoice", "200.00", "200.00", "250.00"),
        ("2026-10-05", "credit_note", "50.00", "-50.00", "200.00"),
    ]
    assert [line["dueDate"] for line in account["lines"]] == [None, "2026-10-31", None]
    assert account["lines"][0]["invoiceId"] == before["id"]
    assert [account["lines"][0][name] for name in ("number", "reference")] == [before["number"], "BACS 7"]
    # the first was due on 15 October, the second on the day itself
    assert amounts(account) == ["150.00", "50.00", "0.00", "0.00", "0.00"]
    assert (account["owed"], account["overdue"], account["balance"]) == ("200.00", "50.00", "200.00")


def test_days_are_this_month_and_the_one_before_by_default(books: Books) -> None:
    client = books.client()
    sold(books, client, "1", "2026-09-30")
    sold(books, client, "2", "2026-10-01")
    found = statement(books, client)
    assert (found["fromDate"], found["toDate"]) == ("2026-10-01", TODAY)
    assert found["currencies"][0]["openingBalance"] == "1.00"
    assert [line["amount"] for line in found["currencies"][0]["lines"]] == ["2.00"]


def test_what_is_outstanding_is_what_is_open(books: Books) -> None:
    client = books.client()
    first = sold(books, client, "100", "2026-08-01", reference="Doors")
    paid(books, first, "40", "2026-08-15")
    paid(books, sold(books, client, "70", "2026-09-01"), "70", "2026-09-02")
    over = sold(books, client, "30", "2026-10-01")
    paid(books, over, "35", "2026-10-02")
    found = statement(books, client, "kind=outstanding")
    assert (found["kind"], found["fromDate"], found["toDate"]) == ("outstanding", None, TODAY)
    (account,) = found["currencies"]
    assert [(line["number"], line["total"], line["amount"], line["balance"]) for line in account["lines"]] == [
        (first["number"], "100.00", "60.00", "60.00"),
        (over["number"], "30.00", "-5.00", "55.00"),
    ]
    assert (account["openingBalance"], account["owed"], account["credit"]) == ("0.00", "60.00", "5.00")
    assert account["balance"] == statement(books, client)["currencies"][0]["balance"] == "55.00"
    assert wrong(books, "getStatement", f"clientId={client}&kind=outstanding&fromDate=2026-01-01") == [
        ("fromDate", "conflict")
    ]


def test_a_payment_for_several_invoices_is_one_line(books: Books) -> None:
    client = books.client()
    first, second = sold(books, client, "60", "2026-10-05"), sold(books, client, "50", "2026-10-06")
    whole = books.post("recordClientPayment", clientId=client, amount="130", date="2026-10-20", reference="BACS 9")
    (account,) = statement(books, client)["currencies"]
    assert [(line["kind"], line["amount"], line["balance"]) for line in account["lines"]] == [
        ("invoice", "60.00", "60.00"),
        ("invoice", "50.00", "110.00"),
        ("payment", "-130.00", "-20.00"),
    ]
    paid_line = account["lines"][2]
    assert [paid_line[name] for name in ("invoiceId", "number", "total")] == [None, None, "130.00"]
    assert (paid_line["clientPaymentId"], paid_line["reference"]) == (whole["id"], "BACS 9")
    assert (account["owed"], account["credit"], account["balance"]) == ("0.00", "20.00", "-20.00")
    assert aged(books)["clients"][0]["credit"] == "20.00"
    assert aged(books, "asOfDate=2026-10-19")["clients"][0]["owed"] == "110.00"
    (open_,) = statement(books, client, "kind=outstanding")["currencies"]
    assert [(line["kind"], line["total"], line["amount"]) for line in open_["lines"]] == [
        ("payment", "20.00", "-20.00")
    ]
    assert {line["invoiceId"] for line in account["lines"]} == {first["id"], second["id"], None}


def test_credit_that_is_carried_on_leaves_the_account_as_it_was(books: Books) -> None:
    client = books.client()
    over = sold(books, client, "30", "2026-10-05")
    paid(books, over, "50", "2026-10-06")
    due = sold(books, client, "45", "2026-10-07")
    books.post("applyCredit", clientId=client, amount="15", date="2026-10-10", invoices=[{"invoiceId": due["id"]}])
    books.post("refundClient", clientId=client, date="2026-10-12", reference="Back to you")
    (account,) = statement(books, client)["currencies"]
    assert [(line["date"], line["kind"], line["amount"], line["balance"]) for line in account["lines"]] == [
        ("2026-10-05", "invoice", "30.00", "30.00"),
        ("2026-10-06", "payment", "-50.00", "-20.00"),
        ("2026-10-07", "invoice", "45.00", "25.00"),
        ("2026-10-12", "refund", "5.00", "30.00"),
    ]
    refund = account["lines"][3]
    assert (refund["invoiceId"], refund["number"], refund["reference"]) == (over["id"], over["number"], "Back to you")
    before, after = aged(books, "asOfDate=2026-10-09")["clients"][0], aged(books, "asOfDate=2026-10-10")["clients"][0]
    assert (before["owed"], before["credit"]) == ("45.00", "20.00")
    assert (after["owed"], after["credit"]) == ("30.00", "5.00")


def test_what_is_written_off_is_owed_no_more(books: Books) -> None:
    client = books.client()
    made = sold(books, client, "100", "2026-09-01", dueDate="2026-09-30")
    paid(books, made, "10", "2026-09-20")
    books.post("writeOffInvoice", invoiceId=made["id"], amount="60", date="2026-10-10", reason="Insolvent")
    paid(books, made, "45", "2026-11-01")  # 30 is due still, and 15 come of what was given up
    owed = {day: aged(books, f"asOfDate={day}")["clients"] for day in ("2026-10-09", "2026-10-10", "2026-11-01")}
    assert [[line["balance"] for line in lines] for lines in owed.values()] == [["90.00"], ["30.00"], []]
    (account,) = statement(books, client, "fromDate=2026-10-01")["currencies"]
    assert [(line["date"], line["kind"], line["amount"], line["balance"]) for line in account["lines"]] == [
        ("2026-10-10", "write_off", "-60.00", "30.00"),
        ("2026-11-01", "payment", "-45.00", "-15.00"),
        ("2026-11-01", "write_off", "15.00", "0.00"),
    ]
    assert {line["number"] for line in account["lines"]} == {made["number"]}
    books.post("reverseWriteOff", invoiceId=made["id"])
    assert aged(books)["clients"][0]["balance"] == "45.00"
    assert aged(books, "asOfDate=2026-10-10")["clients"][0]["balance"] == "90.00"


def test_a_deduction_under_cis_is_owed_by_nobody(books: Books) -> None:
    books.entity(cis={"subcontractor": True, "verifiedRate": 20})
    client = books.client(cisContractor=True)
    line = {"description": "Labour", "unitPrice": "100", "cisLabour": True}
    invoice = books.invoice(clientId=client, issueDate="2026-11-01", supplyDate="2026-11-01", lines=[line])
    assert invoice["cisDeduction"] == "20.00"
    owed = str(Fraction(invoice["grossTotal"]) - 20)
    assert [Fraction(line["balance"]) for line in aged(books)["clients"]] == [Fraction(owed)]
    assert Fraction(statement(books, client)["currencies"][0]["lines"][0]["total"]) == Fraction(owed)


def test_days_that_make_no_statement_are_refused(books: Books) -> None:
    client = books.client()
    query = f"clientId={client}&fromDate=2026-11-02&toDate=2026-11-01"
    assert wrong(books, "getStatement", query) == [("toDate", "date_order")]
    query = f"clientId={client}&legalEntityId=ent_01k00000000000000000000000"
    assert wrong(books, "getStatement", query) == [("legalEntityId", "unknown_reference")]
    assert statement(books, client, "toDate=0001-01-01")["fromDate"] == "0001-01-01"
    assert aged(books, "asOfDate=0001-01-01")["clients"] == []


def test_a_statement_of_too_many_lines_is_refused(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "LINES_MAX", 2)
    client = books.client()
    for _ in range(3):
        sold(books, client, "1", "2026-11-01")
    assert wrong(books, "getStatement", f"clientId={client}") == [("fromDate", "out_of_range")]
    assert statement(books, client, "fromDate=2026-11-02")["currencies"][0]["openingBalance"] == "3.00"


# -- against a plain ledger

DAYS = [datetime.date(2026, 8, 1) + datetime.timedelta(days=number) for number in range(0, 112, 3)]
day_numbers = st.integers(0, len(DAYS) - 1)
pence = st.integers(1, 20000)
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("sell"), st.integers(0, 1), day_numbers, pence, st.integers(0, 60)),
        st.tuples(st.just("pay"), st.integers(0, 5), day_numbers, pence, st.just(0)),
        st.tuples(st.just("credit"), st.integers(0, 5), day_numbers, pence, st.just(0)),
        st.tuples(st.just("write off"), st.integers(0, 5), day_numbers, pence, st.just(0)),
        st.tuples(
            st.sampled_from(["recordClientPayment", "applyCredit", "refundClient"]),
            st.integers(0, 1),
            day_numbers,
            pence,
            st.just(0),
        ),
    ),
    min_size=1,
    max_size=16,
)
Entry = tuple[str, str, str, str, Fraction]
"""Client, day, the invoice that it settles, that invoice's due date, and by how much more is owed."""
Offs = dict[str, tuple[str, Fraction]]
"""By its invoice, the day of a write-off and how much it was."""


def _pounds(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02}"


def _play(books: Books, acts: list[tuple[str, int, int, int, int]]) -> tuple[list[Entry], Offs]:
    """Do what is asked, and write down in plain entries what was not refused."""
    clients = [books.client("A"), books.client("B")]
    invoices: list[Json] = []
    ledger: list[Entry] = []
    offs: Offs = {}
    for act, of, day_number, amount, terms in acts:
        day = DAYS[day_number].isoformat()
        if act == "sell":
            due = (DAYS[day_number] + datetime.timedelta(days=terms)).isoformat()
            invoices.append(sold(books, clients[of], _pounds(amount), day, dueDate=due))
            ledger.append((clients[of], day, invoices[-1]["id"], due, Fraction(amount, 100)))
        elif act in ("recordClientPayment", "applyCredit", "refundClient"):
            try:
                moved = books.post(act, clientId=clients[of], amount=_pounds(amount), date=day)
            except Problem:
                continue
            dues = {invoice["id"]: invoice["dueDate"] for invoice in invoices}
            parts = [(part["invoiceId"], Fraction(part["amount"])) for part in moved["invoices"]]
            ledger += [(clients[of], day, invoice_id, dues[invoice_id], -part) for invoice_id, part in parts]
            ledger.append((clients[of], day, "", "9999-12-31", -Fraction(moved["onAccount"])))
        elif act == "write off" and invoices:
            invoice = invoices[of % len(invoices)]
            try:
                books.post("writeOffInvoice", invoiceId=invoice["id"], amount=_pounds(amount), date=day, reason="Gone")
            except Problem:
                continue
            offs[invoice["id"]] = (day, Fraction(amount, 100))
        elif invoices:
            invoice = invoices[of % len(invoices)]
            try:
                if act == "pay":
                    paid(books, invoice, _pounds(amount), day)
                else:
                    line = {"description": "Back", "unitPrice": _pounds(amount)}
                    books.credit(invoice["id"], issueDate=day, supplyDate=day, lines=[line])
            except Problem:
                continue
            entry = (invoice["clientId"], day, invoice["id"], invoice["dueDate"], -Fraction(amount, 100))
            ledger.append(entry)
    return ledger, offs


def _reckoned(ledger: list[Entry], offs: Offs, client: str, day: str) -> dict[str, Fraction]:
    """By whole days from the due date: what is owed in each band, and what is in hand."""
    left: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for whose, on, invoice, due, change in ledger:
        if whose == client and on <= day:
            left[invoice, due] += change
    found: dict[str, Fraction] = defaultdict(Fraction)
    for (invoice, due), unpaid in left.items():
        off = offs[invoice][1] if invoice in offs and offs[invoice][0] <= day else Fraction()
        change = unpaid - max(Fraction(), min(off, unpaid))
        days = (datetime.date.fromisoformat(day) - datetime.date.fromisoformat(due)).days
        band = next((name for last, name in ((0, "0"), (30, "1"), (60, "2"), (90, "3")) if days <= last), "4")
        found["credit" if change < 0 else band] += abs(change)
    return found


def _told(line: Json) -> dict[str, Fraction]:
    told = {str(place): Fraction(amount) for place, amount in enumerate(line["amounts"])}
    told["credit"] = Fraction(line["credit"])
    return {name: amount for name, amount in told.items() if amount}


@settings(max_examples=RANDOM_BOOKS * 3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, first_number=day_numbers, last_number=day_numbers)
def test_every_day_comes_to_a_plain_ledger(
    store: MemoryStore, acts: list[tuple[str, int, int, int, int]], first_number: int, last_number: int
) -> None:
    books = Books(store, "Random Ltd")
    ledger, offs = _play(books, acts)
    for line in aged(books)["clients"]:
        balances = books.one("getClient", f"clientId={line['clientId']}")["balances"]
        assert (line["owed"], line["overdue"], line["credit"]) == tuple(
            balances[name] for name in ("outstanding", "overdue", "credit")
        )
    first, last = sorted((DAYS[first_number].isoformat(), DAYS[last_number].isoformat()))
    for day in (first, last, TODAY):
        told = {line["clientId"]: line for line in aged(books, f"asOfDate={day}")["clients"]}
        for client in {entry[0] for entry in ledger}:
            reckoned = {name: amount for name, amount in _reckoned(ledger, offs, client, day).items() if amount}
            assert (_told(told[client]) if client in told else {}) == reckoned
            open_ = statement(books, client, f"kind=outstanding&toDate={day}")["currencies"]
            assert (_told(open_[0]) if open_ else {}) == reckoned
            if open_:
                assert open_[0]["lines"][-1]["balance"] == open_[0]["balance"]
    for client in {entry[0] for entry in ledger}:
        before = (datetime.date.fromisoformat(first) - datetime.timedelta(days=1)).isoformat()
        at = [_reckoned(ledger, offs, client, day) for day in (before, last)]
        opening, closing = (sum(found.values()) - 2 * found["credit"] for found in at)
        _check_statement(statement(books, client, f"fromDate={first}&toDate={last}"), opening, closing)


def _check_statement(found: Json, opening: Fraction, closing: Fraction) -> None:
    if not found["currencies"]:
        assert opening == closing == 0
        return
    (account,) = found["currencies"]
    assert Fraction(account["openingBalance"]) == opening
    lines: list[Any] = account["lines"]
    assert all(Fraction(line["total"]) == abs(Fraction(line["amount"])) for line in lines)
    assert [line["date"] for line in lines] == sorted(line["date"] for line in lines)
    balance = opening
    for line in lines:
        balance += Fraction(line["amount"])
        assert Fraction(line["balance"]) == balance
    assert Fraction(account["balance"]) == balance == closing
    assert closing == Fraction(account["owed"]) - Fraction(account["credit"])
