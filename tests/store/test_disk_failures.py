"""Disks that fail below SQLite: at each write, sync, truncation and lock of a batch, and of the checkpoint after it.

Whatever call it is that fails, what was acknowledged is there, also after a kill or a power cut at that moment; of what
was not, nothing is half there; and the same connection goes on once the disk does.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import apsw
import pytest

from gatewayd.store import StoreFailure, WriteTx
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer
from tests.store.faulty_files import FAILING, FULL, Call, FaultyFiles
from tests.store.opening import insert, open_notes, writer_parts

_LONG = "x" * 10_000  # more than a page
_SMALL_PAGE = 512
_INDEX_PAGES = 4_096  # SQLite, page on the WAL file: the index of a log grows with about so many pages


class Disk:
    """A writer over files that can be made to fail. Each commit is followed by a checkpoint."""

    def __init__(self, folder: Path, start: bytes) -> None:
        folder.mkdir()
        self._folder = folder
        (folder / "a.db").write_bytes(start)
        self.connection = open_notes(folder / "a.db")
        self.connection.pragma("wal_autocheckpoint", 1)
        self.files = FaultyFiles(self.connection)
        self._writer = Writer(writer_parts(SqliteWrites(self.connection)), lambda batch: None, 10)
        self._acknowledged: set[str] = set()
        self._offered: set[str] = set()

    def write(self, *names: str, text: str = _LONG) -> list[Job]:
        """One batch with a job for each name, which leaves two rows, or raises when it has left them."""
        batch = [Job(_two_rows(name, text), None, lambda done: None) for name in names]
        self._writer.write(batch)
        self._offered |= {name for name in names if not name.startswith("raises")}
        self._acknowledged |= {str(job.result) for job in batch if job.error is None}
        return batch

    def check(self) -> None:
        """What can be seen, what would be after a kill, and what after a power cut."""
        assert _pairs(self.connection) == self._acknowledged
        for copy in (self.files.after_a_kill, self.files.after_a_power_cut):
            with tempfile.TemporaryDirectory(dir=self._folder) as folder:
                reopened = connections.open_writer(copy(Path(folder)), 1)
                assert self._acknowledged <= _pairs(reopened) <= self._offered
                reopened.close()

    def close(self) -> None:
        """End, and look at the files that are left."""
        self._writer.close()
        reopened = connections.open_writer(self._folder / "a.db", 1)
        assert _pairs(reopened) == self._acknowledged
        reopened.close()


def _two_rows(name: str, text: str) -> Callable[[WriteTx], str]:
    def work(tx: WriteTx) -> str:
        insert(tx, f"{name}-1")
        insert(tx, f"{name}-2", text)
        if name.startswith("raises"):
            raise LookupError(name)
        return name

    return work


def _pairs(connection: apsw.Connection) -> set[str]:
    """The names of which both rows are there. Fails where the file is damaged or has half of one."""
    assert connection.pragma("integrity_check") == "ok"
    ids = {str(row[0]) for row in connection.execute("SELECT id FROM notes")}
    found = {each.partition("-")[0] for each in ids}
    assert ids == {f"{name}-{number}" for name in found for number in (1, 2)}
    return found


def _made(folder: Path, page_bytes: int) -> bytes:
    """The bytes of a database as a writer leaves it."""
    empty = apsw.Connection(str(folder / "a.db"))
    empty.execute(f"PRAGMA page_size = {page_bytes}; VACUUM")
    empty.close()
    open_notes(folder / "a.db").close()
    return (folder / "a.db").read_bytes()


def _strike(
    disk: Disk, number: int, faults: Mapping[Call, int], once: bool, text: str = _LONG
) -> tuple[list[Call], bool]:
    """Write a batch that meets its fault at a call, or with 0 none; answers its calls, and whether it was lost."""
    assert not _is_lost(disk.write("before", "raises", "it"))
    disk.files.fail_at(number, faults if number else {}, once=once)
    batch = disk.write("first", "raises", "last", text=text)
    calls = list(disk.files.calls)
    disk.files.repair()
    disk.check()
    assert [job.error for job in disk.write("after")] == [None]
    disk.close()
    return calls, _is_lost(batch)


def _is_lost(batch: list[Job]) -> bool:
    """Whether the batch was lost, which is together and with the reason for it."""
    first, raises, last = (job.error for job in batch)
    if first is None:
        assert isinstance(raises, LookupError)
        assert last is None
        return False
    for error in (first, raises, last):
        assert isinstance(error, StoreFailure)
        assert isinstance(error.__cause__, apsw.FullError | apsw.IOError)
    return True


@pytest.mark.parametrize(
    ("faults", "once"),
    [(FAILING, True), (FAILING, False), (FULL, False)],
    ids=["one call fails", "all fail from then on", "full from then on"],
)
def test_at_each_call_a_batch_is_whole_or_was_never_there(
    tmp_path: Path, faults: Mapping[Call, int], once: bool
) -> None:
    start = _made(tmp_path, 8192)
    calls, _ = _strike(Disk(tmp_path / "whole", start), 0, faults, once)
    assert set(calls) == {"xShmLock", "xWrite", "xSync", "xTruncate"}
    lost = [_strike(Disk(tmp_path / str(at), start), at, faults, once)[1] for at in range(1, len(calls) + 1)]
    assert lost[calls.index("xWrite")]  # the first of the log
    assert not any(lost[calls.index("xTruncate") :])  # the end of the checkpoint: the log has it all


def test_where_the_index_of_the_log_cannot_grow_the_batch_is_lost(tmp_path: Path) -> None:
    start, huge = _made(tmp_path, _SMALL_PAGE), "x" * (_SMALL_PAGE * _INDEX_PAGES)
    calls, _ = _strike(Disk(tmp_path / "whole", start), 0, FAILING, True, huge)
    at = calls.index("xShmMap") + 1
    struck, is_lost = _strike(Disk(tmp_path / "failing", start), at, FAILING, True, huge)
    assert (struck, is_lost) == (calls[:at], True)
