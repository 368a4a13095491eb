"""A data directory has a name, by which a daemon is known to follow those before it; former locks are removed."""

from pathlib import Path

import pytest

from gatewayd.clock import SettableClock
from gatewayd.daemon.holding import NAME_FILE, open_daemons_holder
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.support.store import START

ORG = "org_a"


async def name_in(directory: Path) -> str:
    """What the ids of holders begin with there."""
    settings = StoreSettings(directory=directory)
    async with open_store(settings, SettableClock(START)) as store, open_daemons_holder(store) as holder:
        return holder.id.rpartition(":")[0]


async def test_a_directory_keeps_its_name_and_no_other_has_it(tmp_path: Path) -> None:
    first = await name_in(tmp_path / "one")
    assert first.startswith("daemon-")
    assert await name_in(tmp_path / "one") == first
    assert await name_in(tmp_path / "two") != first
    assert (tmp_path / "one" / NAME_FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"0123", b"0123456789abc:ef", b"\xff" * 16])
async def test_a_name_that_is_none_is_drawn_anew(tmp_path: Path, content: bytes) -> None:
    first = await name_in(tmp_path)
    (tmp_path / NAME_FILE).write_bytes(content)
    second = await name_in(tmp_path)
    assert second != first
    assert await name_in(tmp_path) == second


async def test_a_directory_that_takes_no_name_has_another_each_time(tmp_path: Path) -> None:
    (tmp_path / NAME_FILE).mkdir(parents=True)
    assert await name_in(tmp_path) != await name_in(tmp_path)


async def test_what_the_daemon_before_left_is_free_at_once(tmp_path: Path) -> None:
    settings = StoreSettings(directory=tmp_path)
    async with open_store(settings, SettableClock(START)) as store, open_daemons_holder(store) as killed:
        assert await killed.take(ORG, "import:bac_1") is not None
        async with open_daemons_holder(store) as successor:
            assert await successor.take(ORG, "import:bac_1") is not None


async def test_locks_of_earlier_versions_are_removed(tmp_path: Path) -> None:
    for path in ("imports/bac_1.lock", "imports/imp_1", "tax-refresh/0a.lock"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    await name_in(tmp_path)
    assert [path.name for path in (tmp_path / "imports").iterdir()] == ["imp_1"]
    assert not (tmp_path / "tax-refresh").exists()
