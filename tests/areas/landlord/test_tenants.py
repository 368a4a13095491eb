"""Tenants: what is made, changed, found and erased, and what is refused."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import ADDRESS, Json, fields_of
from tests.areas.landlord.landlords import Landlord
from tests.support.store import MemoryStore, make_caller


def ids(items: list[Json]) -> set[str]:
    return {item["id"] for item in items}


def listed(landlord: Landlord, query: str = "") -> set[str]:
    return ids(landlord.walk("listTenants", query))


def test_a_new_tenant_is_answered_whole(landlord: Landlord) -> None:
    made = landlord.post(
        "createTenant",
        kind="person",
        firstName="Rosa",
        lastName="Hart",
        email="rosa@example.com",
        phone="07700 900123",
        correspondenceAddress=ADDRESS,
        rightToRent={"status": "time_limited", "checkedDate": "2026-09-18", "expiryDate": "2027-09-18"},
        guarantor={"name": "Tom Hart", "email": "tom@example.com"},
        notes="Has a cat",
        externalId="t-1",
    )
    assert made["id"].startswith("tnt_")
    assert (made["name"], made["firstName"], made["lastName"]) == ("Rosa Hart", "Rosa", "Hart")
    assert made["rightToRent"] == {"status": "time_limited", "checkedDate": "2026-09-18", "expiryDate": "2027-09-18"}
    assert made["guarantor"] == {"name": "Tom Hart", "email": "tom@example.com", "phone": None}
    assert made["correspondenceAddress"]["town"] == "Bristol"
    assert (made["status"], made["anonymisedAt"], made["version"]) == ("prospective", None, 1)
    [found] = landlord.walk("listTenants", "externalId=t-1")
    assert found == made
    with pytest.raises(Problem) as caught:
        landlord.tenant(externalId="t-1")
    assert caught.value.code == "already_exists"


@pytest.mark.parametrize(
    ("kind", "name", "parts"),
    [
        ("person", "Rosa Hart", ("Rosa", "Hart", None)),
        ("person", "Ana Maria  de Souza", ("Ana Maria de", "Souza", None)),
        ("person", "Björk", (None, "Björk", None)),
        ("company", "Elm Homes Ltd", (None, None, "Elm Homes Ltd")),
    ],
)
def test_a_whole_name_gives_its_parts(
    landlord: Landlord, kind: str, name: str, parts: tuple[str | None, str | None, str | None]
) -> None:
    made = landlord.post("createTenant", kind=kind, name=name)
    assert (made["firstName"], made["lastName"], made["companyName"]) == parts
    assert made["name"] == " ".join(name.split())
    assert made["rightToRent"] == {"status": "not_checked", "checkedDate": None, "expiryDate": None}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"kind": "person"}, [("name", "required")]),
        ({"kind": "company", "lastName": "Hart"}, [("name", "required")]),
        ({"kind": "person", "name": "Rosa Hart", "firstName": "Rosa"}, [("name", "conflict")]),
        ({"kind": "company", "name": "Elm Ltd", "companyName": "Elm Ltd"}, [("name", "conflict")]),
        ({"kind": "person", "name": "Rosa Hart", "companyNumber": "01234567"}, [("companyNumber", "conflict")]),
        ({"kind": "person", "lastName": "Hart", "companyName": "Elm Ltd"}, [("companyName", "conflict")]),
    ],
)
def test_names_that_do_not_fit_are_refused(
    landlord: Landlord, fields: dict[str, str], wrong: list[tuple[str, str]]
) -> None:
    with pytest.raises(Problem) as caught:
        landlord.post("createTenant", **fields)
    assert fields_of(caught.value) == wrong


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        ({"status": "time_limited"}, ("rightToRent.expiryDate", "required")),
        ({"status": "passed", "checkedDate": "2026-11-21"}, ("rightToRent.checkedDate", "out_of_range")),
        ({"checkedDate": "2026-11-20"}, ("rightToRent.checkedDate", "conflict")),
        ({"expiryDate": "2026-11-20"}, ("rightToRent.expiryDate", "conflict")),
        (
            {"status": "time_limited", "checkedDate": "2026-11-20", "expiryDate": "2026-11-19"},
            ("rightToRent.expiryDate", "date_order"),
        ),
    ],
)
def test_a_check_of_the_right_to_rent_that_says_too_little_or_too_much_is_refused(
    landlord: Landlord, check: dict[str, str], wrong: tuple[str, str]
) -> None:
    with pytest.raises(Problem) as caught:
        landlord.tenant(rightToRent=check)
    assert fields_of(caught.value) == [wrong]
    landlord.tenant(rightToRent={"status": "passed", "checkedDate": "2026-11-20"})


def test_a_company_has_somebody_to_speak_to(landlord: Landlord) -> None:
    fields = {"companyName": "Elm Ltd", "companyNumber": "01234567", "firstName": "Ann", "lastName": "Lee"}
    made = landlord.post("createTenant", kind="company", **fields)
    assert (made["name"], made["firstName"], made["companyNumber"]) == ("Elm Ltd", "Ann", "01234567")


def test_given_fields_change_and_others_stay(landlord: Landlord) -> None:
    tenant = landlord.tenant(email="rosa@example.com", phone="1", notes="Quiet")
    changed = landlord.post("updateTenant", id=tenant, name="Rosa Hart-Lee", phone=None, expectedVersion=1)
    assert (changed["name"], changed["lastName"]) == ("Rosa Hart-Lee", "Hart-Lee")
    assert (changed["email"], changed["phone"], changed["notes"], changed["version"]) == (
        "rosa@example.com",
        None,
        "Quiet",
        2,
    )
    checked = landlord.post("updateTenant", id=tenant, rightToRent={"status": "exempt"})
    assert checked["rightToRent"]["status"] == "exempt"
    cleared = landlord.post("updateTenant", id=tenant, rightToRent=None, firstName=None)
    assert (cleared["rightToRent"]["status"], cleared["name"]) == ("not_checked", "Hart-Lee")
    company = landlord.post("updateTenant", id=tenant, kind="company", companyName="Hart Ltd", companyNumber="OC123456")
    assert company["name"] == "Hart Ltd"
    assert listed(landlord, "q=hart-lee") == {tenant}
    assert listed(landlord, "q=ROSA@") == {tenant}
    assert listed(landlord, "q=quiet") == set()


def test_a_change_that_does_not_fit_is_refused(landlord: Landlord) -> None:
    tenant, other = landlord.tenant(externalId="t-1"), landlord.tenant()
    for fields, code in (
        ({"id": tenant, "expectedVersion": 2}, "version_conflict"),
        ({"id": other, "externalId": "t-1"}, "already_exists"),
        ({"id": tenant, "name": "A B", "lastName": "B"}, "validation_failed"),
        ({"id": tenant, "firstName": None, "lastName": None}, "validation_failed"),
        ({"id": "tnt_1"}, "not_found"),
    ):
        with pytest.raises(Problem) as caught:
            landlord.post("updateTenant", **fields)
        assert caught.value.code == code


def test_a_tenant_is_what_the_tenancies_say_today(landlord: Landlord) -> None:
    """Today is 20 November 2026."""
    house = landlord.house()
    nobody, before, now, leaving, soon, off, both = (landlord.tenant() for _ in range(7))
    past = landlord.let(house, startDate="2025-12-01", tenantIds=[before, both], type="other", endDate="2026-05-31")
    landlord.let(house, startDate="2026-06-01", tenantIds=[now])
    notice = landlord.let(startDate="2026-06-01", tenantIds=[leaving])
    landlord.change(notice, noticeServedDate="2026-11-01", noticeBy="tenant", noticeExpiryDate="2026-12-31")
    landlord.let(startDate="2026-12-01", tenantIds=[soon, both])
    landlord.change(landlord.let(startDate="2026-12-01", tenantIds=[off]), cancelled=True)
    assert listed(landlord, "status=current") == {now, leaving}
    assert listed(landlord, "status=prospective") == {nobody, soon, both, off}
    assert listed(landlord, "status=past") == {before}
    served = {one["id"]: one["status"] for one in landlord.walk("listTenants", "limit=2")}
    assert served == {
        nobody: "prospective",
        before: "past",
        now: "current",
        leaving: "current",
        soon: "prospective",
        off: "prospective",
        both: "prospective",
    }
    assert listed(landlord, f"propertyId={house}") == {before, both, now}
    assert listed(landlord, f"tenancyId={past['id']}") == {before, both}
    landlord.at("2026-12-31")
    assert listed(landlord, "status=current") == {now, leaving, soon, both}
    landlord.at("2027-01-01")
    assert listed(landlord, "status=current") == {now, soon, both}
    assert listed(landlord, "status=past") == {before, leaving}


def test_another_organizations_are_not_found(landlord: Landlord, store: MemoryStore) -> None:
    theirs = Landlord(store)
    tenant, tenancy = theirs.tenant(), theirs.let()
    for operation in ("updateTenant", "eraseTenant"):
        with pytest.raises(Problem) as caught:
            landlord.post(operation, id=tenant)
        assert caught.value.code == "not_found"
    assert listed(landlord) == set()
    assert listed(landlord, f"tenancyId={tenancy['id']}") == set()
    assert listed(landlord, f"propertyId={tenancy['propertyId']}") == set()


# -- erasing

ERASED_FIELDS = ("firstName", "companyName", "companyNumber", "email", "phone", "correspondenceAddress", "guarantor")


def test_a_tenant_who_never_rented_is_erased_at_once(landlord: Landlord) -> None:
    tenant = landlord.tenant(
        email="rosa@example.com",
        phone="07700 900123",
        correspondenceAddress=ADDRESS,
        rightToRent={"status": "passed", "checkedDate": "2026-09-18"},
        guarantor={"name": "Tom Hart"},
        notes="Has a cat",
        externalId="t-1",
    )
    erased = landlord.post("eraseTenant", id=tenant, expectedVersion=1)
    assert (erased["id"], erased["name"], erased["externalId"]) == (tenant, "Erased tenant", "t-1")
    assert [erased[name] for name in (*ERASED_FIELDS, "notes", "anonymisedReason")] == [None] * 9
    assert erased["rightToRent"] == {"status": "not_checked", "checkedDate": None, "expiryDate": None}
    assert (erased["anonymisedAt"], erased["version"]) == ("2026-11-20T09:30:00.000Z", 2)
    assert [listed(landlord, f"q={word}") for word in ("rosa", "hart", "07700")] == [set()] * 3
    row = landlord.store.connection.execute("SELECT * FROM tenants").fetchall()
    assert not any("osa" in str(value) or "Hart" in str(value) for value in row[0])
    landlord.store.clock.advance(1_000_000)
    assert landlord.post("eraseTenant", id=tenant) == erased
    with pytest.raises(Problem) as caught:
        landlord.post("updateTenant", id=tenant, name="Rosa Hart")
    assert caught.value.code == "invalid_state"
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=tenant, expectedVersion=1)
    assert caught.value.code == "version_conflict"


def test_an_erased_company_keeps_no_name_of_anybody(landlord: Landlord) -> None:
    made = landlord.post("createTenant", kind="company", companyName="Elm Ltd", companyNumber="1234567", lastName="Lee")
    erased = landlord.post("eraseTenant", id=made["id"])
    assert (erased["name"], erased["companyName"], erased["lastName"]) == ("Erased tenant", "Erased tenant", None)
    assert erased["companyNumber"] is None


def test_nobody_is_erased_whose_tenancy_has_not_ended(landlord: Landlord) -> None:
    tenant = landlord.tenant()
    tenancy = landlord.let(startDate="2026-12-01", tenantIds=[tenant])
    for day, state in (("2026-11-30", "prospective"), ("2026-12-01", "current")):
        landlord.at(day)
        with pytest.raises(Problem) as caught:
            landlord.post("eraseTenant", id=tenant, force=True, reason="They asked")
        assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", state)
    landlord.change(tenancy, endDate="2027-03-31")
    landlord.at("2027-03-31")
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=tenant, force=True, reason="They asked")
    assert caught.value.code == "invalid_state"
    landlord.at("2027-04-01")
    landlord.post("eraseTenant", id=tenant, force=True, reason="They asked")


def test_records_are_kept_for_six_years_after_the_last_tenancy(landlord: Landlord) -> None:
    house, tenant = landlord.house(), landlord.tenant()
    landlord.let(house, startDate="2019-01-01", endedDate="2019-12-31", tenantIds=[tenant])
    landlord.let(house, startDate="2020-01-01", endedDate="2020-11-20", tenantIds=[tenant])
    with pytest.raises(Problem) as caught:  # six years to the day
        landlord.post("eraseTenant", id=tenant)
    assert caught.value.code == "invalid_state"
    assert "until 2026-11-20" in caught.value.message
    landlord.at("2026-11-21")
    erased = landlord.post("eraseTenant", id=tenant, force=True, reason="Not needed, and not kept")
    assert (erased["name"], erased["anonymisedReason"], erased["status"]) == ("Erased tenant", None, "past")
    assert [one["tenantIds"] for one in landlord.walk("listTenancies", f"tenantId={tenant}")] == [[tenant]] * 2


def test_an_administrator_erases_earlier_and_says_why(landlord: Landlord) -> None:
    tenant = landlord.tenant()
    landlord.let(startDate="2024-01-01", endedDate="2025-12-31", tenantIds=[tenant])
    landlord.caller = make_caller(landlord.org_id, role="member")
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=tenant, force=True, reason="They asked")
    assert caught.value.code == "forbidden"
    landlord.caller = make_caller(landlord.org_id, role="admin")
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=tenant, force=True)
    assert fields_of(caught.value) == [("reason", "required")]
    with pytest.raises(Problem) as caught:
        landlord.post("eraseTenant", id=tenant, reason="They asked")
    assert caught.value.code == "invalid_state"
    erased = landlord.post("eraseTenant", id=tenant, force=True, reason="They asked")
    assert erased["anonymisedReason"] == "They asked"


def test_a_tenancy_that_was_called_off_keeps_nobody(landlord: Landlord) -> None:
    tenant = landlord.tenant()
    landlord.change(landlord.let(startDate="2026-12-01", tenantIds=[tenant]), cancelled=True)
    assert landlord.post("eraseTenant", id=tenant)["name"] == "Erased tenant"
