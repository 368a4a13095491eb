"""Lists of tenancies and tenants on any day of 2024 to 2028, beside the walk over the days; pages and filters."""

import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gatewayd.areas.landlord.register.tenancy_shapes import RentStep
from gatewayd.areas.landlord.tenancies import rows
from gatewayd.areas.landlord.tenants import rows as tenant_rows
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord
from tests.areas.landlord.test_tenancy_states import FIRST, LAST, Agreed, Seen, agreements, days, row_of, walk
from tests.support.store import MemoryStore

ONE = datetime.timedelta(days=1)
STATES = ("upcoming", "active", "notice", "ended", "cancelled")


def ids(items: list[Json]) -> list[str]:
    return [item["id"] for item in items]


def enter(landlord: Landlord, property_id: str, tenant_id: str, agreed: Agreed) -> str:
    """A tenancy as it is stored, whatever else the property is let to."""

    def insert(tx: WriteTx) -> str:
        steps = [RentStep(from_date=agreed.start.isoformat(), amount="1.00", notice=None)]
        row = replace(row_of(agreed), property_id=property_id, tenant_ids=[tenant_id], rent_history=steps)
        row = rows.insert(tx, replace(row, id=tx.new_id("tcy")))
        return row.id

    return landlord.store.write(insert, landlord.org_id)


def tenant_state(on_the_day: list[str]) -> str:
    """What a tenant is whose tenancies have these states."""
    begun = [state for state in on_the_day if state != "cancelled"]
    if "active" in begun or "notice" in begun:
        return "current"
    return "past" if begun and set(begun) == {"ended"} else "prospective"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lets=st.lists(st.tuples(st.integers(0, 2), agreements()), min_size=1, max_size=6),
    dates=st.lists(st.dates(FIRST, LAST), min_size=1, max_size=3),
)
def test_each_day_has_the_tenancies_of_each_state(
    database_image: bytes, lets: list[tuple[int, Agreed]], dates: list[datetime.date]
) -> None:
    landlord = Landlord(MemoryStore(database_image))
    house, tenants = landlord.house(), [landlord.tenant() for _ in range(3)]
    entered = {enter(landlord, house, tenants[whose], agreed): (whose, agreed) for whose, agreed in lets}
    known = {id_: dict(zip(days(), walk(agreed), strict=True)) for id_, (_, agreed) in entered.items()}
    changes = [datetime.date(2026, 4, 30), datetime.date(2026, 5, 1)]
    ends = [agreed.start for _, agreed in lets] + [
        end for _, agreed in lets for end in (agreed.term, agreed.end, agreed.served, agreed.expiry) if end
    ]
    for day in {*dates, *changes, *ends}:
        landlord.at(day.isoformat())
        served = {one["id"]: one for one in landlord.walk("listTenancies", "limit=2")}
        assert set(served) == set(entered)
        for id_, one in served.items():
            expected = known[id_][day]
            if expected.status != "cancelled":
                assert Seen(one["status"], one["type"], one["convertedFrom"], one["endDate"]) == expected
        states = {id_: seen[day].status for id_, seen in known.items()}
        for state in STATES:
            found = ids(landlord.walk("listTenancies", f"status={state}&limit=2"))
            assert sorted(found) == sorted(id_ for id_, one in states.items() if one == state)
        running = sorted(id_ for id_, one in states.items() if one in ("active", "notice"))
        assert sorted(ids(landlord.walk("listTenancies", f"asOfDate={day}"))) == running
        of_tenants = {
            tenant: tenant_state([states[id_] for id_, (whose, _) in entered.items() if whose == index])
            for index, tenant in enumerate(tenants)
        }
        assert {one["id"]: one["status"] for one in landlord.walk("listTenants", "")} == of_tenants
        for state in ("prospective", "current", "past"):
            found = ids(landlord.walk("listTenants", f"status={state}"))
            assert sorted(found) == sorted(tenant for tenant, one in of_tenants.items() if one == state)
    landlord.store.close()


def test_tenancies_are_found_by_what_is_let_and_to_whom(landlord: Landlord, store: MemoryStore) -> None:
    house, rosa, tom = landlord.house(), landlord.tenant(), landlord.tenant("Tom Hart")
    one, two = landlord.unit(house), landlord.unit(house)
    first = landlord.let(house, unitId=one, tenantIds=[rosa])["id"]
    second = landlord.let(house, unitId=two, tenantIds=[rosa, tom], startDate="2026-12-01")["id"]
    third = landlord.let()["id"]
    Landlord(store).let()
    for query, expected in (
        ("", [third, second, first]),
        (f"propertyId={house}", [second, first]),
        (f"unitId={two}", [second]),
        (f"tenantId={rosa}", [second, first]),
        (f"tenantId={tom}", [second]),
        (f"tenantId={rosa}&status=active", [first]),
        (f"propertyId={house}&asOfDate=2026-12-01", [second, first]),
        (f"propertyId={house}&asOfDate=2026-11-30&limit=1", [first]),
        ("asOfDate=2026-05-31", []),
    ):
        assert ids(landlord.walk("listTenancies", query)) == expected, query
    landlord.store.clock.advance(1_000_000)
    landlord.post("updateTenancy", id=first, notes="x")
    assert ids(landlord.walk("listTenancies", "updatedSince=2026-11-20T09:30:00Z&limit=2")) == [second, third, first]
    assert ids(landlord.walk("listTenancies", "updatedSince=2026-11-20T09:30:01Z")) == [first]
    _, cursor = landlord.get("listTenancies", "status=active&limit=1")
    with pytest.raises(Problem) as caught:
        landlord.get("listTenancies", f"status=ended&limit=1&cursor={cursor}")
    assert caught.value.code == "invalid_cursor"


