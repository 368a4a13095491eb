"""One engine's answers beside the other's, by the program's own statements."""

from collections.abc import Iterator

import apsw
import psycopg
import pytest

from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books
from tests.support.postgres import Server
from tests.support.postgres_store import Databases, PostgresStore


@pytest.fixture(scope="module")
def databases(postgresql: Server) -> Iterator[Databases]:
    made = Databases(postgresql)
    yield made
    made.close()


@pytest.fixture
def both(databases: Databases, database_image: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A store of which each statement is run on both engines."""
    monkeypatch.setattr(PostgresStore, "databases", databases)
    store = PostgresStore(database_image, compares=True)
    yield store
    store.close()


def test_the_books_of_a_firm_are_the_same_on_both(both: PostgresStore) -> None:
    """Each statement of it was compared; the other suites do the same with `GATEWAYD_TEST_STORE=both`."""
    books = Books(both)
    client = books.client("Ölmühle é Ltd")
    invoices = [books.invoice(clientId=client) for _ in range(3)]
    with pytest.raises(Problem):
        books.invoice(clientId="cli_00000000000000000000000000")
    assert [row["id"] for row in books.walk("listInvoices", "limit=2")] == [row["id"] for row in invoices][::-1]
    assert [row["id"] for row in books.get("listClients", "q=m%C3%BChle")[0]] == [client]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST('a' AS TEXT) < CAST('B' AS TEXT)",
        "SELECT CAST(7 AS TEXT) || CAST(1 = 1 AS TEXT)",
        "SELECT 1 LIMIT (SELECT count(*) FROM pg_class)",
    ],
)
def test_answers_that_differ_are_seen(both: PostgresStore, sql: str) -> None:
    """By the order of text that is no column's, by a truth as text, and by a table that one lacks."""
    with pytest.raises((AssertionError, apsw.SQLError)):
        both.read(lambda tx: tx.rows(sql))


def test_what_one_refuses_the_other_refuses(both: PostgresStore) -> None:
    insert = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"

    def twice(tx: WriteTx) -> None:
        tx.run(insert, id="a")
        tx.run(insert, id="a")

    with pytest.raises(psycopg.IntegrityError):
        both.write(twice)
    assert both.read(lambda tx: tx.rows("SELECT id FROM organizations")) == []
    session = both.connection.session
    session.execute("ALTER TABLE organizations DROP CONSTRAINT organizations_pkey CASCADE")
    with pytest.raises(AssertionError, match="UNIQUE constraint failed"):
        both.write(twice)


def test_a_read_cannot_write(both: PostgresStore) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        both.read(lambda tx: tx.rows("DELETE FROM organizations"))
