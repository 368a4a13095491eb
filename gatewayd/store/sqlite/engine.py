"""SQLite as the store's engine.

reader   the loop thread's read-only connection; a progress handler stops a read that takes too long
threads  further read-only connections, for reads that may take their time; see long_reads.py
writes   see write_connection.py; checkpoints.py copies its log
"""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import apsw
import trio

from gatewayd.clock import Instant
from gatewayd.shares import Shares
from gatewayd.store.catalogue import Catalogue
from gatewayd.store.engine import Form
from gatewayd.store.failures import ENGINE_FAILURES, OverBudget, StoreFailure
from gatewayd.store.sealer import Sealer
from gatewayd.store.settings import StoreSettings
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite.budget import STEPS_PER_TICK, Budget
from gatewayd.store.sqlite.catalogue import read_catalogue
from gatewayd.store.sqlite.checkpoints import Checkpoints
from gatewayd.store.sqlite.connections import WAL_BYTES
from gatewayd.store.sqlite.faults import Faults, OpenedFile
from gatewayd.store.sqlite.form import form_of
from gatewayd.store.sqlite.integrity import find_damage
from gatewayd.store.sqlite.long_reads import LongReads
from gatewayd.store.sqlite.snapshot import PULSE_NAME, Pulse, Snapshot
from gatewayd.store.sqlite.upgrade import require_current, upgrade
from gatewayd.store.sqlite.write_connection import SqliteWrites
from gatewayd.store.transactions import Bindings, ReadTx

POLL_SECONDS: Final = 0.25  # how soon another process's commit is noticed
T = TypeVar("T")


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


class SqliteEngine:
    """See `Engine`. One database file."""

    is_shared: Final = False

    def __init__(self, settings: StoreSettings, now: Instant, sealer: Sealer, *, migrates: bool) -> None:
        """Raises `StoreFailure` or `MigrationError`."""
        self._settings = settings
        self._sealer = sealer
        with contextlib.ExitStack() as opened:
            writer = connections.open_writer(settings.path, settings.busy_timeout_seconds)
            opened.callback(writer.close)
            self.upgraded = upgrade(writer, settings.path, now, sealer) if migrates else None
            if not migrates:
                require_current(writer, settings.path, now)
            self._reader = connections.open_reader(settings.path, 0)  # the loop never waits for a lock
            opened.callback(self._reader.close)
            self._faults = Faults()
            self._checkpoints = Checkpoints(writer, settings.path, settings.busy_timeout_seconds, self._faults)
            opened.callback(self._checkpoints.close)
            file = OpenedFile(settings.path)
            opened.pop_all()
        self._pulse = Pulse(settings.directory / PULSE_NAME)
        self.writes = SqliteWrites(writer, self._pulse.beat, file.require, self._faults)
        self._snapshot = Snapshot(self._reader, self._pulse)
        self._writing = 0
        self._watching = False
        self._budget = Budget(settings.read_budget_ms)
        self._reader.set_progress_handler(self._budget.tick, STEPS_PER_TICK)
        self._long_reads = LongReads(file, settings.busy_timeout_seconds, sealer, self._faults)
        self.read_shares: Shares = self._long_reads.shares
        self._log_file = LogFile(settings.path)
        self._threads = trio.CapacityLimiter(1)  # for a look for damage
        self._version = -1

    @property
    def fault(self) -> str | None:
        return self._faults.sentence

    @property
    def refuses_writes(self) -> bool:
        return self._faults.refuses

    @property
    def log_bytes(self) -> int:
        return self._log_file.size()

    @property
    def holds_snapshot(self) -> bool:
        return self._snapshot.is_open

    def start(self) -> None:
        self._checkpoints.start()

    # -- reads

    def read_now(self, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        """See `Engine`: too long is what takes too many steps, or waits for another process that holds the file."""
        self._budget.restart()
        try:
            version = self._snapshot.take()
            if version != self._version:
                self._version = version
                self._log_file.look()
            tx = ReadTx(self._snapshot, bindings, self._sealer)
            tx.version = version
            return work(tx)
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

    async def read_soon(self, work: Callable[[ReadTx], T], bindings: Bindings, holder: str | None) -> T:
        return self.read_now(work, bindings)

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None, now: Callable[[], Instant]) -> T:
        return await self._long_reads.run(work, org_id, lambda: Bindings(org_id, now()))

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

    # -- writes

    def write_submitted(self) -> None:
        self._writing += 1
        self._release_snapshot()  # or the log could not be written over while reads and writes go on side by side

    def writes_decided(self, number: int) -> None:
        self._writing -= number

    # -- what others do, and what is wrong

    async def watch(self, on_commit: Callable[[], None]) -> None:
        """SQLite tells nobody that another process has written, and counts it up where one may look.

        The first look tells too: another process may have written before this began. Raises `StoreFailure` where the
        database cannot be opened.
        """
        connection = connections.open_reader(self._settings.path, 0)
        seen = None
        self._watching = True
        try:
            while True:
                await trio.sleep(POLL_SECONDS)
                current = _data_version(connection)
                if current is None or current != seen:  # also by our own writer: a false alarm costs one empty look
                    self._forget_snapshot()
                    on_commit()
                seen = current
        finally:
            self._watching = False
            connection.close()

    async def find_damage(self) -> list[str] | None:
        over = threading.Event()
        try:
            faults = await trio.to_thread.run_sync(
                find_damage, self._settings.path, over.is_set, abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            over.set()
        if faults:
            self._faults.found(faults[0])
        return faults

    def catalogue(self) -> Catalogue:
        return read_catalogue(self._settings.path)

    def form(self) -> Form:
        return form_of(self._settings.path)

    # -- life

    def close_reads(self) -> None:
        self._forget_snapshot()
        self._reader.close()
        self._long_reads.close()

    def stop(self) -> None:
        """Before the connection that writes is closed, as the last: SQLite then copies the log into the database and
        removes it, and a copy of the one file is whole."""
        self._checkpoints.close()

    def close(self) -> None:
        self._pulse.close()


def _data_version(connection: apsw.Connection) -> object:
    """None where it cannot be read: the tasks that this wakes find out why."""
    try:
        return connection.pragma("data_version")
    except ENGINE_FAILURES:
        return None
