"""Bringing a database to the form that this program needs: for the daemon and `gatewayd migrate`, and for nobody else.

A command of a newer program that only lists something must not leave the running daemon with a database it does not
know. What is there is copied before it is changed.
"""

import contextlib
import secrets
from collections.abc import Iterable
from pathlib import Path

import apsw

from gatewayd.clock import Instant
from gatewayd.store.engine import Upgrade
from gatewayd.store.failures import ENGINE_FAILURES, MigrationError, StoreFailure, reason
from gatewayd.store.files.private_files import sync_directory
from gatewayd.store.migration_files import Migration
from gatewayd.store.sealer import Sealer
from gatewayd.store.sqlite import connections, schema
from gatewayd.store.sqlite.copies import copy_database
from gatewayd.store.sqlite.lost_database import lost, remains_in


def upgrade(connection: apsw.Connection, path: Path, now: Instant, sealer: Sealer) -> Upgrade | None:
    """Apply the migrations that wait for the database at `path`; None where none does. Beside no daemon.

    Raises `MigrationError`, or `StoreFailure` where there is no room for the copy, or the database is empty and was
    not; nothing is changed then.
    """
    _remove_unfinished(path)
    migrations = schema.packaged()
    applied = _applied_of(connection, path, migrations)
    if applied == len(migrations):
        return None
    copy = _copy(path, len(migrations)) if applied else None
    schema.migrate(connection, migrations, now, sealer)
    return Upgrade(applied, len(migrations), copy)


def require_current(connection: apsw.Connection, path: Path, now: Instant) -> None:
    """Make a new database at `path`; raises `MigrationError` for one that waits for migrations.

    Raises `StoreFailure` for one that is empty and was not.
    """
    migrations = schema.packaged()
    applied = _applied_of(connection, path, migrations)
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
        raise StoreFailure(f"the database cannot be read: {reason(error)}") from error
    finally:
        connection.close()


def copy_before(path: Path) -> Path | None:
    """The database as it was before it was last migrated; None: there is no copy."""
    return max(path.parent.glob(f"{path.name}.before-*"), default=None)


def _applied_of(connection: apsw.Connection, path: Path, migrations: tuple[Migration, ...]) -> int:
    """How many of the migrations it has. Raises `StoreFailure` where that is none, and once were some."""
    applied = _applied(connection, migrations)
    if applied == 0 and (remains := remains_in(path.parent)):
        applied = _applied(connection, migrations)  # another process may have made it, and then what is beside it
        if applied == 0:
            raise StoreFailure(lost(path.parent, remains))
    return applied


def _applied(connection: apsw.Connection, migrations: tuple[Migration, ...]) -> int:
    """How many of the migrations the database has."""
    try:
        return len(migrations) - len(schema.pending(connection, migrations))
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be read: {reason(error)}") from error


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
    _remove(set(path.parent.glob(f"{path.name}.before-*")) - {copy})
    return copy


def _remove_unfinished(path: Path) -> None:
    """Copies that a kill cut short, with what SQLite keeps beside them, and those older than the newest."""
    copies = sorted(path.parent.glob(f"{path.name}.before-*"))
    _remove([*path.parent.glob(f".{path.name}.before-*"), *copies[:-1]])


def _remove(copies: Iterable[Path]) -> None:
    for copy in copies:
        with contextlib.suppress(OSError):
            copy.unlink()
