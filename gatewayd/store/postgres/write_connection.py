"""PostgreSQL's connection that writes: a beat of the pulse, a savepoint for each job, one COMMIT.

A transaction begins with the beat of the pulse, one row that counts them. To have it is to be the one that writes, of
all daemons; its instant is what rows that change bear as `updatedAt`, and is later than that of every one before it,
whatever a daemon's clock says: who follows a list by instant and id would miss an equal one whose id is less. A version
that others have counted on tells that what is remembered may be outdated.

Nothing is tried again but a beat that found the connection gone: no job has run then. A COMMIT whose answer is lost is
asked for by its version, which each writer keeps in a row of its own. One that was killed leaves its row, which the
others sweep when nobody can be asking for it any more.
"""

import contextlib
import math
import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

from gatewayd.clock import DAY, Instant
from gatewayd.store.engine import Begun
from gatewayd.store.failures import Doubtful, StoreFailure
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.failures import is_of_the_engine, reason

DOUBT_SECONDS: Final = 30.0
"""Chosen: how long it is asked what became of a COMMIT: longer than a standby takes to be the primary."""
_ASK_AGAIN_SECONDS: Final = 0.2
_WAITED: Final = "CAST(1000000 * extract(epoch FROM clock_timestamp() - statement_timestamp()) AS bigint)"
_BEAT: Final = f"""
WITH beat AS (
    UPDATE pulse SET version = version + 1, now = greatest(now + 1, :clock + {_WAITED}) WHERE id = 1
    RETURNING version, now
)
INSERT INTO pulse_writers (writer, version, beat_at) SELECT :writer, version, now FROM beat
ON CONFLICT (writer) DO UPDATE SET version = excluded.version, beat_at = excluded.beat_at
RETURNING version, beat_at, :clock + {_WAITED}, pg_notify('gatewayd_commits', writer)::text
"""
"""The clock is asked before the statement is sent, and the wait for others in it is added to what it said."""
_SWEEP_SECONDS: Final = 86_400.0
_OLD: Final = DAY
"""Chosen: of a row whose writer was killed, or has written nothing for so long and makes another."""
_BEHIND: Final = 200_000
"""Chosen: commits that have to lie behind it too, since a clock that leaps makes a day of nothing. While a COMMIT is
asked for, about a minute, there are not so many."""
_SWEEP: Final = """
DELETE FROM pulse_writers USING pulse
WHERE pulse.id = 1 AND pulse_writers.beat_at < pulse.now - :old AND pulse_writers.version < pulse.version - :behind
"""
_WAIT_FOR_BEAT: Final = "SELECT version FROM pulse WHERE id = 1 FOR UPDATE"
_SELECT_COMMITTED: Final = "SELECT version FROM pulse_writers WHERE writer = :writer"
_TOUCH_WRITER: Final = "UPDATE pulse_writers SET version = version WHERE writer = :writer"
_FORGET_WRITER: Final = "DELETE FROM pulse_writers WHERE writer = :writer"


class Beat(NamedTuple):
    """The version and the instant of a transaction."""

    version: int
    now: Instant

    def stamp(self, now: Instant) -> Instant:
        """What a row that changes bears as `updatedAt`: one instant for all of a transaction."""
        return self.now


