"""The four operations and every outcome of theirs (domain model A1, B1)."""

from typing import Any

import pytest

from gatewayd.clock import SECOND, to_wire
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import StoreFailure
from tests.areas.legal_entities.entities import COMPANY, NINO, OTHER_VRN, PERSON, UTR, VRN, Firm, refusal, refuses
from tests.support.store import START


def close_a_period(firm: Firm, entity_id: str) -> None:
    firm.store.write(lambda tx: period_locks.close(tx, entity_id, "2026-01-01", "2026-03-31"), firm.org_id)


# -- create


def test_a_new_entity_is_answered_whole(firm: Firm) -> None:
    made = firm.create(
        name="Oak & Son",
        type="limited_company",
        companyNumber="1234567",
        vatNumber="GB 980 7806 84",
        utr="19558 39661",
        externalId="crm-7",
        address={"line1": "12 Oak Street", "countryCode": "GB"},
    )
    assert made["id"].startswith("ent_")
    assert made["companyNumber"] == "01234567"
    assert made["vatNumber"] == VRN
    assert made["utr"] == UTR
    assert made["vat"]["status"] == "registered"  # a VAT number says so
    assert made["accountingYearEnd"] == {"month": 3, "day": 31}
    assert (made["baseCurrency"], made["countryCode"]) == ("GBP", "GB")
    assert made["cis"] == {"contractor": False, "subcontractor": False, "verifiedRate": None}
    assert (made["status"], made["version"], made["archivedAt"]) == ("active", 1, None)
    assert made["createdAt"] == made["updatedAt"] == to_wire(START)
    assert firm.get(made["id"]) == made


def test_a_person_has_the_tax_year_and_no_vat(firm: Firm) -> None:
    made = firm.create(**PERSON)
    assert made["accountingYearEnd"] == {"month": 4, "day": 5}
    assert made["vat"]["status"] == "not_registered"
    assert made["nino"] is None


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("vatNumber", "invalid_vrn"),
        ("utr", "invalid_utr"),
        ("nino", "invalid_nino"),
        ("companyNumber", "invalid_company_number"),
    ],
)
def test_create_checks_the_digits_of_identifiers(firm: Firm, field: str, code: str) -> None:
    values = {**PERSON, field: "123"} if field != "companyNumber" else {**PERSON, field: "12 XYZ"}
    assert refusal(refuses(firm.create, **values)) == ("validation_failed", [(field, code)])
    assert firm.page()["data"] == []


def test_everything_that_is_wrong_is_named_at_once(firm: Firm) -> None:
    problem = refuses(firm.create, name="x", type="llp", utr="1", nino="1", accountingYearEnd={"month": 2, "day": 30})
    assert {path for path, _ in refusal(problem)[1]} == {"utr", "nino", "companyNumber", "accountingYearEnd.day"}


