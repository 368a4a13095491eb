"""The engine of imports: takes files, and works on runs in tasks of its own until they are applied, undone or failed.

A request waits for its run for a while, and is answered as far as the run has come by then. Whoever works on a run
holds the lease of its account, and writes nothing of it once somebody else has that (see `work`). A run with a stage
and without a lease was left by a process that was ended:

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
from gatewayd.importing import runs
from gatewayd.importing.bank import undoing
from gatewayd.importing.bank.accounts_in import InFile, accounts_in
from gatewayd.importing.kinds import Kind, NotTaken
from gatewayd.importing.parts import FOLDER_NAME, ImportParts
from gatewayd.importing.work import KINDS, Work
from gatewayd.leases.holder import Lease
from gatewayd.leases.rows import LeaseLost
from gatewayd.ledger.imports import import_runs
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportKind, ImportRunRow
from gatewayd.shares import Shares
from gatewayd.statements.shapes import Unreadable
from gatewayd.store import ReadTx, StoreFailure, WriteTx
from gatewayd.store.files.private_files import make_folder

AT_ONCE: Final = 3  # Chosen: runs that are worked on at a time
ORGANIZATION_AT_ONCE: Final = 2  # Chosen: those of one organization; the others wait, since they are on record
PREVIEW_DAYS: Final = 7  # Chosen: how long a preview waits to be applied
RECOVERED_AT_ONCE: Final = 100
LET_GO_SECONDS: Final = 1.0  # Chosen: far longer than the end of a run takes from its last row to its lease
LOOK_AGAIN_SECONDS: Final = 0.01
_EXPIRED: Final = f"Nobody went on with it for {PREVIEW_DAYS} days: import the file again."
_WAITING: Final = ("previewed", "uploaded")


@dataclass(slots=True, eq=False)
class _Job:
    """One run that is worked on."""

    work: Work
    do: Callable[[], Awaitable[None]]
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
        self._folder = parts.directory / FOLDER_NAME
        self._threads = trio.CapacityLimiter(1)
        self.shares = Shares("imports", AT_ONCE, ORGANIZATION_AT_ONCE)
        self._kinds: Mapping[ImportKind, Kind] = {name: kind(parts) for name, kind in KINDS.items()}

    # -- what is asked for

    async def import_file(self, org_id: str, order: runs.Order, file: ReceivedFile) -> ImportRunRow:
        """Import a file, or preview it; a file that the account has already is answered with its run.

        Raises `Problem`: `not_found`, `invalid_state`, and `validation_failed` for a file that cannot be read.
        """
        kind = self._kinds[order.kind]
        if order.new_account is None:
            await self._store.read(lambda tx: kind.open_account(tx, order.account_id), org_id)
        else:  # so that its lease is held before anybody finds it
            order = dataclasses.replace(order, account_id=await self._store.write(lambda tx: tx.new_id("bac")))
        run, lease = await self._begun(
            org_id, order.account_id, lambda tx: runs.begin(tx, order, kind, file, self._parts.source)
        )
        if run.stage is None:
            await lease.release()
            return run
        try:
            path = self._keep(file, run.id)
        except BaseException:
            await lease.release()
            raise
        source, work = order.source(path, self._parts.max_bytes), Work(self._parts, lease, run)
        return await self._do(_Job(work, lambda: work.bring(source, order.preview)))

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
        run, lease = await self._begun(org_id, account_id, begin)
        work = Work(self._parts, lease, run)
        return await self._do(_Job(work, work.apply))

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
        run, lease = await self._begun(org_id, account_id, begin, lambda: self._check_undoing(org_id, import_id, kind))
        work = Work(self._parts, lease, run)
        return await self._do(_Job(work, work.undo))

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
    ) -> tuple[ImportRunRow, Lease]:
        """A run that was begun once it was checked, and the lease of its account."""
        lease = await self._take(org_id, account_id)
        try:
            if check is not None:
                await check()
            return await self._store.write(lease.fenced(begin), org_id), lease
        except LeaseLost:
            await lease.release()
            raise runs.busy() from None
        except BaseException:
            await lease.release()
            raise

    async def _check_undoing(self, org_id: str, import_id: str, kind: Kind) -> None:
        run = await self._store.read(lambda tx: RUNS.get(tx, import_id), org_id)
        await kind.check_undoing(org_id, run)

    async def _take(self, org_id: str, account_id: str) -> Lease:
        """The lease of an account whose last run has ended. Raises `Problem` `invalid_state`."""
        lease = await self._taken_soon(org_id, account_id)
        try:
            left = await self._store.read(lambda tx: import_runs.at_work(tx, account_id), org_id)
        except BaseException:
            await lease.release()
            raise
        if left is None:
            return lease
        await self._do(self._recovery(left, lease))
        return await self._taken_soon(org_id, account_id)

    async def _taken_soon(self, org_id: str, account_id: str) -> Lease:
        """The lease, which is waited for while no run is at work: one ends a moment before it lets the account go."""
        with trio.move_on_after(LET_GO_SECONDS):
            while (lease := await self._taken(org_id, account_id)) is None:
                if await self._store.read(lambda tx: import_runs.at_work(tx, account_id), org_id) is not None:
                    raise runs.busy()
                await trio.sleep(LOOK_AGAIN_SECONDS)
            return lease
        raise runs.busy()

    async def _taken(self, org_id: str, account_id: str) -> Lease | None:
        return await self._parts.holder.take(org_id, f"import:{account_id}")

    async def _do(self, job: _Job) -> ImportRunRow:
        """Work on a run in a task, and answer it as it is in the end, or when patience is over."""
        self._nursery.start_soon(self._work, job)
        with trio.move_on_after(self._parts.patience):
            await job.done.wait()
        if job.error is not None:
            raise job.error
        return await self._store.read(lambda tx: RUNS.get(tx, job.work.run_id), job.work.org_id)

    async def _work(self, job: _Job) -> None:
        """The import border: one import fails, and the daemon goes on."""
        work, is_lost = job.work, False
        try:
            async with self.shares.place(work.org_id):
                await job.do()
        except LeaseLost:  # whoever has it goes on with the run, and whoever waits here is told how far it has come
            is_lost = True
            self._parts.log.warning("import_left_to_others", import_id=work.run_id)
        except Problem as error:
            job.error = error
        except StoreFailure as error:
            job.error = error
            self._parts.log.error("import_interrupted", import_id=work.run_id, exc_info=error)
        except Exception as error:  # the import border
            job.error = Problem("internal_error", "Something went wrong on our side.")
            self._parts.log.error("import_failed", import_id=work.run_id, exc_info=error)
            await work.give_up()
        finally:
            await work.lease.release()
            if self._parts.patience < math.inf:
                job.done.set()
        if not is_lost:
            await self._tidy(work.org_id, work.run_id)
        job.done.set()

    async def _tidy(self, org_id: str, import_id: str) -> None:
        """Delete the staged rows of a run that has ended: the account is free for the next one meanwhile."""
        with contextlib.suppress(StoreFailure):  # housekeeping does it
            run = await self._store.read(lambda tx: RUNS.find(tx, import_id), org_id)
            if run is None or run.moved_to is None or run.stage is not None or run.status in _WAITING:
                return
            await self._kinds[run.kind].forget(org_id, run)
            await self._store.write(partial(runs.end_staging, run=run), org_id)

    def _keep(self, file: ReceivedFile, import_id: str) -> Path:
        """Where the file can be read until its run has; `file` itself is removed with its request."""
        if self._parts.patience == math.inf:
            return file.path
        try:
            make_folder(self._folder, self._parts.directory)
            return file.path.rename(self._folder / import_id)
        except OSError as error:
            raise StoreFailure(f"the file cannot be kept: {error.strerror}") from error

    # -- what was left

    def _recovery(self, run: ImportRunRow, lease: Lease) -> _Job:
        """The job of going on with a run that was left."""
        work = Work(self._parts, lease, run)
        return _Job(work, work.go_on)

    async def recover(self) -> int:
        """Go on with runs that were left by processes that have ended; answers how many that were."""
        waiting = await self._store.read_later(lambda tx: import_runs.all_at_work(tx, RECOVERED_AT_ONCE), None)
        recovered = 0
        for org_id, account_id, import_id in waiting:
            lease = await self._taken(org_id, account_id)
            if lease is None:
                continue
            try:
                run = await self._store.read(partial(RUNS.find, id_=import_id), org_id)
            except BaseException:
                await lease.release()
                raise
            if run is None or run.stage is None:
                await lease.release()
                continue
            self._nursery.start_soon(self._work, self._recovery(run, lease))
            recovered += 1
        return recovered

    async def _forget_files(self) -> None:
        """Delete files of runs that are not being read any more: a daemon of another machine has let them fail."""
        for path in await trio.to_thread.run_sync(self._kept_files, limiter=self._threads):
            if not await self._store.read(partial(import_runs.is_being_read, id_=path.name)):
                await trio.to_thread.run_sync(partial(path.unlink, missing_ok=True), limiter=self._threads)

    def _kept_files(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("imp_*") if path.is_file())

    async def keep_house(self) -> None:
        """Go on with what was left, give up previews that nobody applied, and forget files and staged rows."""
        await self.recover()
        await self._forget_files()
        before = self._store.now() - PREVIEW_DAYS * DAY
        await self._store.sweep(
            lambda tx: import_runs.expire(tx, before, _EXPIRED, RECOVERED_AT_ONCE), RECOVERED_AT_ONCE
        )
        for org_id, import_id in await self._store.read_later(lambda tx: import_runs.to_forget(tx, 10), None):
            await self._tidy(org_id, import_id)
