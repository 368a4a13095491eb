"""What `verify` says of a ledger that was changed by hand: each of the six invariants, and the sums (Domain C8)."""

import pytest

from gatewayd.clock import HOUR, Instant
from gatewayd.ledger.credits import invariants
from gatewayd.store import ReadTx, WriteTx
from tests.ledger.credits.purses import Purse
from tests.support.store import START, MemoryStore

_CHANGES = {
    "a grant has more left than was given": "UPDATE credit_grants SET remaining = remaining + 1 WHERE org_id = :org_id",
    "a grant was used more often": "UPDATE credit_grants SET used = used + 1 WHERE org_id = :org_id",
    "less is held": "UPDATE credit_grants SET held = held - 1 WHERE org_id = :org_id",
    "a hold holds more": "UPDATE credit_hold_draws SET amount = amount + 1 WHERE org_id = :org_id",
    "an entry is of more": "UPDATE credit_entries SET amount = amount - 1 WHERE org_id = :org_id AND sequence = 2",
    "a balance is another": "UPDATE credit_entries SET balance_after = 0 WHERE org_id = :org_id AND sequence = 2",
    "an entry is missing": "DELETE FROM credit_entries WHERE org_id = :org_id AND sequence = 2",
    "a sum by quarters is another": "UPDATE credit_usage SET credits = credits + 1 WHERE org_id = :org_id",
    "a sum by blocks is another": "UPDATE credit_usage_blocks SET credits = credits + 1 WHERE org_id = :org_id",
}


def faults(tx: ReadTx) -> list[str]:
    of_entries, _ = invariants.from_entry(None)(tx)
    return [*invariants.faults_of_grants(tx), *of_entries]


def used_and_held(store: MemoryStore) -> Purse:
    purse = Purse(store)
    purse.give(100, expires_at=Instant(START + HOUR))
    purse.use(30, "a")
    purse.use(5, "b")
    purse.hold(20, "c")
    return purse


@pytest.mark.parametrize("what", _CHANGES)
def test_what_was_changed_by_hand_is_found(store: MemoryStore, what: str) -> None:
    """In its own organization, and in no other."""
    purse, other = used_and_held(store), used_and_held(store)
    assert store.read(faults, purse.org_id) == []
    store.write(lambda tx: spoil(tx, _CHANGES[what]), purse.org_id)
    assert store.read(faults, purse.org_id) != []
    assert store.read(faults, other.org_id) == []


def spoil(tx: WriteTx, sql: str) -> None:
    tx.run("PRAGMA ignore_check_constraints = ON")
    tx.run(sql)
