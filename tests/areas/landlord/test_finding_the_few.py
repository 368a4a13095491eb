"""What is kept so that lists and dashboards find the few among many: it changes with what it follows from, and with no
day. Today is 20 November 2026.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from gatewayd.areas.landlord.certificates.missing import REQUIREMENTS
from gatewayd.ledger.allocating import rents_received
from gatewayd.store.sqlite import schema
from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord
from tests.areas.landlord.lettings import Lettings

_KEPT = {
    "tenancies": "last_rent, last_rent_from",
    "property_units": "let_until",
    "tenants": "lets_until",
}
_ASKED_FOR = """
gas_safety united_kingdom: residential_let mixed holiday_let rent_a_room, gas, each flat
eicr united_kingdom: residential_let mixed, each flat
epc united_kingdom: residential_let mixed commercial_let, each flat
hmo_licence united_kingdom: residential_let mixed holiday_let rent_a_room, mandatory_hmo
additional_licence united_kingdom: residential_let mixed holiday_let rent_a_room, additional_hmo
selective_licence united_kingdom: residential_let mixed holiday_let rent_a_room, selective
landlord_registration scotland northern_ireland: residential_let mixed
rent_smart_wales wales: residential_let mixed
"""


def migration() -> str:
    (found,) = [one.sql for one in schema.packaged() if one.name.endswith("find_the_few_lets.sql")]
    return re.sub(r"--.*", "", found)


def kept(landlord: Landlord) -> dict[str, list[Any]]:
    rows = landlord.store.connection.execute
    return {
        table: rows(f"SELECT id, {columns} FROM {table} ORDER BY id").fetchall() for table, columns in _KEPT.items()
    }


def by_state(landlord: Landlord, operation: str, field: str, states: tuple[str, ...]) -> None:
    """A list by each state has those that are served in it."""
    served = {one["id"]: one[field] for one in landlord.walk(operation, "")}
    for state in states:
        found = [one["id"] for one in landlord.walk(operation, f"status={state}&limit=1")]
        assert found == sorted((id_ for id_, its in served.items() if its == state), reverse=True), (operation, state)


def agree(landlord: Landlord) -> None:
    """Every list agrees with what it is of, and what is kept of rents with terms and allocations, today and later."""
    for day in ("2026-11-20", "2026-12-15", "2027-02-01", "2026-11-20"):
        landlord.at(day)
        by_state(landlord, "listTenancies", "status", ("upcoming", "active", "notice", "ended", "cancelled"))
        by_state(landlord, "listTenants", "status", ("prospective", "current", "past"))
        by_state(landlord, "listPropertyUnits", "occupancy", ("vacant", "ending", "let"))
    assert not any(
        wrong for _, wrong in landlord.store.read(lambda tx: rents_received.stale(tx, "", 100), landlord.org_id)
    )


def changes(landlord: Landlord) -> Iterator[Json]:
    """Tenancies of two rooms and a house, as they begin, change hands, end and are called off."""
    house = landlord.house()
    one, two = landlord.unit(house), landlord.unit(house)
    rosa, tom, landless = (landlord.tenant(name) for name in ("Rosa Hart", "Tom Lea", "Eve Moss"))
    assert landless
    first = landlord.let(house, unitId=one, tenantIds=[rosa])
    yield first
    second = landlord.let(house, unitId=two, tenantIds=[rosa, tom], startDate="2026-12-01")
    yield second
    yield landlord.change(first, rent={"fromDate": "2027-01-01", "amount": "975.50"})
    yield landlord.change(second, tenantIds=[tom])
    notice = {"noticeServedDate": "2026-11-01", "noticeBy": "tenant", "noticeExpiryDate": "2026-12-31"}
    yield landlord.change(first, **notice)
    yield landlord.change(first, endDate="2026-11-15")
    yield landlord.change(second, cancelled=True)
    yield landlord.let(house, tenantIds=[tom], startDate="2027-01-15")
    yield landlord.post("createPropertyUnit", propertyId=house, name="Attic")


def test_lists_follow_each_change(landlord: Landlord) -> None:
    for _ in changes(landlord):
        agree(landlord)


def test_the_migration_fills_in_what_changes_keep(landlord: Landlord) -> None:
    for _ in changes(landlord):
        pass
    expected = kept(landlord)
    blanks = ("let_until = ''", "lets_until = NULL", "last_rent = 1, last_rent_from = NULL")
    for table, blank in zip(("property_units", "tenants", "tenancies"), blanks, strict=True):
        landlord.store.connection.execute(f"UPDATE {table} SET {blank}")
    assert kept(landlord) != expected
    for statement in re.findall(r"^UPDATE .*?;", migration(), re.MULTILINE | re.DOTALL):
        landlord.store.connection.execute(statement)
    assert kept(landlord) == expected


def test_who_owes_is_found_before_it_is_worked_out_from_when_on(landlord: Landlord) -> None:
    """A migration leaves the day empty, and such a tenancy is looked at; who has left and paid all is not."""
    business = landlord.business(landlord.unregistered_entity(type="individual"))
    house, other, third = (landlord.house(business_id=business) for _ in range(3))
    owes, left = landlord.let(house), landlord.let(other)
    landlord.change(left, endDate="2026-06-30")
    ahead = landlord.let(third, startDate="2026-12-01")
    landlord.post("recordRent", tenancyId=left["id"], date="2026-06-01", amount="950.00")
    before = landlord.one("getDashboardSummary", f"businessId={business}")["arrears"]
    assert [one["tenancyId"] for one in before["tenancies"]] == [owes["id"]]
    run = landlord.store.connection.execute
    run("DELETE FROM rents_received WHERE tenancy_id <> ?; UPDATE rents_received SET unpaid_from = NULL", (left["id"],))
    for statement in re.findall(r"^(?:INSERT|UPDATE rents).*?;", migration(), re.MULTILINE | re.DOTALL):
        run(statement)
    days = dict(run("SELECT tenancy_id, unpaid_from FROM rents_received").fetchall())
    assert days == {owes["id"]: "", left["id"]: None, ahead["id"]: ""}
    assert landlord.one("getDashboardSummary", f"businessId={business}")["arrears"] == before
    assert not any(
        wrong for _, wrong in landlord.store.read(lambda tx: rents_received.stale(tx, "", 100), landlord.org_id)
    )


def test_a_day_from_which_rent_is_unpaid_that_is_wrong_is_found(landlord: Landlord) -> None:
    let = landlord.let()["id"]
    landlord.store.connection.execute("UPDATE rents_received SET unpaid_from = '2026-07-01'")
    assert landlord.store.read(lambda tx: rents_received.stale(tx, "", 10), landlord.org_id) == [(let, True)]


def missing(lettings: Lettings) -> list[tuple[str, str]]:
    rows = lettings.walk("listCertificates", "status=missing&limit=1")
    return sorted((row["type"], row["unitId"] or "") for row in rows)


def test_what_is_missing_follows_each_change(lettings: Lettings) -> None:
    """Of the law on what is let in England: a gas record, an EICR and an EPC, of each flat; a licence where asked."""
    house = lettings.property(jurisdiction="england", licensing="none")["id"]

    def issue(type_: str, **given: object) -> str:
        body = {"propertyId": house, "type": type_, "issuedDate": "2026-05-01", **given}
        return str(lettings.post("createCertificate", **body)["id"])

    assert missing(lettings) == [("eicr", ""), ("epc", ""), ("gas_safety", "")]
    wiring = issue("eicr")
    issue("epc")
    assert missing(lettings) == [("gas_safety", "")]
    lettings.post("updateProperty", id=house, gasSupply=False)
    assert missing(lettings) == []
    flat = lettings.post("createPropertyUnit", propertyId=house, name="Flat", type="flat")["id"]
    assert missing(lettings) == [], "there is one for the whole"
    lettings.post("updateCertificate", id=wiring, unitId=flat)
    other = lettings.post("createPropertyUnit", propertyId=house, name="Attic", type="flat")["id"]
    assert missing(lettings) == [("eicr", other)]
    lettings.post("updatePropertyUnit", id=other, archived=True)
    assert missing(lettings) == []
    lettings.post("deleteCertificate", id=wiring)
    assert missing(lettings) == [("eicr", flat)]
    lettings.post("updatePropertyUnit", id=flat, type="room")
    assert missing(lettings) == [("eicr", "")]
    lettings.post("updateProperty", id=house, use="own_use")
    assert missing(lettings) == []
    lettings.post("updateProperty", id=house, use="residential_let", licensing="selective")
    assert missing(lettings) == [("eicr", ""), ("selective_licence", "")]


def test_a_change_of_what_the_law_asks_for_looks_at_all_properties_again() -> None:
    """Who changes the table writes a migration that sets `may_lack` to 1, and then what stands here."""
    lines = []
    for one in REQUIREMENTS:
        more = [one.licensing] if one.licensing else []
        more += ["gas"] * one.gas + ["each flat"] * one.each_flat
        places = "united_kingdom" if len(one.jurisdictions) == 4 else " ".join(one.jurisdictions)
        lines.append(f"{one.type} {places}: {', '.join([' '.join(one.uses), *more])}")
    assert lines == _ASKED_FOR.strip().splitlines()


@pytest.mark.parametrize("unpaid", ["2026-11-01", "2026-11-20"])
def test_rent_is_late_from_the_day_it_falls_due(landlord: Landlord, unpaid: str) -> None:
    business = landlord.business(landlord.unregistered_entity(type="individual"))
    landlord.let(landlord.house(business_id=business), startDate=unpaid, rentDueDay=int(unpaid[-2:]))
    asked = f"businessId={business}&asOfDate="
    assert landlord.one("getDashboardSummary", f"{asked}{unpaid}")["arrears"]["count"] == 1
    day_before = f"2026-{'10-31' if unpaid.endswith('01') else '11-19'}"
    assert landlord.one("getDashboardSummary", f"{asked}{day_before}")["arrears"]["count"] == 0
