"""Lists of what belongs to properties by business and legal entity, for who keeps the books of several."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.landlord.rents import pages
from gatewayd.errors import Problem
from gatewayd.store import ReadTx
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.premises import Premises
from tests.areas.landlord.test_plans import plan_of
from tests.support.store import MemoryStore

LISTS = (
    *("listTenancies", "listPropertyUnits", "listMortgages", "listCertificates", "listPropertyValuations"),
    *("listTenants", "listProperties"),
)


class Let(NamedTuple):
    """A business that lets two houses, and the ids that each list has of it, newest first."""

    entity: str
    business: str
    ids: dict[str, list[str]]


def let_of(premises: Premises, business_id: str, name: str) -> dict[str, str]:
    """A house with one of everything; the id that each list has of it."""
    house = premises.property(business_id=business_id)
    tenant = premises.post("createTenant", kind="person", name=name)["id"]
    unit = premises.unit(house)
    dates = {"startDate": "2026-06-01", "rentAmount": "950.00", "rentFrequency": "monthly"}
    tenancy = premises.post("createTenancy", propertyId=house, unitId=unit, tenantIds=[tenant], **dates)["id"]
    worth = {"valuationDate": "2026-05-01", "amount": "210000.00", "method": "agent"}
    return {
        "listProperties": house,
        "listPropertyUnits": unit,
        "listTenants": tenant,
        "listTenancies": tenancy,
        "listMortgages": premises.mortgage(house, rateEndDate="2026-12-31")["id"],
        "listCertificates": premises.certificate(house, "epc", "2020-03-10")["id"],
        "listPropertyValuations": premises.post("createPropertyValuation", propertyId=house, **worth)["id"],
    }


def business_of(premises: Premises, entity_id: str, business: str) -> Let:
    first, second = (let_of(premises, business, name) for name in ("Rosa Hart", "Tom Lee"))
    return Let(entity_id, business, {name: [second[name], first[name]] for name in LISTS})


class Bookkeeper(NamedTuple):
    """Two businesses of one landlord, and one of another."""

    premises: Premises
    one: Let
    two: Let
    other: Let


@pytest.fixture
def bookkeeper(premises: Premises) -> Iterator[Bookkeeper]:
    entity = premises.entity_id
    request = CreateBusiness(legal_entity_id=entity, type="foreign_property", name="Lets abroad")
    abroad = premises.store.write(lambda tx: create_business(tx, premises.caller, request), premises.org_id).id
    one, two = (business_of(premises, entity, business) for business in (premises.business_id, abroad))
    another = premises.unregistered_entity(type="individual")
    yield Bookkeeper(premises, one, two, business_of(premises, another, premises.lets(another)))
    premises.store.close()


def ids(rows: list[Json]) -> list[str]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize("operation", LISTS)
def test_rows_are_found_by_whose_they_are(bookkeeper: Bookkeeper, operation: str) -> None:
    premises, one, two, other = bookkeeper
    for let in (one, two, other):
        assert ids(premises.walk(operation, f"businessId={let.business}")) == let.ids[operation]
        assert ids(premises.walk(operation, f"businessId={let.business}&limit=1")) == let.ids[operation]
    both = [*two.ids[operation], *one.ids[operation]]
    assert ids(premises.walk(operation, f"legalEntityId={one.entity}")) == both
    assert ids(premises.walk(operation, f"legalEntityId={one.entity}&limit=1")) == both
    assert ids(premises.walk(operation, f"legalEntityId={other.entity}&limit=1")) == other.ids[operation]
    combined = f"legalEntityId={one.entity}&businessId={two.business}"
    assert ids(premises.walk(operation, combined)) == two.ids[operation]
    assert premises.walk(operation, f"legalEntityId={one.entity}&businessId={other.business}") == []


@pytest.mark.parametrize("operation", LISTS)
def test_who_follows_changes_is_told_those_alone(bookkeeper: Bookkeeper, operation: str) -> None:
    premises, one, two, _ = bookkeeper
    since = "updatedSince=1970-01-01T00:00:00Z"
    assert set(ids(premises.walk(operation, f"businessId={one.business}&{since}&limit=1"))) == set(one.ids[operation])
    both = {*one.ids[operation], *two.ids[operation]}
    assert set(ids(premises.walk(operation, f"legalEntityId={one.entity}&{since}&limit=1"))) == both


@pytest.mark.parametrize("operation", LISTS)
def test_a_cursor_belongs_to_whose_they_are(bookkeeper: Bookkeeper, operation: str) -> None:
    premises, one, two, _ = bookkeeper
    _, cursor = premises.get(operation, f"businessId={one.business}&limit=1")
    with pytest.raises(Problem, match="cursor") as caught:
        premises.get(operation, f"businessId={two.business}&limit=1&cursor={cursor}")
    assert caught.value.code == "invalid_cursor"


@pytest.mark.parametrize("operation", LISTS)
@pytest.mark.parametrize("name", ["businessId", "legalEntityId"])
def test_an_unknown_id_and_another_organizations_are_told_apart_by_nobody(
    bookkeeper: Bookkeeper, store: MemoryStore, operation: str, name: str
) -> None:
    """Valuations are refused, as they are of a property that is unknown."""
    stranger = Premises(store)
    let_of(stranger, stranger.business_id, "Ann Orr")
    theirs = {"businessId": stranger.business_id, "legalEntityId": stranger.entity_id}[name]
    assert len(stranger.walk(operation, f"{name}={theirs}")) == 1
    for value in (theirs, "biz_01k0000000000000000000000x"):
        if operation != "listPropertyValuations":
            assert bookkeeper.premises.get(operation, f"{name}={value}") == ([], None)
            continue
        with pytest.raises(Problem) as caught:
            bookkeeper.premises.get(operation, f"{name}={value}")
        assert fields_of(caught.value) == [(name, "unknown_reference")]


def test_it_goes_with_the_other_filters_and_orders(bookkeeper: Bookkeeper) -> None:
    premises, one, two, _ = bookkeeper
    of_one, of_both = f"businessId={one.business}", f"legalEntityId={one.entity}"
    assert ids(premises.walk("listTenancies", f"{of_one}&status=active&limit=1")) == one.ids["listTenancies"]
    assert premises.walk("listTenancies", f"{of_one}&status=ended") == []
    assert ids(premises.walk("listPropertyUnits", f"{of_one}&status=let&limit=1")) == one.ids["listPropertyUnits"]
    assert ids(premises.walk("listTenants", f"{of_one}&status=current&limit=1")) == one.ids["listTenants"]
    by_end = premises.walk("listMortgages", f"{of_both}&rateEndDateBefore=2027-01-01&limit=1")
    assert ids(by_end) == sorted([*one.ids["listMortgages"], *two.ids["listMortgages"]])
    valid = premises.walk("listCertificates", f"{of_one}&status=valid&limit=1")
    assert ids(valid) == sorted(one.ids["listCertificates"])
    none = f"{of_one}&fromDate=2026-05-02"
    assert premises.walk("listPropertyValuations", none) == []


def test_what_is_missing_is_found_by_whose_it_is(bookkeeper: Bookkeeper) -> None:
    premises, one, two, other = bookkeeper

    def lacking(query: str) -> set[str]:
        return {row["propertyId"] for row in premises.walk("listCertificates", f"status=missing&limit=1&{query}")}

    assert lacking(f"businessId={one.business}") == set(one.ids["listProperties"])
    assert lacking(f"legalEntityId={one.entity}") == {*one.ids["listProperties"], *two.ids["listProperties"]}
    assert lacking(f"legalEntityId={one.entity}&businessId={other.business}") == set()
    assert lacking(f"legalEntityId={other.entity}&type=eicr") == set(other.ids["listProperties"])


def test_who_was_replaced_is_left_out_where_it_is_asked(bookkeeper: Bookkeeper) -> None:
    premises, one, _, _ = bookkeeper
    tenancy, tenant = one.ids["listTenancies"][0], one.ids["listTenants"][0]
    successor = premises.post("createTenant", kind="person", name="Ida May")["id"]
    premises.post("updateTenancy", id=tenancy, tenantIds=[successor])
    for whose in (f"businessId={one.business}", f"legalEntityId={one.entity}"):
        assert tenant in ids(premises.walk("listTenants", whose))
        found = ids(premises.walk("listTenants", f"{whose}&includeFormer=false"))
        assert tenant not in found
        assert successor in found


def test_rents_due_of_all_businesses_of_a_legal_entity(bookkeeper: Bookkeeper) -> None:
    premises, one, two, _ = bookkeeper
    months = "fromDate=2026-10-01&toDate=2026-11-30"
    whole = [
        *premises.walk("listRentsDue", f"businessId={one.business}&{months}"),
        *premises.walk("listRentsDue", f"businessId={two.business}&{months}"),
    ]
    assert len(whole) == 8
    assert premises.walk("listRentsDue", f"legalEntityId={one.entity}&{months}&limit=3") == whole
    for value in (Premises(premises.store).entity_id, "ent_x"):
        with pytest.raises(Problem) as caught:
            premises.get("listRentsDue", f"legalEntityId={value}")
        assert fields_of(caught.value) == [("legalEntityId", "unknown_reference")]


ORDERS: dict[str, tuple[str, ...]] = {
    "listTenancies": ("", "status=active", "status=ended", "updatedSince=2026-01-01T00:00:00Z"),
    "listPropertyUnits": ("", "status=vacant", "updatedSince=2026-01-01T00:00:00Z"),
    "listMortgages": ("", "rateEndDateBefore=2027-01-01", "updatedSince=2026-01-01T00:00:00Z"),
    "listCertificates": ("", "status=expiring", "type=epc", "status=missing", "updatedSince=2026-01-01T00:00:00Z"),
    "listPropertyValuations": ("", "fromDate=2026-01-01", "updatedSince=2026-01-01T00:00:00Z"),
    "listTenants": ("", "includeFormer=false", "status=current", "updatedSince=2026-01-01T00:00:00Z"),
    "listProperties": ("", "status=active", "updatedSince=2026-01-01T00:00:00Z"),
}


@pytest.mark.parametrize(("operation", "query"), [(name, query) for name, each in ORDERS.items() for query in each])
@pytest.mark.parametrize("whose", ["businessId", "legalEntityId"])
def test_a_page_is_read_off_indexes(premises: Premises, operation: str, query: str, whose: str) -> None:
    """From the properties of that business on, or in the order of the list; nothing is sorted, and nothing gone through
    whole."""
    value = {"businessId": premises.business_id, "legalEntityId": premises.entity_id}[whose]
    plan = plan_of(premises, operation, f"{query}&{whose}={value}".lstrip("&"))
    assert not [step for step in plan if "TEMP B-TREE FOR ORDER" in step or step.endswith("(org_id=?)")], plan
    scans = [step for step in plan if step.startswith("SCAN")]
    assert not [step for step in scans if not step.startswith(("SCAN r", "SCAN CONSTANT ROW"))], plan
    from_whose = {"businessId": "properties_of_business", "legalEntityId": "businesses_of_entity"}[whose]
    in_order = ("_by_change", "properties_lacking")
    assert any(from_whose in step for step in plan) or any(
        step for step in plan if any(name in step for name in in_order)
    ), plan


def test_a_page_of_rents_reads_one_property_after_the_other(premises: Premises) -> None:
    values: dict[str, Any] = dict.fromkeys(
        ("id", "first", "last", "after_property", "after_start", "after_tenancy"), ""
    )

    def ask(tx: ReadTx) -> list[str]:
        return [row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {pages._OF_LEGAL_ENTITY}", count=1, **values)]

    steps = premises.read(ask)
    assert not [step for step in steps if step.startswith("SCAN") or step == "USE TEMP B-TREE FOR ORDER BY"], steps
    assert not [step for step in steps if "(org_id=?)" in step], steps
