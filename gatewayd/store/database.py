"""The store: reads inline on the event loop under a budget, writes through the one writer.

reader   the loop thread's read-only connection; a progress handler stops a read that takes too long
threads  further read-only connections, for reads that may take their time; see long_reads.py
writer   see writer.py; checkpoints.py copies its log
"""

import contextlib
import os
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar, cast

import apsw
import outcome
import trio

from gatewayd.clock import Clock
from gatewayd.ids import IdSource
from gatewayd.store import connections
from gatewayd.store.budget import STEPS_PER_TICK, Budget
from gatewayd.store.checkpoints import Checkpoints
from gatewayd.store.connections import WAL_BYTES
from gatewayd.store.failures import ENGINE_FAILURES, OverBudget, StoreFailure
from gatewayd.store.faults import Faults, OpenedFile
from gatewayd.store.files.directory import free_bytes, make_directory
from gatewayd.store.files.lost_database import begin_database
from gatewayd.store.files.manifests import KEY_NAME
from gatewayd.store.files.snapshot import PULSE_NAME, Pulse, Snapshot
from gatewayd.store.integrity import find_damage
from gatewayd.store.long_reads import LongReads
from gatewayd.store.reactions import Reactions, no_reactions
from gatewayd.store.sealer import Sealer
from gatewayd.store.sealing.instance_key import open_key, proven_key
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.store.transactions import Bindings, ReadTx, WriteTx
from gatewayd.store.upgrade import require_current, upgrade
from gatewayd.store.waiting_jobs import Job, WriterTime
from gatewayd.store.writer import Writer, WriterParts

POLL_SECONDS = 0.25  # how soon another process's commit is noticed
LARGE_BYTES: Final = 256 * 1024  # Chosen: with room for this there is room for any request's rows
# A row that is written to find out whether the disk takes it.
_UPDATE_CHECK = "UPDATE write_check SET checked_at = :now, filler = :filler WHERE id = 1"
T = TypeVar("T")

MAX_WAITING_WRITES = 4_096
SWEEPS_MAX = 20  # Chosen: transactions of one sweep in a round; the next round goes on


class LogFile:
    """How long the write-ahead log of a database is, which is written over from its beginning once nobody reads in it.

    `is_large` is as of the last `look`: kept snapshots are then in its way.
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-wal")
        self.is_large = False

    def size(self) -> int:
        """Bytes; 0 where there is no log."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def look(self) -> None:
        self.is_large = self.size() > WAL_BYTES


class WriterEnd:
    """The end of a writer that nobody asked for, told from its thread to the loop. Made on the loop's thread."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._met = trio.Event()
        self._error: BaseException | None = None

    def tell(self, error: BaseException) -> None:
        """On the writer's thread, which ends with `error`."""
        self._error = error
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._met.set)

    async def watch(self) -> None:
        """Runs until cancelled. Raises `StoreFailure` once the writer has ended so: it will write nothing any more."""
        await self._met.wait()
        raise StoreFailure("the writer ended") from self._error


class Topics:
    """An event for each name that somebody waits for."""

    def __init__(self) -> None:
        self._events: dict[str, trio.Event] = {}

    def event(self, name: str) -> trio.Event:
        """What is set when `name` is next announced."""
        return self._events.setdefault(name, trio.Event())

    def announce(self, names: Iterable[str]) -> None:
        for name in names:
            event = self._events.pop(name, None)
            if event is not None:
                event.set()

    def announce_all(self) -> None:
        self.announce(list(self._events))


