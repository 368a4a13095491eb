"""Batches of jobs, each batch one transaction of a PostgreSQL: what waits is committed together.

A transaction begins with the beat of the pulse, one row that counts them. To have it is to be the one that writes, of
all daemons; its instant is what rows that change bear as `updatedAt`, and never goes back whatever a daemon's clock
says; a version that others have counted on tells that what is remembered may be outdated.

Nothing is tried again but a beat that found the connection gone: no job has run then. A COMMIT whose answer is lost is
asked for by its version, which each writer keeps in a row of its own.
"""

import contextlib
import functools
import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

from gatewayd.clock import Clock, Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.failures import is_of_the_engine, reason
from gatewayd.store.reactions import Reacting, Reactions, no_reactions
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Bindings, WriteTx
from gatewayd.store.waiting_jobs import Job, WriterTime

DOUBT_SECONDS: Final = 30.0
"""Chosen: how long it is asked what became of a COMMIT: longer than a standby takes to be the primary."""
_ASK_AGAIN_SECONDS: Final = 0.2
_BEAT: Final = """
WITH beat AS (
    UPDATE pulse SET version = version + 1, now = greatest(now, :clock) WHERE id = 1 RETURNING version, now
)
INSERT INTO pulse_writers (writer, version, beat_at) SELECT :writer, version, now FROM beat
ON CONFLICT (writer) DO UPDATE SET version = excluded.version, beat_at = excluded.beat_at
RETURNING version, beat_at
"""
_WAIT_FOR_BEAT: Final = "SELECT version FROM pulse WHERE id = 1 FOR UPDATE"
_SELECT_COMMITTED: Final = "SELECT version FROM pulse_writers WHERE writer = :writer"
_FORGET_WRITER: Final = "DELETE FROM pulse_writers WHERE writer = :writer"


class Doubtful(StoreFailure):
    """Whether it was stored is not known: the server could not be asked."""


class Parts(NamedTuple):
    """What transactions are made of."""

    connect: Callable[[], Connection]
    """Opens a session with the server that takes writes. Raises `StoreFailure`."""
    clock: Clock
    sealer: Sealer
    new_id: Callable[[str], str]
    committed: Callable[[int], None] = lambda version: None
    """Called after each commit that changed something, with its version, before any job is reported."""
    written: Callable[[], None] = lambda: None
    refused: Callable[[BaseException], None] = lambda error: None
    """Called where the server, or the way to it, failed."""
    reactions: Callable[[], Reactions] = no_reactions


class Beat(NamedTuple):
    """The version and the instant of a transaction."""

    version: int
    now: Instant

    def stamp(self, now: Instant) -> Instant:
        """What a row that changes bears as `updatedAt`: one instant for all of a transaction."""
        return self.now


