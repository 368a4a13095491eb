"""The store of handler tests on a PostgreSQL: `GATEWAYD_TEST_STORE=postgresql`, or `both`.

Each store has a database of its own as long as it is used: one transaction that is never committed, with a savepoint
for each read and write. Tests that give it a file of SQLite's, or make it explain a plan, are SQLite's own. With `both`
each statement is run on SQLite as well, and a test fails where the two answer differently.
"""

import contextlib
import functools
import itertools
import os
import random
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import apsw
import psycopg
import pytest
from psycopg.pq import ExecStatus

from gatewayd.clock import Instant, SettableClock
from gatewayd.errors import Problem
from gatewayd.following import reactions
from gatewayd.ids import IdSource
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.postgres import schema
from gatewayd.store.postgres.connections import Connection, Rows, open_connection
from gatewayd.store.postgres.statements import numbered
from gatewayd.store.reactions import Reacting
from gatewayd.store.sealer import Sealer
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.update_clock import UpdateClock
from gatewayd.store.transactions import Bindings
from tests.support import given_fields, outcomes
from tests.support.postgres import Server
from tests.support.store import SEALING_KEY, START, DatabaseImage, MemoryStore

T = TypeVar("T")

COMPARES = os.environ.get("GATEWAYD_TEST_STORE") == "both"
_CHANGES = re.compile(r"\s*(?:INSERT|UPDATE|DELETE)\b")

STATEMENT_SECONDS = 60
_SQLITES = re.compile(
    r"^\s*(?:PRAGMA|EXPLAIN QUERY PLAN)\b|\b(?:pragma_\w+|date)\(|\bsqlite_schema\b|;\s*\S"
    r"|\bjson_(?!array_elements_text|to_recordset)\w+\(",
    re.I,
)
"""A look at SQLite itself, its functions, and scripts, which are its migrations backwards or forwards."""


_BYTES = re.compile(r"\bx'([0-9a-f]*)'", re.I)
_TABLES = b"SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
_OF_SQLITES_CONNECTIONS = frozenset({"exec_trace", "row_trace", "serialize", "set_progress_handler"})


@functools.lru_cache(4_096)
def _as_postgresql(sql: str) -> str:
    """A statement with bytes as PostgreSQL writes them; empty where it is SQLite's alone."""
    return "" if _SQLITES.search(sql) else _BYTES.sub(r"'\\x\1'::bytea", sql).replace(" AS BLOB)", " AS bytea)")


