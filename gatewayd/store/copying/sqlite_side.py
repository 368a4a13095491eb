"""SQLite's part of a copy: a source that nobody writes meanwhile, and a file that gets its name once it is whole."""

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import apsw

from gatewayd.clock import Instant
from gatewayd.store.copying.plan import CopiedTable, refuse_work
from gatewayd.store.copying.rows import encoded
from gatewayd.store.failures import ENGINE_FAILURES, MigrationError, StoreFailure, reason
from gatewayd.store.files.private_files import sync_directory
from gatewayd.store.sqlite import connections, schema

SHOWN: Final = 20  # Chosen: values that are named; who has more mends them with one statement
_CACHE_KIBIBYTES: Final = 65_536  # Chosen: of a new file, whose indexes are made at the end
_KEYS: Final = "SELECT name FROM pragma_table_info(:name) WHERE pk > 0 ORDER BY pk"
_INDEXES: Final = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
_LEASES_ANY_ORG: Final = "SELECT subject FROM leases WHERE until > :now ORDER BY subject LIMIT 5"


@contextlib.contextmanager
def source(path: Path, now: Instant) -> Iterator[apsw.Connection]:
    """A database for reading, which no other process writes until the end of the block.

    Raises `MigrationError`, or `StoreFailure`, where it is not of this program's form, or somebody works with it.
    """
    connection = connections.open_writer(path, 5)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.pragma("query_only", True)
        if schema.pending(connection, schema.packaged()):
            raise MigrationError("the database waits for migrations: `gatewayd migrate` brings it there")
        refuse_work([str(subject) for (subject,) in connection.execute(_LEASES_ANY_ORG, {"now": now})])
        yield connection
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be copied: {reason(error)}") from error
    finally:
        connection.close()  # and with it the transaction


def size_bytes(connection: apsw.Connection) -> int:
    """Of the whole database."""
    return int(connection.pragma("page_count")) * int(connection.pragma("page_size"))


def refuse_nul(connection: apsw.Connection, tables: Iterable[CopiedTable]) -> None:
    """Raises `StoreFailure` with the places of text with the character NUL, which PostgreSQL does not keep."""
    places: list[str] = []
    for table in tables:
        places += _places_of_nul(connection, table)
    if places:
        more = [f"and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
        raise StoreFailure(
            "PostgreSQL keeps no text with the character NUL (U+0000), and nothing was copied. It is in\n"
            + "\n".join([*places[:SHOWN], *more])
        )


def _places_of_nul(connection: apsw.Connection, table: CopiedTable) -> list[str]:
    texts = [column for column, kind in zip(table.columns, table.kinds, strict=True) if kind == "TEXT"]
    if not texts:
        return []
    found = [f"instr(CAST(\"{column}\" AS BLOB), x'00') > 0" for column in texts]
    keys = [str(name) for (name,) in connection.execute(_KEYS, {"name": table.name})] or ["rowid"]
    listed = ", ".join([*(f'"{key}"' for key in keys), *(f"coalesce({test}, 0)" for test in found)])
    places = []
    for row in connection.execute(f'SELECT {listed} FROM "{table.name}" WHERE {" OR ".join(found)}'):
        key = ", ".join(f"{name} {value!r}" for name, value in zip(keys, row, strict=False))
        places += [f"{table.name}, {key}: {column}" for column, has in zip(texts, row[len(keys) :], strict=True) if has]
    return places


def rows_of(connection: apsw.Connection, table: CopiedTable) -> Iterator[bytes]:
    """All rows, one by one. Raises `StoreFailure` for text that is not UTF-8."""
    try:
        for row in connection.execute(f'SELECT {table.listed} FROM "{table.name}"'):
            yield encoded(row)
    except UnicodeDecodeError as error:
        raise StoreFailure(f"a row of {table.name} has text that is not UTF-8: {error}") from None


def put_rows(connection: apsw.Connection, table: CopiedTable, rows: Iterable[tuple[object, ...]]) -> None:
    """Add rows. Raises `apsw.Error`."""
    places = ", ".join("?" * len(table.columns))
    connection.executemany(f'INSERT INTO "{table.name}" ({table.listed}) VALUES ({places})', rows)


@contextlib.contextmanager
def draft(path: Path, now: Instant) -> Iterator[apsw.Connection]:
    """A new database, which is at `path` once the block ends well; otherwise nothing of it stays.

    What a kill leaves is a file whose name begins with a dot, which nobody opens and the next copy removes. The caller
    has the directory's lock. Raises `StoreFailure` where a database is there, or the disk refuses.
    """
    if path.exists():
        raise StoreFailure(f"there is a database: {path}. Move it away, or name another directory")
    begin = f".{path.name}.copy-"
    for left in path.parent.glob(f"{begin}*"):
        left.unlink(missing_ok=True)
    made = path.with_name(f"{begin}{secrets.token_hex(8)}")
    try:
        connection = connections.open_writer(made, 5)
        try:
            _prepare(connection, made.parent, now)
            yield connection
        finally:
            connection.close()
        _keep(made, path)
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the copy cannot be written: {reason(error)}") from error
    except OSError as error:
        raise StoreFailure(f"the copy cannot be written: {error}") from error
    finally:
        for left in path.parent.glob(f"{made.name}*"):
            left.unlink(missing_ok=True)


def _prepare(connection: apsw.Connection, directory: Path, now: Instant) -> None:
    """What makes it last is done at its end, once; until then it has no name."""
    connection.pragma("journal_mode", "delete")  # one file, with no log beside it
    connection.pragma("synchronous", "off")
    connection.pragma("cache_size", -_CACHE_KIBIBYTES)
    connection.pragma("temp_store", "file")  # not in memory, which may be smaller than an index
    connection.pragma("temp_store_directory", str(directory))
    schema.migrate(connection, schema.packaged(), now)
    connection.pragma("foreign_keys", False)


def _keep(made: Path, path: Path) -> None:
    with made.open("rb+") as file:
        os.fsync(file.fileno())
    made.rename(path)
    sync_directory(path.parent)


def set_aside(connection: apsw.Connection) -> list[str]:
    """Drop the indexes, so that rows come quickly; answers how they are made anew."""
    indexes = connection.execute(_INDEXES).fetchall()
    for name, _ in indexes:
        connection.execute(f'DROP INDEX "{name}"')
    return [str(sql) for _, sql in indexes]


def refuse_broken(connection: apsw.Connection) -> None:
    """Raises `StoreFailure` where a row refers to one that is not there."""
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise StoreFailure(f"rows of {broken[0]} refer to rows of {broken[2]} that are not there")
