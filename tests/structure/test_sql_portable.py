"""Every SQL constant would run on PostgreSQL too. What is pieced together is looked at when it is run: see conftest."""

import ast
from collections.abc import Callable, Iterator

import apsw
import pytest

from gatewayd.store import WriteTx
from gatewayd.store.reactions import Reacting, no_reactions
from gatewayd.store.sealer import Sealer
from gatewayd.store.sqlite.update_clock import UpdateClock
from gatewayd.store.transactions import Bindings
from tests.structure.sources import PACKAGE, Source, sources
from tests.structure.test_sql import CONSTANTS
from tests.support.portable_sql import SEARCH, Tables, faults
from tests.support.statements import Statements
from tests.support.store import SEALING_KEY, START

SQLITE_ALONE = ("gatewayd/store/", *SEARCH)
"""Where migrations and full-text search stand, with PRAGMA and functions of SQLite."""
PORTABLE = [c for c in CONSTANTS if not c.module.startswith(SQLITE_ALONE) and not c.is_template]


def test_statements_are_portable(tables: Tables) -> None:
    assert [f"{c.where}: {fault}" for c in PORTABLE for fault in faults(c.sql, tables)] == []
    assert len(PORTABLE) > 50


def around_transactions(source: Source) -> Iterator[str]:
    """Where something is asked of a connection itself."""
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("execute", "executemany", "_execute"):
            yield source.at(node)


def test_the_store_is_asked_through_transactions_alone() -> None:
    """So that what is asked is bound to an organization and seen by these tests."""
    outside = [source for source in sources() if not source.name.startswith(SQLITE_ALONE)]
    assert [where for source in outside for where in around_transactions(source)] == []


# -- the tests' own eyes

