"""Certificates: what is made, follows what, is changed and deleted, and what is refused."""

from typing import get_args

import pytest

from gatewayd.areas.landlord.certificates.kinds import KINDS, default_expiry
from gatewayd.areas.landlord.certificates.rows import of_property
from gatewayd.clock import DAY, days_after
from gatewayd.errors import Problem
from gatewayd.ledger.certificate_shapes import CertificateType
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore

TODAY = "2026-11-20"


def update(premises: Premises, certificate: Json, **fields: object) -> Json:
    return premises.post("updateCertificate", id=certificate["id"], **fields)


def delete(premises: Premises, certificate: Json, **fields: object) -> Json:
    return premises.post("deleteCertificate", id=certificate["id"], **fields)


def refused(premises: Premises, property_id: str, type_: str, issued: str, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        premises.certificate(property_id, type_, issued, **fields)
    return fields_of(caught.value)


def followers(premises: Premises, property_id: str) -> dict[str, str | None]:
    """The reference of each certificate, and that of the one that follows it."""
    rows = premises.walk("listCertificates", f"propertyId={property_id}&includeSuperseded=true")
    references = {row["id"]: row["reference"] for row in rows}
    for row in rows:
        assert (row["status"] == "superseded") is (row["supersededById"] is not None)
    return {row["reference"]: references.get(row["supersededById"]) for row in rows}


def test_a_new_certificate_is_answered_whole(premises: Premises) -> None:
    property_id = premises.property()
    unit_id = premises.unit(property_id)
    tenancy_id = premises.tenancy(property_id, unit_id=unit_id)
    made = premises.certificate(
        property_id,
        "epc",
        "2026-03-10",
        unitId=unit_id,
        tenancyId=tenancy_id,
        title="Flat 1",
        reference="8904-2331",
        expiryDate="2036-03-01",
        issuerName="Elm Surveys",
        issuerRegistration="EES/1",
        result="satisfactory",
        rating="C",
        score=72,
        servedDate="2026-03-11",
        cost="65",
        externalId="c-1",
    )
    assert made["id"].startswith("cert_")
    stamps = ("id", "createdAt", "updatedAt")
    assert {name: value for name, value in made.items() if name not in stamps} == {
        "externalId": "c-1",
        "propertyId": property_id,
        "unitId": unit_id,
        "tenancyId": tenancy_id,
        "type": "epc",
        "status": "valid",
        "title": "Flat 1",
        "reference": "8904-2331",
        "issuedDate": "2026-03-10",
        "expiryDate": "2036-03-01",
        "issuerName": "Elm Surveys",
        "issuerRegistration": "EES/1",
        "result": "satisfactory",
        "rating": "C",
        "score": 72,
        "remedialDueDate": None,
        "remedialDoneDate": None,
        "servedDate": "2026-03-11",
        "documentId": None,
        "cost": "65.00",
        "currency": "GBP",
        "supersededById": None,
        "version": 1,
    }
    assert premises.get("listCertificates")[0] == [made]
    with pytest.raises(Problem) as caught:
        premises.certificate(property_id, "pat", "2026-03-10", externalId="c-1")
    assert caught.value.code == "already_exists"
    other = premises.certificate(property_id, "pat", "2026-03-10")
    with pytest.raises(Problem) as caught:
        update(premises, other, externalId="c-1")
    assert caught.value.code == "already_exists"


def test_the_issuer_has_a_short_name(premises: Premises) -> None:
    property_id = premises.property()
    made = premises.certificate(property_id, "pat", "2026-03-10", issuer="Avon Electric")
    assert made["issuerName"] == "Avon Electric"
    assert refused(premises, property_id, "pat", TODAY, issuer="One", issuerName="Two") == [("issuer", "conflict")]
    assert update(premises, made, issuer="Tamar Electric")["issuerName"] == "Tamar Electric"
    assert update(premises, made, reference="P-1")["issuerName"] == "Tamar Electric"
    assert update(premises, made, issuer=None)["issuerName"] is None
    assert update(premises, made, issuerName="Severn Electric")["issuerName"] == "Severn Electric"
    assert update(premises, made, issuerName=None)["issuerName"] is None
    with pytest.raises(Problem) as caught:
        update(premises, made, issuer="One", issuerName="Two")
    assert fields_of(caught.value) == [("issuer", "conflict")]


@pytest.mark.parametrize(
    ("type_", "issued", "fields", "expected"),
    [
        ("epc", "2026-11-21", {}, [("issuedDate", "out_of_range")]),
        ("epc", "1899-12-31", {}, [("issuedDate", "out_of_range")]),
        ("epc", "9999-12-31", {"result": "unsatisfactory"}, [("issuedDate", "out_of_range")]),
        ("epc", "2026-03-10", {"expiryDate": "2026-03-09"}, [("expiryDate", "date_order")]),
        ("epc", "2026-03-10", {"expiryDate": "2200-01-01"}, [("expiryDate", "out_of_range")]),
        ("epc", "2026-03-10", {"servedDate": "2026-03-09"}, [("servedDate", "date_order")]),
        ("epc", "2026-03-10", {"servedDate": "2026-11-21"}, [("servedDate", "out_of_range")]),
        ("eicr", "2026-03-10", {"remedialDueDate": "2026-03-09"}, [("remedialDueDate", "date_order")]),
        ("eicr", "2026-03-10", {"remedialDoneDate": "2026-11-21"}, [("remedialDoneDate", "out_of_range")]),
        ("eicr", "2026-03-10", {"rating": "C", "score": 60}, [("rating", "conflict"), ("score", "conflict")]),
        ("epc", "2026-03-10", {"cost": "-0.01"}, [("cost", "out_of_range")]),
        ("epc", "2026-03-10", {"cost": "1.005"}, [("cost", "invalid_decimal")]),
        ("other", "2026-03-10", {}, [("title", "required")]),
        ("epc", "2026-03-10", {"documentId": "doc_1"}, [("documentId", "unknown_reference")]),
        (
            "epc",
            "2026-03-10",
            {"unitId": "unit_1", "tenancyId": "tcy_1"},
            [("unitId", "unknown_reference"), ("tenancyId", "unknown_reference")],
        ),
    ],
)
def test_what_cannot_be_is_refused(
    premises: Premises, type_: str, issued: str, fields: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    assert refused(premises, premises.property(), type_, issued, **fields) == expected


def test_what_is_just_possible_is_taken(premises: Premises) -> None:
    made = premises.certificate(premises.property(), "pat", "1900-01-01", expiryDate="2199-12-31", cost="0.00")
    assert (made["issuedDate"], made["expiryDate"], made["cost"]) == ("1900-01-01", "2199-12-31", "0.00")
    same = "2026-03-10"
    dates = {"expiryDate": same, "servedDate": same, "remedialDueDate": same, "remedialDoneDate": same}
    assert premises.certificate(premises.property(), "eicr", same, **dates)["status"] == "expired"


def test_units_and_tenancies_are_of_the_property(premises: Premises) -> None:
    property_id, other = premises.property(), premises.property()
    theirs, gone, mine, next_door = (
        premises.unit(other),
        premises.unit(property_id, archived=True),
        premises.unit(property_id),
        premises.unit(property_id),
    )
    assert refused(premises, property_id, "epc", TODAY, unitId=theirs) == [("unitId", "conflict")]
    assert refused(premises, property_id, "epc", TODAY, unitId=gone) == [("unitId", "conflict")]
    foreign = premises.tenancy(other)
    assert refused(premises, property_id, "epc", TODAY, tenancyId=foreign) == [("tenancyId", "conflict")]
    of_mine = premises.tenancy(property_id, unit_id=mine)
    assert refused(premises, property_id, "epc", TODAY, unitId=next_door, tenancyId=of_mine) == [
        ("tenancyId", "conflict")
    ]
    made = premises.certificate(property_id, "epc", TODAY, tenancyId=of_mine)
    with pytest.raises(Problem) as caught:
        update(premises, made, unitId=next_door)
    assert fields_of(caught.value) == [("tenancyId", "conflict")]
    assert update(premises, made, unitId=mine)["unitId"] == mine


def test_what_a_certificate_keeps_is_not_asked_again(premises: Premises) -> None:
    property_id = premises.property()
    unit_id = premises.unit(property_id)
    made = premises.certificate(property_id, "epc", TODAY, unitId=unit_id)
    archive = "UPDATE property_units SET archived_at = :now WHERE org_id = :org_id AND id = :id"
    premises.store.write(lambda tx: tx.run(archive, id=unit_id), premises.org_id)
    assert update(premises, made, reference="E-1")["reference"] == "E-1"


def test_a_property_that_is_archived_takes_none(premises: Premises, store: MemoryStore) -> None:
    premises.certificate(premises.property(status="sold"), "epc", "2026-03-10")
    with pytest.raises(Problem) as caught:
        premises.certificate(premises.property(status="archived"), "epc", "2026-03-10")
    assert caught.value.code == "invalid_state"
    theirs = Premises(store).property()
    for unknown in (theirs, "prop_1"):
        assert refused(premises, unknown, "epc", TODAY) == [("propertyId", "unknown_reference")]


def test_another_organizations_certificate_is_unknown(premises: Premises, store: MemoryStore) -> None:
    theirs = Premises(store)
    made = theirs.certificate(theirs.property(), "epc", "2026-03-10")
    for change in (update, delete):
        with pytest.raises(Problem) as caught:
            change(premises, made)
        assert caught.value.code == "not_found"
    assert premises.get("listCertificates")[0] == []


def test_a_change_is_made_to_the_version_that_was_seen(premises: Premises) -> None:
    made = premises.certificate(premises.property(), "epc", "2026-03-10")
    assert update(premises, made, rating="D", expectedVersion=1)["version"] == 2
    for change in (update, delete):
        with pytest.raises(Problem) as caught:
            change(premises, made, expectedVersion=1)
        assert caught.value.code == "version_conflict"
    assert delete(premises, made, expectedVersion=2) == {"id": made["id"], "deleted": True}


def test_absent_stays_and_null_clears(premises: Premises) -> None:
    made = premises.certificate(
        premises.property(), "epc", "2026-03-10", reference="E-1", rating="C", score=70, cost="60.00", issuer="Elm"
    )
    same = update(premises, made)
    assert {**same, "version": 1, "updatedAt": made["updatedAt"]} == made
    cleared = update(premises, made, reference=None, rating=None, score=None, cost=None, expiryDate=None)
    names = ("reference", "rating", "score", "cost", "expiryDate")
    assert [cleared[name] for name in names] == [None] * 5
    assert (cleared["issuerName"], cleared["status"]) == ("Elm", "valid")
    with pytest.raises(Problem) as caught:
        update(premises, made, documentId="doc_1")
    assert fields_of(caught.value) == [("documentId", "unknown_reference")]
    with pytest.raises(Problem) as caught:
        update(premises, made, type="other")
    assert fields_of(caught.value) == [("title", "required")]
    with pytest.raises(Problem) as caught:
        update(premises, made, issuedDate="2026-11-21")
    assert fields_of(caught.value) == [("issuedDate", "out_of_range")]


# -- how long


@pytest.mark.parametrize(
    ("type_", "issued", "expiry"),
    [
        ("gas_safety", "2026-03-10", "2027-03-10"),  # checked by then, it is in time
        ("gas_safety", "2024-02-29", "2025-02-28"),
        ("eicr", "2026-03-10", "2031-03-09"),  # 5 years that begin with the day
        ("epc", "2026-03-10", "2036-03-09"),
        ("epc", "2024-02-29", "2034-02-28"),
        ("hmo_licence", "2026-01-01", "2030-12-31"),
        ("fire_alarm", "2025-08-31", "2026-02-28"),
        ("legionella_assessment", "2026-03-10", "2028-03-09"),
        ("landlord_registration", "2026-03-10", "2029-03-09"),
        ("landlord_insurance", "2026-03-10", "2027-03-09"),
        ("smoke_co_check", "2026-03-10", None),
        ("deposit_protection", "2026-03-10", None),
        ("prs_database", "2026-03-10", None),
    ],
)
def test_without_an_expiry_it_holds_as_long_as_its_type(
    premises: Premises, type_: str, issued: str, expiry: str | None
) -> None:
    assert premises.certificate(premises.property(), type_, issued)["expiryDate"] == expiry


# Domain B4, "valid for", in months; None: no end of its own
MONTHS: dict[CertificateType, int | None] = {
    "gas_safety": 12,
    "eicr": 5 * 12,
    "epc": 10 * 12,
    "hmo_licence": 5 * 12,
    "additional_licence": 5 * 12,
    "selective_licence": 5 * 12,
    "fire_risk_assessment": 12,
    "legionella_assessment": 24,
    "pat": 12,
    "smoke_co_check": None,
    "emergency_lighting": 12,
    "fire_alarm": 6,
    "landlord_insurance": 12,
    "buildings_insurance": 12,
    "deposit_protection": None,
    "right_to_rent": None,
    "landlord_registration": 3 * 12,
    "rent_smart_wales": 5 * 12,
    "prs_database": None,
    "mees_exemption": 5 * 12,
    "other": None,
}


@pytest.mark.parametrize("type_", get_args(CertificateType))
def test_each_type_holds_for_its_months(type_: CertificateType) -> None:
    months = MONTHS[type_]
    expiry = default_expiry(type_, "2026-01-01", None)
    if months is None:
        assert expiry is None
    else:
        years, rest = divmod(months, 12)
        again = f"{2026 + years}-{1 + rest:02}-01"
        assert expiry == (again if type_ == "gas_safety" else days_after(again, -1))


def test_which_types_there_may_be_several_of() -> None:
    assert {type_ for type_, kind in KINDS.items() if kind.of_tenancy} == {
        "smoke_co_check",
        "deposit_protection",
        "right_to_rent",
    }
    assert {type_ for type_, kind in KINDS.items() if kind.by_title} == {"right_to_rent", "other"}
    practice = {"fire_risk_assessment", "legionella_assessment", "pat", "emergency_lighting", "fire_alarm"}
    assert {type_ for type_, kind in KINDS.items() if kind.basis == "practice"} == practice
    own = {"landlord_insurance", "buildings_insurance", "other"}
    assert {type_ for type_, kind in KINDS.items() if kind.basis == "own"} == own


def test_an_expiry_that_is_given_is_kept(premises: Premises) -> None:
    made = premises.certificate(premises.property(), "eicr", "2026-03-10", expiryDate="2026-03-10")
    assert made["expiryDate"] == "2026-03-10"


@pytest.mark.parametrize(
    ("issued", "expiry"),
    [
        ("2026-02-10", "2027-02-10"),  # the period of 2 months that ends on 10 April begins with 11 February
        ("2026-02-11", "2027-04-10"),
        ("2026-04-10", "2027-04-10"),
        ("2026-04-11", "2027-04-11"),
    ],
)
def test_gas_that_is_checked_early_keeps_its_day(premises: Premises, issued: str, expiry: str) -> None:
    property_id = premises.property()
    premises.certificate(property_id, "gas_safety", "2025-04-10")
    assert premises.certificate(property_id, "gas_safety", issued)["expiryDate"] == expiry


def test_the_day_that_is_kept_is_that_of_the_check_before(premises: Premises) -> None:
    property_id = premises.property()
    unit_id = premises.unit(property_id)
    premises.certificate(property_id, "gas_safety", "2024-04-10")
    premises.certificate(property_id, "gas_safety", "2026-03-01")
    assert premises.certificate(property_id, "gas_safety", "2025-03-01")["expiryDate"] == "2026-04-10"
    elsewhere = premises.certificate(property_id, "gas_safety", "2026-03-10", unitId=unit_id)
    assert elsewhere["expiryDate"] == "2027-03-10"
    of_wiring = premises.certificate(property_id, "eicr", "2021-04-10")
    assert of_wiring["expiryDate"] == "2026-04-09"
    assert premises.certificate(property_id, "eicr", "2026-03-01")["expiryDate"] == "2031-02-28"


# -- what follows what


def test_the_next_one_supersedes_the_one_before(premises: Premises) -> None:
    property_id = premises.property()
    first = premises.certificate(property_id, "eicr", "2021-03-10", reference="first")
    premises.store.clock.advance(DAY)
    second = premises.certificate(property_id, "eicr", "2026-03-10", reference="second")
    assert (second["supersededById"], second["status"]) == (None, "valid")
    assert followers(premises, property_id) == {"second": None, "first": "second"}
    assert [row["id"] for row in premises.get("listCertificates")[0]] == [second["id"]]
    stored = premises.get("listCertificates", "status=superseded")[0]
    assert [(row["id"], row["version"]) for row in stored] == [(first["id"], 1)]
    changed = premises.get("listCertificates", "updatedSince=2026-11-21T00:00:00Z")[0]
    assert [row["id"] for row in changed] == [first["id"], second["id"]]
    between = premises.certificate(property_id, "eicr", "2024-03-10", reference="between")
    assert (between["status"], between["supersededById"]) == ("superseded", second["id"])
    assert followers(premises, property_id) == {"between": "second", "second": None, "first": "between"}


def test_of_one_day_the_one_that_was_entered_later_is_the_next(premises: Premises) -> None:
    property_id = premises.property()
    premises.certificate(property_id, "eicr", TODAY, reference="first")
    premises.certificate(property_id, "eicr", TODAY, reference="second")
    assert followers(premises, property_id) == {"second": None, "first": "second"}


def test_units_types_and_properties_have_their_own(premises: Premises) -> None:
    property_id, other = premises.property(), premises.property()
    unit_id, next_door = premises.unit(property_id), premises.unit(property_id)
    premises.certificate(property_id, "eicr", "2025-03-10", reference="whole")
    premises.certificate(property_id, "eicr", "2026-03-10", reference="unit", unitId=unit_id)
    premises.certificate(property_id, "eicr", "2026-04-10", reference="next door", unitId=next_door)
    premises.certificate(property_id, "epc", "2026-03-10", reference="epc")
    premises.certificate(other, "eicr", "2026-03-10", reference="other")
    assert followers(premises, property_id) == {"epc": None, "next door": None, "unit": None, "whole": None}


def test_tenancies_have_their_own_where_each_is_asked(premises: Premises) -> None:
    property_id = premises.property()
    one, other = premises.tenancy(property_id), premises.tenancy(property_id)
    premises.certificate(property_id, "deposit_protection", "2026-03-10", reference="one", tenancyId=one)
    premises.certificate(property_id, "deposit_protection", "2026-04-10", reference="other", tenancyId=other)
    premises.certificate(property_id, "deposit_protection", "2026-05-10", reference="again", tenancyId=one)
    premises.certificate(property_id, "eicr", "2025-03-10", reference="eicr", tenancyId=one)
    premises.certificate(property_id, "eicr", "2026-03-10", reference="eicr again", tenancyId=other)
    assert followers(premises, property_id) == {
        "one": "again",
        "other": None,
        "again": None,
        "eicr": "eicr again",
        "eicr again": None,
    }


def test_titles_tell_apart_what_has_no_type_of_its_own(premises: Premises) -> None:
    property_id = premises.property()
    premises.certificate(property_id, "other", "2025-03-10", reference="roof", title="Roof  guarantee")
    premises.certificate(property_id, "other", "2026-03-10", reference="boiler", title="Boiler service")
    premises.certificate(property_id, "other", "2026-04-10", reference="roof again", title="roof guarantee")
    premises.certificate(property_id, "eicr", "2025-03-10", reference="eicr", title="House")
    premises.certificate(property_id, "eicr", "2026-03-10", reference="eicr again", title="Garage")
    assert followers(premises, property_id) == {
        "roof": "roof again",
        "boiler": None,
        "roof again": None,
        "eicr": "eicr again",
        "eicr again": None,
    }


def test_what_was_superseded_by_what_is_deleted_is_current_again(premises: Premises) -> None:
    property_id = premises.property()
    made = {
        year: premises.certificate(property_id, "landlord_insurance", f"{year}-03-10", reference=year)
        for year in ("2024", "2025", "2026")
    }
    assert delete(premises, made["2026"]) == {"id": made["2026"]["id"], "deleted": True}
    assert followers(premises, property_id) == {"2025": None, "2024": "2025"}
    delete(premises, made["2025"])
    assert followers(premises, property_id) == {"2024": None}
    delete(premises, made["2024"])
    assert premises.get("listCertificates", "includeSuperseded=true")[0] == []
    with pytest.raises(Problem) as caught:
        delete(premises, made["2024"])
    assert caught.value.code == "not_found"


def test_one_from_the_middle_leaves_no_gap(premises: Premises) -> None:
    property_id = premises.property()
    made = {
        year: premises.certificate(property_id, "landlord_insurance", f"{year}-03-10", reference=year)
        for year in ("2024", "2025", "2026")
    }
    delete(premises, made["2025"])
    assert followers(premises, property_id) == {"2026": None, "2024": "2026"}


def test_another_day_type_or_unit_is_another_place(premises: Premises) -> None:
    property_id = premises.property()
    unit_id = premises.unit(property_id)
    one = premises.certificate(property_id, "eicr", "2024-03-10", reference="one")
    two = premises.certificate(property_id, "eicr", "2025-03-10", reference="two")
    moved = update(premises, one, issuedDate="2026-03-10", expiryDate="2031-03-09")
    assert moved["supersededById"] is None
    assert followers(premises, property_id) == {"one": None, "two": "one"}
    update(premises, one, unitId=unit_id)
    assert followers(premises, property_id) == {"one": None, "two": None}
    update(premises, one, unitId=None, type="epc")
    assert followers(premises, property_id) == {"one": None, "two": None}
    back = update(premises, one, type="eicr", issuedDate="2024-03-10")
    assert (back["status"], back["supersededById"]) == ("superseded", two["id"])
    update(premises, two, issuedDate="2025-04-10")
    assert followers(premises, property_id) == {"one": "two", "two": None}


def test_who_is_followed_as_before_has_not_changed(premises: Premises) -> None:
    property_id = premises.property()
    first = premises.certificate(property_id, "eicr", "2024-03-10")
    second = premises.certificate(property_id, "eicr", "2025-03-10")
    premises.store.clock.advance(DAY)
    update(premises, second, reference="E-1")
    changed = premises.get("listCertificates", "updatedSince=2026-11-21T00:00:00Z")[0]
    assert [row["id"] for row in changed] == [second["id"]]
    assert premises.get("listCertificates", "status=superseded")[0][0]["id"] == first["id"]


# -- states


@pytest.mark.parametrize(
    ("expiry", "status"),
    [
        ("2026-11-19", "expired"),
        ("2026-11-20", "expiring"),  # it holds today
        ("2027-01-19", "expiring"),  # in 60 days
        ("2027-01-20", "valid"),
    ],
)
def test_the_state_follows_from_the_day(premises: Premises, expiry: str, status: str) -> None:
    made = premises.certificate(premises.property(), "epc", "2026-03-10", expiryDate=expiry)
    assert made["status"] == status
    for state in ("valid", "expiring", "expired", "superseded"):
        rows = premises.get("listCertificates", f"status={state}")[0]
        assert [row["status"] for row in rows] == ([status] if state == status else [])


def test_the_window_is_asked_for(premises: Premises) -> None:
    premises.certificate(premises.property(), "epc", "2026-03-10", expiryDate="2026-11-30")
    states = {days: premises.get("listCertificates", f"windowDays={days}")[0][0]["status"] for days in (0, 9, 10, 730)}
    assert states == {0: "valid", 9: "valid", 10: "expiring", 730: "expiring"}
    assert len(premises.get("listCertificates", "windowDays=10&status=expiring")[0]) == 1
    assert premises.get("listCertificates", "windowDays=9&status=expiring")[0] == []
    assert len(premises.get("listCertificates", "windowDays=9&status=valid")[0]) == 1


def test_faults_that_nobody_has_mended_are_no_better_than_nothing(premises: Premises) -> None:
    property_id = premises.property()
    made = premises.certificate(property_id, "eicr", "2026-11-01", result="unsatisfactory")
    assert (made["status"], made["remedialDueDate"]) == ("expired", "2026-11-29")
    assert [row["id"] for row in premises.get("listCertificates", "status=expired")[0]] == [made["id"]]
    mended = update(premises, made, remedialDoneDate="2026-11-15")
    assert mended["status"] == "valid"
    assert premises.get("listCertificates", "status=expired")[0] == []
    gas = premises.certificate(property_id, "gas_safety", "2026-11-01", result="unsatisfactory")
    assert (gas["status"], gas["remedialDueDate"]) == ("valid", None)
    later = update(premises, premises.certificate(property_id, "eicr", "2026-11-10"), result="unsatisfactory")
    assert (later["status"], later["remedialDueDate"]) == ("expired", "2026-12-08")
    told = premises.certificate(
        property_id, "eicr", "2026-11-12", result="unsatisfactory", remedialDueDate="2026-11-19"
    )
    assert told["remedialDueDate"] == "2026-11-19"


def test_nothing_goes_stale_while_nobody_writes(premises: Premises) -> None:
    premises.certificate(premises.property(), "epc", "2026-03-10", expiryDate="2026-11-20")
    assert [row["status"] for row in premises.get("listCertificates")[0]] == ["expiring"]
    premises.store.clock.advance(DAY)
    assert [row["status"] for row in premises.get("listCertificates")[0]] == ["expired"]


# -- lists


def references(premises: Premises, query: str) -> list[str]:
    return [row["reference"] for row in premises.walk("listCertificates", query)]


def test_certificates_are_found_by_what_they_are_of(premises: Premises) -> None:
    one, other = premises.property(), premises.property()
    premises.unit(other)
    unit_id = premises.unit(one)
    premises.certificate(one, "epc", "2025-01-01", reference="a", externalId="x")
    premises.certificate(one, "eicr", "2025-01-01", reference="b", unitId=unit_id)
    premises.certificate(other, "epc", "2025-01-01", reference="c")
    premises.certificate(other, "gas_safety", "2026-01-01", reference="d")
    premises.certificate(one, "epc", "2025-06-01", reference="e")
    assert references(premises, "limit=1") == ["e", "d", "c", "b"]
    assert references(premises, f"propertyId={one}&limit=1") == ["e", "b"]
    assert references(premises, f"unitId={unit_id}") == ["b"]
    assert references(premises, "type=epc&type=eicr&limit=1") == ["e", "c", "b"]
    assert references(premises, "type=epc,epc&limit=1") == ["e", "c"]
    assert references(premises, "externalId=x&includeSuperseded=true") == ["a"]
    assert references(premises, "status=superseded") == ["a"]
    assert references(premises, "updatedSince=2026-11-20T00:00:00Z&limit=1") == ["a", "b", "c", "d", "e"]


def test_what_expires_comes_in_its_order(premises: Premises) -> None:
    property_id = premises.property()
    for type_, expiry in (
        ("epc", "2027-06-01"),
        ("gas_safety", "2026-12-01"),
        ("pat", "2026-11-30"),
        ("fire_alarm", "2026-12-01"),
        ("eicr", "2026-11-01"),
        ("legionella_assessment", "2026-10-01"),
    ):
        premises.certificate(property_id, type_, "2025-01-01", expiryDate=expiry, reference=type_)
    premises.certificate(property_id, "prs_database", "2025-01-01", reference="prs")
    premises.certificate(property_id, "eicr", "2024-01-01", expiryDate="2025-01-01", reference="old")
    assert references(premises, "status=expiring&limit=1") == ["pat", "gas_safety", "fire_alarm"]
    assert references(premises, "status=expired&limit=1") == ["legionella_assessment", "eicr"]
    assert references(premises, "status=valid&limit=1") == ["epc", "prs"]
    for query in ("", f"&propertyId={property_id}"):
        assert references(premises, f"status=expiring&limit=1{query}") == ["pat", "gas_safety", "fire_alarm"]
    assert references(premises, "expiryDateBefore=2026-12-01&limit=1") == ["legionella_assessment", "eicr", "pat"]
    every = references(premises, "expiryDateBefore=2026-11-02&includeSuperseded=true&limit=1")
    assert every == ["old", "legionella_assessment", "eicr"]
    assert references(premises, "status=expiring&expiryDateBefore=2026-12-01") == ["pat"]
    assert references(premises, "status=expiring&updatedSince=2026-11-20T00:00:00Z&limit=1") == [
        "gas_safety",
        "pat",
        "fire_alarm",
    ]


def test_a_faulty_report_that_never_expires_is_found_before_no_day(premises: Premises) -> None:
    property_id = premises.property()
    made = premises.certificate(property_id, "eicr", "2026-11-01", result="unsatisfactory", reference="faulty")
    assert references(premises, "status=expired") == ["faulty"]
    assert references(premises, "expiryDateBefore=2031-10-31") == []
    assert references(premises, "expiryDateBefore=2031-11-01") == ["faulty"]
    update(premises, made, expiryDate=None)
    assert references(premises, "expiryDateBefore=2100-01-01") == []
    assert references(premises, "status=expired") == ["faulty"]


def test_what_ends_for_a_property_that_is_sold_is_shown_for_it_alone(premises: Premises) -> None:
    sold = premises.property(status="sold")
    premises.certificate(sold, "epc", "2025-01-01", expiryDate="2026-01-01", reference="expired")
    premises.certificate(sold, "pat", "2026-01-01", expiryDate="2026-12-01", reference="expiring")
    assert references(premises, "status=expired") == []
    assert references(premises, "status=expiring") == []
    assert references(premises, f"status=expired&propertyId={sold}") == ["expired"]
    assert references(premises, f"status=expiring&propertyId={sold}") == ["expiring"]
    assert references(premises, "") == ["expiring", "expired"]


def test_a_property_shows_its_current_ones(premises: Premises) -> None:
    property_id = premises.property()
    premises.certificate(property_id, "pat", "2026-01-01", reference="pat")
    premises.certificate(property_id, "epc", "2025-01-01", reference="old")
    premises.certificate(property_id, "epc", "2026-01-01", reference="epc")
    for reference, issued in (("earlier", "2025-12-31"), ("first", "2026-01-01"), ("second", "2026-01-01")):
        premises.certificate(property_id, "epc", issued, reference=reference, unitId=premises.unit(property_id))
    premises.certificate(premises.property(), "epc", "2026-01-01")
    shown = premises.read(lambda tx: of_property(tx, property_id))
    assert [(row.reference, row.status) for row in shown] == [
        ("second", "valid"),
        ("first", "valid"),
        ("epc", "valid"),
        ("earlier", "valid"),
        ("pat", "expiring"),
    ]


def test_those_of_a_tenancy_or_a_document_are_listed(premises: Premises) -> None:
    home = premises.property()
    tenancy_id = premises.tenancy(home)
    body = {"propertyId": home, "issuedDate": "2026-03-10"}
    theirs = premises.post("createCertificate", **body, type="gas_safety", tenancyId=tenancy_id)
    premises.post("createCertificate", **body, type="epc")
    assert premises.walk("listCertificates", f"tenancyId={tenancy_id}") == [theirs]
    assert premises.walk("listCertificates", f"tenancyId={tenancy_id}&status=superseded") == []
    assert premises.walk("listCertificates", "tenancyId=tcy_none") == []
    assert premises.walk("listCertificates", "documentId=doc_none") == []
    for path in ("tenancyId", "documentId"):
        with pytest.raises(Problem) as caught:
            premises.get("listCertificates", f"status=missing&{path}=x")
        assert fields_of(caught.value) == [(path, "conflict")]
