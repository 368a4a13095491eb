"""The store: reads inline on the event loop under a budget, writes through the one writer, and wake-ups.

What the database is, and how it is read, is the engine's: see engine.py.
"""

import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar, cast

import outcome
import trio

from gatewayd.clock import Clock
from gatewayd.ids import IdSource
from gatewayd.store.catalogue import Catalogue
from gatewayd.store.engine import Engine, Form
from gatewayd.store.failures import OverBudget, StoreFailure
from gatewayd.store.files.directory import free_bytes, make_directory
from gatewayd.store.files.manifests import KEY_NAME
from gatewayd.store.reactions import Reactions, no_reactions
from gatewayd.store.sealed_rows import sealed_rows_of
from gatewayd.store.sealer import Sealer
from gatewayd.store.sealing.instance_key import open_key, proven_key
from gatewayd.store.settings import Place, StoreSettings
from gatewayd.store.sqlite.engine import SqliteEngine
from gatewayd.store.sqlite.lost_database import begin_database
from gatewayd.store.transactions import Bindings, ReadTx, WriteTx
from gatewayd.store.waiting_jobs import Job, WriterTime
from gatewayd.store.writer import Writer, WriterParts

LARGE_BYTES: Final = 256 * 1024  # Chosen: with room for this there is room for any request's rows
# A row that is written to find out whether the disk takes it.
_UPDATE_CHECK = "UPDATE write_check SET checked_at = :now, filler = :filler WHERE id = 1"
T = TypeVar("T")

