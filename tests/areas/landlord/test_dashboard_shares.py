"""The dashboard of who owns a part: every figure by share or none, and only what is valued over values (Domain C3)."""

import pytest

from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from tests.areas.accounting.books import Json
from tests.areas.landlord.test_dashboard import Estate
from tests.support.store import MemoryStore

LOAN = {"lender": "Severn", "type": "interest_only", "interestRate": "4.5", "startDate": "2024-03-15"}


@pytest.fixture
def estate(store: MemoryStore) -> Estate:
    return Estate(store)


def half(estate: Estate) -> list[Json]:
    return [{"legalEntityId": estate.owner, "sharePercent": "50"}, {"name": "Tom Hart", "sharePercent": "50"}]


def borrow(estate: Estate, house: str, amount: str) -> None:
    estate.post("createMortgage", propertyId=house, originalAmount=amount, **LOAN)


def spend(estate: Estate, house: str | None, category: str, amount: int, direction: str = "out") -> None:
    part = Part(
        category,  # type: ignore[arg-type]
        business_id=estate.business_id,
        property_id=house,
        direction=direction,  # type: ignore[arg-type]
        amount=amount,
        description="Paid",
    )
    estate.store.write(lambda tx: allocations.enter(tx, [part], Entry("2026-06-01", "GBP")), estate.org_id)


def figures(estate: Estate, basis: str, *names: str) -> list[object]:
    query = "" if basis == "default" else f"&basis={basis}"
    found = estate.dashboard(f"businessId={estate.business_id}{query}")
    return [found[name] for name in names]


@pytest.mark.parametrize(
    ("basis", "value", "owed", "equity"),
    [
        ("default", "100000.00", "60000.00", "40000.00"),
        ("share", "100000.00", "60000.00", "40000.00"),
        ("whole", "200000.00", "120000.00", "80000.00"),
    ],
)
def test_a_loan_is_shared_as_what_it_is_secured_on(
    estate: Estate, basis: str, value: str, owed: str, equity: str
) -> None:
    """Half of 200,000, beside a loan of 120,000: 60 % is owed, and never 120 %."""
    borrow(estate, estate.house("200000.00", owners=half(estate)), "120000.00")
    names = ("portfolioValue", "mortgageBalance", "equity", "ltvPercent")
    assert figures(estate, basis, *names) == [value, owed, equity, "60.0"]


@pytest.mark.parametrize(("basis", "part"), [("share", 2), ("whole", 1)])
def test_rents_arrears_deposits_and_results_are_by_the_same_share(estate: Estate, basis: str, part: int) -> None:
    """1,000 a month since October, 400 of 2,000 paid, 900 held; insurance of 300. Yields are the same on either."""
    house = estate.house("200000.00", owners=half(estate))
    let = estate.let(house, "1000.00", "monthly", deposit={"amount": "900.00"})
    estate.post("recordRent", tenancyId=let["id"], date="2026-10-05", amount="400.00")
    spend(estate, house, "premisesRunningCosts", 300_00)
    names = ("monthlyRentRoll", "annualRentRoll", "depositsHeld", "incomeTaxYearToDate", "expensesTaxYearToDate")
    whole = (1_000_00, 12_000_00, 900_00, 400_00, 300_00)
    assert figures(estate, basis, *names) == [f"{amount // part / 100:.2f}" for amount in whole]
    found = estate.dashboard(f"businessId={estate.business_id}&basis={basis}")
    assert found["arrears"]["total"] == f"{1600 / part:.2f}"
    assert [one["amount"] for one in found["arrears"]["tenancies"]] == [f"{1600 / part:.2f}"]
    assert (found["netTaxYearToDate"], found["basis"]) == (f"{100 / part:.2f}", basis)
    # 12,000 and 100 of 200,000
    assert (found["grossYieldPercent"], found["netYieldPercent"]) == ("6.0", "0.1")
    assert (found["letUnitCount"], found["unprotectedDeposits"]) == (1, 1)


def test_properties_of_several_shares_count_by_their_own(estate: Estate) -> None:
    """All of 100,000 earning 1,200, half of 100,000 earning 3,000: 2,700 on 150,000, and 4,200 on 200,000 together."""
    own, joint = estate.house("100000.00"), estate.house("100000.00", owners=half(estate))
    spend(estate, own, "periodAmount", 1_200_00, "in")
    spend(estate, joint, "periodAmount", 3_000_00, "in")
    assert figures(estate, "share", "incomeTaxYearToDate", "netYieldPercent") == ["2700.00", "1.8"]
    assert figures(estate, "whole", "incomeTaxYearToDate", "netYieldPercent") == ["4200.00", "2.1"]


def test_what_names_no_property_is_by_the_share_of_the_business(store: MemoryStore) -> None:
    """A business owned by 40 %: 1,000 of rent of its house, and 100 of costs that name none."""
    estate = Estate(store)
    estate.business_id = estate.lets(estate.unregistered_entity(type="individual"), ownerSharePercent="40")
    house = estate.house("100000.00")
    spend(estate, house, "periodAmount", 1_000_00, "in")
    spend(estate, None, "professionalFees", 100_00)
    names = ("portfolioValue", "incomeTaxYearToDate", "expensesTaxYearToDate", "netYieldPercent")
    assert figures(estate, "share", *names) == ["40000.00", "400.00", "40.00", "0.9"]
    assert figures(estate, "whole", *names) == ["100000.00", "1000.00", "100.00", "0.9"]


def test_what_has_no_value_is_in_no_quotient(estate: Estate) -> None:
    """200,000 with a loan of 120,000 and 1,000 a month; beside it a house of no known value."""
    valued, other = estate.house("200000.00"), estate.house()
    borrow(estate, valued, "120000.00")
    borrow(estate, other, "90000.00")
    estate.let(valued, "1000.00", "monthly")
    estate.let(other, "700.00", "monthly")
    spend(estate, valued, "periodAmount", 1_000_00, "in")
    spend(estate, other, "periodAmount", 7_000_00, "in")
    names = ("portfolioValue", "equity", "ltvPercent", "grossYieldPercent", "netYieldPercent")
    assert figures(estate, "share", *names) == ["200000.00", "80000.00", "60.0", "6.0", "0.5"]
    names = ("mortgageBalance", "mortgageBalanceUnvalued", "monthlyRentRoll", "incomeTaxYearToDate")
    assert figures(estate, "share", *names) == ["210000.00", "90000.00", "1700.00", "8000.00"]
    assert [one["code"] for one in estate.dashboard()["warnings"]] == ["unvalued"]
