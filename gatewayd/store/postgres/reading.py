"""Reads of a PostgreSQL: one state for all statements of a read, and the version of it."""

import contextlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

import psycopg

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.failures import is_of_the_engine, reason
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Bindings, ReadTx

T = TypeVar("T")

_BEGIN: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_VERSION: Final = "SELECT version FROM pulse WHERE id = 1"


class Read(NamedTuple):
    """What a read answered, and the version that it saw: until a higher one it would be answered the same."""

    result: Any
    version: int


class Reader:
    """One session that reads, for one thread at a time. `connect` raises `StoreFailure`."""

    def __init__(self, connect: Callable[[], Connection], sealer: Sealer) -> None:
        self._connect = connect
        self._sealer = sealer
        self._connection: Connection | None = None

    def read(self, work: Callable[[ReadTx], T], bindings: Bindings) -> Read:
        """Run a read. What `work` raises comes out here.

        It is begun once more where the session that was kept is gone. Raises `StoreFailure` where the server, or the
        way to it, fails in the middle, or a statement takes too long.
        """
        connection, version = self._begin()
        try:
            result = work(ReadTx(connection, bindings, self._sealer))
            connection.execute("COMMIT")
        except psycopg.Error as error:
            self.close()
            wrote = isinstance(error, psycopg.errors.ReadOnlySqlTransaction)  # the fault of `work`
            if is_of_the_engine(error) and not wrote:
                raise StoreFailure(f"the database cannot be read: {reason(error)}") from error
            raise
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            raise
        return Read(result, version)

    def close(self) -> None:
        """End the session. The next read has another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()

    def _begin(self) -> tuple[Connection, int]:
        kept = self._connection is not None
        try:
            return self._begun()
        except psycopg.Error as error:
            self.close()
            if kept:
                return self._begin()
            raise StoreFailure(f"the database cannot be read: {reason(error)}") from error

    def _begun(self) -> tuple[Connection, int]:
        connection = self._connection = self._connection or self._connect()
        connection.execute(_BEGIN)
        version = connection.execute(_VERSION).get
        if version is None:
            raise StoreFailure("the database has no pulse")
        return connection, int(version)
