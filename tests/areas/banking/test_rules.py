"""Rules of allocation: when they fit, what they make of a line, what may be learned, and how they are kept."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocation_rules, bank_lines
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import fields_of
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_allocations import refused
from tests.support.store import MemoryStore

TESCO = {"text": "Tesco"}
OUTCOME = {"category": "adminCosts"}


def rule(trading: Trading, conditions: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    body = {"name": "Tesco", "mode": "apply", "conditions": conditions or TESCO, "outcome": OUTCOME}
    return trading.post("createRule", **{**body, **fields})


def apply(trading: Trading, **fields: Any) -> list[dict[str, Any]]:
    """All pages of `applyRules`."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = trading.post("applyRules", **fields, **cursor)
        items += answer["data"]
        if answer["nextCursor"] is None:
            return items
        cursor = {"cursor": answer["nextCursor"]}


def test_a_rule_is_answered_whole(trading: Trading) -> None:
    made = rule(trading)
    nothing = ("accountId", "direction", "counterparty", "reference", "matchKey", "minAmount", "maxAmount", "type")
    unsaid = ("purpose", "businessId", "vatCode", "vatPercent", "disallowablePercent")
    places = ("propertyId", "unitId", "tenancyId", "mortgageId")
    assert made == {
        "id": made["id"],
        "externalId": None,
        "name": "Tesco",
        "mode": "apply",
        "priority": 100,
        "enabled": True,
        "conditions": {"text": "Tesco", **dict.fromkeys(nothing)},
        "outcome": {"category": "adminCosts", **dict.fromkeys((*unsaid, *places))},
        "learnedFrom": None,
        "createdAt": "2026-11-20T09:30:00.000Z",
        "updatedAt": "2026-11-20T09:30:00.000Z",
        "version": 1,
    }
    assert trading.get("listRules") == ([made], None)


def test_a_rule_allocates_and_says_why(trading: Trading) -> None:
    made = rule(trading, {"text": "tesco stores", "direction": "out"})
    line, other = trading.line(trading.current, -1200), trading.line(trading.current, 1200)
    (applied,) = apply(trading)
    assert (applied["bankTransactionId"], applied["ruleId"], applied["amount"]) == (line, made["id"], "-12.00")
    row = applied["allocation"]
    assert (row["matchedBy"], row["ruleId"], row["amount"]) == ("rule", made["id"], "12.00")
    assert row["reason"] == applied["reason"] == 'The rule "Tesco": the text contains "tesco stores", money went out.'
    assert (trading.left(line), trading.left(other)) == (0, 1200)
    assert apply(trading) == []


@pytest.mark.parametrize(
    ("conditions", "fits"),
    [
        ({"text": "STORES 3017"}, True),
        ({"text": "paper"}, False),
        ({"text": "thank you"}, True),  # the reference is text too
        ({"counterparty": "tesco plc"}, True),
        ({"counterparty": "sainsbury"}, False),
        ({"reference": "Thank"}, True),
        ({"reference": "tesco"}, False),
        ({"matchKey": "tesco stores"}, True),
        ({"matchKey": "tesco"}, False),
        ({"matchKey": "Tesco Stores"}, False),
        ({"direction": "out"}, True),
        ({"direction": "in"}, False),
        ({"type": "card"}, True),
        ({"type": "cash"}, False),
        ({"minAmount": "12", "maxAmount": "12.00"}, True),
        ({"minAmount": "12.01"}, False),
        ({"maxAmount": "11.99"}, False),
        ({"text": "tesco", "maxAmount": "5"}, False),
    ],
)
def test_all_conditions_have_to_be_so(trading: Trading, conditions: dict[str, Any], fits: bool) -> None:
    rule(trading, conditions)
    trading.line(trading.current, -1200, counterparty_name="Tesco PLC", reference="THANK YOU")
    assert (apply(trading) != []) == fits


def test_the_account_is_a_condition(trading: Trading) -> None:
    other = trading.account(trading.owner, trading.trade)
    rule(trading, {"accountId": other})
    trading.line(trading.current, -1200)
    line = trading.line(other, -1200)
    assert [applied["bankTransactionId"] for applied in apply(trading)] == [line]


def test_the_lowest_priority_decides_and_then_the_oldest(trading: Trading) -> None:
    rule(trading, name="later")
    rule(trading, name="off", priority=0, enabled=False)
    rule(trading, name="proposing", priority=0, mode="propose")
    first, second = (rule(trading, name=name, priority=5) for name in ("first", "second"))
    trading.line(trading.current, -1200)
    assert [applied["ruleId"] for applied in apply(trading)] == [first["id"]]
    trading.post("updateRule", ruleId=first["id"], enabled=False)
    trading.line(trading.current, -1200)
    assert [applied["ruleId"] for applied in apply(trading)] == [second["id"]]


