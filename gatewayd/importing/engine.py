"""The engine of imports: takes files, and works on runs in tasks of its own until they are applied, undone or failed.

A request waits for its run for a while, and is answered as far as the run has come by then. Whoever works on a run
holds the lock of its account; a run with a stage whose lock is free was left by a process that was ended:

    reading      fails: its file is gone
    applying     goes on where it was, or begins again where nothing has come in yet
    allocating   begins again: what is allocated stays
    reverting    goes on
"""

import contextlib
import dataclasses
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import trio
from msgspec.structs import replace

from gatewayd.clock import DAY
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import Problem
from gatewayd.importing import reading, runs
from gatewayd.importing.account_locks import AccountLocks
from gatewayd.importing.bank import undoing
from gatewayd.importing.bank.accounts_in import InFile, accounts_in
from gatewayd.importing.bank.imports import BankImports
from gatewayd.importing.broker.imports import BrokerImports
from gatewayd.importing.kinds import Kind, NotTaken
from gatewayd.importing.parts import ImportParts
from gatewayd.importing.reading import Source
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportKind, ImportRunRow
from gatewayd.shares import Shares
from gatewayd.statements.shapes import Unreadable
from gatewayd.store import ReadTx, StoreFailure, WriteTx
from gatewayd.store.files.file_lock import FileLock

AT_ONCE: Final = 3  # Chosen: runs that are worked on at a time
ORGANIZATION_AT_ONCE: Final = 2  # Chosen: those of one organization; the others wait, since they are on record
PREVIEW_DAYS: Final = 7  # Chosen: how long a preview waits to be applied
RECOVERED_AT_ONCE: Final = 100
_INTERRUPTED: Final = "The program was ended while the file was read: import it again."
_EXPIRED: Final = f"Nobody went on with it for {PREVIEW_DAYS} days: import the file again."
_WAITING: Final = ("previewed", "uploaded")


