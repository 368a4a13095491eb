"""Leases whose rent is due on quarter days: what is served, owed, proposed and refused. It is 20 November 2026.

12,000.00 a quarter is 48,000.00 a year; the 43 days from 10 February to 24 March are 5,654.79 of it (x 43 / 365).
"""

from typing import Any

import pytest

from gatewayd.areas.landlord.rents import arrears
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.landlords import Landlord, codes
from tests.areas.landlord.lets import step
from tests.areas.landlord.older_books import migrated_from
from tests.areas.landlord.rent_books import RentBooks
from tests.areas.landlord.test_dashboard import Estate
from tests.areas.landlord.test_rents_on_accruals import Company, income
from tests.support.store import MemoryStore

LEASE = {
    "type": "commercial_lease",
    "startDate": "2026-02-10",
    "rentAmount": "12000.00",
    "rentFrequency": "quarterly",
    "rentQuarterDays": "english",
}


def refused(landlord: Landlord, tenancy: Json | None = None, /, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        landlord.let(**{**LEASE, **fields}) if tenancy is None else landlord.change(tenancy, **fields)
    return fields_of(caught.value)


def ladder(landlord: Landlord, tenancy: Json) -> list[tuple[str, str]]:
    rents = landlord.walk("listRentsDue", f"tenancyId={tenancy['id']}&toDate=2027-03-25")
    return [(one["dueDate"], one["amount"]) for one in rents]


def test_rents_fall_due_on_the_english_quarter_days(landlord: Landlord) -> None:
    made = landlord.let(**LEASE)
    assert (made["rentFrequency"], made["rentQuarterDays"], made["rentDueDay"]) == ("quarterly", "english", None)
    assert (made["agreedRent"], made["warnings"]) == (None, [])
    assert ladder(landlord, made) == [
        ("2026-02-10", "5654.79"),
        ("2026-03-25", "12000.00"),
        ("2026-06-24", "12000.00"),
        ("2026-09-29", "12000.00"),
        ("2026-12-25", "12000.00"),
        ("2027-03-25", "12000.00"),
    ]
    assert made["arrears"] == "41654.79"  # of the first four


def test_and_on_the_scottish_ones(landlord: Landlord) -> None:
    made = landlord.let(landlord.house(jurisdiction="scotland"), **{**LEASE, "rentQuarterDays": "scottish"})
    assert ladder(landlord, made) == [
        ("2026-02-10", "2367.12"),  # 18 days
        ("2026-02-28", "12000.00"),
        ("2026-05-28", "12000.00"),
        ("2026-08-28", "12000.00"),
        ("2026-11-28", "12000.00"),
        ("2027-02-28", "12000.00"),
    ]


def test_arrears_of_each_day_and_the_oldest_rent_that_is_not_paid(landlord: Landlord) -> None:
    made = landlord.let(**LEASE)
    landlord.post("recordRent", tenancyId=made["id"], date="2026-03-25", amount="17654.79")

    def owing(day: str) -> list[tuple[int, str]]:
        found = landlord.store.read(lambda tx: arrears.of_all(tx, day), landlord.org_id)
        return [(one.arrears, one.oldest_due) for one in found]

    assert owing("2026-03-24") == [(5_654_79, "2026-02-10")]
    assert owing("2026-03-25") == owing("2026-06-23") == []
    assert owing("2026-06-24") == owing("2026-09-28") == [(12_000_00, "2026-06-24")]
    assert owing("2026-09-29") == [(24_000_00, "2026-06-24")]
    assert landlord.store.read(lambda tx: rents_received.stale(tx, "", 9), landlord.org_id) == [(made["id"], False)]
    # what is kept follows the days on which it is due
    changed = landlord.change(made, rentQuarterDays="scottish")
    assert (changed["rentQuarterDays"], changed["arrears"]) == ("scottish", "20712.33")  # 38,367.12 - 17,654.79
    assert owing("2026-06-24") == [(8_712_33, "2026-05-28")]
    assert landlord.store.read(lambda tx: rents_received.stale(tx, "", 9), landlord.org_id) == [(made["id"], False)]


def test_a_step_counts_from_the_next_quarter_day_on(landlord: Landlord) -> None:
    made = landlord.let(**LEASE)
    changed = landlord.change(made, rent={"fromDate": "2026-07-01", "amount": "13000.00"})
    assert [one["frequency"] for one in changed["rentHistory"]] == ["quarterly", "quarterly"]
    assert ladder(landlord, changed)[1:4] == [
        ("2026-03-25", "12000.00"),
        ("2026-06-24", "12000.00"),
        ("2026-09-29", "13000.00"),
    ]
    assert changed["arrears"] == "42654.79"


@pytest.mark.parametrize(
    ("end", "warned", "last"),
    [
        ("2026-12-24", False, ("2026-09-29", "12000.00")),
        ("2026-12-23", True, ("2026-09-29", "11309.59")),  # 86 days
        ("2026-12-25", True, ("2026-12-25", "131.51")),  # a day
    ],
)
def test_an_end_within_a_quarter_is_counted_by_days_and_told(
    landlord: Landlord, end: str, warned: bool, last: tuple[str, str]
) -> None:
    made = landlord.let(**LEASE)
    ended = landlord.change(made, endedDate=end)
    assert codes(ended) == ["rent_apportioned"] * warned
    assert ladder(landlord, made)[-1] == last
    if warned:
        message = f"{last[1]} is counted for its days. All of 12000.00 is owed since {last[0]}"
        assert message in ended["warnings"][0]["message"]
    # once: another change does not say it again, and a new lease with that end does
    assert codes(landlord.change(made, notes="Keys returned")) == []
    assert codes(landlord.let(**LEASE, endedDate=end)) == ["rent_apportioned"] * warned


def test_an_end_of_rent_on_a_day_of_the_month_is_not_told(landlord: Landlord) -> None:
    made = landlord.let(**{**LEASE, "rentQuarterDays": None}, endedDate="2026-12-01")
    assert (codes(made), made["rentDueDay"], made["rentQuarterDays"]) == ([], 10, None)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"rentFrequency": "monthly"}, [("rentQuarterDays", "conflict")]),
        ({"rentFrequency": "annually"}, [("rentQuarterDays", "conflict")]),
        ({"rentDueDay": 25}, [("rentDueDay", "conflict")]),
        # Housing Act 1988 s4A: quarterly, on whatever days
        ({"type": "assured_periodic", "startDate": "2026-05-01"}, [("rentFrequency", "conflict")]),
    ],
)
def test_what_does_not_fit_is_refused(landlord: Landlord, fields: dict[str, Any], wrong: list[tuple[str, str]]) -> None:
    assert refused(landlord, **fields) == wrong


