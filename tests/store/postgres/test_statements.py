"""Named parameters as PostgreSQL's numbers, and values that come back as SQLite gives them."""

from collections.abc import Iterator
from typing import Any

import apsw
import psycopg
import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.postgres.connections import STREAMED_ROWS, Connection, open_connection
from gatewayd.store.postgres.failures import is_conflict, is_of_the_engine
from gatewayd.store.postgres.statements import numbered
from tests.support.postgres import Server

_MAKE = (
    "CREATE TABLE things (id {text} PRIMARY KEY, amount {number}, data {data}, truth {number} CHECK (truth IN (0, 1)))"
)


@pytest.fixture(scope="module")
def database(postgresql: Server) -> Iterator[str]:
    name = postgresql.new_database()
    yield postgresql.address(name)
    postgresql.drop(name)


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    """In a transaction that is given up, with an empty table."""
    opened = open_connection(database, 60)
    opened.execute("BEGIN")
    opened.execute(_MAKE.format(text='text COLLATE "C"', number="bigint", data="bytea"))
    yield opened
    opened.close()


@pytest.fixture
def sqlite() -> Iterator[apsw.Connection]:
    opened = apsw.Connection(":memory:")
    opened.execute(_MAKE.format(text="TEXT", number="INTEGER", data="BLOB"))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("sql", "expected", "names"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("SELECT :a, :b_2", "SELECT $1, $2", ("a", "b_2")),
        ("SELECT :b WHERE c = :a AND d = :b", "SELECT $1 WHERE c = $2 AND d = $1", ("b", "a")),
        ("SELECT a::bigint, :a::text", "SELECT a::bigint, $1::text", ("a",)),
        ("SELECT ':a', 'it''s :a', \":a\", :a", "SELECT ':a', 'it''s :a', \":a\", $1", ("a",)),
        ("SELECT 1 -- :a it's\n, :b /* ' :c */", "SELECT 1 -- :a it's\n, $1 /* ' :c */", ("b",)),
        ("SELECT '%s', 5 % :n", "SELECT '%s', 5 % $1", ("n",)),
        ("(:a,:b)", "($1,$2)", ("a", "b")),
    ],
)
def test_names_become_numbers(sql: str, expected: str, names: tuple[str, ...]) -> None:
    assert numbered(sql) == (expected.encode(), names)


def test_of_the_values_only_those_are_sent_that_a_statement_names(connection: Connection) -> None:
    found = connection.execute("SELECT CAST(:b AS TEXT), CAST(:a AS BIGINT)", {"a": 1, "b": "x", "c": object()})
    assert found.fetchall() == [("x", 1)]
    with pytest.raises(KeyError, match="b"):
        connection.execute("SELECT CAST(:b AS TEXT)", {"a": 1})


VALUES: list[dict[str, Any]] = [
    {"id": "", "amount": 0, "data": b"", "truth": False},
    {"id": "a", "amount": -1, "data": b"\x00\xff", "truth": True},
    {"id": "B", "amount": 2**63 - 1, "data": b"\\x41", "truth": 1},
    {"id": "é ☃ 𝄞", "amount": -(2**63), "data": bytes(range(256)), "truth": 0},
    {"id": "it's :x $1 %s", "amount": None, "data": None, "truth": None},
    {"id": "Z", "amount": 32_768, "data": bytearray(b"1"), "truth": True},
]

ASKED = [
    "SELECT id, amount, data, truth FROM things ORDER BY id",
    "SELECT sum(truth), count(*), min(id), max(id), min(amount) FROM things",
    "SELECT sum(amount) FROM things WHERE id = 'nobody'",
    "SELECT sum(CAST(length(id) AS BIGINT)), max(length(data)) FROM things",
    "SELECT id, amount IS NULL, truth = 1, NOT (truth = 1), amount > :zero FROM things ORDER BY id",
    "SELECT CASE WHEN amount > 0 THEN 'more' ELSE 'less' END, 7, 'text', NULL FROM things ORDER BY id",
    "SELECT id FROM things WHERE id > :text ORDER BY id DESC LIMIT :count",
    "SELECT coalesce(amount, :zero), nullif(id, :text), abs(truth), substr(id, 1, 1) FROM things ORDER BY id",
    "SELECT id, row_number() OVER (ORDER BY id), sum(truth) OVER (ORDER BY id) FROM things ORDER BY id",
    "SELECT EXISTS (SELECT 1 FROM things WHERE id = :text), (SELECT count(*) FROM things WHERE truth = :truth)",
    "SELECT id FROM things WHERE (truth, id) > (:zero, :text) ORDER BY id",
    "SELECT id FROM things WHERE data = :data OR amount = :most",
    "UPDATE things SET amount = :zero WHERE truth = :truth RETURNING id, amount",
    "DELETE FROM things WHERE id > :text",
    "SELECT id FROM things WHERE id = :text AND CAST(:none AS TEXT) IS NULL",
]


