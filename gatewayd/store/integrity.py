"""Looking for damage in a database that is in use, a table at a time: each is a snapshot of its own."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import apsw

from gatewayd.store import connections
from gatewayd.store.budget import STEPS_PER_TICK
from gatewayd.store.failures import ENGINE_FAILURES

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


def _faults_of(connection: apsw.Connection, table: str) -> list[str]:
    found = [str(row[0]) for row in connection.execute(f'PRAGMA quick_check("{table}")').fetchall()]
    return [] if found == ["ok"] else found
