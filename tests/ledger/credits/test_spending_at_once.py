"""Many callers spend the last credits at once, over a store in a file with its real writer."""

from pathlib import Path

import trio

from gatewayd.clock import HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.ledger.credits import booking, charging, entries, invariants, plans
from gatewayd.ledger.credits.charging import Charge
from gatewayd.ledger.credits.entries import NewEntry
from gatewayd.ledger.credits.grants import NewGrant
from gatewayd.store import Store, WriteTx
from tests.ledger.credits.purses import plan
from tests.support.api import TestedApi, open_api
from tests.support.store import START

CALLERS = 32
CREDITS = 100
DEAREST = 5


def prepare(tx: WriteTx) -> None:
    booking.change_plan(tx, plans.create(tx, plan(tx)))
    booking.give(tx, NewGrant(source="grant", amount=CREDITS), NewEntry(type="grant", amount=CREDITS))


async def pay(store: Store, work: Charge) -> None:
    """Twice at once, as a client does that asks again."""
    await store.write(lambda tx: charging.charge(tx, work), "org_a")
    await store.write(lambda tx: charging.charge(tx, work), "org_a")


async def pay_afterwards(store: Store, work: Charge) -> None:
    """Hold the most that it can come to, then settle what it came to."""
    until = Instant(START + HOUR)
    hold = await store.write(lambda tx: charging.hold(tx, work.operation, DEAREST, work.operation_id, until), "org_a")
    await store.write(lambda tx: charging.settle(tx, hold, work.amount), "org_a")


async def spend(store: Store, caller: int, done: list[int], refused: list[str]) -> None:
    """Ten pieces of work of different prices, every other one paid afterwards."""
    for number in range(10):
        cost = 1 + (caller + number) % DEAREST
        work = Charge(operation="vault.parse", amount=cost, operation_id=f"op_{caller}_{number}")
        try:
            await (pay_afterwards if number % 2 else pay)(store, work)
        except Problem as problem:
            refused.append(problem.code)
        else:
            done.append(cost)


async def test_the_last_credits_are_spent_once(database_image: bytes, tmp_path: Path) -> None:
    async with open_api(tmp_path, database_image, ()) as api:
        await _spend_all(api)


async def _spend_all(api: TestedApi) -> None:
    store = api.store
    await store.write(prepare, "org_a")
    done: list[int] = []
    refused: list[str] = []
    async with trio.open_nursery() as nursery:
        for caller in range(CALLERS):
            nursery.start_soon(spend, store, caller, done, refused)
    left = await store.read(entries.balance, "org_a")
    assert left == CREDITS - sum(done)
    assert 0 <= left < DEAREST
    assert set(refused) == {"insufficient_credits"}
    assert await store.read(invariants.faults_of_grants, "org_a") == []
    assert await store.read(invariants.from_entry(None), "org_a") == ([], None)
