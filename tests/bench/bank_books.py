"""Fills a data directory: the demo's firm with a bank account, so many lines, and an allocation of nearly each.

The lines are spread over eighteen years, as many a day. A hundred of them are pending, a hundred are not allocated, and
a hundred allocations each are another business's, of a rare category, made by a person, or of a property and invoice.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from gatewayd.areas.banking.accounts.operations import make
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.areas.businesses import operations as businesses
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.cli.demo import firm as demo_firm
from gatewayd.cli.run_operation import operator_of
from gatewayd.clock import Instant, SystemClock, to_wire
from gatewayd.store import WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings

FIRST_DAY: Final = "2008-01-01"
YEARS: Final = 18
YEAR: Final = ("2016-01-01", "2016-12-31")
SPECIAL: Final = 100
STEP_MICROSECONDS: Final = 1000
PROPERTY, TENANCY, INVOICE = "prop_bench", "tcy_bench", "inv_bench"

_SERIES = "WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < :count)"
_LINES = f"""
{_SERIES}, lines AS (
    SELECT n, n % :stride AS kind, date(:first_day, '+' || (n * {YEARS * 365} / :count) || ' days') AS date,
        iif(n % 7 = 0, 1, -1) * (100 + n * 7919 % 90000) AS amount, :began + n * {STEP_MICROSECONDS} AS moment
    FROM series
)
INSERT INTO bank_transactions (id, org_id, account_id, date, amount, allocated, currency, status, booking_date,
    value_date, description, raw_description, type, source, import_id, fingerprint, match_key, search_text, created_at,
    updated_at, version)
SELECT printf('btx_%026d', n), :org_id, :account_id, date, amount, iif(kind < 2, 0, amount), 'GBP',
    iif(kind = 0, 'pending', 'booked'), iif(kind = 0, NULL, date), date,
    printf('CARD PAYMENT SHOP %05d LEEDS', n % 5000), printf('CARD PAYMENT SHOP %05d LEEDS', n % 5000),
    'card', 'import', 'imp_bench', printf('%064d', n),
    'card payment shop leeds', printf('card payment shop %05d leeds', n % 5000), moment, moment, 1
FROM lines
"""
_ALLOCATIONS = f"""
INSERT INTO allocations (id, org_id, source_type, source_id, import_id, legal_entity_id, business_id, property_id,
    tenancy_id, invoice_id, date, direction, amount, vat_amount, disallowable_amount, currency, category, description,
    matched_by, document_ids, created_at, updated_at, version)
SELECT replace(id, 'btx_', 'alc_'), org_id, 'bank', id, import_id, :entity_id,
    iif(kind = 2, :small_business_id, :business_id), iif(kind = 3, '{PROPERTY}', NULL),
    iif(kind = 3, '{TENANCY}', NULL),
    iif(kind = 3, '{INVOICE}', NULL), date, iif(amount > 0, 'in', 'out'), abs(amount), 0, 0, 'GBP',
    CASE WHEN amount > 0 THEN 'turnover' WHEN kind = 4 THEN 'interestOnBankOtherLoans' WHEN amount % 2 = 0
        THEN 'adminCosts' ELSE 'costOfGoods' END,
    description, iif(kind = 5, 'user', 'rule'), '[]', created_at, updated_at, 1
FROM (SELECT *, CAST(substr(id, 5) AS INTEGER) % :stride AS kind FROM bank_transactions WHERE import_id = 'imp_bench')
WHERE kind > 1
"""
_INDEXES = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{table}' AND sql IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class BankBooks:
    """A data directory and what requests to it need."""

    directory: Path
    lines: int
    org_id: str
    key: str
    entity_id: str
    business_id: str
    small_business_id: str
    account_id: str
    client_id: str
    began: int  # the instant of the first line, microseconds; one every STEP_MICROSECONDS

    def updated_at(self, n: int) -> str:
        """When the n-th line was stored, as the wire says it."""
        return to_wire(Instant(self.began + n * STEP_MICROSECONDS))

    def line_id(self, n: int) -> str:
        return f"btx_{n:026}"


def seed_books(directory: Path, count: int) -> BankBooks:
    """Fill a new data directory with `count` lines; `count` is a multiple of 100, at least 1,000."""
    books = trio.run(_seed_by_operations, directory, count)
    fill(books)
    return books


def fill(books: BankBooks) -> None:
    """Add its lines, and their allocations."""
    values: dict[str, object] = {
        "count": books.lines,
        "stride": books.lines // SPECIAL,
        "first_day": FIRST_DAY,
        "org_id": books.org_id,
        "account_id": books.account_id,
        "entity_id": books.entity_id,
        "business_id": books.business_id,
        "small_business_id": books.small_business_id,
        "began": books.began,
    }
    with closing(sqlite3.connect(books.directory / DATABASE_NAME, isolation_level=None)) as connection:
        for pragma in ("foreign_keys=OFF", "synchronous=OFF", "journal_mode=OFF", "cache_size=-262144"):
            connection.execute(f"PRAGMA {pragma}")
        _fill(connection, "bank_transactions", _LINES, values)
        _fill(connection, "allocations", _ALLOCATIONS, values)
        connection.execute("PRAGMA journal_mode=WAL")


def _fill(connection: sqlite3.Connection, table: str, insert: str, values: dict[str, object]) -> None:
    """Without its indexes, which are made anew behind it: a third of the time."""
    indexes = connection.execute(_INDEXES.format(table=table)).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    connection.execute("BEGIN")
    connection.execute(insert, {name: value for name, value in values.items() if f":{name}" in insert})
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute("COMMIT")


async def _seed_by_operations(directory: Path, count: int) -> BankBooks:
    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        firm = await store.write(demo_firm.seed)

        def books(tx: WriteTx) -> tuple[str, str]:
            account = CreateAccount(name="Current", legal_entity_id=firm.entity_id)
            account_id = make(tx, account, tx.new_id("bac")).id
            small = CreateBusiness(legal_entity_id=firm.entity_id, type="company_trade", name="Gates")
            return account_id, businesses.create_business(tx, operator_of(firm.org_id), small).id

        account_id, small_business_id = await store.write(books, firm.org_id)
        began = store.now() // STEP_MICROSECONDS * STEP_MICROSECONDS - (count + 1) * STEP_MICROSECONDS
    return BankBooks(
        directory=directory,
        lines=count,
        org_id=firm.org_id,
        key=firm.key,
        entity_id=firm.entity_id,
        business_id=firm.business_id,
        small_business_id=small_business_id,
        account_id=account_id,
        client_id=firm.client_id,
        began=began,
    )
