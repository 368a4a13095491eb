"""An organization with a person's portfolio, and brokers' files that come into its accounts."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import trio

from gatewayd.areas.assets.accounts.operations import create_account
from gatewayd.areas.assets.accounts.shapes import CreateAssetAccount
from gatewayd.areas.assets.books.transactions import AssetTransaction
from gatewayd.areas.assets.imports.operations import list_import_rows
from gatewayd.areas.assets.imports.shapes import ListImportedTrades
from gatewayd.areas.assets.portfolios.operations import create_portfolio
from gatewayd.areas.assets.portfolios.shapes import CreatePortfolio
from gatewayd.areas.assets.prices.rows import put_rate
from gatewayd.areas.assets.prices.shapes import ExchangeRate
from gatewayd.areas.assets.transactions.operations import create_transaction, list_transactions
from gatewayd.areas.assets.transactions.shapes import CreateTransaction, ListAssetTransactions
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import SettableClock, from_wire
from gatewayd.following import reactions
from gatewayd.importing.engine import Importing, open_importing
from gatewayd.importing.parts import SIZES, ImportParts, Sizes
from gatewayd.importing.runs import Order
from gatewayd.leases.holder import Holder
from gatewayd.ledger.imports.import_runs import RUNS
from gatewayd.ledger.imports.import_shapes import ImportRunRow
from gatewayd.store import Store
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.importing.conftest import DEADLINE, ORG, ImportLog
from tests.support.inline_reading import read_inline
from tests.support.statement_files import received
from tests.support.store import make_caller
from tests.support.wire import shown

_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_HOLDINGS = """
SELECT scope_id, instrument_id, quantity, cost, is_open FROM asset_holdings WHERE org_id = :org_id
ORDER BY scope_id, instrument_id
"""
_DAYS = """
SELECT scope_id, instrument_id, date, inputs, outcome, gain FROM asset_days WHERE org_id = :org_id
ORDER BY scope_id, instrument_id, date
"""
_CASH = """
SELECT account_id, currency, balance FROM asset_cash WHERE org_id = :org_id AND balance <> 0
ORDER BY account_id, currency
"""
_TRANSACTIONS = "SELECT id, type, trade_date, net_amount FROM asset_transactions WHERE org_id = :org_id ORDER BY id"
_RECORDS = "SELECT record_id, transaction_id FROM broker_records WHERE org_id = :org_id ORDER BY record_id"
_NAMES = "SELECT id, coalesce(symbol, name) FROM instruments WHERE org_id = :org_id ORDER BY id"
NOW = "2026-11-22T12:00:00Z"


@dataclass
class Brokerage:
    """One person with a portfolio of accounts."""

    store: Store
    importing: Importing
    directory: Path
    entity: str
    portfolio: str

    async def account(self, **values: Any) -> str:
        given = {"name": "General account", "type": "brokerage", "currency": "GBP", **values}
        request = CreateAssetAccount(portfolio_id=self.portfolio, **given)
        made = await self.store.write(lambda tx: create_account(tx, make_caller(ORG), request), ORG)
        return made.id

    async def enter(self, **values: Any) -> AssetTransaction:
        """Enter a transaction as the API does."""
        request = msgspec.convert(values, CreateTransaction)
        return await self.store.write(lambda tx: create_transaction(tx, make_caller(ORG), request), ORG)

    async def record_rate(self, currency: str, rate: str, date: str) -> None:
        """Record what 1 of a currency is in pounds."""
        recorded = ExchangeRate(currency=currency, base_currency="GBP", date=date, rate=rate, source="manual")
        await self.store.write(lambda tx: put_rate(tx, recorded), ORG)

    async def bring(
        self, account_id: str, content: str | bytes, *, preview: bool = False, **values: Any
    ) -> ImportRunRow:
        """Import a file."""
        given = {"file_name": "trades.csv", "format": None, "mapping": None, **values}
        order = Order(kind="broker", account_id=account_id, preview=preview, **given)
        data = content.encode() if isinstance(content, str) else content
        with trio.fail_after(DEADLINE):
            return await self.importing.import_file(ORG, order, received(self.directory, data))

    async def undo(self, run: ImportRunRow, *, overrides_closing: bool = False) -> ImportRunRow:
        return await self.importing.undo(ORG, run.id, "broker", overrides_closing=overrides_closing)

    async def run(self, import_id: str) -> ImportRunRow:
        return await self.store.read(lambda tx: RUNS.get(tx, import_id), ORG)

    async def rows(self, run: ImportRunRow) -> list[dict[str, Any]]:
        """The rows of a preview, as the API lists them."""
        request = ListImportedTrades(import_id=run.id, limit=500)
        page = await self.store.read(lambda tx: list_import_rows(tx, make_caller(ORG), request), ORG)
        found: list[dict[str, Any]] = shown(page)
        return found

    async def listed(self, account_id: str) -> list[dict[str, Any]]:
        """The account's transactions, as the API lists them: latest trade first."""
        request = ListAssetTransactions(account_id=account_id, limit=500)
        page = await self.store.read_later(lambda tx: list_transactions(tx, make_caller(ORG), request), ORG)
        found: list[dict[str, Any]] = shown(page)
        return found

    async def positions(self, scope_id: str) -> dict[str, tuple[str, str]]:
        """What a scope holds, and what that cost, by ticker or name."""
        names = dict(await self._select(_NAMES))
        held = [row for row in await self._select(_HOLDINGS) if row[0] == scope_id and row[4]]
        return {names[row[1]]: (row[2], f"{float(row[3]):.2f}") for row in held}

    async def cash(self, account_id: str) -> dict[str, str]:
        """What an account has in cash, by currency."""
        found = [row for row in await self._select(_CASH) if row[0] == account_id]
        return {row[1]: f"{row[2] / 100:.2f}" for row in found}

    async def books(self) -> dict[str, list[Any]]:
        """All that transactions leave behind, but for instruments and what is kept of imports."""
        statements = {"days": _DAYS, "holdings": _HOLDINGS, "cash": _CASH, "rows": _TRANSACTIONS, "records": _RECORDS}
        return {name: await self._select(sql) for name, sql in statements.items()}

    async def _select(self, sql: str) -> list[Any]:
        return await self.store.read_later(lambda tx: tx.rows(sql), ORG)


