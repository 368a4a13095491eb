"""Checkpoints: a thread copies the log, commits copy what is left of it, and it has bounds whatever happens."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.checkpoints import MOST_PAGES, REST_PAGES, RETRY_PAGES, START_PAGES, Checkpoints
from gatewayd.store.sqlite.connections import PAGE_BYTES
from gatewayd.store.sqlite.faults import Faults

DEADLINE = 120.0
INSERT = "INSERT INTO notes (text) VALUES (zeroblob(?))"


class Log:
    """A database with a writer, whose checkpoints have a thread once it is started."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "notes.db"
        self.faults = Faults()
        self.writer = connections.open_writer(self.path, 1)
        self.writer.execute("CREATE TABLE notes (text BLOB NOT NULL)")
        self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.checkpoints = Checkpoints(self.writer, self.path, 1, self.faults)

    def write(self, pages: int) -> None:
        """One commit of about so many pages."""
        self.writer.execute(INSERT, (pages * PAGE_BYTES,))

    @property
    def copied(self) -> int:
        """How many pages the database itself has."""
        return self.path.stat().st_size // PAGE_BYTES

    @property
    def length(self) -> int:
        """How many pages the log had at its longest."""
        return self.path.with_name("notes.db-wal").stat().st_size // PAGE_BYTES

    def wait(self) -> None:
        """Until the thread has done what is asked of it."""
        assert self.checkpoints._idle.wait(DEADLINE)

    def close(self) -> None:
        self.checkpoints.close()
        self.writer.close()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path)
    yield made
    made.close()


def test_the_thread_copies_what_is_long_and_no_commit_does(log: Log) -> None:
    log.write(START_PAGES)
    log.write(10)
    assert log.copied < 10
    log.checkpoints.start()
    log.wait()
    assert log.copied > START_PAGES


def test_a_short_log_is_left_alone(log: Log) -> None:
    log.checkpoints.start()
    for _ in range(10):
        log.write(10)
    log.checkpoints.close()
    assert log.copied < 10


def test_a_log_that_was_copied_is_written_over(log: Log) -> None:
    """A commit behind the thread's copy copies the rest, and the next begins anew."""
    log.checkpoints.start()
    for _ in range(3):
        wanted = log.copied + START_PAGES
        log.write(START_PAGES)
        log.wait()
        assert log.copied >= wanted
        for _ in range(2):
            log.write(1)
        assert log.length < START_PAGES + 20