RULES: list[tuple[dict[str, Any], tuple[str, str]]] = [
    ({**COMPANY, "companyNumber": None}, ("companyNumber", "required")),
    ({"name": "x", "type": "llp"}, ("companyNumber", "required")),
    ({**COMPANY, "nino": NINO}, ("nino", "conflict")),
    ({**PERSON, "vat": {"status": "registered"}}, ("vatNumber", "required")),
    ({**PERSON, "vat": {"status": "deregistered"}}, ("vat.deregistrationDate", "required")),
    (
        {
            **PERSON,
            "vat": {"status": "deregistered", "effectiveDate": "2024-02-01", "deregistrationDate": "2024-01-31"},
        },
        ("vat.deregistrationDate", "date_order"),
    ),
    ({**PERSON, "vat": {"scheme": "cash", "flatRateCategory": "001"}}, ("vat.flatRateCategory", "conflict")),
    ({**PERSON, "vat": {"flatRatePercent": "12"}}, ("vat.flatRatePercent", "conflict")),
    ({**PERSON, "vat": {"flatRateStartDate": "2024-01-01"}}, ("vat.flatRateStartDate", "conflict")),
    ({**PERSON, "vat": {"scheme": "flat_rate", "flatRatePercent": "100.01"}}, ("vat.flatRatePercent", "out_of_range")),
    ({**PERSON, "vat": {"scheme": "flat_rate", "flatRatePercent": "-1"}}, ("vat.flatRatePercent", "out_of_range")),
    ({**PERSON, "accountingYearEnd": {"month": 4, "day": 31}}, ("accountingYearEnd.day", "out_of_range")),
    ({**PERSON, "cis": {"verifiedRate": 20}}, ("cis.verifiedRate", "conflict")),
    ({**PERSON, "vat": {"scheme": "flat_rate", "flatRateCategory": "056"}}, ("vat.flatRateCategory", "invalid_format")),
    ({**PERSON, "cis": {"subcontractor": True, "verifiedRate": 10}}, ("cis.verifiedRate", "invalid_enum")),
    ({**PERSON, "name": ""}, ("name", "out_of_range")),
    ({**PERSON, "name": "x" * 161}, ("name", "out_of_range")),
    ({**PERSON, "type": "landlord"}, ("type", "invalid_enum")),
    ({**PERSON, "baseCurrency": "gbp"}, ("baseCurrency", "invalid_enum")),
    ({**PERSON, "countryCode": "GBR"}, ("countryCode", "invalid_enum")),
    ({**PERSON, "countryCode": "UK"}, ("countryCode", "invalid_enum")),
    ({**PERSON, "address": {"line1": "x", "countryCode": "ZZ"}}, ("address.countryCode", "invalid_enum")),
    ({**PERSON, "email": "nobody"}, ("email", "invalid_format")),
    ({**PERSON, "address": {"line1": "", "countryCode": "GB"}}, ("address.line1", "out_of_range")),
    ({**PERSON, "address": {"line1": "x"}}, ("address.countryCode", "required")),
]


@pytest.mark.parametrize(("values", "fault"), RULES, ids=[f"{path} {code}" for _, (path, code) in RULES])
def test_a_rule_of_the_fields(firm: Firm, values: dict[str, Any], fault: tuple[str, str]) -> None:
    assert refusal(refuses(firm.create, **values)) == ("validation_failed", [fault])


ALLOWED: list[dict[str, Any]] = [
    {"name": "x", "type": "limited_company", "countryCode": "FR"},
    {**PERSON, "vat": {"scheme": "flat_rate", "flatRateCategory": "055", "flatRatePercent": "0"}},
    {**PERSON, "vat": {"scheme": "flat_rate", "flatRateCategory": "999", "flatRatePercent": "100"}},
    {**PERSON, "accountingYearEnd": {"month": 2, "day": 29}},
    {**PERSON, "cis": {"subcontractor": True, "verifiedRate": 0}},
    {**PERSON, "vat": {"status": "deregistered", "effectiveDate": "2024-01-31", "deregistrationDate": "2024-01-31"}},
    {**PERSON, "name": "x" * 160},
]


@pytest.mark.parametrize("values", ALLOWED, ids=lambda values: " ".join(values))
def test_what_the_rules_allow(firm: Firm, values: dict[str, Any]) -> None:
    assert firm.create(**values)["version"] == 1


def test_another_countrys_company_number_is_kept_as_it_is_written(firm: Firm) -> None:
    made = firm.create(name="Chêne", type="limited_company", countryCode="FR", companyNumber="552 100 554")
    assert made["companyNumber"] == "552 100 554"
    assert firm.update(made["id"], phone="1")["companyNumber"] == "552 100 554"


@pytest.mark.parametrize(
    ("field", "first", "second"),
    [
        ("vatNumber", VRN, f"GB {VRN}"),
        ("companyNumber", "01234567", "1234567"),
        ("externalId", "a", "a"),
    ],
)
def test_create_refuses_a_clash(firm: Firm, field: str, first: str, second: str) -> None:
    made = firm.create(**{**PERSON, field: first})
    problem = refuses(firm.create, **{**PERSON, field: second})
    assert problem.code == "already_exists"
    assert problem.extra == {"existingId": made["id"], "field": field}
    other = Firm(firm.store)
    assert other.create(**{**PERSON, field: second})["version"] == 1  # unique within an organization only


