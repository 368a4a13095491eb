"""Random books of a business, and what they come to by a reckoning of its own: Domain C1 in fractions.

An invoice on cash basis is looked at on two evenings, and not payment by payment: what counts of a line by the end of a
day is its share of what was paid, and a range counts for what lies between its two evenings.
"""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from hypothesis import strategies as st

from gatewayd.errors import Problem
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.categories import Category
from tests.areas.businesses.ledger_books import Json, LedgerBooks

START, TODAY = datetime.date(2026, 1, 1), datetime.date(2026, 11, 20)
INCOME: tuple[Category, ...] = ("turnover", "other")
EXPENSES: tuple[Category, ...] = ("adminCosts", "costOfGoods", "businessEntertainmentCosts")


class Money(NamedTuple):
    """What is allocated, minor units; `vat` and `disallowable` are percent of what they can be at most."""

    category: Category
    refund: bool
    amount: int
    vat: int
    disallowable: int
    date: str
    bill: str | None


class Note(NamedTuple):
    """A payment, or a credit note, of some percent of what an invoice comes to."""

    is_credit: bool
    percent: int
    date: str
    category: str | None


class Sale(NamedTuple):
    """An invoice: prices with categories, and what happens to it."""

    lines: Sequence[tuple[int, str | None]]
    date: str
    labour: bool
    notes: Sequence[Note]


class Fact(NamedTuple):
    """What an allocation is, in minor units."""

    category: str
    sign: int
    amount: int
    vat: int
    disallowable: int
    date: str
    bill: str | None


class Sold(NamedTuple):
    """What an invoice is: nets by category, and what was paid and credited of it."""

    date: str
    nets: Counter[str]
    payable: int
    withheld: int
    payments: list[tuple[str, int]]
    credits: list[tuple[str, str, Counter[str], int, int]]


def days(first: datetime.date = START) -> st.SearchStrategy[str]:
    return st.dates(first, TODAY).map(datetime.date.isoformat)


MONEY = st.builds(
    Money,
    category=st.sampled_from([*INCOME, *EXPENSES]),
    refund=st.booleans(),
    amount=st.integers(1, 99_999),
    vat=st.integers(0, 100),
    disallowable=st.sampled_from([0, 0, 33, 100]),
    date=days(),
    bill=st.none() | days(),
)
CATEGORIES = st.sampled_from(["turnover", "other", None, "no_such_line"])
NOTE = st.builds(Note, is_credit=st.booleans(), percent=st.integers(1, 130), date=days(), category=CATEGORIES)
SALE = st.builds(
    Sale,
    lines=st.lists(st.tuples(st.integers(1, 50_000), CATEGORIES), min_size=1, max_size=3),
    date=days(),
    labour=st.booleans(),
    notes=st.lists(NOTE, max_size=4),
)