def test_without_a_thread_the_log_has_bounds(log: Log) -> None:
    """As when it hangs on a slow disk."""
    for _ in range(3 * MOST_PAGES // 500):
        log.write(500)
    assert MOST_PAGES <= log.length < MOST_PAGES + 2 * 510


def test_what_a_reader_needs_is_copied_when_it_has_ended(log: Log) -> None:
    reader = connections.open_reader(log.path, 1)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM notes").get == 0
    log.checkpoints.start()
    for _ in range(START_PAGES // 100 + 5):
        log.write(100)
    assert reader.execute("SELECT count(*) FROM notes").get == 0
    assert log.copied < 10
    reader.close()
    for _ in range(10):
        log.write(RETRY_PAGES)
    log.wait()
    assert log.copied > START_PAGES


# -- the commits alone


class Recording:
    """A writing connection: how long the log is, and what is copied of it until a reader is in the way."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.pages = 0
        self.readable_to: int | None = None
        self.error: apsw.Error | None = None
        self.hook: Callable[[object, str, int], int]

    def set_wal_hook(self, hook: Callable[[object, str, int], int]) -> None:
        self.hook = hook

    def wal_checkpoint(self, name: str, mode: int) -> tuple[int, int]:
        assert mode == apsw.SQLITE_CHECKPOINT_PASSIVE  # no other waits for nobody
        self.calls.append(self.pages)
        if self.error is not None:
            raise self.error
        return self.pages, self.pages if self.readable_to is None else min(self.pages, self.readable_to)

    def commit(self, pages: int) -> None:
        self.pages = pages
        assert self.hook(self, "main", pages) == apsw.SQLITE_OK


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[tuple[Recording, Checkpoints, Faults]]:
    """Of checkpoints whose thread was never started, and copies when it is told to."""
    connections.open_writer(tmp_path / "notes.db", 1).close()
    writer, faults = Recording(), Faults()
    checkpoints = Checkpoints(writer, tmp_path / "notes.db", 1, faults)  # type: ignore[arg-type]
    yield writer, checkpoints, faults
    checkpoints.close()


def test_a_commit_copies_a_short_rest_and_no_more(recording: tuple[Recording, Checkpoints, Faults]) -> None:
    writer, checkpoints, _ = recording
    for pages in (500, START_PAGES - 1, START_PAGES, START_PAGES + 300):
        writer.commit(pages)
    assert writer.calls == []
    checkpoints._copy(writer)  # type: ignore[arg-type]  # as the thread does
    copied = START_PAGES + 300
    writer.commit(copied + REST_PAGES + 1)
    assert writer.calls == [copied]
    checkpoints._copy(writer)  # type: ignore[arg-type]
    writer.commit(copied + 2 * REST_PAGES + 1)
    assert writer.calls[2:] == [copied + 2 * REST_PAGES + 1]
    writer.commit(7)  # it was written over from its beginning
    writer.commit(START_PAGES)
    assert len(writer.calls) == 3


def test_a_log_is_copied_before_it_is_as_long_as_elsewhere_and_has_four_times_that_at_most() -> None:
    """Elsewhere SQLite copies it itself, at 2,000 pages."""
    assert (START_PAGES, MOST_PAGES) == (1_500, 8_000)
    assert (REST_PAGES, RETRY_PAGES) == (128, 256)


def test_a_commit_that_copied_all_is_not_followed_by_ones_that_do(
    recording: tuple[Recording, Checkpoints, Faults],
) -> None:
    writer, _, _ = recording
    for pages in (MOST_PAGES, MOST_PAGES + 1, MOST_PAGES + RETRY_PAGES - 1):
        writer.commit(pages)
    assert writer.calls == [MOST_PAGES]
    writer.commit(MOST_PAGES + RETRY_PAGES)
    assert writer.calls == [MOST_PAGES, MOST_PAGES + RETRY_PAGES]


def test_the_thread_is_not_asked_again_at_once_where_a_reader_is_in_the_way(
    recording: tuple[Recording, Checkpoints, Faults],
) -> None:
    writer, checkpoints, _ = recording
    writer.readable_to = 0
    writer.commit(START_PAGES)
    assert not checkpoints._idle.is_set(), "it is asked"
    checkpoints._copy(writer)  # type: ignore[arg-type]  # as the thread does
    checkpoints._idle.set()
    writer.commit(START_PAGES + RETRY_PAGES - 1)
    assert checkpoints._idle.is_set()
    writer.commit(START_PAGES + RETRY_PAGES)
    assert not checkpoints._idle.is_set()


def test_beside_a_reader_it_is_tried_now_and_then(recording: tuple[Recording, Checkpoints, Faults]) -> None:
    writer, _, _ = recording
    writer.readable_to = 0
    for pages in range(MOST_PAGES, MOST_PAGES + 10 * RETRY_PAGES):
        writer.commit(pages)
    assert len(writer.calls) == 10


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(apsw.FullError("full"), None), (apsw.BusyError("busy"), None), (apsw.CorruptError("torn"), "is damaged: torn")],
)
def test_a_checkpoint_that_fails_fails_no_commit(
    recording: tuple[Recording, Checkpoints, Faults], error: apsw.Error, sentence: str | None
) -> None:
    writer, _, faults = recording
    writer.error = error
    writer.commit(MOST_PAGES)
    assert faults.sentence == sentence
    writer.error = None
    writer.commit(MOST_PAGES + RETRY_PAGES)
    assert writer.calls == [MOST_PAGES, MOST_PAGES + RETRY_PAGES]


def test_the_thread_goes_on_after_a_failure_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, tries, ends = threading.Semaphore(0), list[int](), list[bool]()

    class Failing:
        def wal_checkpoint(self, name: str, mode: int) -> tuple[int, int]:
            tries.append(1)
            tried.release()
            raise apsw.IOError("the disk is gone")

        def close(self) -> None:
            ends.append(checkpoints._thread.is_alive())

    monkeypatch.setattr(connections, "open_copier", lambda path, seconds: Failing())
    writer = Recording()
    checkpoints = Checkpoints(writer, tmp_path / "notes.db", 1, Faults())  # type: ignore[arg-type]
    checkpoints.start()
    pages, commits = START_PAGES, 0
    for _ in range(3):
        deadline = time.monotonic() + DEADLINE
        while not tried.acquire(timeout=0.001):
            assert time.monotonic() < deadline
            pages, commits = pages + RETRY_PAGES, commits + 1
            writer.commit(min(pages, MOST_PAGES - 1))
    checkpoints.close()
    assert ends == [False], "closed once, behind the thread"
    assert len(tries) <= commits, "it tries when it is asked"
    while tried.acquire(blocking=False):
        """The last commit before the third try may have asked for a fourth."""
    writer.commit(MOST_PAGES - 1)  # those that still come are as short
    assert not tried.acquire(blocking=False)
