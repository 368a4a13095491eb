"""Reads: a snapshot, read-only, never longer on the event loop than their budget."""

import math
import threading
from pathlib import Path

import apsw
import pytest
import trio

from gatewayd.clock import SettableClock
from gatewayd.store import OverBudget, ReadTx, Store, StoreFailure
from gatewayd.store.database import (
    StoreSettings,
    open_store,
)
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.budget import STEPS_PER_MILLISECOND, STEPS_PER_TICK, Budget
from gatewayd.store.sqlite.long_reads import ORGANIZATION_THREADS
from tests.store.opening import ENDLESS, add, insert, names, opened, version_of
from tests.support.store import START

_THOUSAND_STEPS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60) SELECT count(*) FROM n"


async def test_a_read_sees_the_state_at_its_beginning(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await add(store, "a")
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)

        def look_write_elsewhere_look(tx: ReadTx) -> tuple[list[str], list[str]]:
            before = names(tx)
            other.execute("INSERT INTO notes VALUES ('b', '')")
            return before, names(tx)

        assert store.read_now(look_write_elsewhere_look, None) == (["a"], ["a"])
        assert store.read_now(names, None) == ["a", "b"]
        other.close()


async def test_the_snapshot_is_taken_before_the_first_statement_of_the_handler(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)

        def write_elsewhere_look(tx: ReadTx) -> list[str]:
            other.execute("INSERT INTO notes VALUES ('b', '')")
            return names(tx)

        assert store.read_now(write_elsewhere_look, None) == []  # `version` speaks of what the handler sees
        other.close()


@pytest.mark.parametrize("sql", ["INSERT INTO notes VALUES ('a', '')", "DELETE FROM notes", "DROP TABLE notes"])
async def test_a_read_cannot_write(tmp_path: Path, sql: str) -> None:
    async with opened(tmp_path) as store:
        with pytest.raises(apsw.ReadOnlyError):
            store.read_now(lambda tx: tx.rows(sql), None)
        with pytest.raises(apsw.ReadOnlyError):
            await store.read_later(lambda tx: tx.rows(sql), None)
        assert store.read_now(names, None) == []


async def test_a_statement_names_only_what_is_bound(tmp_path: Path) -> None:
    async with opened(tmp_path, clock=SettableClock(START)) as store:
        assert store.read_now(lambda tx: tx.row("SELECT :org_id, :now, :x", x=1), "org_1") == ("org_1", START, 1)
        with pytest.raises(KeyError):
            store.read_now(lambda tx: tx.row("SELECT :org_id"), None)
        with pytest.raises(KeyError):
            store.read_now(lambda tx: tx.row("SELECT :misspelt", mispelt=1), "org_1")


async def test_what_a_read_raises_comes_out_and_the_next_works(tmp_path: Path) -> None:
    def fail(tx: ReadTx) -> None:
        raise LookupError("mine")

    async with opened(tmp_path) as store:
        for _ in range(3):
            with pytest.raises(LookupError, match="mine"):
                store.read_now(fail, None)
            with pytest.raises(LookupError, match="mine"):
                await store.read_later(fail, None)
        assert store.read_now(names, None) == []


# -- the budget


@pytest.mark.parametrize("milliseconds", [0.1, 2.0, 5.0])
def test_a_budget_interrupts_after_its_ticks(milliseconds: float) -> None:
    budget, ticks = Budget(milliseconds), 0

    def tick() -> bool:
        nonlocal ticks
        ticks += 1
        return budget.tick()

    connection = apsw.Connection(":memory:")
    connection.set_progress_handler(tick, STEPS_PER_TICK)
    with pytest.raises(apsw.InterruptError):
        connection.execute(ENDLESS).fetchall()
    assert ticks == budget.limit + 1 == math.ceil(milliseconds * STEPS_PER_MILLISECOND / STEPS_PER_TICK) + 1
    connection.close()


async def test_an_endless_read_is_stopped_on_the_loop_again_and_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        for _ in range(20):
            with pytest.raises(OverBudget):
                store.read_now(lambda tx: tx.value(ENDLESS), None)
            assert store.read_now(names, None) == []


async def test_many_small_statements_share_one_budget(tmp_path: Path) -> None:
    """Their steps add up, so a handler cannot hold the loop by asking little often."""
    async with opened(tmp_path) as store:
        statements = 0

        def ask_forever(tx: ReadTx) -> None:
            nonlocal statements
            while True:
                tx.value(_THOUSAND_STEPS)
                statements += 1

        with pytest.raises(OverBudget):
            store.read_now(ask_forever, None)
        steps = Budget(StoreSettings(directory=tmp_path).read_budget_ms).limit * STEPS_PER_TICK
        assert steps / 2_500 < statements < steps / 500


async def test_the_end_of_a_read_is_never_interrupted(tmp_path: Path) -> None:
    """SQLite counts the steps of a cached statement over all its runs, so a rollback is due for a tick now and then."""
    settings = StoreSettings(directory=tmp_path, read_budget_ms=0.01)
    async with open_store(settings, SettableClock(START)) as store:
        for _ in range(4_000):
            with pytest.raises(OverBudget):
                store.read_now(_fill_the_budget, None)


