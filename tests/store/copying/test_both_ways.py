"""A store from SQLite to PostgreSQL and back: all of it, or nothing."""

import contextlib
from pathlib import Path
from typing import Any

import apsw
import pytest

from gatewayd.clock import Instant
from gatewayd.store.copying.plan import OWN_WAY, SEEDED
from gatewayd.store.failures import Doubtful, MigrationError, StoreFailure
from gatewayd.store.postgres import schema
from gatewayd.store.postgres.connections import Connection, open_connection
from gatewayd.store.sqlite import connections
from gatewayd.store.sqlite import schema as sqlite_schema
from tests.store.copying.conftest import ANEW, back, folder, rows, there, with_rows
from tests.support.postgres import Server
from tests.support.store import START, DatabaseImage

CHUNK = (
    "INSERT INTO vault_chunks (number, org_id, document_id, n, page, start, length, digest, model, vector) VALUES"
    " (41, 'org_a', 'doc_a', 0, 1, -9223372036854775808, 9223372036854775807, x'00ff5c00', '', NULL)"
)
KEY = (
    "INSERT INTO idempotency_keys (org_id, credential_id, key, request_hash, operation, response, sealed, created_at)"
    " VALUES ('org_a', 'key_a', '\\N\t\n€ 😀 ''q''', x'', '', x'', 0, 5)"
)
CONNECTED = r"gatewayd is connected to the PostgreSQL \(1 sessions\)"
_SCHEMA = """
SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = CAST('public' AS regnamespace)
UNION SELECT CAST(CAST(conrelid AS regclass) AS text) || conname || pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = CAST('public' AS regnamespace)
"""


def everything(path: Path) -> dict[str, list[Any]]:
    """All that was to be copied."""
    apart = OWN_WAY | ANEW.tables
    names = [str(row[0]) for row in rows(path, "SELECT name FROM pragma_table_list WHERE type = 'table'")]  # type: ignore[index]
    kept = [name for name in names if name not in apart and not name.startswith("sqlite_")]
    return {name: sorted(rows(path, f'SELECT * FROM "{name}"'), key=repr) for name in kept}


def fill(path: Path) -> None:
    with_rows(path, CHUNK, KEY, "UPDATE update_clock SET latest = 7000, accepted_latest = 6000, accepted_at = 50")
    connection = apsw.Connection(str(path))
    with contextlib.closing(connection):
        connection.execute("BEGIN")
        folder(connection, "fol_leaf", parent_id="fol_root")  # before what it refers to
        folder(connection, "fol_root", name="")
        connection.execute("COMMIT")


def test_there_and_back(path: Path, address: str, tmp_path: Path) -> None:
    fill(path)
    before = path.read_bytes()
    sums = there(path, address)
    assert sums["vault_folders"].rows == 2
    assert sums["vault_chunks"].rows == sums["idempotency_keys"].rows == sums["organizations"].rows == 1
    assert path.read_bytes() == before
    assert back(address, tmp_path / "back" / "gatewayd.db") == sums
    copy = tmp_path / "back" / "gatewayd.db"
    assert everything(copy) == everything(path)
    assert [entry.name for entry in copy.parent.iterdir()] == ["gatewayd.db"]
    assert copy.stat().st_mode & 0o077 == 0
    assert rows(copy, "PRAGMA integrity_check") == [("ok",)]
    assert rows(copy, "PRAGMA page_size") == [(connections.PAGE_BYTES,)]
    reader = connections.open_reader(copy, 0)
    with contextlib.closing(reader):
        assert sqlite_schema.schema(reader) == _schema_of(path)


def _schema_of(path: Path) -> str:
    reader = connections.open_reader(path, 0)
    with contextlib.closing(reader):
        return sqlite_schema.schema(reader)


def test_indexes_and_references_are_there_again(
    path: Path, address: str, server: Connection, postgresql: Server
) -> None:
    there(path, address)
    name = postgresql.new_database()
    new = open_connection(postgresql.address(name), 60)
    with contextlib.closing(new):
        schema.migrate(new, schema.packaged(), START)
        expected = sorted(new.execute(_SCHEMA).fetchall())
    assert len(expected) > 700
    assert sorted(server.execute(_SCHEMA).fetchall()) == expected
    postgresql.drop(name)


def test_numbers_go_on_behind_the_greatest(path: Path, address: str, server: Connection) -> None:
    with_rows(path, CHUNK)
    there(path, address)
    inserted = server.execute(
        "INSERT INTO vault_chunks (org_id, document_id, n, page, start, length, digest, model)"
        " VALUES ('org_a', 'doc_b', 0, 1, 0, 0, '', '') RETURNING number"
    )
    assert inserted.get == 42


