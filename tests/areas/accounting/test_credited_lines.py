"""Credit notes that name the lines they take back, and what no sequence of credit notes can do."""

import contextlib
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.accounting.invoices import rows
from gatewayd.errors import Problem
from tests.areas.accounting.books import LINE, OTHER_BRITISH_VAT_NUMBER, Books, Json, fields_of, lines
from tests.support.store import MemoryStore


def found(books: Books, invoice_id: str) -> Json:
    return books.one("getInvoice", f"invoiceId={invoice_id}")


def refused(books: Books, invoice: Json, *each: Json, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        books.credit(invoice["id"], lines=list(each), **fields)
    return fields_of(caught.value)


def test_a_line_of_the_invoice_gives_price_code_and_rate(registered: Books) -> None:
    each = {
        "description": "Oak boards",
        "unitPrice": "49.99",
        "quantity": "12",
        "unit": "metres",
        "vatCode": "reduced",
        "discountPercent": "10",
        "category": "turnover",
    }
    invoice = registered.invoice(lines=lines({}, each), supplyDate="2010-06-01", amountsAre="inclusive")
    credit = registered.credit(invoice["id"], lines=[{"creditsLine": 2, "quantity": "3", "description": "Three back"}])
    (line,) = credit["lines"]
    # 12 x 49.99 less 10 % is 539.89, of which 1/21 is VAT; 3 of 12 are a quarter of both
    assert (line["net"], line["vat"], line["gross"]) == ("128.55", "6.43", "134.98")
    kept = ("unit", "unitPrice", "vatCode", "vatRatePercent", "discountPercent", "category")
    assert {name: line[name] for name in kept} == {name: invoice["lines"][1][name] for name in kept}
    assert (line["position"], line["description"], line["quantity"]) == (1, "Three back", "3")
    assert line["creditsLine"] == 2
    assert "creditsLine" not in invoice["lines"][1]
    assert (credit["grossTotal"], credit["amountsAre"], credit["discountTotal"]) == ("134.98", "inclusive", "0.00")
    assert credit["vatSummary"] == [
        {"vatCode": "reduced", "ratePercent": "5", "net": "128.55", "vat": "6.43", "reverseCharge": False}
    ]
    assert registered.store.read(lambda tx: rows.stale(tx, "", 9), registered.org_id)[1] == (credit["id"], False)


def test_parts_of_a_line_come_to_the_line(registered: Books) -> None:
    invoice = registered.invoice(lines=lines({"unitPrice": "33.35", "quantity": "3"}))
    assert (invoice["netTotal"], invoice["vatTotal"]) == ("100.05", "20.01")
    notes = [registered.credit(invoice["id"], lines=[{"creditsLine": 1, "quantity": "1"}]) for _ in range(3)]
    assert [credit["vatTotal"] for credit in notes] == ["6.67", "6.67", "6.67"]
    assert sum(Decimal(credit["netTotal"]) for credit in notes) == Decimal("100.05")
    assert (found(registered, invoice["id"])["balanceDue"], found(registered, invoice["id"])["status"]) == (
        "0.00",
        "paid",
    )


@pytest.mark.parametrize("rounding", ["line", "total", "total_down"])
def test_all_lines_leave_nothing_whatever_was_rounded(registered: Books, rounding: str) -> None:
    each = [
        {"unitPrice": "1.11"},
        {"unitPrice": "1.11"},
        {"unitPrice": "1.13", "quantity": "7"},
        {"unitPrice": "-0.37"},
    ]
    invoice = registered.invoice(lines=lines(*each), vatRounding=rounding, discountAmount="0.10")
    for first in ([1], [2, 4], [3]):
        credit = registered.credit(invoice["id"], lines=[{"creditsLine": position} for position in first])
        assert credit["discountAmount"] == "0.00"  # its share of the invoice's is off each line already
    left = found(registered, invoice["id"])
    assert (left["balanceDue"], left["creditedTotal"]) == ("0.00", invoice["grossTotal"])


def test_the_deduction_goes_with_its_labour(store: MemoryStore) -> None:
    books = Books(store)
    books.entity(cis={"subcontractor": True, "verifiedRate": 30})
    labour = {"unitPrice": "0.05", "cisLabour": True}
    invoice = books.invoice(clientId=books.client(cisContractor=True), lines=lines(labour, labour, labour, {}))
    assert invoice["cisDeduction"] == "0.05"  # 30 % of 0.15; of each line it would be 0.02
    notes = [books.credit(invoice["id"], lines=[{"creditsLine": n}]) for n in (4, 1, 2, 3)]
    assert [credit["cisDeduction"] for credit in notes] == ["0.00", "0.02", "0.01", "0.02"]
    assert found(books, invoice["id"])["balanceDue"] == "0.00"


def test_no_more_of_a_line_than_is_left(registered: Books) -> None:
    invoice = registered.invoice(lines=lines({"quantity": "5"}, {"quantity": "5"}, {"quantity": "-1"}))
    for quantity in ("5.01", "0", "-1"):
        assert refused(registered, invoice, {"creditsLine": 1, "quantity": quantity}) == [
            ("lines[0].quantity", "out_of_range")
        ]
    twice = [{"creditsLine": 1, "quantity": "3"}, {"creditsLine": 1, "quantity": "3"}]
    assert refused(registered, invoice, *twice) == [("lines[1].quantity", "out_of_range")]
    registered.credit(invoice["id"], lines=[{"creditsLine": 1, "quantity": "3"}])
    too_much = {"creditsLine": 1, "quantity": "2.5"}
    assert refused(registered, invoice, too_much) == [("lines[0].quantity", "out_of_range")]
    rest = registered.credit(invoice["id"], lines=[{"creditsLine": 1}])
    assert (rest["lines"][0]["quantity"], rest["netTotal"]) == ("2", "200.00")
    assert refused(registered, invoice, {"creditsLine": 1}) == [("lines[0].creditsLine", "out_of_range")]
    assert refused(registered, invoice, {"creditsLine": 3}) == [("lines", "out_of_range")]  # below zero alone
    registered.post("voidInvoice", invoiceId=rest["id"], reason="by mistake")
    assert registered.credit(invoice["id"], lines=[{"creditsLine": 1}])["lines"][0]["quantity"] == "2"


def test_a_draft_takes_what_is_left_when_it_is_issued(registered: Books) -> None:
    invoice = registered.invoice(lines=lines({"quantity": "3", "unitPrice": "33.35"}, {"quantity": "3"}))
    first = registered.credit(invoice["id"], status="draft", lines=[{"creditsLine": 1, "quantity": "1"}])
    second = registered.credit(invoice["id"], status="draft", lines=[{"creditsLine": 1, "quantity": "2"}])
    again = registered.credit(invoice["id"], status="draft", lines=[{"creditsLine": 1, "quantity": "2"}])
    changed = registered.post("updateInvoice", invoiceId=second["id"], notes="n")
    assert changed["lines"] == second["lines"]
    registered.post("issueInvoice", invoiceId=first["id"])
    registered.post("issueInvoice", invoiceId=second["id"])
    with pytest.raises(Problem) as caught:
        registered.post("issueInvoice", invoiceId=again["id"])
    assert fields_of(caught.value) == [("lines[0].quantity", "out_of_range")]
    assert found(registered, invoice["id"])["balanceDue"] == "360.00"
    plain = registered.post("updateInvoice", invoiceId=again["id"], lines=[LINE])
    assert "creditsLine" not in plain["lines"][0]


@pytest.mark.parametrize(
    ("line", "errors"),
    [
        ({"creditsLine": 2}, [("lines[0].creditsLine", "unknown_reference")]),
        ({"creditsLine": 1, "unitPrice": "1"}, [("lines[0].unitPrice", "conflict")]),
        ({"creditsLine": 1, "vatCode": "zero"}, [("lines[0].vatCode", "conflict")]),
        ({"creditsLine": 1, "discountPercent": "5"}, [("lines[0].discountPercent", "conflict")]),
        ({"creditsLine": 1, "cisLabour": True}, [("lines[0].cisLabour", "conflict")]),
        ({}, [("lines[0].description", "required"), ("lines[0].unitPrice", "required")]),
        ({"description": "Joinery"}, [("lines[0].unitPrice", "required")]),
    ],
)
def test_lines_that_cannot_be(registered: Books, line: Json, errors: list[tuple[str, str]]) -> None:
    assert refused(registered, registered.invoice(), line) == errors


def test_what_goes_with_lines_of_the_invoice(registered: Books) -> None:
    invoice = registered.invoice()
    one = {"creditsLine": 1}
    assert refused(registered, invoice, one, amountsAre="exclusive") == [("amountsAre", "conflict")]
    assert refused(registered, invoice, one, discountAmount="1") == [("discountAmount", "conflict")]
    assert refused(registered, invoice, one, LINE) == [("lines[1].creditsLine", "required")]
    with pytest.raises(Problem) as caught:
        registered.invoice(lines=[one])
    assert fields_of(caught.value) == [("lines[0].creditsLine", "conflict")]


# -- any invoice, any credit notes

CODES = ["standard", "reduced", "zero", "exempt", "reverse_charge_domestic_standard"]
PERCENT = {"standard": 20, "reduced": 5, "reverse_charge_domestic_standard": 20}
PRICED = st.fixed_dictionaries(
    {
        "unitPrice": st.integers(-300, 2000).map(lambda pence: f"{pence / 100:.2f}"),
        "quantity": st.sampled_from(["1", "1", "3", "0.7", "12", "2.5"]),
        "vatCode": st.sampled_from(CODES),
        "cisLabour": st.booleans(),
    }
)
TAKEN = st.fixed_dictionaries(
    {"creditsLine": st.integers(1, 4)}, optional={"quantity": st.sampled_from(["0.1", "1", "2", "0.35", "5"])}
)
NOTE = st.fixed_dictionaries(
    {
        "lines": st.one_of(
            st.none(), st.lists(PRICED, min_size=1, max_size=3), st.lists(TAKEN, min_size=1, max_size=4)
        ),
        "status": st.sampled_from(["issued", "issued", "draft"]),
    }
)
SOLD = st.fixed_dictionaries(
    {
        "lines": st.lists(PRICED, min_size=1, max_size=4),
        "vatRounding": st.sampled_from(["line", "total", "total_down"]),
        "amountsAre": st.sampled_from(["exclusive", "inclusive"]),
        "discountAmount": st.sampled_from(["0", "0", "0.05", "1.23"]),
    }
)


def firm(store: MemoryStore) -> tuple[Books, str]:
    books = Books(store)
    books.entity(cis={"subcontractor": True, "verifiedRate": 20})
    return books, books.client(cisContractor=True, vatNumber=OTHER_BRITISH_VAT_NUMBER)


def sell(books: Books, client: str, sold: Json) -> Json | None:
    """None: its total is below zero, or its discount above what it comes to."""
    each = [{"description": "a", **line} for line in sold["lines"]]
    with contextlib.suppress(Problem):
        return books.invoice(clientId=client, **{**sold, "lines": each})
    return None


def by_group(documents: list[Json]) -> Counter[tuple[str, str]]:
    """Net and VAT of each code, the reverse-charged too, and the deduction, of documents as they are shown."""
    sums: Counter[tuple[str, str]] = Counter()
    for document in documents:
        sums["", "gross"] += pence(document["grossTotal"])
        sums["", "deduction"] += pence(document["cisDeduction"])
        for group in document["vatSummary"]:
            for name in ("net", "vat"):
                sums[group["vatCode"], name] += pence(group[name])
    return sums


def pence(text: str) -> int:
    return int(Decimal(text) * 100)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sold=SOLD, asked=st.lists(NOTE, max_size=6))