TABLES: Tables = {
    "users": {"id": False, "org_id": False, "name": True, "age": True, "made": False, "name_folded": False},
    "notes": {"id": False, "user_id": True, "body": False, "size": False},
}


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        # what PostgreSQL's parser does not take
        ("SELECT id FROM users WHERE id IN ()", "parser"),
        ("SELECT id FROM users WHERE name IS :name", "parser"),
        ("SELECT id FROM users WHERE name GLOB 'a*'", "parser"),
        ("SELECT id FROM users WHERE name MATCH :name", "parser"),
        ("SELECT id FROM users INDEXED BY users_page WHERE id = :id", "parser"),
        ("INSERT OR IGNORE INTO users (id) VALUES (:id)", "parser"),
        ("SELECT id FROM users LIMIT 1, 2", "parser"),
        ("DELETE FROM users WHERE id = :id LIMIT 1", "parser"),
        ("SELECT notes.id FROM users JOIN notes", "parser"),
        # what it takes and means otherwise, or does not have
        ("SELECT rowid FROM users", "no column"),
        ("SELECT u._rowid_ FROM users u", "no column"),
        ("UPDATE notes SET body = x'00' WHERE id = :id", "literal"),
        ("SELECT id FROM users WHERE age > 1.5", "literal"),
        ("SELECT id FROM users WHERE age IS TRUE", "BooleanTest"),
        ("SELECT id FROM users WHERE made < current_timestamp", "SQLValueFunction"),
        ("SELECT id FROM users ORDER BY id COLLATE nocase", "CollateClause"),
        ("SELECT age / 2 FROM users", "operator /"),
        ("SELECT name -> 'a' FROM users", "operator ->"),
        ("SELECT id FROM users WHERE id == :id", "operator =="),
        ("SELECT id FROM users ORDER BY +id", "operator +"),
        ("SELECT lower(name) FROM users", "lower()"),
        ("SELECT group_concat(name) FROM users", "group_concat()"),
        ("SELECT ifnull(name, '') FROM users", "ifnull()"),
        ("SELECT rank(name) FROM users", "rank()"),
        ("SELECT max(age, made) FROM users", "several values"),
        ("SELECT substr(body, size) FROM notes", "CAST"),
        ("SELECT substr(body, 1, size + 1) FROM notes", "CAST"),
        ("SELECT substr(body, -2) FROM notes", "starts with 1"),
        ("SELECT substr(body, 0, 2) FROM notes", "starts with 1"),
        ("SELECT CAST(age AS REAL) FROM users", "CAST to float4"),
        ("SELECT CAST(body AS BLOB) FROM notes", "CAST to blob"),
        ("SELECT id FROM users ORDER BY id LIMIT -1", "LIMIT"),
        ("SELECT id FROM users WHERE name_folded LIKE :pattern", "without ESCAPE"),
        ("SELECT id FROM users WHERE name LIKE :pattern ESCAPE '!'", "not folded"),
        ("SELECT id FROM users WHERE name_folded ILIKE :pattern", "ILIKE"),
        # truths and values
        ("SELECT id FROM users WHERE (name IS NULL) = :absent", "truth is taken for a value"),
        ("SELECT id FROM users WHERE (name IS NOT NULL) = 1", "truth is taken for a value"),
        ("SELECT sum(age > 3) FROM users", "truth is taken for a value"),
        ("UPDATE users SET age = name IS NULL WHERE id = :id", "truth is taken for a value"),
        ("INSERT INTO users (id, age) SELECT id, size > 1 FROM notes", "truth is taken for a value"),
        ("SELECT id FROM users WHERE age", "value is taken for a truth"),
        ("SELECT id FROM users WHERE :all OR id = :id", "value is taken for a truth"),
        ("SELECT CASE WHEN :x THEN id ELSE name END FROM users", "value is taken for a truth"),
        ("SELECT users.id FROM users JOIN notes ON 1", "value is taken for a truth"),
        # parameters without a type
        ("SELECT id FROM users WHERE :x IS NULL OR age > :x", ":x has no type"),
        ("SELECT id, :x FROM users", ":x has no type"),
        ("SELECT id FROM users WHERE age = :x + :y", ":x has no type"),
        ("UPDATE users SET age = :x + 1 WHERE id = :id", ":x has no type"),
        ("UPDATE users SET age = -:x WHERE id = :id", ":x has no type"),
        ("SELECT id FROM users WHERE :x = 1", ":x has no type"),
        ("SELECT id FROM users WHERE :x IN (1, 2)", ":x has no type"),
        ("SELECT id FROM users WHERE :x BETWEEN 1 AND 2", ":x has no type"),
        ("SELECT id FROM users WHERE age IS NOT DISTINCT FROM nullif(:x, '')", ":x has no type"),
        ("SELECT id FROM users WHERE age > coalesce(:x, 0)", ":x has no type"),
        ("UPDATE users SET age = CASE WHEN name IS NULL THEN NULL ELSE :x END WHERE id = :id", ":x has no type"),
        ("UPDATE users SET age = CASE WHEN name IS NULL THEN :x ELSE 0 END WHERE id = :id", ":x has no type"),
        ("SELECT CASE :x WHEN 1 THEN id ELSE name END FROM users", ":x has no type"),
        ("SELECT CASE 1 WHEN :x THEN id ELSE name END FROM users", ":x has no type"),
        ("SELECT id FROM users WHERE (age, 1) > (:y, :x)", ":x has no type"),
        ("SELECT length(:x) FROM users", ":x has no type"),
        ("SELECT substr(:x, 1, 2) FROM users", ":x has no type"),
        ("SELECT id FROM users ORDER BY :x", ":x has no type"),
        ("UPDATE users SET age = 1 WHERE id = :id RETURNING :x", ":x has no type"),
        # names
        ("SELECT count(*) FROM (SELECT id FROM users LIMIT 3)", "without an alias"),
        ("INSERT INTO users (id) VALUES (:id) ON CONFLICT (id) DO UPDATE SET age = age + 1", "upsert reads age"),
        ("INSERT INTO users (id) VALUES (:id) ON CONFLICT (id) DO UPDATE SET age = 1 WHERE name IS NULL", "reads name"),
        ("SELECT name, max(age) FROM users", "beside an aggregate"),
        ("SELECT id, name, count(*) FROM users GROUP BY id", "beside an aggregate"),
        # orders
        ("SELECT id FROM users ORDER BY name", "ORDER BY name"),
        ("SELECT id FROM users WHERE name <> '' OR age > 1 ORDER BY name", "ORDER BY name"),
        ("SELECT id FROM users ORDER BY name IS NULL, age", "ORDER BY age"),
        ("SELECT id FROM users WHERE (made, age) > (:made, :age) ORDER BY made, age", "ORDER BY age"),
        ("SELECT users.id FROM users LEFT JOIN notes ON user_id = users.id ORDER BY notes.id", "ORDER BY notes.id"),
        ("SELECT name AS id FROM users ORDER BY id", "ORDER BY id"),
        ("SELECT id FROM users UNION ALL SELECT user_id AS id FROM notes ORDER BY id", "ORDER BY id"),
        ("SELECT id FROM users ORDER BY coalesce(name, '')", "ORDER BY CoalesceExpr"),
        ("SELECT row_number() OVER (ORDER BY name) FROM users", "ORDER BY name"),
        ("SELECT id FROM elsewhere ORDER BY id", "ORDER BY id"),
    ],
)
def test_what_would_not_run_on_postgresql_is_seen(sql: str, fault: str) -> None:
    found = faults(sql, TABLES)
    assert any(fault in one for one in found), found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM users WHERE name IS NOT DISTINCT FROM :name AND age BETWEEN :low AND :high",
        "SELECT id, name IS NULL FROM users WHERE (name IS NULL) = (age IS NULL) ORDER BY name IS NULL, name, id",
        "SELECT id FROM users WHERE name > :after ORDER BY name DESC LIMIT :count",
        "SELECT u.id FROM users u JOIN notes n ON user_id = u.id WHERE user_id IS NOT NULL ORDER BY user_id, u.id",
        "SELECT id FROM users WHERE (age, id) > (:age, :id) ORDER BY age, id",
        "SELECT id FROM users WHERE name_folded LIKE :pattern ESCAPE '!' AND id IN (:a, :b)",
        "SELECT id FROM users WHERE CAST(:x AS BIGINT) IS NULL OR age > :x",
        "UPDATE users SET age = CASE WHEN name IS NULL THEN NULL ELSE CAST(:x AS BIGINT) END, made = :made + age",
        "SELECT substr(body, CAST(size AS INTEGER) + 1), substr(body, 1, :n) FROM notes",
        "SELECT name, sum(CASE WHEN age > :x THEN age ELSE 0 END) FROM users GROUP BY name",
        "SELECT count(*), max(age) FROM users WHERE EXISTS (SELECT 1 FROM notes WHERE user_id = users.id)",
        "SELECT id, row_number() OVER (PARTITION BY name ORDER BY id), sum(made) OVER (ORDER BY id) FROM users",
        "INSERT INTO users (id, age) SELECT :id, size FROM notes WHERE id = :note",
        "INSERT INTO users (id, age) VALUES (:id, :age) ON CONFLICT (id) DO UPDATE SET age = users.age + excluded.age",
        "SELECT id AS key FROM users UNION ALL SELECT id AS key FROM notes ORDER BY key LIMIT :count",
        "SELECT id FROM users WHERE name = 'Is it :id?' OR name = 'it''s :x'",
    ],
)
def test_what_both_engines_take_is_no_fault(sql: str) -> None:
    assert faults(sql, TABLES) == []


