"""Profit and loss: from what counts in each category to lines and totals (Domain C1 and C2). Pure; minor units.

    netProfit     = income - expenses
    taxableProfit = netProfit + disallowable

What is told beside the result and is part of no total is a memorandum: residential finance costs, which are not
deducted, what replaced domestic items, which is deducted of the year alone, and tax that was taken off income.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from gatewayd.ledger.allocating import categories
from gatewayd.ledger.allocating.categories import MEMORANDA, PROPERTY_TYPES, Kind, kind_of
from gatewayd.money import half_up

Direction = Literal["in", "out"]

CONSOLIDATED = "consolidatedExpenses"
_ORDER = {
    name: position
    for position, name in enumerate(
        dict.fromkeys(
            name
            for group in (
                categories.Income,
                Literal["exchangeDifferences"],
                categories.Expense,
                categories.PropertyIncome,
                categories.PropertyExpense,
            )
            for name in get_args(group)
        )
    )
}
_LAST = len(_ORDER)


class Posting(NamedTuple):
    """What counts in one line. `amount` raises the line, `disallowable` is the part that tax does not allow."""

    category: str
    amount: int
    disallowable: int = 0


def posting(category: str, amount: int, disallowable: int) -> Posting:
    """What an amount counts for. A memorandum has no twin for what tax does not allow: it is the rest alone."""
    return (
        Posting(category, amount - disallowable) if category in MEMORANDA else Posting(category, amount, disallowable)
    )


class Line(NamedTuple):
    """One line of the report."""

    category: str
    amount: int
    disallowable: int


class Totals(NamedTuple):
    """The sums of a report."""

    income: int
    expenses: int
    disallowable: int
    net_profit: int
    taxable_profit: int


class Statement(NamedTuple):
    """A profit and loss account. Lines are in the order of the tax authority's own."""

    income: tuple[Line, ...]
    expenses: tuple[Line, ...]
    memoranda: tuple[Line, ...]

    @property
    def totals(self) -> Totals:
        """The sums, by the formulas above."""
        income = sum(line.amount for line in self.income)
        expenses = sum(line.amount for line in self.expenses)
        return _totals(income, expenses, sum(line.disallowable for line in self.expenses))


class Books:
    """What counts, summed by category: it can be added to, and to other books of the same business."""

    def __init__(self) -> None:
        self._sums: dict[str, list[int]] = {}

    def post(self, posting: Posting) -> None:
        """Add what counts in one line."""
        sums = self._sums.setdefault(posting.category, [0, 0])
        sums[0] += posting.amount
        sums[1] += posting.disallowable

    def merge(self, others: Iterable["Books"]) -> "Books":
        """Add all that others hold."""
        for other in others:
            for category, (amount, disallowable) in other._sums.items():
                self.post(Posting(category, amount, disallowable))
        return self

    def statement(self, business_type: str) -> Statement:
        """The account of a business of this type."""
        lines: dict[Kind, list[Line]] = {"income": [], "expense": [], "memorandum": []}
        for category in sorted(self._sums, key=_place):
            lines[kind_of(category, business_type)].append(Line(category, *self._sums[category]))
        return Statement(tuple(lines["income"]), tuple(lines["expense"]), tuple(lines["memorandum"]))


def sign_of(category: str, direction: Direction, business_type: str) -> int:
    """1 where money of this direction raises the line of a category, -1 where it lowers it, as a refund does."""
    raises = "in" if kind_of(category, business_type) == "income" or category == "taxDeducted" else "out"
    return 1 if direction == raises else -1


def sales_category(category: str | None, business_type: str) -> str:
    """The income line of a line of an invoice.

    Chosen: what names no income of its type of business is turnover, and of property it is rent.
    """
    if category is not None and category in categories.income_of(business_type) and category not in MEMORANDA:
        return category
    return "periodAmount" if business_type in PROPERTY_TYPES else "turnover"


def withheld_category(business_type: str) -> str:
    """The memorandum of what contractors withheld of income, under HMRC's name."""
    return "taxDeducted" if business_type in PROPERTY_TYPES else "taxTakenOffTradingIncome"


def consolidated(statement: Statement) -> Statement:
    """The account with one figure for all expenses: what of them tax allows, as HMRC asks for it."""
    allowed = sum(line.amount - line.disallowable for line in statement.expenses)
    return statement._replace(expenses=(Line(CONSOLIDATED, allowed, 0),) if statement.expenses else ())


def share(statement: Statement, numerator: int, denominator: int) -> Statement:
    """What an owner has of an account: each line's share, rounded, and the largest takes what the sum is off by.

    Memoranda are in no sum: each is rounded by itself.
    """
    income, expenses = (tuple(_shares(lines, numerator, denominator)) for lines in statement[:2])
    memoranda = tuple(_shares([line], numerator, denominator)[0] for line in statement.memoranda)
    return Statement(income, expenses, memoranda)


def combined(statements: Iterable[Statement]) -> Statement:
    """The sum of accounts, of whatever types of business."""
    sums: tuple[dict[str, list[int]], ...] = ({}, {}, {})
    for statement in statements:
        for totals, lines in zip(sums, statement, strict=True):
            for category, amount, disallowable in lines:
                line = totals.setdefault(category, [0, 0])
                line[0] += amount
                line[1] += disallowable
    each = (tuple(Line(category, *totals[category]) for category in sorted(totals, key=_place)) for totals in sums)
    return Statement(*each)


def less(after: Statement, before: Statement) -> Statement:
    """What an account has more than another; lines that are the same are left out."""
    taken = (tuple(Line(category, -amount, -part) for category, amount, part in lines) for lines in before)
    grown = combined([after, Statement(*taken)])
    return Statement(*(tuple(line for line in lines if line.amount or line.disallowable) for lines in grown))


def difference(after: Totals, before: Totals) -> Totals:
    """How much more each sum is."""
    return Totals(*(later - earlier for later, earlier in zip(after, before, strict=True)))


def _place(category: str) -> tuple[int, str]:
    """Where a line stands among others."""
    return _ORDER.get(category, _LAST), category


def _shares(lines: Sequence[Line], numerator: int, denominator: int) -> list[Line]:
    amounts = _spread([line.amount for line in lines], numerator, denominator)
    disallowed = _spread([line.disallowable for line in lines], numerator, denominator)
    return [Line(line.category, *parts) for line, *parts in zip(lines, amounts, disallowed, strict=True)]


def _spread(amounts: Sequence[int], numerator: int, denominator: int) -> list[int]:
    parts = [half_up(amount * numerator, denominator) for amount in amounts]
    off = half_up(sum(amounts) * numerator, denominator) - sum(parts)
    if off:
        parts[max(range(len(parts)), key=lambda index: abs(parts[index]))] += off
    return parts


def _totals(income: int, expenses: int, disallowable: int) -> Totals:
    net = income - expenses
    return Totals(income, expenses, disallowable, net, net + disallowable)
