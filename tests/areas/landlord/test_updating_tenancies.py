"""Tenancies that change: ends, notices, rents, deposits, corrections, and what is refused. It is 20 November 2026."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.landlords import Landlord, codes
from tests.support.store import MemoryStore


def refused(landlord: Landlord, tenancy: Json, /, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        landlord.change(tenancy, **fields)
    return fields_of(caught.value)


def end_of(tenancy: Json) -> tuple[str | None, str]:
    return tenancy["endDate"], tenancy["status"]


def states_on(landlord: Landlord, *days: str) -> list[str]:
    """The state of the only tenancy on each of these days."""
    found = []
    for day in days:
        landlord.at(day)
        [one] = landlord.walk("listTenancies", "")
        found.append(one["status"])
    return found


# -- ends and notices


def test_a_notice_ends_the_tenancy_on_the_day_it_expires(landlord: Landlord) -> None:
    tenancy = landlord.let()
    changed = landlord.change(
        tenancy, noticeServedDate="2026-11-25", noticeBy="tenant", noticeExpiryDate="2027-01-31", expectedVersion=1
    )
    assert (end_of(changed), changed["noticeBy"], changed["version"]) == (("2027-01-31", "active"), "tenant", 2)
    days = ("2026-11-24", "2026-11-25", "2027-01-31", "2027-02-01")
    assert states_on(landlord, *days) == ["active", "notice", "notice", "ended"]


def test_an_end_beside_a_notice_goes_before_it(landlord: Landlord) -> None:
    notice = {"noticeServedDate": "2026-11-01", "noticeBy": "tenant", "noticeExpiryDate": "2026-12-31"}
    early, late = (landlord.change(landlord.let(), **notice, endDate=end) for end in ("2026-12-10", "2027-01-15"))
    assert (end_of(early), end_of(late)) == (("2026-12-10", "notice"), ("2027-01-15", "notice"))
    # another day of expiry, without an end: the tenancy ends with it
    assert end_of(landlord.change(early, noticeExpiryDate="2027-02-28")) == ("2027-02-28", "notice")
    # the same day again says nothing new
    assert end_of(landlord.change(late, noticeExpiryDate="2026-12-31", notes="Moves to Leeds"))[0] == "2027-01-15"
    assert end_of(landlord.change(late, endDate=None))[0] == "2026-12-31"


def test_a_notice_is_taken_back_whole(landlord: Landlord) -> None:
    tenancy = landlord.let(type="other", endDate="2027-05-31")
    notice = {"noticeServedDate": "2026-11-01", "noticeBy": "landlord", "noticeExpiryDate": "2026-12-31"}
    assert end_of(landlord.change(tenancy, **notice)) == ("2026-12-31", "notice")
    back = landlord.change(tenancy, noticeServedDate=None)
    assert [back[name] for name in notice] == [None, None, None]
    assert end_of(back) == ("2027-05-31", "active")  # the term that was agreed


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"noticeServedDate": "2026-11-01"}, ("noticeExpiryDate", "required")),
        ({"noticeExpiryDate": "2026-12-31"}, ("noticeServedDate", "required")),
        ({"noticeBy": "tenant"}, ("noticeServedDate", "required")),
        ({"noticeServedDate": "2026-11-02", "noticeExpiryDate": "2026-11-01"}, ("noticeExpiryDate", "date_order")),
        ({"noticeServedDate": "2026-05-02", "noticeExpiryDate": "2026-05-31"}, ("noticeExpiryDate", "date_order")),
        ({"noticeServedDate": None, "noticeExpiryDate": "2026-12-31"}, ("noticeServedDate", "required")),
        ({"endDate": "2026-05-31"}, ("endDate", "date_order")),
    ],
)
def test_ends_and_notices_that_do_not_fit_are_refused(
    landlord: Landlord, fields: dict[str, Any], wrong: tuple[str, str]
) -> None:
    assert refused(landlord, landlord.let(), **fields) == [wrong]


def test_a_tenancy_ends_when_it_is_said_to(landlord: Landlord) -> None:
    tenancy = landlord.let()
    changed = landlord.change(tenancy, endDate="2026-11-20")
    assert (end_of(changed), changed["warnings"]) == (("2026-11-20", "active"), [])
    assert end_of(landlord.change(tenancy, endDate="2026-11-19")) == ("2026-11-19", "ended")
    assert end_of(landlord.change(tenancy, endDate=None)) == (None, "active")
    contract = landlord.let(type="company_let", endDate="2026-10-31")
    assert end_of(contract) == ("2026-10-31", "ended")
    assert end_of(landlord.change(contract, endDate=None)) == (None, "active")  # it goes on, whatever was agreed


def test_a_term_that_is_over_is_told_until_somebody_says_what_became_of_it(landlord: Landlord) -> None:
    """Renting Homes (Wales) Act 2016 s184(2): a periodic standard contract follows the fixed term."""
    contract = landlord.let(landlord.house(jurisdiction="wales"), endDate="2026-11-20")
    assert (end_of(contract), contract["warnings"]) == ((None, "active"), [])  # its last day
    landlord.at("2026-11-21")
    [served] = landlord.walk("listTenancies", "")
    assert (end_of(served), codes(served), served["termEndDate"]) == ((None, "active"), ["term_over"], "2026-11-20")
    assert codes(landlord.change(contract, notes="Nobody said anything")) == ["term_over"]
    left = landlord.change(contract, endedDate="2026-11-20")
    assert (end_of(left), left["warnings"], left["endedDate"]) == (("2026-11-20", "ended"), [], "2026-11-20")
    back = landlord.change(contract, endedDate=None)  # it was another flat
    assert (end_of(back), codes(back)) == ((None, "active"), ["term_over"])
    renewed = landlord.change(contract, termEndDate="2027-11-20")
    assert (end_of(renewed), renewed["warnings"], renewed["termEndDate"]) == ((None, "active"), [], "2027-11-20")
    stays = landlord.change(contract, termEndDate=None)
    assert (end_of(stays), stays["warnings"], stays["termEndDate"]) == ((None, "active"), [], None)
    assert refused(landlord, contract, endedDate="2027-01-31", endDate="2027-01-31") == [("endDate", "conflict")]
    wrong = {"endedDate": "2026-05-31", "termEndDate": "2026-05-30"}
    assert refused(landlord, contract, **wrong) == [("endedDate", "date_order"), ("termEndDate", "date_order")]


def test_an_end_after_the_change_of_the_law_holds_and_one_before_was_a_term(landlord: Landlord) -> None:
    landlord.at("2026-04-30")
    tenancy = landlord.let(startDate="2025-08-01", endDate="2026-04-30")
    renewed = landlord.change(tenancy, endDate="2026-10-31")
    assert (end_of(renewed), codes(renewed)) == ((None, "active"), ["fixed_term_not_allowed"])
    assert renewed["termEndDate"] == "2026-10-31"
    assert states_on(landlord, "2026-05-01", "2026-11-01") == ["active", "active"]
    [served] = landlord.walk("listTenancies", "")
    assert (served["endDate"], served["convertedFrom"]) == (None, "assured_shorthold")
    left = landlord.change(tenancy, endDate="2026-10-15")
    assert (end_of(left), left["convertedFrom"], left["warnings"]) == (("2026-10-15", "ended"), "assured_shorthold", [])


def test_an_end_by_notice_from_before_the_change_of_the_law_holds(landlord: Landlord) -> None:
    landlord.at("2026-04-01")
    notice = {"noticeServedDate": "2026-03-20", "noticeBy": "landlord", "noticeExpiryDate": "2026-06-01"}
    tenancy = landlord.let(startDate="2025-08-01", endDate="2026-07-31")
    assert end_of(landlord.change(tenancy, **notice)) == (None, "notice")  # they left on no day that is known
    landlord.change(tenancy, endDate="2026-06-10")  # agreed, with the notice standing
    assert states_on(landlord, "2026-06-10", "2026-06-11") == ["notice", "ended"]
    assert end_of(landlord.walk("listTenancies", "")[0])[0] == "2026-06-10"


def test_a_longer_tenancy_may_be_in_the_way_of_the_next(landlord: Landlord) -> None:
    house = landlord.house()
    first = landlord.let(house, type="other", endDate="2026-10-31")
    second = landlord.let(house, startDate="2026-11-01")
    with pytest.raises(Problem) as caught:
        landlord.change(first, endDate="2026-11-01")
    assert (caught.value.code, caught.value.extra["existingId"]) == ("overlapping_tenancy", second["id"])
    landlord.change(first, endDate="2026-10-30")


# -- calling off


def test_only_what_has_not_begun_is_called_off(landlord: Landlord) -> None:
    tenancy = landlord.let(startDate="2026-11-21", deposit={"amount": "900.00"})
    off = landlord.change(tenancy, cancelled=True)
    assert (off["status"], off["arrears"], off["warnings"]) == ("cancelled", "0.00", [])
    assert landlord.change(tenancy, cancelled=True)["status"] == "cancelled"
    returned = {"amount": "900.00", "returnedAmount": "900.00", "returnedDate": "2026-11-20"}
    assert landlord.change(tenancy, deposit=returned, notes="Fell ill")["deposit"]["returnedAmount"] == "900.00"
    for fields in ({"endDate": "2027-01-31"}, {"startDate": "2026-12-01"}, {"billsIncluded": True}):
        with pytest.raises(Problem) as caught:
            landlord.change(tenancy, **fields)
        assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", "cancelled")
    assert states_on(landlord, "2026-11-21", "2027-06-01") == ["cancelled", "cancelled"]


def test_what_has_begun_is_not_called_off(landlord: Landlord) -> None:
    tenancy = landlord.let(startDate="2026-11-20")
    with pytest.raises(Problem) as caught:
        landlord.change(tenancy, cancelled=True)
    assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", "active")


# -- rents


def test_rents_go_in_order_of_their_days(landlord: Landlord) -> None:
    tenancy = landlord.let(type="other", startDate="2025-01-01")
    notice = {"form": "Form 4A", "servedDate": "2026-09-01", "effectiveDate": "2027-01-01"}
    landlord.change(tenancy, rent={"fromDate": "2027-01-01", "amount": "1020", "notice": notice})
    changed = landlord.change(tenancy, rent={"fromDate": "2026-01-01", "amount": "980.00"})
    assert [(one["fromDate"], one["amount"]) for one in changed["rentHistory"]] == [
        ("2025-01-01", "950.00"),
        ("2026-01-01", "980.00"),
        ("2027-01-01", "1020.00"),
    ]
    assert (changed["rentAmount"], changed["rentHistory"][2]["notice"]) == ("980.00", notice)
    # one of a day that has one takes its place
    again = landlord.change(tenancy, rent={"fromDate": "2026-01-01", "amount": "990.00"})
    assert [one["amount"] for one in again["rentHistory"]] == ["950.00", "990.00", "1020.00"]
    first = landlord.change(tenancy, rent={"fromDate": "2025-01-01", "amount": "940.00"})
    assert [one["amount"] for one in first["rentHistory"]] == ["940.00", "990.00", "1020.00"]
    assert first["warnings"] == []
    landlord.at("2027-01-01")
    assert landlord.walk("listTenancies", "")[0]["rentAmount"] == "1020.00"


@pytest.mark.parametrize(
    ("rent", "wrong"),
    [
        ({"fromDate": "2026-05-31", "amount": "1"}, ("rent.fromDate", "date_order")),
        ({"fromDate": "2027-06-01", "amount": "1"}, ("rent.fromDate", "date_order")),
        ({"fromDate": "2026-12-01", "amount": "-1"}, ("rent.amount", "out_of_range")),
        ({"fromDate": "2026-12-01", "amount": "1.001"}, ("rent.amount", "invalid_decimal")),
        (
            {"fromDate": "2026-12-01", "amount": "1", "notice": {"servedDate": "9999-12-31"}},
            ("rent.notice.servedDate", "out_of_range"),
        ),
        (
            {"fromDate": "2026-12-01", "amount": "1", "notice": {"effectiveDate": "9999-12-31"}},
            ("rent.notice.effectiveDate", "out_of_range"),
        ),
    ],
)
def test_a_rent_that_does_not_fit_is_refused(landlord: Landlord, rent: Json, wrong: tuple[str, str]) -> None:
    """The tenancy goes from 1 June 2026 to 31 May 2027."""
    assert refused(landlord, landlord.let(type="other", endDate="2027-05-31"), rent=rent) == [wrong]


def test_a_tenancy_has_so_many_rents(landlord: Landlord) -> None:
    tenancy = landlord.let(type="other", startDate="2026-01-01")
    days = [f"{year}-{month:02}-01" for year in range(2026, 2043) for month in range(1, 13)]
    for day in days[1:200]:
        landlord.change(tenancy, rent={"fromDate": day, "amount": "1.00"})
    with pytest.raises(Problem) as caught:
        landlord.change(tenancy, rent={"fromDate": days[200], "amount": "1.00"})
    assert (caught.value.code, caught.value.extra) == ("limit_reached", {"limit": 200})
    changed = landlord.change(tenancy, rent={"fromDate": days[199], "amount": "2.00"})
    assert (len(changed["rentHistory"]), changed["rentHistory"][-1]["amount"]) == (200, "2.00")


RISE = {"fromDate": "2027-06-01", "amount": "1000.00"}
SERVED = {"form": "Form 4A", "servedDate": "2027-03-31", "effectiveDate": "2027-06-01"}


@pytest.mark.parametrize(
    ("rent", "warned"),
    [
        ({**RISE, "notice": SERVED}, []),
        ({**RISE, "notice": {**SERVED, "servedDate": "2027-04-01"}}, []),
        ({**RISE, "notice": {**SERVED, "servedDate": "2027-04-02"}}, ["rent_notice_too_short"]),
        ({**RISE, "notice": {**SERVED, "form": "Form 4"}}, ["rent_notice_form"]),
        (RISE, ["rent_notice_missing"]),
        ({**RISE, "amount": "900.00"}, []),  # rent that goes down needs no notice
        ({**RISE, "notice": {**SERVED, "effectiveDate": "2027-07-01"}}, ["rent_before_notice"]),
        ({**RISE, "fromDate": "2027-06-10", "notice": SERVED}, ["rent_within_period"]),
        (
            {"fromDate": "2027-05-01", "amount": "1000.00", "notice": {**SERVED, "servedDate": "2027-01-01"}},
            ["rent_before_notice", "rent_raised_too_often"],
        ),
    ],
)
def test_a_rise_that_section_13_would_not_let_stand_is_taken_with_warnings(
    landlord: Landlord, rent: Json, warned: list[str]
) -> None:
    changed = landlord.change(landlord.let(), rent=rent)
    assert codes(changed) == warned
    assert changed["rentHistory"][1]["amount"] == rent["amount"]
    assert [codes(one) for one in landlord.walk("listTenancies", "")] == [warned]


def test_rent_rises_once_a_year(landlord: Landlord) -> None:
    tenancy = landlord.let(startDate="2025-01-01")  # a shorthold, periodic since May
    first = {"form": "Form 4A", "servedDate": "2026-05-15"}
    assert codes(landlord.change(tenancy, rent={"fromDate": "2026-08-01", "amount": "1000.00", "notice": first})) == []
    again = {"fromDate": "2027-07-01", "amount": "1050.00", "notice": {"form": "Form 4A", "servedDate": "2027-03-01"}}
    assert codes(landlord.change(tenancy, rent=again)) == ["rent_raised_too_often"]
    # of the rent in force and the next one, and of one that is entered
    third = {"fromDate": "2028-08-01", "amount": "1100.00"}
    assert codes(landlord.change(tenancy, rent=third)) == ["rent_notice_missing", "rent_raised_too_often"]
    assert [codes(one) for one in landlord.walk("listTenancies", "")] == [["rent_raised_too_often"]]
    landlord.at("2027-07-01")
    assert codes(landlord.walk("listTenancies", "")[0]) == ["rent_raised_too_often", "rent_notice_missing"]
    landlord.at("2028-08-01")
    assert codes(landlord.walk("listTenancies", "")[0]) == ["rent_notice_missing"]
    landlord.at("2027-07-02")
    # rents that were in force before today's are past
    landlord.change(tenancy, rent={"fromDate": "2028-08-01", "amount": "1000.00"})
    landlord.change(tenancy, rent={"fromDate": "2027-08-01", "amount": "1000.00"})
    landlord.at("2027-08-01")
    assert [codes(one) for one in landlord.walk("listTenancies", "")] == [[]]


@pytest.mark.parametrize("type_", ["company_let", "lodger", "other"])
def test_section_13_is_of_assured_tenancies_alone(landlord: Landlord, type_: str) -> None:
    assert landlord.change(landlord.let(type=type_), rent=RISE)["warnings"] == []


# -- deposits and corrections


def test_a_deposit_is_given_whole(landlord: Landlord) -> None:
    tenancy = landlord.let(deposit={"amount": "900.00", "scheme": "dps", "reference": "D-1"})
    assert codes(tenancy) == ["deposit_unprotected"]
    changed = landlord.change(tenancy, deposit={"amount": "900.00", "scheme": "dps", "protectedDate": "2026-06-10"})
    assert (changed["deposit"]["reference"], changed["warnings"]) == (None, [])
    assert landlord.change(tenancy, notes="Quiet")["deposit"] == changed["deposit"]
    assert refused(landlord, tenancy, deposit={"amount": "9", "returnedDate": "2026-11-20"}) == [
        ("deposit.returnedAmount", "required")
    ]
    assert landlord.change(tenancy, deposit=None)["deposit"] is None


def test_what_was_entered_wrongly_is_corrected(landlord: Landlord) -> None:
    rosa, tom = landlord.tenant(), landlord.tenant("Tom Hart")
    tenancy = landlord.let(tenantIds=[rosa], billsIncluded=True, notes="x")
    changed = landlord.change(
        tenancy,
        tenantIds=[tom, rosa],
        startDate="2026-06-15",
        rentFrequency="weekly",
        billsIncluded=False,
        notes=None,
        externalId="l-1",
    )
    assert (changed["tenantIds"], changed["startDate"], changed["billsIncluded"]) == ([tom, rosa], "2026-06-15", False)
    assert changed["rentHistory"] == [
        {"fromDate": "2026-06-15", "amount": "950.00", "notice": None, "frequency": "weekly"}
    ]
    assert (changed["rentFrequency"], changed["rentDueDay"]) == ("weekly", 1)  # 15 June 2026 is a Monday
    assert (changed["notes"], changed["externalId"]) == (None, "l-1")
    assert [one["id"] for one in landlord.walk("listTenancies", f"tenantId={tom}")] == [tenancy["id"]]
    alone = landlord.change(tenancy, tenantIds=[tom], tenantsFromDate="2026-06-15")
    assert alone["tenantIds"] == [tom]
    assert landlord.walk("listTenancies", f"tenantId={rosa}") == []
    assert landlord.change(tenancy, rentFrequency="four_weekly", rentDueDay=5)["rentDueDay"] == 5
    monthly = landlord.change(tenancy, rentFrequency="monthly")
    assert monthly["rentDueDay"] == 15


def test_a_correction_keeps_to_the_rules(landlord: Landlord, store: MemoryStore) -> None:
    house = landlord.house()
    tenancy = landlord.let(house)
    gone = landlord.tenant()
    landlord.post("eraseTenant", id=gone)
    assert refused(landlord, tenancy, tenantIds=[gone]) == [("tenantIds[0]", "conflict")]
    assert refused(landlord, tenancy, tenantIds=[Landlord(store).tenant()]) == [("tenantIds[0]", "unknown_reference")]
    assert refused(landlord, tenancy, type="assured_shorthold") == [("type", "conflict")]
    assert refused(landlord, tenancy, type="occupation_contract") == [("type", "conflict")]
    assert refused(landlord, tenancy, rentFrequency="quarterly") == [("rentFrequency", "conflict")]
    assert refused(landlord, tenancy, rentFrequency="weekly", rentDueDay=8) == [("rentDueDay", "out_of_range")]
    landlord.change(tenancy, rent={"fromDate": "2026-10-01", "amount": "900.00"})
    assert refused(landlord, tenancy, startDate="2026-10-01") == [("startDate", "date_order")]
    before = landlord.change(tenancy, startDate="2026-04-30", type="assured_shorthold")
    assert (before["type"], before["convertedFrom"]) == ("assured_periodic", "assured_shorthold")
    assert before["rentHistory"][0]["fromDate"] == "2026-04-30"
    landlord.let(house, startDate="2026-01-01", endedDate="2026-04-29")
    with pytest.raises(Problem) as caught:
        landlord.change(tenancy, startDate="2026-04-29")
    assert caught.value.code == "overlapping_tenancy"


def test_a_let_that_turns_out_to_be_assured_loses_its_term(landlord: Landlord) -> None:
    tenancy = landlord.let(type="company_let", endDate="2027-05-31")
    changed = landlord.change(tenancy, type="assured_periodic")
    assert (changed["endDate"], codes(changed)) == (None, ["fixed_term_not_allowed"])
    assert landlord.change(tenancy, notes="x")["warnings"] == []
    landlord.at("2027-06-01")
    assert landlord.walk("listTenancies", "")[0]["status"] == "active"


def test_a_change_that_nobody_may_make_is_refused(landlord: Landlord, store: MemoryStore) -> None:
    tenancy, other = landlord.let(externalId="l-1"), landlord.let()
    for given, fields, code in (
        (tenancy, {"expectedVersion": 2}, "version_conflict"),
        (other, {"externalId": "l-1"}, "already_exists"),
        ({"id": "tcy_1"}, {}, "not_found"),
        (Landlord(store).let(), {"notes": "x"}, "not_found"),
    ):
        with pytest.raises(Problem) as caught:
            landlord.change(given, **fields)
        assert caught.value.code == code


# -- the law of the property


def test_a_property_goes_under_no_law_that_its_tenancies_are_not_of(landlord: Landlord) -> None:
    house = landlord.house()
    tenancy, ended = landlord.let(house), landlord.let(house, startDate="2024-01-01", endedDate="2025-12-31")
    assert (tenancy["type"], end_of(ended)[1]) == ("assured_periodic", "ended")
    with pytest.raises(Problem) as caught:
        landlord.post("updateProperty", id=house, jurisdiction="scotland")
    assert fields_of(caught.value) == [("jurisdiction", "conflict")]
    assert tenancy["id"] in caught.value.errors[0].message
    landlord.change(tenancy, type="other")
    landlord.post("updateProperty", id=house, jurisdiction="scotland")
    assert landlord.change(tenancy, type="private_residential_tenancy")["type"] == "private_residential_tenancy"
