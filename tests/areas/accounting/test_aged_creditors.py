"""Who is owed what: aged creditors of any day."""

import datetime
from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from tests.areas.accounting.bill_books import BOARDS, BillBooks, Json
from tests.areas.accounting.books import RANDOM_BOOKS, fields_of
from tests.support.store import MemoryStore

TODAY = "2026-11-20"


@pytest.fixture
def books(store: MemoryStore) -> BillBooks:
    return BillBooks(store)


def charged(books: BillBooks, amount: str, on: str, **fields: object) -> Json:
    """A bill of one line without VAT, due on its date but for what `fields` say."""
    line = {"description": "Oak boards", "amount": amount, "category": "costOfGoods", "vatCode": "exempt"}
    return books.bill(**{"billDate": on, "dueDate": on, "lines": [line], **fields})


def credited(books: BillBooks, bill: Json, amount: str, on: str) -> Json:
    line = {**BOARDS, "amount": amount, "vatCode": "exempt"}
    return books.credit_of(bill, amount, billDate=on, lines=[line])


def aged(books: BillBooks, query: str = "") -> Json:
    return books.one("agedCreditors", query)


def balances(books: BillBooks, query: str = "") -> list[tuple[str, str, str]]:
    return [(line["name"], line["currency"], line["balance"]) for line in aged(books, query)["creditors"]]


def test_what_is_owed_is_told_by_its_age(books: BillBooks) -> None:
    for amount, due in (("1", "2026-11-20"), ("2", "2026-11-19"), ("4", "2026-10-21"), ("8", "2026-10-20")):
        charged(books, amount, "2026-08-01", dueDate=due)
    for amount, due in (("16", "2026-09-21"), ("32", "2026-09-20"), ("64", "2026-08-22"), ("128", "2026-08-21")):
        charged(books, amount, "2026-08-01", dueDate=due)
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
    assert found["totals"][0]["amounts"] == ["1.00", "6.00", "24.00", "96.00", "128.00"]
    (line,) = found["creditors"]
    assert (line["supplierId"], line["name"], line["currency"]) == (books.supplier, "Sawmill Ltd", "GBP")
    assert (line["owed"], line["overdue"], line["credit"], line["balance"]) == ("255.00", "254.00", "0.00", "255.00")
    assert aged(books, "bandEnds=10")["totals"][0]["amounts"] == ["1.00", "2.00", "252.00"]
    with pytest.raises(Problem) as caught:
        aged(books, "bandEnds=30&bandEnds=30")
    assert fields_of(caught.value) == [("bandEnds", "conflict")]


def test_a_day_of_the_past_is_as_it_was(books: BillBooks) -> None:
    bill = charged(books, "100", "2026-09-01", dueDate="2026-09-30")
    books.paid(bill, amount="30", date="2026-09-20")
    credited(books, bill, "20", "2026-10-10")
    books.paid(bill, amount="50", date="2026-11-01")
    days = ("2026-08-31", "2026-09-01", "2026-09-20", "2026-10-09", "2026-10-10", "2026-10-31", "2026-11-01")
    owed = [[line["balance"] for line in aged(books, f"asOfDate={day}")["creditors"]] for day in days]
    assert owed == [[], ["100.00"], ["70.00"], ["70.00"], ["50.00"], ["50.00"], []]
    assert aged(books, "asOfDate=2026-10-31")["totals"][0]["amounts"] == ["0.00", "0.00", "50.00", "0.00", "0.00"]
    assert aged(books)["totals"] == []


def test_what_a_supplier_has_to_pay_back_stands_apart(books: BillBooks) -> None:
    charged(books, "40", "2026-11-01", dueDate="2026-11-30")
    bill = charged(books, "100", "2026-11-01")
    books.paid(bill, date="2026-11-05")
    credited(books, bill, "30", "2026-11-10")
    (line,) = aged(books)["creditors"]
    assert (line["owed"], line["overdue"], line["credit"], line["balance"]) == ("40.00", "0.00", "30.00", "10.00")
    books.paid(bill, amount="30", date="2026-11-15")  # it came back
    assert aged(books)["creditors"][0]["credit"] == "0.00"
    assert aged(books, "asOfDate=2026-11-14")["creditors"][0]["credit"] == "30.00"


def test_a_claim_is_owed_to_who_paid_whatever_supplier_it_names(books: BillBooks) -> None:
    claim = {"kind": "expense_claim", "claimant": "Ash"}
    charged(books, "10", "2026-11-01", **claim, supplierId=books.supplier)
    charged(books, "20", "2026-11-01", **claim)
    charged(books, "40", "2026-11-01")
    found = aged(books)["creditors"]
    assert [(line["supplierId"], line["name"], line["balance"]) for line in found] == [
        (None, "Ash", "30.00"),
        (books.supplier, "Sawmill Ltd", "40.00"),
    ]
    assert balances(books, f"supplierId={books.supplier}") == [("Sawmill Ltd", "GBP", "40.00")]
    assert balances(books, "claimant=Ash") == [("Ash", "GBP", "30.00")]
    assert balances(books, "claimant=Birch") == []


def test_drafts_and_what_is_void_are_owed_to_nobody(books: BillBooks) -> None:
    charged(books, "10", "2026-11-01", status="draft")
    books.post("voidBill", billId=charged(books, "20", "2026-11-01")["id"], reason="A mistake")
    kept = charged(books, "40", "2026-11-01")
    books.post("voidBill", billId=credited(books, kept, "5", "2026-11-02")["id"], reason="A mistake")
    for query in ("", "asOfDate=2026-11-01"):
        assert balances(books, query) == [("Sawmill Ltd", "GBP", "40.00")]