def test_they_are_corrected_as_other_terms_are(landlord: Landlord) -> None:
    made = landlord.let(**{**LEASE, "rentQuarterDays": None, "rentDueDay": 25})
    # 15 of 92 days, 1,956.52, then 25 February, May and August
    assert (made["rentDueDay"], made["arrears"]) == (25, "37956.52")
    changed = landlord.change(made, rentQuarterDays="english")
    assert (changed["rentDueDay"], changed["rentQuarterDays"], changed["arrears"]) == (None, "english", "41654.79")
    assert refused(landlord, made, rentDueDay=1) == [("rentDueDay", "conflict")]
    assert refused(landlord, made, rentFrequency="monthly", rentQuarterDays="english") == [
        ("rentQuarterDays", "conflict")
    ]
    back = landlord.change(made, rentQuarterDays=None, rentDueDay=1)
    assert (back["rentDueDay"], back["rentQuarterDays"]) == (1, None)
    landlord.change(made, rentQuarterDays="scottish")
    monthly = landlord.change(made, rentFrequency="monthly")  # another frequency has none
    assert (monthly["rentFrequency"], monthly["rentDueDay"], monthly["rentQuarterDays"]) == ("monthly", 1, None)
    called_off = landlord.change(landlord.let(startDate="2027-01-01"), cancelled=True)
    with pytest.raises(Problem, match="invalid_state"):
        landlord.change(called_off, rentQuarterDays="english", rentFrequency="quarterly")


def test_an_assured_tenancy_of_before_has_them_until_its_rent_is_by_the_month(landlord: Landlord) -> None:
    """The quarter that 1 May lies in runs to Midsummer: 1,650.00 of 91 days is 551.57 a month (x 30.42 / 91)."""
    made = landlord.let(**{**LEASE, "type": "assured_shorthold", "startDate": "2025-12-25", "rentAmount": "1650.00"})
    assert (made["monthlySinceDate"], codes(made)) == ("2026-06-24", ["rent_period_ended"])
    assert (made["rentAmount"], made["rentFrequency"]) == ("551.57", "monthly")
    assert (made["rentDueDay"], made["rentQuarterDays"]) == (24, None)
    assert made["agreedRent"] == {
        "amount": "1650.00",
        "frequency": "quarterly",
        "dueDay": None,
        "quarterDays": "english",
    }
    assert ladder(landlord, made)[:4] == [
        ("2025-12-25", "1650.00"),
        ("2026-03-25", "1650.00"),
        ("2026-06-24", "551.57"),
        ("2026-07-24", "551.57"),
    ]


