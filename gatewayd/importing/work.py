"""The work on one run. Whatever it writes is fenced: once somebody else has the lease of the account, nothing.

A process may be stopped for as long as one likes, with its machine or by whoever debugs it. Meanwhile its lease ends,
and another process goes on with the run. When it wakes, its next write finds that out in its own transaction and raises
`LeaseLost`, behind which nothing of the run is written.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from gatewayd.importing import reading, runs
from gatewayd.importing.bank.imports import BankImports
from gatewayd.importing.broker.imports import BrokerImports
from gatewayd.importing.fencing import FencedStore
from gatewayd.importing.kinds import Kind
from gatewayd.importing.parts import FOLDER_NAME, ImportParts
from gatewayd.importing.reading import Source
from gatewayd.leases.holder import Lease
from gatewayd.leases.rows import LeaseLost
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportKind, ImportRunRow
from gatewayd.statements.shapes import Unreadable
from gatewayd.store import StoreFailure

KINDS: Final[Mapping[ImportKind, Callable[[ImportParts], Kind]]] = {"bank": BankImports, "broker": BrokerImports}
_INTERRUPTED: Final = "The program was ended while the file was read: import it again."


class Work:
    """What is done on a run under the lease of its account. All of it raises `LeaseLost`."""

    def __init__(self, parts: ImportParts, lease: Lease, run: ImportRunRow) -> None:
        self.org_id = lease.org_id
        self.run_id = run.id
        self.lease = lease
        self._run = run
        self._store = FencedStore(parts.store, lease)
        self._kind = KINDS[run.kind](dataclasses.replace(parts, store=self._store))
        self._folder = parts.directory / FOLDER_NAME

    async def bring(self, source: Source, preview: bool) -> None:
        """Read a file, compare its rows, and bring them in, unless that is for later."""
        kind, org_id = self._kind, self.org_id
        try:
            run = await kind.read(org_id, self._run, source)
        except Unreadable as error:
            await self._refuse(error)
            return
        finally:
            if source.path.parent == self._folder:
                source.path.unlink(missing_ok=True)
        if preview:
            run = await kind.compare(org_id, run)
            await self._store.write(lambda tx: runs.move(tx, run, "previewed", None), org_id)
            return
        await self._store.write(lambda tx: runs.move(tx, run, "applying", "applying"), org_id)
        await kind.apply(org_id, replace(run, status="applying", stage="applying"))

    async def _refuse(self, error: Unreadable) -> None:
        """Raises `Problem` `validation_failed` for a file that no mapping would make readable."""
        run, org_id = self._run, self.org_id
        await self._kind.forget_all(org_id, run.id)
        if error.proposal is not None:
            waiting = reading.waiting_for_mapping(run, error)
            waiting = replace(waiting, moved_to=0 if run.makes_account else None)
            await self._store.write(lambda tx: RUNS.update(tx, waiting), org_id)
            return
        await self._store.write(lambda tx: runs.fail(tx, run.id, str(error)), org_id)
        raise runs.refusal(run, error)

    async def apply(self) -> None:
        """Bring the rows of a preview in."""
        await self._kind.apply(self.org_id, self._run)

    async def undo(self) -> None:
        """Take out what is left to take out."""
        if self._run.stage == "reverting":
            await self._kind.undo(self.org_id, self._run)

    async def go_on(self) -> None:
        """Go on with a run that was left by a process that was ended."""
        run, org_id = self._run, self.org_id
        if run.stage == "reverting":
            await self._kind.undo(org_id, run)
        elif run.stage == "reading":
            (self._folder / run.id).unlink(missing_ok=True)
            await self._kind.forget_all(org_id, run.id)
            await self._store.write(lambda tx: runs.fail(tx, run.id, _INTERRUPTED), org_id)
        else:
            await self._kind.go_on(org_id, run)

    async def give_up(self) -> None:
        """Let the run fail whose rows have not begun to come in; others are gone on with."""
        with contextlib.suppress(StoreFailure, LeaseLost):
            await self._store.write(lambda tx: runs.fail_unless_begun(tx, self.run_id, self._kind), self.org_id)
