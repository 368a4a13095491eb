"""The engine of imports: takes files, and works on runs in tasks of its own until they are applied, undone or failed.

A request waits for its run for a while, and is answered as far as the run has come by then. Whoever works on a run
holds the lock of its account; a run with a stage whose lock is free was left by a process that was ended:

    reading      fails: its file is gone
    applying     goes on where it was, or begins again where nothing has come in yet
    reverting    goes on
"""

import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import trio
from msgspec.structs import replace

from gatewayd.areas.banking.accounts.rows import ACCOUNTS
from gatewayd.areas.banking.accounts.shapes import BankAccountRow
from gatewayd.areas.banking.imports import rows
from gatewayd.areas.banking.imports.rows import RUNS
from gatewayd.areas.banking.imports.shapes import ImportRunRow, RunSource, RunStatus, Stage
from gatewayd.clock import DAY
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import FieldError, Problem, invalid_state
from gatewayd.http1.log import Log
from gatewayd.importing import moves, reading
from gatewayd.importing.account_locks import AccountLock, AccountLocks
from gatewayd.importing.pace import Pace
from gatewayd.importing.reading import FileReader, Progress, ReadApart, Source
from gatewayd.ledger import hidden_imports
from gatewayd.statements.shapes import Format, Mapping, Unreadable
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx

ANSWER_SECONDS: Final = 20.0  # Chosen: a request is answered by then; clients often give up after 30
AT_ONCE: Final = 3  # Chosen: runs that are worked on at a time
PREVIEW_DAYS: Final = 7  # Chosen: how long a preview waits to be applied
TRIES: Final = 3  # Chosen: comparisons, where periods are closed meanwhile
RECOVERED_AT_ONCE: Final = 100
_INTERRUPTED: Final = "The program was ended while the file was read: import it again."
_EXPIRED: Final = f"The preview was not applied within {PREVIEW_DAYS} days: import the file again."


