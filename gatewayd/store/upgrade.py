"""Bringing a database to the form that this program needs: for the daemon and `gatewayd migrate`, and for nobody else.

A command of a newer program that only lists something must not leave the running daemon with a database it does not
know. What is there is copied before it is changed.
"""

import contextlib
import secrets
from pathlib import Path
from typing import NamedTuple

import apsw

from gatewayd.clock import Instant
from gatewayd.store import connections, schema
from gatewayd.store.copies import copy_database
from gatewayd.store.failures import ENGINE_FAILURES, MigrationError, StoreFailure
from gatewayd.store.private_files import sync_directory


class Upgrade(NamedTuple):
    """The last migration before and after; `copy` is the database as it was before, None where it is new."""

    before: int
    after: int
    copy: Path | None


def upgrade(connection: apsw.Connection, path: Path, now: Instant) -> Upgrade | None:
    """Apply the migrations that wait for the database at `path`; None where none does.

    Raises `MigrationError`, or `StoreFailure` where there is no room for the copy; nothing is changed then.
    """
    migrations = schema.packaged()
    applied = _applied(connection, migrations)
    if applied == len(migrations):
        return None
    copy = _copy(path, len(migrations)) if applied else None
    schema.migrate(connection, migrations, now)
    return Upgrade(applied, len(migrations), copy)


def require_current(connection: apsw.Connection, now: Instant) -> None:
    """Make a new database; raises `MigrationError` for one that waits for migrations."""
    migrations = schema.packaged()
    applied = _applied(connection, migrations)
    if applied == 0:
        schema.migrate(connection, migrations, now)
    elif applied < len(migrations):
        raise MigrationError(
            f"the database is at migration {applied} and this program needs {len(migrations)}:"
            " `gatewayd migrate` brings it there, and so does the daemon when it starts"
        )


def is_current(database: Path) -> bool:
    """Whether no migration waits for it. Raises `MigrationError`, or `StoreFailure` where it cannot be read."""
    connection = connections.open_reader(database, 5)
    try:
        return not schema.pending(connection, schema.packaged())
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be read: {error}") from error
    finally:
        connection.close()


def _applied(connection: apsw.Connection, migrations: tuple[schema.Migration, ...]) -> int:
    """How many of the migrations the database has."""
    try:
        return len(migrations) - len(schema.pending(connection, migrations))
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be read: {error}") from error


def _copy(path: Path, number: int) -> Path:
    """Copy the database beside itself, for the migration `number`; a copy that an earlier one left is removed."""
    copy = path.with_name(f"{path.name}.before-{number:04}")
    draft = path.with_name(f".{copy.name}.{secrets.token_hex(8)}")
    try:
        try:
            copy_database(path, draft, path)
            draft.replace(copy)
            sync_directory(path.parent)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StoreFailure(f"the database cannot be copied before it is migrated: {error}") from error
    for older in set(path.parent.glob(f"{path.name}.before-*")) - {copy}:
        with contextlib.suppress(OSError):
            older.unlink()
    return copy