PLANS = {
    ("listTenancies", ""): "tenancies USING INDEX tenancies_by_id (org_id=? AND id<?)",
    ("listTenancies", "propertyId=prop_1"): "INDEX tenancies_in_property (org_id=? AND property_id=? AND id<?)",
    ("listTenancies", "unitId=unit_1"): "tenancies USING INDEX tenancies_of_unit (org_id=? AND unit_id=? AND id<?)",
    ("listTenancies", "tenantId=tnt_1"): "tenancies USING INDEX tenancies_by_id (org_id=? AND id=?)",
    (
        "listTenancies",
        "status=upcoming",
    ): "tenancies USING COVERING INDEX tenancies_by_start (org_id=? AND start_date>?)",
    (
        "listTenancies",
        "status=active",
    ): "tenancies USING INDEX tenancies_by_last_day (org_id=? AND last_day=? AND id<?)",
    (
        "listTenancies",
        "status=notice",
    ): "tenancies USING COVERING INDEX tenancies_by_last_day (org_id=? AND last_day>?)",
    (
        "listTenancies",
        "limit=1&status=notice",  # the same, of notices that end nothing
    ): "tenancies USING COVERING INDEX tenancies_noticed (org_id=? AND notice_served_date<?)",
    ("listTenancies", "status=ended"): "tenancies USING INDEX tenancies_with_an_end (org_id=? AND id<?)",
    ("listTenancies", "status=cancelled"): "tenancies USING INDEX tenancies_cancelled (org_id=? AND id<?)",
    ("listTenants", ""): "tenants USING INDEX tenants_by_id (org_id=? AND id<?)",
    ("listTenants", "tenancyId=tcy_1"): "tenants USING INDEX tenants_by_id (org_id=? AND id=?)",
    ("listTenants", "propertyId=prop_1"): "tenancy_tenants_1 (org_id=? AND tenancy_id=?)",
    ("listTenants", "tenancyId=tcy_1&includeFormer=false"): "tenancy_tenants_1 (org_id=? AND tenancy_id=?)",
    ("listTenants", "propertyId=prop_1&includeFormer=false"): "tenancy_tenants_1 (org_id=? AND tenancy_id=?)",
    ("listTenants", "status=prospective"): "tenants USING INDEX tenants_never_let (org_id=? AND id<?)",
    ("listTenants", "status=current"): "tenants USING INDEX tenants_staying (org_id=? AND id<?)",
    ("listTenants", "status=past"): "tenants USING INDEX tenants_leaving (org_id=? AND id<?)",
    ("listPropertyUnits", "status=vacant"): "property_units USING INDEX property_units_not_let (org_id=? AND id<?)",
    ("listPropertyUnits", "status=ending"): "INDEX tenancies_by_last_day (org_id=? AND last_day>?)",
    (
        "listPropertyUnits",
        "limit=1&status=ending",
    ): "s USING COVERING INDEX tenancies_noticed (org_id=? AND notice_served_date<?)",
    ("listPropertyUnits", "status=let"): "property_units USING INDEX property_units_let (org_id=? AND id<?)",
}


@pytest.mark.parametrize(("operation", "query"), PLANS)
def test_a_page_is_read_off_indexes(landlord: Landlord, operation: str, query: str) -> None:
    """A list of many thousands answers a page as fast as one of a few."""
    plan: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Any:
            plan.extend(row[3] for row in self.rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        landlord.operations[operation].handler(explaining, landlord.caller, landlord.decoders[operation].query(query))

    landlord.store.read(explain, landlord.org_id)
    assert any(step.endswith(PLANS[operation, query]) for step in plan), plan
    assert not any("TEMP B-TREE FOR ORDER" in step or step.endswith("(org_id=?)") for step in plan), plan


def test_the_state_of_a_tenant_and_what_overlaps_are_read_off_indexes(landlord: Landlord) -> None:
    def plan(sql: str, **values: object) -> list[str]:
        return landlord.store.read(
            lambda tx: [row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", **values)], landlord.org_id
        )

    of_tenant = {"tenant_id": "tnt_1", "today": "2026-11-20"}
    for sql in (tenant_rows._SELECT_STATES, tenant_rows._SELECT_ENDS):
        assert [step.rpartition(" USING ")[2] for step in plan(sql, **of_tenant)] == [
            "COVERING INDEX tenancy_tenants_of_tenant (org_id=? AND tenant_id=?)",
            "COVERING INDEX tenancies_by_id (org_id=? AND id=?)",
        ]
    sought = {"id": "", "property_id": "", "unit_id": None, "first": "2026-01-01", "last": None}
    [step] = plan(rows._SELECT_OVERLAPPING, **sought)
    assert "(org_id=? AND property_id=?" in step