def _silent(rows_read: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportParts:
    """What the engine works with.

    `patience` is how many seconds a request waits for its run; infinite: until it has ended, and then its file may be
    read where it lies. `max_bytes` is the largest file.
    """

    store: Store
    directory: Path
    read_apart: ReadApart
    log: Log
    max_bytes: int
    patience: float = ANSWER_SECONDS
    source: RunSource = "api"
    progress: Progress = _silent
    sizes: moves.Sizes = moves.SIZES


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done with a file. `format` and `mapping` None: found out by content."""

    account_id: str
    file_name: str
    format: Format | None
    mapping: Mapping | None
    preview: bool


@dataclass(slots=True, eq=False)
class _Job:
    """One run that is worked on."""

    org_id: str
    run_id: str
    lock: AccountLock
    work: Callable[[], Awaitable[None]]
    done: trio.Event = field(default_factory=trio.Event)
    error: Problem | StoreFailure | None = None


@asynccontextmanager
async def open_importing(parts: ImportParts) -> AsyncIterator["Importing"]:
    """The engine for the length of the block. What it works on at the end is gone on with at the next start."""
    async with trio.open_nursery() as nursery:
        yield Importing(parts, nursery)
        nursery.cancel_scope.cancel()


class Importing:
    """The imports of one process."""

    def __init__(self, parts: ImportParts, nursery: trio.Nursery) -> None:
        self._parts = parts
        self._store = parts.store
        self._nursery = nursery
        self._locks = AccountLocks(parts.directory)
        self._places = trio.CapacityLimiter(AT_ONCE)

    # -- what is asked for

    async def import_file(self, org_id: str, order: Order, file: ReceivedFile) -> ImportRunRow:
        """Import a file, or preview it; a file that the account has already is answered with its run.

        Raises `Problem`: `not_found`, `invalid_state`, and `validation_failed` for a file that cannot be read.
        """
        await self._store.read(lambda tx: _open_account(tx, order.account_id), org_id)
        lock = await self._take(org_id, order.account_id)
        try:
            run = await self._store.write(lambda tx: self._begin(tx, order, file), org_id)
            if run.stage is None:
                lock.release()
                return run
            path = self._keep(file, run.id)
        except BaseException:
            lock.release()
            raise
        source = Source(
            path=path,
            file_name=order.file_name,
            format=order.format,
            mapping=order.mapping,
            max_bytes=self._parts.max_bytes,
        )
        return await self._do(_Job(org_id, run.id, lock, lambda: self._bring(org_id, run, source, order.preview)))

    async def apply(self, org_id: str, import_id: str) -> ImportRunRow:
        """Apply a preview. Raises `Problem`: `not_found`, `invalid_state`."""
        run = await self._store.read(lambda tx: RUNS.get(tx, import_id), org_id)
        lock = await self._take(org_id, run.account_id)
        try:
            run = await self._store.write(lambda tx: _begin_applying(tx, import_id), org_id)
        except BaseException:
            lock.release()
            raise
        return await self._do(_Job(org_id, run.id, lock, lambda: self._apply(org_id, run)))

    async def undo(self, org_id: str, import_id: str) -> ImportRunRow:
        """Take out what an import brought. Raises `Problem`: `not_found`, `invalid_state`, `period_closed`."""
        run = await self._store.read(lambda tx: RUNS.get(tx, import_id), org_id)
        lock = await self._take(org_id, run.account_id)
        try:
            run = await self._store.write(lambda tx: _begin_undoing(tx, import_id, self._parts.sizes), org_id)
        except BaseException:
            lock.release()
            raise
        return await self._do(_Job(org_id, run.id, lock, lambda: self._undo(org_id, run)))

    # -- jobs

    async def _take(self, org_id: str, account_id: str) -> AccountLock:
        """The lock of an account whose last run has ended. Raises `Problem` `invalid_state`."""
        lock = self._locks.take(account_id)
        if lock is None:
            raise _busy()
        try:
            left = await self._store.read(lambda tx: rows.at_work(tx, account_id), org_id)
        except BaseException:
            lock.release()
            raise
        if left is None:
            return lock
        await self._do(self._recovery(org_id, left, lock))
        lock = self._locks.take(account_id)
        if lock is None:
            raise _busy()
        return lock

    async def _do(self, job: _Job) -> ImportRunRow:
        """Work on a run in a task, and answer it as it is in the end, or when patience is over."""
        self._nursery.start_soon(self._work, job)
        with trio.move_on_after(self._parts.patience):
            await job.done.wait()
        if job.error is not None:
            raise job.error
        return await self._store.read(lambda tx: RUNS.get(tx, job.run_id), job.org_id)

    async def _work(self, job: _Job) -> None:
        """The import border: one import fails, and the daemon goes on."""
        try:
            async with self._places:
                await job.work()
        except Problem as error:
            job.error = error
        except StoreFailure as error:
            job.error = error
            self._parts.log.error("import_interrupted", import_id=job.run_id, exc_info=error)
        except Exception as error:  # the import border
            job.error = Problem("internal_error", "Something went wrong on our side.")
            self._parts.log.error("import_failed", import_id=job.run_id, exc_info=error)
            await self._give_up(job)
        finally:
            job.lock.release()
            job.done.set()

    async def _give_up(self, job: _Job) -> None:
        """Let a run fail whose rows have not begun to come in; others are gone on with."""
        with contextlib.suppress(StoreFailure):
            await self._store.write(lambda tx: _fail_unless_hidden(tx, job.run_id), job.org_id)

    def _begin(self, tx: WriteTx, order: Order, file: ReceivedFile) -> ImportRunRow:
        account = _open_account(tx, order.account_id)
        former = rows.same_file(tx, account.id, file.sha256)
        if former is not None:
            return former
        run = RUNS.new(
            tx,
            None,
            kind="bank",
            source=self._parts.source,
            account_id=account.id,
            file_name=order.file_name,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            status="uploaded",
            stage="reading",
            moved_to=0,
            currency=account.currency,
            refused=[],
            **dict.fromkeys(("rows", "added", "duplicates", "replaced", "refused_rows"), 0),
        )
        return RUNS.insert(tx, run)

    def _keep(self, file: ReceivedFile, import_id: str) -> Path:
        """Where the file can be read until its run has; `file` itself is removed with its request."""
        if self._parts.patience == math.inf:
            return file.path
        try:
            return file.path.rename(self._locks.folder / import_id)
        except OSError as error:
            raise StoreFailure(f"the file cannot be kept: {error.strerror}") from error

    # -- the work

    async def _bring(self, org_id: str, run: ImportRunRow, source: Source, preview: bool) -> None:
        reader = FileReader(self._store, self._parts.read_apart, run, org_id, self._parts.progress)
        try:
            run = await reader.read(source)
        except Unreadable as error:
            await self._refuse(org_id, run, error)
            return
        finally:
            if source.path.parent == self._locks.folder:
                source.path.unlink(missing_ok=True)
        if preview:
            run = await reading.compare(self._store, org_id, run)
            await self._store.write(lambda tx: _move(tx, run, "previewed", None), org_id)
            return
        await self._store.write(lambda tx: _move(tx, run, "applying", "applying"), org_id)
        await self._apply(org_id, replace(run, status="applying", stage="applying"))

    async def _refuse(self, org_id: str, run: ImportRunRow, error: Unreadable) -> None:
        """Raises `Problem` `validation_failed` for a file that no mapping would make readable."""
        await reading.forget_all(self._store, org_id, run.id)
        if error.proposal is not None:
            waiting = replace(reading.waiting_for_mapping(run, error), moved_to=None)
            await self._store.write(lambda tx: RUNS.update(tx, waiting), org_id)
            return
        failed = replace(run, status="failed", stage=None, error=str(error), moved_to=None)
        await self._store.write(lambda tx: RUNS.update(tx, failed), org_id)
        raise Problem(
            "validation_failed",
            f"The file cannot be read: {error}",
            errors=(FieldError("file", "unreadable_file", str(error)),),
            extra={"importId": run.id},
        )

    async def _apply(self, org_id: str, run: ImportRunRow) -> None:
        for _ in range(TRIES):
            run = await reading.compare(self._store, org_id, run)
            try:
                if run.added + run.replaced <= self._parts.sizes.whole:
                    await self._store.write(partial(moves.apply_whole, run=run), org_id)
                else:
                    await self._store.write(partial(moves.begin_hidden, run=run), org_id)
                    await self._apply_hidden(org_id, run)
            except moves.PeriodsChanged:
                continue
            await self._forget(org_id, run.id)
            return
        await self._store.write(lambda tx: _fail(tx, run.id, "Periods were closed while it was applied."), org_id)

    async def _apply_hidden(self, org_id: str, run: ImportRunRow) -> None:
        """Bring the rows in that have not come in yet. Raises `PeriodsChanged`, and then none of them has."""
        position = run.moved_to or 0
        staged = await self._store.read_later(lambda tx: rows.last_position(tx, run.id), org_id)
        pace = Pace(self._store, org_id)
        while position < staged:
            position = await pace.write(
                partial(moves.apply_chunk, run=run, after=position, count=self._parts.sizes.chunk)
            )
        try:
            await self._store.write(lambda tx: moves.end_hidden(tx, run), org_id)
        except moves.PeriodsChanged:
            await self._empty(org_id, run)
            await self._store.write(lambda tx: moves.take_back(tx, run), org_id)
            raise

    async def _undo(self, org_id: str, run: ImportRunRow) -> None:
        if run.stage == "reverting":
            await self._empty(org_id, run)
            await self._store.write(lambda tx: moves.end_undoing(tx, run), org_id)
        await self._forget(org_id, run.id, whole=True)

    async def _empty(self, org_id: str, run: ImportRunRow) -> None:
        await Pace(self._store, org_id).drain(partial(moves.undo_chunk, run=run, count=self._parts.sizes.chunk))

    async def _forget(self, org_id: str, import_id: str, *, whole: bool = False) -> None:
        """Delete the staged rows that nobody needs any more."""
        forget = reading.forget_all if whole else reading.forget_applied
        await forget(self._store, org_id, import_id)
        await self._store.write(lambda tx: rows.note_moved(tx, import_id, None), org_id)

    # -- what was left

    def _recovery(self, org_id: str, run: ImportRunRow, lock: AccountLock) -> _Job:
        """The job of going on with a run that was left."""

        async def work() -> None:
            if run.stage == "reverting":
                await self._undo(org_id, run)
            elif run.stage == "reading":
                (self._locks.folder / run.id).unlink(missing_ok=True)
                await reading.forget_all(self._store, org_id, run.id)
                await self._store.write(lambda tx: _fail(tx, run.id, _INTERRUPTED), org_id)
            elif await self._store.read(lambda tx: hidden_imports.is_hidden(tx, run.id), org_id):
                await self._go_on(org_id, run)
            else:
                await self._apply(org_id, run)

        return _Job(org_id, run.id, lock, work)

    async def _go_on(self, org_id: str, run: ImportRunRow) -> None:
        """Bring in what is left of a large import."""
        try:
            await self._apply_hidden(org_id, run)
        except moves.PeriodsChanged:
            await self._apply(org_id, replace(run, moved_to=0))
        else:
            await self._forget(org_id, run.id)

    async def recover(self) -> int:
        """Go on with runs that were left by processes that have ended; answers how many that were."""
        found = await self._store.read_later(lambda tx: rows.all_at_work(tx, RECOVERED_AT_ONCE), None)
        recovered = 0
        for org_id, account_id, import_id in found:
            lock = self._locks.take(account_id)
            if lock is None:
                continue
            run = await self._store.read(partial(RUNS.find, id_=import_id), org_id)
            if run is None or run.stage is None:
                lock.release()
                continue
            self._nursery.start_soon(self._work, self._recovery(org_id, run, lock))
            recovered += 1
        return recovered

    async def keep_house(self) -> None:
        """Go on with what was left, give up previews that nobody applied, and forget staged rows."""
        await self.recover()
        before = self._store.now() - PREVIEW_DAYS * DAY
        await self._store.sweep(lambda tx: rows.expire(tx, before, _EXPIRED, RECOVERED_AT_ONCE), RECOVERED_AT_ONCE)
        for org_id, import_id in await self._store.read_later(lambda tx: rows.to_forget(tx, 10), None):
            status = await self._store.read(partial(rows.status_of, import_id=import_id), org_id)
            await self._forget(org_id, import_id, whole=status != "applied")


def _open_account(tx: ReadTx, account_id: str) -> BankAccountRow:
    """Raises `Problem`: `not_found`, `invalid_state` for an account that is closed."""
    account = ACCOUNTS.get(tx, account_id)
    if account.status == "closed":
        raise invalid_state("The account is closed: open it again to import into it.", "closed", ("active",))
    return account


def _busy() -> Problem:
    return invalid_state("Another import works on this account: wait until it has ended.", "applying", ())


def _begin_applying(tx: WriteTx, import_id: str) -> ImportRunRow:
    run = RUNS.get(tx, import_id)
    if run.status != "previewed":
        raise invalid_state(f"The import is {run.status}.", run.status, ())
    _open_account(tx, run.account_id)
    return _move(tx, run, "applying", "applying")


def _begin_undoing(tx: WriteTx, import_id: str, sizes: moves.Sizes) -> ImportRunRow:
    run = RUNS.get(tx, import_id)
    if run.status != "applied":
        raise invalid_state(f"The import is {run.status}.", run.status, ())
    return moves.begin_undoing(tx, run, sizes)


def _move(tx: WriteTx, run: ImportRunRow, status: RunStatus, stage: Stage | None) -> ImportRunRow:
    return RUNS.update(tx, replace(run, status=status, stage=stage))


def _fail_unless_hidden(tx: WriteTx, import_id: str) -> None:
    if not hidden_imports.is_hidden(tx, import_id):
        _fail(tx, import_id, "Something went wrong on our side.")


def _fail(tx: WriteTx, import_id: str, reason: str) -> ImportRunRow:
    run = RUNS.get(tx, import_id)
    return RUNS.update(tx, replace(run, status="failed", stage=None, error=reason))
