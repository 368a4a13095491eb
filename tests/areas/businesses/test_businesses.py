"""Create, get, update and archive, and every outcome of theirs (domain model A2, B2)."""

from typing import Any

import pytest

from gatewayd.areas.businesses import rows
from gatewayd.clock import SECOND, to_wire
from gatewayd.ledger import references
from tests.areas.businesses.trades import LETS, TAX_ID, TRADE, Firm, refusal
from tests.areas.legal_entities.entities import refuses
from tests.support.store import START

ADDRESS = {
    "line1": "12 Oak Street",
    "line2": None,
    "town": "Leeds",
    "county": None,
    "postcode": "LS1 4DY",
    "countryCode": "GB",
}
NOTHING = {"status": "never", "syncedAt": None, "error": None, "latency": None, "yearOfMigration": None}


# -- create


def test_a_new_business_is_answered_whole(firm: Firm) -> None:
    made = firm.create(
        tradingName="Oak & Son",
        tradingType="Carpentry",
        commencementDate="2024-05-01",
        accountingBasis="accruals",
        quarterlyPeriodType="calendar",
        usesConsolidatedExpenses=True,
        address=ADDRESS,
        currency="EUR",
        ownerSharePercent="50.50",
        externalId="crm-7",
    )
    assert made["id"].startswith("biz_")
    assert made == {
        "id": made["id"],
        "externalId": "crm-7",
        "legalEntityId": firm.person,
        "type": "self_employment",
        "name": "Joinery",
        "tradingName": "Oak & Son",
        "tradingType": "Carpentry",
        "commencementDate": "2024-05-01",
        "cessationDate": None,
        "accountingBasis": "accruals",
        "quarterlyPeriodType": "calendar",
        "quarterlyPeriodTaxYear": "2026-27",
        "usesConsolidatedExpenses": True,
        "address": ADDRESS,
        "currency": "EUR",
        "bankAccountIds": [],
        "ownerSharePercent": "50.5",
        "taxBusinessId": None,
        "taxSync": NOTHING,
        "archiveReason": None,
        "archivedAt": None,
        "createdAt": to_wire(START),
        "updatedAt": to_wire(START),
        "version": 1,
        "status": "active",
    }
    assert firm.get(made["id"]) == made
    assert firm.page()["data"] == [made]


def test_a_person_keeps_cash_basis_and_the_tax_year_by_default(firm: Firm) -> None:
    made = firm.create()
    assert (made["accountingBasis"], made["currency"], made["ownerSharePercent"]) == ("cash", "GBP", "100")
    assert (made["quarterlyPeriodType"], made["quarterlyPeriodTaxYear"]) == ("standard", None)
    assert (made["usesConsolidatedExpenses"], made["bankAccountIds"]) == (False, [])


@pytest.mark.parametrize(
    ("entity", "basis"),
    [
        ({"type": "limited_company", "companyNumber": "01234567"}, "accruals"),
        ({"type": "llp", "companyNumber": "OC234567"}, "accruals"),
        ({"type": "individual"}, "cash"),
        ({"type": "partnership"}, "cash"),
        ({"type": "trust"}, "cash"),
    ],
    ids=lambda value: value if isinstance(value, str) else value["type"],
)
def test_the_basis_follows_the_kind_of_entity(firm: Firm, entity: dict[str, Any], basis: str) -> None:
    made = firm.create(legalEntityId=firm.entity(**entity, baseCurrency="EUR"), type="other")
    assert (made["accountingBasis"], made["currency"]) == (basis, "EUR")


def test_the_tax_year_of_the_choice_is_that_of_today(firm: Firm) -> None:
    firm.on("2027-04-05")
    assert firm.create(quarterlyPeriodType="standard")["quarterlyPeriodTaxYear"] == "2026-27"
    firm.on("2027-04-06")
    assert firm.create(quarterlyPeriodType="standard")["quarterlyPeriodTaxYear"] == "2027-28"


