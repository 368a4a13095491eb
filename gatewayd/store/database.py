"""The store: reads inline on the event loop under a budget, writes through the one writer.

reader   the loop thread's read-only connection; a progress handler stops a read that takes too long
threads  further read-only connections, for reads that may take their time
writer   see writer.py
"""

import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import apsw
import outcome
import trio

from gatewayd import config
from gatewayd.clock import Clock
from gatewayd.ids import IdSource
from gatewayd.store import connections
from gatewayd.store.budget import STEPS_PER_TICK, Budget
from gatewayd.store.directory import make_directory
from gatewayd.store.failures import ENGINE_FAILURES, OverBudget, StoreFailure
from gatewayd.store.sealing import Sealer, load_key
from gatewayd.store.snapshot import PULSE_NAME, Pulse, Snapshot
from gatewayd.store.transactions import Bindings, ReadTx, WriteTx
from gatewayd.store.upgrade import require_current, upgrade
from gatewayd.store.writer import Job, Writer, WriterParts

T = TypeVar("T")

DATABASE_NAME = "gatewayd.db"
LONG_READ_SECONDS = 30.0  # Chosen: past it the answer is 503
READER_THREADS = 2
POLL_SECONDS = 0.25  # how soon another process's commit is noticed
MAX_WAITING_WRITES = 4_096
SWEEPS_MAX = 20  # Chosen: transactions of one sweep in a round; the next round goes on


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the database is and how patient the store is."""

    directory: Path
    read_budget_ms: float = 2.0
    busy_timeout_seconds: float = 5.0

    @property
    def path(self) -> Path:
        return self.directory / DATABASE_NAME

    @classmethod
    def of(cls, store: config.Store) -> "StoreSettings":
        """The `[store]` table of a loaded configuration."""
        return cls(
            directory=Path(store.directory),
            read_budget_ms=store.read_budget_ms,
            busy_timeout_seconds=store.busy_timeout_seconds,
        )


class Store:
    """One open database. Made by `open_store`."""

    def __init__(
        self, settings: StoreSettings, clock: Clock, sealer: Sealer, ids: IdSource, *, migrates: bool = True
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sealer = sealer
        with contextlib.ExitStack() as opened:
            writer = connections.open_writer(settings.path, settings.busy_timeout_seconds)
            opened.callback(writer.close)
            self.upgraded = upgrade(writer, settings.path, clock.now()) if migrates else None
            if not migrates:
                require_current(writer, clock.now())
            self._reader = connections.open_reader(settings.path, 0)  # the loop never waits for a lock
            opened.pop_all()
        self._pulse = Pulse(settings.directory / PULSE_NAME)
        self._writer = Writer(
            WriterParts(writer, clock, sealer, ids.new, self._pulse.beat), self._deliver, MAX_WAITING_WRITES
        )
        self._snapshot = Snapshot(self._reader, self._pulse)
        self._writing = 0
        self._watching = False
        self._budget = Budget(settings.read_budget_ms)
        self._reader.set_progress_handler(self._budget.tick, STEPS_PER_TICK)
        self._idle_readers: list[apsw.Connection] = []
        self._reader_limiter = trio.CapacityLimiter(READER_THREADS)
        self._threads = trio.CapacityLimiter(READER_THREADS + 1)  # and one for the end
        self._token = trio.lowlevel.current_trio_token()
        self._topics: dict[str, trio.Event] = {}
        self._closed = False
        self.version = -1
        self.long_reads = 0

    def now(self) -> int:
        """The present instant, microseconds."""
        return self._clock.now()

    @property
    def commits(self) -> int:
        """How many transactions were committed since the start."""
        return self._writer.commits

    @property
    def writable(self) -> bool:
        """False once the writer has ended: by `aclose`, or by a fault that it did not survive."""
        return self._writer.alive

    @property
    def holds_snapshot(self) -> bool:
        """True while the loop's read transaction is kept for the next read."""
        return self._snapshot.is_open

    # -- reads

    def read_now(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        """Run a read on the loop's connection, and set `version` to the state that it sees at the least.

        Raises `OverBudget` when it takes too many steps or another process holds the file.
        """
        self._budget.restart()
        try:
            self.version = self._snapshot.take()
            return work(ReadTx(self._snapshot, Bindings(org_id, self._clock.now()), self._sealer))
        except (apsw.InterruptError, apsw.BusyError):
            self._forget_snapshot()
            raise OverBudget("the read is too long for the event loop") from None
        except ENGINE_FAILURES as error:
            self._forget_snapshot()
            raise StoreFailure(f"the database cannot be read: {error}") from error
        finally:
            if not self._watching:
                self._forget_snapshot()
            elif self._writing:
                self._release_snapshot()

    def _release_snapshot(self) -> None:
        """End the loop's transaction, for the sake of our own commits."""
        self._budget.restart()  # or the rollback could be interrupted too
        with contextlib.suppress(*ENGINE_FAILURES):
            self._snapshot.release()

    def _forget_snapshot(self) -> None:
        """End it after a failure, and where others may have committed."""
        self._budget.restart()
        with contextlib.suppress(*ENGINE_FAILURES):
            self._snapshot.forget()

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        """Run a read on a thread, where it may take up to `LONG_READ_SECONDS`. Cancelled, it ends at once."""
        self.long_reads += 1
        try:
            with trio.fail_after(LONG_READ_SECONDS):
                await self._reader_limiter.acquire()
        except trio.TooSlowError:
            raise StoreFailure("the read waited too long for a thread") from None
        try:
            return await self._on_thread(work, org_id)
        finally:
            self._reader_limiter.release()

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        """Run a read inline, and again on a thread where it is too long for that."""
        try:
            return self.read_now(work, org_id)
        except OverBudget:
            return await self.read_later(work, org_id)

    async def _on_thread(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        if self._closed:
            raise StoreFailure("the store is closed")
        connection = self._idle_readers.pop() if self._idle_readers else self._open_reader()
        bindings = Bindings(org_id, self._clock.now())
        try:
            return await trio.to_thread.run_sync(self._read_on, connection, work, bindings, limiter=self._threads)
        finally:
            self._return_reader(connection)

    def _return_reader(self, connection: apsw.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle_readers.append(connection)

    def _read_on(self, connection: apsw.Connection, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        try:
            connection.execute("BEGIN")
            connection.set_progress_handler(Budget(LONG_READ_SECONDS * 1000).tick_on_thread, STEPS_PER_TICK)
            try:
                return work(ReadTx(connection, bindings, self._sealer))
            finally:
                connection.set_progress_handler(None)
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except apsw.InterruptError:
            raise StoreFailure("the read took too long") from None
        except ENGINE_FAILURES as error:
            raise StoreFailure(f"the database cannot be read: {error}") from error

    def _open_reader(self) -> apsw.Connection:
        return connections.open_reader(self._settings.path, self._settings.busy_timeout_seconds)

    # -- writes

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Run a write and wait until it is durable. What `work` raises comes out here, rolled back.

        Once queued it cannot be cancelled: the caller always learns what became of it.
        """
        task = trio.lowlevel.current_task()
        self._submit(Job(work, org_id, lambda done: trio.lowlevel.reschedule(task, _outcome_of(done))))
        result: T = await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)
        return result

    async def sweep(self, work: Callable[[WriteTx], int], rows: int) -> None:
        """Repeat a write that deletes at most `rows` and returns how many, until it finds fewer or the round ends."""
        for _ in range(SWEEPS_MAX):
            if await self.write(work) < rows:
                return

    async def check_writer(self) -> None:
        """Wait until the writer has committed an empty write: it is alive and had the lock. May be cancelled.

        Raises `StoreFailure` when it could not.
        """
        decided = trio.Event()
        job = Job(lambda tx: None, None, lambda done: decided.set())
        self._submit(job)
        await decided.wait()
        if job.error is not None:
            raise job.error

    def _submit(self, job: Job) -> None:
        self._writer.submit(job)
        self._writing += 1
        self._release_snapshot()  # or the log could not be written over while reads and writes go on side by side

    def _deliver(self, batch: list[Job]) -> None:
        """On the writer's thread: hand the batch over to the loop."""
        with contextlib.suppress(trio.RunFinishedError):  # the loop has ended; what was committed stays
            self._token.run_sync_soon(self._resolve, batch)

    def _resolve(self, batch: list[Job]) -> None:
        topics: set[str] = set()
        self._writing -= len(batch)
        for job in batch:
            topics |= job.topics
            job.on_decided(job)
        for topic in topics:
            self._wake(topic)

    # -- wake-ups

    def topic(self, name: str) -> trio.Event:
        """An event that is set when `name` is next announced, or another process has written anything.

        Take the event first, then look, then wait: what is committed after the look sets the event.
        """
        return self._topics.setdefault(name, trio.Event())

    def _wake(self, topic: str) -> None:
        event = self._topics.pop(topic, None)
        if event is not None:
            event.set()

    async def watch_other_processes(self) -> None:
        """Wake every topic when another process commits. Runs until cancelled."""
        connection = connections.open_reader(self._settings.path, 0)
        self._watching = True
        seen = None  # so that the first look wakes all: another process may have written before this began
        try:
            while True:
                await trio.sleep(POLL_SECONDS)
                current = _data_version(connection)
                if current is None or current != seen:  # also by our own writer: a false alarm costs one empty look
                    self._forget_snapshot()
                    for topic in list(self._topics):
                        self._wake(topic)
                seen = current
        finally:
            self._watching = False
            connection.close()

    # -- life

    def start(self) -> None:
        """Start the writer's thread."""
        self._writer.start()

    async def aclose(self) -> None:
        """Write what is queued and close every connection. A read that is under way on a thread ends by itself.

        The writer's is the last, so that SQLite can copy the log into the database and remove it: a copy of the one
        file is then whole.
        """
        self._closed = True
        self._forget_snapshot()
        for connection in (self._reader, *self._idle_readers):
            connection.close()
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._writer.close, limiter=self._threads)
        self._pulse.close()


def _data_version(connection: apsw.Connection) -> object:
    """None where it cannot be read: the tasks that this wakes find out why."""
    try:
        return connection.pragma("data_version")
    except ENGINE_FAILURES:
        return None


def _outcome_of(job: Job) -> "outcome.Outcome[object]":
    return outcome.Error(job.error) if job.error is not None else outcome.Value(job.result)


@asynccontextmanager
async def open_store(
    settings: StoreSettings, clock: Clock, key_file: Path | None = None, *, migrates: bool = True
) -> AsyncIterator[Store]:
    """Open. An older database is migrated first or, where that is not for the caller to do, refused.

    Raises `StoreFailure` or `MigrationError`.
    """
    ids = IdSource(clock, secrets.token_bytes)
    store = Store(settings, clock, prepare(settings.directory, key_file), ids, migrates=migrates)
    store.start()
    try:
        yield store
    finally:
        await store.aclose()


def prepare(directory: Path, key_file: Path | None) -> Sealer:
    """Make the data directory, private to its user, and load the instance key. Raises `StoreFailure`."""
    make_directory(directory)
    return Sealer(load_key(key_file or directory / "instance.key"))
