"""Bills in profit and loss and in VAT returns (Domain C1, C4): worked by hand, and against a reckoning in fractions."""

import datetime
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import vat_figures
from gatewayd.ledger.vat.vat_return import VatFigures
from gatewayd.money import from_minor, to_minor
from tests.areas.accounting.bill_books import BillBooks, Json, lines
from tests.areas.accounting.books import RANDOM_BOOKS
from tests.areas.businesses.ledger_books import lines as amounts
from tests.support.store import MemoryStore

AUTUMN, WINTER = DateRange("2026-10-01", "2026-10-31"), DateRange("2026-11-01", "2026-11-30")


def vat(books: BillBooks, of: DateRange = WINTER) -> VatFigures:
    return books.store.read(lambda tx: vat_figures.of_period(tx, books.entity_id, of), books.org_id)


def expenses(books: BillBooks, first: str = "2026-04-06", last: str = "2027-04-05", **query: object) -> dict[str, str]:
    return amounts(books.pnl(books.business_id, first, last, **query), "expenses")


def test_on_accruals_a_bill_counts_on_its_tax_point(store: MemoryStore) -> None:
    books = BillBooks(store)
    books.bill(billDate="2026-11-02", taxPoint="2026-10-31", dueDate="2026-12-31")
    assert expenses(books, "2026-10-01", "2026-10-31") == {"costOfGoods": "100.00"}
    assert expenses(books, "2026-11-01", "2026-11-30") == {}
    assert vat(books, AUTUMN) == VatFigures(input_vat=20_00, purchases=100_00)
    assert vat(books, WINTER) == VatFigures()


def test_on_cash_basis_a_bill_counts_by_what_is_paid(store: MemoryStore) -> None:
    books = BillBooks(store, {"scheme": "cash"}, accountingBasis="cash")
    bill = books.bill(billDate="2026-10-02")
    assert expenses(books) == {}
    books.paid(bill, amount="40.00", date="2026-10-20")
    assert expenses(books) == {"costOfGoods": "33.33"}
    assert vat(books, AUTUMN) == VatFigures(input_vat=6_67, purchases=33_33)
    books.paid(bill, date="2026-11-20")
    assert expenses(books, "2026-11-01") == {"costOfGoods": "66.67"}
    assert vat(books, WINTER) == VatFigures(input_vat=13_33, purchases=66_67)


def test_a_bank_line_that_pays_a_bill_counts_nowhere_itself(store: MemoryStore) -> None:
    books = BillBooks(store)
    bill = books.bill()
    line = books.line(books.bank, -120_00, date="2026-11-12")
    paid = books.paid(bill, bankTransactionId=line)
    assert (paid["status"], paid["balanceDue"], paid["paidDate"]) == ("paid", "0.00", "2026-11-12")
    (part,) = books.of_line(line)
    assert (part.category, part.purpose, part.bill_id, str(part.amount)) == (
        "not_pnl",
        "bill_payment",
        bill["id"],
        "120.00",
    )
    assert expenses(books) == {"costOfGoods": "100.00"}
    assert vat(books) == VatFigures(input_vat=20_00, purchases=100_00)


def test_a_credit_note_takes_off_on_its_own_day(store: MemoryStore) -> None:
    """VAT Regulations 1995 reg 38: the customer adjusts in the period in which the decrease is given effect."""
    books = BillBooks(store)
    bill = books.bill(billDate="2026-10-02")
    note = books.credit_of(bill, "30.00", billDate="2026-11-10")
    assert (note["status"], note["grossTotal"], note["balanceDue"]) == ("paid", "36.00", "0.00")
    assert expenses(books, "2026-10-01", "2026-10-31") == {"costOfGoods": "100.00"}
    assert expenses(books, "2026-11-01", "2026-11-30") == {"costOfGoods": "-30.00"}
    assert vat(books, AUTUMN) == VatFigures(input_vat=20_00, purchases=100_00)
    assert vat(books, WINTER) == VatFigures(input_vat=-6_00, purchases=-30_00)
    rows = books.pnl(books.business_id, explain=True)["explanation"]["data"]
    assert [(row["source"], row["billId"], row["billCreditNoteId"], row["amount"]) for row in rows] == [
        ("bill", bill["id"], None, "100.00"),
        ("bill_credit_note", bill["id"], note["id"], "-30.00"),
    ]


