"""Rents on accruals: income when they fall due, debtors while they are owed, a loss when written off (Domain C1)."""

from typing import Any, ClassVar

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Books, Json, fields_of, lines
from tests.areas.landlord.lettings import Lettings
from tests.areas.landlord.test_dashboard import ROWS
from tests.support.store import MemoryStore

YEAR = "fromDate=2026-09-01&toDate=2026-11-30"


class Company(Lettings):
    """A company on accruals that lets a house for 1,000.00 a month since September 2026; today is 20 November."""

    operations: ClassVar = {**Books.operations, **ROWS}
    decoders: ClassVar = {**Books.decoders, **Lettings.decoders}

    def __init__(self, store: MemoryStore, type_: Any = "uk_property", *, registered: bool = False) -> None:
        super().__init__(store)
        entity = self.entity if registered else self.unregistered_entity
        self.owner = entity(type="limited_company", companyNumber="01234567")
        self.business_id = self.lets(self.owner, type_, accountingBasis="accruals")
        self.house = str(self.property(self.business_id)["id"])
        self.tenant = str(self.post("createTenant", kind="person", name="Rosa Hart")["id"])
        terms = {"startDate": "2026-09-01", "rentAmount": "1000.00", "rentFrequency": "monthly"}
        self.tenancy = str(self.post("createTenancy", propertyId=self.house, tenantIds=[self.tenant], **terms)["id"])

    def paid(self, date: str, amount: str) -> Json:
        return self.post("recordRent", tenancyId=self.tenancy, date=date, amount=amount)

    def account(self, query: str = YEAR) -> Json:
        return self.one("propertyPnl", f"id={self.house}&{query}")

    def enter(self, category: Any, amount: int, date: str, **fields: Any) -> None:
        part = Part(category, property_id=self.house, amount=amount, description="Entered", **fields)
        self.store.write(lambda tx: allocations.enter(tx, [part], Entry(date, "GBP")), self.org_id)


@pytest.fixture
def company(store: MemoryStore) -> Company:
    return Company(store)


def income(account: Json) -> dict[str, str]:
    return {line["category"]: line["amount"] for line in account["income"]}


def expenses(account: Json) -> dict[str, str]:
    return {line["category"]: line["amount"] for line in account["expenses"]}


def test_rents_are_income_when_due_and_what_is_owed_is_debtors(company: Company) -> None:
    """3,000 fell due and 1,500 came: 3,000 is income, and 1,500 is owed."""
    company.paid("2026-09-03", "1000.00")
    company.paid("2026-10-12", "500.00")
    found = company.account()
    assert income(found) == {"periodAmount": "3000.00"}
    assert (found["totals"]["grossIncome"], found["totals"]["taxableProfit"]) == ("3000.00", "3000.00")
    assert found["rentDebtors"] == {
        "openingDebtors": "0.00",
        "openingPaidAhead": "0.00",
        "due": "3000.00",
        "received": "1500.00",
        "writtenOff": "0.00",
        "closingDebtors": "1500.00",
        "closingPaidAhead": "0.00",
    }
    cash = company.account(f"{YEAR}&basis=cash")
    assert (income(cash), cash["rentDebtors"]) == ({"periodAmount": "1500.00"}, None)


def test_rent_paid_ahead_is_no_income_before_it_is_due(company: Company) -> None:
    company.paid("2026-09-01", "2500.00")
    september = company.account("fromDate=2026-09-01&toDate=2026-09-30")
    assert income(september) == {"periodAmount": "1000.00"}
    assert (september["rentDebtors"]["closingPaidAhead"], september["rentDebtors"]["closingDebtors"]) == (
        "1500.00",
        "0.00",
    )
    rest = company.account("fromDate=2026-10-01&toDate=2026-11-30")
    assert income(rest) == {"periodAmount": "2000.00"}
    assert (rest["rentDebtors"]["openingPaidAhead"], rest["rentDebtors"]["closingDebtors"]) == ("1500.00", "500.00")


def test_rent_that_comes_before_the_tenancy_begins_counts_once(company: Company) -> None:
    """2,000 in November for December and January: of no month before, and of each by its own."""
    other = str(company.property(company.business_id)["id"])
    terms = {"startDate": "2026-12-01", "rentAmount": "1000.00", "rentFrequency": "monthly"}
    let = company.post("createTenancy", propertyId=other, tenantIds=[company.tenant], **terms)
    company.post("recordRent", tenancyId=let["id"], date="2026-11-15", amount="2000.00")
    asked = {"2026-11": "30", "2026-12": "31", "2027-01": "31"}
    found = [
        company.one("propertyPnl", f"id={other}&fromDate={month}-01&toDate={month}-{last}")
        for month, last in asked.items()
    ]
    assert [one["totals"]["grossIncome"] for one in found] == ["0.00", "1000.00", "1000.00"]
    assert [one["rentDebtors"]["closingPaidAhead"] for one in found] == ["2000.00", "1000.00", "0.00"]


