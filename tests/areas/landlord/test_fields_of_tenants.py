"""Each field of a tenant: kept as it was given, changed alone, and taken away again; and who changed since."""

import pytest

from gatewayd.clock import DAY
from tests.areas.accounting.books import Json
from tests.areas.changes import expect_change
from tests.areas.landlord.landlords import Landlord

ADDRESS = {
    "line1": "4 Quay Street",
    "line2": "Unit 7",
    "town": "Bristol",
    "county": "Avon",
    "postcode": "BS1 4SB",
    "countryCode": "GB",
}
OTHER = {
    "line1": "1 Rue A",
    "line2": "Bis",
    "town": "Lille",
    "county": "Nord",
    "postcode": "59000",
    "countryCode": "FR",
}
DETAILS: dict[str, tuple[Json | str, Json | str]] = {
    "correspondenceAddress": (ADDRESS, OTHER),
    "email": ("rosa@example.com", "hart@example.com"),
    "guarantor": (
        {"name": "Tom Hart", "email": "tom@example.com", "phone": "0117 000000"},
        {"name": "Ada Hart", "email": "ada@example.com", "phone": "0117 111111"},
    ),
    "notes": ("Has a cat", "Has two cats"),
    "rightToRent": (
        {"status": "time_limited", "checkedDate": "2026-09-18", "expiryDate": "2027-09-18"},
        {"status": "time_limited", "checkedDate": "2026-10-18", "expiryDate": "2028-10-18"},
    ),
}


@pytest.mark.parametrize("name", DETAILS)
def test_a_detail_is_kept_and_changes_alone(landlord: Landlord, name: str) -> None:
    first, second = DETAILS[name]
    made = landlord.post("createTenant", kind="person", name="Rosa Hart", **{name: first})
    assert made[name] == first
    changed = landlord.post("updateTenant", id=made["id"], **{name: second})
    expect_change(made, changed, **{name: second})
    assert landlord.walk("listTenants", "") == [changed]


@pytest.mark.parametrize("name", ["correspondenceAddress", "email", "guarantor", "notes"])
def test_a_detail_is_taken_away(landlord: Landlord, name: str) -> None:
    made = landlord.post("createTenant", kind="person", name="Rosa Hart", **{name: DETAILS[name][0]})
    expect_change(made, landlord.post("updateTenant", id=made["id"], **{name: None}), **{name: None})


def test_tenants_that_did_not_change_since_are_left_out(landlord: Landlord) -> None:
    first, _ = landlord.tenant("Rosa Hart"), landlord.tenant("Tom Hart")
    since = "updatedSince=2026-11-21T00:00:00Z"
    assert landlord.walk("listTenants", since) == []
    landlord.store.clock.advance(DAY)
    landlord.post("updateTenant", id=first, notes="Has a cat")
    assert [one["id"] for one in landlord.walk("listTenants", since)] == [first]


def test_the_reference_of_a_deposit_is_changed_with_it(landlord: Landlord) -> None:
    tenancy = landlord.let(deposit={"amount": "900.00", "scheme": "dps", "reference": "D-1"})
    assert tenancy["deposit"]["reference"] == "D-1"
    changed = landlord.change(tenancy, deposit={"amount": "900.00", "scheme": "dps", "reference": "D-2"})
    assert changed["deposit"] == {**tenancy["deposit"], "reference": "D-2"}
