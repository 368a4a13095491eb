"""Both engines have the same tables, by their own catalogs: SQLite's pragmas and PostgreSQL's pg_catalog."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from pglast import ast, parse_sql

from gatewayd.store.postgres import schema
from gatewayd.store.postgres.connections import Connection, open_connection
from tests.store.postgres.expressions import Index, checks_of, index_of, tree_of
from tests.store.postgres.generate import missing
from tests.support.postgres import Server
from tests.support.store import START

TYPES = {"INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}
LEFT_OUT = {"vault_vocabulary", "vault_words"}
"""SQLite's full-text search."""
OWN = {"pulse", "pulse_writers", "vault_part_words", "vault_terms", "vault_part_totals"}
"""PostgreSQL's: what SQLite's lock and `data_version` are there, and its full-text search."""
VIEWS = {"update_clock"}
"""What is a table in SQLite, and there follows from another."""

_TABLES = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'"
_COLUMNS = 'SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_info(:table)'
_FOREIGN_KEYS = 'SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(:table) ORDER BY id, seq'
_UNIQUE = "SELECT name FROM pragma_index_list(:table) WHERE origin = 'u'"
_INDEXED = "SELECT name FROM pragma_index_info(:index) ORDER BY seqno"
_WRITTEN = "SELECT sql FROM sqlite_schema WHERE tbl_name = :table AND type = :type AND sql IS NOT NULL"