def test_a_closed_period_keeps_the_rents_that_fell_due_in_it(company: Company) -> None:
    company.store.write(
        lambda tx: period_locks.close(tx, company.owner, "2026-09-01", "2026-09-30") and None, company.org_id
    )
    for fields in ({"startDate": "2026-09-15"}, {"rent": {"fromDate": "2026-09-01", "amount": "900.00"}}):
        with pytest.raises(Problem) as caught:
            company.post("updateTenancy", id=company.tenancy, **fields)
        assert caught.value.code == "period_closed"
    company.post("updateTenancy", id=company.tenancy, endDate="2026-12-31", notes="Leaves")
    with pytest.raises(Problem) as caught:
        company.post("writeOffRent", tenancyId=company.tenancy, date="2026-09-30", reason="Agreed")
    assert caught.value.code == "period_closed"
    new = {"startDate": "2026-09-10", "rentAmount": "700.00", "rentFrequency": "monthly"}
    other = str(company.property(company.business_id)["id"])
    with pytest.raises(Problem) as caught:
        company.post("createTenancy", propertyId=other, tenantIds=[company.tenant], **new)
    assert caught.value.code == "period_closed"


def test_what_was_written_off_is_told_once(company: Company) -> None:
    body = {"tenancyId": company.tenancy, "reason": "Agreed", "amount": "10.00", "externalId": "w-1"}
    company.post("writeOffRent", **body)
    with pytest.raises(Problem) as caught:
        company.post("writeOffRent", **body)
    assert caught.value.code == "already_exists"


def test_months_add_up_and_rows_add_up_to_their_line(company: Company) -> None:
    company.paid("2026-09-03", "1000.00")
    company.paid("2026-10-12", "500.00")
    found = company.account(f"{YEAR}&groupBy=month&explain=true&category=periodAmount")
    assert [income(one) for one in found["buckets"]] == [{"periodAmount": "1000.00"}] * 3
    rows = found["explanation"]["data"]
    assert [(one["source"], one["amount"]) for one in rows] == [
        ("allocation", "0.00"),
        ("allocation", "0.00"),
        *[("rent", "1000.00")] * 3,
    ]
    assert {one["tenancyId"] for one in rows if one["source"] == "rent"} == {company.tenancy}


def test_a_deposit_and_rent_of_no_tenancy_count_as_before(company: Company) -> None:
    company.enter("not_pnl", 1_150_00, "2026-09-01", purpose="deposit", direction="in", tenancy_id=company.tenancy)
    company.enter("periodAmount", 70_00, "2026-09-10", direction="in")
    assert income(company.account()) == {"periodAmount": "3070.00"}


@pytest.mark.parametrize(
    ("type_", "line", "loss"),
    [("uk_property", "periodAmount", "other"), ("company_trade", "turnover", "irrecoverableDebts")],
)
def test_rent_that_is_written_off_is_a_loss_and_owed_no_more(
    store: MemoryStore, type_: str, line: str, loss: str
) -> None:
    """Of 3,000 due 1,500 came; 400 of the rest is written off: 2,600 of profit, and 1,100 is owed."""
    company = Company(store, type_)
    company.paid("2026-09-03", "1500.00")
    made = company.post("writeOffRent", tenancyId=company.tenancy, amount="400.00", date="2026-11-10", reason="Agreed")
    assert (made["arrears"], made["allocation"]["purpose"]) == ("1100.00", "rent_written_off")
    found = company.account()
    assert (income(found), expenses(found)) == ({line: "3000.00"}, {loss: "400.00"})
    assert found["totals"]["taxableProfit"] == "2600.00"
    debtors = found["rentDebtors"]
    assert [debtors[name] for name in ("due", "received", "writtenOff", "closingDebtors")] == [
        "3000.00",
        "1500.00",
        "400.00",
        "1100.00",
    ]
    cash = company.account(f"{YEAR}&basis=cash")
    assert (income(cash), expenses(cash)) == ({line: "1500.00"}, {}), "it was never income, and is no expense"
    rows = company.account(f"{YEAR}&explain=true&category={loss}")["explanation"]["data"]
    assert [(one["source"], one["amount"], one["date"]) for one in rows] == [
        ("rent_written_off", "400.00", "2026-11-10")
    ]
    assert company.one("getDashboardSummary", f"businessId={company.business_id}")["arrears"]["total"] == "1100.00"
    totals = company.one("listLinkedTransactions", f"propertyId={company.house}")["totals"]
    assert (totals["in"], totals["count"]) == ("1500.00", 2), "no money came"