def test_on_cash_basis_what_is_credited_after_it_was_paid_is_taken_back_then(store: MemoryStore) -> None:
    books = BillBooks(store, {"scheme": "cash"}, accountingBasis="cash")
    bill = books.bill(billDate="2026-10-02")
    books.paid(bill, date="2026-10-20", method="cash")
    books.credit_of(bill, "30.00", billDate="2026-11-10")
    assert books.now(bill)["balanceDue"] == "-36.00"
    assert expenses(books, "2026-11-01") == {"costOfGoods": "-30.00"}
    assert vat(books, WINTER) == VatFigures(input_vat=-6_00, purchases=-30_00)
    back = books.paid(bill, date="2026-11-20")  # what comes back counts for nothing more
    assert (back["balanceDue"], back["payments"][-1]["amount"], back["paidTotal"]) == ("0.00", "-36.00", "84.00")
    assert expenses(books) == {"costOfGoods": "70.00"}
    sources = [row["source"] for row in books.pnl(books.business_id, explain=True)["explanation"]["data"]]
    assert sources == ["bill_payment", "bill_credit_note"]


def test_each_vat_code_fills_its_boxes(store: MemoryStore) -> None:
    """Notice 735 (services from abroad: boxes 1, 4, 6 and 7; construction: 1, 4 and 7), postponed import VAT: 1, 4 and
    7, goods from the EU in Northern Ireland: 2, 4, 7 and 9. Of 100.00 each: VAT of 20.00, at 5 % of 5.00.
    """
    expected = {
        "standard": VatFigures(input_vat=20_00, purchases=100_00),
        "reduced": VatFigures(input_vat=5_00, purchases=100_00),
        "zero": VatFigures(purchases=100_00),
        "exempt": VatFigures(purchases=100_00),
        "outside_scope": VatFigures(),
        "reverse_charge_domestic_standard": VatFigures(output_vat=20_00, input_vat=20_00, purchases=100_00),
        "reverse_charge_services_overseas": VatFigures(20_00, 0, 20_00, 100_00, 100_00),
        "postponed_import_reduced": VatFigures(output_vat=5_00, input_vat=5_00, purchases=100_00),
        "ni_eu_acquisition_standard": VatFigures(
            acquisition_vat=20_00, input_vat=20_00, purchases=100_00, acquisitions=100_00
        ),
    }
    accruals = BillBooks(store)
    cash = BillBooks(store, {"scheme": "cash"}, accountingBasis="cash")
    for number, (code, figures) in enumerate(expected.items()):
        for books in (accruals, cash):
            date = f"2026-10-{number + 1:02}"
            bill = books.bill(billDate=date, lines=lines({"vatCode": code}))
            books.paid(bill, date=date)
            assert vat(books, DateRange(date, date)) == figures, code
            books.credit_of(bill, "100.00", billDate=f"2026-11-{number + 1:02}", lines=lines({"vatCode": code}))
            back = VatFigures(*(-figure for figure in figures))
            assert vat(books, DateRange(f"2026-11-{number + 1:02}", f"2026-11-{number + 1:02}")) == back, code


def test_wages_and_drawings_are_no_purchases_and_equipment_is_one(store: MemoryStore) -> None:
    books = BillBooks(store)
    wages = {"category": "wagesAndStaffCosts", "vatCode": None}
    books.bill(lines=lines(wages, {"category": "not_pnl", "amount": "50.00"}))
    assert vat(books) == VatFigures(input_vat=10_00, purchases=50_00)
    assert expenses(books) == {"wagesAndStaffCosts": "100.00"}


def test_who_is_not_registered_bears_the_vat(store: MemoryStore) -> None:
    books = BillBooks(store, {"status": "not_registered", "effectiveDate": None})
    books.bill(lines=lines({"disallowablePercent": "25"}))
    (line,) = books.pnl(books.business_id)["expenses"]
    assert (line["amount"], line["disallowable"]) == ("120.00", "30.00")
    assert vat(books) == VatFigures()


