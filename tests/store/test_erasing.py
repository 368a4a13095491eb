"""Every table of organizations is emptied, in an order that its references allow, and in pieces."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from gatewayd.store import WriteTx
from gatewayd.store.erasing import erase_rows, next_keys, owned_tables
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import connections, schema
from gatewayd.store.sqlite.catalogue import read_catalogue
from tests.support.store import START, MemoryStore


@pytest.fixture
def database(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = connections.open_writer(tmp_path / DATABASE_NAME, 1)
    schema.migrate(connection, schema.packaged(), START)
    yield connection
    connection.close()


def test_no_table_is_forgotten_and_what_refers_goes_first(database: apsw.Connection, tmp_path: Path) -> None:
    names = [table.name for table in owned_tables(read_catalogue(tmp_path / DATABASE_NAME))]
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    owned = {name for name in tables if (name, "org_id") in [(name, row[1]) for row in columns(database, name)]}
    assert sorted(names) == sorted(owned)
    assert len(names) == len(set(names)) > 80
    for name in owned:
        for target in {str(row[2]) for row in database.execute(f"PRAGMA foreign_key_list({name})")} & owned - {name}:
            assert names.index(name) < names.index(target), (name, target)


def columns(database: apsw.Connection, name: str) -> list[tuple[object, ...]]:
    return list(database.execute(f"PRAGMA table_info({name})"))


def test_rows_that_name_their_own_table_go_from_the_leaves_on(
    store: MemoryStore, database: apsw.Connection, tmp_path: Path
) -> None:
    """Folders in folders, deeper than a piece is large."""
    org_id, other = store.org(), store.org()

    def make(tx: WriteTx) -> None:
        for owner in (org_id, other):
            parent = None
            for number in range(5):
                id_ = f"fld_{owner}_{number}"
                tx.run(
                    "INSERT INTO vault_folders"
                    " (id, org_id, parent_id, name, name_key, created_by, created_at, updated_at, version)"
                    " VALUES (:id, :owner, :parent, 'a', 'a', 'operator', 0, 0, 1)",
                    id=id_,
                    owner=owner,
                    parent=parent,
                )
                parent = id_

    store.write(make)
    (folders,) = [
        table for table in owned_tables(read_catalogue(tmp_path / DATABASE_NAME)) if table.name == "vault_folders"
    ]
    gone, after = [], None
    for _ in range(20):
        keys = store.read(lambda tx, after=after: next_keys(tx, folders, after, 2), org_id)
        store.write(lambda tx, keys=keys: erase_rows(tx, folders, keys), org_id)
        gone.append(len(keys))
        after = keys[-1] if keys else None
    assert (sum(gone), gone[-1]) == (5, 0)
    left = store.read(lambda tx: tx.value("SELECT count(*) FROM vault_folders WHERE org_id = :owner", owner=other))
    assert left == 5
