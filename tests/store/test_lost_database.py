"""Beside a key, documents or anything else of a store that was worked with no empty database is made."""

import os
from pathlib import Path

import pytest

from gatewayd.clock import SystemClock
from gatewayd.store import StoreFailure
from gatewayd.store.database import open_existing, open_store
from gatewayd.store.files.blobs import Blobs
from gatewayd.store.sealer import load_key
from gatewayd.store.settings import DATABASE_NAME, StoreSettings

LOST = "is lost or empty, and none is made in its place"


def only(directory: Path, *names: str) -> None:
    """Remove every file of a data directory but these."""
    for path in [path for path in directory.rglob("*") if path.is_file()]:
        if path.name not in names and not set(names) & set(path.relative_to(directory).parts):
            path.unlink()


async def open_once(directory: Path, *, migrates: bool = True) -> None:
    async with open_store(StoreSettings(directory=directory), SystemClock(), migrates=migrates):
        pass


@pytest.fixture
async def used(tmp_path: Path) -> Path:
    """A data directory that somebody worked with."""
    await open_once(tmp_path / "data")
    with Blobs(tmp_path / "data").draft(9) as draft:
        draft.write(b"document")
        draft.save()
    return tmp_path / "data"


@pytest.mark.parametrize("left", ["instance.key", "blobs", "gatewayd.pulse"])
@pytest.mark.parametrize("migrates", [True, False])
async def test_what_is_left_of_a_store_is_enough(used: Path, left: str, migrates: bool) -> None:
    only(used, left)
    before = sorted(used.rglob("*"))
    with pytest.raises(StoreFailure, match=LOST) as caught:
        await open_once(used, migrates=migrates)
    said = str(caught.value)
    assert (f"({left})" in said, "gatewayd restore" in said, f"begin anew on purpose, move {used}" in said) == (
        (True, True, True)
    )
    assert sorted(used.rglob("*")) == before


@pytest.mark.parametrize("migrates", [True, False])
async def test_an_emptied_database_is_lost_too(used: Path, migrates: bool) -> None:
    os.truncate(used / DATABASE_NAME, 0)
    with pytest.raises(StoreFailure, match=LOST):
        await open_once(used, migrates=migrates)
    with pytest.raises(StoreFailure, match=LOST):
        async with open_existing(StoreSettings(directory=used), SystemClock(), lambda: used / "instance.key"):
            pass


async def test_a_first_start_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    """At each of its moments: before the key, and before the database was made."""
    directory = tmp_path / "data"
    directory.mkdir()
    (directory / DATABASE_NAME).touch()
    await open_once(directory)
    other = tmp_path / "other"
    other.mkdir()
    (other / DATABASE_NAME).touch()
    load_key(other / "instance.key")
    await open_once(other)


async def test_a_key_that_lies_elsewhere_says_nothing(tmp_path: Path) -> None:
    """A credential of the service manager is there before the first start."""
    load_key(tmp_path / "credential")
    async with open_store(StoreSettings(directory=tmp_path / "data"), SystemClock(), tmp_path / "credential"):
        pass


async def test_a_daemon_that_was_moved_away_begins_anew(used: Path) -> None:
    """As the refusal says: on purpose."""
    used.rename(used.with_name("before"))
    await open_once(used)
