"""One transaction of an account with assets, read by its id."""

import pytest

from gatewayd.errors import Problem
from tests.areas.assets.transactions.broking import Broking
from tests.support.store import MemoryStore


def test_a_transaction_is_read_reversed_or_not(broking: Broking) -> None:
    made = broking.buy()
    assert broking.one("getTransaction", f"id={made['id']}") == broking.listed()[0]
    reversal = broking.reverse(made)
    shown = {row["id"]: row for row in broking.listed("includeReversed=true")}
    for id_ in (made["id"], reversal["id"]):
        assert broking.one("getTransaction", f"id={id_}") == shown[id_]
    assert shown[made["id"]]["reversedById"] == reversal["id"]


def test_another_organizations_transaction_is_not_there(store: MemoryStore, broking: Broking) -> None:
    made = broking.buy()
    with pytest.raises(Problem, match="not_found"):
        Broking(store).one("getTransaction", f"id={made['id']}")