MAX_WAITING_WRITES = 4_096
SWEEPS_MAX = 20  # Chosen: transactions of one sweep in a round; the next round goes on


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
        self._engine = _open_engine(settings, clock, sealer, migrates=migrates)
        self.upgraded = self._engine.upgraded
        self.read_shares = self._engine.read_shares
        self.writer_end = WriterEnd()
        parts = WriterParts(self._engine.writes, clock, sealer, ids.new, self.writer_end.tell, reactions)
        self._writer = Writer(parts, self._deliver, MAX_WAITING_WRITES)
        self._threads = trio.CapacityLimiter(1)  # for what is seldom: tables, the key, the end
        self._asking = trio.CapacityLimiter(1)  # for what may hang without being in the way of anything
        self._token = trio.lowlevel.current_trio_token()
        self._topics = Topics()
        self.long_reads = 0

    def now(self) -> int:
        """The present instant, microseconds."""
        return self._clock.now()

    @property
    def is_shared(self) -> bool:
        """Whether daemons on several machines may work with the same rows at once: what one remembers others do not."""
        return self._engine.is_shared

    @property
    def directory(self) -> Path:
        """Where it is, with all that stands beside it."""
        return self._settings.directory

    @property
    def place(self) -> Place:
        """Where the bytes of documents lie."""
        return self._settings.place

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
        return self._engine.fault

    @property
    def refuses_writes(self) -> bool:
        """Whether the last write failed, and that was the disk's or the file's doing."""
        return self._engine.refuses_writes

    @property
    def writable(self) -> bool:
        """False while the disk refuses writes, and once the writer has ended: by `aclose`, or by a fault of its own."""
        return self._writer.alive and self._engine.fault is None

    @property
    def log_bytes(self) -> int:
        """How long the write-ahead log is."""
        return self._engine.log_bytes

    @property
    def free_bytes(self) -> int:
        """What the daemon's user may still write where the database is; 0 where that cannot be found out."""
        return free_bytes(self._settings.directory)

    @property
    def holds_snapshot(self) -> bool:
        """True while the loop's read transaction is kept for the next read."""
        return self._engine.holds_snapshot

    # -- reads

    def read_now(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        """Run a read on the loop.

        Raises `OverBudget` when it takes too long, another process holds the file, or the database is another process.
        """
        return self._engine.read_now(work, Bindings(org_id, self._clock.now()))

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        """Run a read on a thread, where it may take up to `LONG_READ_SECONDS`. Cancelled, it ends at once."""
        self.long_reads += 1
        return await self._engine.read_later(work, org_id, self._clock.now)

    async def read_soon(self, work: Callable[[ReadTx], T], org_id: str | None, holder: str | None = None) -> T:
        """Run a read that is usually short: on the loop, or where the database is another process, on a thread.

        `holder` is whose share of the threads it takes, where `work` is yet to find out. Raises `OverBudget` when it
        takes too long after all.
        """
        return await self._engine.read_soon(work, Bindings(org_id, self._clock.now()), holder or org_id)

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        """Run a read that is usually short, and again with more time on a thread of its own where it is not."""
        try:
            return await self.read_soon(work, org_id)
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
        return await self._engine.find_damage()

    async def catalogue(self) -> Catalogue:
        """What tables there are. Raises `StoreFailure`."""
        return await self.on_thread(self._engine.catalogue)

    async def form(self) -> Form:
        """Which database it is, and how large. Cancelled, it is left to end by itself. Raises `StoreFailure`."""
        return await trio.to_thread.run_sync(self._engine.form, limiter=self._asking, abandon_on_cancel=True)

    async def on_thread(self, work: Callable[[], T]) -> T:
        """Wait for what the database is asked for by neither a read nor a write, one at a time. Raises as `work`."""
        return await trio.to_thread.run_sync(work, limiter=self._threads)

    def _submit(self, job: Job) -> None:
        self._writer.submit(job)
        self._engine.write_submitted()

    def _deliver(self, batch: list[Job]) -> None:
        """On the writer's thread: hand the batch over to the loop."""
        with contextlib.suppress(trio.RunFinishedError):  # the loop has ended; what was committed stays
            self._token.run_sync_soon(self._resolve, batch)

    def _resolve(self, batch: list[Job]) -> None:
        topics: set[str] = set()
        self._engine.writes_decided(len(batch))
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
        """Wake every topic when another process commits, which may have written anything. Runs until cancelled."""
        await self._engine.watch(self._topics.announce_all)

    # -- life

    def start(self) -> None:
        """Start the threads of the writer and of the engine."""
        self._writer.start()
        self._engine.start()

    async def aclose(self) -> None:
        """Write what is queued and close every connection. A read that is under way on a thread ends by itself."""
        self._engine.close_reads()
        with trio.CancelScope(shield=True):
            for close in (self._engine.stop, self._writer.close):
                await self.on_thread(close)
        self._engine.close()


def _open_engine(settings: StoreSettings, clock: Clock, sealer: Sealer, *, migrates: bool) -> Engine:
    """The engine that the settings name. Raises `StoreFailure` or `MigrationError`."""
    if not settings.url:
        return SqliteEngine(settings, clock.now(), sealer, migrates=migrates)
    try:
        from gatewayd.store.postgres.engine import PostgresEngine  # and with it psycopg, which most do without
    except ImportError:
        raise StoreFailure("a PostgreSQL is named, and psycopg is not installed: gatewayd[postgresql] has it") from None
    return PostgresEngine(settings, clock.now(), sealer, migrates=migrates)


def _write_check(tx: WriteTx, filler_bytes: int | None) -> None:
    """Write the row with so many bytes beside the time. None: write nothing."""
    if filler_bytes is not None:
        tx.run(_UPDATE_CHECK, filler=os.urandom(filler_bytes) or None)  # which PostgreSQL cannot compress


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
    sealer = prepare(settings, key_file)
    async with open_sealed_store(settings, clock, sealer, reactions, migrates=migrates) as store:
        if store.is_shared:
            await store.on_thread(sealer.require)
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


def prepare(settings: StoreSettings, key_file: Path | None) -> Sealer:
    """Make the private data directory, open the instance key. Raises `StoreFailure`, also where a database is lost.

    That of a PostgreSQL is opened when it is asked for, once there are tables.
    """
    directory, rows = settings.directory, sealed_rows_of(settings)
    path = key_file or directory / KEY_NAME
    make_directory(directory)
    if settings.url:
        return Sealer(lambda: rows.begin_key(path))
    begin_database(directory)
    return open_key(rows, path)


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
    if not settings.url and not os.access(settings.path, os.F_OK):
        raise StoreFailure(f"there is no database in {settings.directory}")
    rows = sealed_rows_of(settings)
    sealer = Sealer(lambda: proven_key(rows, find_key()))
    store = Store(settings, clock, sealer, IdSource(clock, secrets.token_bytes), reactions, migrates=False)
    store.start()
    try:
        yield store
    finally:
        await store.aclose()