_PG_TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')"
)
_PG_COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attidentity,
    coalesce((SELECT collname FROM pg_collation WHERE pg_collation.oid = attcollation), '')
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 AND NOT attisdropped
"""
_PG_CONSTRAINTS = """
SELECT contype, CAST(confrelid AS regclass)::text, pg_get_expr(conbin, conrelid), confdeltype, condeferrable,
    (SELECT string_agg(attname, ' ' ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS k (attnum, place)
        JOIN pg_attribute ON attrelid = conrelid AND pg_attribute.attnum = k.attnum),
    (SELECT string_agg(attname, ' ' ORDER BY place) FROM unnest(confkey) WITH ORDINALITY AS k (attnum, place)
        JOIN pg_attribute ON attrelid = confrelid AND pg_attribute.attnum = k.attnum)
FROM pg_constraint WHERE conrelid = CAST(:table AS regclass)
"""
_PG_INDEXES = """
SELECT pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = CAST(:table AS regclass)
    AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
"""


@pytest.fixture(scope="module")
def connection(postgresql: Server) -> Iterator[Connection]:
    """A new database after all migrations."""
    database = postgresql.new_database()
    opened = open_connection(postgresql.address(database), 60)
    assert schema.migrate(opened, schema.packaged(), START) == len(schema.packaged())
    yield opened
    opened.close()
    postgresql.drop(database)


@pytest.fixture(scope="module")
def sqlite(database_image: bytes) -> Iterator[apsw.Connection]:
    opened = apsw.Connection(":memory:")
    opened.deserialize("main", database_image)
    yield opened
    opened.close()


def sqlite_tables(sqlite: apsw.Connection) -> list[str]:
    found = [(str(name), kind) for name, kind in sqlite.execute(_TABLES)]
    assert {kind for name, kind in found if name not in LEFT_OUT} == {"table", "shadow"}
    return sorted(name for name, kind in found if kind == "table")


def test_both_have_the_same_tables(sqlite: apsw.Connection, connection: Connection) -> None:
    virtual = {str(name) for name, kind in sqlite.execute(_TABLES) if kind == "virtual"}
    assert virtual == LEFT_OUT
    assert sorted({name for (name,) in connection.execute(_PG_TABLES)} - OWN) == sqlite_tables(sqlite)
    assert len(sqlite_tables(sqlite)) > 100


def compared_tables(sqlite: apsw.Connection) -> list[str]:
    return [table for table in sqlite_tables(sqlite) if table not in VIEWS]


def test_columns_have_the_same_names_types_and_defaults(sqlite: apsw.Connection, connection: Connection) -> None:
    for table in compared_tables(sqlite):
        assert _columns_of_postgresql(connection, table) == _columns_of_sqlite(sqlite, table), table


def _columns_of_sqlite(sqlite: apsw.Connection, table: str) -> dict[str, Any]:
    rows = sqlite.execute(_COLUMNS, {"table": table}).fetchall()
    counted = (
        [row[0] for row in rows if row[3] and row[1] == "INTEGER"] if sum(bool(row[3]) for row in rows) == 1 else []
    )
    return {
        str(name): (
            TYPES[str(kind)],
            bool(not_null or key),
            None if default is None else tree_of(str(default)),
            name in counted and table != "migrations",
            "C" if kind == "TEXT" else "",
        )
        for name, kind, not_null, key, default in rows
    }


def _columns_of_postgresql(connection: Connection, table: str) -> dict[str, Any]:
    return {
        name: (kind, bool(not_null), None if default is None else tree_of(default), identity == "d", collation)
        for name, kind, not_null, default, identity, collation in connection.execute(_PG_COLUMNS, {"table": table})
    }


def test_keys_are_the_same(sqlite: apsw.Connection, connection: Connection) -> None:
    for table in compared_tables(sqlite):
        assert _keys_of_postgresql(connection, table) == _keys_of_sqlite(sqlite, table), table


def _keys_of_sqlite(sqlite: apsw.Connection, table: str) -> list[tuple[Any, ...]]:
    columns = sqlite.execute(_COLUMNS, {"table": table}).fetchall()
    primary = [str(row[0]) for row in sorted(columns, key=lambda row: int(str(row[3]))) if row[3]]
    keys: list[tuple[Any, ...]] = [("p", primary)] if primary else []
    for (index,) in sqlite.execute(_UNIQUE, {"table": table}).fetchall():
        keys.append(("u", [str(name) for (name,) in sqlite.execute(_INDEXED, {"index": index})]))
    foreign: dict[object, tuple[list[str], list[str], str, str]] = {}
    for id_, target, column, referred, on_delete in sqlite.execute(_FOREIGN_KEYS, {"table": table}):
        own, others, _, _ = foreign.setdefault(id_, ([], [], str(target), str(on_delete)))
        own.append(str(column))
        others.append(str(referred))
    letters = {"NO ACTION": "a", "CASCADE": "c"}
    keys += [("f", own, target, others, letters[on_delete]) for own, others, target, on_delete in foreign.values()]
    return sorted(keys)


def _keys_of_postgresql(connection: Connection, table: str) -> list[tuple[Any, ...]]:
    keys: list[tuple[Any, ...]] = []
    for kind, target, _, on_delete, deferrable, own, others in connection.execute(_PG_CONSTRAINTS, {"table": table}):
        if kind == "f":
            assert not deferrable
            keys.append((kind, own.split(), target, others.split(), on_delete))
        elif kind != "c":
            keys.append((kind, own.split()))
    return sorted(keys)


def test_checks_mean_the_same(sqlite: apsw.Connection, connection: Connection) -> None:
    compared = 0
    for table in compared_tables(sqlite):
        ((written,),) = sqlite.execute(_WRITTEN, {"table": table, "type": "table"}).fetchall()
        expected = sorted(map(repr, checks_of(str(written))))
        rows = connection.execute(_PG_CONSTRAINTS, {"table": table}).fetchall()
        assert sorted(repr(tree_of(row[2])) for row in rows if row[0] == "c") == expected, table
        compared += len(expected)
    assert compared > 300


def test_indexes_are_the_same(sqlite: apsw.Connection, connection: Connection) -> None:
    compared = 0
    for table in compared_tables(sqlite):
        written = sqlite.execute(_WRITTEN, {"table": table, "type": "index"}).fetchall()
        expected = {index.name: index for (sql,) in written for index in [index_of(str(sql))]}
        found = {
            index.name: index
            for (sql,) in connection.execute(_PG_INDEXES, {"table": table})
            for index in [index_of(sql)]
        }
        assert found == expected, table
        compared += len(expected)
    assert compared > 300


def test_a_new_database_has_the_same_rows(sqlite: apsw.Connection, connection: Connection) -> None:
    for table in sqlite_tables(sqlite):
        if table != "migrations":
            columns = ", ".join(str(row[0]) for row in sqlite.execute(_COLUMNS, {"table": table}))
            select = f"SELECT {columns} FROM {table} ORDER BY 1"
            assert connection.execute(select).fetchall() == sqlite.execute(select).fetchall(), table


def test_the_clock_of_changes_is_the_pulse(sqlite: apsw.Connection, connection: Connection) -> None:
    """Under the name and the columns that it has in SQLite, to be read and written."""
    for table in VIEWS:
        columns = {str(row[0]) for row in sqlite.execute(_COLUMNS, {"table": table})}
        assert _columns_of_postgresql(connection, table).keys() == columns, table
    connection.execute("BEGIN")
    connection.execute("UPDATE pulse SET now = 77")
    connection.execute("UPDATE update_clock SET accepted_latest = latest, accepted_at = 5 WHERE id = 1")
    assert connection.execute("SELECT * FROM update_clock").fetchall() == [(1, 77, 77, 5)]
    connection.execute("UPDATE update_clock SET latest = 78 WHERE id = 1 AND latest = 77")
    assert connection.execute("SELECT now, accepted_latest FROM pulse").fetchall() == [(78, 77)]
    connection.execute("ROLLBACK")


def test_each_migration_since_the_baseline_has_its_pair() -> None:
    """`make generate` makes it, or says that somebody has to write it."""
    assert [migration.name for migration in missing()] == []


def test_no_migration_ends_the_transaction_of_all() -> None:
    for migration in schema.packaged():
        kinds = {type(statement.stmt) for statement in parse_sql(migration.sql)}
        assert kinds
        assert ast.TransactionStmt not in kinds, migration.name


def test_an_index_of_another_kind_is_seen() -> None:
    """The comparison itself: what differs differs."""
    one = index_of("CREATE UNIQUE INDEX a ON t (b, coalesce(c, '')) WHERE d IS NOT NULL AND (e = 'x' OR e = 'y')")
    same = index_of(
        "CREATE UNIQUE INDEX a ON public.t USING btree (b, COALESCE(c, ''::text))"
        " WHERE ((d IS NOT NULL) AND ((e = 'x'::text) OR (e = 'y'::text)))"
    )
    assert one == same
    assert isinstance(one, Index)
    for other in ("b, coalesce(c, '')", "b DESC, coalesce(c, '')", "coalesce(c, ''), b", "b, coalesce(c, 'z')"):
        assert index_of(f"CREATE UNIQUE INDEX a ON t ({other}) WHERE d IS NOT NULL") != one
    assert index_of("CREATE INDEX a ON t (b)") != index_of("CREATE UNIQUE INDEX a ON t (b)")
    assert tree_of("a IN (0, 1)") == tree_of("(a = ANY (ARRAY[(0)::bigint, (1)::bigint]))")
    assert tree_of("a IN (0, 1)") != tree_of("a IN (0, 2)")
    assert tree_of("length(a) BETWEEN 1 AND 3") == tree_of("((length(a) >= 1) AND (length(a) <= 3))")
    assert tree_of("a IS NOT DISTINCT FROM b") == tree_of("(NOT (a IS DISTINCT FROM b))")
    assert tree_of("a IS NOT DISTINCT FROM b") != tree_of("a = b")
    assert tree_of("a = b OR c = d") != tree_of("a = b AND c = d")
    assert tree_of("x''") == tree_of("'\\x'::bytea")
