"""Certificates that the law asks for and nobody has, and how many there are in each state."""

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.landlord.certificates import counting
from gatewayd.areas.landlord.certificates.counting import Counts
from gatewayd.areas.landlord.certificates.kinds import KINDS
from gatewayd.areas.landlord.certificates.missing import REQUIREMENTS, Facts, required
from gatewayd.areas.landlord.certificates.rows import shown
from gatewayd.areas.landlord.certificates.shapes import WINDOW_DAYS
from gatewayd.clock import days_after
from gatewayd.errors import Problem
from gatewayd.ledger.certificate_shapes import Certificate
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore

TODAY = "2026-11-20"
_MAKE_FLAT = "UPDATE property_units SET type = 'flat' WHERE org_id = :org_id AND id = :id"


def flat(premises: Premises, property_id: str, *, archived: bool = False) -> str:
    unit_id = premises.unit(property_id, archived=archived)
    premises.store.write(lambda tx: tx.run(_MAKE_FLAT, id=unit_id), premises.org_id)
    return unit_id


def lacking(premises: Premises, query: str = "") -> list[tuple[str, str, str | None]]:
    rows = premises.walk("listCertificates", f"status=missing&{query}")
    return [(row["propertyId"], row["type"], row["unitId"]) for row in rows]


def types(premises: Premises, property_id: str) -> list[str]:
    return [type_ for _, type_, _ in lacking(premises, f"propertyId={property_id}&limit=1")]


def facts(**values: Any) -> Facts:
    """A house in England that is let to families, with gas and without a licence, but for what `values` say."""
    given: dict[str, Any] = {
        "status": "active",
        "type": "house",
        "use": "residential_let",
        "jurisdiction": "england",
        "licensing": "none",
        "gas_supply": True,
    }
    return Facts(**{**given, **values})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, {"gas_safety", "eicr", "epc"}),
        ({"gas_supply": False}, {"eicr", "epc"}),
        ({"gas_supply": None}, {"gas_safety", "eicr", "epc"}),  # nobody said that there is none
        ({"status": "under_offer"}, {"gas_safety", "eicr", "epc"}),
        ({"status": "sold"}, set()),
        ({"status": "archived"}, set()),
        ({"use": "mixed"}, {"gas_safety", "eicr", "epc"}),
        ({"use": "holiday_let"}, {"gas_safety"}),
        ({"use": "rent_a_room"}, {"gas_safety"}),
        ({"use": "commercial_let"}, {"epc"}),
        ({"use": "own_use"}, set()),
        ({"use": "vacant"}, set()),
        ({"type": "garage"}, set()),
        ({"type": "land"}, set()),
        ({"jurisdiction": "scotland"}, {"gas_safety", "eicr", "epc", "landlord_registration"}),
        ({"jurisdiction": "northern_ireland"}, {"gas_safety", "eicr", "epc", "landlord_registration"}),
        ({"jurisdiction": "wales"}, {"gas_safety", "eicr", "epc", "rent_smart_wales"}),
        ({"jurisdiction": "other"}, set()),
        ({"licensing": "mandatory_hmo", "type": "hmo"}, {"gas_safety", "eicr", "epc", "hmo_licence"}),
        ({"licensing": "additional_hmo"}, {"gas_safety", "eicr", "epc", "additional_licence"}),
        ({"licensing": "selective"}, {"gas_safety", "eicr", "epc", "selective_licence"}),
        ({"licensing": "unknown"}, {"gas_safety", "eicr", "epc"}),
        ({"licensing": "mandatory_hmo", "use": "rent_a_room"}, {"gas_safety", "hmo_licence"}),
    ],
)
def test_the_law_asks_by_place_use_and_licence(premises: Premises, values: dict[str, Any], expected: set[str]) -> None:
    assert {requirement.type for requirement in required(facts(**values))} == expected
    property_id = premises.property(**facts(**values)._asdict())
    assert types(premises, property_id) == sorted(expected)


def test_only_what_the_law_asks_for_is_ever_missing() -> None:
    assert {KINDS[requirement.type].basis for requirement in REQUIREMENTS} == {"law"}


