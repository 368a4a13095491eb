"""Deadlines of our own for what is asked of a server: its own (statement_timeout) are not kept by one that stalls."""

import threading
import time
import weakref
from collections.abc import Callable
from typing import Final

from gatewayd.store.postgres.connections import Connection

LOOK_SECONDS: Final = 1.0
GRACE_SECONDS: Final = 5.0  # Chosen: behind the server's own deadline, whose refusal says more


class Deadlines:
    """A thread that ends connections whose server has not answered in time, whatever waits for it then fails."""

    def __init__(self) -> None:
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gatewayd-deadlines", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread; it does not block."""
        self._over.set()

    def kept(self, connect: Callable[[], Connection]) -> Connection:
        """A new connection that is looked after from now on. Raises as `connect` does."""
        connection = connect()
        with self._lock:
            self._connections.add(connection)
        return connection

    def look(self, now: float) -> None:
        """End what is overdue at `now`, of `time.monotonic`."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            if now > connection.answer_by + GRACE_SECONDS:
                connection.cut()

    def _run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self.look(time.monotonic())
