"""The boxes of SA105 from a person's books, and the property income allowance (Domain C2)."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore

DAY = "2026-06-01"


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    return LetBooks(store)


def returned(books: LetBooks, query: str = "", year: str = "2026-27", owner: str | None = None) -> Json:
    return books.one("getPropertyTaxReturn", f"legalEntityId={owner or books.owner}&taxYear={year}{query}")


def filled(found: Json) -> dict[str, str]:
    """The boxes that are not zero."""
    return {one["box"]: one["amount"] for one in found["boxes"] if one["amount"] != "0.00"}


def codes(found: Json) -> list[str]:
    return [one["code"] for one in found["warnings"]]


def test_the_worked_year(books: LetBooks) -> None:
    """T-SA105-1."""
    house = books.property()
    amounts = {
        "periodAmount": 12_000_00,
        "premisesRunningCosts": 600_00,
        "repairsAndMaintenance": 900_00,
        "professionalFees": 1_200_00,
        "residentialFinancialCost": 3_000_00,
    }
    for category, amount in amounts.items():
        books.enter(books.lets, category, amount, DAY, property_id=house)
    books.enter(books.lets, "costOfReplacingDomesticItems", 500_00, DAY, property_id=house, disallowable_amount=50_00)
    found = returned(books, "&lossesBroughtForward=850")
    assert filled(found) == {
        "20": "12000.00",
        "24": "600.00",
        "25": "900.00",
        "27": "1200.00",
        "36": "450.00",
        "38": "8850.00",
        "39": "850.00",
        "40": "8000.00",
        "44": "3000.00",
    }
    assert (found["form"], found["traditionalAccounting"], found["warnings"]) == ("SA105", False, [])
    relief = books.one("getFinanceCostRelief", f"legalEntityId={books.owner}&taxYear=2026-27&lossesBroughtForward=850")
    assert (relief["profits"], relief["lossesUsed"], relief["relief"]) == ("8850.00", "850.00", "600.00")


def test_replaced_items_are_beside_the_account_and_in_its_cash_flow(books: LetBooks) -> None:
    house = books.property()
    books.enter(books.lets, "periodAmount", 1_000_00, DAY, property_id=house)
    books.enter(books.lets, "costOfReplacingDomesticItems", 300_00, DAY, property_id=house)
    found = books.one("propertyPnl", f"id={house}&taxYear=2026-27")
    assert [(one["category"], one["amount"]) for one in found["memoranda"]] == [
        ("costOfReplacingDomesticItems", "300.00")
    ]
    totals = found["totals"]
    assert (totals["operatingExpenses"], totals["netOperatingIncome"], totals["cashFlow"]) == (
        "0.00",
        "1000.00",
        "700.00",
    )


def test_a_person_returns_their_own_part(books: LetBooks) -> None:
    house = books.property(owner_share_percent="50")
    books.enter(books.lets, "periodAmount", 9_000_00, DAY, property_id=house)
    books.enter(books.lets, "costOfReplacingDomesticItems", 300_00, DAY, property_id=house)
    assert filled(returned(books)) == {"20": "4500.00", "36": "150.00", "38": "4350.00", "40": "4350.00"}


def test_a_loss_is_carried_forward(books: LetBooks) -> None:
    """1,500 less 2,000 and an allowance of 100: a loss of 600, with 250 of before."""
    books.enter(books.lets, "periodAmount", 1_500_00, DAY)
    books.enter(books.lets, "travelCosts", 400_00, DAY)
    books.enter(books.lets, "other", 1_600_00, DAY)
    found = filled(returned(books, "&lossesBroughtForward=250&otherCapitalAllowances=100"))
    assert found == {"20": "1500.00", "29": "2000.00", "35": "100.00", "41": "600.00", "43": "850.00"}


def test_the_allowance_takes_the_place_of_expenses(books: LetBooks) -> None:
    """3,000 less 200 leaves 2,800; less the allowance, 2,000."""
    books.enter(books.lets, "periodAmount", 3_000_00, DAY)
    books.enter(books.lets, "professionalFees", 200_00, DAY)
    plain = returned(books)
    assert (filled(plain)["40"], codes(plain)) == ("2800.00", ["property_allowance_better"])
    claimed = returned(books, "&claimPropertyIncomeAllowance=true")
    assert filled(claimed) == {"20": "3000.00", "20.1": "1000.00", "38": "2000.00", "40": "2000.00"}
    assert codes(claimed) == []


def test_an_income_up_to_the_allowance_is_covered_and_makes_no_loss(books: LetBooks) -> None:
    books.enter(books.lets, "periodAmount", 900_00, DAY)
    assert codes(returned(books)) == ["property_allowance_covers_all"]
    claimed = filled(returned(books, "&claimPropertyIncomeAllowance=true"))
    assert claimed == {"20": "900.00", "20.1": "900.00"}


def test_the_allowance_beside_finance_costs_is_told(books: LetBooks) -> None:
    books.enter(books.lets, "periodAmount", 3_000_00, DAY)
    books.enter(books.lets, "residentialFinancialCost", 100_00, DAY)
    assert codes(returned(books)) == []
    assert codes(returned(books, "&claimPropertyIncomeAllowance=true")) == ["property_allowance_excluded"]


def test_rents_of_lodgers_ask_for_what_is_exempt(books: LetBooks) -> None:
    """8,000 from lodgers, of which 7,500 is exempt."""
    books.enter(books.lets, "rentARoomRentsReceived", 8_000_00, DAY, direction="in")
    assert "rent_a_room_exemption_unknown" in codes(returned(books))
    found = returned(books, "&rentARoomExemption=7500")
    assert filled(found) == {"20": "8000.00", "37": "7500.00", "38": "500.00", "40": "500.00"}


def test_the_allowance_is_beside_what_of_lodgers_is_exempt(books: LetBooks) -> None:
    """8,000 from lodgers less 7,500, and 3,000 less the allowance of 1,000: 2,500. It takes nothing of lodgers."""
    books.enter(books.lets, "rentARoomRentsReceived", 8_000_00, DAY, direction="in")
    assert codes(returned(books, "&claimPropertyIncomeAllowance=true")) == [
        "rent_a_room_exemption_unknown",
        "property_allowance_excluded",
    ]
    alone = filled(returned(books, "&claimPropertyIncomeAllowance=true&rentARoomExemption=7500"))
    assert alone == {"20": "8000.00", "37": "7500.00", "38": "500.00", "40": "500.00"}
    books.enter(books.lets, "periodAmount", 3_000_00, DAY)
    found = returned(books, "&claimPropertyIncomeAllowance=true&rentARoomExemption=7500")
    assert filled(found) == {
        "20": "11000.00",
        "20.1": "1000.00",
        "37": "7500.00",
        "38": "2500.00",
        "40": "2500.00",
    }
    assert codes(found) == []


def test_property_abroad_is_on_other_pages(books: LetBooks) -> None:
    abroad = books.trade(books.owner, type="foreign_property", name="Abroad")
    books.enter(books.lets, "periodAmount", 3_000_00, DAY)
    books.enter(abroad, "periodAmount", 5_000_00, DAY)
    found = returned(books)
    assert (filled(found)["20"], codes(found)[0]) == ("3000.00", "foreign_property_apart")


@pytest.mark.parametrize(
    ("query", "year", "wrong"),
    [
        ("&lossesBroughtForward=-1", "2026-27", ("lossesBroughtForward", "out_of_range")),
        ("&rentARoomExemption=1.001", "2026-27", ("rentARoomExemption", "invalid_decimal")),
        ("", "2019-20", ("taxYear", "out_of_range")),
    ],
)
def test_what_does_not_fit_is_refused(books: LetBooks, query: str, year: str, wrong: tuple[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        returned(books, query, year)
    assert fields_of(caught.value) == [wrong]


def test_companies_and_strangers_have_no_such_pages(books: LetBooks) -> None:
    company = books.unregistered_entity(type="limited_company", companyNumber="01234567")
    for owner, code in ((company, "conflict"), ("ent_0", "unknown_reference")):
        with pytest.raises(Problem) as caught:
            returned(books, owner=owner)
        assert fields_of(caught.value) == [("legalEntityId", code)]


def test_foreign_money_without_a_rate_is_in_no_box(books: LetBooks) -> None:
    row = books.enter(books.lets, "other", 10_00, DAY, property_id=books.property(), currency="EUR", fx_rate="0.9")
    books.set(row.id, fx_rate=None)
    with pytest.raises(Problem) as caught:
        returned(books)
    assert caught.value.code == "currency_mismatch"
