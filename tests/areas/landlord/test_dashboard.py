"""The landlord's dashboard (Domain C3): its worked figures, whose they are, and what each day makes of them."""

from typing import ClassVar

import pytest

from gatewayd.areas import landlord
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Entry, Part
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.lettings import Lettings
from tests.support.store import MemoryStore

ROWS = {operation.id.partition(".")[2]: operation for operation in landlord.AREA.operations}
TODAY = "2026-11-20"


class Estate(Lettings):
    """A person who lets, with all operations of the area."""

    operations: ClassVar = ROWS
    decoders: ClassVar = {name: RequestDecoder(operation) for name, operation in ROWS.items()}

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.unregistered_entity(type="individual")
        self.business_id = self.lets(self.owner)

    def house(self, value: str | None = None, **fields: object) -> str:
        made = str(self.property(self.business_id, **fields)["id"])
        if value is not None:
            self.valuation(made, "2026-05-01", value)
        return made

    def let(self, property_id: str, rent: str, frequency: str, start: str = "2026-10-01", **fields: object) -> Json:
        tenant = self.post("createTenant", kind="person", name="Rosa Hart")
        terms = {"startDate": start, "rentAmount": rent, "rentFrequency": frequency}
        return self.post("createTenancy", propertyId=property_id, tenantIds=[tenant["id"]], **terms, **fields)

    def dashboard(self, query: str = "") -> Json:
        return self.one("getDashboardSummary", query or f"businessId={self.business_id}")


@pytest.fixture
def estate(store: MemoryStore) -> Estate:
    return Estate(store)


def test_nothing_to_let_divides_nothing(estate: Estate) -> None:
    found = estate.dashboard()
    assert (found["asOfDate"], found["currency"], found["propertyCount"], found["unitCount"]) == (TODAY, "GBP", 0, 0)
    for name in ("occupancyPercent", "ltvPercent", "grossYieldPercent", "netYieldPercent"):
        assert found[name] is None
    assert (found["portfolioValue"], found["arrears"]) == ("0.00", {"total": "0.00", "count": 0, "tenancies": []})


def test_the_figures_of_the_domain_page(estate: Estate) -> None:
    """C3: values 250,000 and 180,000, loans of 258,000; rents 650, 800 and 950 a month; two of three units let.

    Shops, since homes may not be let by the quarter.
    """
    first, second = (estate.house(value, use="commercial_let") for value in ("250000.00", "180000.00"))
    flats = [estate.unit(first, name)["id"] for name in ("A", "B")]
    loan = {"lender": "Severn", "type": "interest_only", "interestRate": "4.5", "originalAmount": "258000.00"}
    estate.post("createMortgage", propertyId=first, startDate="2024-03-15", **loan)
    estate.let(first, "600.00", "four_weekly", unitId=flats[0])
    estate.let(second, "2400.00", "quarterly")
    found = estate.dashboard()
    assert (found["unitCount"], found["letUnitCount"], found["vacantUnitCount"]) == (3, 2, 1)
    assert found["occupancyPercent"] == "66.7"
    assert (found["portfolioValue"], found["mortgageBalance"], found["equity"]) == (
        "430000.00",
        "258000.00",
        "172000.00",
    )
    assert found["ltvPercent"] == "60.0"
    assert found["monthlyRentRoll"] == "1450.00"
    estate.let(first, "11400.00", "annually", unitId=flats[1])
    found = estate.dashboard()
    assert (found["monthlyRentRoll"], found["annualRentRoll"]) == ("2400.00", "28800.00")
    assert (found["grossYieldPercent"], found["occupancyPercent"]) == ("6.7", "100.0")


@pytest.mark.parametrize(
    ("rent", "frequency", "month"),
    [
        ("150.00", "weekly", "650.00"),
        ("600.00", "four_weekly", "650.00"),
        ("300.00", "fortnightly", "650.00"),
        ("2400.00", "quarterly", "800.00"),
        ("11400.00", "annually", "950.00"),
        ("950.00", "monthly", "950.00"),
    ],
)
def test_rent_in_a_month(estate: Estate, rent: str, frequency: str, month: str) -> None:
    """C3. A shop, since homes may not be let by the quarter."""
    estate.let(estate.house(use="commercial_let"), rent, frequency)
    assert estate.dashboard()["monthlyRentRoll"] == month


def test_a_tenancy_of_the_whole_lets_every_unit(estate: Estate) -> None:
    house = estate.house()
    for name in "ABC":
        estate.unit(house, name)
    estate.let(house, "900.00", "monthly")
    found = estate.dashboard()
    assert (found["unitCount"], found["letUnitCount"], found["activeTenancies"]) == (3, 3, 1)


