"""The snapshot that is kept between reads: never older than what was acknowledged, and never in a writer's way."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import trio
import trio.abc
import trio.testing

from gatewayd.clock import SystemClock
from gatewayd.store import ReadTx, Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.store.sqlite.snapshot import PULSE_NAME
from tests.store.opening import version_of

COUNT = "SELECT count(*) FROM organizations"
_INSERT = "INSERT INTO organizations (id, name, created_at) VALUES (:id, 'A firm', :now)"
OTHER_PROCESS = """
import sys, trio
from pathlib import Path
from gatewayd.clock import SystemClock
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings

async def main():
    async with open_store(StoreSettings(directory=Path(sys.argv[1])), SystemClock()) as store:
        for _ in sys.stdin:
            await store.write(lambda tx: tx.run(
                "INSERT INTO organizations (id, name, created_at) VALUES (:id, 'Theirs', :now)", id=tx.new_id("org")))
            print("done", flush=True)

trio.run(main)
"""


def count(tx: ReadTx) -> int:
    return int(tx.value(COUNT))


def add(tx: WriteTx) -> None:
    tx.run(_INSERT, id=tx.new_id("org"))


async def watched(directory: Path, test: Callable[[Store], Awaitable[None]]) -> None:
    """Run `test` on a store whose snapshots are kept, because other processes are watched for."""
    with trio.fail_after(60):
        async with (
            open_store(StoreSettings(directory=directory), SystemClock()) as store,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(store.watch_other_processes)
            await trio.testing.wait_all_tasks_blocked()
            await test(store)
            nursery.cancel_scope.cancel()


def begins(store: Store, directory: Path) -> bool:
    """Whether the next read begins a transaction: a kept snapshot stops a full checkpoint, an ended one does not."""
    other = apsw.Connection(str(directory / DATABASE_NAME))
    try:
        other.set_busy_timeout(0)
        busy = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return busy is not None and busy[0] == 0
    finally:
        other.close()


async def test_own_commits_are_seen_by_the_next_read(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        for expected in range(1, 20):
            await store.write(add)
            assert store.read_now(count, None) == expected
            assert store.read_now(count, None) == expected

    await watched(tmp_path, test)


async def test_the_version_stays_while_nothing_is_committed_and_moves_when_something_is(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        await store.write(add)
        store.read_now(count, None)
        version = version_of(store)
        for _ in range(50):
            store.read_now(count, None)
            assert version_of(store) == version
        await store.write(add)
        store.read_now(count, None)
        assert version_of(store) != version

    await watched(tmp_path, test)


async def test_what_another_process_acknowledged_is_seen_by_the_very_next_read(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path)]
        process = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        async with process.stdin, process.stdout:
            for expected in range(1, 30):
                store.read_now(lambda tx: None, None)  # a snapshot is open and kept
                await process.stdin.send_all(b"\n")
                assert await _line(process.stdout) == b"done\n"
                assert store.read_now(count, None) == expected
        await process.wait()

    await watched(tmp_path, test)


async def test_a_commit_that_moved_no_pulse_is_seen_after_the_poll(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        store.read_now(count, None)
        other = apsw.Connection(str(tmp_path / DATABASE_NAME))
        other.execute("INSERT INTO organizations (id, name, created_at) VALUES ('org_by_hand', 'By hand', 0)")
        other.close()
        while store.read_now(count, None) == 0:
            await trio.sleep(0.01)

    await watched(tmp_path, test)


async def test_a_kept_snapshot_lets_go_while_a_write_waits(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        await store.write(add)
        store.read_now(count, None)
        assert not begins(store, tmp_path)  # kept: the log cannot be written over
        lock = apsw.Connection(str(tmp_path / DATABASE_NAME))
        lock.execute("BEGIN IMMEDIATE")  # the write has to wait
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.write, add)
            await trio.testing.wait_all_tasks_blocked()
            assert store.read_now(count, None) == 1
            assert not store.holds_snapshot
            lock.close()
        assert store.read_now(count, None) == 2
        assert store.holds_snapshot

    await watched(tmp_path, test)


async def test_each_read_of_a_kept_snapshot_has_the_whole_budget(tmp_path: Path) -> None:
    steps = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT count(*) FROM n"

    async def test(store: Store) -> None:
        for _ in range(50):  # together far above it
            assert store.read_now(lambda tx: tx.value(steps), None) == 1000
            assert store.holds_snapshot

    await watched(tmp_path, test)


async def test_a_read_without_a_statement_begins_no_transaction(tmp_path: Path) -> None:
    """As where the caller of a write is known already: it costs a look at the pulse."""

    async def test(store: Store) -> None:
        await store.write(add)
        store.read_now(count, None)
        version = version_of(store)
        await store.write(lambda tx: None)  # ends the snapshot, and changes nothing
        assert not store.holds_snapshot
        store.read_now(lambda tx: None, None)
        assert (store.holds_snapshot, version_of(store)) == (False, version)
        assert store.read_now(count, None) == 1
        assert store.holds_snapshot

    await watched(tmp_path, test)


async def test_a_version_that_others_may_have_left_behind_is_not_trusted(tmp_path: Path) -> None:
    async with open_store(StoreSettings(directory=tmp_path), SystemClock()) as store:  # nobody watches
        await store.write(add)
        store.read_now(count, None)
        version = version_of(store)
        other = apsw.Connection(str(tmp_path / DATABASE_NAME))
        other.execute("INSERT INTO organizations (id, name, created_at) VALUES ('org_by_hand', 'By hand', 0)")
        other.close()
        store.read_now(lambda tx: None, None)
        assert version_of(store) != version


async def test_the_log_stays_small_under_reads_and_writes_side_by_side(tmp_path: Path) -> None:
    async def test(store: Store) -> None:
        for _ in range(600):
            store.read_now(count, None)
            await store.write(_add_much)
            store.read_now(count, None)
        pages = (tmp_path / f"{DATABASE_NAME}-wal").stat().st_size / 8192
        assert pages < 3 * 2_000  # the log is checkpointed at 2,000 pages and then written over

    await watched(tmp_path, test)


async def _line(stream: trio.abc.ReceiveStream) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        received = await stream.receive_some(100)
        assert received, "the process ended"
        line += received
    return line


def _add_much(tx: WriteTx) -> None:
    for _ in range(40):
        add(tx)


async def test_without_a_pulse_no_snapshot_is_kept(tmp_path: Path) -> None:
    (tmp_path / PULSE_NAME).mkdir(parents=True)  # cannot be opened as a file

    async def test(store: Store) -> None:
        for expected in range(1, 5):
            await store.write(add)
            assert store.read_now(count, None) == expected
        version = version_of(store)
        other = apsw.Connection(str(tmp_path / DATABASE_NAME))
        other.execute("INSERT INTO organizations (id, name, created_at) VALUES ('org_by_hand', 'By hand', 0)")
        other.close()
        assert store.read_now(count, None) == 5
        assert version_of(store) != version

    await watched(tmp_path, test)