class Store:
    """One open database. Made by `open_store`."""

    def __init__(
        self,
        settings: StoreSettings,
        clock: Clock,
        sealer: Sealer,
        ids: IdSource,
        reactions: Callable[[], Reactions] = no_reactions,
        *,
        migrates: bool = True,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sealer = sealer
        with contextlib.ExitStack() as opened:
            writer = connections.open_writer(settings.path, settings.busy_timeout_seconds)
            opened.callback(writer.close)
            self.upgraded = upgrade(writer, settings.path, clock.now(), sealer) if migrates else None
            if not migrates:
                require_current(writer, settings.path, clock.now())
            self._reader = connections.open_reader(settings.path, 0)  # the loop never waits for a lock
            opened.callback(self._reader.close)
            self._faults = Faults()
            self._checkpoints = Checkpoints(writer, settings.path, settings.busy_timeout_seconds, self._faults)
            opened.callback(self._checkpoints.close)
            file = OpenedFile(settings.path)
            opened.pop_all()
        self._pulse = Pulse(settings.directory / PULSE_NAME)
        self.writer_end = WriterEnd()
        end = self.writer_end.tell
        parts = WriterParts(
            writer, clock, sealer, ids.new, self._pulse.beat, file.require, self._faults, end, reactions
        )
        self._writer = Writer(parts, self._deliver, MAX_WAITING_WRITES)
        self._snapshot = Snapshot(self._reader, self._pulse)
        self._writing = 0
        self._watching = False
        self._budget = Budget(settings.read_budget_ms)
        self._reader.set_progress_handler(self._budget.tick, STEPS_PER_TICK)
        self._long_reads = LongReads(file, settings.busy_timeout_seconds, sealer, self._faults)
        self.read_shares = self._long_reads.shares
        self._log_file = LogFile(settings.path)
        self._threads = trio.CapacityLimiter(2)  # for a look for damage, and for the end
        self._token = trio.lowlevel.current_trio_token()
        self._topics = Topics()
        self.version = -1
        self.long_reads = 0

    def now(self) -> int:
        """The present instant, microseconds."""
        return self._clock.now()

    @property
    def directory(self) -> Path:
        """Where it is, with all that stands beside it."""
        return self._settings.directory

    @property
    def commits(self) -> int:
        """How many transactions were committed since the start."""
        return self._writer.commits

    @property
    def changes(self) -> int:
        """How many of them changed something, and so were written to the disk."""
        return self._writer.changes

    @property
    def awaited(self) -> int:
        """How many writes were decided since the start that somebody waited for."""
        return self._writer.awaited

    @property
    def fault(self) -> str | None:
        """What is wrong with the store, to be read after "the store". None: nothing that is known."""
        return self._faults.sentence

    @property
    def refuses_writes(self) -> bool:
        """Whether the last write failed, and that was the disk's or the file's doing."""
        return self._faults.refuses

    @property
    def writable(self) -> bool:
        """False while the disk refuses writes, and once the writer has ended: by `aclose`, or by a fault of its own."""
        return self._writer.alive and self._faults.sentence is None

    @property
    def log_bytes(self) -> int:
        """How long the write-ahead log is."""
        return self._log_file.size()

    @property
    def free_bytes(self) -> int:
        """What the daemon's user may still write where the database is; 0 where that cannot be found out."""
        return free_bytes(self._settings.directory)

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
            version = self._snapshot.take()
            if version != self.version:
                self.version = version
                self._log_file.look()
            return work(ReadTx(self._snapshot, Bindings(org_id, self._clock.now()), self._sealer))
        except (apsw.InterruptError, apsw.BusyError):
            self._forget_snapshot()
            raise OverBudget("the read is too long for the event loop") from None
        except ENGINE_FAILURES as error:
            self._forget_snapshot()
            self._faults.met(error)
            raise StoreFailure(f"the database cannot be read: {error}") from error
        finally:
            if not self._watching:
                self._forget_snapshot()
            elif self._writing or self._log_file.is_large:
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
        return await self._long_reads.run(work, org_id, lambda: Bindings(org_id, self._clock.now()))

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        """Run a read inline, and again on a thread where it is too long for that."""
        try:
            return self.read_now(work, org_id)
        except OverBudget:
            return await self.read_later(work, org_id)

    # -- writes

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Run a write and wait until it is durable. What `work` raises comes out here, rolled back.

        Once queued it cannot be cancelled: the caller always learns what became of it.
        """
        return (await self._written(work, org_id, False))[0]

    async def write_behind(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> tuple[T, WriterTime]:
        """The same for work that nobody waits for: behind all that wait for the writer, and alone in its transaction.

        Answers also for how long the writer was busy with it.
        """
        return await self._written(work, org_id, True)

    async def _written(self, work: Callable[[WriteTx], T], org_id: str | None, behind: bool) -> tuple[T, WriterTime]:
        task = trio.lowlevel.current_task()
        job = Job(work, org_id, lambda done: trio.lowlevel.reschedule(task, _outcome_of(done)), behind)
        self._submit(job)
        return cast(T, await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)), job.writer_time

    async def sweep(self, work: Callable[[WriteTx], int], rows: int) -> None:
        """Repeat a write that deletes at most `rows` and returns how many, until it finds fewer or the round ends."""
        for _ in range(SWEEPS_MAX):
            deleted, _time = await self.write_behind(work)
            if deleted < rows:
                return

    async def check_writer(self, filler_bytes: int | None = None) -> None:
        """Wait until the writer has committed a write: it is alive and had the lock. May be cancelled.

        `filler_bytes`: how much is written to the disk beside the time; None: nothing, not even that. Raises
        `StoreFailure` when it could not.
        """
        decided = trio.Event()
        job = Job(lambda tx: _write_check(tx, filler_bytes), None, lambda done: decided.set())
        self._submit(job)
        await decided.wait()
        if job.error is not None:
            raise job.error

    async def find_damage(self) -> list[str] | None:
        """What is wrong with the database file; empty: nothing. It takes long where that is large.

        None where it was cancelled. Raises `StoreFailure` where the file cannot be opened.
        """
        over = threading.Event()
        try:
            found = await trio.to_thread.run_sync(
                find_damage, self._settings.path, over.is_set, abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            over.set()
        if found:
            self._faults.found(found[0])
        return found

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
        self._topics.announce(topics)

    # -- wake-ups

    def topic(self, name: str) -> trio.Event:
        """An event that is set when `name` is next announced, or another process has written anything.

        Take the event first, then look, then wait: what is committed after the look sets the event.
        """
        return self._topics.event(name)

    async def watch_other_processes(self) -> None:
        """Wake every topic when another process commits. Runs until cancelled."""
        self._watching = True
        try:
            await _watch_commits(self._settings.path, self._look_again)
        finally:
            self._watching = False

    def _look_again(self) -> None:
        """Anybody may have written anything."""
        self._forget_snapshot()
        self._topics.announce_all()

    # -- life

    def start(self) -> None:
        """Start the writer's thread, and that of its checkpoints."""
        self._writer.start()
        self._checkpoints.start()

    async def aclose(self) -> None:
        """Write what is queued and close every connection. A read that is under way on a thread ends by itself.

        The writer's is the last, so that SQLite can copy the log into the database and remove it: a copy of the one
        file is then whole.
        """
        self._forget_snapshot()
        self._reader.close()
        self._long_reads.close()
        with trio.CancelScope(shield=True):
            for close in (self._checkpoints.close, self._writer.close):
                await trio.to_thread.run_sync(close, limiter=self._threads)
        self._pulse.close()


async def _watch_commits(database: Path, on_commit: Callable[[], None]) -> None:
    """Call `on_commit` soon after each commit, also of this process, and once at the beginning. Runs until cancelled.

    SQLite tells nobody that another process has written, and counts it up where one may look.
    Raises `StoreFailure` where the database cannot be opened.
    """
    connection = connections.open_reader(database, 0)
    seen = None  # so that the first look tells: another process may have written before this began
    try:
        while True:
            await trio.sleep(POLL_SECONDS)
            current = _data_version(connection)
            if current is None or current != seen:  # also by our own writer: a false alarm costs one empty look
                on_commit()
            seen = current
    finally:
        connection.close()


def _data_version(connection: apsw.Connection) -> object:
    """None where it cannot be read: the tasks that this wakes find out why."""
    try:
        return connection.pragma("data_version")
    except ENGINE_FAILURES:
        return None


def _write_check(tx: WriteTx, filler_bytes: int | None) -> None:
    """Write the row with so many bytes beside the time. None: write nothing."""
    if filler_bytes is not None:
        tx.run(_UPDATE_CHECK, filler=bytes(filler_bytes) or None)


def _outcome_of(job: Job) -> "outcome.Outcome[object]":
    return outcome.Error(job.error) if job.error is not None else outcome.Value(job.result)


@asynccontextmanager
async def open_store(
    settings: StoreSettings,
    clock: Clock,
    key_file: Path | None = None,
    reactions: Callable[[], Reactions] = no_reactions,
    *,
    migrates: bool = True,
) -> AsyncIterator[Store]:
    """Open. An older database is migrated first or, where that is not for the caller to do, refused.

    `reactions`: what follows from changes of rows, which is asked for with the first write.

    Raises `StoreFailure` or `MigrationError`.
    """
    sealer = prepare(settings.directory, key_file)
    async with open_sealed_store(settings, clock, sealer, reactions, migrates=migrates) as store:
        yield store


@asynccontextmanager
async def open_sealed_store(
    settings: StoreSettings,
    clock: Clock,
    sealer: Sealer,
    reactions: Callable[[], Reactions] = no_reactions,
    *,
    migrates: bool = False,
) -> AsyncIterator[Store]:
    """The same with a key that need not be the one that sealed what is there: for giving that up."""
    store = Store(settings, clock, sealer, IdSource(clock, secrets.token_bytes), reactions, migrates=migrates)
    store.start()
    try:
        yield store
    finally:
        await store.aclose()


def prepare(directory: Path, key_file: Path | None) -> Sealer:
    """Make the private data directory, open the instance key. Raises `StoreFailure`, also where a database is lost."""
    make_directory(directory)
    begin_database(directory)
    return open_key(directory / DATABASE_NAME, key_file or directory / KEY_NAME)


@asynccontextmanager
async def open_existing(
    settings: StoreSettings,
    clock: Clock,
    find_key: Callable[[], Path],
    reactions: Callable[[], Reactions] = no_reactions,
) -> AsyncIterator[Store]:
    """Open: no database is made, none is migrated, and no instance key is made.

    The key is looked for when the first secret is sealed or opened. Raises `StoreFailure` or `MigrationError`; a secret
    raises what `find_key` raises too.
    """
    if not os.access(settings.path, os.F_OK):
        raise StoreFailure(f"there is no database in {settings.directory}")
    sealer = Sealer(lambda: proven_key(settings.path, find_key()))
    store = Store(settings, clock, sealer, IdSource(clock, secrets.token_bytes), reactions, migrates=False)
    store.start()
    try:
        yield store
    finally:
        await store.aclose()
