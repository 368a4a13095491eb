"""Each condition of a rule and each part of its outcome, where the rule is changed to it; and how rules are listed."""

from typing import Any

import pytest

from gatewayd.clock import DAY
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_lets import Letting
from tests.areas.banking.test_rules import apply, rule
from tests.support.store import MemoryStore

FITTING: dict[str, object] = {
    "description": "FERRY CROSSING",
    "counterparty_name": "Mersey Ferries",
    "reference": "QUAY 7",
    "match_key": "mersey ferries",
    "type": "direct_debit",
}
CONDITIONS: dict[str, tuple[str, str]] = {  # each: what fits the line, and what fits none
    "direction": ("out", "in"),
    "text": ("crossing", "bridge"),
    "counterparty": ("mersey", "avon"),
    "reference": ("quay 7", "quay 8"),
    "matchKey": ("mersey ferries", "mersey"),
    "type": ("direct_debit", "standing_order"),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_rule_that_is_changed_fits_by_its_new_condition(trading: Trading, name: str) -> None:
    fitting, other = CONDITIONS[name]
    line = trading.line(trading.current, -1200, **FITTING)
    made = rule(trading, {"text": "nowhere"})
    assert apply(trading) == []
    trading.post("updateRule", ruleId=made["id"], conditions={name: other})
    assert apply(trading) == []
    changed = trading.post("updateRule", ruleId=made["id"], conditions={name: fitting})
    assert {key: value for key, value in changed["conditions"].items() if value is not None} == {name: fitting}
    assert [one["bankTransactionId"] for one in apply(trading)] == [line]


def test_a_rule_that_is_made_to_propose_applies_nothing(trading: Trading) -> None:
    made = rule(trading)
    trading.line(trading.current, -1200, description="TESCO")
    assert trading.post("updateRule", ruleId=made["id"], mode="propose")["mode"] == "propose"
    assert apply(trading) == []
    trading.post("updateRule", ruleId=made["id"], mode="apply")
    assert len(apply(trading)) == 1


@pytest.fixture
def letting(store: MemoryStore) -> Letting:
    return Letting(store)


@pytest.mark.parametrize("name", ["unitId", "tenancyId"])
def test_a_rule_that_is_changed_names_the_place(letting: Letting, name: str) -> None:
    place = {"unitId": letting.room, "tenancyId": letting.tenancy}[name]
    made = rule(letting, {"text": "rent"}, outcome={"category": "periodAmount", "propertyId": letting.house})
    assert made["outcome"][name] is None
    outcome = {"category": "periodAmount", name: place}
    assert letting.post("updateRule", ruleId=made["id"], outcome=outcome)["outcome"][name] == place
    letting.rent()
    (applied,) = apply(letting)
    found = applied["allocation"]
    assert (found[name], found["propertyId"], found["businessId"]) == (place, letting.house, letting.lets)


def test_rules_come_page_by_page_and_by_what_changed(trading: Trading) -> None:
    made = [rule(trading, name=f"Rule {n}")["id"] for n in range(3)]
    page, cursor = trading.get("listRules", "limit=2")
    assert (len(page), cursor is not None) == (2, True)
    assert {one["id"] for one in trading.walk("listRules", "limit=2")} == {*made}
    since = "updatedSince=2026-11-21T00:00:00Z"
    assert trading.get("listRules", since)[0] == []
    trading.store.clock.advance(DAY)
    changed = trading.post("updateRule", ruleId=made[1], priority=7)
    assert trading.get("listRules", since) == ([changed], None)


def test_a_rule_that_is_learned_has_the_name_and_the_place_it_is_given(trading: Trading) -> None:
    line = trading.line(trading.current, -1200, **FITTING)
    trading.part(line)
    for _ in range(3):
        trading.part(trading.line(trading.current, -1300, **FITTING))
    learned: dict[str, Any] = trading.post("learnRule", bankTransactionId=line, name="Ferries", priority=7)
    assert (learned["name"], learned["priority"]) == ("Ferries", 7)
    (listed,) = trading.get("listRules")[0]
    assert (listed["name"], listed["priority"]) == ("Ferries", 7)
