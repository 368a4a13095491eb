"""Forward-only migrations: numbered SQL files, checksummed; all that a database lacks are one transaction."""

import importlib.resources
from functools import partial
from pathlib import Path

import apsw

from gatewayd.clock import Instant
from gatewayd.store.failures import ENGINE_FAILURES, MigrationError, StoreFailure, reason
from gatewayd.store.migration_files import Migration, numbered, unapplied
from gatewayd.store.sealer import Sealer
from gatewayd.store.sqlite import connections

_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


def packaged() -> tuple[Migration, ...]:
    """The migrations of this program, in order. Raises `MigrationError` for a gap."""
    return numbered(importlib.resources.files("gatewayd.store").joinpath("migrations"))


def pending(connection: apsw.Connection, migrations: tuple[Migration, ...]) -> tuple[Migration, ...]:
    """Those not applied yet. Raises `MigrationError` as `unapplied` does."""
    return unapplied(_applied(connection), migrations)


def _applied(connection: apsw.Connection) -> dict[int, str]:
    """The digest of each migration by its number. It only reads, so that it never waits for another process."""
    if not connection.table_exists(None, "migrations"):
        return {}
    rows = connection.execute("SELECT number, sha256 FROM migrations").fetchall()
    return {int(str(number)): str(digest) for number, digest in rows}


def migrate(
    connection: apsw.Connection, migrations: tuple[Migration, ...], now: Instant, sealer: Sealer | None = None
) -> int:
    """Apply what is pending, all of it or nothing; returns how many. Two processes may do this at once.

    A migration may call `seal(secret, context)`. `sealer` None: there is nothing to seal, as in a new database.

    Foreign keys are checked at the end of each migration instead of on the way, so that a table can be rebuilt
    (SQLite, "ALTER TABLE" §7). Raises `MigrationError`, or `StoreFailure` when the disk or another process is in the
    way.
    """
    connection.pragma("foreign_keys", False)
    connection.create_scalar_function("seal", partial(_seal, sealer), 2)
    try:
        return _apply_pending(connection, migrations, now)
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be migrated: {reason(error)}") from error
    finally:
        connection.create_scalar_function("seal", None)
        connection.pragma("foreign_keys", True)
        connection.pragma("shrink_memory")  # or the 5 MB of pages that all migrations touch stay in its cache


def _seal(sealer: Sealer | None, secret: str, context: str) -> bytes:
    if sealer is None:
        raise MigrationError("there are secrets to seal, and no instance key")
    return sealer.seal(secret.encode(), context)


def _apply_pending(connection: apsw.Connection, migrations: tuple[Migration, ...], now: Instant) -> int:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_CREATE_TABLE)
        waiting = pending(connection, migrations)
        for migration in waiting:
            _apply(connection, migration, now)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return len(waiting)


def _apply(connection: apsw.Connection, migration: Migration, now: Instant) -> None:
    connection.authorizer = _refuse_transactions
    try:
        connection.execute(migration.sql).fetchall()
    except ENGINE_FAILURES:
        raise
    except apsw.Error as error:
        raise MigrationError(f"migration {migration.name} failed: {error}") from error
    finally:
        connection.authorizer = None
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise MigrationError(f"migration {migration.name} leaves rows of {broken[0]} that refer to nothing")
    connection.execute(
        "INSERT INTO migrations (number, name, sha256, applied_at) VALUES (:number, :name, :sha256, :now)",
        {"number": migration.number, "name": migration.name, "sha256": migration.sha256, "now": now},
    )


def _refuse_transactions(action: int, *_: str | None) -> int:
    """A migration that could commit could leave half of itself behind."""
    transactional = action in (apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT)
    return apsw.SQLITE_DENY if transactional else apsw.SQLITE_OK


def schema(connection: apsw.Connection) -> str:
    """The schema as it stands, readable and in a stable order: what `schema.sql` must equal.

    The tables that a virtual one keeps its content in are its own affair.
    """
    rows = connection.execute(
        """
        SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
        AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
        ORDER BY tbl_name, type = 'table' DESC, type, name
        """
    ).fetchall()
    return "\n\n".join(f"{str(sql).strip()};" for (sql,) in rows) + "\n"


def render_schema_file() -> str:
    """The text of `schema.sql`: the schema after every migration of this program."""
    connection = connections.open_writer(connections.MEMORY, 0)
    try:
        migrate(connection, packaged(), Instant(0))
        return "-- Generated from the migrations by `make generate`: read it, change them.\n\n" + schema(connection)
    finally:
        connection.close()


def schema_file() -> Path:
    """Where `schema.sql` is."""
    return Path(str(importlib.resources.files("gatewayd.store").joinpath("schema.sql")))
