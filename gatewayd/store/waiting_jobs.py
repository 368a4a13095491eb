"""Jobs on their way to the writer: those that somebody waits for, and behind them those of the background.

A background job is written alone, and only when nothing else waits: an answer waits at most for the one that is under
way. One that was passed over for long goes with the others, so that an import ends however busy the writer is.
"""

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from gatewayd.store.failures import Doubtful, StoreFailure, reason
from gatewayd.store.transactions import WriteTx

MAX_BATCH = 256  # Chosen: bounds how long the first of a batch waits for the last
PASSED_OVER_SECONDS = 0.5  # Chosen: the longest that a background job is, against ever so many others
Work = Callable[[WriteTx], Any]


class WriterTime(NamedTuple):
    """How many seconds the writer was busy with a transaction, and with its commit alone, which the disk decides."""

    seconds: float
    commit: float


NO_TIME: Final = WriterTime(0.0, 0.0)


@dataclass(slots=True, eq=False)
class Job:
    """One operation that waits to be written, and its result once `decided`.

    `writer_time` is that of the transaction that it was part of.
    """

    work: Work
    org_id: str | None
    on_decided: Callable[["Job"], None]
    is_background: bool = False
    decided: bool = False
    result: Any = None
    error: BaseException | None = None
    topics: set[str] = field(default_factory=set)
    writer_time: WriterTime = NO_TIME

    def fail(self, error: BaseException) -> None:
        """Nothing of the job was stored, because of `error`, or nobody knows."""
        self.result, self.topics = None, set()
        if isinstance(error, Doubtful):
            self.error = error
            return
        self.error = StoreFailure(f"the write could not be made durable: {reason(error)}")
        self.error.__cause__ = error


class _Look:
    """Stands in the queue for a background job, so that the writer wakes and looks."""


class _End:
    """Nothing comes after it."""


_LOOK, _END = _Look(), _End()


class WaitingJobs:
    """What many threads put and the writer's takes."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = now
        self._first: queue.SimpleQueue[Job | _Look | _End] = queue.SimpleQueue()
        self._background: deque[tuple[Job, float]] = deque()
        self._lock = threading.Lock()  # so that no job is queued after the end
        self.is_open = True

    def put(self, job: Job) -> None:
        """Raises `StoreFailure` when too many wait, and after the end."""
        with self._lock:
            if not self.is_open:
                raise StoreFailure("the store is closed")
            if self._first.qsize() >= self._most or len(self._background) >= self._most:
                raise StoreFailure("too many writes are waiting")
            if job.is_background:
                self._background.append((job, self._now()))
                self._first.put(_LOOK)
            else:
                self._first.put(job)

    def close(self) -> None:
        """No job comes any more; those that wait are still taken."""
        with self._lock:
            self.is_open = False
            self._first.put(_END)

    def take(self) -> list[Job]:
        """The next batch; empty when there will be none. Waits for one. One thread alone takes."""
        while True:
            if self._background and self._first.empty():
                return [self._background.popleft()[0]]
            batch, is_over = self._ready()
            if batch and self._background and self._now() - self._background[0][1] > PASSED_OVER_SECONDS:
                batch.append(self._background.popleft()[0])
            if is_over:
                self._first.put(_END)
            if batch:
                return batch
            if is_over:
                return [self._background.popleft()[0]] if self._background else []

    def _ready(self) -> tuple[list[Job], bool]:
        """What waits in front, at least one thing, and whether the end stood behind it."""
        batch: list[Job] = []
        found = self._first.get()  # may last: the documented wait for work
        while not isinstance(found, _End):
            if isinstance(found, Job):
                batch.append(found)
            if len(batch) == MAX_BATCH:
                return batch, False
            try:
                found = self._first.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def abandon(self) -> list[Job]:
        """All that wait, after a fault of the writer; no job comes any more."""
        with self._lock:
            self.is_open = False
            left = [job for job, _ in self._background]
            self._background.clear()
            with contextlib.suppress(queue.Empty):
                while True:
                    found = self._first.get_nowait()
                    if isinstance(found, Job):
                        left.append(found)
        return left