RULES: list[tuple[dict[str, Any], tuple[str, str]]] = [
    ({"type": "property_unspecified"}, ("type", "invalid_enum")),
    ({"type": "self-employment"}, ("type", "invalid_enum")),
    ({"name": ""}, ("name", "out_of_range")),
    ({"name": "  "}, ("name", "invalid_format")),
    ({"name": "x" * 106}, ("name", "out_of_range")),
    ({"tradingName": "x" * 106}, ("tradingName", "out_of_range")),
    ({"tradingType": ""}, ("tradingType", "out_of_range")),
    ({"tradingType": "x" * 36}, ("tradingType", "out_of_range")),
    ({"commencementDate": "2024-02-30"}, ("commencementDate", "invalid_format")),
    ({"accountingBasis": "CASH"}, ("accountingBasis", "invalid_enum")),
    ({"quarterlyPeriodType": "monthly"}, ("quarterlyPeriodType", "invalid_enum")),
    ({"currency": "GBp"}, ("currency", "invalid_enum")),
    ({"ownerSharePercent": "0"}, ("ownerSharePercent", "out_of_range")),
    ({"ownerSharePercent": "-1"}, ("ownerSharePercent", "out_of_range")),
    ({"ownerSharePercent": "100.01"}, ("ownerSharePercent", "out_of_range")),
    ({"ownerSharePercent": "half"}, ("ownerSharePercent", "invalid_decimal")),
    ({"ownerSharePercent": 50}, ("ownerSharePercent", "invalid_decimal")),
    ({"address": {"line1": "x"}}, ("address.countryCode", "required")),
    ({"bankAccountIds": ["bac_1"]}, ("bankAccountIds[0]", "unknown_reference")),
    ({"legalEntityId": "ent_none"}, ("legalEntityId", "unknown_reference")),
    ({"externalId": ""}, ("externalId", "out_of_range")),
]


@pytest.mark.parametrize(("values", "fault"), RULES, ids=[f"{path} {code}" for _, (path, code) in RULES])
def test_a_rule_of_the_fields(firm: Firm, values: dict[str, Any], fault: tuple[str, str]) -> None:
    assert refusal(refuses(firm.create, **values)) == ("validation_failed", [fault])
    assert firm.ids() == []
    if fault[0] != "legalEntityId":
        made = firm.create()
        assert refusal(refuses(firm.update, made["id"], **values)) == ("validation_failed", [fault])
        assert firm.get(made["id"]) == made


@pytest.mark.parametrize("name", ["taxBusinessId", "taxSync", "status", "cessationDate", "archivedAt"])
def test_what_is_not_the_callers_to_say_is_unknown(firm: Firm, name: str) -> None:
    assert refuses(firm.create, **{name: None}).code == "unknown_parameter"


def test_everything_that_is_wrong_is_named_at_once(firm: Firm) -> None:
    wrong = {"legalEntityId": "ent_none", "ownerSharePercent": "0", "bankAccountIds": ["bac_1", "bac_1"]}
    assert refusal(refuses(firm.create, **wrong))[1] == [
        ("legalEntityId", "unknown_reference"),
        ("bankAccountIds[0]", "unknown_reference"),
        ("bankAccountIds[1]", "unknown_reference"),
        ("bankAccountIds[1]", "conflict"),
        ("ownerSharePercent", "out_of_range"),
    ]


@pytest.mark.parametrize(
    "values",
    [{"ownerSharePercent": "0.01"}, {"ownerSharePercent": "100.00"}, {"name": "x" * 105}, {"tradingType": "x" * 35}],
    ids=lambda values: " ".join(values),
)
def test_what_the_rules_allow(firm: Firm, values: dict[str, Any]) -> None:
    assert firm.create(**values)["version"] == 1


def test_an_entity_of_another_organization_or_an_archived_one_has_no_new_business(firm: Firm) -> None:
    foreign = Firm(firm.store).person
    assert refusal(refuses(firm.create, legalEntityId=foreign))[1] == [("legalEntityId", "unknown_reference")]
    archive = "UPDATE legal_entities SET archived_at = :now WHERE id = :id"
    firm.store.write(lambda tx: tx.run(archive, id=firm.person))
    assert refusal(refuses(firm.create))[1] == [("legalEntityId", "conflict")]


def test_an_external_id_is_used_once_in_an_organization(firm: Firm) -> None:
    made = firm.create(externalId="e")
    firm.archive(made["id"])
    problem = refuses(firm.create, externalId="e", legalEntityId=firm.company(), type="company_trade")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": made["id"], "field": "externalId"})
    assert Firm(firm.store).create(externalId="e")["version"] == 1


def test_a_person_has_one_live_uk_property_business(firm: Firm) -> None:
    first = firm.create(**LETS)
    problem = refuses(firm.create, **LETS)
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first["id"], "field": "type"})
    assert firm.create(type="foreign_property")["version"] == 1
    assert firm.create(**LETS, legalEntityId=firm.entity(type="individual"))["version"] == 1  # somebody else's
    firm.archive(first["id"])
    second = firm.create(**LETS)
    firm.move(second["id"], "ceased", "2026-11-01")
    assert firm.create(**LETS)["version"] == 1


