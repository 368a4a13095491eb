"""A disk that is full at any moment of an import: nothing half is seen, and it goes on or fails once there is room."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import trio

from gatewayd.store import Store, StoreFailure
from tests.importing.conftest import DEADLINE, ORG, Bank, OpenBank
from tests.importing.test_interrupted import FIND_RUN, LARGE, SMALL
from tests.support.statement_files import line, statement
from tests.support.watched_store import WatchedStore

BEFORE = statement([line(1, "2026-02-01", -100, "BEFORE")])
MANY = statement([line(n, f"2026-03-{1 + n % 28:02}", -n, f"SHOP, NUMBER {n}" * 4) for n in range(1, 900)])
WRITES_MAX = 30


class FullDisk(WatchedStore):
    """A store that takes so many writes, and none from then on until there is `room`."""

    def __init__(self, store: Store, writes: int) -> None:
        super().__init__(store)
        self._left, self.room = writes, False

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        if self._left == 0 and not self.room:
            raise StoreFailure("the write could not be made durable: the disk is full")
        self._left = max(0, self._left - 1)
        return await write()


def _claim(bank: Bank) -> None:
    assert {event for event, _ in bank.log.logged} <= {"import_interrupted"}
    bank.log.logged.clear()


async def filled_up(
    open_bank: OpenBank, writes: int, account: str, act: Callable[[Bank], Awaitable[object]]
) -> tuple[list[str], str, list[str]]:
    """The amounts seen while the disk is full; status and amounts of the largest run once there was room."""
    disks: list[FullDisk] = []

    def watch(store: Store) -> Store:
        disks.append(FullDisk(store, writes))
        return cast(Store, disks[0])

    async with open_bank(sizes=SMALL, watch=watch) as bank:
        with contextlib.suppress(StoreFailure):
            await act(bank)
        full = await bank.amounts(account)
        disks[0].room = True
        run_id = str(await bank.store.read_later(lambda tx: tx.value(FIND_RUN), ORG))
        with trio.fail_after(DEADLINE):
            while (run := await bank.run(run_id)).stage is not None:
                await bank.importing.keep_house()
                await bank.store.write(lambda tx: None)
        await bank.importing.keep_house()
        _claim(bank)
        return full, run.status, await bank.amounts(account)


@pytest.mark.parametrize("writes", range(1, WRITES_MAX))
async def test_an_import_that_fills_the_disk_is_applied_or_failed(open_bank: OpenBank, writes: int) -> None:
    """While its file is read, while its rows come in, and behind that."""
    async with open_bank(sizes=SMALL) as bank:
        account = await bank.account()
        await bank.bring(account, BEFORE)
        before = await bank.amounts(account)
    after = sorted([*before, *(f"-{n}.00" for n in range(2, 10)), "-45.00"])
    full, status, then = await filled_up(open_bank, writes, account, lambda bank: bank.bring(account, LARGE))
    assert sorted(full) in (before, after)
    assert (status, sorted(then)) in (("failed", before), ("applied", after))


@pytest.mark.parametrize("writes", range(12))
async def test_undoing_that_fills_the_disk_is_gone_on_with(open_bank: OpenBank, writes: int) -> None:
    async with open_bank(sizes=SMALL) as bank:
        account = await bank.account()
        run = await bank.bring(account, LARGE)
        applied = await bank.amounts(account)
    full, status, then = await filled_up(
        open_bank, writes, account, lambda bank: bank.importing.undo(ORG, run.id, "bank")
    )
    assert full in (applied, [])
    assert (status, then) in (("applied", applied), ("reverted", []))


async def test_the_engine_of_the_database_says_that_it_is_full(open_bank: OpenBank) -> None:
    """Where no page can be added any more; as soon as some can, the same file comes in."""
    async with open_bank() as bank:
        account = await bank.account()
        pages = await bank.store.write(lambda tx: int(tx.value("PRAGMA page_count")))
        await bank.store.write(lambda tx: tx.value(f"PRAGMA max_page_count = {pages + 20}"))
        with pytest.raises(StoreFailure, match="full"):
            await bank.bring(account, MANY)
        assert await bank.listed(account) == []
        await bank.store.write(lambda tx: tx.value("PRAGMA max_page_count = 1000000"))
        run = await bank.bring(account, MANY)
        assert (run.status, run.added) == ("applied", 899)
        _claim(bank)
        assert await bank.store.read_later(lambda tx: tx.value("PRAGMA integrity_check"), None) == "ok"