def test_updated_at_never_goes_back(path: Path, address: str, server: Connection, tmp_path: Path) -> None:
    fill(path)
    there(path, address)
    clock = "SELECT latest, accepted_latest, accepted_at FROM update_clock"
    assert server.execute(clock).fetchall() == [(7000, 6000, 50)]
    assert server.execute("SELECT now FROM pulse").get == 7000
    server.execute("UPDATE pulse SET now = 9000")
    back(address, tmp_path / "back" / "gatewayd.db")
    assert rows(tmp_path / "back" / "gatewayd.db", clock) == [(9000, 6000, 50)]


def test_leases_stay_behind_and_the_index_is_made_anew(
    path: Path, address: str, server: Connection, tmp_path: Path
) -> None:
    with_rows(
        path,
        f"INSERT INTO leases (org_id, subject, holder, until) VALUES ('org_a', 'import:bac_a', 'old', {START})",
        "INSERT INTO vault_index_parts (org_id, document_id, first_page, last_page) VALUES ('org_a', 'fol_a', 1, 1)",
        "INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at) VALUES ('org_a', 'fol_b', 3, 1)",
    )
    connection = apsw.Connection(str(path))
    folder(connection, "fol_a")
    connection.close()
    queued = "SELECT org_id, document_id, revision, queued_at FROM vault_index_queue"
    there(path, address)
    for table in ("leases", "vault_index_parts"):
        assert server.execute(f"SELECT count(*) FROM {table}").get == 0
    assert server.execute(queued).fetchall() == [("org_a", "fol_a", 1, START)]
    server.execute("INSERT INTO leases (org_id, subject, holder, until) VALUES ('org_a', 'import:bac_a', 'old', 1)")
    copy = tmp_path / "back" / "gatewayd.db"
    back(address, copy, Instant(START + 5))
    assert rows(copy, "SELECT * FROM leases") == rows(copy, "SELECT * FROM vault_index_parts") == []
    assert rows(copy, queued) == [("org_a", "fol_a", 1, START + 5)]


def refused(path: Path, address: str, server: Connection, words: str, now: Instant = START) -> str:
    """The copy to PostgreSQL is refused, and nothing is there."""
    with pytest.raises(StoreFailure, match=words) as error:
        there(path, address, now)
    assert server.execute("SELECT to_regclass('public.organizations') IS NULL").get == 1
    return str(error.value)


def test_text_with_nul_is_named_before_anything_is_written(path: Path, address: str, server: Connection) -> None:
    connection = apsw.Connection(str(path))
    for number in range(21):
        folder(connection, f"fol_{number:02}", name=f"a\0{number}")
    connection.close()
    with_rows(
        path, "INSERT INTO idempotency_keys VALUES ('org_a', 'key_a', 'k', x'00', 'a' || char(0), x'00', 0, 1, NULL)"
    )
    told = refused(path, address, server, "NUL").split("\n")
    assert told[1] == "idempotency_keys, org_id 'org_a', credential_id 'key_a', key 'k': operation"
    assert told[2] == "vault_folders, id 'fol_00': name"
    assert told[-1] == "and 2 more"
    assert len(told) == 22


def test_text_that_is_not_utf_8_is_refused(path: Path, address: str, server: Connection) -> None:
    with_rows(path, "UPDATE organizations SET name = CAST(x'ff41' AS TEXT)")
    refused(path, address, server, "a row of organizations has text that is not UTF-8")


def test_rows_that_refer_to_nothing_are_refused(path: Path, address: str, server: Connection, tmp_path: Path) -> None:
    with_rows(path, "PRAGMA foreign_keys = OFF", CHUNK.replace("org_a", "org_lost"))
    refused(path, address, server, "vault_chunks_org_id_fkey")
    with_rows(path, "DELETE FROM vault_chunks")
    there(path, address)
    server.execute("ALTER TABLE vault_chunks DROP CONSTRAINT vault_chunks_org_id_fkey")
    server.execute(
        "INSERT INTO vault_chunks (org_id, document_id, n, page, start, length, digest, model)"
        " VALUES ('org_lost', 'doc_b', 0, 1, 0, 0, '', '')"
    )
    with pytest.raises(StoreFailure, match="rows of vault_chunks refer to rows of organizations that are not there"):
        back(address, tmp_path / "back" / "gatewayd.db")
    assert list((tmp_path / "back").iterdir()) == []


def test_a_copy_that_differs_is_not_kept(path: Path, address: str, server: Connection) -> None:
    schema.migrate(server, schema.packaged(), START)
    server.session.execute(
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN NEW.created_at := NEW.created_at + 1; RETURN NEW; END$$"
    )
    server.session.execute("CREATE TRIGGER spoils BEFORE INSERT ON organizations FOR EACH ROW EXECUTE FUNCTION spoil()")
    with pytest.raises(StoreFailure, match=r"the copy of organizations is not what was copied: 1 rows"):
        there(path, address)
    assert server.execute("SELECT count(*) FROM organizations").get == 0


