"""Allocations as profit and loss counts them (Domain C1): sums of a span of days, and the rows behind them. Reads only.

    cash      by the date of the money
    accruals  by the date of the bill where it is known, else of the money

Rows whose counted amount is more than a difference of columns are read one by one and rounded each; the others, which
are nearly all, are summed by the database from an index. They are foreign money, income under a flat rate of VAT, and
what is disallowable in part with VAT in it, and capital goods, whose VAT is outside a flat rate.
"""

import itertools
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal, NamedTuple

import msgspec

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import categories
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import profit_and_loss
from gatewayd.ledger.results.profit_and_loss import Books, Direction, Posting
from gatewayd.ledger.vat.vat_rates import OUTSIDE_FLAT_RATE
from gatewayd.ledger.vat.vat_standing import Treatment, VatStanding
from gatewayd.money import exponent, half_up
from gatewayd.store import ReadTx, Row

Basis = Literal["cash", "accruals"]

Scope = Literal["business", "property", "no_property"]
OF_BUSINESS = "FROM allocations WHERE org_id = :org_id AND business_id = :business_id AND category <> 'not_pnl'"
OF_PROPERTY = "FROM allocations WHERE org_id = :org_id AND property_id = :property_id AND category <> 'not_pnl'"
OF_NO_PROPERTY = f"{OF_BUSINESS} AND property_id IS NULL"
BY_MONEY = "date BETWEEN :first AND :last"
WITHOUT_BILL = f"document_date IS NULL AND {BY_MONEY}"
BY_BILL = "document_date BETWEEN :first AND :last"
"""Which day of a row lies in a range: on cash basis the first, on accruals the second or the third."""
_PLAIN = """
currency = :currency AND capital_goods = 0
    AND (vat_amount = 0 OR disallowable_amount = 0 OR disallowable_amount = amount)
"""
_HARD = """(
    currency <> :currency OR capital_goods = 1
    OR (vat_amount > 0 AND disallowable_amount > 0 AND disallowable_amount < amount)
)"""
_SUMS = """
category, direction, sum(amount), sum(disallowable_amount), sum(vat_amount),
    sum(CASE WHEN disallowable_amount = amount THEN vat_amount ELSE 0 END),
    sum(CASE WHEN document_ids = '[]' THEN 0 ELSE amount END),
    sum(CASE WHEN document_ids = '[]' THEN 0 ELSE vat_amount END), sum(CASE WHEN document_ids = '[]' THEN 1 ELSE 0 END)
"""
FIGURES = (
    "id, date, document_date, category, direction, amount, vat_amount, disallowable_amount, currency, fx_rate,"
    " document_ids <> '[]', vat_code, capital_goods"
)
"""Columns, in the order that `money_of` reads."""
FIGURE_COUNT = FIGURES.count(",") + 1
_GROUPS = "GROUP BY category, direction"
_OF_LINE = f"{_PLAIN} AND coalesce(category, '') = :category AND coalesce(direction, '') = :direction"
"""No index of what many rows have goes before that of the business or the property: neither column is null."""
_DETAILS = "date, source_id, import_id, description, matched_by, rule_id, reason, property_id, document_ids"
_NEXT = """
    AND (CAST(:category AS TEXT) IS NULL OR category = :category) AND (date > :start OR id > :after_id)
ORDER BY date, id LIMIT :count
"""
_BY_MONEY = "date BETWEEN :start AND :last"
_BY_BILL = """
    date >= :start
    AND ((document_date IS NULL AND date BETWEEN :first AND :last) OR document_date BETWEEN :first AND :last)
"""
PAGES: Final[Mapping[tuple[Scope, Basis], str]] = {
    ("business", "cash"): f"SELECT {FIGURES}, {_DETAILS} {OF_BUSINESS} AND {_BY_MONEY} {_NEXT}",
    ("business", "accruals"): f"SELECT {FIGURES}, {_DETAILS} {OF_BUSINESS} AND {_BY_BILL} {_NEXT}",
    ("property", "cash"): f"SELECT {FIGURES}, {_DETAILS} {OF_PROPERTY} AND {_BY_MONEY} {_NEXT}",
    ("property", "accruals"): f"SELECT {FIGURES}, {_DETAILS} {OF_PROPERTY} AND {_BY_BILL} {_NEXT}",
    ("no_property", "cash"): f"SELECT {FIGURES}, {_DETAILS} {OF_NO_PROPERTY} AND {_BY_MONEY} {_NEXT}",
    ("no_property", "accruals"): f"SELECT {FIGURES}, {_DETAILS} {OF_NO_PROPERTY} AND {_BY_BILL} {_NEXT}",
}
_ids = msgspec.json.Decoder(list[str])


