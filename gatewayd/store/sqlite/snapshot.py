"""The loop's read transaction, held open from one read to the next for as long as nothing was committed.

To begin and end a transaction costs more than a point read does. So the snapshot stays, and before each read one small
file, the pulse, tells whether it is still the newest: every process that commits writes eight fresh bytes there after
its commit and before anybody is told of it. What was acknowledged is therefore seen by the next read.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

import apsw

from gatewayd.store.files.private_files import open_private

PULSE_NAME = "gatewayd.pulse"
_PULSE_BYTES = 8


class Pulse:
    """Eight bytes that change with every commit. Where the file cannot be used, `read` returns None."""

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):  # a full disk: snapshots are then not held
            self._descriptor = open_private(path, os.O_RDWR, path.parent)

    def beat(self) -> None:
        """Tell every process that something was committed."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # the poll of `watch_other_processes` notices it a moment later
                os.pwrite(self._descriptor, os.urandom(_PULSE_BYTES), 0)

    def read(self) -> bytes | None:
        """The bytes as they are now. None: it is unknown whether anything was committed."""
        if self._descriptor is None:
            return None
        try:
            return os.pread(self._descriptor, _PULSE_BYTES, 0)
        except OSError:
            return None

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Snapshot:
    """The read transaction of one connection. Belongs to the thread of the event loop."""

    def __init__(self, connection: apsw.Connection, pulse: Pulse) -> None:
        self._connection = connection
        self._pulse = pulse
        self._seen: bytes | None = None
        self._version = -1
        self.is_open = False

    def take(self) -> int:
        """Make sure that the next statement sees what was acknowledged so far.

        Returns the `data_version` of it, which changes when the database has changed. Where nothing was committed since
        the last time, no transaction begins before there is a statement. Raises `apsw.Error`.
        """
        seen = self._pulse.read()  # before the transaction begins: a commit in between costs one more look
        if seen is None or seen != self._seen:
            self.forget()
            self._begin()
            # This statement takes the snapshot.
            self._version = self._connection.execute("PRAGMA data_version").get
            self._seen = seen
        return self._version

    def execute(self, sql: str, values: dict[str, Any]) -> apsw.Cursor:
        """Run a statement in the snapshot. Raises `apsw.Error`."""
        if not self.is_open:
            self._begin()
        return self._connection.execute(sql, values)

    def release(self) -> None:
        """End the transaction, so that the log can be written over from its beginning."""
        if self.is_open:
            self.is_open = False
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def forget(self) -> None:
        """The same where the pulse may not tell of every commit: the next read looks for itself."""
        self._seen = None
        self.release()

    def _begin(self) -> None:
        self._connection.execute("BEGIN")
        self.is_open = True