def test_what_is_missing_has_no_id(premises: Premises) -> None:
    property_id = premises.property(currency="EUR", gas_supply=False)
    premises.certificate(property_id, "eicr", "2026-01-01")
    rows = premises.get("listCertificates", "status=missing")[0]
    given = {"propertyId": property_id, "type": "epc", "status": "missing", "currency": "EUR"}
    assert [{name: value for name, value in row.items() if value is not None} for row in rows] == [given]
    assert rows[0].keys() == premises.get("listCertificates")[0][0].keys()
    assert rows[0]["id"] is None


def test_what_has_ended_is_expired_and_not_missing(premises: Premises) -> None:
    property_id = premises.property()
    made = premises.certificate(property_id, "epc", "2010-01-01")
    assert types(premises, property_id) == ["eicr", "gas_safety"]
    premises.post("deleteCertificate", id=made["id"])
    assert types(premises, property_id) == ["eicr", "epc", "gas_safety"]


def test_each_flat_needs_its_own_unless_there_is_one_for_the_whole(premises: Premises) -> None:
    property_id = premises.property(licensing="selective")
    one, other = flat(premises, property_id), flat(premises, property_id)
    flat(premises, property_id, archived=True)
    room = premises.unit(property_id)
    premises.certificate(property_id, "eicr", "2026-01-01", unitId=one)
    premises.certificate(property_id, "epc", "2026-01-01")
    premises.certificate(property_id, "gas_safety", "2026-01-01", unitId=room)
    assert lacking(premises, "limit=1") == [
        (property_id, "eicr", other),
        (property_id, "gas_safety", one),
        (property_id, "gas_safety", other),
        (property_id, "selective_licence", None),
    ]
    assert lacking(premises, f"unitId={other}") == [(property_id, "eicr", other), (property_id, "gas_safety", other)]
    assert lacking(premises, f"unitId={room}") == []


def test_what_each_flat_needs(premises: Premises) -> None:
    property_id = premises.property(jurisdiction="wales", licensing="selective")
    unit_id = flat(premises, property_id)
    assert lacking(premises) == [
        (property_id, "eicr", unit_id),
        (property_id, "epc", unit_id),
        (property_id, "gas_safety", unit_id),
        (property_id, "rent_smart_wales", None),
        (property_id, "selective_licence", None),
    ]


def test_without_flats_one_of_any_part_will_do(premises: Premises) -> None:
    property_id = premises.property()
    premises.certificate(property_id, "gas_safety", "2026-01-01", unitId=premises.unit(property_id))
    assert types(premises, property_id) == ["eicr", "epc"]


def test_what_is_missing_is_found_by_property_and_type(premises: Premises, store: MemoryStore) -> None:
    one, other = premises.property(), premises.property(gas_supply=False)
    theirs = Premises(store).property()
    assert lacking(premises, "type=epc,gas_safety&limit=2") == [
        (one, "epc", None),
        (one, "gas_safety", None),
        (other, "epc", None),
    ]
    assert lacking(premises, f"propertyId={other}&type=epc") == [(other, "epc", None)]
    assert lacking(premises, "type=pat") == []
    assert lacking(premises, f"propertyId={theirs}") == []
    assert {type_ for _, type_, _ in lacking(premises)} == {"gas_safety", "eicr", "epc"}


def test_what_is_missing_has_no_date(premises: Premises) -> None:
    query = "status=missing&expiryDateBefore=2027-01-01&updatedSince=2026-01-01T00:00:00Z&externalId=x"
    with pytest.raises(Problem) as caught:
        premises.get("listCertificates", query)
    assert fields_of(caught.value) == [
        ("expiryDateBefore", "conflict"),
        ("updatedSince", "conflict"),
        ("externalId", "conflict"),
    ]


def test_missing_ones_are_not_among_those_that_are_there(premises: Premises) -> None:
    premises.property()
    assert premises.get("listCertificates")[0] == []
    assert premises.get("listCertificates", "includeSuperseded=true")[0] == []


# -- counts


def counts(premises: Premises, day: str = TODAY, window: int = 60, **whose: str | None) -> Counts:
    def count(tx: Any) -> Counts:
        return counting.counts(tx, whose.get("business_id"), whose.get("legal_entity_id"), day, window)

    found: Counts = premises.read(count)
    return found


