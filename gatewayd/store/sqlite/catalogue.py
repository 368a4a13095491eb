"""The tables of a SQLite, by its pragmas."""

from pathlib import Path
from typing import Final

from gatewayd.store.catalogue import Catalogue, Column, Reference
from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure, reason
from gatewayd.store.sqlite import connections
from gatewayd.store.transactions import Row

_COLUMNS: Final = """
SELECT t.name, c.name, c.pk FROM pragma_table_list t JOIN pragma_table_info(t.name) c
WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY t.name, c.pk
"""
_REFERENCES: Final = """
SELECT t.name, f.* FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f
WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, f.id, f.seq
"""


def read_catalogue(database: Path) -> Catalogue:
    """What is in the file. Raises `StoreFailure`."""
    connection = connections.open_reader(database, 5)
    try:
        columns: list[Row] = connection.execute(_COLUMNS).fetchall()
        references: list[Row] = connection.execute(_REFERENCES).fetchall()
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be read: {reason(error)}") from error
    finally:
        connection.close()
    return Catalogue(
        [Column(*row) for row in columns],
        [Reference(name, column, target, to or "id") for name, _, _, target, column, to, *_ in references],
    )
