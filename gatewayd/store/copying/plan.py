"""What is copied from one engine to the other, and what is not."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import apsw

from gatewayd.store.copying.rows import TableSum
from gatewayd.store.failures import StoreFailure

OWN_WAY: Final = frozenset({"migrations", "leases", "update_clock"})
"""Each database tells of its own migrations; no process works with a copy yet; the clock is carried over by itself."""
SEEDED: Final = frozenset({"write_check"})
"""Tables that a new database has a row in, which the copied one takes the place of."""

_COLUMNS: Final = """
SELECT t.name, c.name, c.type FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.hidden = 0
ORDER BY t.name, c.cid
"""
TYPES: Final[Mapping[str, str]] = {"INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}
"""What each type of SQLite's is in PostgreSQL."""

Columns = Mapping[str, Mapping[str, str]]
"""The columns of each table, and their types, in their order."""


class Report(Protocol):
    """Who is told how far a copy is."""

    def expect(self, files: int, size_bytes: int) -> None:
        """There are so many tables, of about so many bytes."""

    def advance(self, size_bytes: int, name: str, files: int = 1) -> None:
        """So many bytes of a table's rows went by since, and so many tables are done."""


class MadeAnew(NamedTuple):
    """Tables that are not copied, since the engines keep differently what they belong to, and what is done instead.

    `statements` are run on the copy; they may name `:now`.
    """

    tables: frozenset[str]
    statements: tuple[str, ...]


class CopiedTable(NamedTuple):
    """A table with its columns, and SQLite's type of each."""

    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def listed(self) -> str:
        """Its columns as a statement names them."""
        return ", ".join(f'"{column}"' for column in self.columns)


def columns_of(connection: apsw.Connection) -> Columns:
    """Those of a SQLite."""
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(_COLUMNS):
        found.setdefault(str(table), {})[str(column)] = str(kind)
    return found


def planned(sqlite: Columns, postgres: Columns, anew: MadeAnew) -> list[CopiedTable]:
    """What is to be copied: all of SQLite's columns; what PostgreSQL alone has is made of them.

    Raises `StoreFailure` where PostgreSQL lacks one, or has it as something else.
    """
    tables = []
    for name, columns in sqlite.items():
        if name in OWN_WAY or name in anew.tables:
            continue
        for column, kind in columns.items():
            found = postgres.get(name, {}).get(column)
            if found != TYPES[kind]:
                raise StoreFailure(f"the column {column} of {name} is {TYPES[kind]}, and there {found or 'missing'}")
        tables.append(CopiedTable(name, tuple(columns), tuple(columns.values())))
    return tables


def require_same(table: CopiedTable, source: TableSum, copy: TableSum) -> None:
    """Raises `StoreFailure` where a table is not what was copied."""
    if source != copy:
        raise StoreFailure(
            f"the copy of {table.name} is not what was copied: {source.rows} rows, {source.digest}; and there"
            f" {copy.rows} rows, {copy.digest}. Nothing was kept of it"
        )


def refuse_work(subjects: Sequence[str]) -> None:
    """Raises `StoreFailure` where a process holds leases that have not ended."""
    if subjects:
        raise StoreFailure(
            f"somebody works with the store: {', '.join(subjects)}. Stop it; what a kill left ends within half a minute"
        )
