"""A directory's store on PostgreSQL: its own as long as its test goes on, and nothing of it is left for the next."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.clock import SystemClock
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.support.postgres import Server
from tests.support.postgres_directories import Directories, stores_of
from tests.support.postgres_store import Databases

_ADD = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"
_COUNT = "SELECT count(*) FROM organizations"


@pytest.fixture
def directories(postgresql: Server) -> Iterator[Directories]:
    databases = Databases(postgresql)
    made = Directories(postgresql, lambda: databases.template)
    with stores_of(made):
        yield made
    made.close()
    databases.close()


async def added(directory: Path, name: str) -> int:
    """How many organizations there are, once one more was added."""
    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        assert store.is_shared
        await store.write(lambda tx: tx.run(_ADD, id=name))
        return store.read_now(lambda tx: int(tx.value(_COUNT)), None)


async def test_rows_are_a_directorys_until_its_test_ends(directories: Directories, tmp_path: Path) -> None:
    with directories.lent():
        assert await added(tmp_path / "of its file", "a") == 1
        with directories.lent():
            assert await added(tmp_path / "one", "a") == 1
            assert await added(tmp_path / "one", "b") == 2
            assert await added(tmp_path / "other", "a") == 1
        assert await added(tmp_path / "one", "a") == 1
        assert await added(tmp_path / "of its file", "b") == 2
