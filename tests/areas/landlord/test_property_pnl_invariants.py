"""What always holds of the accounts of properties (Domain C2), over random books and against a reckoning of its own."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from gatewayd.ledger.allocating.categories import Category
from tests.areas.accounting.books import RANDOM_BOOKS, Json
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore

START, TODAY = datetime.date(2026, 1, 1), datetime.date(2026, 11, 20)
RANGE = ("2026-01-20", "2026-11-10")
INCOME: tuple[Category, ...] = ("periodAmount", "otherIncome")
EXPENSES: tuple[Category, ...] = ("repairsAndMaintenance", "other", "financialCosts", "residentialFinancialCost")
VATS: dict[str, dict[str, object]] = {
    "unregistered": {"vatNumber": None, "vat": None},
    "registered": {},
    "flat_rate": {
        "vat": {
            "status": "registered",
            "effectiveDate": "2025-06-15",
            "scheme": "flat_rate",
            "flatRatePercent": "12.5",
        }
    },
    "from_july": {"vat": {"status": "registered", "effectiveDate": "2026-07-01"}},
}


class Money(NamedTuple):
    """What is allocated: `place` is the number of a property, None: none. The rest is as in the tests of businesses."""

    place: int | None
    category: Category
    refund: bool
    amount: int
    vat: int
    disallowable: int
    date: str
    bill: str | None
    foreign: bool


class Note(NamedTuple):
    is_credit: bool
    percent: int
    date: str
    place: int | None


class Sale(NamedTuple):
    """An invoice of a property or of none; lines are prices, categories and the property they name themselves."""

    place: int | None
    lines: Sequence[tuple[int, str | None, int | None]]
    date: str
    notes: Sequence[Note]


def days() -> st.SearchStrategy[str]:
    return st.dates(START, TODAY).map(datetime.date.isoformat)


PLACES = st.sampled_from([0, 1, None])
MONEY = st.builds(
    Money,
    place=PLACES,
    category=st.sampled_from([*INCOME, *EXPENSES]),
    refund=st.booleans(),
    amount=st.integers(1, 99_999),
    vat=st.integers(0, 100),
    disallowable=st.sampled_from([0, 0, 33, 100]),
    date=days(),
    bill=st.none() | days(),
    foreign=st.sampled_from([False, False, True]),
)
NOTE = st.builds(Note, is_credit=st.booleans(), percent=st.integers(1, 130), date=days(), place=PLACES)
SALE = st.builds(
    Sale,
    place=PLACES,
    lines=st.lists(
        st.tuples(st.integers(1, 50_000), st.sampled_from([None, "otherIncome"]), PLACES), min_size=1, max_size=3
    ),
    date=days(),
    notes=st.lists(NOTE, max_size=3),
)
Key = tuple[int | None, str]


class Sold(NamedTuple):
    date: str
    nets: Counter[Key]
    payable: int
    payments: list[tuple[str, int]]
    credits: list[tuple[str, Counter[Key], int]]


class Lettings:
    """Random books of a property business with two houses, and what they come to by place."""

    def __init__(self, store: MemoryStore, vat: str) -> None:
        self.books = LetBooks(store)
        self.owner = self.books.entity(**VATS[vat])
        self.business = self.books.trade(self.owner, type="uk_property", name="Lets")
        shares = ("50", "33.3")
        self.houses = [self.books.property(self.business, owner_share_percent=share) for share in shares]
        self._vat = vat
        self._client = self.books.client()
        self._facts: list[tuple[Money, int, int]] = []
        self._sold: list[Sold] = []

    def allocate(self, money: Money) -> None:
        most = int(Fraction(money.amount, 6)) if self._vat == "registered" else 0
        expense = money.category in EXPENSES
        vat, disallowable = most * money.vat // 100, money.amount * money.disallowable // 100 if expense else 0
        incoming = money.refund if expense else not money.refund
        self.books.enter(
            self.business,
            money.category,
            money.amount,
            money.date,
            direction="in" if incoming else "out",
            vat_amount=vat,
            disallowable_amount=disallowable,
            document_date=money.bill,
            property_id=self._id(money.place),
            **({"currency": "EUR", "fx_rate": "0.87"} if money.foreign else {}),
        )
        self._facts.append((money, vat, disallowable))

    def sell(self, sale: Sale) -> None:
        each = [
            {"description": "Rent", "unitPrice": _text(price)}
            | ({} if category is None else {"category": category})
            | ({} if place is None else {"propertyId": self._id(place)})
            for price, category, place in sale.lines
        ]
        made = self.books.invoice(
            businessId=self.business,
            legalEntityId=self.owner,
            clientId=self._client,
            issueDate=sale.date,
            supplyDate=sale.date,
            lines=each,
            **({} if sale.place is None else {"propertyId": self._id(sale.place)}),
        )
        sold = Sold(sale.date, self._nets(made, made["propertyId"]), _minor(made["grossTotal"]), [], [])
        for note in sale.notes:
            try:
                self._credit(made, note, sold) if note.is_credit else self._pay(made, note, sold)
            except Problem:
                continue
        self._sold.append(sold)

    def by_place(self, first: str, last: str, basis: str) -> dict[Key, int]:
        """The amount of each category of each place that is not nothing, of somebody without VAT."""
        sums: Counter[Key] = Counter()
        for money, _, disallowable in self._facts:
            if first <= (money.bill or money.date if basis == "accruals" else money.date) <= last:
                amounts = (money.amount, disallowable)
                if money.foreign:
                    amounts = (_half_up(amounts[0] * Fraction(87, 100)), _half_up(amounts[1] * Fraction(87, 100)))
                counted = amounts[0] - (amounts[1] if money.category == "residentialFinancialCost" else 0)
                sums[money.place, money.category] += -counted if money.refund else counted
        for sold in self._sold:
            if basis == "cash":
                sums.update(_by_the_end_of(sold, last))
                sums.subtract(_by_the_end_of(sold, _before(first)))
            elif first <= sold.date <= last:
                sums.update(sold.nets)
                for _, nets, _ in sold.credits:
                    sums.subtract(nets)
        return {key: amount for key, amount in sums.items() if amount}

    def portfolio(self, query: str) -> Json:
        each = "&".join(f"propertyIds={house}" for house in self.houses)
        first, last = RANGE
        return self.books.one("propertyPnl", f"{each}&fromDate={first}&toDate={last}&{query}")

    def _pay(self, made: Json, note: Note, sold: Sold) -> None:
        amount = max(1, sold.payable * note.percent // 100)
        self.books.post("recordPayment", invoiceId=made["id"], amount=_text(amount), date=note.date)
        sold.payments.append((note.date, amount))

    def _credit(self, made: Json, note: Note, sold: Sold) -> None:
        price = max(1, _minor(made["netTotal"]) * note.percent // 200)
        line: Json = {"description": "Back", "unitPrice": _text(price)}
        if note.place is not None:
            line["propertyId"] = self._id(note.place)
        issued = max(note.date, sold.date)
        credit = self.books.credit(made["id"], issueDate=issued, lines=[line])
        sold.credits.append((issued, self._nets(credit, made["propertyId"]), _minor(credit["grossTotal"])))

    def _nets(self, made: Json, property_id: str | None) -> Counter[Key]:
        places = {house: place for place, house in enumerate(self.houses)}
        sums: Counter[Key] = Counter()
        for line in made["lines"]:
            category = line["category"] or "periodAmount"
            sums[places.get(line["propertyId"] or property_id or ""), category] += _minor(line["net"])
        return sums

    def _id(self, place: int | None) -> str | None:
        return None if place is None else self.houses[place]


def filled(store: MemoryStore, vat: str, monies: Iterable[Money], sales: Iterable[Sale]) -> Lettings:
    lettings = Lettings(store, vat)
    for money in monies:
        lettings.allocate(money)
    for sale in sales:
        lettings.sell(sale)
    return lettings


each_run = settings(
    max_examples=RANDOM_BOOKS, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
each_basis = pytest.mark.parametrize("basis", ["cash", "accruals"])
each_vat = pytest.mark.parametrize("vat", VATS)
SCENARIO = (st.lists(MONEY, max_size=7), st.lists(SALE, max_size=3))


@each_basis
@each_run
@given(monies=SCENARIO[0], sales=SCENARIO[1])
def test_each_property_has_what_a_reckoning_by_evenings_comes_to(
    store: MemoryStore, basis: str, monies: list[Money], sales: list[Sale]
) -> None:
    lettings = filled(store, "unregistered", monies, sales)
    found = lettings.portfolio(f"basis={basis}")
    accounts = {0: found["properties"][0], 1: found["properties"][1], None: found["notOfAnyProperty"][0]}
    served = {
        (place, name): amount
        for place, account in accounts.items()
        for name, amount in shown(account).items()
        if not name.startswith("-")
    }
    assert served == lettings.by_place(*RANGE, basis)


@each_basis
@each_vat
@each_run
@given(monies=SCENARIO[0], sales=SCENARIO[1])
def test_all_properties_and_the_rest_are_the_business(
    store: MemoryStore, vat: str, basis: str, monies: list[Money], sales: list[Sale]
) -> None:
    lettings = filled(store, vat, monies, sales)
    found = lettings.portfolio(f"basis={basis}")
    business = lettings.books.pnl(lettings.business, *RANGE, basis=basis)
    (rest,) = found["notOfAnyProperty"]
    assert added(map(shown, [*found["properties"], rest])) == shown(business)
    assert added(map(shown, found["properties"])) == shown(found)
    profits = [_minor(one["totals"]["taxableProfit"]) for one in (*found["properties"], rest)]
    assert sum(profits) == _minor(business["totals"]["taxableProfit"])


@each_basis
@each_vat
@each_run
@given(monies=SCENARIO[0], sales=SCENARIO[1], share=st.sampled_from(["full", "owner"]))
def test_buckets_and_rows_add_up_to_the_whole(
    store: MemoryStore, vat: str, basis: str, share: str, monies: list[Money], sales: list[Sale]
) -> None:
    lettings = filled(store, vat, monies, sales)
    months = lettings.portfolio(f"basis={basis}&share={share}&groupBy=month&explain=true&limit=100")
    quarters = lettings.portfolio(f"basis={basis}&share={share}&groupBy=quarter")["buckets"]
    assert added(map(shown, months["buckets"])) == added(map(shown, quarters)) == shown(months)
    assert added(map(shown, months["properties"])) == shown(months)
    if share == "full":
        assert added(map(_row, months["explanation"]["data"])) == shown(months)
    for one in (months, *months["buckets"], *months["properties"]):
        expect_formulas(one)


def expect_formulas(account: Json) -> None:
    """Domain C2, from the lines that are served."""
    amounts = {name: _minor(text) for name, text in account["totals"].items()}
    expenses = {line["category"]: _minor(line["amount"]) for line in account["expenses"]}
    relieved = sum(_minor(one["amount"]) for one in account["memoranda"] if one["category"] != "taxDeducted")
    deducted = expenses.pop("financialCosts", 0)
    assert amounts["grossIncome"] == sum(_minor(line["amount"]) for line in account["income"])
    assert amounts["operatingExpenses"] == sum(expenses.values())
    assert amounts["netOperatingIncome"] == amounts["grossIncome"] - amounts["operatingExpenses"]
    assert (amounts["financeCosts"], amounts["residentialFinancialCost"]) == (deducted + relieved, relieved)
    assert amounts["cashFlow"] == amounts["netOperatingIncome"] - amounts["financeCosts"] - amounts["capitalRepaid"]
    assert amounts["taxableProfit"] == amounts["netOperatingIncome"] - deducted + amounts["disallowable"]


def shown(account: Json) -> dict[str, int]:
    """Each line of an account that is not nothing; `-` before one is its part that is disallowable."""
    sums: Counter[str] = Counter()
    for line in (*account["income"], *account["memoranda"]):
        sums[line["category"]] += _minor(line["amount"])
    for line in account["expenses"]:
        sums[line["category"]] += _minor(line["amount"])
        sums["-" + line["category"]] += _minor(line["disallowable"])
    return {name: amount for name, amount in sums.items() if amount}


def added(accounts: Iterable[dict[str, int]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for account in accounts:
        sums.update(account)
    return {name: amount for name, amount in sums.items() if amount}


def _row(row: dict[str, str]) -> dict[str, int]:
    return {row["category"]: _minor(row["amount"]), "-" + row["category"]: _minor(row["disallowable"])}


def _by_the_end_of(sold: Sold, day: str) -> Counter[Key]:
    """What counts of an invoice by the end of a day."""
    left, payable = Counter(sold.nets), sold.payable
    for issued, nets, gross in sold.credits:
        if issued <= day:
            left.subtract(nets)
            payable -= gross
    paid = sum(amount for date, amount in sold.payments if date <= day)
    part = min(Fraction(1), Fraction(paid, payable)) if payable else Fraction(0)
    return Counter({key: _half_up(amount * part) for key, amount in left.items()})


def _before(day: str) -> str:
    return (datetime.date.fromisoformat(day) - datetime.timedelta(days=1)).isoformat()


def _half_up(amount: Fraction) -> int:
    whole = int(abs(amount) + Fraction(1, 2))
    return whole if amount >= 0 else -whole


def _minor(text: str) -> int:
    return int(Decimal(text) * 100)


def _text(minor: int) -> str:
    return f"{Decimal(minor) / 100:.2f}"
