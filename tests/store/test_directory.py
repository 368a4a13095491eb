"""One daemon works with a directory: a restore is refused beside it, and a kill is noticed by the next."""

from pathlib import Path

import pytest

from gatewayd.clock import SettableClock
from gatewayd.store import StoreFailure
from gatewayd.store.backups.backup import Looking, back_up
from gatewayd.store.backups.restoring import restore
from gatewayd.store.database import open_store
from gatewayd.store.files.directory import LOCK_NAME, locked
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.support.store import START

REFUSED = r"gatewayd/test, process [0-9]+, works with .*/data: stop it first"


@pytest.fixture
async def copied(tmp_path: Path) -> Path:
    """A backup of the store in `data`."""
    async with open_store(StoreSettings(directory=tmp_path / "data"), SettableClock(START)):
        back_up(tmp_path / "data", tmp_path / "copy", START, Looking({}))
    return tmp_path / "copy"


async def test_where_its_directory_was_renamed(tmp_path: Path, copied: Path) -> None:
    with locked(tmp_path / "data", "gatewayd/test"):
        (tmp_path / "data").rename(tmp_path / "aside")
        with pytest.raises(StoreFailure, match=REFUSED):
            restore(copied, tmp_path / "data", START, Looking({}))
        assert not (tmp_path / "data").exists()
        restore(copied, tmp_path / "another", START, Looking({}))  # where nobody works
    restore(copied, tmp_path / "data", START, Looking({}))
    assert (tmp_path / "data" / DATABASE_NAME).exists()


async def test_where_its_name_leads_elsewhere_now(tmp_path: Path, copied: Path) -> None:
    named = tmp_path / "named" / "data"
    named.parent.mkdir()
    named.symlink_to(tmp_path / "data")
    with locked(named, "gatewayd/test"):
        with pytest.raises(StoreFailure, match=REFUSED):
            restore(copied, tmp_path / "data", START, Looking({}))
        named.unlink()
        (tmp_path / "data").rename(tmp_path / "named" / "aside")
        with pytest.raises(StoreFailure, match=REFUSED):
            restore(copied, named, START, Looking({}))


async def test_where_its_files_were_removed(tmp_path: Path, copied: Path) -> None:
    data = tmp_path / "data"
    with locked(data, "gatewayd/test"):
        for path in [path for path in data.rglob("*") if path.is_file()]:
            path.unlink()
        with pytest.raises(StoreFailure, match=r"a daemon works with .*/data: stop it first"):
            restore(copied, data, START, Looking({}))


async def test_where_it_stands_as_it_was(tmp_path: Path, copied: Path) -> None:
    with locked(tmp_path / "data", "gatewayd/test"), pytest.raises(StoreFailure, match=REFUSED):
        restore(copied, tmp_path / "data", START, Looking({}))


def test_after_a_good_stop_the_lock_names_nobody(tmp_path: Path) -> None:
    with locked(tmp_path / "data", "gatewayd/test") as tenure:
        assert not tenure.interrupted
        assert b"gatewayd/test" in (tmp_path / "data" / LOCK_NAME).read_bytes()
    assert (tmp_path / "data" / LOCK_NAME).read_bytes() == b""


def test_a_kill_is_noticed_until_what_it_left_was_checked(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text("gatewayd/0.1, process 1,")
    with locked(tmp_path, "gatewayd/test") as tenure:
        assert tenure.interrupted
    with locked(tmp_path, "gatewayd/test") as tenure:
        assert tenure.interrupted
        tenure.interrupted = False
    with locked(tmp_path, "gatewayd/test") as tenure:
        assert not tenure.interrupted


def test_what_was_left_open_is_closed_at_the_start(tmp_path: Path) -> None:
    """Files of an earlier version, or copied by hand: only a group that may read goes on doing so."""
    directory, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    directory.mkdir(mode=0o700)
    elsewhere.write_bytes(b"")
    elsewhere.chmod(0o666)
    (directory / "gatewayd.link").symlink_to(elsewhere)
    modes = {
        "gatewayd.db": (0o644, 0o640),
        "gatewayd.db.before-0007": (0o666, 0o640),
        "gatewayd.db-wal": (0o600, 0o600),
        "instance.key": (0o604, 0o600),
        "instance.key.until-2026": (0o640, 0o640),
        "notes": (0o755, 0o755),
    }
    for name, (mode, _) in modes.items():
        (directory / name).write_bytes(b"")
        (directory / name).chmod(mode)
    (directory / "scans").mkdir()
    (directory / "scans").chmod(0o775)
    with locked(directory, "a test"):
        found = {name: (directory / name).stat().st_mode & 0o777 for name in modes}
    assert found == {name: closed for name, (_, closed) in modes.items()}
    assert (directory / "scans").stat().st_mode & 0o777 == 0o775
    assert elsewhere.stat().st_mode & 0o777 == 0o666
