"""The loop's read transaction, held open from one read to the next for as long as nothing was committed.

To begin and end a transaction costs more than a point read does. So the snapshot stays, and before each read one small
file, the pulse, tells whether it is still the newest: every process that commits writes eight fresh bytes there after
its commit and before anybody is told of it. What was acknowledged is therefore seen by the next read.
"""

import contextlib
import os
from pathlib import Path

import apsw

PULSE_NAME = "gatewayd.pulse"
_PULSE_BYTES = 8


class Pulse:
    """Eight bytes that change with every commit. Where the file cannot be used, `read` returns None."""

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):  # a full disk: snapshots are then not held
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

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
        """Make the snapshot the newest one; returns its `data_version`, which changes when the database has changed.

        Raises `apsw.Error`.
        """
        seen = self._pulse.read()  # before the transaction begins: a commit in between costs one more look
        if self.is_open:
            if seen is not None and seen == self._seen:
                return self._version
            self.release()
        self._connection.execute("BEGIN")
        self.is_open = True
        # This statement takes the snapshot.
        self._version = self._connection.execute("PRAGMA data_version").get
        self._seen = seen
        return self._version

    def release(self) -> None:
        """End the snapshot, so that the log can be written over from its beginning."""
        if self.is_open:
            self.is_open = False
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