Open = Callable[..., AbstractAsyncContextManager[Brokerage]]


def opener(database_image: bytes, directory: Path) -> Open:
    """`async with open()`; again: the same directory, as after a restart."""

    @asynccontextmanager
    async def opened(
        sizes: Sizes = SIZES, watch: Callable[[Store], Store] = lambda store: store, patience: float = DEADLINE
    ) -> AsyncIterator[Brokerage]:
        fresh = not (directory / DATABASE_NAME).exists()
        if fresh:
            (directory / DATABASE_NAME).write_bytes(database_image)
        log = ImportLog()
        async with open_store(
            StoreSettings(directory=directory), SettableClock(from_wire(NOW)), reactions=reactions
        ) as store:
            if fresh:
                await store.write(lambda tx: tx.run(_ADD_ORG, id=ORG))
            entity, portfolio = await _person(store)
            parts = ImportParts(
                store=watch(store),
                holder=Holder(store),
                directory=directory,
                read_apart=read_inline,
                log=log,
                max_bytes=1 << 28,
                sizes=sizes,
                patience=patience,
            )
            async with open_importing(parts) as importing:
                yield Brokerage(store, importing, directory, entity, portfolio)
        assert log.logged == []

    return opened


async def _person(store: Store) -> tuple[str, str]:
    """The person and the portfolio that there are, or that are made."""
    found = await store.read(lambda tx: tx.row("SELECT legal_entity_id, id FROM asset_portfolios"), ORG)
    if found is not None:
        return found[0], found[1]
    person = CreateLegalEntity(name="M Lee", type="individual")
    entity = await store.write(lambda tx: create_legal_entity(tx, make_caller(ORG), person), ORG)
    request = CreatePortfolio(name="Savings", legal_entity_id=entity.id)
    portfolio = await store.write(lambda tx: create_portfolio(tx, make_caller(ORG), request), ORG)
    return entity.id, portfolio.id


Act = Callable[[Brokerage], Awaitable[object]]
