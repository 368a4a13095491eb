"""Who migrates, and what is left of the database as it was."""

import sqlite3
from pathlib import Path

import pytest

from gatewayd.clock import Instant, SystemClock
from gatewayd.store import StoreFailure
from gatewayd.store.database import open_store
from gatewayd.store.failures import MigrationError
from gatewayd.store.sealer import Sealer
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.store.sqlite import connections, schema
from gatewayd.store.sqlite.upgrade import require_current, upgrade
from tests.support.store import SEALING_KEY, START

NEWEST = len(schema.packaged())


def older(directory: Path, number: int = NEWEST - 1) -> Path:
    """A database that a program before this one made, with an organization in it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / DATABASE_NAME
    connection = connections.open_writer(path, 1)
    schema.migrate(connection, schema.packaged()[:number], START)
    connection.execute("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'Oak', 0)")
    connection.close()
    return path


def last_migration(path: Path) -> tuple[int, list[str]]:
    connection = sqlite3.connect(path)
    try:
        (number,) = connection.execute("SELECT max(number) FROM migrations").fetchone()
        return number, [name for (name,) in connection.execute("SELECT name FROM organizations")]
    finally:
        connection.close()


async def test_what_was_there_is_copied_before_it_is_migrated(tmp_path: Path) -> None:
    path = older(tmp_path)
    (tmp_path / f"{DATABASE_NAME}.before-0003").write_bytes(b"of an earlier one")
    async with open_store(StoreSettings(directory=tmp_path), SystemClock()) as store:
        copy = tmp_path / f"{DATABASE_NAME}.before-{NEWEST:04}"
        assert store.upgraded == (NEWEST - 1, NEWEST, copy)
    assert last_migration(path) == (NEWEST, ["Oak"])
    assert last_migration(copy) == (NEWEST - 1, ["Oak"])
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(tmp_path.glob("*.before-*")) == [copy]
    async with open_store(StoreSettings(directory=tmp_path), SystemClock()) as store:
        assert store.upgraded is None


async def test_a_new_database_is_made_by_whoever_comes_first_and_has_no_copy(tmp_path: Path) -> None:
    async with open_store(StoreSettings(directory=tmp_path), SystemClock(), migrates=False) as store:
        assert store.upgraded is None
    assert last_migration(tmp_path / DATABASE_NAME) == (NEWEST, [])
    (tmp_path / "other").mkdir()
    async with open_store(StoreSettings(directory=tmp_path / "other"), SystemClock()) as store:
        assert store.upgraded == (0, NEWEST, None)
    assert list((tmp_path / "other").glob("*.before-*")) == []


async def test_who_may_not_migrate_is_told_and_changes_nothing(tmp_path: Path) -> None:
    path = older(tmp_path)
    with pytest.raises(MigrationError) as caught:
        async with open_store(StoreSettings(directory=tmp_path), SystemClock(), migrates=False):
            pass
    assert str(caught.value).startswith(f"the database is at migration {NEWEST - 1} and this program needs {NEWEST}: ")
    assert last_migration(path)[0] == NEWEST - 1


def test_without_room_for_the_copy_nothing_is_migrated(tmp_path: Path) -> None:
    path = older(tmp_path)
    (tmp_path / f"{DATABASE_NAME}.before-{NEWEST:04}").mkdir()  # the copy cannot take its place
    connection = connections.open_writer(path, 1)
    try:
        with pytest.raises(StoreFailure, match="cannot be copied before it is migrated"):
            upgrade(connection, path, Instant(START), Sealer(SEALING_KEY))
        with pytest.raises(MigrationError):
            require_current(connection, path, Instant(START))
    finally:
        connection.close()
    assert last_migration(path)[0] == NEWEST - 1
    assert [found.name for found in tmp_path.glob(".*")] == []


def test_what_killed_migrations_left_is_removed_and_one_copy_is_kept(tmp_path: Path) -> None:
    path = older(tmp_path)
    for name in ("0067.00ff", "0067.00ff-journal", "0068.11ee"):
        (tmp_path / f".{DATABASE_NAME}.before-{name}").write_bytes(b"half a copy")
    (tmp_path / f"{DATABASE_NAME}.before-0002").write_bytes(b"of an earlier one")
    (tmp_path / f"{DATABASE_NAME}.before-0003").write_bytes(b"of the last one")
    connection = connections.open_writer(path, 1)
    try:
        schema.migrate(connection, schema.packaged(), Instant(START))
        assert upgrade(connection, path, Instant(START), Sealer(SEALING_KEY)) is None
    finally:
        connection.close()
    assert [found.name for found in tmp_path.glob(f"*{DATABASE_NAME}.before-*")] == [f"{DATABASE_NAME}.before-0003"]
