"""What `verify` says of a ledger that was changed by hand: each of the six invariants, and the sums (Domain C8)."""

import pytest

from gatewayd.areas.billing import entering
from gatewayd.clock import HOUR, MINUTE, Instant
from gatewayd.ledger.credits import entries, invariants
from gatewayd.store import ReadTx, WriteTx
from tests.ledger.credits.damages import DAMAGES, ENTRY
from tests.ledger.credits.purses import Purse
from tests.support.store import START, MemoryStore


def faults(tx: ReadTx) -> list[str]:
    found = [*invariants.faults_of_grants(tx), *of_entries(tx)]
    return [fault.removeprefix(f"{tx.org_id}: ") for fault in found]


def of_entries(tx: ReadTx) -> list[str]:
    """As `verify` walks: some entries at a time."""
    found, before = invariants.from_entry(None)(tx)
    while before is not None:
        more, before = invariants.from_entry(before)(tx)
        found += more
    return found


def good(store: MemoryStore) -> tuple[Purse, dict[str, str]]:
    """A ledger in which everything has happened, from `START` to an hour later, and the ids of its grants.

    1 grant 100, 2 usage 30, 3 grant 5, 4 and 5 usage 5 + 7, 6 refund 4, 7 grant 10, 8 void 10, 9 purchase 50,
    10 expiry 67, 11 usage 1; and 20 are held, in two holds.
    """
    purse = Purse(store)
    ids = {"first": purse.give(100, expires_at=Instant(store.now() + HOUR))}
    purse.use(30, "op_a")
    ids["small"] = purse.give(5, priority=1)
    purse.use(12, "op_d")
    used = store.read(lambda tx: entries.at(tx, 2), purse.org_id)
    assert used is not None
    store.write(lambda tx: entering.refund(tx, used.id, 4_000_000, None), purse.org_id)
    ids["taken"] = purse.give(10)
    store.write(lambda tx: entering.void(tx, ids["taken"], None), purse.org_id)
    ids["bought"] = purse.give(50, source="purchase", category="paid")
    return purse, ids


def finish(store: MemoryStore, purse: Purse) -> None:
    purse.use(1, "op_e")
    purse.hold(15, "op_c")
    purse.hold(5, "op_f")


@pytest.mark.parametrize("what", DAMAGES)
def test_what_was_changed_by_hand_is_named(store: MemoryStore, what: str) -> None:
    """In its own organization, and in no other."""
    (purse, ids), (other, _) = good(store), good(store)
    store.clock.advance(HOUR)
    finish(store, purse)
    finish(store, other)
    assert store.now() == START + HOUR
    assert store.read(faults, purse.org_id) == store.read(faults, other.org_id) == []
    damage, told = DAMAGES[what]
    store.write(lambda tx: spoil(tx, damage), purse.org_id)
    found = store.read(faults, purse.org_id)
    expected = [fault.format(**ids) for fault in told]
    if any("led_copy" in sql for sql in damage):
        assert expected == [fault for fault in found if "charged" in fault]
    else:
        assert found == expected
    assert store.read(faults, other.org_id) == []


def spoil(tx: WriteTx, damage: list[str]) -> None:
    tx.run("PRAGMA ignore_check_constraints = ON")
    for sql in damage:
        tx.run(sql)


@pytest.mark.parametrize("chunk", [1, 2, 11])
def test_entries_are_looked_at_some_at_a_time(store: MemoryStore, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    purse, _ = good(store)
    finish(store, purse)
    monkeypatch.setattr(invariants, "CHUNK", chunk)
    assert store.read(of_entries, purse.org_id) == []
    for number in (1, 4, 10):
        store.write(lambda tx, number=number: tx.run(ENTRY.format("lifetime_used = -1", number)), purse.org_id)
    told = [fault.split(" entry ")[1].split()[0] for fault in store.read(of_entries, purse.org_id)]
    assert told == ["1", "2", "4", "5", "10"]


def test_of_one_kind_ten_faults_are_told(store: MemoryStore) -> None:
    purse = Purse(store)
    for _ in range(12):
        purse.give(1)
    store.write(lambda tx: spoil(tx, ["UPDATE credit_grants SET used = 1 WHERE org_id = :org_id"]), purse.org_id)
    assert len(store.read(faults, purse.org_id)) == 10


def test_nothing_is_said_of_who_never_had_credits(store: MemoryStore) -> None:
    assert store.read(faults, store.org()) == store.read(faults, Purse(store).org_id) == []


def test_nothing_is_said_of_usage_at_the_edges_of_what_it_is_summed_up_by(store: MemoryStore) -> None:
    """The first and the last instant of quarters of an hour, and of six hours."""
    purse = Purse(store)
    purse.give(100)
    for number, minutes in enumerate((0, 15, 120, 15)):  # 09:30, 09:45, 11:45, 12:00
        store.clock.advance(minutes * MINUTE)
        purse.use(1, f"first_{number}")
        store.clock.advance(15 * MINUTE - 1)
        purse.use(1, f"last_{number}")
        store.clock.advance(1 - 15 * MINUTE)
    assert store.now() == START + 150 * MINUTE
    assert store.read(faults, purse.org_id) == []


def test_nothing_is_said_of_debts_and_of_what_pays_them(store: MemoryStore) -> None:
    """What is given, or refunded, pays first what is owed, so that less of it stays in its grant than was entered."""
    purse = Purse(store, soft_limit=True)
    purse.give(3)
    purse.use(10, "op_1")
    purse.give(2)
    assert (purse.balance, store.read(faults, purse.org_id)) == (-5, [])
    for amount in (4, 3):
        first = store.read(lambda tx: entries.at(tx, 3), purse.org_id)
        assert first is not None
        of = first.id, amount * 1_000_000
        store.write(lambda tx, of=of: entering.refund(tx, *of, None), purse.org_id)
        assert store.read(faults, purse.org_id) == []
    purse.give(9)
    assert (purse.balance, store.read(faults, purse.org_id)) == (11, [])
