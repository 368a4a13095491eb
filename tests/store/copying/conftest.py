"""A SQLite with some rows, and a PostgreSQL in which nothing is yet."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import apsw
import pytest

from gatewayd.clock import Instant
from gatewayd.store.copying.both_ways import Sums, copy_to_postgres, copy_to_sqlite
from gatewayd.store.copying.plan import MadeAnew, Report
from gatewayd.store.postgres.connections import Connection, open_connection
from tests.support.store import START

ANEW: Final = MadeAnew(
    frozenset({"vault_index_parts", "vault_index_queue"}),
    (
        "INSERT INTO vault_index_queue (org_id, document_id, revision, queued_at)"
        " SELECT org_id, id, 1, :now FROM vault_folders",
    ),
)
"""In place of documents, which have many columns."""
FOLDER: Final = """
INSERT INTO vault_folders (id, org_id, name, name_key, parent_id, created_by, created_at, updated_at, version)
VALUES (:id, 'org_a', :name, :id, :parent_id, 'usr_a', 1, 1, 1)
"""


class Reported:
    """What was told of a copy."""

    def __init__(self) -> None:
        self.tables = self.done = 0
        self.size_bytes = self.done_bytes = 0

    def expect(self, files: int, size_bytes: int) -> None:
        self.tables, self.size_bytes = files, size_bytes

    def advance(self, size_bytes: int, name: str, files: int = 1) -> None:
        assert name
        self.done += files
        self.done_bytes += size_bytes


def folder(connection: apsw.Connection, id_: str, name: str = "Bills", parent_id: str | None = None) -> None:
    connection.execute(FOLDER, {"id": id_, "name": name, "parent_id": parent_id})


@pytest.fixture
def path(tmp_path: Path, database_image: bytes) -> Path:
    """A database of one organization."""
    path = tmp_path / "gatewayd.db"
    path.write_bytes(database_image)
    with_rows(
        path, "PRAGMA journal_mode = wal", "INSERT INTO organizations (id, name, created_at) VALUES ('org_a', 'Oak', 1)"
    )
    return path


def with_rows(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


def rows(path: Path, sql: str) -> list[object]:
    connection = apsw.Connection(str(path))
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


@pytest.fixture
def server(address: str) -> Iterator[Connection]:
    """A connection to it, which is none of gatewayd's by its name."""
    connection = open_connection(address, 60)
    connection.execute("SET application_name = 'psql'")
    yield connection
    connection.close()


def there(path: Path, address: str, now: Instant = START) -> Sums:
    return _copied(lambda report: copy_to_postgres(path, address, now, ANEW, report))


def back(address: str, path: Path, now: Instant = START) -> Sums:
    path.parent.mkdir(exist_ok=True)
    return _copied(lambda report: copy_to_sqlite(address, path, now, ANEW, report))


def _copied(copy: Callable[[Report], Sums]) -> Sums:
    """What a copy answers, which told of each table and of all bytes."""
    report = Reported()
    sums = copy(report)
    assert report.done == report.tables == len(sums)
    assert 0 < report.done_bytes < report.size_bytes
    return sums
