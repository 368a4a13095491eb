"""What the rows of a statement cost by themselves: the table of bank transactions and an `executemany`."""

import csv
import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from gatewayd.store.sqlite import connections, schema
from tests.bench.processes import CpuTime

ROWS_OF_ONE_COMMIT = 250  # as an import has them
_SCHEMA = schema.schema_file()
_INSERT = """
INSERT INTO bank_transactions (id, org_id, account_id, date, amount, currency, status, booking_date, description,
    raw_description, type, source, import_id, fingerprint, match_key, search_text, created_at, updated_at, version)
VALUES (?, 'org_floor', 'bac_floor', ?, ?, 'GBP', 'booked', ?, ?, ?, 'other', 'import', 'imp_floor', ?, ?, ?, 1, 1, 1)
"""


@dataclass(frozen=True, slots=True)
class Floor:
    """What it took."""

    cpu: CpuTime
    seconds: float


def floor_of(directory: Path, statement: Path) -> Floor:
    """Write the rows of a statement of Barclays into a new database, each commit durable, and remove that again."""
    directory.mkdir()
    began, before = time.perf_counter(), time.process_time()
    with closing(connections.open_writer(directory / "floor.db", 5.0)) as connection, statement.open() as file:
        connection.pragma("foreign_keys", False)
        connection.execute(_SCHEMA.read_text())
        rows = _values(csv.reader(file))
        while batch := list(itertools.islice(rows, ROWS_OF_ONE_COMMIT)):
            _commit(connection, batch)
    spent = CpuTime(time.process_time() - before, 0.0)
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()
    return Floor(spent, time.perf_counter() - began)


def _commit(connection: apsw.Connection, batch: list[tuple[object, ...]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_INSERT, batch)
    connection.execute("COMMIT")


def _values(lines: Iterator[list[str]]) -> Iterator[tuple[object, ...]]:
    next(lines)
    for number, (_, day, _, amount, _, memo) in enumerate(lines):
        date = f"{day[6:]}-{day[3:5]}-{day[:2]}"
        minor = int(amount.replace(".", ""))
        fingerprint, text = f"{number:064x}", memo.lower()
        yield f"btx_{number:026x}", date, minor, date, memo, memo, fingerprint, text[:20], text