# -- get


def test_an_unknown_or_foreign_entity_is_not_found(firm: Firm) -> None:
    foreign = Firm(firm.store).create(**PERSON)["id"]
    problems = [refuses(firm.get, foreign), refuses(firm.get, "ent_" + "0" * 26)]
    problems += [refuses(firm.update, foreign, name="y"), refuses(firm.update, "cli_x", name="y")]
    assert {(p.code, p.message) for p in problems} == {("not_found", "There is no such legal entity.")}


def test_tax_identifiers_are_whole_alone_and_masked_in_lists(firm: Firm) -> None:
    made = firm.create(**PERSON, utr=UTR, nino=NINO)
    assert (made["utr"], made["nino"]) == (UTR, NINO)
    assert firm.get(made["id"]) == made
    (listed,) = firm.page()["data"]
    assert (listed["utr"], listed["nino"]) == ("*******661", "******56C")
    assert {**listed, "utr": UTR, "nino": NINO} == made


def test_a_nino_is_encrypted_at_rest(firm: Firm) -> None:
    made = firm.create(**PERSON, nino=NINO, utr=UTR)
    firm.update(made["id"], name="Other")
    image = firm.store.stored()
    assert b"Ash Brown" in image or b"Other" in image  # the row is in what is looked through
    assert NINO.encode() not in image
    assert NINO[:8].encode() not in image
    assert UTR.encode() not in image
    assert UTR[:9].encode() not in image


@pytest.mark.parametrize("column", ["nino_sealed", "utr_sealed"])
def test_a_sealed_identifier_opens_in_its_own_row_only(firm: Firm, column: str) -> None:
    """Bytes moved to another row do not show there."""
    one = firm.create(**PERSON, nino=NINO, utr=UTR)
    two = firm.create(**PERSON, nino="AB654321A", utr="2234567890")
    sealed = firm.store.read(lambda tx: tx.value(f"SELECT {column} FROM legal_entities WHERE id = :id", id=one["id"]))
    move = f"UPDATE legal_entities SET {column} = :sealed WHERE id = :id"
    firm.store.write(lambda tx: tx.run(move, sealed=sealed, id=two["id"]))
    with pytest.raises(StoreFailure, match="does not open"):
        firm.get(two["id"])


# -- update


def test_absent_stays_null_clears_and_a_value_replaces(firm: Firm) -> None:
    made = firm.create(**PERSON, email="a@example.com", phone="1", website="https://a.example", nino=NINO)
    firm.store.clock.advance(3 * SECOND)
    changed = firm.update(made["id"], phone=None, website="https://b.example")
    expected = {**made, "phone": None, "website": "https://b.example", "version": 2}
    assert changed == {**expected, "updatedAt": to_wire(firm.store.now())}
    assert firm.get(made["id"]) == changed


