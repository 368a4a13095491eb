"""What lets tell of by themselves: certificates that expire, tenancies that end, rent that has not come; each once."""

from typing import Any

import msgspec
import pytest

from gatewayd.areas.landlord import reminders
from gatewayd.clock import DAY, from_wire
from tests.areas.accounting.books import Json
from tests.areas.landlord.test_dashboard import Estate
from tests.support.store import MemoryStore

Told = tuple[str, dict[str, Any]]


@pytest.fixture
def estate(store: MemoryStore) -> Estate:
    return Estate(store)


def told(estate: Estate) -> list[Told]:
    sql = "SELECT kind, data FROM events WHERE org_id = :org_id ORDER BY id"
    return [
        (kind, msgspec.json.decode(data)) for kind, data in estate.store.read(lambda tx: tx.rows(sql), estate.org_id)
    ]


def tell(estate: Estate, day: str | None = None) -> list[Told]:
    """What is told on a day, as the daemon does it."""
    if day is not None:
        estate.store.clock.advance(from_wire(f"{day}T09:30:00Z") - estate.store.now())
    before = len(told(estate))
    for _ in range(50):
        if estate.store.read(reminders.is_silent):
            return told(estate)[before:]
        estate.store.write(reminders.tell_some)
    raise AssertionError("it never ends")


def obligations(estate: Estate) -> list[tuple[str, str, str, str]]:
    sql = """
    SELECT kind, name, due_date, status FROM obligations WHERE org_id = :org_id AND slot <> '' ORDER BY due_date, id
    """
    return [tuple(row) for row in estate.store.read(lambda tx: tx.rows(sql), estate.org_id)]


def paper(estate: Estate, house: str, issued: str, **fields: object) -> Json:
    return estate.post("createCertificate", propertyId=house, type="gas_safety", issuedDate=issued, **fields)


def test_a_certificate_is_told_sixty_days_before_it_expires(estate: Estate) -> None:
    house = estate.house()
    made = paper(estate, house, "2026-03-10")
    assert made["expiryDate"] == "2027-03-10"
    assert tell(estate, "2027-01-08") == []
    ((kind, data),) = tell(estate, "2027-01-09")
    assert kind == "certificate.expiring"
    assert data == {
        "certificate_id": made["id"],
        "type": "gas_safety",
        "property_id": house,
        "unit_id": None,
        "business_id": estate.business_id,
        "expiry_date": "2027-03-10",
        "days_until_expiry": 60,
    }
    assert tell(estate, "2027-02-01") == []


def test_what_is_superseded_or_of_a_house_that_is_sold_is_not_told(estate: Estate) -> None:
    first, second = estate.house(), estate.house()
    paper(estate, first, "2026-01-10")
    paper(estate, first, "2026-11-18")
    paper(estate, second, "2026-01-10")
    estate.post("updateProperty", id=second, status="sold", disposalDate="2026-11-01")
    assert tell(estate, "2026-12-01") == []


def test_renewals_are_due_move_and_are_met(estate: Estate) -> None:
    house = estate.house(name="12 Oak Street")
    made = paper(estate, house, "2026-03-10")
    due = ("certificate_renewal", "Gas safety: 12 Oak Street")
    assert obligations(estate) == [(*due, "2027-03-10", "open")]
    estate.post("updateCertificate", id=made["id"], expiryDate="2027-01-31")
    assert obligations(estate) == [(*due, "2027-01-31", "open")]
    newer = paper(estate, house, "2026-11-02")
    assert obligations(estate) == [(*due, "2027-01-31", "fulfilled"), (*due, newer["expiryDate"], "open")]
    estate.post("deleteCertificate", id=newer["id"])
    assert obligations(estate) == [(*due, "2027-01-31", "open"), (*due, newer["expiryDate"], "not_required")]
    estate.post("updateProperty", id=house, name="Oak Cottage")
    assert obligations(estate)[0][1] == "Gas safety: Oak Cottage"
    estate.post("updateProperty", id=house, status="archived")
    assert [one[3] for one in obligations(estate)] == ["not_required", "not_required"]
    estate.post("updateProperty", id=house, status="active")
    assert [one[3] for one in obligations(estate)] == ["open", "not_required"]