def test_one_rule_is_applied_whatever_its_mode(trading: Trading) -> None:
    made = rule(trading, mode="propose")
    trading.line(trading.current, -1200)
    assert apply(trading) == []
    assert len(apply(trading, ruleId=made["id"])) == 1


@pytest.mark.parametrize(
    ("outcome", "vat", "disallowable"),
    [
        ({"vatCode": "standard"}, "2.00", "0.00"),
        ({"vatCode": "reduced"}, "0.57", "0.00"),
        ({"vatCode": "zero"}, "0.00", "0.00"),
        ({"vatPercent": "17.5"}, "1.79", "0.00"),
        ({"disallowablePercent": "33"}, "0.00", "3.96"),
        ({"category": "businessEntertainmentCosts"}, "0.00", "12.00"),
        ({"category": "businessEntertainmentCosts", "disallowablePercent": "50"}, "0.00", "6.00"),
    ],
)
def test_what_follows(trading: Trading, outcome: dict[str, Any], vat: str, disallowable: str) -> None:
    rule(trading, outcome={**OUTCOME, **outcome})
    trading.line(trading.current, -1200)
    (applied,) = apply(trading)
    assert (applied["allocation"]["vatAmount"], applied["allocation"]["disallowableAmount"]) == (vat, disallowable)


def test_a_dry_run_stores_nothing(trading: Trading) -> None:
    rule(trading)
    line = trading.line(trading.current, -1200)
    (applied,) = apply(trading, dryRun=True)
    assert applied["allocation"]["category"] == "adminCosts"
    assert (trading.left(line), trading.of_line(line)) == (-1200, [])


@pytest.mark.parametrize(("category", "allowable"), [("adminCosts", True), ("businessEntertainmentCosts", False)])
def test_what_would_be_allocated_is_shown_as_it_would_be(trading: Trading, category: str, allowable: bool) -> None:
    rule(trading, outcome={"category": category, "businessId": trading.trade})
    trading.line(trading.current, -4520)
    (planned,), (applied,) = apply(trading, dryRun=True), apply(trading)
    assert (planned["allocation"]["allowable"], applied["allocation"]["allowable"]) == (allowable, allowable)
    assert planned["allocation"]["disallowableAmount"] == applied["allocation"]["disallowableAmount"]


def test_what_a_rule_may_not_have_is_told_and_stays(trading: Trading) -> None:
    rule(trading)
    line, later = trading.line(trading.current, -1200), trading.line(trading.current, -1200, date="2026-12-01")
    trading.write(lambda tx: period_locks.close(tx, trading.owner, "2026-11-01", "2026-11-30"))
    told, done = apply(trading)
    assert (told["bankTransactionId"], told["allocation"]) == (line, None)
    assert told["refusal"] == (
        "The period that holds 2026-11-02 is closed: `periods.reopen` opens it, to change what lies in it."
    )
    assert (done["bankTransactionId"], done["refusal"]) == (later, None)
    assert trading.left(line) == -1200


def test_a_line_of_which_a_part_is_allocated_is_left_alone(trading: Trading) -> None:
    rule(trading)
    trading.part(trading.line(trading.current, -1200), amount="1")
    trading.line(trading.current, -1200, status="pending")
    assert apply(trading) == []


def test_lines_are_looked_at_in_bounded_batches(trading: Trading) -> None:
    rule(trading, {"text": "paper"})
    saving = trading.account(trading.owner, trading.trade)
    wanted = [trading.line(account, -100, description="PAPER") for account in (trading.current, saving, saving)]
    for _ in range(3):
        trading.line(trading.current, -100)
    answer = trading.post("applyRules", limit=1, dryRun=True)
    assert len(answer["data"]) <= 1
    assert answer["nextCursor"] is not None
    assert [applied["bankTransactionId"] for applied in apply(trading, limit=2, dryRun=True)] == wanted
    assert [applied["bankTransactionId"] for applied in apply(trading, limit=2, accountId=saving)] == wanted[1:]


