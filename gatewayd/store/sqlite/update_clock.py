"""The instants that changed rows bear as `updatedAt`: they never go back, so that `updatedSince` misses nothing.

All else takes the machine's clock as it is. The greatest of these instants is kept in the database, for other processes
and for those to come: while the clock is right, a second ahead, so that a busy writer writes it once a second; while
the clock is behind, exactly. Nothing is read or written where a transaction changes no row that is listed.
"""

from typing import Final

import apsw

from gatewayd.clock import SECOND, Instant

RESERVED: Final = SECOND  # Chosen: how far ahead of the clock the rows of a second process may be
_SELECT = "SELECT latest FROM update_clock WHERE id = 1"
_UPDATE = "UPDATE update_clock SET latest = :latest WHERE id = 1"
_LOWER = "UPDATE update_clock SET latest = :latest WHERE id = 1 AND latest = :reserved"


class UpdateClock:
    """The instants of one writing connection. For its thread alone, inside of its transactions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._last = self._now = Instant(0)
        self._reserved = 0  # by this connection
        self._seen: int | None = None  # the state of the database that is known; None: look at it

    def begin(self) -> None:
        """A transaction has begun: find out whether another process has committed since the last one."""
        if self._seen != self._connection.data_version():  # no statement, and less than a microsecond
            self._seen = None

    def stamp(self, now: Instant) -> Instant:
        """The instant for a row that changes at `now`: that, or where a commit before it left a later one, the next."""
        if self._seen is None:
            self._look()
        self._now = now
        self._last = now if now >= self._last else Instant(self._last + 1)
        return self._last

    def keep(self) -> None:
        """Write the greatest instant down, if what is written does not cover it. Before the commit."""
        if self._last > self._reserved:
            self._reserved = max(self._last, self._now + RESERVED)
            self._connection.execute(_UPDATE, {"latest": self._reserved})

    def committed(self) -> None:
        """What this connection committed itself is known."""
        if self._seen is not None:
            self._seen = self._connection.data_version()

    def lost(self) -> None:
        """The transaction was given up: nothing is known."""
        self._seen, self._reserved = None, 0

    def close(self) -> None:
        """Give back what was reserved and not used. Raises `apsw.Error`."""
        if self._reserved > self._last:
            self._connection.execute(_LOWER, {"latest": self._last, "reserved": self._reserved})

    def _look(self) -> None:
        found = self._connection.execute(_SELECT).get
        self._last, self._reserved = Instant(max(self._last, int(str(found)))), 0
        self._seen = self._connection.data_version()