class Statements(NamedTuple):
    """Of one way to date a row: sums of plain rows, plain rows of one line and direction, and the other rows."""

    sums: str
    line: str
    hard: str


def _statements(rows: str, day: str) -> Statements:
    return Statements(
        sums=f"SELECT {_SUMS} {rows} AND {_PLAIN} AND {day} {_GROUPS}",
        line=f"SELECT {FIGURES} {rows} AND {day} AND {_OF_LINE}",
        hard=f"SELECT {FIGURES} {rows} AND {day} AND {_HARD}",
    )


STATEMENTS: Final[Mapping[tuple[Scope, Basis], tuple[Statements, ...]]] = {
    ("business", "cash"): (_statements(OF_BUSINESS, BY_MONEY),),
    ("business", "accruals"): (_statements(OF_BUSINESS, WITHOUT_BILL), _statements(OF_BUSINESS, BY_BILL)),
    ("property", "cash"): (_statements(OF_PROPERTY, BY_MONEY),),
    ("property", "accruals"): (_statements(OF_PROPERTY, WITHOUT_BILL), _statements(OF_PROPERTY, BY_BILL)),
    ("no_property", "cash"): (_statements(OF_NO_PROPERTY, BY_MONEY),),
    ("no_property", "accruals"): (_statements(OF_NO_PROPERTY, WITHOUT_BILL), _statements(OF_NO_PROPERTY, BY_BILL)),
}


class Account(NamedTuple):
    """Whose money is counted and how: in the business's currency, on a basis, by a standing towards VAT.

    All of the business by default; else what names `property_id`, or what names no property.
    """

    business_id: str
    business_type: str
    currency: str
    basis: Basis
    vat: VatStanding
    scope: Scope = "business"
    property_id: str | None = None

    @property
    def whose(self) -> dict[str, str | None]:
        """Who is meant, by the names that statements have for it."""
        return {"business_id": self.business_id, "property_id": self.property_id}


class Allocated(NamedTuple):
    """One allocation, amounts in minor units of `currency`; `counted_on` is the ISO date that the basis counts."""

    id: str
    counted_on: str
    category: str
    direction: Direction
    amount: int
    vat: int
    disallowable: int
    currency: str
    fx_rate: str | None
    documented: bool
    vat_code: str | None = None
    is_capital: int = 0


class Evidence:
    """Of the expenses that were paid: what they come to, how much of it has a document, and how many have none."""

    def __init__(self) -> None:
        self.expenses = self.documented = self.missing = 0

    def add(self, amount: int, documented: int, missing: int) -> None:
        """Count expenses of an amount, and of it what is documented; `missing` of them are not."""
        self.expenses += amount
        self.documented += documented
        self.missing += missing


def add_span(tx: ReadTx, account: Account, span: DateRange, books: Books, evidence: Evidence) -> None:
    """Add what an account has in a span of days, in which its standing towards VAT is one: what was allocated.

    Raises `Problem` `currency_mismatch` for foreign money without a rate.
    """
    treatment = account.vat.treatment_on(span.first)
    values = {**account.whose, "currency": account.currency, **span._asdict()}
    for by_date in STATEMENTS[account.scope, account.basis]:
        hard = [tx.each(by_date.hard, **values)]
        for row in tx.rows(by_date.sums, **values):
            category, direction, *_ = row
            if treatment == "flat_rate" and bears_flat_rate(account.business_type, category):
                hard.append(tx.each(by_date.line, category=category, direction=direction, **values))
            else:
                _add_sum(account, treatment, row, books, evidence)
        for hard_row in itertools.chain.from_iterable(hard):
            _add_row(account, money_of(hard_row, account.basis), books, evidence)


def money_of(row: Row, basis: Basis) -> Allocated:
    """The allocation of a row of the columns above."""
    id_, date, document_date, category, direction, amount, vat, disallowable, currency, fx_rate, *others = row
    documented, *coded = others
    counted_on = document_date if basis == "accruals" and document_date is not None else date
    return Allocated(
        id_, counted_on, category, direction, amount, vat, disallowable, currency, fx_rate, bool(documented), *coded
    )