def test_dates_alone_decide(estate: Estate) -> None:
    house = estate.house("200000.00", acquisitionDate="2026-01-15")
    tenancy = estate.let(house, "900.00", "monthly", start="2026-06-01")
    notice = {"noticeServedDate": "2026-11-01", "noticeBy": "tenant", "noticeExpiryDate": "2026-12-31"}
    estate.post("updateTenancy", id=tenancy["id"], **notice)
    seen = {
        day: estate.dashboard(f"businessId={estate.business_id}&asOfDate={day}")
        for day in ("2026-01-14", "2026-05-31", "2026-06-01", "2026-10-31", "2026-11-01", "2026-12-31", "2027-01-01")
    }
    told = {
        day: (one["propertyCount"], one["letUnitCount"], one["activeTenancies"], one["tenanciesUnderNotice"])
        for day, one in seen.items()
    }
    assert told == {
        "2026-01-14": (0, 0, 0, 0),
        "2026-05-31": (1, 0, 0, 0),
        "2026-06-01": (1, 1, 1, 0),
        "2026-10-31": (1, 1, 1, 0),
        "2026-11-01": (1, 1, 1, 1),
        "2026-12-31": (1, 1, 1, 1),
        "2027-01-01": (1, 0, 0, 0),
    }
    assert (seen["2026-05-31"]["portfolioValue"], seen["2026-01-14"]["portfolioValue"]) == ("200000.00", "0.00")


def test_rent_that_is_late_is_told_with_its_age(estate: Estate) -> None:
    house = estate.house()
    tenancy = estate.let(house, "900.00", "monthly", start="2026-09-01")
    for day, amount in (("2026-09-01", "900.00"), ("2026-10-03", "400.00")):
        estate.post("recordRent", tenancyId=tenancy["id"], date=day, amount=amount)
    found = estate.dashboard()["arrears"]
    assert (found["total"], found["count"]) == ("1400.00", 1)
    (late,) = found["tenancies"]
    assert late == {"tenancyId": tenancy["id"], "propertyId": house, "amount": "1400.00", "daysOldest": 50}


def test_the_tax_year_and_the_twelve_months(estate: Estate) -> None:
    """Rent since January: April to November in the tax year; the net yield is of twelve months."""
    house = estate.house("100000.00")
    tenancy = estate.let(house, "500.00", "monthly", start="2025-11-01")
    for month in (1, 3, 4, 5):
        estate.post("recordRent", tenancyId=tenancy["id"], date=f"2026-{month:02}-06", amount="500.00")
    found = estate.dashboard()
    assert (found["incomeTaxYearToDate"], found["expensesTaxYearToDate"]) == ("1000.00", "0.00")
    assert (found["netTaxYearToDate"], found["netYieldPercent"]) == ("1000.00", "2.0")


def test_the_trade_of_a_company_that_lets_counts(estate: Estate) -> None:
    """Rent is its turnover, and interest no operating cost; a trade without a property is nothing of the landlord's."""
    company = estate.unregistered_entity(type="limited_company", companyNumber="01234567")
    trade, other = (estate.lets(company, "company_trade") for _ in range(2))
    house = str(estate.property(trade)["id"])
    estate.valuation(house, "2026-05-01", "100000.00")
    tenancy = estate.let(house, "500.00", "monthly", start="2026-04-06")
    estate.post("recordRent", tenancyId=tenancy["id"], date="2026-05-06", amount="5000.00")
    spent = {"adminCosts": (trade, 1000_00), "interestOnBankOtherLoans": (trade, 700_00), "costOfGoods": (other, 9_00)}
    for category, (business_id, amount) in spent.items():
        part = Part(category, business_id=business_id, direction="out", amount=amount, description="Paid")  # type: ignore[arg-type]
        estate.store.write(
            lambda tx, part=part: allocations.enter(tx, [part], Entry("2026-06-01", "GBP")), estate.org_id
        )
    found = estate.dashboard(f"legalEntityId={company}")
    # on accruals: the rents of April to November, whatever came
    assert (found["incomeTaxYearToDate"], found["expensesTaxYearToDate"]) == ("4000.00", "1700.00")
    assert (found["netTaxYearToDate"], found["netYieldPercent"]) == ("2300.00", "3.0")


def test_what_is_owned_in_part_is_valued_in_part(estate: Estate) -> None:
    estate.house("100000.00", owners=[{"legalEntityId": estate.owner, "sharePercent": "33.333"}])
    estate.house(purchasePrice="50000.00")
    estate.house()
    found = estate.dashboard()
    assert (found["portfolioValue"], found["valuedAtCost"], found["unvalued"]) == ("83333.00", 1, 1)


