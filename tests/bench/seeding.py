"""Fills a data directory: a firm by its own operations, three invoices by theirs, then copies of their rows by SQL.

Copies differ in id, number and time, in columns and wire form alike, and have the lengths of what they are copied from.
Two hundred of them, spread evenly, are special: a hundred are drafts, a hundred are the small client's.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from gatewayd.areas.accounting import clients
from gatewayd.areas.accounting.invoices import operations as invoices
from gatewayd.cli.demo import firm as demo_firm
from gatewayd.clock import Instant, SystemClock, to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import FULL_ACCESS
from gatewayd.contract.wire import encode
from gatewayd.store import WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings

INVOICE = {
    "status": "issued",
    "lines": [
        {"description": "Oak front door", "unitPrice": "1240.00"},
        {"description": "Fitting", "quantity": "6.5", "unit": "hours", "unitPrice": "42.50"},
    ],
}
"""What every seeded invoice is, and what POST creates; `clientId` and `legalEntityId` are added."""

STEP_MICROSECONDS = 1000  # between two copies: what the wire form shows of a time
_ID = "'inv_00' || printf('%024x', {n})"  # before every id of the present
_NUMBER = "printf('X-%08d', {n})"  # as long as a number of the sequence
_CHUNK = 50_000
_SPECIAL = 100  # invoices of each special kind, however many there are


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """A data directory and what requests to it need."""

    directory: Path
    invoices: int
    key: str
    client_id: str
    small_client_id: str
    entity_id: str
    # The instant of the oldest copy, microseconds; one every STEP_MICROSECONDS.
    began: int

    def invoice_id(self, n: int) -> str:
        """The id of the n-th copy, from 1."""
        return f"inv_00{n:024x}"

    def updated_at(self, n: int) -> str:
        """When it was made, as the wire says it."""
        return to_wire(Instant(self.began + n * STEP_MICROSECONDS))


@dataclass(frozen=True, slots=True)
class _Templates:
    usual: str
    draft: str
    small: str


def seed(directory: Path, count: int) -> Seeded:
    """Fill a new data directory with `count` invoices of two lines each; `count` is a multiple of 100, at least 300."""
    seeded, templates = trio.run(_seed_by_operations, directory, count)
    _copy(directory / DATABASE_NAME, seeded, templates)
    return seeded


async def _seed_by_operations(directory: Path, count: int) -> tuple[Seeded, _Templates]:
    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        firm = await store.write(demo_firm.seed)
        caller = Caller(
            kind="operator",
            credential_id="operator",
            org_id=firm.org_id,
            user_id=None,
            role="owner",
            scopes=FULL_ACCESS,
        )

        def books(tx: WriteTx) -> tuple[str, _Templates]:
            small = _do(tx, caller, _operation(clients.OPERATIONS, "createClient"), {"name": "Ash Studio"})
            create = _operation(invoices.OPERATIONS, "createInvoice")
            sold = {**INVOICE, "legalEntityId": firm.entity_id, "clientId": firm.client_id}
            usual = _do(tx, caller, create, sold)
            draft = _do(tx, caller, create, {**sold, "status": "draft"})
            return small, _Templates(usual, draft, _do(tx, caller, create, {**sold, "clientId": small}))

        small_id, templates = await store.write(books, firm.org_id)
        began = store.now() // STEP_MICROSECONDS * STEP_MICROSECONDS - (count + 1) * STEP_MICROSECONDS
    seeded = Seeded(
        directory=directory,
        invoices=count,
        key=firm.key,
        client_id=firm.client_id,
        small_client_id=small_id,
        entity_id=firm.entity_id,
        began=began,
    )
    return seeded, templates


def _operation(operations: tuple[Operation, ...], name: str) -> Operation:
    return next(operation for operation in operations if operation.id.endswith(f".{name}"))


def _do(tx: WriteTx, caller: Caller, operation: Operation, request: dict[str, object]) -> str:
    """Run a row as a caller would; answers the id of what it made."""
    made = operation.handler(tx, caller, RequestDecoder(operation).body(msgspec.json.encode(request)))
    return str(msgspec.json.decode(made if isinstance(made, bytes) else encode(made))["id"])


def _copy(path: Path, seeded: Seeded, templates: _Templates) -> None:
    """No journal and no fsync while copying: whoever is interrupted starts again."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in ("foreign_keys=OFF", "synchronous=OFF", "journal_mode=OFF", "cache_size=-262144"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("CREATE TEMP TABLE series (n INTEGER PRIMARY KEY, template TEXT NOT NULL)")
        insert_invoices = _insert_select(connection, "invoices", "id", _invoice_expressions(connection, seeded))
        insert_lines = _insert_select(connection, "invoice_lines", "invoice_id", {"invoice_id": _ID.format(n="s.n")})
        for first in range(1, seeded.invoices + 1, _CHUNK):
            connection.execute("BEGIN")
            last = min(first + _CHUNK - 1, seeded.invoices)
            _fill_series(connection, range(first, last + 1), seeded.invoices, templates)
            connection.execute(insert_invoices)
            connection.execute(insert_lines)
            connection.execute("COMMIT")
        # What the operations made goes: every invoice that is left looks alike.
        connection.execute("DELETE FROM invoice_lines WHERE invoice_id NOT LIKE 'inv_00%'")
        connection.execute("DELETE FROM invoices WHERE id NOT LIKE 'inv_00%'")
        connection.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()


def _fill_series(connection: sqlite3.Connection, numbers: range, count: int, templates: _Templates) -> None:
    special = {0: templates.small, 1: templates.draft}
    stride = count // _SPECIAL
    connection.execute("DELETE FROM series")
    connection.executemany(
        "INSERT INTO series VALUES (?, ?)", ((n, special.get(n % stride, templates.usual)) for n in numbers)
    )


def _invoice_expressions(connection: sqlite3.Connection, seeded: Seeded) -> dict[str, str]:
    """The columns of a copy that are not its template's, as SQL over `t` (the template) and `s` (the series)."""
    moment = f"({seeded.began} + s.n * {STEP_MICROSECONDS})"
    identity, number = _ID.format(n="s.n"), _NUMBER.format(n="s.n")
    expressions = {
        "id": identity,
        "number": f"iif(t.number IS NULL, NULL, {number})",
        "search_text": f"iif(t.number IS NULL, t.search_text, lower({number}))",
        "created_at": moment,
        "updated_at": moment,
    }
    told = f"strftime('%Y-%m-%dT%H:%M:%S', {moment} / 1000000, 'unixepoch') || printf('.%03dZ', {moment} / 1000 % 1000)"
    then = "strftime('%Y-%m-%dT%H:%M:%S', t.created_at / 1000000, 'unixepoch')"
    then += " || printf('.%03dZ', t.created_at / 1000 % 1000)"
    for column in _columns(connection, "invoices"):
        if column.startswith("wire"):
            text = f"replace(replace(CAST(t.{column} AS TEXT), t.id, {identity}), {then}, {told})"
            text = f"iif(t.number IS NULL, {text}, replace({text}, t.number, {number}))"
            expressions[column] = f"CAST({text} AS BLOB)"
    return expressions


def _insert_select(connection: sqlite3.Connection, table: str, key: str, expressions: dict[str, str]) -> str:
    columns = _columns(connection, table)
    values = ", ".join(expressions.get(column, f"t.{column}") for column in columns)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values}"
        f" FROM series s JOIN {table} t ON t.{key} = s.template ORDER BY s.n"
    )


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The columns that can be written: generated ones are hidden (PRAGMA table_xinfo)."""
    return [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0]
