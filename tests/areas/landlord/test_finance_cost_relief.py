"""Relief for residential finance costs (Domain C2): the published cases, what is carried forward, what books say."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.landlord.finance_costs.relief import Terms, of_year, rate_of
from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    return LetBooks(store)


def relief(books: LetBooks, query: str = "", year: str = "2026-27", owner: str | None = None) -> Json:
    return books.one("getFinanceCostRelief", f"legalEntityId={owner or books.owner}&taxYear={year}{query}")


def codes(found: Json) -> list[str]:
    return [warning["code"] for warning in found["warnings"]]


# -- the published cases


def test_a_loss_leaves_all_of_the_costs_for_later(books: LetBooks) -> None:
    """T-S24-1."""
    found = relief(books, "&financeCosts=4000&profits=-3500&adjustedTotalIncome=930", "2021-22")
    assert found == {
        "legalEntityId": books.owner,
        "taxYear": "2021-22",
        "currency": "GBP",
        "ratePercent": "20",
        "financeCosts": "4000.00",
        "profits": "-3500.00",
        "lossesUsed": "0.00",
        "relief": "0.00",
        "financeCostsCarriedForward": "4000.00",
        "lossesCarriedForward": "3500.00",
        "warnings": [],
    }


@pytest.mark.parametrize("profits", ["0", "-3500"])
def test_without_profits_no_loss_is_used(books: LetBooks, profits: str) -> None:
    found = relief(books, f"&financeCosts=40&profits={profits}&lossesBroughtForward=100&adjustedTotalIncome=930")
    assert (found["lossesUsed"], found["financeCostsCarriedForward"]) == ("0.00", "40.00")
    assert found["lossesCarriedForward"] == f"{100 - int(profits)}.00"


def test_what_was_left_is_relieved_in_the_next_year(books: LetBooks) -> None:
    """T-S24-2: 18,000 less 1,500, of which a loss of 3,500 takes its part."""
    forward = "&financeCostsBroughtForward=4000&lossesBroughtForward=3500"
    found = relief(books, f"&financeCosts=6000&profits=16500&adjustedTotalIncome=26430{forward}", "2022-23")
    assert (found["lossesUsed"], found["relief"]) == ("3500.00", "2000.00")
    assert (found["financeCostsCarriedForward"], found["lossesCarriedForward"]) == ("0.00", "0.00")


@pytest.mark.parametrize(
    ("query", "amount", "costs", "losses"),
    [
        ("financeCosts=5000&profits=3000&adjustedTotalIncome=9000", "600.00", "2000.00", "0.00"),
        ("financeCosts=5000&profits=9000&adjustedTotalIncome=1000.10", "200.02", "3999.90", "0.00"),
        ("financeCosts=5000&profits=9000&adjustedTotalIncome=0", "0.00", "5000.00", "0.00"),
        ("financeCosts=5000&profits=9000&lossesBroughtForward=10000", "0.00", "5000.00", "1000.00"),
        ("financeCosts=0.02&profits=9000", "0.00", "0.00", "0.00"),
        ("financeCosts=0.03&profits=9000", "0.01", "0.00", "0.00"),  # 0.6 of a penny
    ],
)
def test_the_least_of_three_is_relieved(books: LetBooks, query: str, amount: str, costs: str, losses: str) -> None:
    found = relief(books, f"&{query}")
    assert (found["relief"], found["financeCostsCarriedForward"]) == (amount, costs)
    assert found["lossesCarriedForward"] == losses


def test_half_a_penny_is_rounded_up() -> None:
    """20 % of 0.13 are 2.6 pence, and 22 % of 0.25 are 5.5."""
    assert of_year("2026-27", [Terms(13, 0, 100, 0)], None).relief == 3
    assert of_year("2027-28", [Terms(25, 0, 100, 0)], None).relief == 6


@pytest.mark.parametrize(
    ("year", "percent"), [("2020-21", 20), ("2026-27", 20), ("2027-28", 22), ("2028-29", 22), ("2099-00", 22)]
)
def test_the_rate_is_that_of_the_year(year: str, percent: int) -> None:
    assert rate_of(year) == percent


MONEY = st.integers(0, 10_000_00)


@given(MONEY, MONEY, st.integers(-10_000_00, 10_000_00), MONEY, st.none() | MONEY)
def test_nothing_is_lost(costs: int, before: int, profits: int, losses: int, income: int | None) -> None:
    got = of_year("2026-27", [Terms(costs, before, profits, losses)], income)
    assert got.used + got.costs_carried_forward == costs + before
    assert got.losses_used + got.losses_carried_forward == losses + max(0, -profits)
    assert min(got.used, got.losses_used, got.costs_carried_forward, got.losses_carried_forward) >= 0
    assert got.used <= max(0, profits - got.losses_used)
    assert income is None or got.used <= income
    exact = Decimal(got.used) * 20 / 100
    assert got.relief == int(exact.quantize(Decimal(1), ROUND_HALF_UP))
    # nothing more could have been relieved
    at_most = [costs + before, max(0, profits - losses), *([] if income is None else [income])]
    assert got.used == min(at_most)


@given(st.lists(st.tuples(MONEY, st.integers(-10_000_00, 10_000_00)), max_size=6))
def test_nothing_is_lost_over_the_years(years: list[tuple[int, int]]) -> None:
    forward = losses = used = losses_used = 0
    for costs, profits in years:
        got = of_year("2026-27", [Terms(costs, forward, profits, losses)], None)
        forward, losses = got.costs_carried_forward, got.losses_carried_forward
        used, losses_used = used + got.used, losses_used + got.losses_used
    assert used + forward == sum(costs for costs, _ in years)
    assert losses_used + losses == sum(max(0, -profits) for _, profits in years)


# -- what the books say


def enter(books: LetBooks, category: Any, amount: int, **fields: Any) -> None:
    books.enter(fields.pop("business_id", None), category, amount, fields.pop("date", "2026-11-02"), **fields)


def test_costs_and_profits_are_the_persons_own_of_all_their_property(books: LetBooks) -> None:
    house, half = books.property(), books.property(owner_share_percent="50")
    abroad = books.trade(books.owner, type="foreign_property", name="Abroad", ownerSharePercent="25")
    enter(books, "periodAmount", 10_000_00, property_id=house)
    enter(books, "residentialFinancialCost", 3_000_00, property_id=house)
    enter(books, "periodAmount", 6_000_00, property_id=half)
    enter(books, "residentialFinancialCost", 1_000_00, property_id=half)
    enter(books, "other", 400_00, property_id=half)
    enter(books, "professionalFees", 100_00, business_id=books.lets)
    enter(books, "periodAmount", 800_00, business_id=abroad)
    enter(books, "residentialFinancialCost", 40_00, business_id=abroad)
    # what is not of it: a trade, another year, another person
    enter(books, "turnover", 5_000_00, business_id=books.trade(books.owner))
    enter(books, "periodAmount", 70_00, property_id=house, date="2026-04-05")
    other = books.trade(books.unregistered_entity(name="Elm"), type="uk_property", name="Lets")
    enter(books, "periodAmount", 90_00, business_id=other)
    found = relief(books)
    # 10,000 + 3,000 - 200 - 100 + 200, and 3,000 + 500 + 10
    assert (found["profits"], found["financeCosts"], found["relief"]) == ("12900.00", "3510.00", "702.00")
    assert codes(found) == ["adjusted_total_income_unknown"]
    assert codes(relief(books, "&adjustedTotalIncome=50000")) == []


def test_property_abroad_is_relieved_by_itself(books: LetBooks) -> None:
    """ITTOIA 2005 s274AA: costs, losses and what is brought forward meet the profits of their own business."""
    abroad = books.trade(books.owner, type="foreign_property", name="Abroad")
    enter(books, "periodAmount", 2_000_00, business_id=books.lets)
    enter(books, "residentialFinancialCost", 10_000_00, business_id=books.lets)
    enter(books, "periodAmount", 8_000_00, business_id=abroad)
    enter(books, "residentialFinancialCost", 1_000_00, business_id=abroad)
    found = relief(books, "&adjustedTotalIncome=50000")
    assert (found["financeCosts"], found["profits"]) == ("11000.00", "10000.00")
    # 20 % of the lesser of 10,000 and 2,000, and of the lesser of 1,000 and 8,000
    assert (found["relief"], found["financeCostsCarriedForward"]) == ("600.00", "8000.00")
    assert relief(books, "&adjustedTotalIncome=2500")["relief"] == "500.00"
    later = relief(books, "&adjustedTotalIncome=50000&lossesBroughtForward=500&financeCostsBroughtForward=70")
    assert (later["lossesUsed"], later["relief"], later["financeCostsCarriedForward"]) == (
        "500.00",
        "500.00",
        "8570.00",
    )
    assert codes(later) == ["brought_forward_of_uk_property"]
    enter(books, "repairsAndMaintenance", 5_000_00, business_id=books.lets)
    lost = relief(books, "&adjustedTotalIncome=50000")
    assert (lost["profits"], lost["lossesCarriedForward"], lost["relief"]) == ("5000.00", "3000.00", "200.00")


def test_what_is_given_goes_before_the_books(books: LetBooks) -> None:
    enter(books, "periodAmount", 1_000_00, business_id=books.lets)
    enter(books, "residentialFinancialCost", 500_00, business_id=books.lets)
    assert relief(books, "&profits=100")["relief"] == "20.00"
    assert relief(books, "&financeCosts=10")["relief"] == "2.00"


def test_what_is_deducted_is_not_relieved_too(books: LetBooks) -> None:
    shop = books.property(use="commercial_let")
    enter(books, "periodAmount", 1_000_00, property_id=shop)
    enter(books, "financialCosts", 300_00, property_id=shop)
    found = relief(books)
    assert (found["financeCosts"], found["profits"], found["relief"]) == ("0.00", "700.00", "0.00")


def test_a_person_without_property_has_nothing(books: LetBooks) -> None:
    found = relief(books, owner=books.unregistered_entity(name="Elm", type="individual"))
    assert (found["financeCosts"], found["profits"], found["relief"]) == ("0.00", "0.00", "0.00")


def test_the_books_tell_what_they_do_not_say(books: LetBooks) -> None:
    books.invoice(legalEntityId=books.owner, issueDate="2026-10-01")
    assert "invoices_of_only_business" in codes(relief(books))


# -- what is refused


@pytest.mark.parametrize(
    ("query", "year", "error"),
    [
        ("", "2019-20", ("taxYear", "out_of_range")),
        ("", "2026-28", ("taxYear", "invalid_format")),
        ("&financeCosts=-1", "2026-27", ("financeCosts", "out_of_range")),
        ("&adjustedTotalIncome=-0.01", "2026-27", ("adjustedTotalIncome", "out_of_range")),
        ("&financeCostsBroughtForward=-5", "2026-27", ("financeCostsBroughtForward", "out_of_range")),
        ("&lossesBroughtForward=-5", "2026-27", ("lossesBroughtForward", "out_of_range")),
        ("&profits=1.005", "2026-27", ("profits", "invalid_decimal")),
    ],
)
def test_what_is_asked_has_to_be_clear(books: LetBooks, query: str, year: str, error: tuple[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        relief(books, query, year)
    assert fields_of(caught.value) == [error]


@pytest.mark.parametrize(
    "fields", [{"type": "limited_company", "companyNumber": "01234567"}, {"type": "partnership"}, {"type": "trust"}]
)
def test_the_relief_is_for_persons(books: LetBooks, fields: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        relief(books, owner=books.unregistered_entity(name="Oak", **fields))
    assert fields_of(caught.value) == [("legalEntityId", "conflict")]


def test_an_entity_that_is_unknown_or_another_organizations(books: LetBooks, store: MemoryStore) -> None:
    for id_ in ("ent_x", LetBooks(store, "Other Ltd").owner):
        with pytest.raises(Problem) as caught:
            relief(books, owner=id_)
        assert fields_of(caught.value) == [("legalEntityId", "unknown_reference")]


def test_books_in_another_currency_are_not_added_up(books: LetBooks) -> None:
    books.trade(books.owner, type="foreign_property", name="Abroad", currency="EUR")
    with pytest.raises(Problem) as caught:
        relief(books)
    assert caught.value.code == "currency_mismatch"
    assert relief(books, "&financeCosts=10&profits=10")["relief"] == "2.00"