def test_an_import_has_its_new_lines_allocated(trading: Trading) -> None:
    rule(trading)
    rule(trading, mode="propose", priority=0)
    lines = [trading.line(trading.current, -1200), trading.line(trading.account(), -1200)]
    applied = trading.write(lambda tx: allocation_rules.apply_rules(tx, [bank_lines.get(tx, line) for line in lines]))
    assert [(one.line.id, len(one.rows), one.refusal is None) for one in applied] == [
        (lines[0], 1, True),
        (lines[1], 0, False),
    ]


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"conditions": {"text": None}}, "conditions", "required"),
        ({"conditions": {"accountId": "bac_x"}}, "conditions.accountId", "unknown_reference"),
        ({"conditions": {"minAmount": "-1"}}, "conditions.minAmount", "out_of_range"),
        ({"conditions": {"minAmount": "2", "maxAmount": "1"}}, "conditions.maxAmount", "out_of_range"),
        ({"outcome": {"category": "not_pnl"}}, "outcome.purpose", "required"),
        ({"outcome": {"category": "not_pnl", "purpose": "invoice_payment"}}, "outcome.purpose", "conflict"),
        ({"outcome": {**OUTCOME, "purpose": "other"}}, "outcome.purpose", "conflict"),
        ({"outcome": {**OUTCOME, "vatCode": "zero", "vatPercent": "0"}}, "outcome.vatPercent", "conflict"),
        ({"outcome": {**OUTCOME, "disallowablePercent": "100.1"}}, "outcome.disallowablePercent", "out_of_range"),
        ({"outcome": {**OUTCOME, "businessId": "biz_x"}}, "outcome.businessId", "unknown_reference"),
        ({"outcome": {**OUTCOME, "propertyId": "prop_x"}}, "outcome.propertyId", "unknown_reference"),
    ],
)
def test_validation_failed(trading: Trading, fields: dict[str, Any], path: str, code: str) -> None:
    assert fields_of(refused(rule, trading, **fields)) == [(path, code)]
    made = rule(trading)
    problem = refused(trading.post, "updateRule", ruleId=made["id"], **fields)
    assert fields_of(problem) == [(path, code)]


def test_the_business_has_the_line_and_is_not_archived(trading: Trading) -> None:
    outcome = {"category": "periodAmount", "businessId": trading.trade}
    assert fields_of(refused(rule, trading, outcome=outcome)) == [("outcome.category", "conflict")]
    trading.write(lambda tx: tx.run("UPDATE businesses SET archived_at = :now WHERE org_id = :org_id"))
    problem = refused(rule, trading, outcome={**OUTCOME, "businessId": trading.trade})
    assert fields_of(problem) == [("outcome.businessId", "conflict")]


def test_a_rule_is_found_by_the_callers_own_identifier(trading: Trading) -> None:
    made, other = rule(trading, externalId="r-1"), rule(trading)
    assert (made["externalId"], other["externalId"]) == ("r-1", None)
    assert [row["id"] for row in trading.walk("listRules", "externalId=r-1")] == [made["id"]]
    taken = refused(rule, trading, externalId="r-1")
    assert (taken.code, taken.extra["existingId"]) == ("already_exists", made["id"])
    assert refused(trading.post, "updateRule", ruleId=other["id"], externalId="r-1").code == "already_exists"
    assert trading.post("updateRule", ruleId=made["id"], externalId=None)["externalId"] is None
    assert trading.post("updateRule", ruleId=other["id"], externalId="r-1")["externalId"] == "r-1"


def test_change_and_delete(trading: Trading) -> None:
    made = rule(trading)
    trading.line(trading.current, -1200)
    (applied,) = apply(trading)
    changed = trading.post("updateRule", ruleId=made["id"], name="Groceries", priority=7, expectedVersion=1)
    assert (changed["name"], changed["priority"], changed["version"]) == ("Groceries", 7, 2)
    for operation in ("updateRule", "deleteRule"):
        assert refused(trading.post, operation, ruleId=made["id"], expectedVersion=1).code == "version_conflict"
    assert trading.post("deleteRule", ruleId=made["id"]) == {"id": made["id"], "deleted": True}
    assert refused(trading.post, "deleteRule", ruleId=made["id"]).code == "not_found"
    assert trading.one("getAllocation", f"allocationId={applied['allocation']['id']}")["ruleId"] == made["id"]


def test_filters(trading: Trading) -> None:
    on, off = rule(trading), rule(trading, enabled=False, mode="propose")
    for query, found in (("enabled=true", [on]), ("enabled=false", [off]), ("mode=apply", [on]), ("", [off, on])):
        assert trading.get("listRules", query)[0] == found


