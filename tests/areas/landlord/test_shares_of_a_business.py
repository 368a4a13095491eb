"""What of a business's profit and loss is the owner's, where its properties have owners of their own (Domain C2)."""

import pytest

from tests.areas.accounting.books import Json
from tests.areas.businesses.ledger_books import lines
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore

YEAR = {"fromDate": "2026-04-06", "toDate": "2027-04-05"}


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    return LetBooks(store)


def half_of_lets(books: LetBooks) -> str:
    """Half a business, with a house of which a quarter is the owner's, a flat, and costs of neither."""
    business_id = books.trade(type="foreign_property", name="Half", ownerSharePercent="50")
    house = books.property(business_id, owner_share_percent="25")
    flat = books.property(business_id, owner_share_percent=None)
    books.enter(business_id, "periodAmount", 1_000_01, property_id=house)
    books.enter(business_id, "repairsAndMaintenance", 100_01, property_id=house)
    books.enter(business_id, "residentialFinancialCost", 333_33, property_id=house)
    books.enter(business_id, "periodAmount", 400_00, property_id=flat)
    books.enter(business_id, "professionalFees", 30_01)
    return business_id


def share(found: Json) -> Json:
    shared: Json = found["ownerShare"]
    return shared


def test_each_property_counts_by_its_own_owners_and_the_rest_by_the_business(books: LetBooks) -> None:
    """A quarter of 1,000.01, 100.01 and 333.33, and half of 400.00 and 30.01."""
    found = books.pnl(half_of_lets(books))
    assert found["totals"]["netProfit"] == "1269.99"
    assert lines(share(found), "income") == {"periodAmount": "450.00"}
    assert lines(share(found), "expenses") == {"repairsAndMaintenance": "25.00", "professionalFees": "15.01"}
    assert lines(share(found), "memoranda") == {"residentialFinancialCost": "83.33"}
    assert share(found)["totals"] == {
        "income": "450.00",
        "expenses": "40.01",
        "disallowable": "0.00",
        "netProfit": "409.99",
        "taxableProfit": "409.99",
    }
    assert share(found)["percent"] is None


def test_it_is_what_finance_costs_are_relieved_by(books: LetBooks) -> None:
    house = books.property(owner_share_percent="25")
    books.enter(books.lets, "periodAmount", 1_000_01, property_id=house)
    books.enter(books.lets, "residentialFinancialCost", 333_33, property_id=house)
    relief = books.one("getFinanceCostRelief", f"legalEntityId={books.owner}&taxYear=2026-27")
    found = share(books.pnl(books.lets))
    assert (relief["profits"], relief["financeCosts"]) == ("250.00", "83.33")
    assert found["totals"]["taxableProfit"] == relief["profits"]
    assert lines(found, "memoranda") == {"residentialFinancialCost": relief["financeCosts"]}


def test_one_figure_for_all_expenses_is_shared_as_they_are(books: LetBooks) -> None:
    business_id = books.trade(
        type="foreign_property", name="Half", ownerSharePercent="50", usesConsolidatedExpenses=True
    )
    house = books.property(business_id, owner_share_percent="25")
    books.enter(business_id, "repairsAndMaintenance", 100_00, property_id=house)
    books.enter(business_id, "professionalFees", 30_00)
    assert lines(share(books.pnl(business_id)), "expenses") == {"consolidatedExpenses": "40.00"}


def test_owners_with_the_share_of_the_business_make_no_difference(books: LetBooks) -> None:
    business_id = books.trade(type="foreign_property", name="Half", ownerSharePercent="50")
    books.enter(
        business_id, "periodAmount", 1_000_00, property_id=books.property(business_id, owner_share_percent="50.0")
    )
    found = share(books.pnl(business_id))
    assert (found["percent"], found["totals"]["income"]) == ("50", "500.00")


def test_another_share_of_the_business_leaves_that_of_other_owners(books: LetBooks) -> None:
    found = books.ask("whatIf", id=half_of_lets(books), ownerSharePercent="100", **YEAR)
    assert share(found["actual"])["totals"]["income"] == "450.00"
    assert share(found["whatIf"])["totals"]["income"] == "650.00"
    assert found["ownerShareDifference"]["income"] == "200.00"
