"""A holder renews what it holds, writes nothing while it holds nothing, and lets go what it could not let go before."""

from typing import cast

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import HOUR, SECOND
from gatewayd.leases.holder import RENEW_SECONDS, Holder, open_holder
from gatewayd.leases.rows import LEASE_SECONDS, LeaseLost
from gatewayd.store import Store, StoreFailure
from tests.leases.records import Records, records_of

SUBJECT = "import:bac_1"


@pytest.fixture
def records(database_image: bytes, autojump_clock: MockClock) -> Records:
    return records_of(database_image, autojump_clock.current_time)


@pytest.fixture
def org_id(records: Records) -> str:
    return records.memory.org()


def holder_of(records: Records, name: str = "command") -> Holder:
    return Holder(cast(Store, records), name)


async def test_two_processes_at_one_subject(autojump_clock: MockClock, records: Records, org_id: str) -> None:
    one, two = holder_of(records), holder_of(records)
    found = []

    async def take(holder: Holder) -> None:
        found.append(await holder.take(org_id, SUBJECT))

    async with trio.open_nursery() as nursery:
        for holder in (one, two):
            nursery.start_soon(take, holder)
    (lease,) = [each for each in found if each is not None]
    await lease.release()
    assert records.leases() == []
    assert await two.take(org_id, SUBJECT) is not None


async def test_two_tasks_of_one_process(autojump_clock: MockClock, records: Records, org_id: str) -> None:
    """Also where the first one's lease was lost while it slept: it is let go by who has it in hand."""
    holder, other = holder_of(records), holder_of(records)
    lease = await holder.take(org_id, SUBJECT)
    assert lease is not None
    assert await holder.take(org_id, SUBJECT) is None
    await trio.sleep(LEASE_SECONDS)
    theirs = await other.take(org_id, SUBJECT)
    assert theirs is not None
    await theirs.release()
    assert await holder.take(org_id, SUBJECT) is None
    with pytest.raises(LeaseLost):
        records.memory.write(lease.fenced(lambda tx: None), org_id)
    await lease.release()
    assert await holder.take(org_id, SUBJECT) is not None


async def test_what_is_held_is_renewed_by_one_write_and_an_idle_holder_writes_nothing(
    autojump_clock: MockClock, records: Records, org_id: str, nursery: trio.Nursery
) -> None:
    holder, other = holder_of(records), holder_of(records)
    nursery.start_soon(holder.run)
    await trio.sleep(10 * LEASE_SECONDS)
    assert records.writes == 0
    leases = [await holder.take(org_id, subject) for subject in ("one", "two", "three")]
    assert records.writes == 3
    await trio.sleep(10 * LEASE_SECONDS + 1)
    assert records.writes == 3 + 10 * LEASE_SECONDS // RENEW_SECONDS
    writes = records.writes
    assert await other.take(org_id, "two") is None
    assert records.writes == writes, "to be refused costs no write"
    for lease in leases:
        assert lease is not None
        await lease.release()
    writes = records.writes
    await trio.sleep(10 * LEASE_SECONDS)
    assert records.writes == writes


async def test_who_is_stopped_loses_it_and_finds_that_out(
    autojump_clock: MockClock, records: Records, org_id: str
) -> None:
    stopped, other = holder_of(records), holder_of(records)
    lease = await stopped.take(org_id, SUBJECT)
    assert lease is not None
    done: list[str] = []
    work = lease.fenced(lambda tx: done.append("written"))
    await trio.sleep(LEASE_SECONDS - 1)
    assert await other.take(org_id, SUBJECT) is None
    await trio.sleep(1)
    records.memory.write(work, org_id)
    assert await other.take(org_id, SUBJECT) is not None
    with pytest.raises(LeaseLost):
        records.memory.write(work, org_id)
    assert done == ["written"]
    async with trio.open_nursery() as nursery:  # awake again, it does not take it back
        nursery.start_soon(stopped.run)
        await trio.sleep(RENEW_SECONDS + 1)
        nursery.cancel_scope.cancel()
    with pytest.raises(LeaseLost):
        records.memory.write(work, org_id)
    await lease.release()
    assert records.leases() == [SUBJECT]


async def test_what_cannot_be_let_go_is_let_go_later(
    autojump_clock: MockClock, records: Records, org_id: str, nursery: trio.Nursery
) -> None:
    holder, other = holder_of(records), holder_of(records)
    nursery.start_soon(holder.run)
    lease, kept = await holder.take(org_id, SUBJECT), await holder.take(org_id, "kept")
    assert lease is not None
    assert kept is not None
    records.full = True
    await lease.release()
    await trio.sleep(RENEW_SECONDS + 5)
    records.full = False
    await trio.sleep(RENEW_SECONDS)
    assert records.leases() == ["kept"]
    assert await other.take(org_id, SUBJECT) is not None
    assert await other.take(org_id, "kept") is None


async def test_nothing_is_held_where_taking_fails(autojump_clock: MockClock, records: Records, org_id: str) -> None:
    holder = holder_of(records)
    records.full = True
    with pytest.raises(StoreFailure):
        await holder.take(org_id, SUBJECT)
    records.full = False
    assert await holder.take(org_id, SUBJECT) is not None


async def test_a_clock_that_is_set_back(
    autojump_clock: MockClock, records: Records, org_id: str, nursery: trio.Nursery
) -> None:
    """The dead one's lease ends one lease after the first look; the living one's goes on."""
    dead, alive, other = (holder_of(records) for _ in range(3))
    nursery.start_soon(alive.run)
    assert await dead.take(org_id, "dead") is not None
    assert await alive.take(org_id, "alive") is not None
    records.memory.clock.advance(-HOUR)
    assert await other.take(org_id, "dead") is None
    assert await other.take(org_id, "alive") is None
    await trio.sleep(LEASE_SECONDS + 1)
    assert await other.take(org_id, "alive") is None
    assert await other.take(org_id, "dead") is not None


async def test_a_clock_that_is_set_forward_ends_what_nobody_renews(
    autojump_clock: MockClock, records: Records, org_id: str, nursery: trio.Nursery
) -> None:
    alive, other = holder_of(records), holder_of(records)
    nursery.start_soon(alive.run)
    assert await alive.take(org_id, SUBJECT) is not None
    records.memory.clock.advance(HOUR)
    await trio.sleep(RENEW_SECONDS + 1)
    assert await other.take(org_id, SUBJECT) is None
    records.memory.clock.advance(SECOND)


async def test_the_end_gives_everything_back(autojump_clock: MockClock, records: Records, org_id: str) -> None:
    async with open_holder(cast(Store, records)) as holder:
        assert await holder.take(org_id, SUBJECT) is not None
        assert records.leases() == [SUBJECT]
    assert records.leases() == []


async def test_the_daemon_that_follows_knows_that_those_before_it_are_dead(
    autojump_clock: MockClock, records: Records, org_id: str
) -> None:
    killed, command = holder_of(records, "daemon-x"), holder_of(records)
    assert await killed.take(org_id, "theirs") is not None
    assert await command.take(org_id, "command's") is not None
    async with open_holder(cast(Store, records), "daemon-y") as elsewhere:
        assert await elsewhere.take(org_id, "theirs") is None
    async with open_holder(cast(Store, records), "daemon-x") as successor:
        assert await successor.take(org_id, "theirs") is not None
        assert await successor.take(org_id, "command's") is None