@pytest.mark.parametrize("kind", ["limited_company", "partnership"])
def test_others_than_persons_may_have_several(firm: Firm, kind: str) -> None:
    owner = firm.entity(type=kind, companyNumber="01234567")
    for _ in range(2):
        assert firm.create(**LETS, legalEntityId=owner)["version"] == 1


def test_an_entity_has_so_many_businesses_at_most(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lower limit, for with each business the calendar of all of the entity is made anew."""
    monkeypatch.setattr(rows, "MAX_PER_ENTITY", 12)
    for _ in range(rows.MAX_PER_ENTITY):
        firm.create()
    problem = refuses(firm.create)
    assert (problem.code, problem.extra) == ("limit_reached", {"limit": rows.MAX_PER_ENTITY})
    assert len(firm.store.read(lambda tx: rows.of_entity(tx, firm.person), firm.org_id)) == rows.MAX_PER_ENTITY
    assert firm.create(legalEntityId=firm.company(), type="company_trade")["version"] == 1


@pytest.mark.parametrize("kind", ["limited_company", "llp"])
def test_a_company_is_nobodys_self_employment(firm: Firm, kind: str) -> None:
    company = firm.entity(type=kind, companyNumber="OC234567")
    fault = ("validation_failed", [("type", "conflict")])
    assert refusal(refuses(firm.create, legalEntityId=company)) == fault
    trade = firm.create(legalEntityId=company, type="company_trade")
    assert refusal(refuses(firm.update, trade["id"], type="self_employment")) == fault
    assert firm.update(trade["id"], type="other", name="New")["type"] == "other"
    assert firm.create(legalEntityId=firm.entity(type="partnership"))["type"] == "self_employment"


# -- get


def test_an_unknown_or_foreign_business_is_not_found(firm: Firm) -> None:
    foreign = Firm(firm.store).create()["id"]
    problems = [refuses(firm.get, foreign), refuses(firm.get, "biz_" + "0" * 26), refuses(firm.get, firm.person)]
    problems += [refuses(firm.update, foreign, name="y"), refuses(firm.archive, foreign)]
    problems += [refuses(firm.move, foreign, "dormant")]
    assert {(p.code, p.message) for p in problems} == {("not_found", "There is no such business.")}


def test_a_business_can_be_referred_to(firm: Firm) -> None:
    made, others = firm.create()["id"], Firm(firm.store)
    assert firm.store.read(lambda tx: references.exists(tx, "business", made), firm.org_id)
    assert not firm.store.read(lambda tx: references.exists(tx, "business", made), others.org_id)


# -- update


def test_absent_stays_null_clears_and_a_value_replaces(firm: Firm) -> None:
    made = firm.create(tradingName="Oak", tradingType="Joinery", address=ADDRESS)
    firm.store.clock.advance(3 * SECOND)
    changed = firm.update(made["id"], tradingName=None, tradingType="Carpentry")
    expected = {**made, "tradingName": None, "tradingType": "Carpentry", "version": 2}
    assert changed == {**expected, "updatedAt": to_wire(firm.store.now())}
    assert firm.get(made["id"]) == changed


CHANGES: list[dict[str, Any]] = [
    {"type": "other"},
    {"name": "New"},
    {"tradingName": "New"},
    {"tradingType": "New"},
    {"commencementDate": "2025-01-01"},
    {"accountingBasis": "accruals"},
    {"usesConsolidatedExpenses": True},
    {"address": ADDRESS},
    {"currency": "EUR"},
    {"ownerSharePercent": "33.3"},
    {"externalId": "e2"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_each_field_can_be_changed_alone(firm: Firm, change: dict[str, Any]) -> None:
    made = firm.create()
    changed = firm.update(made["id"], **change)
    ((name, value),) = change.items()
    assert changed[name] == value
    assert {n for n in made if changed[n] != made[n]} == {name, "version"}
    assert firm.get(made["id"]) == changed


def test_another_quarterly_period_is_a_choice_of_the_year(firm: Firm) -> None:
    made = firm.create(quarterlyPeriodType="calendar")
    firm.on("2027-05-01")
    same = firm.update(made["id"], quarterlyPeriodType="calendar")
    assert (same["quarterlyPeriodType"], same["quarterlyPeriodTaxYear"]) == ("calendar", "2026-27")
    other = firm.update(made["id"], quarterlyPeriodType="standard")
    assert (other["quarterlyPeriodType"], other["quarterlyPeriodTaxYear"]) == ("standard", "2027-28")


@pytest.mark.parametrize("name", ["name", "type", "accountingBasis", "quarterlyPeriodType", "currency"])
def test_what_a_business_must_have_cannot_be_cleared(firm: Firm, name: str) -> None:
    made = firm.create()
    assert refusal(refuses(firm.update, made["id"], **{name: None}))[0] == "validation_failed"


@pytest.mark.parametrize("name", ["legalEntityId", "taxBusinessId", "status"])
def test_what_is_fixed_is_no_field_of_an_update(firm: Firm, name: str) -> None:
    made = firm.create()
    assert refuses(firm.update, made["id"], **{name: made[name]}).code == "unknown_parameter"


def test_update_refuses_a_clash(firm: Firm) -> None:
    first, second = firm.create(externalId="e"), firm.create()
    problem = refuses(firm.update, second["id"], externalId="e")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": first["id"], "field": "externalId"})
    assert firm.update(first["id"], externalId="e")["version"] == 2  # it does not clash with itself
    lets = firm.create(**LETS)
    problem = refuses(firm.update, second["id"], type="uk_property")
    assert (problem.code, problem.extra) == ("already_exists", {"existingId": lets["id"], "field": "type"})
    assert firm.update(lets["id"], type="uk_property", name="Flats")["version"] == 2


def test_writes_expect_the_version_that_was_read(firm: Firm) -> None:
    made = firm.create()
    assert firm.update(made["id"], expectedVersion=1, name="A")["version"] == 2
    problems = [
        refuses(firm.update, made["id"], expectedVersion=1, name="B"),
        refuses(firm.archive, made["id"], expectedVersion=1),
        refuses(firm.move, made["id"], "dormant", expectedVersion=1),
    ]
    assert {p.code for p in problems} == {"version_conflict"}
    assert [p.extra for p in problems] == [{"currentVersion": 2}] * 3
    assert (firm.get(made["id"])["name"], firm.get(made["id"])["version"]) == ("A", 2)
    assert firm.move(made["id"], "dormant", expectedVersion=2)["version"] == 3
    assert firm.archive(made["id"], expectedVersion=3)["version"] == 4


@pytest.mark.parametrize("change", [{"accountingBasis": "accruals"}, {"currency": "EUR"}])
def test_update_fixes_what_closed_periods_rest_on(firm: Firm, change: dict[str, Any]) -> None:
    made, other = firm.create(), firm.create(legalEntityId=firm.entity(type="individual"))
    firm.close_a_period()
    problem = refuses(firm.update, made["id"], **change)
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "closed")
    assert firm.get(made["id"]) == made
    assert firm.update(made["id"], name="New", accountingBasis="cash", currency="GBP")["name"] == "New"
    assert firm.update(other["id"], **change)["version"] == 2  # another entity's periods are its own


def test_a_type_that_the_authority_gave_stays_through_other_changes(firm: Firm) -> None:
    row = firm.adopt(type="property_unspecified")
    assert firm.update(row.id, name="Lets")["type"] == "property_unspecified"
    assert firm.update(row.id, type="uk_property")["taxBusinessId"] == TAX_ID


# -- archive


def test_an_archived_business_is_hidden_and_can_be_read_and_changed(firm: Firm) -> None:
    made = firm.create()
    firm.later()
    archived = firm.archive(made["id"], reason="Sold")
    now = to_wire(firm.store.now())
    expected = {**made, "archivedAt": now, "updatedAt": now, "archiveReason": "Sold", "status": "archived"}
    assert archived == {**expected, "version": 2}
    assert firm.get(made["id"]) == archived
    assert firm.ids() == []
    assert firm.ids("includeArchived=true") == [made["id"]]
    assert firm.update(made["id"], name="Old")["status"] == "archived"


@pytest.mark.parametrize("force", [False, True])
def test_what_is_archived_is_not_archived_again(firm: Firm, force: bool) -> None:
    made = firm.create()
    firm.move(made["id"], "dormant")
    firm.archive(made["id"])
    problem = refuses(firm.archive, made["id"], force=force)
    assert problem.code == "invalid_state"
    assert problem.extra == {"currentState": "archived", "allowedStates": ["dormant"]}


def test_a_reason_has_a_length(firm: Firm) -> None:
    made = firm.create()
    assert refusal(refuses(firm.archive, made["id"], reason="x" * 501))[1] == [("reason", "out_of_range")]
    assert TRADE["name"] == firm.get(made["id"])["name"]