def upcoming(premises: Premises, count: int = 10, day: str = TODAY, **whose: str | None) -> list[Certificate]:
    def find(tx: Any) -> list[Certificate]:
        found = counting.next_to_expire(tx, whose.get("business_id"), whose.get("legal_entity_id"), day, count)
        return [shown(row, day, WINDOW_DAYS) for row in found]

    found: list[Certificate] = premises.read(find)
    return found


def test_each_state_is_counted(premises: Premises) -> None:
    assert counts(premises) == Counts(0, 0, 0, 0)
    property_id = premises.property(licensing="selective")
    premises.certificate(property_id, "gas_safety", "2025-01-01")  # until 2026-01-01
    premises.certificate(property_id, "eicr", "2022-01-01")  # until 2026-12-31
    premises.certificate(property_id, "pat", "2025-11-21")  # until today
    premises.certificate(property_id, "legionella_assessment", "2026-01-01")
    premises.certificate(property_id, "prs_database", "2026-01-01")
    premises.certificate(property_id, "legionella_assessment", "2023-01-01")  # superseded
    assert counts(premises) == Counts(valid=2, expiring=2, expired=1, missing=2)
    assert counts(premises, window=0) == Counts(valid=3, expiring=1, expired=1, missing=2)
    assert [row.type for row in upcoming(premises)] == ["pat", "eicr", "legionella_assessment"]
    assert [(row.type, row.status) for row in upcoming(premises, count=2)] == [
        ("pat", "expiring"),
        ("eicr", "expiring"),
    ]
    faulty = premises.certificate(property_id, "eicr", "2026-06-01", result="unsatisfactory")
    assert counts(premises) == Counts(valid=2, expiring=1, expired=2, missing=2)
    assert faulty["id"] not in [row.id for row in upcoming(premises)]


def test_a_day_before_has_what_was_current_then(premises: Premises) -> None:
    property_id = premises.property()
    premises.certificate(property_id, "gas_safety", "2025-01-10")
    premises.certificate(property_id, "gas_safety", "2026-01-05")  # until 2027-01-10
    assert counts(premises, "2025-01-09") == Counts(0, 0, 0, 3)
    assert counts(premises, "2025-01-10") == Counts(1, 0, 0, 2)
    assert counts(premises, "2026-01-04") == Counts(0, 1, 0, 2)
    assert counts(premises, "2026-01-05") == Counts(1, 0, 0, 2)
    assert [row.expiry_date for row in upcoming(premises, day="2026-01-04")] == ["2026-01-10"]
    assert [row.status for row in upcoming(premises, day="2026-01-04")] == ["expiring"]
    assert [row.expiry_date for row in upcoming(premises, day="2026-01-05")] == ["2027-01-10"]


def test_every_day_has_what_was_issued_last_by_then(premises: Premises) -> None:
    """Of three houses with papers of odd days, a day is counted by going through all of them."""
    chance = random.Random(7)
    papers: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    houses = [premises.property() for _ in range(3)]
    for _ in range(40):
        house, type_, issued = chance.choice(houses), chance.choice(["epc", "pat", "eicr"]), chance.randrange(900)
        if any(first == days_after("2024-06-01", issued) for first, _ in papers[house, type_]):
            continue
        first, last = (days_after("2024-06-01", at) for at in (issued, issued + chance.randrange(400)))
        papers[house, type_].append((first, last))
        premises.certificate(house, type_, first, expiryDate=last)
    for day in (days_after("2024-05-20", 9 * number) for number in range(110)):
        current = {of: max(found)[1] for of, every in papers.items() if (found := [p for p in every if p[0] <= day])}
        lasts = sorted(current.values())
        valid, over = (sum(at > days_after(day, 60) for at in lasts), sum(at < day for at in lasts))
        lacking = sum((house, type_) not in current for house in houses for type_ in ("epc", "eicr", "gas_safety"))
        assert counts(premises, day) == Counts(valid, len(lasts) - valid - over, over, lacking), day
        assert [row.expiry_date for row in upcoming(premises, 4, day)] == [at for at in lasts if at >= day][:4], day


