"""Hearing of what other daemons commit: LISTEN, with a look at the pulse behind it, for a notice can be lost."""

import contextlib
import threading
from collections.abc import Callable
from typing import Final

import psycopg

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.connections import Connection

CHANNEL: Final = "gatewayd_commits"
_LISTEN: Final = f"LISTEN {CHANNEL}".encode()
_VERSION: Final = b"SELECT version FROM pulse WHERE id = 1"


class Listener:
    """One session that waits, for one thread at a time. `connect` raises `StoreFailure`.

    `own` are the names by which this process notifies, which are no news to it.
    """

    def __init__(self, connect: Callable[[], Connection], own: frozenset[str]) -> None:
        self._connect = connect
        self._own = own
        self._connection: Connection | None = None
        self._version: bytes | None = None
        self._lock = threading.Lock()
        self._ended = False

    def wait(self, seconds: float) -> bool:
        """Whether others may have committed since the last call; waits so long for that.

        Without a notice the pulse is looked at, which our own commits move too: a false alarm costs an empty look. So
        does one after a session was lost. Raises `StoreFailure` where the server cannot be reached.
        """
        try:
            connection, is_new = self._listening()
            heard = {notice.payload for notice in connection.session.notifies(timeout=seconds, stop_after=1)}
            heard |= {notice.payload for notice in connection.session.notifies(timeout=0)}
            if is_new or heard - self._own:
                return True
            before, self._version = self._version, connection.run_plainly(_VERSION)
            return not heard and before != self._version
        except psycopg.Error as error:
            self.close()
            raise StoreFailure(f"the PostgreSQL cannot be listened to: {error}") from error

    def end(self) -> None:
        """From any thread, also beside one that waits or connects, which fails then: no session is left behind."""
        with self._lock:
            self._ended = True
        self.close()

    def close(self) -> None:
        """End the session; the next wait has another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()

    def _listening(self) -> tuple[Connection, bool]:
        if self._connection is not None:
            return self._connection, False
        connection = self._connect()
        with self._lock:
            ended = self._ended
            if not ended:
                self._connection = connection
        if ended:
            connection.close()
            raise StoreFailure("the store is closed")
        connection.run_plainly(_LISTEN)
        return connection, True
