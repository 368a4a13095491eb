"""The write-ahead log is copied into the database by a thread of its own, so that no write waits for the copy.

SQLite would have the commit that makes the log long do it: ten milliseconds and more for whoever's that is. Here such a
commit wakes the thread. What is written meanwhile is a short rest, which a later commit copies itself: only a log that
is copied whole when a write begins is written over from its beginning.
"""

import threading
from pathlib import Path
from typing import Final

import apsw

from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.connections import WAL_CHECKPOINT_PAGES
from gatewayd.store.sqlite.faults import Faults

START_PAGES: Final = WAL_CHECKPOINT_PAGES * 3 // 4  # so that the log is no longer than elsewhere while it is copied
REST_PAGES: Final = 128  # Chosen: so many a commit copies itself, in a millisecond or two
RETRY_PAGES: Final = 256  # Chosen: written before the next try, where a reader still needs what is older
MOST_PAGES: Final = 4 * WAL_CHECKPOINT_PAGES  # Chosen: from here on commits copy all, or the log had no bounds


class Checkpoints:
    """The checkpoints of one store. Pages are those of the log, as SQLite counts them from its beginning."""

    def __init__(self, writer: apsw.Connection, path: Path, busy_timeout_seconds: float, faults: Faults) -> None:
        self._faults = faults
        self._connection = connections.open_copier(path, busy_timeout_seconds)
        self._one_at_a_time = threading.Lock()
        self._wanted, self._idle = threading.Event(), threading.Event()
        self._idle.set()
        self._ends = False
        self._pages = 0  # behind the last commit
        self._copied = 0  # of them
        self._next = START_PAGES  # how long the log is when something is done about it
        self._thread = threading.Thread(target=self._run, name="gatewayd-checkpoints", daemon=True)
        writer.set_wal_hook(self._committed)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End the thread. It blocks for as long as a checkpoint is under way: call it off the event loop."""
        self._ends = True
        self._wanted.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._connection.close()

    def _committed(self, writer: apsw.Connection, name: str, pages: int) -> int:
        """Behind each commit of the writer, on its thread."""
        if pages < self._pages:  # the log was written over from its beginning
            self._copied, self._next = 0, START_PAGES
        self._pages = pages
        if pages < self._next:
            return apsw.SQLITE_OK
        if pages - self._copied <= REST_PAGES or pages >= MOST_PAGES:
            self._copy(writer)
            self._next = pages + RETRY_PAGES  # unless the next write begins anew, which it mostly does
        elif self._idle.is_set() and not self._ends:
            self._idle.clear()
            self._wanted.set()
        return apsw.SQLITE_OK

    def _run(self) -> None:
        while not self._ends:
            self._wanted.wait()  # may last: the documented wait for work
            self._wanted.clear()
            if not self._ends:
                self._copy(self._connection)
                self._idle.set()

    def _copy(self, connection: apsw.Connection) -> None:
        """Copy what is committed, up to what a reader still needs as it was."""
        with self._one_at_a_time:
            try:
                pages, copied = connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.Error as error:  # nothing is lost: it is in the log, and tried again
                self._faults.met(error)
                pages, copied = self._pages, self._copied
            self._copied = copied if copied <= self._pages else 0  # else the log was begun anew meanwhile
            if copied < pages:
                self._next = pages + RETRY_PAGES
