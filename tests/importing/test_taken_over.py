"""Who sleeps past its lease in the midst of an import: another goes on, and it writes nothing when it wakes."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import trio

from gatewayd.clock import HOUR, SECOND
from gatewayd.errors import Problem
from gatewayd.importing import runs
from gatewayd.importing.parts import FOLDER_NAME
from gatewayd.leases.holder import Holder
from gatewayd.leases.rows import LEASE_SECONDS
from gatewayd.store import Store
from tests.importing.conftest import DEADLINE, ORG, Bank, OpenBank
from tests.importing.test_interrupted import BEFORE, LARGE, PENDING, SMALL
from tests.support.watched_store import WatchedStore
from tests.support.whole_database import everything

LEASE = round(LEASE_SECONDS * SECOND)
UNDER_WAY = "SELECT count(*) FROM import_runs WHERE stage IS NOT NULL OR moved_to IS NOT NULL"
Act = Callable[[Bank], Awaitable[object]]


class SleepingStore(WatchedStore):
    """A store whose user is stopped before its n-th write, until somebody wakes it."""

    def __init__(self, store: Store, writes: int) -> None:
        super().__init__(store)
        self._left = writes
        self.asleep, self.awake = trio.Event(), trio.Event()

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        self._left -= 1
        if self._left == 0:
            self.asleep.set()
            await self.awake.wait()
        return await write()


async def nothing_under_way(bank: Bank) -> None:
    """Wait until every run has ended, and its staged rows are gone."""
    with trio.fail_after(DEADLINE):
        while await bank.store.read_later(lambda tx: tx.value(UNDER_WAY), ORG):
            await bank.store.write_behind(lambda tx: None)
            await trio.lowlevel.checkpoint()


async def take_over(open_bank: OpenBank, other: Bank, writes: int, act: Act) -> bool:
    """Stop a process before its n-th write, let `other` go on, and wake it; False: it had fewer to do.

    What is in the database once the other has done its work is there when the first one has ended.
    """
    stores: list[SleepingStore] = []

    def watch(store: Store) -> Store:
        stores.append(SleepingStore(store, writes))
        return cast(Store, stores[0])

    ended = trio.Event()

    async def work(bank: Bank) -> None:
        with contextlib.suppress(Problem):  # that another import works on the account
            await act(bank)
        ended.set()
        stores[0].asleep.set()

    async with open_bank(sizes=SMALL, watch=watch) as bank, trio.open_nursery() as nursery:
        nursery.start_soon(work, bank)
        await stores[0].asleep.wait()
        if ended.is_set():
            return False
        assert await other.importing.recover() == 0, "not before the end of the lease"
        other.clock.advance(LEASE - 1)
        assert await other.importing.recover() == 0
        other.clock.advance(1)
        await other.importing.recover()
        await nothing_under_way(other)
        await once_it_is_free(other, act)
        done = everything(bank.directory)
        stores[0].awake.set()
        with trio.fail_after(DEADLINE):
            await ended.wait()
    assert everything(bank.directory) == done
    other.clock.advance(-LEASE)  # to what the next one's says
    return True


async def once_it_is_free(bank: Bank, act: Act) -> None:
    """Do it once no other import works on the account: a run ends a moment before its lease does."""
    with trio.fail_after(DEADLINE):
        while True:
            try:
                await act(bank)
                return await nothing_under_way(bank)
            except Problem as problem:
                if problem.message != runs.busy().message:
                    return None
                await bank.store.write_behind(lambda tx: None)


def bringing(account: str) -> Act:
    return lambda bank: bank.bring(account, LARGE)


def undoing(import_id: str) -> Act:
    return lambda bank: bank.importing.undo(ORG, import_id, "bank")


@pytest.mark.parametrize("first", range(3))
async def test_who_sleeps_in_the_midst_of_an_import_writes_nothing_when_it_wakes(
    open_bank: OpenBank, first: int
) -> None:
    """At each of its writes: every line is there once, whoever brought it."""
    async with open_bank(sizes=SMALL) as other:
        for number, writes in enumerate(range(1 + first, 60, 3)):
            account = await other.account(name=f"Account {number}")
            await other.bring(account, BEFORE)
            await other.bring(account, PENDING)
            slept = await take_over(open_bank, other, writes, bringing(account))
            expected = sorted(["-1.00", "-45.00", *(f"-{n}.00" for n in range(2, 10))])
            assert sorted(await other.amounts(account)) == expected, writes
            if not slept:
                assert writes > 20
                return
    raise AssertionError("it has more writes")


@pytest.mark.parametrize("first", range(2))
async def test_who_sleeps_while_it_undoes_writes_nothing_when_it_wakes(open_bank: OpenBank, first: int) -> None:
    async with open_bank(sizes=SMALL) as other:
        for number, writes in enumerate(range(1 + first, 20, 2)):
            account = await other.account(name=f"Account {number}")
            await other.bring(account, BEFORE)
            run = await other.bring(account, LARGE)

            slept = await take_over(open_bank, other, writes, undoing(run.id))
            assert await other.amounts(account) == ["-1.00"]
            assert (await other.run(run.id)).status == "reverted"
            if not slept:
                assert writes > 4
                return
    raise AssertionError("it has more writes")


async def test_of_two_processes_one_imports_into_an_account(open_bank: OpenBank) -> None:
    async with open_bank(sizes=SMALL) as other:
        account, another = await other.account(), await other.account(name="Savings")
        stores: list[SleepingStore] = []

        def watch(store: Store) -> Store:
            stores.append(SleepingStore(store, 12))
            return cast(Store, stores[0])

        async with open_bank(sizes=SMALL, watch=watch) as bank, trio.open_nursery() as nursery:
            nursery.start_soon(bringing(account), bank)
            await stores[0].asleep.wait()
            for each in (bank, other):  # another request of the same process is refused as well
                with pytest.raises(Problem) as refused:
                    await each.bring(account, BEFORE)
                assert (refused.value.code, refused.value.message) == ("invalid_state", runs.busy().message)
            await other.bring(another, LARGE)
            stores[0].awake.set()
        assert len(await other.amounts(account)) == len(await other.amounts(another)) == 9
        await other.bring(account, BEFORE)
        assert await other.leases() == []


async def test_who_waits_for_a_run_that_was_taken_over_is_told_how_far_it_has_come(open_bank: OpenBank) -> None:
    async with open_bank(sizes=SMALL) as other:
        account = await other.account()
        stores: list[SleepingStore] = []

        def watch(store: Store) -> Store:
            stores.append(SleepingStore(store, 20))
            return cast(Store, stores[0])

        told: list[str] = []
        async with open_bank(sizes=SMALL, watch=watch) as bank, trio.open_nursery() as nursery:

            async def ask() -> None:
                told.append((await bank.bring(account, LARGE)).status)

            nursery.start_soon(ask)
            await stores[0].asleep.wait()
            other.clock.advance(LEASE)
            assert await other.importing.recover() == 1
            await nothing_under_way(other)
            stores[0].awake.set()
        assert told == ["applied"]
        assert await other.leases() == []


async def test_a_clock_that_is_set_back_holds_an_account_for_one_lease_more(open_bank: OpenBank) -> None:
    async with open_bank(sizes=SMALL) as other:
        account = await other.account()
        stores: list[SleepingStore] = []

        def watch(store: Store) -> Store:
            stores.append(SleepingStore(store, 12))
            return cast(Store, stores[0])

        async with open_bank(sizes=SMALL, watch=watch) as bank, trio.open_nursery() as nursery:
            nursery.start_soon(bringing(account), bank)
            await stores[0].asleep.wait()
            other.clock.advance(-HOUR)
            assert await other.importing.recover() == 0
            other.clock.advance(LEASE - 1)
            assert await other.importing.recover() == 0
            other.clock.advance(1)
            assert await other.importing.recover() == 1
            await nothing_under_way(other)
            stores[0].awake.set()
        assert len(await other.amounts(account)) == 9


async def test_the_file_of_a_run_that_another_machine_let_fail_is_deleted(open_bank: OpenBank) -> None:
    """It lies where it was received, and the run was found elsewhere."""
    async with open_bank() as bank:
        account = await bank.account()
        run = await bank.bring(account, BEFORE)
        kept, file = bank.directory / FOLDER_NAME, bank.directory / FOLDER_NAME / run.id
        kept.mkdir(exist_ok=True)
        file.write_bytes(BEFORE)
        await bank.store.write(lambda tx: tx.run("UPDATE import_runs SET stage = 'reading' WHERE id = :id", id=run.id))
        other = Holder(bank.store, "other")
        lease = await other.take(ORG, f"import:{account}")
        assert lease is not None
        await bank.importing.keep_house()
        assert file.read_bytes() == BEFORE, "it is being read"
        await bank.store.write(lambda tx: tx.run("UPDATE import_runs SET stage = NULL WHERE id = :id", id=run.id))
        await bank.importing.keep_house()
        assert list(kept.iterdir()) == []
        await lease.release()