def test_limit_reached(trading: Trading) -> None:
    for _ in range(allocation_rules.MAX_PER_ORGANIZATION):
        rule(trading)
    assert refused(rule, trading).code == "limit_reached"
    for _ in range(2):
        trading.part(trading.line(trading.current, -100))
    assert refused(trading.post, "learnRule", matchKey="tesco stores").code == "limit_reached"


def test_another_organizations(store: MemoryStore, trading: Trading) -> None:
    made = rule(trading)
    trading.line(trading.current, -1200)
    other = Trading(store)
    assert other.get("listRules") == ([], None)
    assert apply(other) == []
    for operation in ("updateRule", "deleteRule"):
        assert refused(other.post, operation, ruleId=made["id"]).code == "not_found"
    problem = refused(other.post, "applyRules", ruleId=made["id"], accountId=trading.current)
    assert set(fields_of(problem)) == {("ruleId", "unknown_reference"), ("accountId", "unknown_reference")}


# -- learning


def chosen(trading: Trading, times: int, category: str = "adminCosts", **fields: Any) -> None:
    for _ in range(times):
        trading.part(trading.line(trading.current, -1200), category, **fields)


def test_a_rule_is_learned_from_what_was_chosen(trading: Trading) -> None:
    chosen(trading, 4, vatAmount="2", disallowableAmount="3")
    chosen(trading, 1, "advertisingCosts")
    line = trading.line(trading.current, -2400)
    made = trading.post("learnRule", bankTransactionId=line, mode="apply", externalId="learned-1")
    assert made["externalId"] == "learned-1"
    again = refused(trading.post, "learnRule", bankTransactionId=line, externalId="learned-1")
    assert (again.code, again.extra["existingId"]) == ("already_exists", made["id"])
    assert made["learnedFrom"] == "4 of 5 lines of TESCO STORES were adminCosts, last on 2 Nov 2026."
    assert (made["name"], made["conditions"]["matchKey"], made["conditions"]["direction"]) == (
        "Tesco Stores",
        "tesco stores",
        "out",
    )
    as_people_write = refused(trading.post, "learnRule", matchKey="Tesco Stores")
    assert fields_of(as_people_write) == [("matchKey", "conflict")], "it is written as proposals have it"
    outcome = made["outcome"]
    assert (outcome["businessId"], outcome["vatPercent"], outcome["disallowablePercent"]) == (trading.trade, "20", "25")
    (applied,) = apply(trading)
    row = applied["allocation"]
    assert (row["category"], row["vatAmount"], row["disallowableAmount"]) == ("adminCosts", "4.00", "6.00")


def test_what_a_rule_made_teaches_nothing(trading: Trading) -> None:
    rule(trading)
    for _ in range(3):
        trading.line(trading.current, -1200)
    assert len(apply(trading)) == 3
    assert fields_of(refused(trading.post, "learnRule", matchKey="tesco stores")) == [("matchKey", "conflict")]


def test_nothing_is_learned_from_few_or_from_doubt(trading: Trading) -> None:
    def refusal(**fields: Any) -> Problem:
        return refused(trading.post, "learnRule", **fields)

    line = trading.line(trading.current, -1200)
    assert fields_of(refusal(bankTransactionId=line)) == [("bankTransactionId", "conflict")]
    chosen(trading, 1)
    problem = refusal(matchKey="tesco stores")
    assert fields_of(problem) == [("matchKey", "conflict")]
    assert "1 of 1 line of TESCO STORES was adminCosts" in problem.message
    chosen(trading, 1)
    chosen(trading, 2, "advertisingCosts")
    assert fields_of(refusal(matchKey="tesco stores")) == [("matchKey", "conflict")]
    assert fields_of(refusal(matchKey="tesco stores", direction="in")) == [("matchKey", "conflict")]
    assert fields_of(refusal()) == [("matchKey", "required")]
    assert fields_of(refusal(bankTransactionId="btx_x")) == [("bankTransactionId", "unknown_reference")]


def test_what_a_rule_decided_is_listed(trading: Trading) -> None:
    made, other = rule(trading), rule(trading, {"text": "Shell"})
    trading.line(trading.current, -1200)
    (applied,) = apply(trading)
    listed = [row["id"] for row in trading.walk("listAllocations", f"ruleId={made['id']}")]
    assert listed == [applied["allocation"]["id"]]
    assert trading.walk("listAllocations", f"ruleId={other['id']}") == []
    trading.post("updateAllocation", allocationId=listed[0], description="Lunch")
    assert trading.walk("listAllocations", f"ruleId={made['id']}") == []