@pytest.mark.parametrize("sql", ASKED)
def test_answers_are_those_of_sqlite(connection: Connection, sqlite: apsw.Connection, sql: str) -> None:
    """Equal, and of the same types: a truth is a number, and so is a sum."""
    insert = "INSERT INTO things (id, amount, data, truth) VALUES (:id, :amount, :data, :truth)"
    for values in VALUES:
        for one in (connection, sqlite):
            one.execute(insert, values)
            assert one.changes() == 1
    bound = {"zero": 0, "text": "a", "count": 2, "truth": True, "data": b"\x00\xff", "most": 2**63 - 1, "none": None}
    for _ in range(3):  # the second time it is prepared
        found, expected = (one.execute(sql, bound).fetchall() for one in (connection, sqlite))
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        if "ORDER BY" in sql:
            assert found == expected
        if not sql.startswith("SELECT"):
            assert connection.changes() == sqlite.changes()


def test_one_statement_is_prepared_once_whatever_its_values_are(connection: Connection) -> None:
    for number in (1, 40_000, 2**40, True):
        found = connection.execute("SELECT CAST(:n AS BIGINT), CAST(:n AS BIGINT) + 1", {"n": number})
        assert found.fetchall() == [(number, number + 1)]
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT CAST($1 AS BIGINT),%'"
    assert connection.execute(prepared).get == 1


def test_rows_are_sent_together_in_the_order_of_the_names(connection: Connection) -> None:
    insert = "INSERT INTO things (amount, id, truth) VALUES (:amount, :id, :amount)"
    connection.executemany(insert, [(1, "a"), (0, "b"), (1, "c")])
    assert connection.execute("SELECT id, amount, truth FROM things ORDER BY id").fetchall() == [
        ("a", 1, 1),
        ("b", 0, 0),
        ("c", 1, 1),
    ]
    connection.executemany(insert, [])
    with pytest.raises(ValueError, match="3 values for 2 parameters"):
        connection.executemany(insert, [(1, "d", 1)])


def test_one_row_and_one_value(connection: Connection) -> None:
    connection.executemany("INSERT INTO things (id, amount) VALUES (:id, :amount)", [("a", 1), ("b", 2)])
    assert connection.execute("SELECT id FROM things ORDER BY id").fetchone() == ("a",)
    assert connection.execute("SELECT id FROM things ORDER BY id").get == "a"
    assert connection.execute("SELECT id, amount FROM things ORDER BY id").get == ("a", 1)
    assert connection.execute("SELECT id FROM things WHERE id = 'c'").get is None
    assert connection.execute("DELETE FROM things").fetchall() == []
    assert connection.changes() == 2
    assert list(connection.execute("SELECT id FROM things")) == []


def test_rows_that_are_taken_one_by_one_leave_room_for_other_statements(connection: Connection) -> None:
    count = 2 * STREAMED_ROWS + 1
    connection.executemany("INSERT INTO things (id) VALUES (:id)", [(f"{number:06}",) for number in range(count)])
    select = "SELECT id FROM things WHERE id >= :first ORDER BY id"
    one, other = connection.stream(select, {"first": ""}), connection.stream(select, {"first": "000002"})
    assert (next(one), next(other)) == (("000000",), ("000002",))
    assert connection.execute("SELECT count(*) FROM things").get == count
    assert len(list(one)) == count - 1
    left = "SELECT count(*) FROM pg_cursors WHERE name LIKE 'rows%'"
    assert connection.execute(left).get == 1  # that which was not read to its end
    connection.execute("ROLLBACK")
    assert connection.execute(left).get == 0


def test_a_savepoint_undoes_what_failed(connection: Connection) -> None:
    connection.execute("INSERT INTO things (id) VALUES (:id)", {"id": "a"})
    connection.execute("SAVEPOINT operation")
    with pytest.raises(psycopg.errors.UniqueViolation) as caught:
        connection.execute("INSERT INTO things (id) VALUES (:id)", {"id": "a"})
    assert not is_of_the_engine(caught.value)
    assert connection.in_transaction
    connection.execute("ROLLBACK TO operation")
    assert connection.execute("SELECT id FROM things").fetchall() == [("a",)]
    connection.execute("ROLLBACK")
    assert not connection.in_transaction


def test_a_statement_has_a_deadline(database: str) -> None:
    opened = open_connection(database, 0.05)
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        opened.execute("SELECT pg_sleep(30)")
    assert is_of_the_engine(caught.value)
    assert not is_conflict(caught.value)
    opened.close()


def test_a_connection_that_the_server_ends_is_a_failure_of_the_engine(database: str) -> None:
    opened, other = open_connection(database, 60), open_connection(database, 60)
    other.execute("SELECT pg_terminate_backend(CAST(:pid AS INTEGER))", {"pid": opened.session.info.backend_pid})
    with pytest.raises(psycopg.OperationalError) as caught:
        opened.execute("SELECT 1")
    assert is_of_the_engine(caught.value)
    opened.close()
    other.close()


def test_two_that_wait_for_each_other_are_a_conflict(database: str) -> None:
    """The server gives up one of them, which may begin anew."""
    opened = open_connection(database, 60)
    with pytest.raises(psycopg.Error) as caught:
        opened.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$")
    assert is_conflict(caught.value)
    assert is_of_the_engine(caught.value)
    opened.close()


def test_a_server_that_is_not_there_is_a_failure_of_the_store(postgresql: Server) -> None:
    with pytest.raises(StoreFailure, match="cannot be reached"):
        open_connection(postgresql.address("nowhere"), 60)