def test_the_oldest_rent_is_written_off_first(company: Company) -> None:
    company.paid("2026-09-03", "600.00")
    company.post("writeOffRent", tenancyId=company.tenancy, amount="900.00", reason="Agreed")
    rents = company.walk("listRentsDue", f"tenancyId={company.tenancy}&toDate=2026-11-20")
    told = [(one["status"], one["received"], one["writtenOff"], one["outstanding"]) for one in rents]
    assert told == [
        ("written_off", "600.00", "400.00", "0.00"),
        ("part_paid", "0.00", "500.00", "500.00"),
        ("late", "0.00", "0.00", "1000.00"),
    ]
    everything = company.post("writeOffRent", tenancyId=company.tenancy, reason="Gone")
    assert (everything["allocation"]["amount"], everything["arrears"]) == ("1500.00", "0.00")
    with pytest.raises(Problem) as caught:
        company.post("writeOffRent", tenancyId=company.tenancy, reason="Gone")
    assert caught.value.code == "invalid_state"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"amount": "3000.01"}, ("amount", "out_of_range")),
        ({"amount": "0.00"}, ("amount", "out_of_range")),
        ({"amount": "1.001"}, ("amount", "invalid_decimal")),
        ({"date": "2026-11-21"}, ("date", "out_of_range")),
        ({"tenancyId": "tcy_0"}, ("tenancyId", "unknown_reference")),
        ({"amount": "1000.01", "date": "2026-09-30"}, ("amount", "out_of_range")),
    ],
)
def test_what_cannot_be_written_off_is_refused(company: Company, fields: Json, wrong: tuple[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        company.post("writeOffRent", **{"tenancyId": company.tenancy, "reason": "Agreed", **fields})
    assert fields_of(caught.value) == [wrong]


def test_no_bank_line_is_a_rent_that_was_written_off(company: Company) -> None:
    with pytest.raises(Problem) as caught:
        company.enter("not_pnl", 100_00, "2026-11-01", purpose="rent_written_off", direction="in")
    assert [code for _, code in fields_of(caught.value)] == ["conflict"]


def test_a_tenancy_in_another_currency_counts_by_its_money_and_that_is_told(store: MemoryStore) -> None:
    company = Company(store)
    abroad = str(company.property(company.business_id, currency="EUR")["id"])
    terms = {"startDate": "2026-09-01", "rentAmount": "1000.00", "rentFrequency": "monthly"}
    let = company.post("createTenancy", propertyId=abroad, tenantIds=[company.tenant], **terms)
    company.post("recordRent", tenancyId=let["id"], date="2026-09-03", amount="1000.00", fxRate="0.85")
    found = company.one("propertyPnl", f"id={abroad}&{YEAR}")
    assert income(found) == {"periodAmount": "850.00"}
    assert "rents_by_money" in [one["code"] for one in found["warnings"]]


def test_where_vat_is_charged_on_rent_what_falls_due_is_net_of_it(store: MemoryStore) -> None:
    """1,000 due each month holds 166.67 of VAT: 833.33 a month, also where only the first has come."""
    company = Company(store, registered=True)
    plain = company.account()
    assert (income(plain), plain["warnings"]) == ({"periodAmount": "3000.00"}, []), "rent of homes is exempt"
    came = {"direction": "in", "tenancy_id": company.tenancy, "vat_code": "standard"}
    company.enter("periodAmount", 1_000_00, "2026-09-03", **came)
    found = company.account()
    assert income(found) == {"periodAmount": "2499.99"}
    assert [one["code"] for one in found["warnings"]] == ["rents_net_by_payments"]
    assert found["rentDebtors"]["closingDebtors"] == "2000.00"


def test_rent_that_is_invoiced_counts_once(store: MemoryStore) -> None:
    company = Company(store)
    found = company.account()
    assert income(found) == {"periodAmount": "3000.00"}
    each = lines({"unitPrice": "1000.00", "category": "periodAmount"})
    company.invoice(propertyId=company.house, lines=each, issueDate="2026-10-01")
    found = company.account()
    assert income(found) == {"periodAmount": "1000.00"}
    assert [one["code"] for one in found["warnings"]] == ["rents_by_money"]