def test_currencies_are_never_added_and_entities_told_apart(books: BillBooks) -> None:
    charged(books, "100", "2026-11-01", currency="USD", fxRate="0.8")
    charged(books, "70", "2026-11-01")
    found = aged(books)
    assert [(line["currency"], line["balance"]) for line in found["totals"]] == [("GBP", "70.00"), ("USD", "100.00")]
    assert balances(books) == [("Sawmill Ltd", "GBP", "70.00"), ("Sawmill Ltd", "USD", "100.00")]
    assert balances(books, "currency=USD") == [("Sawmill Ltd", "USD", "100.00")]
    assert len(balances(books, f"legalEntityId={books.entity_id}")) == 2
    other = books.entity(name="Another", type="sole_trader", vatNumber=None, vat={"status": "not_registered"})
    assert balances(books, f"legalEntityId={other}") == []


@pytest.mark.parametrize("name", ["supplierId", "legalEntityId"])
def test_ids_of_nothing_are_refused(books: BillBooks, name: str) -> None:
    id_ = "cli_01k00000000000000000000000" if name == "supplierId" else "ent_01k00000000000000000000000"
    with pytest.raises(Problem) as caught:
        aged(books, f"{name}={id_}")
    assert fields_of(caught.value) == [(name, "unknown_reference")]
    assert aged(books, "asOfDate=0001-01-01")["creditors"] == []


# -- against a plain ledger

DAYS = [datetime.date(2026, 8, 1) + datetime.timedelta(days=number) for number in range(0, 112, 3)]
day_numbers = st.integers(0, len(DAYS) - 1)
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["charge", "claim", "pay", "pay", "credit", "unpay", "void"]),
        st.integers(0, 5),
        day_numbers,
        st.integers(1, 20000),
        st.integers(0, 60),
    ),
    min_size=1,
    max_size=14,
)
Entry = tuple[str, str, str, str, Fraction]
"""To whom, the day, the bill, its due date, and by how much more is owed."""


def _play(books: BillBooks, acts: list[tuple[str, int, int, int, int]]) -> list[Entry]:
    """Do what is asked, and write down in plain entries what was not refused."""
    bills: list[tuple[str, Json]] = []
    ledger: list[Entry] = []
    for act, of, day_number, pence, terms in acts:
        day, amount = DAYS[day_number].isoformat(), Fraction(pence, 100)
        text = f"{pence // 100}.{pence % 100:02}"
        if act in ("charge", "claim"):
            due = (DAYS[day_number] + datetime.timedelta(days=terms)).isoformat()
            claim = {"kind": "expense_claim", "claimant": "Ash"} if act == "claim" else {}
            name = "Ash" if claim else "Sawmill Ltd"
            bills.append((name, charged(books, text, day, dueDate=due, **claim)))
            ledger.append((name, day, bills[-1][1]["id"], due, amount))
            continue
        if not bills:
            continue
        name, bill = bills[of % len(bills)]
        try:
            change = _act(books, act, bill, (text, day))
        except Problem:
            continue
        if act == "void":
            ledger = [entry for entry in ledger if entry[2] != bill["id"]]
        else:
            ledger.append((name, day, bill["id"], bill["dueDate"], change))
    return ledger


def _act(books: BillBooks, act: str, bill: Json, how: tuple[str, str]) -> Fraction:
    """By how much more is owed, or less below 0."""
    text, day = how
    if act in ("pay", "unpay"):
        before = Fraction(books.now(bill)["balanceDue"])
        books.paid(bill, amount=text, date=day)
        if act == "unpay":
            books.post("removeBillPayment", billId=bill["id"], position=len(books.now(bill)["payments"]))
            return Fraction()
        return Fraction(text) if before < 0 else -Fraction(text)
    if act == "credit":
        credited(books, bill, text, day)
        return -Fraction(text)
    books.post("voidBill", billId=bill["id"], reason="A mistake")
    return Fraction()


def _reckoned(ledger: list[Entry], name: str, day: str) -> dict[str, Fraction]:
    """By whole days from the due date: what is owed in each band, and what is to come back."""
    left: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for whose, on, bill, due, change in ledger:
        if whose == name and on <= day:
            left[bill, due] += change
    found: dict[str, Fraction] = defaultdict(Fraction)
    for (_, due), change in left.items():
        days = (datetime.date.fromisoformat(day) - datetime.date.fromisoformat(due)).days
        band = next((band for last, band in ((0, "0"), (30, "1"), (60, "2"), (90, "3")) if days <= last), "4")
        found["credit" if change < 0 else band] += abs(change)
    return {band: amount for band, amount in found.items() if amount}


def _told(line: Json) -> dict[str, Fraction]:
    told = {str(place): Fraction(amount) for place, amount in enumerate(line["amounts"])}
    told["credit"] = Fraction(line["credit"])
    return {name: amount for name, amount in told.items() if amount}


@settings(max_examples=RANDOM_BOOKS * 3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, day_number=day_numbers)
def test_every_day_comes_to_a_plain_ledger(
    store: MemoryStore, acts: list[tuple[str, int, int, int, int]], day_number: int
) -> None:
    books = BillBooks(store)
    ledger = _play(books, acts)
    for day in (DAYS[day_number].isoformat(), TODAY):
        told = {line["name"]: _told(line) for line in aged(books, f"asOfDate={day}")["creditors"]}
        reckoned = {name: _reckoned(ledger, name, day) for name in ("Ash", "Sawmill Ltd")}
        assert told == {name: found for name, found in reckoned.items() if found}