class Databases:
    """Migrated databases of one server, each with whoever uses it; what is given back is used again."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._made: list[Connection] = []
        self._free: list[Connection] = []

    @functools.cached_property
    def template(self) -> str:
        """A database that was migrated, and that nobody is connected to."""
        name = self._server.new_database()
        connection = open_connection(self._server.address(name), STATEMENT_SECONDS)
        schema.migrate(connection, schema.packaged(), START)
        connection.close()
        return name

    def take(self) -> Connection:
        """A connection to a database of its own, which has the rows of a new one."""
        if self._free:
            return self._free.pop()
        address = self._server.address(self._server.new_database(self.template))
        self._made.append(open_connection(address, STATEMENT_SECONDS))
        return self._made[-1]

    def give_back(self, connection: Connection) -> None:
        """Undo what was done in it; one that was lost is left."""
        with contextlib.suppress(psycopg.OperationalError):
            connection.execute("ROLLBACK")
            self._free.append(connection)

    def close(self) -> None:
        for connection in self._made:
            connection.close()


class AskedByTests(Connection):
    """What tests ask of a store besides: also with `?`, and never anything that is SQLite's alone."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.session)

    def execute(self, sql: str, values: Mapping[str, Any] | Sequence[Any] | None = None) -> Rows:
        sql = _as_postgresql(sql) or pytest.skip("this test asks SQLite about itself")
        if values is None or isinstance(values, Mapping):
            return super().execute(sql, values)
        names = itertools.count()
        text = re.sub(r"\?", lambda _: f":value_{next(names)}", sql)
        return super().execute(text, dict(zip(numbered(text).names, values, strict=True)))

    def __getattr__(self, name: str) -> object:
        if name in _OF_SQLITES_CONNECTIONS:
            pytest.skip("this test looks at how SQLite works")
        raise AttributeError(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in _OF_SQLITES_CONNECTIONS:
            pytest.skip("this test looks at how SQLite works")
        super().__setattr__(name, value)

    def control(self, *statements: str) -> None:
        """Run what only says where a transaction is, in one round trip. Raises `psycopg.Error`."""
        result = self.session.pgconn.exec_("; ".join(statements).encode())
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(result.get_error_message())

    def data_version(self) -> int:
        """Nobody else writes."""
        return 1

    def close(self) -> None:
        """The session is used again."""


class Compared(AskedByTests):
    """What is asked of PostgreSQL is asked of SQLite too, and both must answer the same."""

    def __init__(self, connection: Connection, image: bytes) -> None:
        super().__init__(connection)
        self._sqlite = connections.open_writer(connections.MEMORY, 0)
        self._sqlite.deserialize("main", image)

    def execute(self, sql: str, values: Mapping[str, Any] | Sequence[Any] | None = None) -> Rows:
        expected, refused_by_sqlite = _attempt(
            lambda: self._sqlite.execute(sql, values).fetchall(), apsw.ConstraintError
        )
        found, refused = _attempt(lambda: super(Compared, self).execute(sql, values).fetchall(), psycopg.IntegrityError)
        assert (refused is None) == (refused_by_sqlite is None), f"{sql} with {values}: {refused or refused_by_sqlite}"
        if refused is not None:
            raise refused
        both = (found, expected) if " ORDER BY " in sql.replace("\n", " ") else (_sorted(found), _sorted(expected))
        assert list(map(repr, both[0])) == list(map(repr, both[1])), f"{sql} with {values}"
        if _CHANGES.match(sql):
            assert self.changes() == self._sqlite.changes(), f"{sql} with {values}"
        return Answered(expected)

    def control(self, *statements: str) -> None:
        super().control(*statements)
        for statement in statements:
            if not statement.startswith("SET LOCAL"):
                self._sqlite.execute(statement)

    def executemany(self, sql: str, many: Sequence[Sequence[Any]]) -> None:
        super().executemany(sql, many)
        self._sqlite.executemany(sql, many)

    def close(self) -> None:
        self._sqlite.close()


class Answered(Rows):
    """Rows that are here."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._rows = iter(rows)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._rows)

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._rows, None)


def _attempt(
    ask: Callable[[], list[tuple[Any, ...]]], refusal: type[Exception]
) -> tuple[list[tuple[Any, ...]], Exception | None]:
    """What is answered, or why it was refused."""
    try:
        return ask(), None
    except refusal as error:
        return [], error


def _sorted(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


class PostgresStore(MemoryStore):
    """One empty database after all migrations; otherwise as the store in memory."""

    databases: Databases | None = None

    def __init__(
        self,
        image: bytes,
        clock: SettableClock | None = None,
        key: bytes = SEALING_KEY,
        *,
        compares: bool = COMPARES,
    ) -> None:
        if not isinstance(image, DatabaseImage):
            pytest.skip("this test begins with a file of SQLite's")
        assert self.databases is not None, "no server runs"
        self.clock = clock or SettableClock(START)
        self.sealer = Sealer(key)
        self.ids = IdSource(self.clock, random.Random(0).randbytes)
        self.announced: set[str] = set()
        taken = self.databases.take()
        self.connection = Compared(taken, image) if compares else AskedByTests(taken)
        self._end = weakref.finalize(self, self.databases.give_back, taken)  # many a test closes none
        self._update_clock = UpdateClock(self.connection)
        self._reacting = Reacting(reactions())
        self.connection.execute("BEGIN")

    def now(self) -> Instant:
        return self.clock.now()

    def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        """Run a read, which cannot write."""
        self.connection.control("SAVEPOINT reading", "SET LOCAL transaction_read_only = on")
        try:
            with given_fields.watched():
                return work(ReadTx(self.connection, Bindings(org_id, self.clock.now()), self.sealer))
        except Problem as problem:
            outcomes.note_raised(problem)
            raise
        finally:
            self._undo("reading")

    def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Run one write. What `work` raises comes out here, rolled back. Topics are added to `announced`."""
        bindings = Bindings(org_id, self.clock.now())
        transaction = WriteTx(self.connection, bindings, self.sealer, self.ids.new, self._update_clock, self._reacting)
        self.connection.control("SAVEPOINT operation")
        self._update_clock.begin()
        try:
            with given_fields.watched():
                result = work(transaction)
                transaction.tell()
            self._update_clock.keep()
        except BaseException as error:
            self._undo("operation")
            self._reacting.listened.clear()
            if isinstance(error, Problem):
                outcomes.note_raised(error)
            raise
        self.connection.control("RELEASE operation")
        self._update_clock.committed()
        self.announced |= transaction.topics
        return result

    def changed_rows(self) -> int:
        return self.connection.total_changes

    def stored(self) -> bytes:
        tables = [row[0] for row in self.connection.session.execute(_TABLES)]
        rows = [row for name in tables for row in self.connection.session.execute(f'SELECT * FROM "{name}"'.encode())]
        return b"\0".join(value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row)

    def _undo(self, savepoint: str) -> None:
        self.connection.control(f"ROLLBACK TO {savepoint}", f"RELEASE {savepoint}")

    def close(self) -> None:
        self.connection.close()
        self._end()
