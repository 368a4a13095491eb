"""Tenancies that are made: what follows from the property, and what is refused. Today is 20 November 2026."""

from typing import Any

import pytest

from gatewayd.areas.landlord.tenancies.rows import of_property
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.landlords import Landlord, codes
from tests.support.store import MemoryStore


def test_a_new_tenancy_is_answered_whole(landlord: Landlord) -> None:
    house, rosa, tom = landlord.house(), landlord.tenant(), landlord.tenant("Tom Hart")
    unit = landlord.unit(house)
    made = landlord.post(
        "createTenancy",
        propertyId=house,
        unitId=unit,
        tenantIds=[tom, rosa],
        startDate="2026-06-15",
        rentAmount="950",
        rentFrequency="monthly",
        billsIncluded=True,
        deposit={"amount": "1095.00", "scheme": "dps", "reference": "D-1", "protectedDate": "2026-06-20"},
        notes="Two cats",
        externalId="l-1",
    )
    assert made["id"].startswith("tcy_")
    assert (made["propertyId"], made["unitId"], made["tenantIds"]) == (house, unit, [tom, rosa])
    assert (made["type"], made["convertedFrom"], made["status"]) == ("assured_periodic", None, "active")
    assert (made["startDate"], made["endDate"]) == ("2026-06-15", None)
    assert (made["rentAmount"], made["rentFrequency"], made["rentDueDay"], made["currency"]) == (
        *("950.00", "monthly", 15, "GBP"),
    )
    assert made["rentHistory"] == [
        {"fromDate": "2026-06-15", "amount": "950.00", "notice": None, "frequency": "monthly"}
    ]
    assert made["deposit"] == {
        "amount": "1095.00",
        "scheme": "dps",
        "reference": "D-1",
        "receivedDate": None,
        "protectedDate": "2026-06-20",
        "returnedAmount": None,
        "returnedDate": None,
    }
    assert (made["billsIncluded"], made["notes"], made["warnings"]) == (True, "Two cats", [])
    # due on 15 June, July, August, September, October and November
    assert (made["arrears"], made["credit"]) == ("5700.00", "0.00")
    assert landlord.walk("listTenancies", "externalId=l-1") == [made]
    with pytest.raises(Problem) as caught:
        landlord.let(externalId="l-1")
    assert caught.value.code == "already_exists"


@pytest.mark.parametrize(
    ("values", "start", "type_"),
    [
        ({"jurisdiction": "england"}, "2026-04-30", "assured_shorthold"),
        ({"jurisdiction": "england"}, "2026-05-01", "assured_periodic"),
        ({"jurisdiction": "wales"}, "2026-04-30", "occupation_contract"),
        ({"jurisdiction": "scotland"}, "2026-05-01", "private_residential_tenancy"),
        ({"jurisdiction": "northern_ireland"}, "2026-05-01", "private_tenancy_ni"),
        ({"jurisdiction": "other"}, "2026-05-01", "other"),
        ({"use": "commercial_let"}, "2026-05-01", "commercial_lease"),
        ({"use": "rent_a_room"}, "2026-05-01", "lodger"),
        ({"use": "holiday_let"}, "2026-05-01", "other"),
    ],
)
def test_the_type_follows_from_the_property_and_the_start(
    landlord: Landlord, values: dict[str, str], start: str, type_: str
) -> None:
    made = landlord.let(landlord.house(**values), startDate=start)
    assert made["convertedFrom"] == ("assured_shorthold" if type_ == "assured_shorthold" else None)
    assert made["type"] == ("assured_periodic" if type_ == "assured_shorthold" else type_)


def test_a_let_to_companies_alone_is_a_company_let(landlord: Landlord) -> None:
    elm = landlord.tenant("Elm Ltd", kind="company")
    assert landlord.let(tenantIds=[elm])["type"] == "company_let"
    assert landlord.let(landlord.house(use="rent_a_room"), tenantIds=[elm])["type"] == "company_let"
    assert landlord.let(landlord.house(use="commercial_let"), tenantIds=[elm])["type"] == "commercial_lease"
    assert landlord.let(tenantIds=[elm, landlord.tenant()])["type"] == "assured_periodic"
    assert landlord.let(tenantIds=[elm], type="commercial_lease")["type"] == "commercial_lease"