def test_deposits_that_are_held_and_those_without_a_scheme(estate: Estate) -> None:
    protected = {"scheme": "dps", "protectedDate": "2026-10-03"}
    estate.let(estate.house(), "900.00", "monthly", deposit={"amount": "1000.00", **protected})
    estate.let(estate.house(), "900.00", "monthly", deposit={"amount": "500.00"})
    back = estate.let(estate.house(), "900.00", "monthly", deposit={"amount": "700.00"})
    returned = {"amount": "700.00", "returnedAmount": "650.00", "returnedDate": "2026-11-10"}
    estate.post("updateTenancy", id=back["id"], deposit=returned)
    found = estate.dashboard()
    assert (found["depositsHeld"], found["unprotectedDeposits"]) == ("1500.00", 1), "what was kept is income (C2)"
    before = estate.dashboard(f"businessId={estate.business_id}&asOfDate=2026-11-09")
    assert (before["depositsHeld"], before["unprotectedDeposits"]) == ("2200.00", 2)


def test_certificates_and_rates_that_end(estate: Estate) -> None:
    house = estate.house(gasSupply=True, licensing="none")
    made = estate.post("createCertificate", propertyId=house, type="gas_safety", issuedDate="2025-12-10")
    loan = {"lender": "Severn", "type": "interest_only", "interestRate": "4.5", "originalAmount": "100000.00"}
    ends = {"rateEndDate": "2027-01-10", "reversionRate": "8"}
    mortgage = estate.post("createMortgage", propertyId=house, startDate="2024-01-10", **loan, **ends)
    found = estate.dashboard()
    counted = found["certificates"]
    assert (counted["valid"], counted["expiring"], counted["expired"]) == (0, 1, 0)
    assert counted["missing"] == 2, "an EPC and an EICR"
    assert [one["id"] for one in counted["next"]] == [made["id"]]
    assert [one["mortgageId"] for one in found["mortgagesRateEnding"]] == [mortgage["id"]]
    near = estate.dashboard(f"businessId={estate.business_id}&windowDays=10")
    assert (near["certificates"]["expiring"], near["mortgagesRateEnding"]) == (0, [])
    due = [(one["kind"], one["dueDate"]) for one in found["nextObligations"]]
    assert ("certificate_renewal", "2026-12-10") in due


def test_what_expires_next_has_its_state_by_the_window(estate: Estate) -> None:
    """A gas safety record of 10 December 2025 holds until that day of 2026, 20 days after today."""
    house = estate.house(gasSupply=True, licensing="none")
    estate.post("createCertificate", propertyId=house, type="gas_safety", issuedDate="2025-12-10")
    states = {}
    for days in (0, 19, 20, 60):
        counted = estate.dashboard(f"windowDays={days}")["certificates"]
        (soonest,) = counted["next"]
        states[days] = soonest["status"]
        assert (counted["valid"], counted["expiring"]) == ((1, 0) if soonest["status"] == "valid" else (0, 1))
    assert states == {0: "valid", 19: "valid", 20: "expiring", 60: "expiring"}


def test_what_is_archived_counts_on_no_day(estate: Estate) -> None:
    """A property that was sold does on the days before; one that is put away may never have been there."""
    estate.house("100000.00")
    twice = estate.house("100000.00")
    past = "asOfDate=2026-06-01"
    assert estate.dashboard(past)["portfolioValue"] == "200000.00"
    estate.post("updateProperty", id=twice, status="archived")
    found = estate.dashboard(past)
    assert (found["propertyCount"], found["portfolioValue"]) == (1, "100000.00")


def test_whose_it_is(estate: Estate) -> None:
    estate.house("100000.00")
    other = estate.lets()
    estate.property(other)
    assert estate.dashboard()["propertyCount"] == 1
    assert estate.dashboard(f"legalEntityId={estate.owner}")["propertyCount"] == 1
    assert estate.dashboard("windowDays=60")["propertyCount"] == 2
    for query in ("businessId=biz_0", "legalEntityId=ent_0", f"businessId={other}&legalEntityId={estate.owner}"):
        with pytest.raises(Problem) as refused:
            estate.dashboard(query)
        assert {code for _, code in fields_of(refused.value)} == {"unknown_reference"}


def test_another_currency_is_left_out_and_told(estate: Estate) -> None:
    abroad = estate.lets(estate.owner, "foreign_property", currency="EUR")
    estate.property(abroad, currency="EUR", purchasePrice="100000.00", jurisdiction="other")
    estate.house(purchasePrice="50000.00")
    found = estate.dashboard(f"legalEntityId={estate.owner}")
    assert (found["propertyCount"], found["portfolioValue"]) == (2, "50000.00")
    assert [one["code"] for one in found["warnings"]] == ["other_currency"]
