"""Forward-only migrations of a PostgreSQL: a baseline, then a pair of each migration that SQLite has since.

The baseline bears the number of the last migration of SQLite that is in it. All that a database lacks is one
transaction, and a server's lock lets no second process do it at once.
"""

import importlib.resources
from typing import Final

import psycopg

from gatewayd.clock import Instant
from gatewayd.store.failures import MigrationError, StoreFailure
from gatewayd.store.migration_files import Migration, numbered, unapplied
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.failures import is_of_the_engine, reason

_LOCK: Final = 0x67617465  # Chosen: "gate"; of this program's locks that of the migrations
_CREATE_TABLE: Final = """
CREATE TABLE IF NOT EXISTS migrations (
    number bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    applied_at bigint NOT NULL
)
"""


def packaged() -> tuple[Migration, ...]:
    """The migrations of this program, in order, the baseline first. Raises `MigrationError` for a gap."""
    return numbered(importlib.resources.files("gatewayd.store.postgres").joinpath("migrations"), first=None)


def pending(connection: Connection, migrations: tuple[Migration, ...]) -> tuple[Migration, ...]:
    """Those not applied yet. It only reads. Raises `MigrationError` as `unapplied` does."""
    return unapplied(_applied(connection), migrations)


def _applied(connection: Connection) -> dict[int, str]:
    """The digest of each migration by its number."""
    if not connection.execute("SELECT to_regclass('migrations') IS NOT NULL").get:
        return {}
    return dict(connection.execute("SELECT number, sha256 FROM migrations").fetchall())


def migrate(connection: Connection, migrations: tuple[Migration, ...], now: Instant) -> int:
    """Apply what is pending, all of it or nothing; returns how many. Two processes may do this at once.

    `connection` is in no transaction. Raises `MigrationError`, or `StoreFailure` when the server is in the way.
    """
    try:
        with connection.session.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(:lock)", {"lock": _LOCK})
            connection.execute(_CREATE_TABLE)
            waiting = pending(connection, migrations)
            for migration in waiting:
                _apply(connection, migration, now)
        return len(waiting)
    except psycopg.Error as error:
        if is_of_the_engine(error):
            raise StoreFailure(f"the database cannot be migrated: {reason(error)}") from error
        raise


def _apply(connection: Connection, migration: Migration, now: Instant) -> None:
    try:
        connection.session.execute(migration.sql.encode())
    except psycopg.Error as error:
        if is_of_the_engine(error):
            raise
        raise MigrationError(f"migration {migration.name} failed: {reason(error)}") from error
    connection.execute(
        "INSERT INTO migrations (number, name, sha256, applied_at) VALUES (:number, :name, :sha256, :now)",
        {"number": migration.number, "name": migration.name, "sha256": migration.sha256, "now": now},
    )
