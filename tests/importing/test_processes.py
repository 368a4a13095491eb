"""Two processes at one account: what a killed one, or one that sleeps, leaves is gone on with after its lease's end."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from gatewayd.areas.banking.accounts.operations import create_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.clock import SystemClock
from gatewayd.following import reactions
from gatewayd.importing.engine import Importing, open_importing
from gatewayd.importing.parts import ImportParts
from gatewayd.leases import rows
from gatewayd.leases.holder import Holder
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import ReadTx, Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.importing.conftest import DEADLINE, ORG, ImportLog
from tests.importing.test_interrupted import SMALL
from tests.store.opening import child
from tests.support.loaded import Program
from tests.support.statement_files import line, read_parts, statement
from tests.support.store import make_caller

SECONDS = 3.0  # of a lease: more than a slow machine takes between two renewals
LINES = 400
FILE = statement([line(2 + n, f"2026-03-{1 + n % 28:02}", -100 - n, f"SHOP {n}") for n in range(LINES)])
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_STATE = "SELECT moved_to FROM import_runs WHERE stage = 'applying' AND moved_to BETWEEN 1 AND 380"
_LINES = "SELECT count(*), count(DISTINCT amount) FROM bank_transactions"


class Beside:
    """This process, beside the child."""

    def __init__(self, store: Store, importing: Importing, account: str) -> None:
        self.store, self.importing, self.account = store, importing, account

    async def run(self) -> ImportRunRow:
        """The one run."""
        (found,) = await self.store.read_later(lambda tx: [RUNS.read(tx, row) for row in tx.rows(RUNS.select)], ORG)
        return found

    async def lines(self) -> tuple[int, int]:
        """How many there are, and how many amounts."""
        return (await self.store.read_later(lambda tx: tx.rows(_LINES), ORG))[0]

    async def taken_over(self) -> None:
        """Go on with the run as soon as it can be had; that is not before the end of the lease that is there now."""
        until = await self.store.read_later(self._until, ORG)
        with trio.fail_after(DEADLINE):
            while await self.importing.recover() == 0:
                await trio.sleep(0.05)
            assert self.store.now() >= until
            while (await self.run()).moved_to is not None:
                await trio.sleep(0.05)

    def _until(self, tx: ReadTx) -> int:
        lease = rows.find(tx, f"import:{self.account}")
        assert lease is not None
        return lease.until


@asynccontextmanager
async def open_beside(image: bytes, directory: Path) -> AsyncIterator[Beside]:
    (directory / DATABASE_NAME).write_bytes(image)
    settings, log = StoreSettings(directory=directory, busy_timeout_seconds=DEADLINE), ImportLog()
    async with open_store(settings, SystemClock(), reactions=reactions) as store:
        await store.write(lambda tx: tx.run(_ADD_ORG, id=ORG))
        made = await store.write(
            lambda tx: create_account(tx, make_caller(ORG), CreateAccount(name="Current account")), ORG
        )
        parts = ImportParts(
            store=store,
            holder=Holder(store, seconds=SECONDS),
            directory=directory,
            read_apart=read_parts,
            log=log,
            max_bytes=1 << 24,
            sizes=SMALL,
        )
        async with open_importing(parts) as importing:
            yield Beside(store, importing, made.id)
    assert log.logged == []


async def stopped_midway(beside: Beside, process: Program) -> None:
    """Stop the child once rows have begun to come in."""
    with trio.fail_after(DEADLINE):
        while True:
            os.kill(process.pid, signal.SIGSTOP)
            while Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2][0] != "T":
                await trio.sleep(0.01)
            if await beside.store.read_later(lambda tx: tx.rows(_STATE), ORG):
                return
            os.kill(process.pid, signal.SIGCONT)
            await trio.sleep(0.05)


@pytest.mark.parametrize("how", ["killed", "stopped"])
async def test_what_another_process_left_is_gone_on_with(database_image: bytes, tmp_path: Path, how: str) -> None:
    """It is a killed one's, or a stopped one's that wakes later and writes nothing more."""
    file = tmp_path / "file.csv"
    file.write_bytes(FILE)
    data = tmp_path / "data"
    data.mkdir()
    async with open_beside(database_image, data) as beside:
        with child("tests.importing.importing_child", str(data), beside.account, str(file), str(SECONDS)) as process:
            assert process.stdout is not None
            try:
                await stopped_midway(beside, process)
                if how == "killed":
                    process.kill()
                await beside.taken_over()
                done = await beside.run()
                assert (done.status, done.added, await beside.lines()) == ("applied", LINES, (LINES, LINES))
            finally:
                process.send_signal(signal.SIGCONT)
            told = await trio.to_thread.run_sync(process.stdout.read)
            assert process.wait(DEADLINE) == (-signal.SIGKILL if how == "killed" else 0)
        assert told.split() == ([] if how == "killed" else ["import_left_to_others", "applied"])
        assert (await beside.run(), await beside.lines()) == (done, (LINES, LINES))
        assert await beside.store.read_later(lambda tx: tx.rows("SELECT subject FROM leases"), ORG) == []