def test_a_day_before_is_read_off_what_was_issued_and_superseded_since(premises: Premises) -> None:
    asked = {"business_id": None, "legal_entity_id": None, "day": TODAY, "until": TODAY}
    plans = [
        " ".join(row[3] for row in premises.read(lambda tx, sql=sql: tx.rows(f"EXPLAIN QUERY PLAN {sql}", **asked)))
        for sql in counting._SELECT_COUNTS
    ]
    for plan, index in zip(plans, ("of_property_by_expiry", "by_issue", "by_succession"), strict=True):
        assert f"certificates_{index} (" in plan


def test_counts_are_of_a_business_or_an_entity(premises: Premises, store: MemoryStore) -> None:
    entity_id = premises.unregistered_entity(type="individual")
    business_id = premises.lets(entity_id)
    mine, theirs = premises.property(), premises.property(business_id=business_id)
    for property_id in (mine, theirs, premises.property(status="sold"), premises.property(status="archived")):
        if property_id in (mine, theirs):
            premises.certificate(property_id, "gas_safety", "2026-01-01")
    premises.certificate(theirs, "epc", "2026-01-01")
    sold = premises.property(status="sold", business_id=business_id)
    premises.certificate(sold, "gas_safety", "2025-01-01")
    Premises(store).property()
    assert counts(premises, window=0) == Counts(3, 0, 0, 3)
    assert counts(premises, window=0, business_id=business_id) == Counts(2, 0, 0, 1)
    assert counts(premises, window=0, legal_entity_id=entity_id) == Counts(2, 0, 0, 1)
    assert counts(premises, window=0, legal_entity_id=premises.entity_id) == Counts(1, 0, 0, 2)
    assert counts(premises, window=0, legal_entity_id=entity_id, business_id=premises.business_id) == Counts(0, 0, 0, 0)
    assert {row.property_id for row in upcoming(premises, business_id=business_id)} == {theirs}
    assert {row.property_id for row in upcoming(premises, legal_entity_id=premises.entity_id)} == {mine}


# -- at random

FACTS = st.builds(
    Facts,
    status=st.sampled_from(["active", "active", "active", "under_offer", "sold"]),
    type=st.sampled_from(["house", "block", "hmo", "commercial", "garage"]),
    use=st.sampled_from(
        ["residential_let", "residential_let", "mixed", "holiday_let", "rent_a_room", "commercial_let"]
    ),
    jurisdiction=st.sampled_from(["england", "wales", "scotland", "northern_ireland", "other"]),
    licensing=st.sampled_from(["none", "mandatory_hmo", "additional_hmo", "selective", "unknown"]),
    gas_supply=st.sampled_from([True, False, None]),
)
HELD = st.sets(
    st.tuples(st.sampled_from(["gas_safety", "eicr", "epc", "hmo_licence", "rent_smart_wales"]), st.integers(0, 2)),
    max_size=8,
)


@given(properties=st.lists(st.tuples(FACTS, st.integers(0, 2), HELD), max_size=4), limit=st.integers(1, 5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_the_statement_says_what_the_table_says(
    fresh_store: Callable[[], MemoryStore],
    properties: list[tuple[Facts, int, set[tuple[str, int]]]],
    limit: int,
) -> None:
    store = fresh_store()
    try:
        premises = Premises(store)
        expected = set()
        for about, flats, held in properties:
            property_id = premises.property(**about._asdict())
            units = [None, *(flat(premises, property_id) for _ in range(flats))]
            has = {(type_, units[index % len(units)]) for type_, index in held}
            for type_, unit_id in has:
                premises.certificate(property_id, type_, "2026-01-01", unitId=unit_id)
            for requirement in required(about):
                places = units[1:] if requirement.each_flat and flats else [None]
                held_by = {unit for type_, unit in has if type_ == requirement.type}
                for place in places:
                    covered = bool(held_by) if place is None else bool({None, place} & held_by)
                    if not covered:
                        expected.add((property_id, str(requirement.type), place))
        found = lacking(premises, f"limit={limit}")
        assert found == sorted(expected, key=lambda one: (one[0], one[1], one[2] or ""))
        assert counts(premises).missing == len(expected)
    finally:
        store.close()


def test_a_row_of_each_state_reads_as_one(premises: Premises) -> None:
    rows: list[Json] = []
    property_id = premises.property()
    premises.certificate(property_id, "epc", "2026-01-01")
    for status in ("valid", "missing"):
        rows += premises.get("listCertificates", f"status={status}")[0]
    assert len({tuple(row) for row in rows}) == 1
