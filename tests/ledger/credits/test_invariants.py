"""The six invariants of Domain C8, whatever is done in whatever order, against a ledger in plain integers."""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from gatewayd.areas.billing import entering
from gatewayd.clock import HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.ledger.credits import balances, booking, charging, entries, invariants, usage
from gatewayd.ledger.credits.charging import Charge
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import NewGrant
from gatewayd.store import ReadTx, WriteTx
from tests.ledger.credits.credits_oracle import Oracle, Piece, RefusedError
from tests.ledger.credits.purses import Purse
from tests.support.store import START, MemoryStore

AMOUNT = st.integers(1, 60)
WORK = st.sampled_from([f"op_{number}" for number in range(12)])
HELD = st.sampled_from([f"held_{number}" for number in range(4)])
GIVE = st.tuples(st.just("give"), AMOUNT, st.none() | st.integers(1, 6), st.booleans(), st.sampled_from([1, 100]))
USE = st.tuples(st.just("use"), AMOUNT, WORK | HELD)
HOLD = st.tuples(st.just("hold"), AMOUNT, HELD, st.integers(1, 5))
REFUND = st.tuples(st.just("refund"), st.integers(0, 30), st.integers(1, 60))
STEP = st.one_of(
    *(GIVE, USE, USE, HOLD, HOLD, REFUND, REFUND),
    st.tuples(st.just("settle"), st.integers(0, 70), HELD),
    st.tuples(st.just("release"), HELD),
    st.tuples(st.just("void"), st.integers(0, 10)),
    st.tuples(st.just("pass"), st.integers(1, 3)),
    st.tuples(st.just("kill"), AMOUNT, WORK),
    st.tuples(st.just("book")),
)
_USED = "SELECT id, -amount FROM credit_entries WHERE org_id = :org_id AND type = 'usage' ORDER BY sequence"


class KilledError(Exception):
    """The process ends before the transaction does."""