def test_no_credits_take_back_what_was_not_charged(store: MemoryStore, sold: Json, asked: list[Json]) -> None:
    books, client = firm(store)
    invoice = sell(books, client, sold)
    if invoice is None:
        return
    notes, drafts = [], []
    for note in asked:
        body = {name: value for name, value in note.items() if value is not None}
        if "lines" in body:
            body["lines"] = [line if "creditsLine" in line else {"description": "a", **line} for line in body["lines"]]
        with contextlib.suppress(Problem):
            credit = books.credit(invoice["id"], **body)
            (drafts if credit["status"] == "draft" else notes).append(credit)
    for draft in drafts:
        with contextlib.suppress(Problem):
            notes.append(books.post("issueInvoice", invoiceId=draft["id"]))
    charged, credited = by_group([invoice]), by_group(notes)
    for group, amount in credited.items():
        assert min(0, charged[group]) <= amount <= max(0, charged[group]), group
    taken: Counter[int] = Counter()
    for line in [line for credit in notes for line in credit["lines"] if "creditsLine" in line]:
        taken[line["creditsLine"]] += int(Decimal(line["quantity"]) * 100)
    for position, hundredths in taken.items():
        assert 0 < hundredths <= int(Decimal(invoice["lines"][position - 1]["quantity"]) * 100)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sold=SOLD, parts=st.lists(st.sampled_from(["0.1", "0.3", "1"]), max_size=5))
