"""Units of properties: what is made, changed and found, and whether they are let."""

import datetime
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.lettings import Lettings
from tests.support.store import MemoryStore

TODAY = datetime.date(2026, 11, 20)


def test_a_new_unit_is_answered_whole(lettings: Lettings) -> None:
    home = lettings.property(lettings.lets(currency="EUR"))
    made = lettings.unit(home["id"], "Flat 1", type="flat", floor="2", bedrooms=0, areaSqm="40.0", marketRent="950")
    assert made["id"].startswith("unit_")
    assert {name: value for name, value in made.items() if name not in ("id", "createdAt", "updatedAt")} == {
        "externalId": None,
        "propertyId": home["id"],
        "name": "Flat 1",
        "type": "flat",
        "floor": "2",
        "bedrooms": 0,
        "areaSqm": "40",
        "marketRent": "950.00",
        "rentFrequency": "monthly",
        "currency": "EUR",
        "archivedAt": None,
        "version": 1,
        "occupancy": "vacant",
    }
    assert lettings.get("listPropertyUnits")[0] == [made]
    assert lettings.unit(home["id"], "Flat 2")["type"] == "other"


def test_a_name_is_used_once_in_a_property(lettings: Lettings) -> None:
    home, other = lettings.property(), lettings.property()
    first = lettings.unit(home["id"], "Straße  1")
    lettings.unit(other["id"], "Straße 1")
    second = lettings.unit(home["id"], "Flat 2")
    for name in ("Straße 1", " STRASSE 1 "):
        with pytest.raises(Problem) as caught:
            lettings.unit(home["id"], name)
        assert caught.value.code == "already_exists"
        assert caught.value.extra == {"existingId": first["id"], "field": "name"}
        with pytest.raises(Problem) as caught:
            lettings.post("updatePropertyUnit", id=second["id"], name=name)
        assert caught.value.code == "already_exists"
    assert lettings.post("updatePropertyUnit", id=first["id"], name="STRASSE 1")["name"] == "STRASSE 1"
    lettings.post("updatePropertyUnit", id=first["id"], archived=True)
    with pytest.raises(Problem) as caught:  # so that it can come back
        lettings.unit(home["id"], "Strasse 1")
    assert caught.value.code == "already_exists"
    lettings.post("updatePropertyUnit", id=first["id"], name="Old flat 1")
    assert lettings.unit(home["id"], "Strasse 1")["name"] == "Strasse 1"


def test_an_external_id_is_used_once(lettings: Lettings) -> None:
    home = lettings.property()
    first, second = lettings.unit(home["id"], "1", externalId="u"), lettings.unit(home["id"], "2")
    with pytest.raises(Problem) as caught:
        lettings.unit(home["id"], "3", externalId="u")
    assert caught.value.extra == {"existingId": first["id"], "field": "externalId"}
    with pytest.raises(Problem) as caught:
        lettings.post("updatePropertyUnit", id=second["id"], externalId="u")
    assert caught.value.code == "already_exists"


def test_a_market_rent_says_how_often(lettings: Lettings) -> None:
    home = lettings.property()
    weekly = lettings.unit(home["id"], "1", marketRent="150", rentFrequency="weekly")
    assert weekly["rentFrequency"] == "weekly"
    dearer = lettings.post("updatePropertyUnit", id=weekly["id"], marketRent="160")
    assert (dearer["marketRent"], dearer["rentFrequency"]) == ("160.00", "weekly")
    none = lettings.post("updatePropertyUnit", id=weekly["id"], marketRent=None)
    assert (none["marketRent"], none["rentFrequency"]) == (None, None)
    for operation, target in (
        ("createPropertyUnit", {"propertyId": home["id"], "name": "2"}),
        ("updatePropertyUnit", {"id": weekly["id"]}),
    ):
        with pytest.raises(Problem) as caught:
            lettings.post(operation, **target, rentFrequency="weekly")
        assert fields_of(caught.value) == [("rentFrequency", "conflict")]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"marketRent": "-0.01"}, ("marketRent", "out_of_range")),
        ({"marketRent": "1.005"}, ("marketRent", "invalid_decimal")),
        ({"areaSqm": "0"}, ("areaSqm", "out_of_range")),
    ],
)
def test_values_that_cannot_be_are_refused(lettings: Lettings, fields: dict[str, str], found: tuple[str, str]) -> None:
    home = lettings.property()
    made = lettings.unit(home["id"], "1")
    with pytest.raises(Problem) as caught:
        lettings.unit(home["id"], "2", **fields)
    assert fields_of(caught.value) == [found]
    with pytest.raises(Problem) as caught:
        lettings.post("updatePropertyUnit", id=made["id"], **fields)
    assert fields_of(caught.value) == [found]


def test_a_unit_may_be_had_for_nothing(lettings: Lettings) -> None:
    assert lettings.unit(lettings.property()["id"], marketRent="0")["marketRent"] == "0.00"


