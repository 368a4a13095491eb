"""PostgreSQL's part of a copy: a source that nobody writes meanwhile, and a database that is filled at once or not."""

import contextlib
from collections.abc import Iterator
from typing import Final

import psycopg

from gatewayd.clock import Instant
from gatewayd.store.failures import Doubtful, MigrationError, StoreFailure
from gatewayd.store.postgres import schema, whole_tables
from gatewayd.store.postgres.connections import Connection, open_connection
from gatewayd.store.postgres.failures import reason

_NO_DEADLINE: Final = 0.0  # a large table is one statement
_LEASES: Final = "SELECT subject FROM leases WHERE until > :now ORDER BY subject LIMIT 5"
_CLOCK: Final = """
SELECT greatest(u.latest, p.now), u.accepted_latest, u.accepted_at FROM update_clock u JOIN pulse p ON p.id = u.id
"""
_BEAT: Final = "UPDATE pulse SET now = :latest, version = version + 1 WHERE id = 1"
_SET_CLOCK: Final = """
UPDATE update_clock SET latest = :latest, accepted_latest = :accepted_latest, accepted_at = :accepted_at WHERE id = 1
"""


@contextlib.contextmanager
def connected(address: str) -> Iterator[Connection]:
    """A connection until the end of the block; what its server refuses is a `StoreFailure`."""
    connection = open_connection(address, _NO_DEADLINE)
    try:
        yield connection
    except psycopg.Error as error:
        raise StoreFailure(f"the PostgreSQL refused it, and nothing was copied: {reason(error)}") from error
    finally:
        connection.close()


@contextlib.contextmanager
def reading(connection: Connection) -> Iterator[None]:
    """One state, which nobody changes until the end of the block.

    The lock comes before the first look, which is what decides on the state. It fails where a daemon is writing, and a
    daemon that begins to write waits for it. Raises `MigrationError` or `StoreFailure`.
    """
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    try:
        _lock_against_writes(connection)
        whole_tables.refuse_other_sessions(connection)
        if schema.pending(connection, schema.packaged()):
            raise MigrationError("the PostgreSQL waits for migrations: `gatewayd migrate` brings it there")
        yield
    finally:
        with contextlib.suppress(psycopg.Error):
            connection.execute("ROLLBACK")


def _lock_against_writes(connection: Connection) -> None:
    try:
        whole_tables.run(connection, "LOCK TABLE pulse IN SHARE MODE NOWAIT")
    except psycopg.errors.LockNotAvailable:
        raise StoreFailure("a daemon writes to the PostgreSQL: stop it first") from None
    except psycopg.errors.UndefinedTable:
        raise StoreFailure("the PostgreSQL has no store in it") from None


@contextlib.contextmanager
def filling(connection: Connection, now: Instant, apart: frozenset[str]) -> Iterator[None]:
    """One transaction, in which the database has all tables, and rows in those `apart` alone.

    Nothing of it stays where it is cut short. Raises `StoreFailure` where there are rows, or somebody works with it,
    and `Doubtful` where the answer to the COMMIT was lost.
    """
    is_filled = False
    try:
        with connection.session.transaction():
            whole_tables.require_text(connection)
            whole_tables.refuse_other_sessions(connection)
            schema.migrate(connection, schema.packaged(), now)
            connection.execute("LOCK TABLE pulse")
            found = [table for table in whole_tables.filled(connection) if table not in apart]
            if found:
                raise StoreFailure(f"the PostgreSQL is not empty: {', '.join(found)} have rows. Name a new database")
            yield
            is_filled = True
    except psycopg.Error as error:
        if not is_filled or not connection.session.closed:
            raise
        told = f"the connection was lost at the end ({reason(error)}), and whether the copy is there is not known"
        raise Doubtful(f"{told}: do it again, and where it is, the PostgreSQL is not empty") from error


def leased(connection: Connection, now: Instant) -> list[str]:
    """Some of what processes work on."""
    return [subject for (subject,) in connection.execute(_LEASES, {"now": now}).fetchall()]


def read_clock(connection: Connection) -> tuple[int, int, int]:
    """The greatest instant that was given; and what it was when an operator last called the clock right, and when."""
    latest, accepted_latest, accepted_at = connection.execute(_CLOCK).fetchall()[0]
    return latest, accepted_latest, accepted_at


def set_clock(connection: Connection, latest: int, accepted_latest: int, accepted_at: int) -> None:
    """Let a copy go on where another database stood."""
    connection.execute(_BEAT, {"latest": latest})
    values = {"latest": latest, "accepted_latest": accepted_latest, "accepted_at": accepted_at}
    connection.execute(_SET_CLOCK, values)
