"""Reads of a PostgreSQL: one state for all statements of a read, and the version of it."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import psycopg

from gatewayd.store.failures import OverBudget, StoreFailure
from gatewayd.store.postgres.connections import Connection, Rows, Values
from gatewayd.store.postgres.failures import DEADLINE, is_of_the_engine, reason
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Bindings, ReadTx, Row

T = TypeVar("T")

_BEGIN: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SELECT version FROM pulse WHERE id = 1"


class Reader:
    """One session that reads, for one thread at a time. `connect` raises `StoreFailure`.

    `seconds` is how long a read may take: past it no further statement is begun, and the session itself is one whose
    statements take no longer.
    """

    def __init__(self, connect: Callable[[], Connection], sealer: Sealer, seconds: float) -> None:
        self._connect = connect
        self._sealer = sealer
        self._seconds = seconds
        self._connection: Connection | None = None
        self._interrupted = threading.Event()
        self._until = 0.0

    def read(self, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        """Run a read. What `work` raises comes out here.

        It is begun once more where the session that was kept is gone. Raises `StoreFailure` where the server, or the
        way to it, fails in the middle, and `OverBudget` where it takes too long.
        """
        self._until = time.monotonic() + self._seconds
        version = self._begin()
        tx = ReadTx(self, bindings, self._sealer)
        tx.version = version
        try:
            result = work(tx)
            self._of_the_session().send_plainly(b"COMMIT")
        except psycopg.Error as error:
            self._end_after(error)
            wrote = isinstance(error, psycopg.errors.ReadOnlySqlTransaction)  # the fault of `work`
            if error.sqlstate == DEADLINE:
                raise OverBudget("the read took too long") from error
            if is_of_the_engine(error) and not wrote:
                raise StoreFailure(f"the database cannot be read: {reason(error)}") from error
            raise
        except BaseException:
            with contextlib.suppress(psycopg.Error, StoreFailure):
                self._of_the_session().run_plainly(b"ROLLBACK")
            raise
        return result

    def execute(self, sql: str, values: Values) -> Rows:
        """Run a statement of the read. Raises `psycopg.Error`, `OverBudget`."""
        self._require_time()
        return self._of_the_session().execute(sql, values)

    def each(self, sql: str, values: Values) -> Iterator[Row]:
        """The rows of a statement of the read, some at a time where they may be many. Raises as `execute` does."""
        self._require_time()
        return self._of_the_session().each(sql, values)

    def resume(self) -> None:
        """Let it read again, after an interruption."""
        self._interrupted.clear()

    def interrupt(self) -> None:
        """End the read that is under way, from another thread. It may block: for a round trip to the server."""
        self._interrupted.set()
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.session.cancel()

    def close(self) -> None:
        """End the session. The next read has another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()

    def _require_time(self) -> None:
        if time.monotonic() > self._until or self._interrupted.is_set():
            raise OverBudget("the read took too long")

    def _of_the_session(self) -> Connection:
        if self._connection is None:
            raise StoreFailure("the connection was lost")
        return self._connection

    def _begin(self) -> int:
        kept = self._connection is not None
        try:
            return self._begun()
        except psycopg.Error as error:
            self.close()
            if kept:
                return self._begin()
            raise StoreFailure(f"the database cannot be read: {reason(error)}") from error

    def _begun(self) -> int:
        connection = self._connection = self._connection or self._connect()
        version = connection.run_plainly(_BEGIN)
        if version is None:
            raise StoreFailure("the database has no pulse")
        return int(version)

    def _end_after(self, error: psycopg.Error) -> None:
        """Keep the session after an error of a statement; what happened to the session itself ends it."""
        connection = self._connection
        if connection is None or connection.session.closed or (is_of_the_engine(error) and error.sqlstate != DEADLINE):
            self.close()
            return
        with contextlib.suppress(psycopg.Error):
            connection.run_plainly(b"ROLLBACK")