def test_a_home_that_is_sold_asks_for_a_report_in_sixty_days(estate: Estate) -> None:
    home = estate.house(name="9 Mill Lane")
    estate.post("updateProperty", id=home, status="sold", disposalDate="2026-10-01")
    assert obligations(estate) == [("cgt_property_report", "Capital Gains Tax on 9 Mill Lane", "2026-11-30", "open")]
    estate.post("updateProperty", id=home, disposalDate="2026-10-05")
    assert obligations(estate)[0][2] == "2026-12-04"
    estate.post("updateProperty", id=home, status="active")
    assert obligations(estate)[0][3] == "not_required"
    shop = estate.house(use="commercial_let")
    estate.post("updateProperty", id=shop, status="sold", disposalDate="2026-10-01")
    company = estate.lets(estate.unregistered_entity(type="limited_company", companyNumber="01234567"), "company_trade")
    flat = estate.property(company)["id"]
    estate.post("updateProperty", id=flat, status="sold", disposalDate="2026-10-01")
    assert len(obligations(estate)) == 1


def test_a_tenancy_that_ends_is_told_and_told_anew_where_the_day_moves(estate: Estate) -> None:
    house = estate.house(jurisdiction="wales")
    tenancy = estate.let(house, "900.00", "monthly", endDate="2027-02-28")
    assert "tenancy.ending" not in [kind for kind, _ in tell(estate, "2026-12-29")]
    ((kind, data),) = tell(estate, "2026-12-30")
    assert (kind, data["end_date"], data["days_until_end"], data["notice_by"]) == (
        "tenancy.ending",
        "2027-02-28",
        60,
        None,
    )
    assert (data["tenancy_id"], data["property_id"], data["business_id"]) == (tenancy["id"], house, estate.business_id)
    assert data["continues"] is True  # what ends is the term alone
    notice = {"noticeServedDate": "2026-12-30", "noticeBy": "tenant", "noticeExpiryDate": "2027-01-31"}
    estate.post("updateTenancy", id=tenancy["id"], **notice)
    ((kind, data),) = tell(estate)
    assert (kind, data["end_date"], data["notice_by"]) == ("tenancy.ending", "2027-01-31", "tenant")
    assert data["continues"] is False


def test_rent_is_overdue_on_the_day_after_and_told_once_for_each_due_date(estate: Estate) -> None:
    tenancy = estate.let(estate.house(), "900.00", "monthly", start="2026-11-20")
    assert tell(estate, "2026-11-20") == []
    ((kind, data),) = tell(estate, "2026-11-21")
    assert kind == "rent.overdue"
    assert (data["due_date"], data["days_overdue"], data["arrears"], data["currency"]) == (
        "2026-11-20",
        1,
        "900.00",
        "GBP",
    )
    assert tell(estate, "2026-11-22") == []
    estate.post("recordRent", tenancyId=tenancy["id"], date="2026-11-22", amount="900.00")
    estate.post("recordRent", tenancyId=tenancy["id"], date="2026-11-22", amount="899.99")
    assert tell(estate, "2026-12-20") == []
    ((_, data),) = tell(estate, "2026-12-21")
    assert (data["due_date"], data["arrears"]) == ("2026-12-20", "0.01")
    assert tell(estate, "2026-12-31") == []


def test_rent_of_before_the_books_is_no_news(estate: Estate) -> None:
    estate.let(estate.house(), "900.00", "monthly", start="2026-01-01")
    assert tell(estate) == []
    estate.store.clock.advance(10 * DAY)
    assert tell(estate) == []
    assert [kind for kind, _ in tell(estate, "2026-12-02")] == ["rent.overdue"]


def test_what_was_told_moves_no_version(estate: Estate) -> None:
    house = estate.house(jurisdiction="wales")
    made = paper(estate, house, "2026-01-10")
    tenancy = estate.let(house, "900.00", "monthly", start="2026-11-20", endDate="2027-01-01")
    assert len(tell(estate, "2026-11-21")) == 3
    estate.post("updateCertificate", id=made["id"], reference="X", expectedVersion=made["version"])
    estate.post("updateTenancy", id=tenancy["id"], notes="X", expectedVersion=tenancy["version"])


def test_loans_that_a_migration_left_open_are_computed_on_the_way(estate: Estate) -> None:
    house = estate.house()
    loan = {"lender": "Severn", "interestRate": "6", "originalAmount": "150000.00", "startDate": "2025-01-01"}
    estate.post("createMortgage", propertyId=house, type="repayment", termMonths=300, **loan)
    owed = "SELECT owed_by_month FROM mortgages"
    before = estate.store.connection.execute(owed).fetchall()
    estate.store.connection.execute("UPDATE mortgages SET owed_by_month = x''")
    assert tell(estate) == []
    assert estate.store.connection.execute(owed).fetchall() == before
