"""What no books say of a year of SA105 is taken as it is given, each figure into its box and into the profit."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    books = LetBooks(store)
    books.enter(books.lets, "periodAmount", 12_000_00, "2026-06-01", property_id=books.property())
    return books


def returned(books: LetBooks, query: str) -> dict[str, str]:
    found: Json = books.one("getPropertyTaxReturn", f"legalEntityId={books.owner}&taxYear=2026-27{query}")
    return {one["box"]: one["amount"] for one in found["boxes"] if one["amount"] != "0.00"}


@pytest.mark.parametrize(
    ("name", "box", "profit"),
    [
        ("privateUseAdjustment", "30", "12250.50"),  # SA105 notes: boxes 30 and 31 are added to the income
        ("balancingCharges", "31", "12250.50"),
        ("annualInvestmentAllowance", "32", "11749.50"),  # and boxes 32 to 37 taken off
        ("otherCapitalAllowances", "35", "11749.50"),
        ("rentARoomExemption", "37", "11749.50"),
    ],
)
def test_a_figure_that_is_given_stands_in_its_box_and_in_the_profit(
    books: LetBooks, name: str, box: str, profit: str
) -> None:
    assert returned(books, f"&{name}=250.50") == {"20": "12000.00", box: "250.50", "38": profit, "40": profit}


@pytest.mark.parametrize("name", ["privateUseAdjustment", "balancingCharges", "annualInvestmentAllowance"])
def test_no_figure_is_below_zero(books: LetBooks, name: str) -> None:
    with pytest.raises(Problem) as caught:
        returned(books, f"&{name}=-0.01")
    assert fields_of(caught.value) == [(name, "out_of_range")]


def test_finance_costs_that_were_not_used_are_carried_and_lower_no_profit(books: LetBooks) -> None:
    """ITTOIA 2005 s274A: they reduce tax, as box 44 does; the profit is as it was."""
    expected = {"20": "12000.00", "38": "12000.00", "40": "12000.00", "45": "250.50"}
    assert returned(books, "&financeCostsBroughtForward=250.50") == expected
