"""A connection to PostgreSQL that is asked as one to SQLite is: named parameters, rows as tuples of plain values."""

import contextlib
import math
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg import RawCursor
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.rows import TupleRow

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.failures import reason
from gatewayd.store.postgres.statements import adapt, numbered, positional

PREPARED_AFTER: Final = 1
"""Chosen: a statement that is run a second time is prepared; the first time it costs a round trip more."""
PREPARED_MAX: Final = 600
"""Chosen: of one connection. Each takes memory of the server; the one that was not used for longest is given up."""
STREAMED_ROWS: Final = 200
"""Chosen: how many rows come at once where they are taken one by one."""

_PATIENCE: Final[Mapping[str, str | int]] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "target_session_attrs": "read-write",
}
"""Chosen: a server that is gone without a word is noticed in about ten seconds. Of several hosts the one that writes is
taken."""
_CHANGING: Final = ("INSERT", "UPDATE", "DELETE")

Values = Mapping[str, Any]


class Rows:
    """What a statement answered; all of it is here. An iterator too: each row is given once."""

    def __init__(self, cursor: RawCursor[TupleRow]) -> None:
        self._cursor = cursor
        self._answers = cursor.description is not None

    def fetchall(self) -> list[TupleRow]:
        """The rows that were not given yet."""
        return self._cursor.fetchall() if self._answers else []

    def fetchone(self) -> TupleRow | None:
        """The next row; None: there is no other."""
        return self._cursor.fetchone() if self._answers else None

    @property
    def get(self) -> Any:
        """The value of the one column of the first row, or the row where it has several; None: there is no row."""
        row = self.fetchone()
        return row[0] if row is not None and len(row) == 1 else row

    def __iter__(self) -> "Rows":
        return self

    def __next__(self) -> TupleRow:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row