def test_under_the_flat_rate_vat_stays_a_cost_but_of_capital_goods(store: MemoryStore) -> None:
    """Notice 733 section 15: the VAT of capital goods of 2,000 or more with VAT is reclaimed."""
    flat = {
        "scheme": "flat_rate",
        "flatRateCategory": "001",
        "flatRatePercent": "12",
        "flatRateStartDate": "2000-01-01",
    }
    books = BillBooks(store, flat)
    lathe = {"category": "maintenanceCosts", "amount": "2000.00"}
    marked = books.bill(lines=lines({}, {**lathe, "capitalGoods": True}))
    assert "warnings" not in marked
    assert vat(books) == VatFigures(input_vat=400_00, purchases=2000_00)
    assert expenses(books) == {"costOfGoods": "120.00", "maintenanceCosts": "2000.00"}
    (told,) = books.bill(lines=lines(lathe))["warnings"]
    assert (told["code"], told["path"]) == ("capital_goods_unmarked", "lines[0].capitalGoods")
    (told,) = books.bill(lines=lines({**lathe, "amount": "100.00", "capitalGoods": True}))["warnings"]
    assert told["code"] == "capital_goods_small"


def test_a_bill_in_another_currency_is_worth_what_it_was_on_its_tax_point(store: MemoryStore) -> None:
    """At 0.80 it is 96.00 with VAT of 16.00; paid at 0.85 it costs 102.00, so that 6.00 is lost on exchange."""
    books = BillBooks(store)
    bill = books.bill(currency="EUR", fxRate="0.80")
    assert vat(books) == VatFigures(input_vat=16_00, purchases=80_00)
    line = books.line(books.bank, -102_00, date="2026-11-12")
    paid = books.paid(bill, bankTransactionId=line, amount="120.00")
    assert (paid["payments"][0]["fxRate"], paid["status"]) == ("0.85", "paid")
    account = books.pnl(books.business_id)
    assert amounts(account, "expenses") == {"costOfGoods": "80.00"}
    assert amounts(account, "income") == {"exchangeDifferences": "-6.00"}
    cash = books.pnl(books.business_id, basis="cash")
    assert amounts(cash) == {"costOfGoods": "80.00", "exchangeDifferences": "-6.00"}


def test_vat_of_what_is_not_paid_in_six_months_goes_back_until_it_is(store: MemoryStore) -> None:
    """VATA 1994 s26A, VAT Regulations 1995 reg 172H and 172I. 1,200.00 with 200.00 of VAT, due on 31 January: of what
    is not paid on 31 July, 900.00, three quarters of the VAT go back; 600.00 more in November give two thirds of that.
    """
    books = BillBooks(store)
    bought = lines({"amount": "1000.00"})
    bill = books.bill(billDate="2026-01-01", dueDate="2026-01-31", lines=bought)
    books.paid(bill, amount="300.00", date="2026-03-01")
    books.bill(billDate="2026-01-01", dueDate="2026-01-31", kind="expense_claim", claimant="Ash", lines=bought)
    books.bill(billDate="2026-01-01", dueDate="2026-01-31", status="draft", lines=bought)
    assert vat(books, DateRange("2026-02-01", "2026-07-30")) == VatFigures()
    assert vat(books, DateRange("2026-07-31", "2026-07-31")) == VatFigures(input_vat=-150_00)
    assert vat(books, DateRange("2026-08-01", "2026-10-31")) == VatFigures()
    books.paid(bill, amount="600.00", date="2026-11-10")
    assert vat(books) == VatFigures(input_vat=100_00)
    books.credit_of(bill, "250.00", billDate="2026-11-15")  # the rest is credited, not paid: 50.00 of its own and again
    assert vat(books) == VatFigures(input_vat=100_00 + 50_00 - 50_00, purchases=-250_00)
    assert vat(books, DateRange("2026-01-01", "2026-11-30")).input_vat == 200_00 + 200_00 - 50_00
    by_payments = BillBooks(store, {"scheme": "cash"})
    by_payments.bill(billDate="2026-01-01", dueDate="2026-01-31", lines=bought)
    assert vat(by_payments, DateRange("2026-07-01", "2026-07-31")) == VatFigures()


def test_drafts_and_what_is_void_count_nowhere(store: MemoryStore) -> None:
    books = BillBooks(store)
    books.bill(status="draft")
    wrong = books.bill()
    books.post("voidBill", billId=wrong["id"], reason="Entered twice")
    assert (expenses(books), vat(books)) == ({}, VatFigures())


