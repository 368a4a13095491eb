"""`updatedAt` never goes back, whatever the machine's clock does; every other instant is the clock's."""

from pathlib import Path

import apsw
import pytest
import trio

from gatewayd.clock import DAY, HOUR, SECOND, Instant, SettableClock
from gatewayd.store import Store, StoreFailure, WriteTx
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.update_clock import RESERVED
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer, WriterParts
from tests.store.faulty_files import FULL, FaultyFiles
from tests.store.opening import insert, opened
from tests.support.store import START, MemoryStore, migrated_image

AHEAD = 5 * DAY


def instants(tx: WriteTx) -> tuple[Instant, Instant]:
    return tx.now, tx.updated_at


async def updated_at(store: Store) -> Instant:
    return await store.write(lambda tx: tx.updated_at)


def test_while_the_clock_is_right_a_change_bears_the_present_instant(store: MemoryStore) -> None:
    for step in (0, 0, 5, SECOND, DAY):
        store.clock.advance(step)
        assert store.write(instants) == (store.clock.now(), store.clock.now())


def test_of_one_transaction_all_changes_bear_one_instant(store: MemoryStore) -> None:
    store.write(instants)
    store.clock.advance(-HOUR)
    assert store.write(lambda tx: tx.updated_at == tx.updated_at)


def test_a_clock_that_is_set_back_takes_all_instants_along_but_those_of_changes(store: MemoryStore) -> None:
    store.clock.advance(AHEAD)
    store.write(instants)
    store.clock.advance(-AHEAD)
    seen = [store.write(instants) for _ in range(3)]
    assert [now for now, _ in seen] == [START] * 3
    assert [at for _, at in seen] == [START + AHEAD + n for n in (1, 2, 3)]  # in the order of the commits
    assert store.write(lambda tx: tx.today) == "2026-11-20"
    store.clock.advance(AHEAD + SECOND)
    assert store.write(instants) == (store.clock.now(), store.clock.now())


async def test_after_a_restart_changes_go_on_where_they_were(tmp_path: Path) -> None:
    clock = SettableClock(Instant(START + AHEAD))
    async with opened(tmp_path, clock=clock) as store:
        last = await updated_at(store)
    clock.advance(-AHEAD)
    for _ in range(3):
        async with opened(tmp_path, clock=clock) as store:
            before, last = last, await updated_at(store)
            assert before < last < before + SECOND
            assert await store.write(lambda tx: tx.now) == START


async def test_a_kill_leaves_no_gap(tmp_path: Path) -> None:
    """What is written down covers every instant that was given, at every moment."""
    (tmp_path / "killed").mkdir()
    clock = SettableClock(START)
    async with opened(tmp_path / "running", clock=clock) as store:
        for step in (0, 1, SECOND // 2, SECOND // 2, 3, HOUR):
            clock.advance(step)
            last = await updated_at(store)
            killed = tmp_path / "killed" / str(step)
            killed.mkdir(exist_ok=True)
            for file in (tmp_path / "running").glob("gatewayd.db*"):
                if not file.name.endswith("-shm"):
                    (killed / file.name).write_bytes(file.read_bytes())
            async with opened(killed, clock=SettableClock(Instant(START - DAY))) as later:
                assert await updated_at(later) > last


async def test_a_process_goes_on_behind_what_another_one_left(tmp_path: Path) -> None:
    right, ahead = SettableClock(START), SettableClock(Instant(START + AHEAD))
    async with opened(tmp_path, clock=right) as daemon:
        assert await updated_at(daemon) == START
        async with opened(tmp_path, clock=ahead) as command:
            seen = [await updated_at(command)]
            await daemon.check_writer()  # sees that something was committed, and changes nothing
            for _ in range(3):
                seen += [await updated_at(daemon), await updated_at(command), await updated_at(command)]
        seen.append(await updated_at(daemon))
    assert seen == sorted(set(seen))
    assert seen[0] >= START + AHEAD


async def test_two_processes_whose_clock_is_right_stay_within_a_second_of_it(tmp_path: Path) -> None:
    clock = SettableClock(START)
    seen: list[Instant] = []
    async with opened(tmp_path, clock=clock) as one, opened(tmp_path, clock=clock) as other:
        for _ in range(50):
            for store in (one, other):
                clock.advance(1_000)
                seen.append(await updated_at(store))
                assert 0 <= seen[-1] - clock.now() <= RESERVED
    assert seen == sorted(set(seen))


async def test_a_command_before_leaves_the_next_process_nothing_ahead(tmp_path: Path) -> None:
    clock = SettableClock(START)
    for _ in range(3):
        clock.advance(1_000)
        async with opened(tmp_path, clock=clock) as store:
            assert await updated_at(store) == clock.now()


def test_a_busy_writer_writes_it_down_once_a_second_and_others_never(store: MemoryStore) -> None:
    seen: list[str] = []

    def trace(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        seen.append(sql)
        return True

    store.write(instants)
    store.connection.exec_trace = trace
    for _ in range(100):
        store.clock.advance(SECOND // 50)
        store.write(instants)
    assert len([sql for sql in seen if "update_clock" in sql]) <= 2
    seen.clear()
    for _ in range(100):
        store.clock.advance(SECOND)
        store.write(lambda tx: tx.now)
    assert [sql for sql in seen if "update_clock" in sql] == []


def test_what_a_lost_commit_would_have_written_down_is_written_with_the_next(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(migrated_image())
    connection, clock = connections.open_writer(tmp_path / "a.db", 1), SettableClock(START)
    connection.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT")
    memory = MemoryStore(migrated_image())
    writer = Writer(WriterParts(SqliteWrites(connection), clock, memory.sealer, memory.ids.new), lambda batch: None, 1)
    files = FaultyFiles(connection)

    def write(name: str) -> Job:
        job = Job(lambda tx: (insert(tx, name), tx.updated_at)[1], None, lambda done: None)
        writer.write([job])
        return job

    clock.advance(AHEAD)
    files.fail_at(1, FULL, once=False)
    assert isinstance(write("lost").error, StoreFailure)
    files.repair()
    kept = write("kept").result
    connection.close()
    reopened = connections.open_writer(tmp_path / "a.db", 1)
    assert int(str(reopened.execute("SELECT latest FROM update_clock").get)) >= kept == START + AHEAD
    reopened.close()
    memory.close()


def test_a_lock_that_another_process_holds_keeps_no_writer_from_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(migrated_image())
    connection, other = (connections.open_writer(tmp_path / "a.db", 0) for _ in range(2))
    memory = MemoryStore(migrated_image())
    writer = Writer(
        WriterParts(SqliteWrites(connection), SettableClock(START), memory.sealer, memory.ids.new),
        lambda batch: None,
        1,
    )
    job = Job(lambda tx: tx.updated_at, None, lambda done: None)
    writer.write([job])
    assert job.result == START
    other.execute("BEGIN IMMEDIATE")
    writer.close()
    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")
    other.close()
    memory.close()


@pytest.mark.parametrize("count", [3])
async def test_jobs_of_one_batch_are_in_order(tmp_path: Path, count: int) -> None:
    clock = SettableClock(START)
    async with opened(tmp_path, clock=clock) as store:
        await updated_at(store)
        clock.advance(-HOUR)
        seen: list[Instant] = []

        async def change() -> None:
            seen.append(await updated_at(store))

        async with trio.open_nursery() as nursery:
            for _ in range(count):
                nursery.start_soon(change)
    assert sorted(seen) == [START + n + 1 for n in range(count)]
