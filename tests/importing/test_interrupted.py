"""A process that is ended at any moment of an import: nothing half is seen, and the next one goes on or gives up."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import trio

from gatewayd.importing.bank import moves
from gatewayd.importing.parts import Sizes
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import Store
from tests.importing.conftest import DEADLINE, ORG, Bank, OpenBank, step_of
from tests.support.statement_files import line, statement
from tests.support.watched_store import WatchedStore

SMALL = Sizes(at_once=3, chunk=2)
"""So that a file of eight rows is a large one."""
BEFORE = statement([line(1, "2026-02-01", -100, "BEFORE")])
PENDING = statement([line(1, None, -4500, "SHELL 12", value_date="2026-03-01")])
LARGE = statement(
    [line(n, f"2026-03-{n:02}", -100 * n, f"SHOP {n}") for n in range(2, 10)]
    + [line(20, "2026-03-03", -4500, "SHELL 12")]
)
WRITES_MAX = 40

FIND_RUN = "SELECT id FROM import_runs WHERE org_id = :org_id ORDER BY size_bytes DESC LIMIT 1"


class EndingStore(WatchedStore):
    """A store whose user is ended behind its n-th write, or lives on where there are fewer."""

    def __init__(self, store: Store, writes: int, scope: trio.CancelScope) -> None:
        super().__init__(store)
        self._left, self._scope = writes, scope

    async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
        result = await write()
        self._left -= 1
        if self._left == 0:
            self._scope.cancel()
            await trio.lowlevel.checkpoint()
        return result


async def ended(
    open_bank: OpenBank, writes: int, act: Callable[[Bank], Awaitable[object]], account: str
) -> tuple[bool, list[str]]:
    """Whether `act` was ended, and the amounts that are seen then."""
    scope = trio.CancelScope()
    async with open_bank(sizes=SMALL) as outside:
        with scope:
            async with open_bank(
                sizes=SMALL, watch=lambda store: cast(Store, EndingStore(store, writes, scope))
            ) as bank:
                await act(bank)
        return scope.cancelled_caught, await outside.amounts(account)


async def gone_on_with(open_bank: OpenBank, account: str) -> tuple[ImportRunRow, list[str]]:
    """The largest run, and what is seen, once another process has looked after it."""
    async with open_bank(sizes=SMALL) as bank:
        await bank.importing.recover()
        run_id = str(await bank.store.read_later(lambda tx: tx.value(FIND_RUN), ORG))
        with trio.fail_after(DEADLINE):
            while (run := await bank.run(run_id)).stage is not None:
                await bank.store.write_behind(lambda tx: None)  # behind what the engine waits for
                await trio.lowlevel.checkpoint()  # a write cannot be cancelled
        return run, await bank.amounts(account)


@pytest.mark.parametrize("writes", range(1, WRITES_MAX, 3))
async def test_an_import_that_is_ended_is_applied_or_failed(open_bank: OpenBank, writes: int) -> None:
    async with open_bank(sizes=SMALL) as bank:
        account = await bank.account()
        await bank.bring(account, BEFORE)
        await bank.bring(account, PENDING)
        before = await bank.amounts(account)
    after = sorted([*before, *(f"-{n}.00" for n in range(2, 10))])
    _, seen = await ended(open_bank, writes, lambda bank: bank.bring(account, LARGE), account)
    assert sorted(seen) in (sorted(before), after)
    run, seen = await gone_on_with(open_bank, account)
    assert run.status in ("applied", "failed")
    assert sorted(seen) == (after if run.status == "applied" else sorted(before))


class ClosingStore(EndingStore):
    """The same, where a period is closed once rows begin to come in."""

    def __init__(self, store: Store, writes: int, scope: trio.CancelScope, entity: str) -> None:
        super().__init__(store, writes, scope)
        self._inner, self._entities = store, [entity]

    async def write(self, work: Any, org_id: str | None = None) -> Any:
        if self._entities and step_of(work) is moves.begin_hidden:
            entity = self._entities.pop()
            await self._inner.write(lambda tx: period_locks.close(tx, entity, "2026-03-01", "2026-03-03"), ORG)
        return await super().write(work, org_id)


@pytest.mark.parametrize("writes", range(14, 34))
async def test_what_a_closed_period_takes_back_is_ended_and_gone_on_with(open_bank: OpenBank, writes: int) -> None:
    """Six of nine rows lie behind the closed days: all of them come in, or none."""
    async with open_bank(sizes=SMALL) as bank:
        entity = await bank.entity()
        account = await bank.account(legal_entity_id=entity)
    scope = trio.CancelScope()
    with scope:
        async with open_bank(
            sizes=SMALL, watch=lambda store: cast(Store, ClosingStore(store, writes, scope, entity))
        ) as bank:
            await bank.bring(account, LARGE)
    run, seen = await gone_on_with(open_bank, account)
    assert run.status in ("applied", "failed")
    if run.status == "failed":
        assert seen == []
    elif run.refused_rows:
        assert (run.added, sorted(seen)) == (6, [f"-{n}.00" for n in range(4, 10)])
    else:  # ended before the period was closed
        assert (run.added, len(seen)) == (9, 9)


@pytest.mark.parametrize("writes", range(10, WRITES_MAX, 2))
async def test_an_import_that_is_ended_is_allocated_by_the_next_process(open_bank: OpenBank, writes: int) -> None:
    async with open_bank(sizes=SMALL) as bank:
        account = await bank.account()
        await bank.rule("shop")
    await ended(open_bank, writes, lambda bank: bank.bring(account, LARGE), account)
    run, _ = await gone_on_with(open_bank, account)
    async with open_bank(sizes=SMALL) as bank:
        left = sorted(one["unallocatedAmount"] for one in await bank.listed(account))
    assert left == (["-45.00", *["0.00"] * 8] if run.status == "applied" else [])


@pytest.mark.parametrize("writes", range(1, 12))
async def test_undoing_that_is_ended_is_gone_on_with(open_bank: OpenBank, writes: int) -> None:
    async with open_bank(sizes=SMALL) as bank:
        account = await bank.account()
        await bank.bring(account, BEFORE)
        await bank.bring(account, PENDING)
        before = await bank.amounts(account)
        run = await bank.bring(account, LARGE)
        assert (run.status, run.added, run.replaced) == ("applied", 8, 1)
        applied = await bank.amounts(account)
    _, seen = await ended(open_bank, writes, lambda bank: bank.importing.undo(ORG, run.id, "bank"), account)
    assert seen in (before, applied)
    run, seen = await gone_on_with(open_bank, account)
    assert (run.status, seen) == ("reverted", before)


async def test_a_run_that_was_left_is_ended_before_the_next(open_bank: OpenBank) -> None:
    async with open_bank(sizes=SMALL) as bank:
        account = await bank.account()
    was_ended, _ = await ended(open_bank, 2, lambda bank: bank.bring(account, LARGE), account)
    assert was_ended
    async with open_bank(sizes=SMALL) as bank:
        run = await bank.bring(account, LARGE)
        assert (run.status, run.added) == ("applied", 9)


async def test_nothing_of_a_large_import_is_seen_before_all_of_it(open_bank: OpenBank) -> None:
    """Also when its last transaction finds that a period was closed: then it is looked at again."""
    seen: list[int] = []

    class Watching(WatchedStore):
        async def around(self, write: Callable[[], Awaitable[Any]]) -> Any:
            result = await write()
            seen.append(len(await outside.amounts(account)))
            return result

    async with open_bank(sizes=SMALL) as outside:
        account = await outside.account()
        async with open_bank(sizes=SMALL, watch=lambda store: cast(Store, Watching(store))) as bank:
            run = await bank.bring(account, LARGE)
            assert len(seen) > 8
            assert set(seen) == {0, 9}
            await bank.importing.undo(ORG, run.id, "bank")
            assert set(seen) == {0, 9}
            assert seen[-1] == 0
