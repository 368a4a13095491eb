"""The one writer: a thread that commits everything that waits with a single commit.

Callers queue jobs; the thread takes all that wait (see waiting_jobs.py), runs each in a savepoint of its own inside one
transaction, commits once, and only then reports any of them. Acknowledged therefore means durable. A job that raises is
rolled back alone. Where the whole transaction is lost (disk full, I/O error, locked by another process), every job of
it fails with `StoreFailure`, also the one that had raised something of its own: what it raised may rest on what a
neighbour wrote, which is lost.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from gatewayd.clock import Clock, Instant
from gatewayd.store.engine import WriteConnection
from gatewayd.store.failures import StoreFailure
from gatewayd.store.reactions import Reacting, Reactions, no_reactions
from gatewayd.store.sealer import Sealer
from gatewayd.store.transactions import Bindings, WriteTx
from gatewayd.store.waiting_jobs import Job, WaitingJobs, WriterTime


@dataclass(frozen=True, slots=True)
class WriterParts:
    """What the writer needs to make transactions."""

    connection: WriteConnection
    clock: Clock
    sealer: Sealer
    new_id: Callable[[str], str]
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
        self._reacting = functools.cache(lambda: Reacting(parts.reactions()))
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
            now, is_news = connection.begin(self._parts.clock.now)
            if is_news:
                self._reacting().listened.clear()
            alone = len(batch) == 1
            for job in batch:
                self._attempt(job, now, alone)
            committing = time.perf_counter()
            connection.commit()
            for job in batch:
                job.decided = True  # whatever comes of the rest
            self.commits += 1
            self.changes += connection.settle()
        except connection.errors as error:
            self._abandon(batch, error)
        ended = time.perf_counter()
        writer_time = WriterTime(ended - began, ended - committing)
        for job in batch:
            job.decided, job.writer_time = True, writer_time
            self.awaited += not job.is_background

    def _attempt(self, job: Job, now: Instant, alone: bool) -> None:
        """Run one job. Raises only what ends the whole transaction. One that is alone needs no savepoint."""
        parts, connection = self._parts, self._parts.connection
        bindings = Bindings(job.org_id, now)
        transaction = WriteTx(
            connection.statements, bindings, parts.sealer, parts.new_id, connection.stamps, self._reacting()
        )
        if not alone:
            connection.mark()
        try:
            job.result = job.work(transaction)
            transaction.tell()
            job.topics = transaction.topics
            if not alone:
                connection.release()
        except BaseException as error:
            if not connection.is_open:
                raise StoreFailure(f"the transaction was given up: {error}") from error
            self._reacting().listened.clear()
            if alone:
                connection.roll_back()
            else:
                connection.undo()
            if connection.is_failure(error):
                connection.refused(error)
                job.fail(error)
            else:
                job.result, job.error, job.topics = None, error, set()

    def _abandon(self, batch: list[Job], error: Exception) -> None:
        self._reacting().listened.clear()
        self._parts.connection.refused(error)
        self._parts.connection.abandon()
        for job in batch:
            if not job.decided:
                job.fail(error)
