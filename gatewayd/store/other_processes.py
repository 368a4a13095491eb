"""Noticing that another process has written. SQLite tells nobody, and counts it up where one may look."""

from collections.abc import Callable
from pathlib import Path

import apsw
import trio

from gatewayd.store import connections
from gatewayd.store.failures import ENGINE_FAILURES

POLL_SECONDS = 0.25  # how soon another process's commit is noticed


async def watch(database: Path, on_commit: Callable[[], None]) -> None:
    """Call `on_commit` soon after each commit, also of this process, and once at the beginning. Runs until cancelled.

    Raises `StoreFailure` where the database cannot be opened.
    """
    connection = connections.open_reader(database, 0)
    seen = None  # so that the first look tells: another process may have written before this began
    try:
        while True:
            await trio.sleep(POLL_SECONDS)
            current = _data_version(connection)
            if current is None or current != seen:  # also by our own writer: a false alarm costs one empty look
                on_commit()
            seen = current
    finally:
        connection.close()


def _data_version(connection: apsw.Connection) -> object:
    """None where it cannot be read: the tasks that this wakes find out why."""
    try:
        return connection.pragma("data_version")
    except ENGINE_FAILURES:
        return None
