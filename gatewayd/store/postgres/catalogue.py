"""The tables of a PostgreSQL, by `pg_catalog`: those of the schema in which it makes its own."""

from typing import Final

from gatewayd.store.catalogue import Catalogue, Column, Reference
from gatewayd.store.postgres.connections import Connection

_COLUMNS: Final = """
SELECT c.relname, a.attname, coalesce(array_position(k.conkey, a.attnum), 0) AS place
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p')
ORDER BY c.relname COLLATE "C", place, a.attnum
"""
_REFERENCES: Final = """
SELECT own.relname, a.attname, other.relname, b.attname
FROM pg_constraint k JOIN pg_class own ON own.oid = k.conrelid JOIN pg_class other ON other.oid = k.confrelid
CROSS JOIN unnest(k.conkey, k.confkey) WITH ORDINALITY AS pair (own_column, other_column, place)
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own_column
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.other_column
WHERE k.contype = 'f' AND own.relnamespace = CAST(current_schema() AS regnamespace)
ORDER BY own.relname COLLATE "C", k.oid, pair.place
"""


def read_catalogue(connection: Connection) -> Catalogue:
    """What is in the database. Raises `psycopg.Error`."""
    return Catalogue(
        [Column(*row) for row in connection.execute(_COLUMNS)],
        [Reference(*row) for row in connection.execute(_REFERENCES)],
    )