def test_what_has_a_document_is_evidence(store: MemoryStore) -> None:
    books = BillBooks(store)
    books.bill()
    evidence = books.pnl(books.business_id)["evidence"]
    assert evidence == {"expenses": "100.00", "documented": "0.00", "percent": "0", "missing": 1}


# -- against a reckoning


CODES = {"standard": Fraction(1, 5), "reduced": Fraction(1, 20), "zero": Fraction(0), None: Fraction(0)}
DAYS = st.integers(1, 60)


class Line(NamedTuple):
    amount: int
    code: str | None
    category: str
    disallowable: int


class Asked(NamedTuple):
    """A bill, what was credited of it in percent and paid of it, each on a day of the two months."""

    day: int
    lines: list[Line]
    credit: tuple[int, int] | None
    payments: list[tuple[int, int]]


LINES = st.builds(
    Line,
    st.integers(1, 500_00),
    st.sampled_from([*CODES]),
    st.sampled_from(["costOfGoods", "adminCosts", "wagesAndStaffCosts", "not_pnl"]),
    st.sampled_from([0, 25, 100]),
)
BILLS = st.lists(
    st.builds(
        Asked,
        DAYS,
        st.lists(LINES, min_size=1, max_size=4),
        st.none() | st.tuples(st.integers(1, 100), st.integers(0, 30)),
        st.lists(st.tuples(st.integers(1, 80), st.integers(0, 30)), max_size=3),
    ),
    min_size=1,
    max_size=4,
)


def day(number: int) -> str:
    """The 1st of September 2026 and the days after it."""
    return (datetime.date(2026, 8, 31) + datetime.timedelta(number)).isoformat()


def rounded(value: Fraction) -> int:
    """Half up, away from zero."""
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


