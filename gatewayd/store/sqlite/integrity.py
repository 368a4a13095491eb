"""Looking for damage: in a database that is in use a table at a time, each a snapshot of its own, else all at once."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import apsw

from gatewayd.store.failures import ENGINE_FAILURES, reason
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.budget import STEPS_PER_TICK

_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"


def find_damage(database: Path, is_over: Callable[[], bool]) -> list[str] | None:
    """What `quick_check` finds wrong; empty: nothing. None where `is_over` said to stop. Blocks: call it on a thread.

    Raises `StoreFailure` where the database cannot be opened.
    """
    connection = connections.open_reader(database, 5)
    connection.set_progress_handler(is_over, STEPS_PER_TICK)
    try:
        tables = [str(row[0]) for row in connection.execute(_TABLES).fetchall()]
        return [fault for table in tables for fault in _faults_of(connection, table)]
    except apsw.InterruptError:
        return None
    except ENGINE_FAILURES as error:
        return [str(error)]
    finally:
        with contextlib.suppress(*ENGINE_FAILURES):
            connection.close()


def find_faults(database: Path, *, is_copy: bool = False) -> list[str]:
    """What SQLite finds wrong with a whole database, and rows that refer to nothing; empty: nothing. It takes long.

    `is_copy`: nobody changes it, and nothing is made beside it. Raises `StoreFailure` where it cannot be opened.
    """
    connection = connections.open_copy(database) if is_copy else connections.open_reader(database, 5)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        found = [] if found == ["ok"] else found
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            found.append(f"row {row} of {table} refers to a row of {parent} that is not there")
    except ENGINE_FAILURES as error:
        return [f"the database cannot be read: {reason(error)}"]
    finally:
        connection.close()
    return found


def _faults_of(connection: apsw.Connection, table: str) -> list[str]:
    found = [str(row[0]) for row in connection.execute(f'PRAGMA quick_check("{table}")').fetchall()]
    return [] if found == ["ok"] else found