def test_a_unit_is_of_a_property_in_use(lettings: Lettings, store: MemoryStore) -> None:
    theirs = Lettings(store).property()
    for property_id in ("prop_1", theirs["id"]):
        with pytest.raises(Problem) as caught:
            lettings.unit(property_id)
        assert fields_of(caught.value) == [("propertyId", "unknown_reference")]
    home = lettings.property()
    lettings.post("updateProperty", id=home["id"], status="sold", disposalDate="2026-11-20")
    made = lettings.unit(home["id"], "Flat 1")
    lettings.post("updateProperty", id=home["id"], status="archived")
    for operation, target in (
        ("createPropertyUnit", {"propertyId": home["id"]}),
        ("updatePropertyUnit", {"id": made["id"]}),
    ):
        with pytest.raises(Problem) as caught:
            lettings.post(operation, **target, name="Flat 2")
        assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", "archived")


def test_a_change_is_made_to_the_version_that_was_seen(lettings: Lettings, store: MemoryStore) -> None:
    made = lettings.unit(lettings.property()["id"], type="flat", bedrooms=2)
    changed = lettings.post("updatePropertyUnit", id=made["id"], expectedVersion=1, bedrooms=None, floor="1")
    assert changed == {**made, "bedrooms": None, "floor": "1", "version": 2, "updatedAt": changed["updatedAt"]}
    with pytest.raises(Problem) as caught:
        lettings.post("updatePropertyUnit", id=made["id"], expectedVersion=1)
    assert caught.value.code == "version_conflict"
    theirs = Lettings(store)
    with pytest.raises(Problem) as caught:
        theirs.post("updatePropertyUnit", id=made["id"])
    assert caught.value.code == "not_found"
    assert theirs.get("listPropertyUnits")[0] == []


def test_a_unit_that_nobody_lives_in_is_archived_and_comes_back(lettings: Lettings) -> None:
    home = lettings.property()
    made, kept = lettings.unit(home["id"], "1"), lettings.unit(home["id"], "2")
    lettings.tenancy(home["id"], made["id"], end_date="2026-11-19")
    lettings.tenancy(home["id"])  # of the whole property, which needs no units
    archived = lettings.post("updatePropertyUnit", id=made["id"], archived=True)
    assert archived["archivedAt"] == "2026-11-20T09:30:00.000Z"
    lettings.store.clock.advance(1_000_000)
    again = lettings.post("updatePropertyUnit", id=made["id"], archived=True)
    assert again["archivedAt"] == archived["archivedAt"]
    assert [row["id"] for row in lettings.get("listPropertyUnits")[0]] == [kept["id"]]
    assert [row["id"] for row in lettings.get("listPropertyUnits", "status=archived")[0]] == [made["id"]]
    assert len(lettings.get("listPropertyUnits", "includeArchived=true")[0]) == 2
    assert lettings.post("updatePropertyUnit", id=made["id"], archived=False)["archivedAt"] is None


@pytest.mark.parametrize("values", [{}, {"end_date": "2026-11-20"}, {"start_date": "2027-02-01"}])
def test_a_unit_with_a_tenancy_is_not_archived(lettings: Lettings, values: dict[str, str]) -> None:
    made = lettings.unit(lettings.property()["id"])
    tenancy = lettings.tenancy(made["propertyId"], made["id"], **values)
    with pytest.raises(Problem) as caught:
        lettings.post("updatePropertyUnit", id=made["id"], archived=True)
    assert caught.value.code == "invalid_state"
    assert tenancy in caught.value.message


# -- occupancy


