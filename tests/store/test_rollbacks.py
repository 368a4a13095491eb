"""What a batch leaves behind when it fails: nothing, and nobody who believes otherwise."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from gatewayd.store import StoreFailure, WriteTx
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.faults import Exchanged, Faults
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer
from tests.store.opening import insert, open_notes, writer_parts

_PAGES = "CREATE TABLE pages (note TEXT NOT NULL REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED) STRICT"


class Batches:
    """A writer whose batches are written when a test says so, and another connection that looks at what is there."""

    def __init__(self, path: Path) -> None:
        self.announced = 0
        self.faults = Faults()
        self.gone: StoreFailure | None = None  # what is found before a transaction
        self.connection = open_notes(path)
        self.connection.execute(_PAGES)
        writes = SqliteWrites(self.connection, self._committed, self._require_file, self.faults)
        self.writer = Writer(writer_parts(writes), lambda batch: None, 10)
        self._other = connections.open_writer(path, 0)

    def write(self, *works: Callable[[WriteTx], object], is_background: bool = False) -> list[Job]:
        """Write one batch, which decides each of its jobs."""
        batch = [Job(work, None, lambda done: None, is_background) for work in works]
        self.writer.write(batch)
        assert all(job.decided for job in batch)
        return batch

    def names(self) -> list[str]:
        """What another connection finds. Raises `apsw.BusyError` where the writer still holds the lock."""
        self._other.execute("BEGIN IMMEDIATE; ROLLBACK")
        return [str(row[0]) for row in self._other.execute("SELECT id FROM notes ORDER BY id")]

    def close(self) -> None:
        self._other.close()
        self.writer.close()

    def _committed(self) -> None:
        self.announced += 1

    def _require_file(self) -> None:
        if self.gone is not None:
            raise self.gone


@pytest.fixture
def batches(tmp_path: Path) -> Iterator[Batches]:
    made = Batches(tmp_path / "a.db")
    yield made
    made.close()


def adding(name: str) -> Callable[[WriteTx], str]:
    def work(tx: WriteTx) -> str:
        tx.announce(name)
        return insert(tx, name)

    return work


def refuse_once(connection: apsw.Connection, *statements: str) -> None:
    """Let SQLite refuse each of these transaction statements the next time that it comes."""
    left = list(statements)

    def authorizer(action: int, statement: str | None, *_: str | None) -> int:
        if action != apsw.SQLITE_TRANSACTION or statement not in left:
            return apsw.SQLITE_OK
        left.remove(statement)
        return apsw.SQLITE_DENY

    connection.authorizer = authorizer


def assert_failed(jobs: list[Job], cause: type[apsw.Error]) -> None:
    """Nobody was told of a success, and everybody why there was none."""
    for job in jobs:
        assert isinstance(job.error, StoreFailure)
        causes = (job.error.__cause__, job.error.__cause__ and job.error.__cause__.__cause__)
        assert any(isinstance(each, cause) for each in causes)
        assert (job.result, job.topics) == (None, set())


def test_where_the_commit_fails_nothing_was_written_and_all_are_told(batches: Batches) -> None:
    def refers_to_nothing(tx: WriteTx) -> None:
        tx.run("INSERT INTO pages (note) VALUES ('nothing')")  # found out at the commit alone

    failed = batches.write(adding("a"), refers_to_nothing, adding("b"))
    assert_failed(failed, apsw.ConstraintError)
    assert "FOREIGN KEY" in str(failed[0].error)
    assert batches.names() == []
    assert (batches.writer.commits, batches.announced) == (0, 0)
    (job,) = batches.write(adding("c"))
    assert (job.error, job.result, job.topics) == (None, "c", {"c"})
    assert batches.names() == ["c"]
    assert (batches.writer.commits, batches.announced) == (1, 1)


def test_where_the_rollback_fails_too_it_is_done_before_the_next_batch(batches: Batches) -> None:
    refuse_once(batches.connection, "COMMIT", "ROLLBACK")
    assert_failed(batches.write(adding("a"), adding("b")), apsw.AuthError)
    assert batches.connection.in_transaction
    (job,) = batches.write(adding("c"))
    assert (job.error, job.result) == (None, "c")
    assert batches.names() == ["c"]


def test_a_batch_that_cannot_begin_fails(batches: Batches) -> None:
    refuse_once(batches.connection, "BEGIN")
    assert_failed(batches.write(adding("a")), apsw.AuthError)
    assert batches.write(adding("b"))[0].result == "b"
    assert batches.names() == ["b"]


def test_an_engine_error_within_one_job_is_its_own(batches: Batches, tmp_path: Path) -> None:
    def cannot_open(tx: WriteTx) -> None:
        insert(tx, "half")
        tx.announce("half")
        tx.run("ATTACH :path AS other", path=str(tmp_path / "missing" / "other.db"))

    before, broken, after = batches.write(adding("a"), cannot_open, adding("b"))
    assert_failed([broken], apsw.CantOpenError)
    for job, name in ((before, "a"), (after, "b")):
        assert (job.error, job.result, job.topics) == (None, name, {name})
    assert batches.names() == ["a", "b"]
    assert (batches.writer.commits, batches.announced) == (1, 1)


def test_a_jobs_own_error_comes_out_as_it_is(batches: Batches) -> None:
    def raises(tx: WriteTx) -> None:
        adding("half")(tx)
        raise LookupError("mine")

    broken, after = batches.write(raises, adding("a"))
    assert isinstance(broken.error, LookupError)
    assert (broken.result, broken.topics) == (None, set())
    assert after.result == "a"
    assert batches.names() == ["a"]


def test_a_job_that_ends_the_transaction_takes_all_with_it(batches: Batches) -> None:
    def gives_up(tx: WriteTx) -> None:
        tx.run("INSERT OR ROLLBACK INTO notes (id, text) VALUES ('a', '')")

    ran: list[str] = []
    assert_failed(batches.write(adding("a"), gives_up, lambda tx: ran.append("after")), apsw.ConstraintError)
    assert ran == []  # it would have written outside of any transaction
    assert batches.names() == []
    assert batches.write(adding("b"))[0].result == "b"
    assert batches.names() == ["b"]


def test_a_batch_that_changes_nothing_is_told_to_nobody_else(batches: Batches) -> None:
    (job,) = batches.write(lambda tx: tx.value("SELECT 1"))
    assert (job.result, batches.writer.commits, batches.announced) == (1, 1, 0)


def test_the_error_of_one_that_was_alone_comes_out_as_it_is(batches: Batches) -> None:
    def raises(tx: WriteTx) -> None:
        raise LookupError(adding("half")(tx))

    (broken,) = batches.write(raises)
    assert isinstance(broken.error, LookupError)
    assert (broken.result, broken.topics, batches.names()) == (None, set(), [])
    assert batches.faults.sentence is None


def test_of_two_the_one_that_raises_takes_nothing_of_the_other_along(batches: Batches) -> None:
    def raises(tx: WriteTx) -> None:
        raise LookupError(adding("half")(tx))

    before, broken = batches.write(adding("a"), raises)
    assert (before.error, before.result) == (None, "a")
    assert isinstance(broken.error, LookupError)
    assert batches.names() == ["a"]


def test_what_was_committed_changed_and_awaited_is_counted(batches: Batches) -> None:
    def counts() -> tuple[int, int, int]:
        return batches.writer.commits, batches.writer.changes, batches.writer.awaited

    assert counts() == (0, 0, 0)
    batches.write(adding("a"), adding("b"))
    assert counts() == (1, 1, 2)
    batches.write(lambda tx: tx.value("SELECT 1"))
    assert counts() == (2, 1, 3)
    refuse_once(batches.connection, "COMMIT")
    batches.write(adding("c"), adding("d"))
    assert counts() == (2, 1, 5)
    batches.write(adding("e"))
    assert counts() == (3, 2, 6)
    batches.write(adding("f"), is_background=True)  # nobody waits for it
    assert counts() == (4, 3, 6)


def test_where_the_file_was_exchanged_nothing_is_written_until_it_is_back(batches: Batches) -> None:
    batches.gone = Exchanged("a.db is gone")
    (job,) = batches.write(adding("a"))
    assert isinstance(job.error, StoreFailure)
    assert job.error.__cause__ is batches.gone
    assert (batches.faults.sentence, batches.writer.commits) == ("takes no writes: a.db is gone", 0)
    batches.gone = None
    assert batches.write(adding("b"))[0].result == "b"
    assert (batches.faults.sentence, batches.names()) == (None, ["b"])


def test_what_the_disk_refused_is_known_until_something_was_written(batches: Batches, tmp_path: Path) -> None:
    def cannot_open(tx: WriteTx) -> None:
        tx.run("ATTACH :path AS other", path=str(tmp_path / "missing" / "other.db"))

    batches.write(cannot_open)
    assert batches.faults.refuses
    batches.write(lambda tx: tx.value("SELECT 1"))  # commits, and writes nothing
    assert batches.faults.refuses
    batches.write(adding("a"))
    assert not batches.faults.refuses


def faulty(path: Path, *, after_commit: bool) -> tuple[Writer, list[Job], list[BaseException]]:
    """A writer that meets a fault of its own, with what it has delivered and told."""

    def fail() -> None:
        raise MemoryError("no room")

    connection, delivered, told = open_notes(path), [], []
    writes = SqliteWrites(connection, fail) if after_commit else SqliteWrites(connection, require_file=fail)
    writer = Writer(replace(writer_parts(writes), failed=told.append), delivered.extend, 10)
    return writer, delivered, told


@pytest.mark.parametrize("after_commit", [False, True])
def test_a_fault_of_the_writer_itself_is_told_and_nobody_waits_forever(tmp_path: Path, after_commit: bool) -> None:
    """What was committed by then is told as it came out, and all else as not written."""
    path = tmp_path / "a.db"
    writer, delivered, told = faulty(path, after_commit=after_commit)
    for name in ("a", "b"):
        writer.submit(Job(adding(name), None, lambda done: None))
    writer.start()
    writer.close()
    assert [type(error) for error in told] == [MemoryError]
    assert not writer.alive
    assert [job.result for job in delivered] == (["a", "b"] if after_commit else [None, None])
    assert all(isinstance(job.error, StoreFailure) is not after_commit for job in delivered)
    other = connections.open_writer(path, 0)
    assert other.execute("SELECT count(*) FROM notes").get == (2 if after_commit else 0)
    other.close()
    with pytest.raises(StoreFailure):
        writer.submit(Job(adding("c"), None, lambda done: None))
