"""Migrations: forward, whole or not at all, and the same for everyone."""

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.failures import MigrationError
from gatewayd.store.migration_files import Migration, numbered
from gatewayd.store.sqlite import connections, schema
from tests.support.store import START

_ONE = Migration(
    1, "0001_create_one.sql", "CREATE TABLE one (id INTEGER PRIMARY KEY) STRICT; INSERT INTO one VALUES (1)"
)
_TWO = Migration(
    2, "0002_create_two.sql", "CREATE TABLE two (one_id INTEGER REFERENCES one (id)) STRICT; INSERT INTO two VALUES (1)"
)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    opened = connections.open_writer(tmp_path / "a.db", 5)
    yield opened
    opened.close()


def _tables(connection: apsw.Connection) -> set[str]:
    return {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_what_is_pending_is_applied_once(connection: apsw.Connection) -> None:
    assert schema.migrate(connection, (_ONE,), START) == 1
    assert schema.migrate(connection, (_ONE,), START) == 0
    assert schema.migrate(connection, (_ONE, _TWO), START) == 1
    assert connection.execute("SELECT number, name, applied_at FROM migrations").fetchall() == [
        (1, _ONE.name, START),
        (2, _TWO.name, START),
    ]
    assert connection.execute("SELECT count(*) FROM one").get == 1


def test_of_a_new_database_all_is_pending_and_to_ask_makes_nothing(connection: apsw.Connection) -> None:
    assert schema.pending(connection, (_ONE, _TWO)) == (_ONE, _TWO)
    assert _tables(connection) == set()
    schema.migrate(connection, (_ONE,), START)
    assert schema.pending(connection, (_ONE, _TWO)) == (_TWO,)


def test_a_migration_that_was_changed_is_refused(connection: apsw.Connection) -> None:
    schema.migrate(connection, (_ONE,), START)
    with pytest.raises(MigrationError, match=r"0001_create_one\.sql is not the one that was applied"):
        schema.migrate(connection, (_ONE._replace(sql=_ONE.sql + " "), _TWO), START)
    assert "two" not in _tables(connection)


def test_a_database_of_a_newer_program_is_refused(connection: apsw.Connection) -> None:
    schema.migrate(connection, (_ONE, _TWO), START)
    with pytest.raises(MigrationError, match="at migration 2 and this program knows 1: it needs a newer gatewayd"):
        schema.migrate(connection, (_ONE,), START)
    assert not connection.in_transaction


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE two (a INTEGER) STRICT; INSERT INTO nowhere VALUES (1)",
        "CREATE TABLE two (a INTEGER) STRICT; nonsense",
        "CREATE TABLE two (a INTEGER) STRICT; COMMIT; BEGIN",
        "CREATE TABLE two (a INTEGER) STRICT; ROLLBACK; BEGIN",
        "CREATE TABLE two (a INTEGER) STRICT; SAVEPOINT x",
        "CREATE TABLE two (a INTEGER REFERENCES one (id)) STRICT; INSERT INTO two VALUES (7)",
        "CREATE TABLE two (a INTEGER) STRICT; DELETE FROM one; INSERT INTO one VALUES (1), (1)",
    ],
)
def test_a_migration_that_fails_leaves_nothing(connection: apsw.Connection, sql: str) -> None:
    failing = (_ONE, Migration(2, "0002_x.sql", sql))
    with pytest.raises(MigrationError, match=r"0002_x\.sql"):
        schema.migrate(connection, failing, START)
    assert _tables(connection) == set()  # nor of those before it
    assert schema.migrate(connection, (_ONE,), START) == 1
    with pytest.raises(MigrationError, match=r"0002_x\.sql"):
        schema.migrate(connection, failing, START)
    assert _tables(connection) == {"migrations", "one"}
    assert connection.execute("SELECT id FROM one").fetchall() == [(1,)]
    assert connection.execute("SELECT max(number) FROM migrations").get == 1
    assert schema.migrate(connection, (_ONE, _TWO), START) == 1


def test_what_refers_to_nothing_is_named(connection: apsw.Connection) -> None:
    dangling = Migration(2, "0002_break.sql", _TWO.sql.replace("VALUES (1)", "VALUES (7)"))
    with pytest.raises(MigrationError, match=r"0002_break\.sql leaves rows of two that refer to nothing"):
        schema.migrate(connection, (_ONE, dangling), START)
    assert "two" not in _tables(connection)


