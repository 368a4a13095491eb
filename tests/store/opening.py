"""Opening a real store with a table to write to."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw

from gatewayd.clock import Clock, SettableClock, SystemClock
from gatewayd.store import ReadTx, Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.engine import WriteConnection
from gatewayd.store.sealer import Sealer
from gatewayd.store.settings import StoreSettings
from gatewayd.store.sqlite import connections
from gatewayd.store.writer import WriterParts
from tests.support import loaded
from tests.support.store import START

_CREATE = "CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT"
_INSERT = "INSERT INTO notes (id, text) VALUES (:id, :text)"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@asynccontextmanager
async def opened(
    directory: Path, *, clock: Clock | None = None, busy_timeout_seconds: float = 5.0
) -> AsyncIterator[Store]:
    settings = StoreSettings(directory=directory, busy_timeout_seconds=busy_timeout_seconds)
    async with open_store(settings, clock or SystemClock()) as store:
        await store.write(lambda tx: tx.run(_CREATE))
        yield store


def open_notes(path: Path) -> apsw.Connection:
    """A connection that writes, of a new database with the same table."""
    connection = connections.open_writer(path, 1)
    connection.execute(_CREATE)
    return connection


def writer_parts(connection: WriteConnection, clock: Clock | None = None) -> WriterParts:
    """What a writer alone needs."""
    return WriterParts(connection, clock or SettableClock(START), Sealer(bytes(32)), lambda prefix: prefix)


async def add(store: Store, name: str, text: str = "") -> str:
    """Write one note and return its id, once it is durable."""
    return await store.write(lambda tx: insert(tx, name, text))


def insert(tx: WriteTx, name: str, text: str = "") -> str:
    tx.run(_INSERT, id=name, text=text)
    return name


def names(tx: ReadTx) -> list[str]:
    return [row[0] for row in tx.rows("SELECT id FROM notes ORDER BY id")]


def child(module: str, *arguments: str) -> loaded.Program:
    """Start a module of these tests in a process of its own; it talks over its pipes."""
    return loaded.start(["-m", module, *arguments], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def version_of(store: Store) -> int | None:
    """The version that a read on the loop sees now."""
    return store.read_now(lambda tx: tx.version, None)