def test_a_commit_without_an_answer_is_told_as_that(path: Path, address: str, server: Connection) -> None:
    schema.migrate(server, schema.packaged(), START)
    server.session.execute(
        "CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END$$"
    )
    server.session.execute(
        "CREATE CONSTRAINT TRIGGER leaves AFTER INSERT ON organizations DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION leave()"
    )
    with pytest.raises(Doubtful, match="whether the copy is there is not known"):
        there(path, address)


def test_a_database_that_has_rows_is_refused(path: Path, address: str, server: Connection) -> None:
    there(path, address)
    with pytest.raises(StoreFailure, match="the PostgreSQL is not empty: organizations have rows"):
        there(path, address)
    assert server.execute("SELECT count(*) FROM organizations").get == 1


def test_one_that_was_only_migrated_is_empty(path: Path, address: str, server: Connection) -> None:
    schema.migrate(server, schema.packaged(), START)
    there(path, address)
    assert server.execute("SELECT count(*) FROM organizations").get == 1


def test_a_file_that_is_there_is_not_written_over(path: Path, address: str) -> None:
    there(path, address)
    before = path.read_bytes()
    with pytest.raises(StoreFailure, match="there is a database"):
        back(address, path)
    assert path.read_bytes() == before


def test_what_a_kill_left_is_removed(path: Path, address: str, tmp_path: Path) -> None:
    there(path, address)
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / ".gatewayd.db.copy-0123").write_bytes(b"half")
    back(address, tmp_path / "back" / "gatewayd.db")
    assert [entry.name for entry in (tmp_path / "back").iterdir()] == ["gatewayd.db"]


def test_daemons_of_the_server_are_refused(path: Path, address: str, server: Connection, tmp_path: Path) -> None:
    there(path, address)
    daemon = open_connection(address, 60)
    with (
        contextlib.closing(daemon),
        pytest.raises(StoreFailure, match=CONNECTED),
    ):
        back(address, tmp_path / "back" / "gatewayd.db")
    server.execute("BEGIN")
    server.execute("UPDATE pulse SET version = version + 1")
    with pytest.raises(StoreFailure, match="a daemon writes to the PostgreSQL"):
        back(address, tmp_path / "back" / "gatewayd.db")
    server.execute("ROLLBACK")
    assert list((tmp_path / "back").iterdir()) == []


def test_a_target_with_daemons_is_refused(path: Path, address: str, server: Connection) -> None:
    daemon = open_connection(address, 60)
    with contextlib.closing(daemon):
        refused(path, address, server, CONNECTED)


def test_living_leases_are_refused(path: Path, address: str, server: Connection, tmp_path: Path) -> None:
    lease = "INSERT INTO leases (org_id, subject, holder, until) VALUES ('org_a', 'import:bac_a', 'other', 100)"
    with_rows(path, lease)
    refused(path, address, server, "somebody works with the store: import:bac_a", Instant(99))
    there(path, address, Instant(100))
    server.execute(lease)
    with pytest.raises(StoreFailure, match="somebody works with the store: import:bac_a"):
        back(address, tmp_path / "back" / "gatewayd.db", Instant(99))


def test_another_process_writes_meanwhile(path: Path, address: str, server: Connection) -> None:
    other = apsw.Connection(str(path))
    with contextlib.closing(other):
        other.execute("PRAGMA journal_mode = wal")
        other.execute("BEGIN IMMEDIATE")
        refused(path, address, server, "the database cannot be copied: database is locked")


def test_a_source_of_another_form_is_refused(path: Path, address: str, server: Connection, tmp_path: Path) -> None:
    there(path, address)
    last = "DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)"
    server.execute(last)
    with pytest.raises(MigrationError, match="waits for migrations"):
        back(address, tmp_path / "back" / "gatewayd.db")
    with_rows(path, last)
    with pytest.raises(MigrationError, match="waits for migrations"):
        there(path, address)


def test_a_postgresql_without_a_store_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(StoreFailure, match="the PostgreSQL has no store in it"):
        back(address, tmp_path / "back" / "gatewayd.db")


def test_text_is_utf_8(path: Path, postgresql: Server) -> None:
    postgresql.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0")
    with pytest.raises(StoreFailure, match="keeps text as LATIN1"):
        there(path, postgresql.address("latin"))
    postgresql.drop("latin")


def test_a_new_database_has_no_rows_but_those_that_are_known(database_image: DatabaseImage, tmp_path: Path) -> None:
    """Whatever else a migration puts into it, a copy would have twice."""
    path = tmp_path / "new.db"
    path.write_bytes(database_image)
    filled = {name for name, found in everything(path).items() if found}
    assert filled == SEEDED