def test_all_lines_taken_back_leave_exactly_nothing(store: MemoryStore, sold: Json, parts: list[str]) -> None:
    """In parts first, where they are allowed, then all that is left of each."""
    books, client = firm(store)
    invoice = sell(books, client, sold)
    if invoice is None:
        return
    everything = [{"creditsLine": line["position"]} for line in invoice["lines"]]
    notes = []
    for quantity in parts:
        with contextlib.suppress(Problem):
            notes.append(books.credit(invoice["id"], lines=[{**line, "quantity": quantity} for line in everything]))
    with contextlib.suppress(Problem):
        notes.append(books.credit(invoice["id"], lines=everything))
    left = {line["position"]: Decimal(line["quantity"]) for line in invoice["lines"]}
    for line in [line for credit in notes for line in credit["lines"]]:
        left[line["creditsLine"]] -= Decimal(line["quantity"])
    if any(left.values()):  # its last part would be below zero, or a line of it was used up
        rest = [{"creditsLine": position} for position, quantity in left.items() if quantity]
        with contextlib.suppress(Problem):
            notes.append(books.credit(invoice["id"], lines=rest))
            left.clear()
    if not any(left.values()):
        assert by_group(notes) == by_group([invoice])
        assert pence(found(books, invoice["id"])["balanceDue"]) == 0


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sold=st.lists(PRICED, min_size=1, max_size=4))
def test_what_is_charged_is_what_the_law_says(store: MemoryStore, sold: list[Json]) -> None:
    """The bounds of the others, worked out apart: exclusive prices, rounded on each line (domain model C4)."""
    books, client = firm(store)
    invoice = sell(books, client, {"lines": sold})
    if invoice is None:
        return
    expected: Counter[tuple[str, str]] = Counter()
    for line in sold:
        net = (Decimal(line["quantity"]) * Decimal(line["unitPrice"])).quantize(Decimal("0.01"), ROUND_HALF_UP)
        vat = (net * PERCENT.get(line["vatCode"], 0) / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)
        expected[line["vatCode"], "net"] += pence(str(net))
        expected[line["vatCode"], "vat"] += pence(str(vat))
    found_sums = by_group([invoice])
    assert {group: found_sums[group] for group in expected} == dict(expected)
