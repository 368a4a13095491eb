"""One bank transaction and one rule, read by their ids."""

import pytest

from gatewayd.errors import Problem
from tests.areas.banking.conftest import Trading
from tests.support.store import MemoryStore


def test_a_bank_transaction_is_read_with_its_allocations(trading: Trading) -> None:
    line = trading.line(trading.current, -1200)
    made = trading.post("allocate", bankTransactionId=line, parts=[{"category": "adminCosts", "amount": "5.00"}])
    answer = trading.one("getTransaction", f"transactionId={line}")
    assert (answer["id"], answer["amount"], answer["unallocatedAmount"]) == (line, "-12.00", "-7.00")
    assert answer["allocations"] == [row["id"] for row in made["allocations"]]


def test_a_rule_is_read_enabled_or_not(trading: Trading) -> None:
    outcome = {"category": "adminCosts"}
    made = trading.post("createRule", name="Tesco", conditions={"text": "Tesco"}, outcome=outcome, enabled=False)
    assert trading.one("getRule", f"ruleId={made['id']}") == made
    trading.post("deleteRule", ruleId=made["id"])
    with pytest.raises(Problem, match="not_found"):
        trading.one("getRule", f"ruleId={made['id']}")


def test_what_another_organization_has_is_not_there(store: MemoryStore, trading: Trading) -> None:
    line = trading.line(trading.current, -1200)
    rule = trading.post("createRule", name="T", conditions={"text": "Tesco"}, outcome={"category": "adminCosts"})
    other = Trading(store)
    for operation, query in (("getTransaction", f"transactionId={line}"), ("getRule", f"ruleId={rule['id']}")):
        with pytest.raises(Problem, match="not_found"):
            other.one(operation, query)
