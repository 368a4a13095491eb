"""Deleting every row of one organization, a piece at a time, in an order that references allow.

Which tables there are is read from the database's catalogue, so that none is forgotten. What refers to a row goes
before it; of rows that refer to others of their own table those go first to which nothing refers.
"""

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple, TypeAlias

from gatewayd.store.catalogue import Catalogue
from gatewayd.store.transactions import ReadTx, Row, WriteTx

Key: TypeAlias = Row
"""What tells a row from the others of its table."""


class OwnedTable(NamedTuple):
    """A table with an organization's rows. `key` is its primary key, empty: it has none, and few rows.

    `own` are its references to itself: the column, and the one it refers to.
    """

    name: str
    key: tuple[str, ...]
    own: tuple[tuple[str, str], ...]


def owned_tables(catalogue: Catalogue) -> list[OwnedTable]:
    """Every table whose rows belong to an organization, in an order in which they can be emptied: always the same."""
    columns: dict[str, list[tuple[str, int]]] = {}
    for table, column, place in catalogue.columns:
        columns.setdefault(table, []).append((column, place))
    owned = sorted(table for table, of_table in columns.items() if any(name == "org_id" for name, _ in of_table))
    referring: dict[str, dict[str, None]] = {table: {} for table in owned}
    own: dict[str, list[tuple[str, str]]] = {}
    for table, column, target, referred in sorted(catalogue.references):
        if table == target:
            own.setdefault(table, []).append((column, referred))
        elif table in referring and target in referring:
            referring[target][table] = None
    order = TopologicalSorter(referring).static_order()
    keys = {table: tuple(name for name, place in columns[table] if place) for table in owned}
    return [OwnedTable(table, keys[table], tuple(own.get(table, ()))) for table in order]


def next_keys(tx: ReadTx, table: OwnedTable, after: Key | None, count: int) -> list[Key]:
    """The keys of at most `count` rows of the transaction's organization that can be deleted now, those behind `after`.

    Not every table is found by its organization, so that this may take long: not for the writer.
    """
    key = ", ".join(table.key)
    unreferred = "".join(
        f" AND NOT EXISTS (SELECT 1 FROM {table.name} o WHERE o.{column} = r.{referred})"
        for column, referred in table.own
    )
    behind = "" if after is None else f" AND ({key}) > ({', '.join(f':k{n}' for n in range(len(after)))})"
    sql = f"SELECT {key} FROM {table.name} r WHERE r.org_id = :org_id{behind}{unreferred} ORDER BY {key} LIMIT :count"
    values = {f"k{number}": value for number, value in enumerate(after or ())}
    return tx.rows(sql, count=count, **values)


def erase_rows(tx: WriteTx, table: OwnedTable, keys: Sequence[Key]) -> None:
    """Delete rows by their keys, as far as they are the transaction's organization's."""
    of_key = "".join(f" AND {column} = :k{number}" for number, column in enumerate(table.key))
    tx.run_each(f"DELETE FROM {table.name} WHERE org_id = :org_id{of_key}", [(tx.org_id, *key) for key in keys])


def erase_all(tx: WriteTx, table: OwnedTable) -> int:
    """Empty a table without a key; returns how many rows went."""
    return tx.run(f"DELETE FROM {table.name} WHERE org_id = :org_id")