class GroupCommit:
    """The transactions of one writer, for its thread alone."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._writer = secrets.token_hex(8)
        self._connection: Connection | None = None
        self._reacting = functools.cache(lambda: Reacting(parts.reactions()))
        self.version = -1
        """Of the last transaction of this writer, or of others that it saw."""
        self.commits = self.changes = 0

    def write(self, batch: list[Job]) -> None:
        """Decide every job of the batch."""
        began = committing = time.perf_counter()
        try:
            now = self._parts.clock.now()
            connection, beat = self._begin(now)
            unchanged, alone = connection.total_changes, len(batch) == 1
            for job in batch:
                self._attempt(connection, job, beat, now, alone)
            committing = time.perf_counter()
            if connection.in_transaction:
                self._end(connection, beat, connection.total_changes != unchanged)
        except (psycopg.Error, StoreFailure) as error:
            self._abandon(batch, error)
        ended = time.perf_counter()
        for job in batch:
            job.decided, job.writer_time = True, WriterTime(ended - began, ended - committing)

    def close(self) -> None:
        """Leave nothing of this writer behind."""
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                self._connection.execute(_FORGET_WRITER, {"writer": self._writer})
        self._disconnect()

    # -- begin and end

    def _begin(self, now: Instant) -> tuple[Connection, Beat]:
        """Wait for the pulse, once more where the session was gone."""
        known = self._connection
        try:
            return self._beat(now)
        except psycopg.Error:
            gone = known is not None and known.session.closed
            self._disconnect()
            if not gone:
                raise
        return self._beat(now)

    def _beat(self, now: Instant) -> tuple[Connection, Beat]:
        connection = self._connection = self._connection or self._parts.connect()
        connection.execute("BEGIN")
        row = connection.execute(_BEAT, {"clock": now, "writer": self._writer}).fetchone()
        if row is None:
            raise StoreFailure("the database has no pulse")
        beat = Beat(row[0], Instant(row[1]))
        if beat.version != self.version + 1:
            self._reacting().listened.clear()
        self.version = beat.version
        return connection, beat

    def _end(self, connection: Connection, beat: Beat, changed: bool) -> None:
        """Commit what was changed; where nothing was, not even the beat has to last."""
        if not changed:
            connection.execute("ROLLBACK")
            self.version = beat.version - 1
            return
        if connection.session.info.transaction_status != TransactionStatus.INTRANS:
            raise StoreFailure("the transaction was given up")  # its COMMIT would answer, and roll back
        try:
            connection.execute("COMMIT")
        except psycopg.Error as error:
            if not connection.session.closed:
                raise
            self._disconnect()
            if not self._was_committed(beat):
                raise StoreFailure(f"the connection was lost: {reason(error)}") from error
        self.commits += 1
        self.changes += 1
        self._parts.written()
        self._parts.committed(beat.version)

    def _was_committed(self, beat: Beat) -> bool:
        """Ask what became of a COMMIT, once the session that was lost has ended. Raises `Doubtful`."""
        deadline = time.monotonic() + DOUBT_SECONDS
        while True:
            try:
                return self._committed_version() == beat.version
            except (psycopg.Error, StoreFailure) as error:
                self._disconnect()
                if time.monotonic() >= deadline:
                    raise Doubtful(f"whether it was stored is not known: {error}") from error
                time.sleep(_ASK_AGAIN_SECONDS)

    def _committed_version(self) -> int | None:
        connection = self._connection = self._parts.connect()
        connection.execute("BEGIN")
        connection.execute(_WAIT_FOR_BEAT)
        version: int | None = connection.execute(_SELECT_COMMITTED, {"writer": self._writer}).get
        connection.execute("ROLLBACK")
        return version

    # -- jobs

    def _attempt(self, connection: Connection, job: Job, beat: Beat, now: Instant, alone: bool) -> None:
        """Run one job. Raises only what ends the whole transaction."""
        bindings = Bindings(job.org_id, now)
        tx = WriteTx(connection, bindings, self._parts.sealer, self._parts.new_id, beat, self._reacting())
        if not alone:
            connection.execute("SAVEPOINT operation")
        try:
            job.result = job.work(tx)
            tx.tell()
            job.topics = tx.topics
            if not alone:
                connection.execute("RELEASE operation")
        except BaseException as error:
            if connection.session.closed:
                raise StoreFailure(f"the connection was lost: {error}") from error
            self._roll_back(connection, alone)
            if is_of_the_engine(error):
                self._parts.refused(error)
                job.fail(error)
            else:
                job.result, job.error, job.topics = None, error, set()

    def _roll_back(self, connection: Connection, alone: bool) -> None:
        self._reacting().listened.clear()
        if alone:
            self.version -= 1
            connection.execute("ROLLBACK")
        else:
            connection.execute("ROLLBACK TO operation")
            connection.execute("RELEASE operation")

    def _abandon(self, batch: list[Job], error: BaseException) -> None:
        """All is lost. The next transaction has a session of its own."""
        self._reacting().listened.clear()
        self._parts.refused(error)
        self._disconnect()
        for job in batch:
            job.fail(error)
            if isinstance(error, Doubtful):
                job.error = error

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()
