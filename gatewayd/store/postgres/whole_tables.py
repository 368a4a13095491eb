"""Whole tables of a PostgreSQL on their way in and out, by COPY in its binary form (PostgreSQL, "COPY")."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.connections import Connection

_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # no flags, no extension
_TRAILER: Final = b"\xff\xff"
_PIECE_BYTES: Final = 262_144  # Chosen: what is sent at once

_COLUMNS: Final = """
SELECT relname, attname, format_type(atttypid, atttypmod), relkind = 'r'
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'v')
    AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY relname, attnum
"""
_REFERENCES: Final = """
SELECT relname, conname, pg_get_constraintdef(pg_constraint.oid)
FROM pg_constraint JOIN pg_class ON conrelid = pg_class.oid
WHERE relnamespace = CAST(current_schema() AS regnamespace) AND contype = 'f' ORDER BY relname, conname
"""
_INDEXES: Final = """
SELECT t.relname, i.relname, pg_get_indexdef(indexrelid)
FROM pg_index JOIN pg_class t ON t.oid = indrelid JOIN pg_class i ON i.oid = indexrelid
WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND t.relkind = 'r'
    AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
ORDER BY t.relname, i.relname
"""
_COUNTED: Final = """
SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND attidentity <> '' AND NOT attisdropped
ORDER BY relname
"""
_COUNT_ON: Final = """
SELECT setval(
    CAST(pg_get_serial_sequence(CAST(:table AS text), CAST(:column AS text)) AS regclass), CAST(:greatest AS bigint)
)
"""
_SESSIONS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'gatewayd' AND pid <> pg_backend_pid()
"""
_LOOK_ANEW: Final = "SELECT CAST(pg_stat_clear_snapshot() AS text)"  # or a transaction sees the same all the time
_ENDING_SECONDS: Final = 1.0  # Chosen: a session that was closed is gone in some milliseconds
_LOOK_AGAIN_SECONDS: Final = 0.02
_SIZE: Final = "SELECT pg_database_size(current_database())"


def columns_of(connection: Connection) -> dict[str, dict[str, str]]:
    """The columns of each table and view, and their types, but for what is computed."""
    found: dict[str, dict[str, str]] = {}
    for table, column, kind, _ in connection.execute(_COLUMNS):
        found.setdefault(table, {})[column] = kind
    return found


def filled(connection: Connection) -> list[str]:
    """The tables that have rows."""
    tables = sorted({table for table, _, _, is_table in connection.execute(_COLUMNS).fetchall() if is_table})
    return [table for table in tables if connection.execute(f'SELECT EXISTS (SELECT 1 FROM "{table}")').get]


def size_bytes(connection: Connection) -> int:
    """Of the whole database, as it lies on the server's disk."""
    return int(connection.execute(_SIZE).get)


def refuse_other_sessions(connection: Connection) -> None:
    """Raises `StoreFailure` where another process of this program is connected to the database.

    A server sees a moment later that a session has ended.
    """
    deadline = time.monotonic() + _ENDING_SECONDS
    while number := connection.execute(_SESSIONS).get:
        if time.monotonic() >= deadline:
            raise StoreFailure(f"gatewayd is connected to the PostgreSQL ({number} sessions): stop its daemons first")
        time.sleep(_LOOK_AGAIN_SECONDS)
        connection.execute(_LOOK_ANEW)


def require_text(connection: Connection) -> None:
    """Raises `StoreFailure` for a database whose text is not UTF-8."""
    encoding = connection.execute("SHOW server_encoding").get
    if encoding != "UTF8":
        raise StoreFailure(f"the PostgreSQL keeps text as {encoding}: make a database WITH ENCODING 'UTF8'")


def copy_in(connection: Connection, table: str, columns: str, rows: Iterable[bytes]) -> None:
    """Add rows. Raises `psycopg.Error`."""
    with connection.session.cursor().copy(f'COPY "{table}" ({columns}) FROM STDIN (FORMAT BINARY)'.encode()) as copy:
        piece = bytearray(_HEADER)
        for row in rows:
            piece += row
            if len(piece) >= _PIECE_BYTES:
                copy.write(bytes(piece))
                piece.clear()
        copy.write(bytes(piece) + _TRAILER)


def copy_out(connection: Connection, table: str, columns: str) -> Iterator[bytes]:
    """The rows, each in a message of its own (PostgreSQL, "Message Flow", COPY Operations). Raises `psycopg.Error`."""
    with connection.session.cursor().copy(f'COPY "{table}" ({columns}) TO STDOUT (FORMAT BINARY)'.encode()) as copy:
        first = True
        for message in copy:
            row = bytes(message)
            if first:
                if not row.startswith(_HEADER):
                    raise StoreFailure("the server sends rows in a form that is not known")
                row, first = row[len(_HEADER) :], False
            if row and row != _TRAILER:
                yield row


def set_aside(connection: Connection, tables: Iterable[str]) -> list[str]:
    """Drop indexes and references of tables; answers how they are made anew. Rows then come in any order, and quickly.

    Keys stay. What the rows break is found when the statements are run.
    """
    names = frozenset(tables)
    references = [row for row in connection.execute(_REFERENCES).fetchall() if row[0] in names]
    indexes = [row for row in connection.execute(_INDEXES).fetchall() if row[0] in names]
    for table, name, _ in references:
        run(connection, f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"')
    for _, name, _ in indexes:
        run(connection, f'DROP INDEX "{name}"')
    anew = [definition for _, _, definition in indexes]
    return [*anew, *(f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" {wording}' for table, name, wording in references)]


def count_on(connection: Connection) -> None:
    """Let numbers that the database gives itself go on behind the greatest that is there."""
    for table, column in connection.execute(_COUNTED).fetchall():
        greatest = connection.execute(f'SELECT max("{column}") FROM "{table}"').get
        if greatest is not None and greatest > 0:
            connection.execute(_COUNT_ON, {"table": f'"{table}"', "column": column, "greatest": greatest})


def run(connection: Connection, sql: str) -> None:
    """Run a statement of the schema, which has no values. Raises `psycopg.Error`."""
    connection.session.execute(sql.encode(), prepare=False)
