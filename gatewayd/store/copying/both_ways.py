"""A whole store from SQLite into a PostgreSQL that is empty, and from there into a new file of SQLite's.

The source is one state, which nobody changes meanwhile. The copy is one transaction, or a file that has its name at the
end: a copy that was cut short is not there. Each table is read back and compared by its sum before it is kept.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import apsw

from gatewayd.clock import Instant
from gatewayd.store.copying import sqlite_side
from gatewayd.store.copying.plan import (
    OWN_WAY,
    SEEDED,
    CopiedTable,
    MadeAnew,
    Report,
    columns_of,
    planned,
    refuse_work,
    require_same,
)
from gatewayd.store.copying.rows import Counted, TableSum, decoded
from gatewayd.store.postgres import copies, whole_tables
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.sqlite.update_clock import Clock, read_clock, set_clock

_REPORTED_ROWS: Final = 2_000  # Chosen: how often it is told how far it is
_FILLED_WHEN_NEW: Final = OWN_WAY | SEEDED | {"pulse", "pulse_writers"}

Sums = dict[str, TableSum]


def copy_to_postgres(path: Path, address: str, now: Instant, anew: MadeAnew, report: Report) -> Sums:
    """Copy a SQLite into a PostgreSQL, whose tables are made here where it has none. Answers what each table has.

    The caller holds the lock of the data directory. Raises `StoreFailure` or `MigrationError`, and has changed nothing.
    """
    with (
        sqlite_side.source(path, now) as source,
        copies.connected(address) as target,
        copies.filling(target, now, _FILLED_WHEN_NEW),
    ):
        tables = planned(columns_of(source), whole_tables.columns_of(target), anew)
        sqlite_side.refuse_nul(source, tables)
        report.expect(len(tables), sqlite_side.size_bytes(source))
        aside = whole_tables.set_aside(target, [table.name for table in tables])
        for name in SEEDED:
            target.execute(f"DELETE FROM {name}")
        sums = {table.name: _into_postgres(source, target, table, report) for table in tables}
        for statement in aside:
            whole_tables.run(target, statement)
        whole_tables.count_on(target)
        copies.set_clock(target, *read_clock(source))
        for statement in anew.statements:
            target.execute(statement, {"now": now})
        for table in tables:
            whole_tables.run(target, f'ANALYZE "{table.name}"')
    return sums


def copy_to_sqlite(address: str, path: Path, now: Instant, anew: MadeAnew, report: Report) -> Sums:
    """Copy a PostgreSQL into a SQLite that is not there yet. Answers what each table has.

    The caller holds the lock of the new data directory. Raises as `copy_to_postgres` does.
    """
    with (
        copies.connected(address) as source,
        sqlite_side.draft(path, now) as target,
        copies.reading(source),
    ):
        refuse_work(copies.leased(source, now))
        tables = planned(columns_of(target), whole_tables.columns_of(source), anew)
        report.expect(len(tables), whole_tables.size_bytes(source))
        aside = sqlite_side.set_aside(target)
        target.execute("BEGIN")
        for name in SEEDED:
            target.execute(f"DELETE FROM {name}")
        sums = {table.name: _into_sqlite(source, target, table, report) for table in tables}
        for statement in aside:
            target.execute(statement)
        sqlite_side.refuse_broken(target)
        set_clock(target, Clock(*copies.read_clock(source)))
        for statement in anew.statements:
            target.execute(statement, {"now": now})
        target.execute("COMMIT")
    return sums


def _into_postgres(source: apsw.Connection, target: Connection, table: CopiedTable, report: Report) -> TableSum:
    sent, found = Counted(), Counted()
    rows = _reported(sqlite_side.rows_of(source, table), table.name, report)
    whole_tables.copy_in(target, table.name, table.listed, sent.passing(rows))
    require_same(table, sent.sum, found.all_of(whole_tables.copy_out(target, table.name, table.listed)))
    report.advance(0, table.name)
    return sent.sum


def _into_sqlite(source: Connection, target: apsw.Connection, table: CopiedTable, report: Report) -> TableSum:
    sent, found = Counted(), Counted()
    rows = sent.passing(_reported(whole_tables.copy_out(source, table.name, table.listed), table.name, report))
    sqlite_side.put_rows(target, table, (decoded(row, table.kinds) for row in rows))
    require_same(table, sent.sum, found.all_of(sqlite_side.rows_of(target, table)))
    report.advance(0, table.name)
    return sent.sum


def _reported(rows: Iterable[bytes], table: str, report: Report) -> Iterator[bytes]:
    """The same rows; now and then it is told how many bytes went by."""
    size_bytes = 0
    for number, row in enumerate(rows, 1):
        size_bytes += len(row)
        if number % _REPORTED_ROWS == 0:
            report.advance(size_bytes, table, 0)
            size_bytes = 0
        yield row
    report.advance(size_bytes, table, 0)