CHANGES: list[dict[str, Any]] = [
    {"name": "New"},
    {"type": "individual"},
    {"legalName": "New Ltd"},
    {"externalId": "e2"},
    {"companyNumber": "SC123456"},
    {"utr": UTR},
    {"nino": NINO},
    {"vatNumber": OTHER_VRN},
    {"vat": {"status": "pending", "scheme": "cash", "returnFrequency": "quarterly", "staggerGroup": 2}},
    {"accountingYearEnd": {"month": 12, "day": 31}},
    {"baseCurrency": "EUR"},
    {"countryCode": "IE"},
    {"taxResidency": "scotland"},
    {"address": {"line1": "1", "line2": "2", "town": "3", "county": "4", "postcode": "5", "countryCode": "GB"}},
    {"email": "b@example.com"},
    {"phone": "+44"},
    {"website": "w"},
    {"cis": {"contractor": True, "subcontractor": True, "verifiedRate": 30}},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_each_field_can_be_changed_alone(firm: Firm, change: dict[str, Any]) -> None:
    made = firm.create(**PERSON, companyNumber="01234567")
    changed = firm.update(made["id"], **change)
    ((name, value),) = change.items()
    assert changed[name] == value or value.items() <= changed[name].items()
    assert {n for n in made if changed[n] != made[n]} == {name, "version"}
    assert firm.get(made["id"]) == changed


@pytest.mark.parametrize("name", ["name", "type", "vat", "accountingYearEnd", "baseCurrency", "countryCode", "cis"])
def test_what_an_entity_must_have_cannot_be_cleared(firm: Firm, name: str) -> None:
    made = firm.create(**PERSON)
    assert refusal(refuses(firm.update, made["id"], **{name: None}))[0] == "validation_failed"


@pytest.mark.parametrize("name", ["externalId", "legalName", "utr", "nino", "taxResidency", "address", "email"])
def test_what_is_optional_can_be_cleared(firm: Firm, name: str) -> None:
    address = {"line1": "x", "countryCode": "GB"}
    made = firm.create(
        **PERSON,
        externalId="e",
        legalName="l",
        utr=UTR,
        nino=NINO,
        taxResidency="wales",
        address=address,
        email="a@b.example",
    )
    assert firm.update(made["id"], **{name: None})[name] is None
    assert firm.page()["data"][0][name] is None


def test_the_rules_hold_for_what_comes_out_of_an_update(firm: Firm) -> None:
    person = firm.create(**PERSON, nino=NINO)
    problem = refuses(firm.update, person["id"], type="limited_company")
    assert set(refusal(problem)[1]) == {("nino", "conflict"), ("companyNumber", "required")}
    registered = firm.create(**PERSON, vatNumber=VRN)
    assert refusal(refuses(firm.update, registered["id"], vatNumber=None))[1] == [("vatNumber", "required")]
    assert firm.get(person["id"]) == person


def test_update_checks_the_digits_of_identifiers(firm: Firm) -> None:
    made = firm.create(**PERSON)
    problem = refuses(firm.update, made["id"], vatNumber="1", utr="1", nino="1", companyNumber="x")
    assert sorted(code for _, code in refusal(problem)[1]) == [
        "invalid_company_number",
        "invalid_nino",
        "invalid_utr",
        "invalid_vrn",
    ]


@pytest.mark.parametrize(("field", "value"), [("vatNumber", VRN), ("companyNumber", "01234567"), ("externalId", "e")])
def test_update_refuses_a_clash(firm: Firm, field: str, value: str) -> None:
    first = firm.create(**{**PERSON, field: value})
    second = firm.create(**PERSON)
    problem = refuses(firm.update, second["id"], **{field: value})
    assert (problem.code, problem.extra["existingId"]) == ("already_exists", first["id"])
    assert firm.update(first["id"], **{field: value})["version"] == 2  # it does not clash with itself


def test_update_expects_the_version_that_was_read(firm: Firm) -> None:
    made = firm.create(**PERSON)
    assert firm.update(made["id"], expectedVersion=1, name="A")["version"] == 2
    problem = refuses(firm.update, made["id"], expectedVersion=1, name="B")
    assert (problem.code, problem.extra) == ("version_conflict", {"currentVersion": 2})
    assert firm.get(made["id"])["name"] == "A"


@pytest.mark.parametrize(
    "change", [{"type": "individual"}, {"baseCurrency": "EUR"}, {"accountingYearEnd": {"month": 3, "day": 31}}]
)
def test_update_fixes_what_closed_periods_rest_on(firm: Firm, change: dict[str, Any]) -> None:
    made, other = firm.create(**PERSON), firm.create(**PERSON)
    close_a_period(firm, made["id"])
    assert refuses(firm.update, made["id"], **change).code == "invalid_state"
    assert firm.get(made["id"]) == made
    assert firm.update(other["id"], **change)["version"] == 2  # another entity's periods are its own


def test_a_closed_period_leaves_the_rest_free(firm: Firm) -> None:
    made = firm.create(**PERSON)
    close_a_period(firm, made["id"])
    same = {"type": made["type"], "baseCurrency": "GBP", "accountingYearEnd": made["accountingYearEnd"]}
    assert firm.update(made["id"], name="New", **same)["name"] == "New"


# -- list


def test_newest_come_first_and_filters_narrow(firm: Firm) -> None:
    for name, kind in (("Oak", "trust"), ("Ash", "charity"), ("Elm", "trust")):
        firm.create(name=name, type=kind)
    assert firm.names() == ["Elm", "Ash", "Oak"]
    assert firm.names(type="trust") == ["Elm", "Oak"]
    assert firm.names(type="club") == []
    assert firm.names(status="active", limit=2) == ["Elm", "Ash"]
    assert firm.names(status="archived") == []


def test_q_looks_in_names_and_numbers_in_any_case(firm: Firm) -> None:
    firm.create(name="ÉLAN & Co", type="limited_company", companyNumber="SC123456", legalName="Straße 100% Ltd")
    firm.create(name="Other", type="club", vatNumber=VRN)
    for text in ("élan", "& CO", "sc1234", "STRASSE", "100%"):
        assert firm.names(q=text) == ["ÉLAN & Co"], text
    assert firm.names(q="9807") == ["Other"]
    for text in ("%", "_", "!", "100_", "nothing"):
        assert firm.names(q=text) == (["ÉLAN & Co"] if text == "%" else []), text


def test_archived_entities_are_shown_when_asked_for(firm: Firm) -> None:
    made = firm.create(name="Gone", type="club")
    firm.create(name="Here", type="club")
    archive = "UPDATE legal_entities SET archived_at = :now WHERE id = :id"
    firm.store.write(lambda tx: tx.run(archive, id=made["id"]))
    assert firm.names() == ["Here"]
    assert firm.names(includeArchived=True) == ["Here", "Gone"]
    assert firm.names(status="archived") == ["Gone"]
    assert firm.update(made["id"], phone="1")["status"] == "archived"  # and stays so


@pytest.mark.parametrize("sync", [False, True])
def test_a_walk_meets_every_row_once(firm: Firm, sync: bool) -> None:
    made = []
    for number in range(107):
        made.append(firm.create(name=f"n{number}", type="club")["id"])
        firm.store.clock.advance(SECOND * (number % 2))  # some share their instant
    values: dict[str, Any] = {"limit": 10, **({"updatedSince": "2026-11-20T00:00:00Z"} if sync else {})}
    walked: list[str] = []
    page = firm.page(**values)
    while True:
        walked += [entity["id"] for entity in page["data"]]
        assert len(page["data"]) <= 10
        if page["nextCursor"] is None:
            break
        page = firm.page(**values, cursor=page["nextCursor"])
    assert walked == (made if sync else made[::-1])


def test_a_cursor_belongs_to_its_filters(firm: Firm) -> None:
    for name in ("a", "b", "c"):
        firm.create(name=name, type="club")
    cursor = firm.page(limit=1)["nextCursor"]
    assert refuses(firm.page, limit=1, cursor=cursor, type="club").code == "invalid_cursor"
    assert [e["name"] for e in firm.page(limit=2, cursor=cursor)["data"]] == ["b", "a"]  # the size may change


def test_updated_since_follows_changes(firm: Firm) -> None:
    first, second = firm.create(name="a", type="club"), firm.create(name="b", type="club")
    firm.store.clock.advance(SECOND)
    since = to_wire(firm.store.now())
    assert firm.names(updatedSince=since) == []
    firm.update(first["id"], phone="1")
    firm.store.clock.advance(SECOND)
    firm.update(second["id"], phone="1")
    assert firm.names(updatedSince=since) == ["a", "b"]


def test_lists_hold_nothing_of_another_organization(firm: Firm) -> None:
    Firm(firm.store).create(**PERSON)
    assert firm.page() == {"data": [], "nextCursor": None}
    assert firm.names(q="Ash") == []
