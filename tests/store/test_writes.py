"""Writes: group commit, each alone in its savepoint, acknowledged only when durable."""

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
import trio
import trio.testing

from gatewayd.clock import Instant
from gatewayd.store import Store, StoreFailure, WriteTx
from gatewayd.store.database import MAX_WAITING_WRITES
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.waiting_jobs import MAX_BATCH, Job
from gatewayd.store.writer import Writer
from tests.store.opening import add, child, insert, names, open_notes, opened, writer_parts

_BIG = "x" * 200_000


class Gate:
    """Holds the writer inside a job until it is opened, so that what is written meanwhile comes in one batch."""

    def __init__(self) -> None:
        self.entered = trio.Event()
        self._opened = threading.Event()
        self._token = trio.lowlevel.current_trio_token()

    def job(self, tx: WriteTx) -> None:
        self._token.run_sync_soon(self.entered.set)
        assert self._opened.wait(timeout=10)

    def open(self) -> None:
        self._opened.set()


async def _held(store: Store, nursery: trio.Nursery) -> Gate:
    gate = Gate()
    nursery.start_soon(store.write, gate.job)
    await gate.entered.wait()
    return gate


async def test_concurrent_writes_share_commits(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        before = store.commits
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                for number in range(2 * MAX_BATCH):
                    nursery.start_soon(add, store, f"{number:04}")
                await trio.testing.wait_all_tasks_blocked()
                gate.open()
        assert len(store.read_now(names, None)) == 2 * MAX_BATCH
        assert store.commits - before == 3  # the one that was held, then two full batches


async def test_background_writes_go_behind_all_others_and_alone(tmp_path: Path) -> None:
    order: list[str] = []

    def noting(name: str) -> Callable[[WriteTx], None]:
        return lambda tx: order.append(insert(tx, name))

    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                before = store.commits
                for write, name in (
                    (store.write, "a"),
                    (store.write_behind, "b"),
                    (store.write_behind, "c"),
                    (store.write, "d"),
                ):
                    nursery.start_soon(write, noting(name))
                    await trio.testing.wait_all_tasks_blocked()
                gate.open()
            began = time.perf_counter()
            _, taken = await store.write_behind(noting("e"))
            waited = time.perf_counter() - began
        assert order == ["a", "d", "b", "c", "e"]
        assert store.commits - before == 5  # the one that was held, the two of requests, and each of the background
        assert 0 < taken.commit < taken.seconds <= waited  # by the same clock


async def test_a_background_write_raises_what_its_work_raises(tmp_path: Path) -> None:
    def work(tx: WriteTx) -> None:
        insert(tx, "a")
        raise LookupError("a")

    async with opened(tmp_path) as store:
        with pytest.raises(LookupError):
            await store.write_behind(work)
        assert store.read_now(names, None) == []


async def test_what_is_acknowledged_is_committed_already(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        other = connections.open_reader(tmp_path / DATABASE_NAME, 1)
        for number in range(20):
            await add(store, str(number))
            assert other.execute("SELECT count(*) FROM notes").get == number + 1
        other.close()


async def test_a_job_that_raises_rolls_back_alone(tmp_path: Path) -> None:
    outcomes: dict[str, str] = {}

    async def attempt(store: Store, name: str, fails: bool) -> None:
        def work(tx: WriteTx) -> str:
            insert(tx, name)
            if fails:
                raise LookupError(name)
            return name

        try:
            outcomes[name] = await store.write(work)
        except LookupError as error:
            outcomes[name] = f"raised {error}"

    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                for number in range(10):
                    nursery.start_soon(attempt, store, str(number), number % 2 == 1)
                await trio.testing.wait_all_tasks_blocked()
                gate.open()
        assert store.read_now(names, None) == ["0", "2", "4", "6", "8"]
    assert outcomes == {str(n): f"raised {n}" if n % 2 else str(n) for n in range(10)}


async def test_a_cancelled_writer_still_writes(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            with trio.CancelScope() as scope:
                scope.cancel()
                await add(store, "a")
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                async with trio.open_nursery() as cancelled:
                    cancelled.start_soon(add, store, "b")
                    await trio.testing.wait_all_tasks_blocked()
                    cancelled.cancel_scope.cancel()
                    gate.open()
        assert store.read_now(names, None) == ["a", "b"]
        assert await add(store, "c") == "c"


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    refused: list[str] = []

    async def attempt(store: Store) -> None:
        try:
            await store.write(lambda tx: None)
        except StoreFailure as error:
            refused.append(str(error))

    async with opened(tmp_path) as store:
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                for _ in range(MAX_WAITING_WRITES + 7):
                    nursery.start_soon(attempt, store)
                await trio.testing.wait_all_tasks_blocked()
                gate.open()
        assert refused == ["too many writes are waiting"] * 7
        assert await add(store, "a") == "a"


async def test_close_writes_what_is_queued_and_refuses_what_comes_later(tmp_path: Path) -> None:
    late: list[str] = []

    async def come_late(store: Store) -> None:
        try:
            await add(store, "late")
        except StoreFailure as error:
            late.append(str(error))

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery, opened(tmp_path) as store:
            gate = await _held(store, nursery)
            for number in range(5):
                nursery.start_soon(add, store, str(number))
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(store.aclose)
            while store.writable:  # it closes on a thread
                await trio.testing.wait_all_tasks_blocked(0.01)
            nursery.start_soon(come_late, store)
            await trio.testing.wait_all_tasks_blocked()
            gate.open()
    assert late == ["the store is closed"]
    async with opened(tmp_path) as store:
        assert store.read_now(names, None) == ["0", "1", "2", "3", "4"]


async def test_after_a_clean_stop_all_is_in_the_one_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, trio.open_nursery() as nursery:
        nursery.start_soon(store.watch_other_processes)
        await add(store, "first")
        assert store.read_now(names, None) == ["first"]
        assert await store.read_later(names, None) == ["first"]
        assert (tmp_path / f"{DATABASE_NAME}-wal").stat().st_size > 0
        nursery.cancel_scope.cancel()
    assert not (tmp_path / f"{DATABASE_NAME}-wal").exists()
    (tmp_path / "copy").mkdir()
    copy = shutil.copy(tmp_path / DATABASE_NAME, tmp_path / "copy")
    connection = apsw.Connection(copy)
    assert connection.execute("SELECT id FROM notes").fetchall() == [("first",)]
    connection.close()


# -- failures of the disk


async def test_a_full_disk_fails_the_writes_it_hits_and_nothing_is_half_written(tmp_path: Path) -> None:
    failed = []

    async def attempt(store: Store, name: str, text: str) -> None:
        def two_rows(tx: WriteTx) -> None:
            insert(tx, f"{name}-1")
            insert(tx, f"{name}-2", text)

        try:
            await store.write(two_rows)
        except StoreFailure:
            failed.append(name)

    async with opened(tmp_path) as store:
        await add(store, "before")
        pages = await store.write(lambda tx: int(tx.value("PRAGMA page_count")))
        await store.write(lambda tx: tx.value(f"PRAGMA max_page_count = {pages + 2}"))
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                for name, text in (("small", ""), ("big", _BIG), ("last", "")):
                    nursery.start_soon(attempt, store, name, text)
                await trio.testing.wait_all_tasks_blocked()
                gate.open()
        assert "big" in failed
        written = store.read_now(names, None)
        expected = [f"{name}-{n}" for name in ("last", "small") if name not in failed for n in (1, 2)]
        assert written == sorted(["before", *expected])
        assert store.read_now(lambda tx: tx.value("PRAGMA integrity_check"), None) == "ok"
        await store.write(lambda tx: tx.value("PRAGMA max_page_count = 100000"))
        await add(store, "after", _BIG)
        assert "after" in store.read_now(names, None)


async def test_what_rests_on_a_neighbour_that_was_lost_is_lost_too(tmp_path: Path) -> None:
    """An answer drawn from a neighbour's row is no answer when that row was not kept."""
    answers: dict[str, BaseException] = {}

    async def attempt(store: Store, name: str, work: Callable[[WriteTx], object]) -> None:
        try:
            await store.write(work)
        except (LookupError, StoreFailure) as error:
            answers[name] = error

    def replay(tx: WriteTx) -> None:
        raise LookupError(tx.value("SELECT id FROM notes WHERE id = 'first'"))

    async with opened(tmp_path) as store:
        pages = await store.write(lambda tx: int(tx.value("PRAGMA page_count")))
        await store.write(lambda tx: tx.value(f"PRAGMA max_page_count = {pages + 2}"))
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                gate = await _held(store, nursery)
                jobs: list[tuple[str, Callable[[WriteTx], object]]] = [
                    ("first", lambda tx: insert(tx, "first")),
                    ("replay", replay),
                    ("big", lambda tx: insert(tx, "big", _BIG)),
                ]
                for name, work in jobs:
                    nursery.start_soon(attempt, store, name, work)
                    await trio.testing.wait_all_tasks_blocked()
                gate.open()
        kept = store.read_now(names, None)
    assert isinstance(answers["big"], StoreFailure)
    assert ("first" in kept) == ("first" not in answers)
    assert isinstance(answers["replay"], LookupError if "first" in kept else StoreFailure)


async def test_a_lock_held_by_another_process_fails_writes_until_it_is_gone(tmp_path: Path) -> None:
    async with opened(tmp_path, busy_timeout_seconds=0.1) as store:
        with child("tests.store.holding_child", str(tmp_path)) as holder:
            assert holder.stdout is not None
            assert await trio.to_thread.run_sync(holder.stdout.readline) == "held\n"
            with trio.fail_after(120), pytest.raises(StoreFailure):
                await add(store, "a")
            assert store.read_now(names, None) == []  # reads wait for no writer
            assert holder.stdin is not None
            holder.stdin.close()
            assert holder.wait(10) == 0
        with trio.fail_after(120):
            assert await add(store, "b") == "b"
        assert store.read_now(names, None) == ["b"]


# -- the writer alone


def _inserting(name: str) -> Callable[[WriteTx], str]:
    return lambda tx: insert(tx, name)


def test_a_writer_that_was_never_started_closes_and_writes_what_waits(tmp_path: Path) -> None:
    connection = open_notes(tmp_path / "a.db")
    decided: list[Job] = []
    writer = Writer(writer_parts(SqliteWrites(connection)), decided.extend, 10)
    assert not writer.alive
    job = Job(lambda tx: insert(tx, "a"), None, lambda done: None)
    writer.submit(job)
    writer.close()
    assert decided == [job]
    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")
    assert (job.decided, job.result, job.error) == (True, "a", None)
    with pytest.raises(StoreFailure, match="closed"):
        writer.submit(job)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the death is on purpose
def test_a_writer_that_dies_answers_everyone(tmp_path: Path) -> None:
    answered: list[Job] = []
    entered, release, finished = threading.Event(), threading.Event(), threading.Event()

    def deliver(batch: list[Job]) -> None:
        if not answered and not release.is_set():
            entered.set()
            assert release.wait(timeout=10)
            raise RuntimeError("the loop is not reachable")
        answered.extend(batch)
        finished.set()

    writer = Writer(writer_parts(SqliteWrites(open_notes(tmp_path / "a.db"))), deliver, 10)
    writer.start()
    first, second = (Job(_inserting(name), None, lambda done: None) for name in "ab")
    writer.submit(first)
    assert entered.wait(timeout=10)
    writer.submit(second)
    release.set()
    assert finished.wait(timeout=10)
    assert answered == [first, second]
    assert (first.result, first.error) == ("a", None)  # it was committed
    assert isinstance(second.error, StoreFailure)
    with pytest.raises(StoreFailure, match="closed"):
        writer.submit(second)
    writer.close()
    assert not writer.alive


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_inside_the_writer_leaves_nobody_waiting(tmp_path: Path) -> None:
    class BrokenClock:
        def now(self) -> Instant:
            raise OSError("no time")

    parts = writer_parts(SqliteWrites(open_notes(tmp_path / "a.db")), BrokenClock())
    answered: list[Job] = []
    writer = Writer(parts, answered.extend, 10)
    job = Job(lambda tx: insert(tx, "a"), None, lambda done: None)
    writer.submit(job)
    writer.start()
    writer.close()
    assert answered == [job]
    assert isinstance(job.error, StoreFailure)
    reader = connections.open_reader(tmp_path / "a.db", 1)
    assert reader.execute("SELECT count(*) FROM notes").get == 0
    reader.close()