def posting_of(account: Account, money: Allocated) -> Posting:
    """What one allocation counts for. Raises `Problem` `currency_mismatch`."""
    treatment = account.vat.treatment_on(money.counted_on)
    amount, disallowable = money.amount, money.disallowable
    if money.vat and (treatment == "registered" or (treatment == "flat_rate" and money.is_capital)):
        amount -= money.vat
        disallowable = half_up(disallowable * amount, money.amount)
    if money.currency != account.currency:
        amount, disallowable = (_converted(account, money, part) for part in (amount, disallowable))
    bears = bears_flat_rate(account.business_type, money.category, money.vat_code) and not money.is_capital
    if treatment == "flat_rate" and bears:
        amount -= account.vat.flat_rate_vat(amount, money.counted_on)
    sign = profit_and_loss.sign_of(money.category, money.direction, account.business_type)
    return profit_and_loss.posting(money.category, sign * amount, sign * disallowable)


def bears_flat_rate(business_type: str, category: str, vat_code: str | None = None) -> bool:
    """True for income that a flat rate of VAT is taken of.

    Chosen: all income but `other` of a trade, such as interest and grants, which nothing is supplied for, and what a
    code says is outside of it.
    """
    is_income = categories.kind_of(category, business_type) == "income"
    return is_income and category != "other" and vat_code not in OUTSIDE_FLAT_RATE


def convert(amount: int, fx_rate: str, currency: str, to: str) -> int:
    """An amount in minor units of another currency, at `fx_rate` units of it for one, rounded half up."""
    rate = Decimal(fx_rate).scaleb(exponent(to) - exponent(currency))
    numerator, denominator = rate.as_integer_ratio()
    return half_up(amount * numerator, denominator)


def currency_mismatch(what: str, id_: str, currency: str, to: str) -> Problem:
    """409: something in another currency has no rate."""
    message = f"The {what} {id_} is in {currency} and has no rate of exchange to {to}."
    if what == "invoice":
        message += f" Give it one with POST /invoices/{id_}/exchangeRate."
    return Problem("currency_mismatch", message, extra={"id": id_, "currency": currency})


def _converted(account: Account, money: Allocated, amount: int) -> int:
    if money.fx_rate is None:
        raise currency_mismatch("allocation", money.id, money.currency, account.currency)
    return convert(amount, money.fx_rate, money.currency, account.currency)


def _add_sum(account: Account, treatment: Treatment, row: Row, books: Books, evidence: Evidence) -> None:
    category, direction, amount, disallowable, *vats, documented, vat_documented, missing = row
    if treatment == "registered":
        amount, disallowable, documented = amount - vats[0], disallowable - vats[1], documented - vat_documented
    sign = profit_and_loss.sign_of(category, direction, account.business_type)
    books.post(profit_and_loss.posting(category, sign * amount, sign * disallowable))
    if sign > 0 and categories.kind_of(category, account.business_type) == "expense":
        evidence.add(amount, documented, missing)


def _add_row(account: Account, money: Allocated, books: Books, evidence: Evidence) -> None:
    posting = posting_of(account, money)
    books.post(posting)
    is_expense = categories.kind_of(money.category, account.business_type) == "expense"
    if is_expense and profit_and_loss.sign_of(money.category, money.direction, account.business_type) > 0:
        evidence.add(posting.amount, posting.amount if money.documented else 0, int(not money.documented))


class AllocatedRow(NamedTuple):
    """An allocation with where it comes from. `date` is the ISO date of the money."""

    money: Allocated
    date: str
    source_id: str | None
    import_id: str | None
    description: str
    matched_by: str
    rule_id: str | None
    reason: str | None
    property_id: str | None
    document_ids: list[str]


class Place(NamedTuple):
    """Where a page begins: after the row of this date and id."""

    date: str = ""
    id: str = ""


def page(
    tx: ReadTx, account: Account, date_range: DateRange, category: str | None, after: Place, count: int
) -> list[AllocatedRow]:
    """The next `count` rows that count in a range, by the date of the money; of one category, or None for all."""
    values = {"category": category, "after_id": after.id, "count": count, **date_range._asdict()}
    # money moves before and after its bill, so that on accruals any day may be the next
    values["start"] = max(date_range.first, after.date) if account.basis == "cash" else after.date
    rows = tx.rows(PAGES[account.scope, account.basis], **account.whose, **values)
    return [_allocated_row(account, row) for row in rows]


def _allocated_row(account: Account, row: Row) -> AllocatedRow:
    figures, details, document_ids = row[:FIGURE_COUNT], row[FIGURE_COUNT:-1], row[-1]
    date, source_id, import_id, description, matched_by, rule_id, reason, property_id = details
    return AllocatedRow(
        money=money_of(figures, account.basis),
        date=date,
        source_id=source_id,
        import_id=import_id,
        description=description,
        matched_by=matched_by,
        rule_id=rule_id,
        reason=reason,
        property_id=property_id,
        document_ids=_ids.decode(document_ids),
    )