def test_the_rent_roll_has_a_third_of_a_quarter_in_each_month(store: MemoryStore) -> None:
    estate = Estate(store)
    house = estate.house()
    lease = {"type": "commercial_lease", "rentQuarterDays": "english"}
    made = estate.let(house, "12000.00", "quarterly", "2026-02-10", **lease)
    found = estate.dashboard()
    assert (found["monthlyRentRoll"], found["annualRentRoll"]) == ("4000.00", "48000.00")
    assert found["arrears"]["total"] == "41654.79"
    # a rent to come: that of today is looked up in the history
    estate.post("updateTenancy", id=made["id"], rent={"fromDate": "2026-12-25", "amount": "15000.00"})
    assert estate.dashboard()["monthlyRentRoll"] == "4000.00"
    later = estate.dashboard(f"businessId={estate.business_id}&asOfDate=2026-12-25")
    assert later["monthlyRentRoll"] == "5000.00"


def test_on_accruals_it_is_income_of_each_quarter_day(store: MemoryStore) -> None:
    company = Company(store)
    company.post("updateTenancy", id=company.tenancy, endedDate="2026-09-30")
    company.post(
        "createTenancy",
        propertyId=company.house,
        tenantIds=[company.tenant],
        **{
            **LEASE,
            "startDate": "2026-10-01",
        },
    )
    # September and October to November: 1,000.00, and the 85 days from 1 October to 24 December, 48,000 x 85 / 365
    assert income(company.account()) == {"periodAmount": "12178.08"}


def test_rents_of_closed_days_are_not_moved_to_other_quarter_days(store: MemoryStore) -> None:
    company = Company(store)
    shop = str(company.property(company.business_id)["id"])
    lease = {**LEASE, "startDate": "2026-06-24"}
    made = company.post("createTenancy", propertyId=shop, tenantIds=[company.tenant], **lease)
    company.store.write(
        lambda tx: period_locks.close(tx, company.owner, "2026-09-01", "2026-09-30") and None, company.org_id
    )
    for fields in ({"rentQuarterDays": "scottish"}, {"rentQuarterDays": None}, {"rentFrequency": "monthly"}):
        with pytest.raises(Problem) as caught:
            company.post("updateTenancy", id=made["id"], **fields)
        assert caught.value.code == "period_closed"
    later = company.post("updateTenancy", id=made["id"], rent={"fromDate": "2026-10-01", "amount": "13000.00"})
    assert later["rentAmount"] == "13000.00"


def test_a_payment_of_a_quarter_is_proposed_as_its_rent(store: MemoryStore) -> None:
    lets = RentBooks(store)
    values = {"rent_frequency": "quarterly", "rent_quarter_days": "english", "type": "commercial_lease"}
    let = lets.let(step("2026-06-24", "12000.00"), **values)
    lets.tenant(let, None, None, "Hart Bakery Ltd")
    lets.paid(let, "12000.00", date="2026-06-24")
    line = lets.line(lets.current, 12_000_00, description="HART BAKERY LTD", match_key="")
    ((found,), _) = lets.get("listProposals", f"bankTransactionId={line}")
    (rent,) = [one for one in found["proposals"] if one["kind"] == "rent"]
    assert rent["allocation"]["tenancyId"] == let
    assert "the amount is the rent due on 29 Sep 2026" in rent["reason"]


def test_lets_of_before_keep_their_due_day(landlord: Landlord) -> None:
    made = landlord.let(**{**LEASE, "rentQuarterDays": None, "rentDueDay": 25})
    after = Landlord.__new__(Landlord)
    after.__dict__ = {**landlord.__dict__, "store": migrated_from(landlord.store, "let_by_quarter_days", [])}
    [served] = after.walk("listTenancies", "")
    assert (served["rentDueDay"], served["rentQuarterDays"], served["arrears"]) == (25, None, made["arrears"])
    changed = after.change(made, rentQuarterDays="english")
    assert (changed["rentDueDay"], changed["arrears"]) == (None, "41654.79")
    after.store.close()
