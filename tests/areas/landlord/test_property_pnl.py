"""Profit and loss of properties, worked by hand (Domain C2)."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating.allocation_shapes import Part
from tests.areas.accounting.books import Json, fields_of
from tests.areas.accounting.books import lines as invoice_lines
from tests.areas.businesses.ledger_books import lines
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    return LetBooks(store)


def pnl(books: LetBooks, house: str, query: str = "taxYear=2026-27") -> Json:
    return books.one("propertyPnl", f"id={house}&{query}")


def enter(books: LetBooks, category: Any, amount: int, date: str = "2026-11-02", **fields: Any) -> None:
    books.enter(fields.pop("business_id", None), category, amount, date, **fields)


def codes(found: Json) -> list[str]:
    return [warning["code"] for warning in found["warnings"]]


def with_a_year_of_it(books: LetBooks, house: str, interest: Any = "residentialFinancialCost") -> str:
    """Rent of 12,000, an agent for 1,200, repairs of 850.50, interest of 4,200, and 2,400 that was repaid."""
    mortgage = books.mortgage(house)
    for month in range(4, 12):
        enter(books, "periodAmount", 1_000_00, f"2026-{month:02}-06", property_id=house)
    for month in range(4, 8):
        enter(books, "periodAmount", 1_000_00, f"2026-{month:02}-07", property_id=house)
    enter(books, "professionalFees", 1_200_00, property_id=house)
    enter(books, "repairsAndMaintenance", 850_50, property_id=house)
    enter(books, interest, 4_200_00, mortgage_id=mortgage)
    enter(books, "not_pnl", 2_400_00, purpose="loan_capital", mortgage_id=mortgage)
    return mortgage


# -- the figures


def test_the_worked_case_of_the_authority(books: LetBooks) -> None:
    """T-PROP-1: of 12,800 profit, 1,300 are above the personal allowance of 11,500 in 2017-18."""
    house = books.property()
    enter(books, "periodAmount", 14_300_00, "2017-06-01", property_id=house)
    enter(books, "repairsAndMaintenance", 1_500_00, "2017-06-01", property_id=house)
    found = pnl(books, house, "taxYear=2017-18")
    assert found["totals"]["taxableProfit"] == "12800.00"
    assert float(found["totals"]["taxableProfit"]) - 11_500 == 1_300


def test_a_dwelling_of_a_person(books: LetBooks) -> None:
    house = books.property()
    mortgage = with_a_year_of_it(books, house)
    found = pnl(books, house)
    assert found["totals"] == {
        "grossIncome": "12000.00",
        "operatingExpenses": "2050.50",
        "netOperatingIncome": "9949.50",
        "financeCosts": "4200.00",
        "capitalRepaid": "2400.00",
        "cashFlow": "3349.50",
        "disallowable": "0.00",
        "taxableProfit": "9949.50",
        "residentialFinancialCost": "4200.00",
    }
    assert lines(found, "income") == {"periodAmount": "12000.00"}
    assert lines(found, "expenses") == {"repairsAndMaintenance": "850.50", "professionalFees": "1200.00"}
    assert lines(found, "memoranda") == {"residentialFinancialCost": "4200.00"}
    statement = {"mortgageId": mortgage, "interestSource": "statement", "interest": "4200.00"}
    assert found["mortgageInterest"] == [statement]
    assert (found["propertyIds"], found["basis"], found["currency"], found["share"]) == ([house], "cash", "GBP", "full")
    assert (found["properties"], found["notOfAnyProperty"], found["buckets"]) == ([], [], [])
    assert (found["previous"], found["explanation"], found["warnings"]) == (None, None, [])


def test_what_a_company_lets(books: LetBooks) -> None:
    company = books.unregistered_entity(name="Lets Ltd", type="limited_company", companyNumber="01234567")
    house = books.property(books.trade(company, type="uk_property", name="Lets", accountingBasis="cash"))
    with_a_year_of_it(books, house, "financialCosts")
    totals = pnl(books, house)["totals"]
    assert (totals["netOperatingIncome"], totals["financeCosts"], totals["cashFlow"]) == (
        "9949.50",
        "4200.00",
        "3349.50",
    )
    assert (totals["taxableProfit"], totals["residentialFinancialCost"]) == ("5749.50", "0.00")


def test_a_property_of_a_company_that_trades_has_the_lines_of_its_trade(books: LetBooks) -> None:
    company = books.unregistered_entity(name="Oak Ltd", type="limited_company", companyNumber="01234567")
    shop = books.property(
        books.trade(company, type="company_trade", name="Oak", accountingBasis="cash"), use="commercial_let"
    )
    enter(books, "turnover", 900_00, property_id=shop)
    enter(books, "interestOnBankOtherLoans", 100_00, mortgage_id=books.mortgage(shop, type="interest_only"))
    enter(books, "financeCharges", 20_00, property_id=shop)
    totals = pnl(books, shop)["totals"]
    assert (totals["grossIncome"], totals["operatingExpenses"], totals["financeCosts"]) == ("900.00", "0.00", "120.00")
    assert totals["taxableProfit"] == "780.00"


def test_what_is_disallowable_is_added_back(books: LetBooks) -> None:
    house = books.property()
    enter(books, "periodAmount", 500_00, property_id=house)
    enter(books, "travelCosts", 100_00, property_id=house, disallowable_amount=30_00)
    found = pnl(books, house)
    assert found["expenses"] == [{"category": "travelCosts", "amount": "100.00", "disallowable": "30.00"}]
    totals = found["totals"]
    assert (totals["netOperatingIncome"], totals["taxableProfit"], totals["cashFlow"]) == ("400.00", "430.00", "400.00")


def test_money_back_lowers_its_line(books: LetBooks) -> None:
    house = books.property()
    enter(books, "repairsAndMaintenance", 300_00, property_id=house)
    enter(books, "repairsAndMaintenance", 350_00, property_id=house, direction="in")
    mortgage = books.mortgage(house)
    enter(books, "not_pnl", 100_00, purpose="loan_capital", mortgage_id=mortgage)
    enter(books, "not_pnl", 40_00, purpose="loan_capital", mortgage_id=mortgage, direction="in")
    totals = pnl(books, house)["totals"]
    assert (totals["operatingExpenses"], totals["capitalRepaid"], totals["cashFlow"]) == ("-50.00", "60.00", "-10.00")


def test_a_deposit_is_income_on_the_day_it_is_kept(books: LetBooks) -> None:
    """900 came, 650 went back, and 250 were kept for a door."""
    house = books.property()
    tenancy = books.tenancy(house)
    account = books.account(books.owner)
    deposit = {"category": "not_pnl", "purpose": "deposit", "tenancyId": tenancy}
    for date, amount in (("2026-04-06", 900_00), ("2026-10-01", -650_00)):
        books.part(books.line(account, amount, date=date), **deposit)
    assert pnl(books, house)["totals"]["grossIncome"] == "0.00"
    enter(books, "otherIncome", 250_00, "2026-10-02", tenancy_id=tenancy)
    found = pnl(books, house, "fromDate=2026-10-02&toDate=2026-10-02")
    assert lines(found, "income") == {"otherIncome": "250.00"}
    assert pnl(books, house)["totals"]["grossIncome"] == "250.00"


# -- interest that counts in part


def test_what_was_borrowed_for_other_ends_is_not_relieved(books: LetBooks) -> None:
    house = books.property()
    mortgage = books.mortgage(house, business_purpose_percent="75.5", type="interest_only")
    enter(books, "residentialFinancialCost", 1_000_00, mortgage_id=mortgage)
    found = pnl(books, house)
    assert lines(found, "memoranda") == {"residentialFinancialCost": "755.00"}
    assert (found["totals"]["financeCosts"], found["totals"]["residentialFinancialCost"]) == ("755.00", "755.00")
    assert lines(books.pnl(books.lets), "memoranda") == {"residentialFinancialCost": "755.00"}
    assert found["mortgageInterest"][0]["interest"] == "755.00"


def test_what_was_borrowed_for_other_ends_is_not_deducted(books: LetBooks) -> None:
    shop = books.property(use="commercial_let")
    mortgage = books.mortgage(shop, business_purpose_percent="75.5", type="interest_only")
    enter(books, "financialCosts", 1_000_00, mortgage_id=mortgage)
    found = pnl(books, shop)
    assert found["expenses"] == [{"category": "financialCosts", "amount": "1000.00", "disallowable": "245.00"}]
    assert (found["totals"]["financeCosts"], found["totals"]["taxableProfit"]) == ("1000.00", "-755.00")


def test_who_says_what_is_disallowable_knows_better(books: LetBooks) -> None:
    shop = books.property(use="commercial_let")
    mortgage = books.mortgage(shop, business_purpose_percent="50")
    enter(books, "financialCosts", 100_00, mortgage_id=mortgage, disallowable_amount=0)
    assert pnl(books, shop)["totals"]["disallowable"] == "0.00"


def test_the_part_for_other_ends_follows_line_and_mortgage(books: LetBooks) -> None:
    shop = books.property(use="commercial_let")
    mortgage = books.mortgage(shop, business_purpose_percent="50")
    row = books.enter(books.lets, "financialCosts", 100_00, property_id=shop)
    made = books.post("updateAllocation", allocationId=row.id, mortgageId=mortgage)
    assert (made["disallowableAmount"], made["interestSource"]) == ("50.00", "statement")
    made = books.post("updateAllocation", allocationId=row.id, category="professionalFees")
    assert (made["disallowableAmount"], made["interestSource"]) == ("0.00", None)


# -- days and bases


def test_cash_goes_by_money_and_accruals_by_bills(books: LetBooks) -> None:
    house = books.property()
    enter(books, "professionalFees", 90_00, "2026-04-10", property_id=house, document_date="2026-04-01")
    enter(books, "other", 10_00, "2026-04-10", property_id=house)
    cash, accruals = (pnl(books, house, f"taxYear=2026-27&basis={basis}") for basis in ("cash", "accruals"))
    assert (cash["totals"]["operatingExpenses"], accruals["totals"]["operatingExpenses"]) == ("100.00", "10.00")
    before = pnl(books, house, "taxYear=2025-26&basis=accruals")
    assert lines(before, "expenses") == {"professionalFees": "90.00"}
    assert (codes(cash), codes(accruals)) == ([], ["other_basis"])


def test_a_period_of_the_business_is_a_range(books: LetBooks) -> None:
    house = books.property()
    enter(books, "periodAmount", 70_00, "2026-04-06", property_id=house)
    sql = "SELECT id FROM periods WHERE org_id = :org_id AND type = 'itsa_quarter' AND end_date = '2026-07-05'"
    period_id = books.store.read(lambda tx: tx.value(sql), books.org_id)
    found = pnl(books, house, f"periodId={period_id}")
    assert (found["toDate"], found["totals"]["grossIncome"]) == ("2026-07-05", "70.00")


def test_buckets_and_the_days_before(books: LetBooks) -> None:
    house = books.property()
    enter(books, "periodAmount", 100_00, "2026-05-01", property_id=house)
    enter(books, "periodAmount", 30_00, "2026-08-01", property_id=house)
    enter(books, "not_pnl", 5_00, "2026-08-02", property_id=house, purpose="loan_capital")
    enter(books, "periodAmount", 80_00, "2025-05-01", property_id=house)
    found = pnl(books, house, "taxYear=2026-27&groupBy=quarter&compare=previous_year")
    sums = [(one["fromDate"], one["totals"]["grossIncome"], one["totals"]["cashFlow"]) for one in found["buckets"]]
    assert sums == [
        ("2026-04-06", "100.00", "100.00"),
        ("2026-07-06", "30.00", "25.00"),
        ("2026-10-06", "0.00", "0.00"),
        ("2027-01-06", "0.00", "0.00"),
    ]
    assert (found["previous"]["fromDate"], found["previous"]["totals"]["grossIncome"]) == ("2025-04-06", "80.00")
    assert len(pnl(books, house, "fromDate=2026-04-06&toDate=2026-06-05&groupBy=month")["buckets"]) == 3


# -- whose part


def test_the_owners_part_is_of_every_line_and_the_figures_are_made_of_it(books: LetBooks) -> None:
    """A third of 100.00, 50.00 and 10.01 are 33.33, 16.67 and 3.34, and of 60.01 they are 20.00."""
    house = books.property(owner_share_percent="33.333333333333")
    enter(books, "periodAmount", 100_00, property_id=house)
    enter(books, "repairsAndMaintenance", 50_00, property_id=house)
    enter(books, "other", 10_01, property_id=house)
    enter(books, "residentialFinancialCost", 20_00, property_id=house)
    enter(books, "not_pnl", 10_00, property_id=house, purpose="loan_capital")
    found = pnl(books, house, "taxYear=2026-27&share=owner")
    assert lines(found, "expenses") == {"repairsAndMaintenance": "16.66", "other": "3.34"}
    assert found["totals"] == {
        "grossIncome": "33.33",
        "operatingExpenses": "20.00",
        "netOperatingIncome": "13.33",
        "financeCosts": "6.67",
        "capitalRepaid": "3.33",
        "cashFlow": "3.33",
        "disallowable": "0.00",
        "taxableProfit": "13.33",
        "residentialFinancialCost": "6.67",
    }
    assert found["share"] == "owner"


def test_an_owners_parts_of_buckets_add_up_to_that_of_the_whole(books: LetBooks) -> None:
    """Half of 0.01 in each of three months is half of 0.03, which is 0.02, and not three times 0.01."""
    house = books.property(owner_share_percent="50")
    for month in (4, 5, 6):
        enter(books, "periodAmount", 1, f"2026-{month:02}-10", property_id=house)
        enter(books, "not_pnl", 1, f"2026-{month:02}-10", property_id=house, purpose="loan_capital")
    found = pnl(books, house, "fromDate=2026-04-01&toDate=2026-06-30&groupBy=month&share=owner")
    assert found["totals"]["grossIncome"] == "0.02"
    assert [one["totals"]["grossIncome"] for one in found["buckets"]] == ["0.01", "0.00", "0.01"]
    assert [one["totals"]["capitalRepaid"] for one in found["buckets"]] == ["0.01", "0.00", "0.01"]
    assert [one["income"] for one in found["buckets"]][1] == []


# -- several


def test_a_portfolio_has_the_sum_each_property_and_the_rest(books: LetBooks) -> None:
    house, flat = books.property(owner_share_percent="50"), books.property()
    enter(books, "periodAmount", 1_000_00, property_id=house)
    enter(books, "periodAmount", 600_00, property_id=flat)
    enter(books, "other", 50_00, property_id=flat)
    enter(books, "professionalFees", 300_00, business_id=books.lets)
    query = f"propertyIds={house}&propertyIds={flat}&propertyIds={house}&taxYear=2026-27"
    found = books.one("propertyPnl", query)
    assert (found["propertyIds"], found["totals"]["grossIncome"]) == ([house, flat], "1600.00")
    assert [one["totals"]["taxableProfit"] for one in found["properties"]] == ["1000.00", "550.00"]
    assert [one["ownerSharePercent"] for one in found["properties"]] == ["50", "100"]
    (rest,) = found["notOfAnyProperty"]
    assert (rest["businessId"], lines(rest, "expenses")) == (books.lets, {"professionalFees": "300.00"})
    owners = books.one("propertyPnl", f"{query}&share=owner")
    assert owners["totals"]["grossIncome"] == "1100.00"
    assert [one["totals"]["grossIncome"] for one in owners["properties"]] == ["500.00", "600.00"]


def test_a_portfolio_may_be_of_several_businesses(books: LetBooks) -> None:
    company = books.unregistered_entity(name="Oak Ltd", type="limited_company", companyNumber="01234567")
    trade = books.trade(company, type="company_trade", name="Oak", accountingBasis="cash")
    house, shop = books.property(), books.property(trade, use="commercial_let")
    enter(books, "periodAmount", 600_00, property_id=house)
    enter(books, "other", 25_00, property_id=house)
    enter(books, "turnover", 400_00, property_id=shop)
    enter(books, "other", 5_00, property_id=shop, direction="in")
    found = books.one("propertyPnl", f"propertyIds={house}&propertyIds={shop}&taxYear=2026-27")
    assert lines(found, "income") == {"turnover": "400.00", "other": "5.00", "periodAmount": "600.00"}
    assert lines(found, "expenses") == {"other": "25.00"}
    assert [one["businessId"] for one in found["notOfAnyProperty"]] == [books.lets, trade]


# -- invoices


def test_lines_of_invoices_count_for_their_property(books: LetBooks) -> None:
    house, flat = books.property(), books.property()
    each = invoice_lines({"unitPrice": "300.00", "propertyId": flat}, {"unitPrice": "100.01"}, {"unitPrice": "50.00"})
    made = books.invoice(propertyId=house, lines=each, issueDate="2026-10-01")
    accruals = f"propertyIds={house}&propertyIds={flat}&taxYear=2026-27&basis=accruals"
    assert [one["totals"]["grossIncome"] for one in books.one("propertyPnl", accruals)["properties"]] == [
        "150.01",
        "300.00",
    ]
    books.post("recordPayment", invoiceId=made["id"], amount="225.00", date="2026-10-10")
    cash = f"propertyIds={house}&propertyIds={flat}&taxYear=2026-27"
    found = books.one("propertyPnl", f"{cash}&explain=true")
    # 225.00 of 450.01 are 149.99666... of 300.00, and 75.00333... of 150.01
    assert [one["totals"]["grossIncome"] for one in found["properties"]] == ["75.00", "150.00"]
    rows = found["explanation"]["data"]
    assert [(row["propertyId"], row["amount"], row["source"]) for row in rows] == [
        (house, "75.00", "payment"),
        (flat, "150.00", "payment"),
    ]


def test_a_credit_note_takes_back_what_its_property_had(books: LetBooks) -> None:
    house, flat = books.property(), books.property()
    made = books.invoice(
        propertyId=house,
        lines=invoice_lines({"unitPrice": "100.00"}, {"unitPrice": "40.00", "propertyId": flat}),
        issueDate="2026-10-01",
    )
    books.credit(made["id"], issueDate="2026-10-02", lines=[{"creditsLine": 1, "quantity": "0.25"}])
    for basis in ("cash", "accruals"):
        if basis == "cash":
            books.post("recordPayment", invoiceId=made["id"], date="2026-10-03")
        found = books.one("propertyPnl", f"propertyIds={house}&propertyIds={flat}&taxYear=2026-27&basis={basis}")
        assert [one["totals"]["grossIncome"] for one in found["properties"]] == ["75.00", "40.00"]


# -- the rows behind it


def test_rows_explain_one_property_after_the_other(books: LetBooks) -> None:
    house, flat = books.property(), books.property()
    for index in range(3):
        enter(books, "periodAmount", 100_00 + index, f"2026-05-0{index + 1}", property_id=house)
    enter(books, "periodAmount", 50_00, "2026-05-01", property_id=flat)
    enter(books, "other", 7_00, "2026-05-01", property_id=flat)
    enter(books, "periodAmount", 9_00, "2026-05-01", business_id=books.lets)
    query = f"propertyIds={house}&propertyIds={flat}&taxYear=2026-27&explain=true&category=periodAmount&limit=2"
    first = books.one("propertyPnl", query)["explanation"]
    rest = books.one("propertyPnl", f"{query}&cursor={first['nextCursor']}")["explanation"]
    rows = [*first["data"], *rest["data"]]
    assert [(row["propertyId"], row["amount"]) for row in rows] == [
        (house, "100.00"),
        (house, "100.01"),
        (house, "100.02"),
        (flat, "50.00"),
    ]
    assert rest["nextCursor"] is None
    with pytest.raises(Problem) as caught:
        books.one("propertyPnl", f"id={house}&taxYear=2026-27&explain=true&cursor={first['nextCursor']}")
    assert caught.value.code == "invalid_cursor"


def test_expenses_without_a_document_are_told(books: LetBooks) -> None:
    house, flat = books.property(), books.property()
    enter(books, "other", 75_00, property_id=house)
    row = books.enter(books.lets, "other", 25_00, property_id=flat)
    books.set(row.id, document_ids='["doc_1"]')
    found = books.one("propertyPnl", f"propertyIds={house}&propertyIds={flat}&taxYear=2026-27")["evidence"]
    assert found == {"expenses": "100.00", "documented": "25.00", "percent": "25", "missing": 1}


# -- what is told


def test_what_looks_like_a_payment_that_was_not_split_is_told(books: LetBooks) -> None:
    house = books.property()
    mortgage = books.mortgage(house)
    enter(books, "not_pnl", 500_00, purpose="loan_capital", mortgage_id=mortgage)
    assert codes(pnl(books, house)) == ["capital_without_interest"]
    enter(books, "residentialFinancialCost", 300_00, mortgage_id=mortgage)
    assert codes(pnl(books, house)) == []
    other = books.property()
    enter(books, "residentialFinancialCost", 300_00, mortgage_id=books.mortgage(other))
    assert codes(pnl(books, other)) == ["interest_without_capital"]
    third = books.property()
    enter(books, "residentialFinancialCost", 300_00, mortgage_id=books.mortgage(third, type="interest_only"))
    assert codes(pnl(books, third)) == []


def test_finance_costs_of_a_dwelling_that_are_deducted_are_told(books: LetBooks) -> None:
    house, shop = books.property(), books.property(use="commercial_let")
    for property_id in (house, shop):
        enter(books, "financialCosts", 10_00, property_id=property_id)
    assert (codes(pnl(books, house)), codes(pnl(books, shop))) == (["finance_costs_deducted"], [])


def test_capital_in_another_currency_counts_at_its_rate(books: LetBooks) -> None:
    villa = books.property()
    account = books.account(books.owner, currency="EUR")
    for rate in (None, "0.9"):
        part = Part("not_pnl", "loan_capital", property_id=villa, fx_rate=rate)
        books.allocate(books.line(account, -100_00, currency="EUR"), part)
    found = pnl(books, villa)
    assert (found["totals"]["capitalRepaid"], codes(found)) == ("90.00", ["capital_without_rate"])


def test_the_rest_tells_of_invoices_that_count_there_or_nowhere(books: LetBooks) -> None:
    house = books.property()
    books.invoice(legalEntityId=books.owner, issueDate="2026-10-01")
    assert codes(pnl(books, house)) == []
    assert codes(books.one("propertyPnl", f"propertyIds={house}&taxYear=2026-27")) == ["invoices_of_only_business"]


# -- what is refused


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("taxYear=2026-27", ("id", "required")),
        ("id={house}", ("fromDate", "required")),
        ("id={house}&fromDate=2026-04-06", ("toDate", "required")),
        ("id={house}&taxYear=2026-28", ("taxYear", "invalid_format")),
        ("id={house}&taxYear=2026-27&fromDate=2026-04-06", ("taxYear", "conflict")),
        ("id={house}&fromDate=2026-04-06&toDate=2026-04-05", ("toDate", "date_order")),
        ("id={house}&fromDate=2024-04-06&toDate=2026-04-06", ("toDate", "range_too_long")),
        ("id={house}&fromDate=1899-04-06&toDate=1899-05-06", ("fromDate", "out_of_range")),
        ("id={house}&periodId=per_x", ("periodId", "unknown_reference")),
        ("id={house}&propertyIds={house}&taxYear=2026-27", ("propertyIds", "conflict")),
        ("propertyIds={house}&propertyIds=prop_x&taxYear=2026-27", ("propertyIds[1]", "unknown_reference")),
    ],
)
def test_what_is_asked_has_to_be_clear(books: LetBooks, query: str, error: tuple[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        books.one("propertyPnl", query.format(house=books.property()))
    assert fields_of(caught.value) == [error]


def test_several_properties_are_counted_alike(books: LetBooks) -> None:
    house = books.property()
    abroad = books.property(books.trade(books.owner, type="foreign_property", name="Abroad", currency="EUR"))
    company = books.unregistered_entity(name="Oak Ltd", type="limited_company", companyNumber="01234567")
    shop = books.property(books.trade(company, type="company_trade", name="Oak"))
    for other, error in ((abroad, ("propertyIds", "currency_mismatch")), (shop, ("basis", "required"))):
        query = f"propertyIds={house}&propertyIds={other}&taxYear=2026-27"
        with pytest.raises(Problem) as caught:
            books.one("propertyPnl", query)
        assert fields_of(caught.value) == [error]
    assert books.one("propertyPnl", f"{query}&basis=cash")["basis"] == "cash"


def test_a_property_that_is_unknown_or_another_organizations_is_not_found(books: LetBooks, store: MemoryStore) -> None:
    for id_ in ("prop_x", LetBooks(store, "Other Ltd").property()):
        with pytest.raises(Problem) as caught:
            pnl(books, id_)
        assert caught.value.code == "not_found"


def test_foreign_money_without_a_rate_is_no_figure(books: LetBooks) -> None:
    villa = books.property()
    row = books.enter(books.lets, "other", 10_00, property_id=villa, currency="EUR", fx_rate="0.9")
    assert pnl(books, villa)["totals"]["operatingExpenses"] == "9.00"
    books.set(row.id, fx_rate=None)
    with pytest.raises(Problem) as caught:
        pnl(books, villa)
    assert caught.value.code == "currency_mismatch"
