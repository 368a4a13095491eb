"""Imports over a real store: accounts, files, and the engine that brings the one into the other."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
import trio

from gatewayd.areas.banking.accounts.operations import create_account
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.areas.banking.rules import CreateRule, create_rule
from gatewayd.areas.banking.transactions.operations import get_transactions
from gatewayd.areas.banking.transactions.shapes import ListTransactions
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import SettableClock
from gatewayd.following import reactions
from gatewayd.importing.engine import Importing, open_importing
from gatewayd.importing.parts import SIZES, ImportParts, ReadApart, Sizes
from gatewayd.importing.runs import Order
from gatewayd.leases.holder import Holder
from gatewayd.ledger.allocating.allocation_rules import RuleConditions, RuleOutcome
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.support.api import Errors
from tests.support.statement_files import read_parts, received
from tests.support.store import START, make_caller

_COUNT_STAGED = "SELECT count(position) FROM import_rows WHERE org_id = :org_id AND import_id = :import_id"
_LEASES = "SELECT subject FROM leases WHERE org_id = :org_id"
_ALLOCATE = """
UPDATE bank_transactions SET allocated = amount
WHERE org_id = :org_id AND id IN (SELECT max(id) FROM bank_transactions WHERE account_id = :account_id)
"""
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
ORG = "org_a"
Watch = Callable[[Store], Store]
"""What the engine is given in the place of a store."""
DEADLINE = 120.0


class ImportLog(Errors):
    """The log of the engine."""

    def debug(self, event: str, **values: object) -> None:
        """Say nothing."""

    def info(self, event: str, **values: object) -> None:
        """Say nothing."""

    def warning(self, event: str, **values: object) -> None:
        """Say nothing."""


@dataclass
class Bank:
    """One organization with accounts, and what a test does with them."""

    store: Store
    importing: Importing
    directory: Path
    clock: SettableClock
    log: ImportLog = field(default_factory=ImportLog)

    async def account(self, **values: Any) -> str:
        request = CreateAccount(**{"name": "Current account", **values})
        made = await self.store.write(lambda tx: create_account(tx, make_caller(ORG), request), ORG)
        return made.id

    async def bring(self, account_id: str, content: bytes, *, preview: bool = False, **values: Any) -> ImportRunRow:
        """Import a file."""
        given = {"file_name": "march.csv", "format": None, "mapping": None, **values}
        order = Order(kind="bank", account_id=account_id, preview=preview, **given)
        with trio.fail_after(DEADLINE):
            return await self.importing.import_file(ORG, order, received(self.directory, content))

    async def run(self, import_id: str) -> ImportRunRow:
        return await self.store.read(lambda tx: RUNS.get(tx, import_id), ORG)

    async def staged(self, import_id: str) -> int:
        """How many rows are staged."""
        return int(await self.store.read_later(lambda tx: tx.value(_COUNT_STAGED, import_id=import_id), ORG))

    async def leases(self) -> list[str]:
        """What somebody works on alone."""
        return [str(row[0]) for row in await self.store.read(lambda tx: tx.rows(_LEASES), ORG)]

    async def entity(self) -> str:
        """A legal entity."""
        request = CreateLegalEntity(name="Elm Farm", type="sole_trader")
        made = await self.store.write(lambda tx: create_legal_entity(tx, make_caller(ORG), request), ORG)
        return made.id

    async def rule(self, text: str) -> None:
        """A rule that applies to lines which hold `text`."""
        conditions, outcome = RuleConditions(text=text), RuleOutcome(category="not_pnl", purpose="drawings")
        request = CreateRule(name=text, mode="apply", conditions=conditions, outcome=outcome)
        await self.store.write(lambda tx: create_rule(tx, make_caller(ORG), request), ORG)

    async def allocate_one(self, account_id: str) -> None:
        """Allocate one of the account's transactions."""
        await self.store.write(lambda tx: tx.run(_ALLOCATE, account_id=account_id), ORG)

    async def listed(self, account_id: str, **filters: Any) -> list[dict[str, Any]]:
        """The account's transactions, as the API lists them."""
        request = ListTransactions(**{"account_id": account_id, "limit": 500, "status": "all", **filters})
        page = await self.store.read_later(lambda tx: get_transactions(tx, make_caller(ORG), request), ORG)
        found: list[dict[str, Any]] = msgspec.json.decode(page)["data"]
        return found

    async def amounts(self, account_id: str) -> list[str]:
        """Those of the account's transactions, latest first."""
        return [one["amount"] for one in await self.listed(account_id)]


def step_of(work: Any) -> Any:
    """The function behind a write of the engine, which is fenced."""
    _lease, fenced = (*getattr(work, "args", ()), None, None)[:2]
    return getattr(fenced, "func", None)


class OpenBank(Protocol):
    """`async with open_bank() as bank`; again in the same test: the same directory, as after a restart."""

    def __call__(
        self, read_apart: ReadApart = ..., sizes: Sizes = ..., watch: Watch = ..., patience: float = ...
    ) -> AbstractAsyncContextManager[Bank]: ...


@pytest.fixture
def open_bank(database_image: bytes, tmp_path: Path) -> OpenBank:
    @asynccontextmanager
    async def opened(
        read_apart: ReadApart = read_parts,
        sizes: Sizes = SIZES,
        watch: Watch = lambda store: store,
        patience: float = DEADLINE,
    ) -> AsyncIterator[Bank]:
        fresh = not (tmp_path / DATABASE_NAME).exists()
        if fresh:
            (tmp_path / DATABASE_NAME).write_bytes(database_image)
        clock, log = SettableClock(START), ImportLog()
        async with open_store(StoreSettings(directory=tmp_path), clock, reactions=reactions) as store:
            if fresh:
                await store.write(lambda tx: tx.run(_ADD_ORG, id=ORG))
            parts = ImportParts(
                store=watch(store),
                holder=Holder(store),
                directory=tmp_path,
                read_apart=read_apart,
                log=log,
                max_bytes=1 << 24,
                sizes=sizes,
                patience=patience,
            )
            async with open_importing(parts) as importing:
                yield Bank(store, importing, tmp_path, clock, log)
        assert log.logged == []

    return opened