def test_what_sqlite_keeps_for_itself_is_no_schema(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE one (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE) STRICT")
    assert "sqlite_sequence" in _tables(connection)
    assert schema.schema(connection).count("CREATE") == 1


def test_a_table_that_others_refer_to_can_be_rebuilt(connection: apsw.Connection) -> None:
    rebuild = Migration(
        3,
        "0003_rebuild_one.sql",
        """
        CREATE TABLE one_new (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        INSERT INTO one_new (id) SELECT id FROM one;
        DROP TABLE one;
        ALTER TABLE one_new RENAME TO one;
        """,
    )
    assert schema.migrate(connection, (_ONE, _TWO, rebuild), START) == 3
    assert connection.execute("SELECT one_id FROM two").get == 1
    with pytest.raises(apsw.ConstraintError):
        connection.execute("INSERT INTO two VALUES (9)")  # foreign keys are in force again


def test_a_full_disk_is_a_failure_of_the_store(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA max_page_count = 4").fetchall()
    many = Migration(2, "0002_many.sql", "".join(f"CREATE TABLE t{n} (a INTEGER) STRICT;" for n in range(20)))
    with pytest.raises(StoreFailure, match="cannot be migrated"):
        schema.migrate(connection, (_ONE, many), START)
    assert not connection.in_transaction
    connection.execute("PRAGMA max_page_count = 1000").fetchall()
    assert schema.migrate(connection, (_ONE, many), START) >= 1


def test_a_lock_is_a_failure_of_the_store(tmp_path: Path) -> None:
    holder = connections.open_writer(tmp_path / "a.db", 0)
    holder.execute("BEGIN IMMEDIATE")
    waiting = connections.open_writer(tmp_path / "a.db", 0.05)
    with pytest.raises(StoreFailure, match="cannot be migrated"):
        schema.migrate(waiting, (_ONE,), START)
    holder.execute("ROLLBACK")
    assert schema.migrate(waiting, (_ONE,), START) == 1
    holder.close()
    waiting.close()


def test_what_is_pending_is_read_without_waiting_for_who_writes(connection: apsw.Connection, tmp_path: Path) -> None:
    schema.migrate(connection, (_ONE,), START)
    connection.execute("BEGIN IMMEDIATE")
    other = connections.open_writer(tmp_path / "a.db", 0)
    assert schema.pending(other, (_ONE, _TWO)) == (_TWO,)
    other.close()


def test_a_lock_is_looked_for_as_long_as_was_said(tmp_path: Path) -> None:
    holder = connections.open_writer(tmp_path / "a.db", 0)
    waiting = connections.open_writer(tmp_path / "a.db", 30)
    holder.execute("BEGIN IMMEDIATE")
    thread = threading.Thread(target=waiting.execute, args=("BEGIN IMMEDIATE",))
    thread.start()
    holder.execute("ROLLBACK")
    thread.join(timeout=20)
    assert waiting.in_transaction
    with pytest.raises(apsw.BusyError):
        holder.execute("BEGIN IMMEDIATE")
    waiting.execute("ROLLBACK")
    waiting.close()
    holder.close()


def test_migrating_at_once_applies_each_once(tmp_path: Path) -> None:
    """Each thread has a connection of its own, which to SQLite is as good as a process."""
    migrations = tuple(
        Migration(n, f"{n:04}_add.sql", f"CREATE TABLE t{n} (a INTEGER) STRICT; INSERT INTO t{n} VALUES (1)")
        for n in range(1, 21)
    )
    applied: list[int] = []
    ready = threading.Barrier(4)

    def migrate() -> None:
        connection = connections.open_writer(tmp_path / "a.db", 10)
        ready.wait(timeout=10)
        applied.append(schema.migrate(connection, migrations, START))
        connection.close()

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(applied) == 4
    assert sum(applied) == 20


def test_the_packaged_migrations_have_no_gap() -> None:
    assert [migration.number for migration in schema.packaged()] == list(range(1, len(schema.packaged()) + 1))


@pytest.mark.parametrize(
    "names", [["0001_a.sql", "0003_c.sql"], ["0002_b.sql"], ["0001_a.sql", "0001_b.sql"], ["0000_a.sql"]]
)
def test_a_gap_or_a_number_taken_twice_is_refused(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(MigrationError, match="without gaps"):
        numbered(tmp_path)


def test_what_is_no_migration_is_passed_over(tmp_path: Path) -> None:
    for name in ("0001_create_a.sql", "README.md", "1_b.sql", "0002_B.sql", "0002_b.sql~"):
        (tmp_path / name).write_text("SELECT 1")
    assert [migration.name for migration in numbered(tmp_path)] == ["0001_create_a.sql"]


def test_schema_sql_equals_the_migrations() -> None:
    written = schema.schema_file().read_text("utf-8")
    assert written == schema.render_schema_file(), "schema.sql is stale: run `make generate` and commit what it writes"


def test_the_schema_makes_the_same_database(connection: apsw.Connection) -> None:
    connection.execute(schema.render_schema_file()).fetchall()
    assert schema.render_schema_file().endswith(schema.schema(connection))


def test_every_table_is_strict_and_checks_its_references_at_once() -> None:
    connection = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(connection, schema.packaged(), START)
    loose = connection.execute(
        "SELECT name FROM pragma_table_list WHERE strict = 0 AND type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    assert loose == []
    assert "DEFERR" not in schema.schema(connection).upper()  # it would fail at COMMIT, and with it its neighbours
    connection.close()


def test_undoing_an_import_reads_no_table_for_each_row_that_goes(connection: apsw.Connection) -> None:
    """A foreign key looks for those that refer to a row by their column alone: an index has to begin with it."""
    schema.migrate(connection, schema.packaged(), START)
    referring = [
        (str(name), str(column))
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for parent, column in connection.execute('SELECT "table", "from" FROM pragma_foreign_key_list(?)', (name,))
        if parent == "asset_transactions"
    ]
    assert referring
    for name, column in referring:
        plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT 1 FROM {name} WHERE {column} = ?", ("",)).fetchall()
        assert not [step for *_, step in plan if str(step).startswith("SCAN")], (name, column)