class Pair:
    """The ledger and its oracle, to which the same is done. Amounts are millionths here, time is in hours."""

    def __init__(self, store: MemoryStore, soft: bool) -> None:
        self.store, self.purse, self.oracle = store, Purse(store, soft_limit=soft), Oracle(soft)
        self.grants: list[str] = []
        self.holds: dict[str, str] = {}

    def step(self, name: str, *values: Any) -> None:
        getattr(self, f"do_{name}")(*values)
        self.compare()

    def both(self, work: Callable[[WriteTx], Any], theirs: Callable[[], Any]) -> Any:
        """Do it to both; either both refuse or neither does."""
        try:
            theirs()
        except RefusedError:
            with pytest.raises(Problem, match="insufficient_credits"):
                self.store.write(work, self.purse.org_id)
            return None
        return self.store.write(work, self.purse.org_id)

    def at(self, hours: int) -> Instant:
        return Instant(START + hours * HOUR)

    def do_give(self, amount: int, lasts: int | None, paid: bool, priority: int) -> None:
        expires = None if lasts is None else self.oracle.now + lasts
        grant = NewGrant(
            source="grant",
            amount=amount,
            category="paid" if paid else "promotional",
            priority=priority,
            expires_at=None if expires is None else self.at(expires),
        )
        made = self.store.write(
            lambda tx: booking.give(tx, grant, NewEntry(type="grant", amount=amount)), self.purse.org_id
        )
        bucket = self.oracle.give(amount, expires, paid, priority)
        self.grants += [made.grant.id] * (len(self.oracle.buckets) - len(self.grants))
        assert bucket is self.oracle.buckets[-1]

    def do_use(self, amount: int, operation_id: str) -> None:
        of_work = Charge(operation="vault.parse", amount=amount, operation_id=operation_id)
        self.both(lambda tx: charging.charge(tx, of_work), lambda: self.oracle.use(amount, operation_id))

    def do_kill(self, amount: int, operation_id: str) -> None:
        def work(tx: WriteTx) -> None:
            charging.charge(tx, Charge(operation="x.y", amount=amount, operation_id=operation_id))
            raise KilledError

        with pytest.raises((KilledError, Problem)):
            self.store.write(work, self.purse.org_id)

    def do_hold(self, most: int, operation_id: str, lasts: int) -> None:
        until = self.oracle.now + lasts
        hold_id = self.both(
            lambda tx: charging.hold(tx, "vault.parse", most, operation_id, self.at(until)),
            lambda: self.oracle.hold(most, operation_id, until),
        )
        if hold_id:
            self.holds[operation_id] = hold_id

    def do_settle(self, actual: int, operation_id: str) -> None:
        hold_id = self.holds.get(operation_id, charging.NOT_METERED)
        self.store.write(lambda tx: charging.settle(tx, hold_id, actual), self.purse.org_id)
        self.oracle.settle(operation_id, actual)

    def do_release(self, operation_id: str) -> None:
        hold_id = self.holds.get(operation_id, charging.NOT_METERED)
        self.store.write(lambda tx: charging.release(tx, hold_id), self.purse.org_id)
        self.oracle.release(operation_id)

    def do_refund(self, number: int, amount: int) -> None:
        used = self.store.read(lambda tx: tx.rows(_USED), self.purse.org_id)
        if not used:
            return
        number %= len(used)
        entry_id, whole = used[number]
        piece: Piece = self.oracle.pieces[number]
        assert piece.amount == whole
        if amount <= piece.amount - piece.refunded:
            made = self.store.write(lambda tx: entering.refund(tx, entry_id, amount, None), self.purse.org_id)
            count = len(self.oracle.buckets)
            self.oracle.refund(piece, amount)
            self.grants += [str(made.grant_id)] * (len(self.oracle.buckets) - count)
        else:
            with pytest.raises(Problem, match="validation_failed"):
                self.store.write(lambda tx: entering.refund(tx, entry_id, amount, None), self.purse.org_id)

    def do_void(self, number: int) -> None:
        if not self.grants:
            return
        number %= len(self.grants)
        grant_id, bucket = self.grants[number], self.oracle.buckets[number]

        def work(tx: WriteTx) -> object:
            return entering.void(tx, grant_id, None)

        if self.oracle.is_active(bucket):
            self.store.write(work, self.purse.org_id)
            self.oracle.void(bucket)
        else:
            with pytest.raises(Problem, match="invalid_state"):
                self.store.write(work, self.purse.org_id)

    def do_pass(self, hours: int) -> None:
        self.store.clock.advance(hours * HOUR)
        self.oracle.now += hours

    def do_book(self) -> None:
        self.purse.book()

    def compare(self) -> None:
        """Reads count what is due, booked or not; the books never contradict themselves."""
        self.oracle.settle_time()

        def look(tx: ReadTx) -> None:
            found = balances.balance_at(tx, None)
            assert (found.balance, found.held) == (self.oracle.balance, self.oracle.held)
            assert found.lifetime_used == self.oracle.used
            assert invariants.faults_of_grants(tx) == []
            assert invariants.from_entry(None)(tx) == ([], None)
            assert self.oracle.soft or entries.balance(tx) >= 0
            assert (
                sum(used.credits for used in usage.between(tx, [self.at(0), self.at(1000)])[0].values())
                == self.oracle.used
            )

        self.store.read(look, self.purse.org_id)


NewStore = Callable[[], MemoryStore]


@pytest.fixture
def new_store(database_image: bytes) -> NewStore:
    """A store for each example; what an example is told with is short."""
    return lambda: MemoryStore(database_image)


@pytest.mark.parametrize("soft", [False, True])
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(start=GIVE, steps=st.lists(STEP, min_size=8, max_size=40))
def test_whatever_is_done_the_invariants_hold(new_store: NewStore, soft: bool, start: Any, steps: list[Any]) -> None:
    store = new_store()
    try:
        pair = Pair(store, soft)
        for name, *values in (start, *steps):
            pair.step(name, *values)
    finally:
        store.close()
