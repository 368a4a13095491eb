"""Migrations of a PostgreSQL: forward, whole or not at all, and how their text is made of SQLite's."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.failures import MigrationError
from gatewayd.store.migration_files import Migration, numbered
from gatewayd.store.postgres import schema
from gatewayd.store.postgres.connections import Connection, open_connection
from tests.store.postgres import generate
from tests.store.postgres.translating import ByHandError, translate
from tests.support.store import START

_ONE = Migration(7, "0007_baseline.sql", "CREATE TABLE one (id bigint PRIMARY KEY); INSERT INTO one VALUES (1);")
_TWO = Migration(8, "0008_create_two.sql", "CREATE TABLE two (one_id bigint REFERENCES one (id));")


@pytest.fixture
def connection(address: str) -> Iterator[Connection]:
    opened = open_connection(address, 60)
    yield opened
    opened.close()


def _tables(connection: Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]


def test_what_is_pending_is_applied_once(connection: Connection) -> None:
    assert schema.pending(connection, (_ONE, _TWO)) == (_ONE, _TWO)
    assert _tables(connection) == []  # to ask makes nothing
    assert schema.migrate(connection, (_ONE,), START) == 1
    assert schema.migrate(connection, (_ONE,), START) == 0
    assert schema.pending(connection, (_ONE, _TWO)) == (_TWO,)
    assert schema.migrate(connection, (_ONE, _TWO), START) == 1
    assert connection.execute("SELECT number, name, sha256, applied_at FROM migrations ORDER BY number").fetchall() == [
        (7, _ONE.name, _ONE.sha256, START),
        (8, _TWO.name, _TWO.sha256, START),
    ]
    assert not connection.in_transaction


def test_a_migration_that_was_changed_is_refused(connection: Connection) -> None:
    schema.migrate(connection, (_ONE,), START)
    with pytest.raises(MigrationError, match=r"0007_baseline\.sql is not the one that was applied"):
        schema.migrate(connection, (_ONE._replace(sql=_ONE.sql + " "), _TWO), START)
    assert sorted(_tables(connection)) == ["migrations", "one"]


def test_a_database_of_a_newer_program_is_refused(connection: Connection) -> None:
    schema.migrate(connection, (_ONE, _TWO), START)
    with pytest.raises(MigrationError, match="at migration 8 and this program knows 7: it needs a newer gatewayd"):
        schema.migrate(connection, (_ONE,), START)
    assert not connection.in_transaction


@pytest.mark.parametrize(
    "sql", ["CREATE TABLE two (a bigint); nonsense", "CREATE TABLE two (a bigint); INSERT INTO one VALUES (1)"]
)
def test_a_migration_that_fails_leaves_nothing(connection: Connection, sql: str) -> None:
    with pytest.raises(MigrationError, match=r"migration 0008_x\.sql failed: (syntax error|duplicate key)"):
        schema.migrate(connection, (_ONE, Migration(8, "0008_x.sql", sql)), START)
    assert _tables(connection) == []
    assert schema.migrate(connection, (_ONE, _TWO), START) == 2


def test_two_that_migrate_at_once_apply_each_once(address: str, connection: Connection) -> None:
    applied: list[int] = []

    def migrate() -> None:
        one = open_connection(address, 60)
        applied.append(schema.migrate(one, (_ONE, _TWO), START))
        one.close()

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(applied) == [0, 0, 0, 2]
    assert connection.execute("SELECT count(*) FROM one").get == 1


def test_a_server_that_goes_away_is_a_failure_of_the_store(address: str, connection: Connection) -> None:
    other = open_connection(address, 60)
    other.execute("SELECT pg_terminate_backend(CAST(:pid AS INTEGER))", {"pid": connection.session.info.backend_pid})
    other.close()
    with pytest.raises(StoreFailure, match="cannot be migrated"):
        schema.migrate(connection, (_ONE,), START)


def test_a_gap_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0007_baseline.sql").write_text("SELECT 1")
    (tmp_path / "0009_x.sql").write_text("SELECT 1")
    with pytest.raises(MigrationError, match=r"without gaps: \[7, 9\]"):
        numbered(tmp_path)


# -- how they are made


def test_what_lacks_a_pair_gets_one_and_what_has_one_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    (tmp_path / "0080_baseline.sql").write_text("SELECT 1;")
    (tmp_path / "0081_know_whose_a_statement_is.sql").write_text("SELECT 2;")
    by_hand = generate.write()
    assert any("0082_seal_tax_references.sql is to be written by hand: UPDATE" in fault for fault in by_hand)
    assert {migration.number for migration in generate.missing()} == {
        int(fault.split("/")[-1][:4]) for fault in by_hand
    }
    assert (tmp_path / "0080_baseline.sql").read_text() == "SELECT 1;"
    assert (tmp_path / "0081_know_whose_a_statement_is.sql").read_text() == "SELECT 2;"
    assert "capital_losses" in (tmp_path / "0088_keep_capital_losses.sql").read_text()
    assert not (tmp_path / "0082_seal_tax_references.sql").exists()


def test_what_is_plain_is_put_into_other_words() -> None:
    made = translate("""
        -- A comment; INTEGER it keeps.
        CREATE TABLE "boats" (
            number INTEGER PRIMARY KEY,
            owner_id TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE, -- whose
            text TEXT NOT NULL DEFAULT 'INTEGER, TEXT',
            mark BLOB NOT NULL DEFAULT x'0a',
            due TEXT CHECK (due IS CASE WHEN number > 0 THEN text END),
            FOREIGN KEY (owner_id, text) REFERENCES quays (owner_id, name)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX boats_by_text ON boats (text) WHERE due IS NOT NULL;
        ALTER TABLE boats ADD COLUMN length INTEGER CHECK (length > 0);
        ALTER TABLE boats ADD COLUMN quay_id TEXT REFERENCES quays (id);
        CREATE VIRTUAL TABLE boat_words USING fts5 (name);
        UPDATE boats SET length = 1 WHERE text = 'x;y';
    """)
    assert made.left_out == ("boat_words",)
    assert [" ".join(statement.split()) for statement in made.sql.split(";\n\n")] == [
        '-- A comment; INTEGER it keeps. CREATE TABLE "boats" ('
        " number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,"
        ' owner_id text COLLATE "C" NOT NULL, -- whose'
        " text text COLLATE \"C\" NOT NULL DEFAULT 'INTEGER, TEXT', mark bytea NOT NULL DEFAULT '\\x0a',"
        ' due text COLLATE "C" CHECK (due IS NOT DISTINCT FROM CASE WHEN number > 0 THEN text END))',
        "CREATE UNIQUE INDEX boats_by_text ON boats (text) WHERE due IS NOT NULL",
        "ALTER TABLE boats ADD COLUMN length bigint CHECK (length > 0)",
        'ALTER TABLE boats ADD COLUMN quay_id text COLLATE "C" REFERENCES quays (id)',
        "UPDATE boats SET length = 1 WHERE text = 'x;y'",
        "ALTER TABLE boats ADD FOREIGN KEY (owner_id) REFERENCES owners (id) ON DELETE CASCADE",
        "ALTER TABLE boats ADD FOREIGN KEY (owner_id, text) REFERENCES quays (owner_id, name);",
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE boats",
        "ALTER TABLE boats RENAME TO ships",
        "CREATE TABLE boats (length REAL)",
        "CREATE TABLE boats (id TEXT REFERENCES owners (id) ON DELETE SET NULL)",
        "CREATE TRIGGER t AFTER INSERT ON boats BEGIN DELETE FROM quays; END",
        "UPDATE boats SET secret = seal(secret, 'boat')",
        "UPDATE boats SET name = json_extract(data, '$.name')",
        "DELETE FROM boats WHERE name IS NOT 'x'",
    ],
)
def test_what_is_not_plain_is_written_by_hand(sql: str) -> None:
    with pytest.raises(ByHandError):
        translate(sql)