@pytest.mark.parametrize(
    ("values", "occupancy"),
    [
        ({}, "let"),
        ({"start_date": "2026-11-20"}, "let"),
        ({"start_date": "2026-11-21"}, "vacant"),
        ({"end_date": "2026-11-19"}, "vacant"),
        ({"end_date": "2026-11-20"}, "ending"),
        ({"end_date": "2027-01-19"}, "ending"),  # in 60 days
        ({"end_date": "2027-01-20"}, "let"),
        ({"notice_served_date": "2026-11-20", "notice_expiry_date": "2027-06-01"}, "ending"),
        ({"notice_served_date": "2026-11-21", "notice_expiry_date": "2027-06-01"}, "let"),
        ({"notice_served_date": "2026-11-21", "notice_expiry_date": "2027-01-19", "notice_by": "tenant"}, "ending"),
        ({"notice_served_date": "2026-11-21", "notice_expiry_date": "2027-01-19", "notice_by": "landlord"}, "let"),
        ({"notice_served_date": "2026-10-01", "notice_expiry_date": "2026-11-19", "notice_by": "tenant"}, "vacant"),
        # they stay, whatever the notice says, until somebody says that they left
        ({"notice_served_date": "2026-10-01", "notice_expiry_date": "2026-11-19", "notice_by": "landlord"}, "ending"),
        ({"notice_served_date": "2026-10-01", "notice_expiry_date": "2026-11-19", "type": "lodger"}, "vacant"),
        ({"notice_served_date": "2026-10-01", "notice_expiry_date": "2026-11-19", "end_date": "2027-06-01"}, "ending"),
        ({"type": "company_let", "term_end_date": "2026-12-31"}, "ending"),
        ({"type": "commercial_lease", "term_end_date": "2026-11-19"}, "let"),  # Landlord and Tenant Act 1954 s24
        ({"type": "assured_shorthold", "start_date": "2025-12-01", "term_end_date": "2026-11-30"}, "let"),  # Domain 0.1
        ({"start_date": "2026-12-01", "cancelled_at": 1}, "vacant"),
        ({"cancelled_at": 1}, "vacant"),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_unit_is_let_while_a_tenancy_runs(
    lettings: Lettings, values: dict[str, object], occupancy: str, whole: bool
) -> None:
    home = lettings.property()
    unit, other = lettings.unit(home["id"], "1"), lettings.unit(home["id"], "2")
    elsewhere = lettings.unit(lettings.property()["id"])
    lettings.tenancy(home["id"], None if whole else unit["id"], **values)
    shown = {row["id"]: row["occupancy"] for row in lettings.get("listPropertyUnits")[0]}
    assert shown == {unit["id"]: occupancy, other["id"]: occupancy if whole else "vacant", elsewhere["id"]: "vacant"}
    included = lettings.one("getProperty", f"id={home['id']}&include=units")["units"]
    assert [row["occupancy"] for row in included] == [shown[unit["id"]], shown[other["id"]]]
    assert lettings.post("updatePropertyUnit", id=unit["id"])["occupancy"] == occupancy


class Let(NamedTuple):
    """A tenancy by days from today. `unit` None: of the whole property."""

    unit: int | None
    start: int
    last: int | None
    notice: int | None
    is_cancelled: bool


DAYS = st.integers(-3, 3) | st.integers(57, 63)
LETS = st.lists(
    st.builds(
        Let,
        unit=st.sampled_from([0, 1, 2, None]),
        start=st.integers(-5, 3),
        last=DAYS | st.none(),
        notice=st.integers(-3, 3) | st.none(),
        is_cancelled=st.booleans(),
    ),
    max_size=6,
)
UNITS = 4


def occupancy_of(unit: int, lets: list[Let]) -> str:
    """By words: who is there today, and whether any of them means to stay."""
    there = [
        let
        for let in lets
        if let.unit in (unit, None) and not let.is_cancelled and let.start <= 0 and (let.last is None or let.last >= 0)
    ]
    staying = [let for let in there if (let.notice is None or let.notice > 0) and (let.last is None or let.last > 60)]
    return "let" if staying else "ending" if there else "vacant"


def day(offset: int | None) -> str | None:
    return None if offset is None else (TODAY + datetime.timedelta(days=offset)).isoformat()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lets=LETS)
def test_lists_by_occupancy_part_the_units_as_days_say(fresh_store: Callable[[], MemoryStore], lets: list[Let]) -> None:
    lettings = Lettings(fresh_store())
    home = lettings.property()
    units = [lettings.unit(home["id"], str(n))["id"] for n in range(UNITS)]
    for let in lets:
        lettings.tenancy(
            home["id"],
            None if let.unit is None else units[let.unit],
            start_date=day(let.start),
            end_date=day(let.last),
            notice_served_date=day(let.notice),
            notice_expiry_date=None if let.notice is None else day(9),  # the landlord's, which ends nothing
            cancelled_at=1 if let.is_cancelled else None,
        )
    expected = {units[n]: occupancy_of(n, lets) for n in range(UNITS)}
    assert {row["id"]: row["occupancy"] for row in lettings.get("listPropertyUnits")[0]} == expected
    for status in ("vacant", "let", "ending"):
        found = lettings.walk("listPropertyUnits", f"propertyId={home['id']}&status={status}&limit=1")
        assert {row["id"] for row in found} == {id_ for id_, one in expected.items() if one == status}
    lettings.store.close()


def test_the_list_is_filtered_and_goes_on(lettings: Lettings, store: MemoryStore) -> None:
    home = lettings.property()
    made = [lettings.unit(home["id"], str(n))["id"] for n in range(5)]
    lettings.unit(lettings.property()["id"], externalId="x")
    walked = lettings.walk("listPropertyUnits", f"propertyId={home['id']}&limit=2")
    assert [row["id"] for row in walked] == made[::-1]
    assert len(lettings.get("listPropertyUnits", "externalId=x")[0]) == 1
    assert lettings.get("listPropertyUnits", "propertyId=prop_1")[0] == []
    store.clock.advance(1_000_000)
    since = lettings.post("updatePropertyUnit", id=made[3], floor="1")["updatedAt"]
    lettings.post("updatePropertyUnit", id=made[0], floor="1")
    lettings.tenancy(home["id"], made[3])
    changed = lettings.walk("listPropertyUnits", f"updatedSince={since}&limit=1")
    assert {row["id"]: row["occupancy"] for row in changed} == {made[3]: "let", made[0]: "vacant"}
    assert [row["id"] for row in lettings.get("listPropertyUnits", f"updatedSince={since}&status=vacant")[0]] == [
        made[0]
    ]