class Connection:
    """One session of a server, for one thread at a time. `seconds` is how long a statement may take; 0: any time."""

    def __init__(self, session: "psycopg.Connection[TupleRow]", seconds: float = 0) -> None:
        self.session = session
        self._seconds = seconds or math.inf
        self.answer_by = math.inf
        """When what was asked last should have been answered, of `time.monotonic`; infinite: nothing is asked."""
        self._changes = 0
        self.total_changes = 0
        """How many rows were changed since the session began."""
        self._streams = 0

    def execute(self, sql: str, values: Values | None = None) -> Rows:
        """Run one statement. Its `:names` are in `values`, which may have more. Raises `psycopg.Error`."""
        statement = numbered(sql)
        cursor = RawCursor(self.session)
        self.answer_by = time.monotonic() + self._seconds
        try:
            cursor.execute(statement.sql, statement.values(values or {}) if statement.names else None, binary=True)
        finally:
            self.answer_by = math.inf
        self._count(cursor)
        return Rows(cursor)

    def executemany(self, sql: str, many: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values, which are in the order in which the statement names them first.

        They are sent together, and the server answers once.
        """
        if many:
            statement = numbered(sql)
            cursor = RawCursor(self.session)
            with self._awaited():
                cursor.executemany(statement.sql, positional(statement, many))
            self._count(cursor)

    def changes(self) -> int:
        """How many rows the last statement changed that could."""
        return self._changes

    def each(self, sql: str, values: Values) -> Iterator[TupleRow]:
        """The rows of a SELECT: all at once where the statement bounds how many they are, else some at a time."""
        return self.execute(sql, values) if "LIMIT" in sql else self.stream(sql, values)

    def run_plainly(self, sql: bytes) -> bytes | None:
        """Run statements without values in one round trip; answers with the first value of the last one, as text.

        Raises `psycopg.Error`.
        """
        self.answer_by = time.monotonic() + self._seconds
        try:
            result = self.session.pgconn.exec_(sql)
        except psycopg.Error:
            self.close()
            raise
        finally:
            self.answer_by = math.inf
        if result.status == ExecStatus.FATAL_ERROR:
            error = psycopg.errors.error_from_result(result, "utf-8")
            raise error if error.sqlstate else psycopg.OperationalError(str(error))  # or: the connection was lost
        return result.get_value(0, 0) if result.ntuples else None

    def send_plainly(self, sql: bytes) -> None:
        """The same without waiting for the answer, which nobody needs; `run_plainly` has to be next. Raises nothing."""
        with contextlib.suppress(psycopg.Error):
            self.session.pgconn.send_query(sql)
            self.session.pgconn.flush()

    def stream(self, sql: str, values: Values | None = None) -> Iterator[TupleRow]:
        """The rows of a SELECT some at a time, inside of a transaction: what the caller leaves is not computed.

        Other statements may be run in between. It is planned each time: for what may be long. What is left before its
        end is closed with the transaction: who leaves it may come back when that is long over.
        """
        statement = numbered(sql)
        self._streams += 1
        name = f"rows_{self._streams}"
        self._run(f"DECLARE {name} NO SCROLL CURSOR FOR ".encode() + statement.sql, statement.values(values or {}))
        fetch = f"FETCH {STREAMED_ROWS} FROM {name}".encode()
        while rows := self._run(fetch).fetchall():
            yield from rows
            if len(rows) < STREAMED_ROWS:
                break
        self._run(f"CLOSE {name}".encode())

    def _count(self, cursor: RawCursor[TupleRow]) -> None:
        if (cursor.statusmessage or "").startswith(_CHANGING):
            self._changes = cursor.rowcount
            self.total_changes += cursor.rowcount

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, also one that failed."""
        return self.session.info.transaction_status != TransactionStatus.IDLE

    def close(self) -> None:
        self.session.close()

    def cut(self) -> None:
        """End the connection beneath whatever waits for it, from another thread: what was asked fails."""
        with (
            contextlib.suppress(OSError, psycopg.Error),
            socket.socket(fileno=os.dup(self.session.fileno())) as beneath,
        ):
            beneath.shutdown(socket.SHUT_RDWR)

    def _run(self, sql: bytes, values: Sequence[Any] | None = None) -> RawCursor[TupleRow]:
        cursor = RawCursor(self.session)
        with self._awaited():
            cursor.execute(sql, values or None, binary=True, prepare=False)
        return cursor

    @contextlib.contextmanager
    def _awaited(self) -> Iterator[None]:
        """For the length of the block the server has something to answer."""
        self.answer_by = time.monotonic() + self._seconds
        try:
            yield
        finally:
            self.answer_by = math.inf


def address_of(url: str, password: str | None) -> str:
    """How to connect to a database by its URL, and so that a peer that is gone is noticed within seconds.

    Raises `StoreFailure` for a URL that libpq does not take.
    """
    try:
        given = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        raise StoreFailure(f"the URL of the PostgreSQL is not one: {reason(error)}") from None
    more = {name: value for name, value in _PATIENCE.items() if name not in given}
    if password is not None:
        more["password"] = password
    return psycopg.conninfo.make_conninfo(url, **more)


def open_connection(address: str, statement_seconds: float, idle_seconds: float | None = None) -> Connection:
    """Connect to a database, by a URL or by libpq's words. No statement takes longer than `statement_seconds`.

    A transaction in which nothing is asked for `idle_seconds` is given up by the server, with the session: whoever
    sleeps keeps nobody waiting. None: it may take its time. The caller begins and ends transactions. Raises
    `StoreFailure`.
    """
    settings = {
        "statement_timeout": round(statement_seconds * 1_000),
        "idle_in_transaction_session_timeout": round((idle_seconds or 0) * 1_000),
        "timezone": "UTC",
    }
    try:
        session = psycopg.connect(
            address,
            autocommit=True,
            prepare_threshold=PREPARED_AFTER,
            application_name="gatewayd",
            options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
        )
    except psycopg.Error as error:
        raise StoreFailure(f"the PostgreSQL cannot be reached: {reason(error)}") from error
    session.prepared_max = PREPARED_MAX
    adapt(session.adapters)
    return Connection(session, statement_seconds)