@pytest.mark.parametrize(
    ("frequency", "day"),
    [("weekly", 4), ("fortnightly", 4), ("four_weekly", 4), ("monthly", 31), ("quarterly", 31), ("annually", 31)],
)
def test_rent_is_due_on_the_day_of_the_start(landlord: Landlord, frequency: str, day: int) -> None:
    """31 December 2026 is a Thursday."""
    made = landlord.let(type="other", startDate="2026-12-31", rentFrequency=frequency)
    assert (made["rentDueDay"], made["status"], made["rentAmount"]) == (day, "upcoming", "950.00")
    assert landlord.let(type="other", rentFrequency=frequency, rentDueDay=7)["rentDueDay"] == 7


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"type": "assured_shorthold", "startDate": "2026-05-01"}, ("type", "conflict")),
        ({"type": "private_residential_tenancy"}, ("type", "conflict")),
        ({"rentFrequency": "quarterly"}, ("rentFrequency", "conflict")),
        ({"rentFrequency": "annually", "type": "assured_periodic"}, ("rentFrequency", "conflict")),
        ({"rentFrequency": "four_weekly", "rentDueDay": 8}, ("rentDueDay", "out_of_range")),
        ({"rentAmount": "-1.00"}, ("rentAmount", "out_of_range")),
        ({"rentAmount": "1000000000.00"}, ("rentAmount", "out_of_range")),
        ({"rentAmount": "950.001"}, ("rentAmount", "invalid_decimal")),
        ({"endDate": "2026-05-31"}, ("endDate", "date_order")),
        ({"endDate": "2026-05-31", "type": "other"}, ("endDate", "date_order")),
        ({"startDate": "1899-12-31"}, ("startDate", "out_of_range")),
        ({"startDate": "2126-11-21"}, ("startDate", "out_of_range")),
        ({"depositScheme": "dps"}, ("depositAmount", "required")),
        ({"depositAmount": "1.001"}, ("depositAmount", "invalid_decimal")),
        ({"depositAmount": "9", "depositProtectedDate": "2026-06-01"}, ("depositScheme", "required")),
        ({"depositAmount": "1", "deposit": {"amount": "1"}}, ("depositAmount", "conflict")),
        ({"deposit": {"amount": "-1"}}, ("deposit.amount", "out_of_range")),
        ({"deposit": {"amount": "9", "protectedDate": "2026-06-01"}}, ("deposit.scheme", "required")),
        (
            {"deposit": {"amount": "9", "scheme": "none", "protectedDate": "2026-06-01"}},
            ("deposit.scheme", "required"),
        ),
        (
            {"deposit": {"amount": "9", "scheme": "tds", "protectedDate": "2026-11-21"}},
            ("deposit.protectedDate", "out_of_range"),
        ),
        (
            {"deposit": {"amount": "9", "returnedAmount": "9", "returnedDate": "2026-11-21"}},
            ("deposit.returnedDate", "out_of_range"),
        ),
        ({"deposit": {"amount": "9", "returnedAmount": "9"}}, ("deposit.returnedDate", "required")),
        ({"deposit": {"amount": "9", "returnedDate": "2026-11-20"}}, ("deposit.returnedAmount", "required")),
        (
            {"deposit": {"amount": "9", "returnedAmount": "9.01", "returnedDate": "2026-11-20"}},
            ("deposit.returnedAmount", "out_of_range"),
        ),
    ],
)
def test_terms_that_do_not_fit_are_refused(landlord: Landlord, fields: dict[str, Any], wrong: tuple[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        landlord.let(**fields)
    assert fields_of(caught.value) == [wrong]


def test_an_assured_tenancy_lies_in_england(landlord: Landlord) -> None:
    for type_ in ("assured_shorthold", "assured_periodic"):
        with pytest.raises(Problem) as caught:
            landlord.let(landlord.house(jurisdiction="wales"), startDate="2026-01-01", type=type_)
        assert fields_of(caught.value) == [("type", "conflict")]


def test_what_is_not_there_or_not_to_let_is_refused(landlord: Landlord, store: MemoryStore) -> None:
    theirs = Landlord(store)
    house, gone = landlord.house(), landlord.tenant()
    landlord.post("eraseTenant", id=gone)
    rosa = landlord.tenant()
    business = landlord.business(landlord.unregistered_entity(type="individual"))
    of_archived = landlord.house(business_id=business)
    landlord.archive_business(business)
    for property_id, fields, wrong in (
        ("prop_1", {}, [("propertyId", "unknown_reference")]),
        (theirs.house(), {}, [("propertyId", "unknown_reference")]),
        (landlord.house(status="sold"), {}, [("propertyId", "conflict")]),
        (landlord.house(status="archived"), {}, [("propertyId", "conflict")]),
        (of_archived, {}, [("propertyId", "conflict")]),
        (house, {"unitId": "unit_1"}, [("unitId", "unknown_reference")]),
        (house, {"unitId": theirs.unit(theirs.house())}, [("unitId", "unknown_reference")]),
        (house, {"unitId": landlord.unit(landlord.house())}, [("unitId", "conflict")]),
        (house, {"unitId": landlord.unit(house, archived=True)}, [("unitId", "conflict")]),
        (house, {"tenantIds": [rosa, rosa]}, [("tenantIds[1]", "conflict")]),
        (house, {"tenantIds": [rosa, theirs.tenant()]}, [("tenantIds[1]", "unknown_reference")]),
        (house, {"tenantIds": [gone]}, [("tenantIds[0]", "conflict")]),
    ):
        with pytest.raises(Problem) as caught:
            landlord.let(property_id, **fields)
        assert fields_of(caught.value) == wrong
    assert landlord.walk("listTenancies", "") == []


def test_the_deposit_may_be_given_by_its_parts(landlord: Landlord) -> None:
    made = landlord.let(
        depositAmount="1095", depositScheme="tds", depositReference="T-1", depositProtectedDate="2026-06-08"
    )
    assert made["deposit"] == {
        "amount": "1095.00",
        "scheme": "tds",
        "reference": "T-1",
        "receivedDate": None,
        "protectedDate": "2026-06-08",
        "returnedAmount": None,
        "returnedDate": None,
    }
    assert landlord.let()["deposit"] is None


def test_what_a_century_comes_to_is_an_amount(landlord: Landlord) -> None:
    """From 1 January 1900, a Monday, to 20 November 2026 there are 6,621 Mondays."""
    terms = {"startDate": "1900-01-01", "endDate": "9999-12-31", "rentAmount": "999999999.99"}
    made = landlord.let(type="other", rentFrequency="weekly", **terms)
    assert made["arrears"] == "6620999999933.79"


def test_amounts_are_of_the_propertys_currency(landlord: Landlord) -> None:
    made = landlord.let(landlord.house(currency="JPY", jurisdiction="other"), rentAmount="120000", depositAmount="5")
    assert (made["currency"], made["rentAmount"], made["deposit"]["amount"]) == ("JPY", "120000", "5")
    with pytest.raises(Problem) as caught:
        landlord.let(landlord.house(currency="JPY", jurisdiction="other"), rentAmount="120000.50")
    assert fields_of(caught.value) == [("rentAmount", "invalid_decimal")]


# -- the change of the law on 1 May 2026


@pytest.mark.parametrize(
    ("fields", "end", "status"),
    [
        # a new one of England has no fixed term
        ({"startDate": "2026-06-01", "endDate": "2027-05-31"}, None, "active"),
        # nor has one that was entered as periodic and reaches the day
        ({"startDate": "2026-01-01", "type": "assured_periodic", "endDate": "2026-05-01"}, None, "active"),
        # what was agreed before fell away with the day, and says so
        ({"startDate": "2025-08-01", "endDate": "2026-07-31"}, None, "active"),
        ({"startDate": "2025-05-02", "endDate": "2026-05-01"}, None, "active"),
    ],
)
def test_a_fixed_term_is_taken_with_a_warning_and_does_not_count(
    landlord: Landlord, fields: dict[str, str], end: str | None, status: str
) -> None:
    made = landlord.let(**fields)
    assert (made["endDate"], made["status"], codes(made)) == (end, status, ["fixed_term_not_allowed"])
    assert made["type"] == "assured_periodic"


@pytest.mark.parametrize("type_", ["company_let", "lodger", "other"])
def test_what_no_law_continues_ends_with_its_term(landlord: Landlord, type_: str) -> None:
    made = landlord.let(startDate="2026-06-01", endDate="2026-10-31", type=type_)
    assert (made["endDate"], made["termEndDate"], made["endedDate"]) == ("2026-10-31", "2026-10-31", None)
    assert (made["status"], made["warnings"], made["convertedFrom"]) == ("ended", [], None)


@pytest.mark.parametrize("type_", ["assured_shorthold", "assured_periodic"])
def test_a_let_of_the_past_is_entered_with_its_end(landlord: Landlord, type_: str) -> None:
    house = landlord.house()
    fields = {"startDate": "2024-05-01", "endDate": "2025-04-30", "type": type_}
    made = landlord.let(house, **fields, endedDate="2025-06-14")
    assert (made["endDate"], made["termEndDate"], made["endedDate"]) == ("2025-06-14", "2025-04-30", "2025-06-14")
    assert (made["status"], made["warnings"], made["convertedFrom"]) == ("ended", [], None)
    with pytest.raises(Problem) as caught:
        landlord.let(house, startDate="2025-06-14", endedDate="2025-06-13")
    assert fields_of(caught.value) == [("endedDate", "date_order")]
    # without it nobody knows whether they left, and the next one of the house is not let in silence
    there = landlord.let(house, startDate="2025-06-15", endDate="2026-04-30")
    with pytest.raises(Problem) as caught:
        landlord.let(house, startDate="2026-05-01")
    assert (caught.value.code, caught.value.extra) == ("overlapping_tenancy", {"existingId": there["id"]})
    assert "goes on past its term (2026-04-30) until `endedDate` is given" in caught.value.message
    landlord.change(there, endedDate="2026-04-30")
    landlord.let(house, startDate="2026-05-01")


def test_a_shorthold_that_was_entered_in_time_becomes_periodic_by_itself(landlord: Landlord) -> None:
    landlord.at("2025-09-01")
    made = landlord.let(startDate="2025-08-01", endDate="2026-07-31")
    assert codes(made) == ["fixed_term_not_allowed"]
    seen = []
    for day in ("2025-09-01", "2026-04-30", "2026-05-01", "2026-07-31", "2026-08-01"):
        landlord.at(day)
        [served] = landlord.walk("listTenancies", "")
        assert (served["endDate"], served["termEndDate"]) == (None, "2026-07-31")
        seen.append((served["type"], served["convertedFrom"], served["status"], served["version"], codes(served)))
    before = ("assured_shorthold", None, "active", 1, [])
    after = ("assured_periodic", "assured_shorthold", "active", 1, [])
    assert seen == [before, before, after, after, after]


# -- overlapping


@pytest.mark.parametrize(
    ("start", "end", "passes"),
    [
        ("2026-01-01", "2026-03-31", True),
        ("2026-01-01", "2026-04-01", False),
        ("2026-06-30", None, False),
        ("2026-07-01", None, True),
        ("2026-01-01", None, False),
        ("2026-05-01", "2026-05-31", False),
    ],
)
def test_a_unit_is_let_once_a_day(landlord: Landlord, start: str, end: str | None, passes: bool) -> None:
    """What is there goes from 1 April to 30 June."""
    house = landlord.house()
    there = landlord.let(house, type="other", startDate="2026-04-01", endDate="2026-06-30")
    fields = {"type": "other", "startDate": start, "endDate": end}
    if passes:
        assert landlord.let(house, **fields)["endDate"] == end
        return
    with pytest.raises(Problem) as caught:
        landlord.let(house, **fields)
    assert (caught.value.code, caught.value.status) == ("overlapping_tenancy", 409)
    assert caught.value.extra == {"existingId": there["id"]}
    landlord.let(**fields)  # another house


def test_the_whole_property_has_all_of_its_units(landlord: Landlord) -> None:
    house = landlord.house()
    one, two = landlord.unit(house), landlord.unit(house)
    landlord.let(house, unitId=one)
    landlord.let(house, unitId=two)
    for unit in (None, one, two):
        with pytest.raises(Problem) as caught:
            landlord.let(house, unitId=unit)
        assert caught.value.code == "overlapping_tenancy"
    other = landlord.house()
    landlord.let(other)
    with pytest.raises(Problem) as caught:
        landlord.let(other, unitId=landlord.unit(other))
    assert caught.value.code == "overlapping_tenancy"


def test_an_end_that_the_law_undid_makes_no_room(landlord: Landlord) -> None:
    house = landlord.house()
    there = landlord.let(house, startDate="2025-08-01", endDate="2026-07-31")
    with pytest.raises(Problem) as caught:
        landlord.let(house, startDate="2026-08-01")
    assert caught.value.code == "overlapping_tenancy"
    landlord.change(there, endDate="2026-07-31")
    landlord.let(house, startDate="2026-08-01")


def test_what_was_called_off_is_not_in_the_way(landlord: Landlord) -> None:
    house = landlord.house()
    there = landlord.let(house, startDate="2026-12-01")
    landlord.change(there, cancelled=True)
    landlord.let(house, startDate="2026-12-01")


# -- deposits


@pytest.mark.parametrize(
    ("day", "fields", "warned"),
    [
        ("2026-07-01", {}, []),
        ("2026-07-02", {}, ["deposit_unprotected"]),
        ("2026-07-02", {"scheme": "dps"}, ["deposit_unprotected"]),
        ("2026-07-02", {"scheme": "none"}, ["deposit_unprotected"]),
        ("2026-07-02", {"scheme": "dps", "protectedDate": "2026-07-01"}, []),
        ("2026-07-02", {"scheme": "dps", "protectedDate": "2026-07-02"}, ["deposit_protected_late"]),
        ("2026-07-02", {"returnedAmount": "900.00", "returnedDate": "2026-07-02"}, []),
    ],
)
def test_a_deposit_belongs_into_a_scheme_within_thirty_days(
    landlord: Landlord, day: str, fields: dict[str, str], warned: list[str]
) -> None:
    """The tenancy begins on 1 June: 1 July is thirty days later."""
    landlord.at(day)
    landlord.let(deposit={"amount": "900.00", **fields})
    assert [codes(one) for one in landlord.walk("listTenancies", "")] == [warned]


def test_only_deposits_of_homes_belong_into_a_scheme(landlord: Landlord) -> None:
    deposit = {"amount": "900.00"}
    assert landlord.let(landlord.house(jurisdiction="scotland"), deposit=deposit)["warnings"] != []
    for type_ in ("lodger", "company_let", "commercial_lease", "regulated", "other"):
        assert landlord.let(type=type_, deposit=deposit)["warnings"] == []
    assert landlord.let(deposit={"amount": "0"})["warnings"] == []


@pytest.mark.parametrize(
    ("rent", "frequency", "most", "above"),
    [
        ("950.00", "monthly", "1096.15", "1096.16"),  # 11,400 x 5 / 52 = 1,096.1538
        ("220.00", "weekly", "1100.00", "1100.01"),
        ("440.00", "fortnightly", "1100.00", "1100.01"),
        ("880.00", "four_weekly", "1100.00", "1100.01"),
        ("4166.66", "monthly", "4807.68", "4807.69"),  # 49,999.92 a year: 5 weeks are 4,807.6846
        ("4166.67", "monthly", "5769.23", "5769.24"),  # 50,000.04 a year: 6 weeks are 5,769.2354
    ],
)
def test_a_deposit_is_five_weeks_of_rent_at_most_and_six_from_fifty_thousand_a_year(
    landlord: Landlord, rent: str, frequency: str, most: str, above: str
) -> None:
    terms = {"rentAmount": rent, "rentFrequency": frequency, "startDate": "2026-11-01"}
    assert landlord.let(**terms, depositAmount=most)["warnings"] == []
    [warning] = landlord.let(**terms, depositAmount=above)["warnings"]
    assert warning["code"] == "deposit_cap"
    assert most in warning["message"]


def test_the_cap_is_of_assured_tenancies_since_june_2019(landlord: Landlord) -> None:
    deposit = {"amount": "5000.00", "scheme": "tds", "protectedDate": "2019-06-10"}
    assert codes(landlord.let(startDate="2019-05-31", deposit=deposit)) == []
    assert codes(landlord.let(startDate="2019-06-01", deposit=deposit)) == ["deposit_cap"]
    assert codes(landlord.let(landlord.house(jurisdiction="wales"), deposit=deposit)) == []


def test_a_property_has_its_tenancies_the_latest_first(landlord: Landlord) -> None:
    house = landlord.house()
    second = landlord.let(house, startDate="2026-06-01")
    first = landlord.let(house, startDate="2025-06-01", endedDate="2026-04-30")
    landlord.let()
    found = landlord.store.read(lambda tx: of_property(tx, house), landlord.org_id)
    assert [one.id for one in found] == [second["id"], first["id"]]
    assert found[1].status == "ended"
