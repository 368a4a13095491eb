"""The one writer: a thread that commits everything that waits with a single fsync.

Callers queue jobs; the thread takes all that wait (see waiting_jobs.py), runs each in a savepoint of its own inside one
`BEGIN IMMEDIATE`, commits once, and only then reports any of them. Acknowledged therefore means durable. A job that
raises is rolled back alone. Where the whole transaction is lost (disk full, I/O error, locked by another process),
every job of it fails with `StoreFailure`, also the one that had raised something of its own: what it raised may rest on
what a neighbour wrote, which is lost.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import apsw

from gatewayd.clock import Clock
from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure
from gatewayd.store.faults import Faults
from gatewayd.store.reactions import Reacting, Reactions, no_reactions
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Bindings, WriteTx
from gatewayd.store.update_clock import UpdateClock
from gatewayd.store.waiting_jobs import Job, WaitingJobs, WriterTime


@dataclass(frozen=True, slots=True)
class WriterParts:
    """What the writer needs to make transactions."""

    connection: apsw.Connection
    clock: Clock
    sealer: Sealer
    new_id: Callable[[str], str]
    committed: Callable[[], None] = lambda: None
    """Called on the writer's thread after each commit that changed something, before any job is reported."""
    require_file: Callable[[], None] = lambda: None
    """Called before each transaction. Raises `StoreFailure` where its file is no longer the database."""
    faults: Faults = field(default_factory=Faults)
    failed: Callable[[BaseException], None] = lambda error: None
    """Called on the writer's thread where it ends by a fault that is no job's and no failure of the store."""
    reactions: Callable[[], Reactions] = no_reactions
    """What follows from changes, which is asked for with the first write."""


class Writer:
    """Owns the writing connection. `deliver` is called on the writer's thread with each batch that is decided."""

    def __init__(self, parts: WriterParts, deliver: Callable[[list[Job]], None], max_waiting: int) -> None:
        self._parts = parts
        self._deliver = deliver
        self._waiting = WaitingJobs(max_waiting)
        self._update_clock = UpdateClock(parts.connection)
        self._reacting = functools.cache(lambda: Reacting(parts.reactions()))
        self._version = -1  # of the database, as other connections have left it
        self.commits = self.changes = self.awaited = 0
        self._thread = threading.Thread(target=self._run, name="gatewayd-writer", daemon=True)

    @property
    def alive(self) -> bool:
        """True while jobs are taken and written."""
        return self._thread.is_alive() and self._waiting.is_open

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job. Raises `StoreFailure` when too many wait or the writer has ended or is closing."""
        self._waiting.put(job)

    def close(self) -> None:
        """Write what waits, then end the thread and close the connection. It blocks: call it off the event loop."""
        self._waiting.close()
        if self._thread.ident is None:
            self._run()
        else:
            self._thread.join()
        with contextlib.suppress(apsw.Error):  # what stays reserved is over in a second
            self._update_clock.close()
        self._parts.connection.close()

    def _run(self) -> None:
        batch: list[Job] = []
        with contextlib.ExitStack() as ending:
            ending.push(self._tell_failed)
            ending.callback(lambda: self._end(batch))
            while batch := self._waiting.take():
                self.write(batch)
                self._deliver(batch)

    def _tell_failed(self, _: object, error: BaseException | None, __: object) -> bool:
        """Whoever opened the store hears of it and ends too, so that the thread has nobody to tell besides."""
        if error is not None:
            self._parts.failed(error)
        return True

    def _end(self, batch: list[Job]) -> None:
        """After a fault of the writer itself no caller may wait forever: `batch` is what it was working on.

        What was committed by then is told as it came out.
        """
        undelivered = [*batch, *self._waiting.abandon()]
        for job in undelivered:
            if not job.decided:
                job.fail(RuntimeError("the writer ended"))
        if undelivered:
            self._deliver(undelivered)

    def write(self, batch: list[Job]) -> None:
        """Decide every job of the batch."""
        began = committing = time.perf_counter()
        connection = self._parts.connection
        try:
            self._parts.require_file()
            if connection.in_transaction:  # an earlier ROLLBACK failed
                connection.execute("ROLLBACK")
            self._begin()
            unchanged = connection.total_changes()
            alone = len(batch) == 1
            for job in batch:
                self._attempt(job, alone)
            self._update_clock.keep()
            committing = time.perf_counter()
            connection.execute("COMMIT")
            for job in batch:
                job.decided = True  # whatever comes of the rest
            self._update_clock.committed()
            self._version = connection.data_version()  # what this connection committed itself is known
            self.commits += 1
            if connection.total_changes() != unchanged:
                self.changes += 1
                self._parts.faults.written()
                self._parts.committed()
        except (apsw.Error, StoreFailure) as error:
            self._abandon(batch, error)
        ended = time.perf_counter()
        writer_time = WriterTime(ended - began, ended - committing)
        for job in batch:
            job.decided, job.writer_time = True, writer_time
            self.awaited += not job.is_background

    def _begin(self) -> None:
        connection = self._parts.connection
        connection.execute("BEGIN IMMEDIATE")
        self._update_clock.begin()
        version = connection.data_version()  # no statement, and less than a microsecond
        if version != self._version:
            self._version = version
            self._reacting().listened.clear()

    def _attempt(self, job: Job, alone: bool) -> None:
        """Run one job. Raises only what ends the whole transaction.

        One that is alone needs no savepoint, for which SQLite copies every page before its first change.
        """
        parts, execute = self._parts, self._parts.connection.execute
        bindings = Bindings(job.org_id, parts.clock.now())
        transaction = WriteTx(
            parts.connection,
            bindings,
            parts.sealer,
            parts.new_id,
            self._update_clock,
            self._reacting(),
        )
        if not alone:
            execute("SAVEPOINT operation")
        try:
            job.result = job.work(transaction)
            transaction.tell()
            job.topics = transaction.topics
            if not alone:
                execute("RELEASE operation")
        except BaseException as error:
            if not parts.connection.in_transaction:
                raise StoreFailure(f"the transaction was given up: {error}") from error
            self._roll_back(alone)
            if isinstance(error, ENGINE_FAILURES):
                parts.faults.refused(error)
                job.fail(error)
            else:
                job.result, job.error, job.topics = None, error, set()

    def _roll_back(self, alone: bool) -> None:
        """Undo the job that runs, within the transaction of all or in a new one."""
        self._reacting().listened.clear()
        execute = self._parts.connection.execute
        if alone:
            execute("ROLLBACK")
            self._begin()
        else:
            execute("ROLLBACK TO operation")
            execute("RELEASE operation")

    def _abandon(self, batch: list[Job], error: BaseException) -> None:
        self._update_clock.lost()
        self._reacting().listened.clear()
        self._parts.faults.refused(error)
        if self._parts.connection.in_transaction:
            with contextlib.suppress(apsw.Error):  # tried again before the next batch
                self._parts.connection.execute("ROLLBACK")
        for job in batch:
            job.fail(error)
