"""Lines of profit and loss, their signs, and an owner's share of them (Domain C1 and C2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.ledger.allocating.categories import kind_of
from gatewayd.ledger.results.profit_and_loss import (
    Books,
    Direction,
    Line,
    Posting,
    Statement,
    posting,
    sales_category,
    share,
    sign_of,
)

LINES = st.lists(st.builds(Line, st.just("x"), st.integers(-99_999, 99_999), st.integers(0, 999)), max_size=6)


@pytest.mark.parametrize(
    ("category", "business_type", "kind"),
    [
        ("other", "self_employment", "income"),
        ("other", "uk_property", "expense"),
        ("residentialFinancialCost", "uk_property", "memorandum"),
        ("financialCosts", "uk_property", "expense"),
        # of before the business became another one
        ("turnover", "uk_property", "income"),
        ("periodAmount", "company_trade", "income"),
        ("costOfGoods", "foreign_property", "expense"),
        ("repairsAndMaintenance", "self_employment", "expense"),
    ],
)
def test_where_a_category_stands(category: str, business_type: str, kind: str) -> None:
    assert kind_of(category, business_type) == kind


@pytest.mark.parametrize(
    ("category", "direction", "sign"),
    [
        ("periodAmount", "in", 1),
        ("periodAmount", "out", -1),
        ("travelCosts", "out", 1),
        ("travelCosts", "in", -1),
        ("taxDeducted", "in", 1),
        ("residentialFinancialCost", "out", 1),
        ("residentialFinancialCost", "in", -1),
    ],
)
def test_which_way_money_raises_a_line(category: str, direction: Direction, sign: int) -> None:
    assert sign_of(category, direction, "uk_property") == sign


def test_what_is_posted_to_a_line_adds_up_with_what_tax_does_not_allow_of_it() -> None:
    books = Books()
    for one in (Posting("travelCosts", 100, 30), Posting("travelCosts", 50), Posting("travelCosts", 20, 5)):
        books.post(one)
    assert [tuple(line) for line in books.statement("self_employment").expenses] == [("travelCosts", 170, 35)]


def test_a_sale_is_no_memorandum() -> None:
    assert sales_category("taxDeducted", "uk_property") == "periodAmount"
    assert sales_category("otherIncome", "uk_property") == "otherIncome"
    assert sales_category("otherIncome", "self_employment") == "turnover"


def test_lines_stand_in_the_tax_authoritys_order() -> None:
    books = Books()
    for category in ("otherExpenses", "adminCosts", "costOfGoods", "other", "turnover"):
        books.post(Posting(category, 1))
    found = books.statement("self_employment")
    assert [line.category for line in found.income] == ["turnover", "other"]
    assert [line.category for line in found.expenses] == ["costOfGoods", "adminCosts", "otherExpenses"]


def test_the_largest_line_takes_what_shares_are_off_by() -> None:
    """Halves of 5, 5 and 7 are 3, 3 and 4, and of 17 they are 9."""
    lines = tuple(Line(name, amount, 0) for name, amount in (("a", 5), ("b", 5), ("c", 7)))
    found = share(Statement((), lines, ()), 1, 2)
    assert [line.amount for line in found.expenses] == [3, 3, 3]


def test_each_memorandum_is_rounded_by_itself() -> None:
    """Halves of 5 and 7 are 3 and 4, whatever the half of 12 is: nothing adds them up."""
    found = share(Statement((), (), (Line("residentialFinancialCost", 5, 0), Line("taxDeducted", 7, 0))), 1, 2)
    assert [line.amount for line in found.memoranda] == [3, 4]


def test_a_memorandum_is_what_tax_allows_of_it() -> None:
    assert posting("residentialFinancialCost", 100, 20) == Posting("residentialFinancialCost", 80, 0)
    assert posting("financialCosts", 100, 20) == Posting("financialCosts", 100, 20)


@given(LINES, LINES, st.integers(1, 1000))
def test_shares_of_lines_add_up_to_the_share_of_their_sum(
    income: list[Line], expenses: list[Line], per_mille: int
) -> None:
    whole = Statement(tuple(income), tuple(expenses), ())
    found = share(whole, per_mille, 1000).totals
    for name in ("income", "expenses", "disallowable"):
        assert abs(getattr(found, name) * 1000 - getattr(whole.totals, name) * per_mille) <= 500
    assert found.net_profit == found.income - found.expenses
