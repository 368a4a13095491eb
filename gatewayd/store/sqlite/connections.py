"""Opening SQLite the one way this service uses it."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import make_private

PAGE_BYTES = 8192  # a page of fifty 1.4 kB rows costs a tenth less CPU than with 4096
CACHE_KIBIBYTES = 16_384
WAL_CHECKPOINT_PAGES = 2_000  # about 16 MB of log
WAL_BYTES = WAL_CHECKPOINT_PAGES * PAGE_BYTES * 5 // 4  # what is kept of a log that had to become longer
MEMORY = Path(":memory:")
_TRY_AGAIN_SECONDS = 0.002  # Chosen: a commit of another process takes about as long


class Patience:
    """How a connection waits for the lock that another process holds.

    SQLite's own way looks ever more rarely, at last ten times a second: beside a daemon that writes all the time it
    seldom meets one of the moments in which nobody holds the lock, and gives up though there were hundreds.
    """

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self._deadline = 0.0

    def wait(self, times_before: int) -> bool:
        """Wait for a moment; False where that took the whole time-out. Called again and again for one lock."""
        now = time.monotonic()
        if times_before == 0:
            self._deadline = now + self._timeout_seconds
        if now >= self._deadline:
            return False
        time.sleep(_TRY_AGAIN_SECONDS)
        return True


def open_writer(path: Path, busy_timeout_seconds: float) -> apsw.Connection:
    """The connection that writes: WAL, and a commit is on disk before it returns.

    Raises `StoreFailure` when the file cannot be opened or is no database.
    """
    if path != MEMORY:
        _make_private(path)
    with _opening(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, busy_timeout_seconds) as connection:
        connection.pragma("page_size", PAGE_BYTES)
        if path != MEMORY and not _enable_wal(connection, busy_timeout_seconds):
            raise StoreFailure(f"{path} cannot use a write-ahead log: is it on a network file system?")
        connection.pragma("synchronous", "FULL")
        connection.pragma("wal_autocheckpoint", WAL_CHECKPOINT_PAGES)
        connection.pragma("journal_size_limit", WAL_BYTES)
    return connection


def _make_private(path: Path) -> None:
    """An empty file where no database is: SQLite alone would let others read it, if the directory did."""
    with contextlib.suppress(OSError):  # it is there; or SQLite tells why it cannot be made
        os.close(make_private(path, os.O_WRONLY, path.parent))


def open_reader(path: Path, busy_timeout_seconds: float) -> apsw.Connection:
    """A connection that cannot write. Raises `StoreFailure`."""
    with _opening(path, apsw.SQLITE_OPEN_READONLY, busy_timeout_seconds) as connection:
        connection.pragma("query_only", True)
    return connection


def open_copy(path: Path) -> apsw.Connection:
    """A connection to a database that nothing changes, a backup's: no file is made beside it. Raises `StoreFailure`."""
    address = f"{path.absolute().as_uri()}?immutable=1"
    with _opening(address, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, 0) as connection:
        connection.pragma("query_only", True)
    return connection


def open_copier(path: Path, busy_timeout_seconds: float) -> apsw.Connection:
    """A connection that copies the log of an opened database and writes nothing else. Raises `StoreFailure`."""
    with _opening(path, apsw.SQLITE_OPEN_READWRITE, busy_timeout_seconds) as connection:
        connection.pragma("synchronous", "FULL")
    return connection


def _enable_wal(connection: apsw.Connection, busy_timeout_seconds: float) -> bool:
    """Whether the database now has a write-ahead log.

    Of several that open a new file at once SQLite refuses some without waiting, whatever the time-out: they try again.
    Raises `apsw.BusyError` where it takes longer than the time-out.
    """
    deadline = time.monotonic() + busy_timeout_seconds
    while True:
        try:
            return bool(connection.pragma("journal_mode", "wal") == "wal")
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_TRY_AGAIN_SECONDS)


@contextlib.contextmanager
def _opening(path: Path | str, flags: int, busy_timeout_seconds: float) -> Iterator[apsw.Connection]:
    """A connection that stays open unless something goes wrong in the block."""
    with contextlib.ExitStack() as opened:
        try:
            connection = apsw.Connection(str(path), flags=flags, statementcachesize=300)
            opened.callback(connection.close)
            connection.set_busy_handler(Patience(busy_timeout_seconds).wait)
            yield connection
            _configure(connection)
        except apsw.Error as error:
            raise StoreFailure(f"{path} cannot be opened: {error}") from error
        opened.pop_all()


def _configure(connection: apsw.Connection) -> None:
    connection.pragma("foreign_keys", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("cache_size", -CACHE_KIBIBYTES)
    connection.pragma("temp_store", "memory")
    for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
        connection.config(option, 0)  # "text" is a name, never a string
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    # One plan for a statement whatever is bound: or SQLite prepares every range query anew at each execution (STAT4).
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