def _fill_the_budget(tx: ReadTx) -> None:
    while True:
        tx.value(_THOUSAND_STEPS)


async def test_over_budget_runs_again_on_a_thread(tmp_path: Path) -> None:
    runs = 0

    def long_but_finite(tx: ReadTx) -> int:
        nonlocal runs
        runs += 1
        return int(tx.value(ENDLESS.replace("FROM n)", "FROM n LIMIT 200000)")))

    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            assert await store.read(long_but_finite) == 200_000
        assert (runs, store.long_reads) == (2, 1)
        with trio.fail_after(120):
            assert await store.read(names) == []
        assert store.long_reads == 1


async def test_the_loop_goes_on_while_a_long_read_is_on_a_thread(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        turns = 0
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_endless, store)
                while turns < 200:
                    await trio.lowlevel.checkpoint()
                    store.read_now(names, None)
                    turns += 1
                nursery.cancel_scope.cancel()
        assert turns == 200


async def _endless(store: Store) -> None:
    await store.read_later(lambda tx: tx.value(ENDLESS), None)


async def test_a_cancelled_long_read_ends_at_once_and_gives_its_connection_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            for _ in range(5):
                began = trio.Event()
                token = trio.lowlevel.current_trio_token()

                def look(tx: ReadTx, began: trio.Event = began, token: trio.lowlevel.TrioToken = token) -> object:
                    token.run_sync_soon(began.set)
                    return tx.value(ENDLESS)

                async with trio.open_nursery() as nursery:
                    nursery.start_soon(store.read_later, look, None)
                    await began.wait()
                    nursery.cancel_scope.cancel()
            assert await store.read_later(names, None) == []


async def test_more_long_reads_than_threads_take_turns(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        answers: list[list[str]] = []

        async def look() -> None:
            answers.append(await store.read_later(names, None))

        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(look)
        assert answers == [[]] * 20


async def test_an_organization_has_not_all_the_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewayd.store.sqlite.long_reads.LONG_READ_SECONDS", 2.0)
    over = threading.Event()

    def hold(tx: ReadTx) -> None:
        over.wait(20)

    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                for _ in range(ORGANIZATION_THREADS):
                    nursery.start_soon(store.read_later, hold, "org_a")
                while store.read_shares.count.of("org_a") < ORGANIZATION_THREADS:
                    await trio.lowlevel.checkpoint()
                assert await store.read_later(names, "org_b") == []
                assert await store.read_later(names, None) == []
                with pytest.raises(StoreFailure, match="waited too long"):
                    await store.read_later(names, "org_a")
                over.set()
        assert await store.read_later(names, "org_a") == []


# -- the version


async def test_the_version_changes_with_a_commit_of_anyone_and_with_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)
        for number in range(50):
            store.read_now(names, None)
            before = version_of(store)
            store.read_now(names, None)
            assert version_of(store) == before
            if number % 2:
                other.execute("INSERT INTO notes VALUES (:id, '')", {"id": f"{number:03}"})
            else:
                await add(store, f"{number:03}")
            assert store.read_now(names, None)[-1] == f"{number:03}"
            assert version_of(store) != before  # the very next read
        other.close()


async def test_the_version_does_not_change_under_a_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)

        def write_elsewhere(tx: ReadTx) -> tuple[int | None, int]:
            before = tx.version
            other.execute("INSERT INTO notes VALUES ('a', '')")
            return before, int(tx.value("PRAGMA data_version"))

        first, second = store.read_now(write_elsewhere, None)
        assert first == second
        store.read_now(names, None)
        assert version_of(store) != first
        other.close()


async def test_the_version_survives_checkpoints_that_restart_the_log(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        other = connections.open_writer(tmp_path / DATABASE_NAME, 1)
        for number in range(20):
            store.read_now(names, None)
            before = version_of(store)
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            other.execute("INSERT INTO notes VALUES (:id, '')", {"id": f"{number:03}"})
            other.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
            assert store.read_now(names, None)[-1] == f"{number:03}"
            assert version_of(store) != before
        other.close()


# -- life


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await store.read_later(names, None)
    assert not store.writable
    with pytest.raises(StoreFailure):
        store.read_now(names, None)
    with pytest.raises(StoreFailure):
        await store.write(lambda tx: insert(tx, "a"))


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"x" * 10_000)
    with pytest.raises(StoreFailure, match="cannot be opened"):
        async with opened(tmp_path):
            pass


async def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreFailure, match="cannot be made"):
        async with opened(tmp_path / "file" / "data"):
            pass


async def test_two_stores_in_one_process_are_strangers(tmp_path: Path) -> None:
    async with opened(tmp_path / "one") as one, opened(tmp_path / "two") as two:
        await add(one, "a")
        await add(two, "b")
        assert one.read_now(names, None) == ["a"]
        assert two.read_now(names, None) == ["b"]


async def test_two_stores_over_one_file_see_each_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as two:
        await add(one, "a")
        await add(two, "b")
        assert one.read_now(names, None) == two.read_now(names, None) == ["a", "b"]