def test_a_way_round_the_transaction_is_seen() -> None:
    text = "def f(tx):\n    tx._execute('SELECT 1')\n    tx.rows('SELECT 1')\n"
    assert list(around_transactions(Source(PACKAGE, "gatewayd/x.py", text))) == ["gatewayd/x.py:2"]


# -- what was run


Ask = Callable[[str, str], dict[str, str]]
PROGRAM = str(PACKAGE / "areas" / "x.py")


@pytest.fixture
def ask() -> Ask:
    """`ask(file, "tx.rows('SELECT 1')")`: what is seen when that stands in `file`."""
    seen = Statements()
    connection = apsw.Connection(":memory:")
    seen.watch(connection)
    tx = WriteTx(
        connection, Bindings(None, START), Sealer(SEALING_KEY), str, UpdateClock(connection), Reacting(no_reactions())
    )

    def run(file: str, expression: str) -> dict[str, str]:
        exec(compile(expression, file, "exec"), {"tx": tx})
        return seen.take()

    return run


@pytest.mark.parametrize("call", ["rows({})", "row({})", "value({})", "run({})", "run_each({}, [()])"])
def test_what_the_program_runs_is_seen_once(ask: Ask, call: str) -> None:
    assert ask(PROGRAM, f"tx.{call.format(repr('SELECT 1'))}") == {"SELECT 1": "gatewayd/areas/x.py:1"}
    assert ask(PROGRAM, f"tx.{call.format(repr('SELECT 1'))}") == {}
    assert ask(PROGRAM, f"\ntx.{call.format(repr('SELECT 2'))}") == {"SELECT 2": "gatewayd/areas/x.py:2"}


def test_what_a_test_runs_is_not_the_programs(ask: Ask) -> None:
    assert ask(__file__, "tx.rows('SELECT 1')") == {}
    assert ask(PROGRAM, "tx.rows('SELECT 1')") == {"SELECT 1": "gatewayd/areas/x.py:1"}


def test_every_connection_of_this_process_is_watched(statements: Statements) -> None:
    assert statements.watch in apsw.connection_hooks
