"""SQLite's connection that writes: `BEGIN IMMEDIATE`, a savepoint for each job, one COMMIT and one fsync."""

import contextlib
from collections.abc import Callable
from typing import Final

import apsw

from gatewayd.clock import Instant
from gatewayd.store.engine import Begun
from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure
from gatewayd.store.sqlite.faults import Faults
from gatewayd.store.sqlite.update_clock import UpdateClock


class SqliteWrites:
    """See `WriteConnection`.

    `require_file` is called before each transaction and raises `StoreFailure` where its file is no longer the database;
    `committed` after each commit that changed something.
    """

    errors: Final = (apsw.Error, StoreFailure)

    def __init__(
        self,
        connection: apsw.Connection,
        committed: Callable[[], None] = lambda: None,
        require_file: Callable[[], None] = lambda: None,
        faults: Faults | None = None,
    ) -> None:
        self.statements = self._connection = connection
        self.stamps = UpdateClock(connection)
        self._committed = committed
        self._require_file = require_file
        self._faults = faults or Faults()
        self._version = -1  # of the database, as other connections have left it
        self._unchanged = 0

    @property
    def is_open(self) -> bool:
        return self._connection.in_transaction

    def is_failure(self, error: BaseException) -> bool:
        return isinstance(error, ENGINE_FAILURES)

    def begin(self, clock: Callable[[], Instant]) -> Begun:
        connection = self._connection
        self._require_file()
        if connection.in_transaction:  # an earlier ROLLBACK failed
            connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")
        now = clock()  # behind the wait for another process
        self.stamps.begin()
        self._unchanged = connection.total_changes()
        before, self._version = self._version, connection.data_version()  # no statement, less than a microsecond
        return Begun(now, before != self._version)

    def mark(self) -> None:
        """SQLite copies every page before its first change behind a savepoint: for a lone job there should be none."""
        self._connection.execute("SAVEPOINT operation")

    def release(self) -> None:
        self._connection.execute("RELEASE operation")

    def undo(self) -> None:
        self._connection.execute("ROLLBACK TO operation")
        self._connection.execute("RELEASE operation")

    def roll_back(self) -> None:
        self._connection.execute("ROLLBACK")
        self._unchanged = self._connection.total_changes()

    def commit(self) -> None:
        if self._connection.in_transaction:
            self.stamps.keep()
            self._connection.execute("COMMIT")

    def settle(self) -> bool:
        self.stamps.committed()
        self._version = self._connection.data_version()  # what this connection committed itself is known
        if self._connection.total_changes() == self._unchanged:
            return False
        self._faults.written()
        self._committed()
        return True

    def abandon(self) -> None:
        self.stamps.lost()
        if self._connection.in_transaction:
            with contextlib.suppress(apsw.Error):  # tried again before the next batch
                self._connection.execute("ROLLBACK")

    def refused(self, error: BaseException) -> None:
        self._faults.refused(error)

    def close(self) -> None:
        with contextlib.suppress(apsw.Error):  # what stays reserved is over in a second
            self.stamps.close()
        self._connection.close()
