"""What root's commands make beside a data directory of another user is that user's, and nobody else may read it.

The daemon is that user: `sudo gatewayd after-restore` is what it asks for, and it has to read the answer.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gatewayd.store.files.private_files import make_folder, open_private
from tests.cli.conftest import Run
from tests.support.sealing import Sealed, seal_everything

NO_OWNER = (4_294_000, 4_294_001)  # of no account


class HandedOver:
    """Stands in for the kernel's chown, which only root may use."""

    def __init__(self) -> None:
        self.owners: dict[int, tuple[int, int]] = {}

    def fchown(self, descriptor: int, uid: int, gid: int) -> None:
        self.owners[os.fstat(descriptor).st_ino] = (uid, gid)


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> HandedOver:
    """This process is root, and every file and directory that it looks at belongs to another user."""
    handed_over, real = HandedOver(), os.stat

    def owned_by_another(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = list(real(self, follow_symlinks=follow_symlinks))
        found[stat.ST_UID], found[stat.ST_GID] = NO_OWNER
        return os.stat_result(found)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", handed_over.fchown)
    monkeypatch.setattr("gatewayd.store.files.private_files.Path.stat", owned_by_another)
    return handed_over


@pytest.fixture
def data(database_image: bytes, config_file: Path) -> Path:
    """A store with everything that can be sealed."""
    sealed: Sealed = seal_everything(database_image)
    directory = config_file.parent / "data"
    directory.mkdir(mode=0o700)
    sealed.write_to(directory)
    return directory


def restored(run: Run, data: Path) -> None:
    assert run("backup", str(data.parent / "copy"), "--with-key").code == 0
    data.rename(data.parent / "before")
    assert run("restore", str(data.parent / "copy")).code == 0


def without_key(run: Run, data: Path) -> None:
    (data / "instance.key").unlink()


def without_database(run: Run, data: Path) -> None:
    for path in data.iterdir():
        path.unlink()


def as_it_is(run: Run, data: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("prepare", "arguments", "names"),
    [
        (as_it_is, ("org", "create", "--name", "Acme"), {"gatewayd.pulse"}),
        (as_it_is, ("instance-key", "rotate"), {"gatewayd.lock", "instance.key"}),
        (without_key, ("instance-key", "abandon", "--yes"), {"gatewayd.lock", "instance.key"}),
        (restored, ("after-restore", "--keep-access"), {"gatewayd.lock", "restored.json"}),
        (without_database, ("migrate",), {"gatewayd.db", "gatewayd.lock", "instance.key"}),
    ],
    ids=["write", "rotate", "abandon", "after-restore", "migrate"],
)
def test_what_root_makes_belongs_to_the_daemon(
    run: Run,
    data: Path,
    request: pytest.FixtureRequest,
    prepare: Callable[[Run, Path], None],
    arguments: tuple[str, ...],
    names: set[str],
) -> None:
    prepare(run, data)
    before = {path.stat().st_ino for path in data.iterdir()}
    handed_over: HandedOver = request.getfixturevalue("handed_over")
    ran = run(*arguments)
    assert ran.code == 0, ran.err
    made = [path for path in data.iterdir() if os.lstat(path).st_ino not in before]
    assert names <= {path.name for path in made}
    for path in made:
        status = os.lstat(path)
        assert handed_over.owners.get(status.st_ino) == NO_OWNER, path.name
        assert stat.S_IMODE(status.st_mode) == 0o600, path.name


def test_a_folder_that_root_makes_can_be_written_to_by_the_daemon(handed_over: HandedOver, tmp_path: Path) -> None:
    make_folder(tmp_path / "imports", tmp_path)
    status = os.lstat(tmp_path / "imports")
    assert handed_over.owners[status.st_ino] == NO_OWNER
    assert stat.S_IMODE(status.st_mode) == 0o700


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    """Or whoever may write there could have root write anywhere."""
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "link").symlink_to(elsewhere)
    with pytest.raises(OSError, match="link"):
        open_private(tmp_path / "link", os.O_RDWR, tmp_path)
    assert not elsewhere.exists()