@dataclass(slots=True, eq=False)
class _Job:
    """One run that is worked on."""

    org_id: str
    run_id: str
    kind: Kind
    lock: FileLock
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
        self.shares = Shares("imports", AT_ONCE, ORGANIZATION_AT_ONCE)
        self._kinds: Mapping[ImportKind, Kind] = {"bank": BankImports(parts), "broker": BrokerImports(parts)}

    # -- what is asked for

    async def import_file(self, org_id: str, order: runs.Order, file: ReceivedFile) -> ImportRunRow:
        """Import a file, or preview it; a file that the account has already is answered with its run.

        Raises `Problem`: `not_found`, `invalid_state`, and `validation_failed` for a file that cannot be read.
        """
        kind = self._kinds[order.kind]
        if order.new_account is None:
            await self._store.read(lambda tx: kind.open_account(tx, order.account_id), org_id)
        else:  # so that its lock is held before anybody finds it
            order = dataclasses.replace(order, account_id=await self._store.write(lambda tx: tx.new_id("bac")))
        run, lock = await self._begun(
            org_id, order.account_id, lambda tx: runs.begin(tx, order, kind, file, self._parts.source)
        )
        try:
            if run.stage is None:
                lock.release()
                if run.account_id != order.account_id:  # which none was made under
                    self._locks.forget(order.account_id)
                return run
            path = self._keep(file, run.id)
        except BaseException:
            lock.release()
            raise
        source = order.source(path, self._parts.max_bytes)
        return await self._do(_Job(org_id, run.id, kind, lock, lambda: self._bring(org_id, run, source, order.preview)))

    async def accounts_in(self, org_id: str, order: runs.Order, file: ReceivedFile, currency: str) -> list[InFile]:
        """The accounts that a bank's file is of; `currency` is that of a file which names none.

        Raises `Problem` `validation_failed` for a file that cannot be read.
        """
        source = order.source(file.path, self._parts.max_bytes)
        try:
            return await accounts_in(self._parts, org_id, source, currency)
        except NotTaken as error:
            raise error.problem from None
        except Unreadable as error:
            raise runs.unreadable(error) from None

    async def apply(
        self, org_id: str, import_id: str, of_kind: ImportKind, *, overrides_closing: bool = False
    ) -> ImportRunRow:
        """Apply a preview. Raises `Problem`: `not_found`, `invalid_state`."""
        kind = self._kinds[of_kind]
        account_id = await self._account_of(org_id, import_id, of_kind)
        begin = partial(runs.begin_applying, import_id=import_id, kind=kind, overrides_closing=overrides_closing)
        run, lock = await self._begun(org_id, account_id, begin)
        return await self._do(_Job(org_id, run.id, kind, lock, lambda: kind.apply(org_id, run)))

    async def undo(
        self,
        org_id: str,
        import_id: str,
        of_kind: ImportKind,
        *,
        overrides_closing: bool = False,
        removes_allocations: bool = False,
    ) -> ImportRunRow:
        """Take out what an import brought. Raises `Problem` as `Kind.begin_undoing`, and `not_found`."""
        kind = self._kinds[of_kind]
        account_id = await self._account_of(org_id, import_id, of_kind)
        begin = partial(
            runs.begin_undoing,
            import_id=import_id,
            kind=kind,
            overrides_closing=overrides_closing,
            removes_allocations=removes_allocations,
        )
        run, lock = await self._begun(org_id, account_id, begin, lambda: self._check_undoing(org_id, import_id, kind))
        return await self._do(_Job(org_id, run.id, kind, lock, lambda: self._undo(org_id, run)))

    async def planned_undoing(self, org_id: str, import_id: str) -> ImportRunRow:
        """A bank's import with what an undoing would take out. Raises `Problem`: `not_found`, `invalid_state`."""

        def planned(tx: ReadTx) -> ImportRunRow:
            run = import_runs.run_of(tx, "bank", import_id)
            runs.refuse_undoing(run)
            return replace(run, undoing=undoing.planned(tx, run))

        return await self._store.read_later(planned, org_id)

    # -- jobs

    async def _account_of(self, org_id: str, import_id: str, of_kind: ImportKind) -> str:
        return (await self._store.read(lambda tx: import_runs.run_of(tx, of_kind, import_id), org_id)).account_id

    async def _begun(
        self,
        org_id: str,
        account_id: str,
        begin: Callable[[WriteTx], ImportRunRow],
        check: Callable[[], Awaitable[None]] | None = None,
    ) -> tuple[ImportRunRow, FileLock]:
        """A run that was begun once it was checked, and the lock of its account."""
        lock = await self._take(org_id, account_id)
        try:
            if check is not None:
                await check()
            return await self._store.write(begin, org_id), lock
        except BaseException:
            lock.release()
            raise

    async def _check_undoing(self, org_id: str, import_id: str, kind: Kind) -> None:
        run = await self._store.read(lambda tx: RUNS.get(tx, import_id), org_id)
        await kind.check_undoing(org_id, run)

    async def _take(self, org_id: str, account_id: str) -> FileLock:
        """The lock of an account whose last run has ended. Raises `Problem` `invalid_state`."""
        lock = self._locks.take(account_id)
        if lock is None:
            raise runs.busy()
        try:
            left = await self._store.read(lambda tx: import_runs.at_work(tx, account_id), org_id)
        except BaseException:
            lock.release()
            raise
        if left is None:
            return lock
        await self._do(self._recovery(org_id, left, lock))
        lock = self._locks.take(account_id)
        if lock is None:
            raise runs.busy()
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
            async with self.shares.place(job.org_id):
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
            if self._parts.patience < math.inf:
                job.done.set()
        await self._tidy(job.org_id, job.run_id)
        job.done.set()

    async def _tidy(self, org_id: str, import_id: str) -> None:
        """Delete the staged rows of a run that has ended: the account is free for the next one meanwhile."""
        with contextlib.suppress(StoreFailure):  # housekeeping does it
            run = await self._store.read(lambda tx: RUNS.find(tx, import_id), org_id)
            if run is None or run.moved_to is None or run.stage is not None or run.status in _WAITING:
                return
            await self._kinds[run.kind].forget(org_id, run)
            if await self._store.write(partial(runs.end_staging, run=run), org_id):
                self._locks.forget(run.account_id)

    async def _give_up(self, job: _Job) -> None:
        """Let a run fail whose rows have not begun to come in; others are gone on with."""
        with contextlib.suppress(StoreFailure):
            await self._store.write(lambda tx: runs.fail_unless_begun(tx, job.run_id, job.kind), job.org_id)

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
        kind = self._kinds[run.kind]
        try:
            run = await kind.read(org_id, run, source)
        except Unreadable as error:
            await self._refuse(org_id, run, error)
            return
        finally:
            if source.path.parent == self._locks.folder:
                source.path.unlink(missing_ok=True)
        if preview:
            run = await kind.compare(org_id, run)
            await self._store.write(lambda tx: runs.move(tx, run, "previewed", None), org_id)
            return
        await self._store.write(lambda tx: runs.move(tx, run, "applying", "applying"), org_id)
        await kind.apply(org_id, replace(run, status="applying", stage="applying"))

    async def _refuse(self, org_id: str, run: ImportRunRow, error: Unreadable) -> None:
        """Raises `Problem` `validation_failed` for a file that no mapping would make readable."""
        await self._kinds[run.kind].forget_all(org_id, run.id)
        if error.proposal is not None:
            waiting = reading.waiting_for_mapping(run, error)
            waiting = replace(waiting, moved_to=0 if run.makes_account else None)
            await self._store.write(lambda tx: RUNS.update(tx, waiting), org_id)
            return
        await self._store.write(lambda tx: runs.fail(tx, run.id, str(error)), org_id)
        raise runs.refusal(run, error)

    async def _undo(self, org_id: str, run: ImportRunRow) -> None:
        if run.stage == "reverting":
            await self._kinds[run.kind].undo(org_id, run)

    # -- what was left

    def _recovery(self, org_id: str, run: ImportRunRow, lock: FileLock) -> _Job:
        """The job of going on with a run that was left."""
        kind = self._kinds[run.kind]

        async def work() -> None:
            if run.stage == "reverting":
                await kind.undo(org_id, run)
            elif run.stage == "reading":
                (self._locks.folder / run.id).unlink(missing_ok=True)
                await kind.forget_all(org_id, run.id)
                await self._store.write(lambda tx: runs.fail(tx, run.id, _INTERRUPTED), org_id)
            else:
                await kind.go_on(org_id, run)

        return _Job(org_id, run.id, kind, lock, work)

    async def recover(self) -> int:
        """Go on with runs that were left by processes that have ended; answers how many that were."""
        waiting = await self._store.read_later(lambda tx: import_runs.all_at_work(tx, RECOVERED_AT_ONCE), None)
        recovered = 0
        for org_id, account_id, import_id in waiting:
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
        await self._store.sweep(
            lambda tx: import_runs.expire(tx, before, _EXPIRED, RECOVERED_AT_ONCE), RECOVERED_AT_ONCE
        )
        for org_id, import_id in await self._store.read_later(lambda tx: import_runs.to_forget(tx, 10), None):
            await self._tidy(org_id, import_id)