class Reckoned:
    """What a bill counts for until a day, by the words of Domain C1: no walk, but the state on that day."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.lines = [(line, *self._amounts(line, line.amount)) for line in asked.lines]
        self.gross = sum(net + tax for _, net, tax in self.lines)
        self.note: list[tuple[Line, int, int]] = []
        if asked.credit is not None:
            parts = [(line, line.amount * asked.credit[0] // 100) for line in asked.lines]
            self.note = [(line, *self._amounts(line, part)) for line, part in parts if part]
        self.credited = sum(net + tax for _, net, tax in self.note)

    @staticmethod
    def _amounts(line: Line, amount: int) -> tuple[int, int]:
        return amount, rounded(amount * CODES[line.code])

    def left(self, until: int) -> list[tuple[Line, int, int]]:
        """The lines, and with a minus what was credited of them by a day."""
        noted = self.note if self.asked.credit is not None and self.asked.day + self.asked.credit[1] <= until else []
        return self.lines + [(line, -net, -tax) for line, net, tax in noted]

    def share(self, until: int) -> Fraction:
        """How much of what is left counts on cash basis."""
        payable = sum(net + tax for _, net, tax in self.left(until))
        paid = sum(amount for amount, after in self.paid() if self.asked.day + after <= until)
        return Fraction(min(paid, payable), payable) if payable > 0 else Fraction(0)

    def paid(self) -> list[tuple[int, int]]:
        """The payments, of which none is more than is due then."""
        due, made = self.gross - self.credited, []
        for percent, after in sorted(self.asked.payments, key=lambda payment: payment[1]):
            amount = min(due, self.gross * percent // 100)
            if amount > 0:
                due -= amount
                made.append((amount, after))
        return made

    def counts(self, until: int) -> list[tuple[Line, int, int]]:
        return self.left(until) if self.asked.day <= until else []


def posted(bills: list[Reckoned], until: int, basis: str) -> dict[str, tuple[int, int]]:
    """Profit and loss until a day: of each category what it comes to, and what of it tax does not allow."""
    totals: dict[str, tuple[int, int]] = {}
    for bill in bills:
        sums: dict[str, tuple[int, int]] = {}
        for line, net, tax in bill.left(until) if basis == "cash" else bill.counts(until):
            if line.category != "not_pnl":
                private = rounded(Fraction((net + tax) * line.disallowable, 100))
                private = rounded(Fraction(private * net, net + tax))
                amount, disallowed = sums.get(line.category, (0, 0))
                sums[line.category] = (amount + net, disallowed + private)
        part = bill.share(until) if basis == "cash" else Fraction(1)
        for category, figures in sums.items():
            amount, disallowed = totals.get(category, (0, 0))
            totals[category] = (amount + rounded(figures[0] * part), disallowed + rounded(figures[1] * part))
    return totals


def returned(bills: list[Reckoned], until: int, basis: str) -> tuple[int, int]:
    """Input VAT, and what was bought without it, until a day."""
    totals = [0, 0]
    for bill in bills:
        sums: dict[str | None, tuple[int, int]] = {}
        for line, net, tax in bill.left(until) if basis == "cash" else bill.counts(until):
            if line.code is not None or line.category not in ("wagesAndStaffCosts", "not_pnl"):
                before = sums.get(line.code, (0, 0))
                sums[line.code] = (before[0] + net, before[1] + net + tax)
        part = bill.share(until) if basis == "cash" else Fraction(1)
        for net, gross in sums.values():
            totals[0] += rounded(gross * part) - rounded(net * part)
            totals[1] += rounded(net * part)
    return totals[0], totals[1]


def enter(books: BillBooks, bill: Reckoned) -> None:
    asked = bill.asked

    def requested(amounts: list[tuple[Line, int, int]]) -> list[Json]:
        return [
            {
                "description": "Bought",
                "amount": from_minor(net, "GBP"),
                "category": line.category,
                "vatCode": line.code,
                **({} if line.category == "not_pnl" else {"disallowablePercent": str(line.disallowable)}),
            }
            for line, net, _ in amounts
        ]

    made = books.bill(billDate=day(asked.day), lines=requested(bill.lines))
    for amount, after in bill.paid():
        books.paid(made, amount=from_minor(amount, "GBP"), date=day(min(asked.day + after, 80)))
    if bill.note and asked.credit is not None:
        date = day(asked.day + asked.credit[1])
        books.credit_of(made, "", billDate=date, lines=requested(bill.note))


@pytest.mark.parametrize("basis", ["accruals", "cash"])
@settings(max_examples=RANDOM_BOOKS, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(asked=BILLS, sold=st.lists(st.tuples(DAYS, st.integers(1, 900_00), st.booleans()), max_size=3), cut=DAYS)
def test_bills_and_invoices_come_to_what_is_reckoned(
    basis: str, store: MemoryStore, asked: list[Asked], sold: list[tuple[int, int, bool]], cut: int
) -> None:
    """Of any days: what counts until the last, less what counted before the first."""
    scheme = {"scheme": "cash"} if basis == "cash" else {}
    books = BillBooks(store, scheme, accountingBasis=basis)
    bills = [Reckoned(bill) for bill in asked]
    for bill in bills:
        enter(books, bill)
    for at, net, is_paid in sold:
        work = [{"description": "Work", "unitPrice": from_minor(net, "GBP"), "vatCode": "zero"}]
        of = {"legalEntityId": books.entity_id, "businessId": books.business_id}
        invoice = books.invoice(**of, issueDate=day(at), supplyDate=day(at), lines=work)
        if is_paid:
            books.post("recordPayment", invoiceId=invoice["id"], date=day(at))
    for first, last in ((1, cut), (cut + 1, 95)):
        account = books.pnl(books.business_id, day(first), day(last))
        before, after = posted(bills, first - 1, basis), posted(bills, last, basis)
        expected = {
            category: tuple(after[category][i] - before.get(category, (0, 0))[i] for i in (0, 1)) for category in after
        }
        found = {
            line["category"]: (to_minor(line["amount"], "GBP"), to_minor(line["disallowable"], "GBP"))
            for line in account["expenses"]
        }
        assert found == {
            category: figures for category, figures in expected.items() if any(figures) or category in found
        }
        turnover = sum(net for at, net, is_paid in sold if first <= at <= last and (is_paid or basis == "accruals"))
        assert amounts(account, "income") == ({"turnover": from_minor(turnover, "GBP")} if turnover else {})
        earlier, later = returned(bills, first - 1, basis), returned(bills, last, basis)
        figures = vat(books, DateRange(day(first), day(last)))
        assert (figures.input_vat, figures.purchases) == (later[0] - earlier[0], later[1] - earlier[1])
        assert (figures.sales, figures.output_vat) == (turnover, 0)