class Reckoning:
    """What was entered into books, and what it comes to."""

    def __init__(self, books: LedgerBooks, business: str, owner: str, *, net: bool) -> None:
        self._books, self._business, self._owner, self._net = books, business, owner, net
        self._facts: list[Fact] = []
        self._sold: list[Sold] = []
        self._client = books.client(cisContractor=True)

    def allocate(self, money: Money) -> None:
        """Enter it, as an entry without a bank line."""
        most = int(Fraction(money.amount, 6)) if self._net else 0
        vat = most * money.vat // 100
        expense = money.category in EXPENSES
        disallowable = money.amount * money.disallowable // 100 if expense else 0
        incoming = money.refund if expense else not money.refund
        self._books.enter(
            self._business,
            money.category,
            money.amount,
            money.date,
            direction="in" if incoming else "out",
            vat_amount=vat,
            disallowable_amount=disallowable,
            document_date=money.bill,
        )
        sign = -1 if money.refund else 1
        self._facts.append(Fact(money.category, sign, money.amount, vat, disallowable, money.date, money.bill))

    def sell(self, sale: Sale) -> None:
        """Make out an invoice and all that may happen to it; what is refused did not happen."""
        each = [
            {"description": "Work", "unitPrice": _text(price), "cisLabour": sale.labour}
            | ({} if category is None else {"category": category})
            for price, category in sale.lines
        ]
        made = self._books.invoice(
            businessId=self._business,
            legalEntityId=self._owner,
            clientId=self._client,
            issueDate=sale.date,
            supplyDate=sale.date,
            lines=each,
        )
        payable = _minor(made["grossTotal"]) - _minor(made["cisDeduction"])
        sold = Sold(sale.date, _nets(made), payable, _minor(made["cisDeduction"]), [], [])
        for note in sale.notes:
            try:
                self._credit(made, note, sold, labour=sale.labour) if note.is_credit else self._pay(made, note, sold)
            except Problem:
                continue
        self._sold.append(sold)

    def _pay(self, made: Json, note: Note, sold: Sold) -> None:
        amount = max(1, sold.payable * note.percent // 100)
        self._books.post("recordPayment", invoiceId=made["id"], amount=_text(amount), date=note.date)
        sold.payments.append((note.date, amount))

    def _credit(self, made: Json, note: Note, sold: Sold, *, labour: bool) -> None:
        price = max(1, _minor(made["netTotal"]) * note.percent // 200)
        line: Json = {"description": "Back", "unitPrice": _text(price), "cisLabour": labour}
        if note.category is not None:
            line["category"] = note.category
        issued = max(note.date, sold.date)
        credit = self._books.credit(made["id"], issueDate=issued, lines=[line])
        withheld = _minor(credit["cisDeduction"])
        payable = _minor(credit["grossTotal"]) - withheld
        sold.credits.append((issued, credit["supplyDate"], _nets(credit), payable, withheld))

    def lines(self, first: str, last: str, basis: str) -> dict[str, int]:
        """The amount of each category that is not nothing; `held` is what was withheld, `-` before one is its part
        that is disallowable."""
        sums: Counter[str] = Counter()
        for fact in self._facts:
            counted = fact.bill or fact.date if basis == "accruals" else fact.date
            if first <= counted <= last:
                amount, part = fact.amount, Fraction(fact.disallowable)
                if self._net:
                    amount -= fact.vat
                    part = part * amount / fact.amount
                sums[fact.category] += fact.sign * amount
                sums["-" + fact.category] += fact.sign * _half_up(part)
        for sold in self._sold:
            if basis == "accruals":
                sums.update(_supplied(sold, first, last))
            else:
                evening, eve = _by_the_end_of(sold, last), _by_the_end_of(sold, _before(first))
                sums.update({name: evening[name] - eve[name] for name in evening.keys() | eve.keys()})
        return {name: amount for name, amount in sums.items() if amount}


def _supplied(sold: Sold, first: str, last: str) -> Counter[str]:
    sums: Counter[str] = Counter()
    if first <= sold.date <= last:
        sums.update(sold.nets)
        sums["held"] += sold.withheld
    for _, supplied, nets, _, withheld in sold.credits:
        if first <= supplied <= last:
            sums.subtract(nets)
            sums["held"] -= withheld
    return sums


def _by_the_end_of(sold: Sold, day: str) -> Counter[str]:
    """What counts of an invoice by the end of a day."""
    left, payable, held = Counter(sold.nets), sold.payable, sold.withheld
    for issued, _, nets, credited, withheld in sold.credits:
        if issued <= day:
            left.subtract(nets)
            payable, held = payable - credited, held - withheld
    paid = sum(amount for date, amount in sold.payments if date <= day)
    part = min(Fraction(1), Fraction(paid, payable)) if payable else Fraction(0)
    sums = Counter({name: _half_up(amount * part) for name, amount in left.items()})
    sums["held"] = _half_up(held * part)
    return sums


def _nets(made: Json) -> Counter[str]:
    sums: Counter[str] = Counter()
    for line in made["lines"]:
        sums["other" if line["category"] == "other" else "turnover"] += _minor(line["net"])
    return sums


def shown(account: Json) -> dict[str, int]:
    """The same of an account that was served."""
    sums: Counter[str] = Counter()
    for line in account["income"]:
        sums[line["category"]] += _minor(line["amount"])
    for line in account["expenses"]:
        sums[line["category"]] += _minor(line["amount"])
        sums["-" + line["category"]] += _minor(line["disallowable"])
    for line in account["memoranda"]:
        assert line["category"] == "taxTakenOffTradingIncome"
        sums["held"] += _minor(line["amount"])
    return {name: amount for name, amount in sums.items() if amount}


def added(accounts: Iterable[dict[str, int]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for account in accounts:
        sums.update(account)
    return {name: amount for name, amount in sums.items() if amount}


def bank_line(books: LedgerBooks, account: str, business: str, money: Money, left: int) -> None:
    """A line of the account for `money`, of which `left` percent is not allocated."""
    incoming = (money.category in EXPENSES) == money.refund
    line = books.line(account, money.amount if incoming else -money.amount, date=money.date)
    amount = money.amount - money.amount * left // 100
    if amount:
        direction = "in" if incoming else "out"
        books.allocate(line, Part(category=money.category, business_id=business, direction=direction, amount=amount))


def _minor(text: str) -> int:
    return int(Decimal(text) * 100)


def _text(minor: int) -> str:
    return f"{Decimal(minor) / 100:.2f}"


def _half_up(amount: Fraction) -> int:
    whole = int(abs(amount) + Fraction(1, 2))
    return whole if amount >= 0 else -whole


def _before(day: str) -> str:
    return (datetime.date.fromisoformat(day) - datetime.timedelta(days=1)).isoformat()