class PostgresWrites:
    """See `WriteConnection`.

    `connect` opens a session with the server that takes writes, and raises `StoreFailure`. `written` is told
    the version of each commit that changed something, and `refused` what a write failed with.
    """

    errors: Final = (psycopg.Error, StoreFailure)

    def __init__(
        self,
        connect: Callable[[], Connection],
        written: Callable[[int], None] = lambda version: None,
        refused: Callable[[BaseException], None] = lambda error: None,
    ) -> None:
        self._connect = connect
        self._written = written
        self.refused = refused
        self.writer = secrets.token_hex(8)
        """Whom others hear of with a commit."""
        self._connection: Connection | None = None
        self._unchanged = 0
        self._has_committed = False
        self._sweep_at = -math.inf
        self.stamps = Beat(-1, Instant(0))
        self.version = -1
        """Of the last transaction of this writer, or of others that it saw."""

    @property
    def statements(self) -> Connection:
        """Raises `StoreFailure` where there is none."""
        if self._connection is None:
            raise StoreFailure("the connection was lost")
        return self._connection

    @property
    def is_open(self) -> bool:
        connection = self._connection
        return connection is not None and not connection.session.closed and connection.in_transaction

    def is_failure(self, error: BaseException) -> bool:
        return is_of_the_engine(error)

    def begin(self, clock: Callable[[], Instant]) -> Begun:
        known = self._connection
        try:
            return self._beat(clock())
        except psycopg.Error:
            gone = known is not None and known.session.closed
            self._disconnect()
            if not gone:
                raise
        return self._beat(clock())

    def mark(self) -> None:
        self.statements.execute("SAVEPOINT operation")

    def release(self) -> None:
        self.statements.execute("RELEASE operation")

    def undo(self) -> None:
        self.statements.execute("ROLLBACK TO operation")
        self.statements.execute("RELEASE operation")

    def roll_back(self) -> None:
        """Where nothing was changed not even the beat has to last."""
        self.statements.execute("ROLLBACK")
        self.version = self.stamps.version - 1

    def commit(self) -> None:
        self._has_committed = False
        connection = self.statements
        if not connection.in_transaction:
            return
        if connection.total_changes == self._unchanged:
            self.roll_back()
            return
        if connection.session.info.transaction_status != TransactionStatus.INTRANS:
            raise StoreFailure("the transaction was given up")  # its COMMIT would answer, and roll back
        try:
            connection.execute("COMMIT")
        except psycopg.Error as error:
            if not connection.session.closed:
                raise
            self._disconnect()
            if not self._was_committed():
                raise StoreFailure(f"the connection was lost: {reason(error)}") from error
        self._has_committed = True

    def settle(self) -> bool:
        if self._has_committed:
            self._written(self.stamps.version)
        return self._has_committed

    def abandon(self) -> None:
        """The next transaction has a session of its own."""
        self._disconnect()

    def close(self) -> None:
        """Leave nothing of this writer behind."""
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                self._connection.execute(_FORGET_WRITER, {"writer": self.writer})
        self._disconnect()

    def _beat(self, now: Instant) -> Begun:
        """Wait for the pulse."""
        connection = self._connection = self._connection or self._connect()
        if time.monotonic() >= self._sweep_at:
            connection.execute(_SWEEP, {"old": _OLD, "behind": _BEHIND})
            self._sweep_at = time.monotonic() + _SWEEP_SECONDS
        connection.execute("BEGIN")
        row = connection.execute(_BEAT, {"clock": now, "writer": self.writer}).fetchone()
        if row is None:
            raise StoreFailure("the database has no pulse")
        self.stamps = Beat(row[0], Instant(row[1]))
        self._unchanged = connection.total_changes
        before, self.version = self.version, self.stamps.version
        return Begun(min(Instant(row[2]), self.stamps.now), self.version != before + 1)

    def _was_committed(self) -> bool:
        """Ask what became of a COMMIT, once the session that was lost has ended. Raises `Doubtful`."""
        deadline = time.monotonic() + DOUBT_SECONDS
        while True:
            try:
                return self._committed_version() == self.stamps.version
            except (psycopg.Error, StoreFailure) as error:
                self._disconnect()
                if time.monotonic() >= deadline:
                    raise Doubtful(f"whether it was stored is not known: {error}") from error
                time.sleep(_ASK_AGAIN_SECONDS)

    def _committed_version(self) -> int | None:
        """As of a commit of our own: a primary that was started anew shows what its standby may not have yet."""
        connection = self._connection = self._connect()
        connection.execute("BEGIN")
        connection.execute(_WAIT_FOR_BEAT)
        version: int | None = connection.execute(_SELECT_COMMITTED, {"writer": self.writer}).get
        connection.execute(_TOUCH_WRITER, {"writer": self.writer})
        connection.execute("COMMIT")
        return version

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()
