"""What an installation puts where: the wheel's files, the targets of the Makefile, and environments that were moved."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from flit_core.wheel import make_wheel_in

from gatewayd.config import example
from gatewayd.statements.profile_files import FILES
from tests.daemon.instance import ROOT, SECONDS, environment


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--directory", str(folder), *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_the_wheel_holds_unit_user_settings_and_manual(tmp_path: Path) -> None:
    made = make_wheel_in(ROOT / "pyproject.toml", tmp_path)
    with zipfile.ZipFile(made.file) as wheel:
        found = {
            name.partition(".data/data/")[2]: wheel.read(name).decode()
            for name in wheel.namelist()
            if ".data/data/" in name
        }
    assert found == {
        "lib/systemd/system/gatewayd.service": (ROOT / "systemd" / "gatewayd.service").read_text(),
        "lib/systemd/system/gatewayd.socket": (ROOT / "systemd" / "gatewayd.socket").read_text(),
        "lib/sysusers.d/gatewayd.conf": (ROOT / "systemd" / "gatewayd.sysusers").read_text(),
        "share/gatewayd/gatewayd.toml": example(),
        "share/man/man1/gatewayd.1": (ROOT / "docs" / "gatewayd.1").read_text(),
    }


def test_the_wheel_holds_what_statements_are_read_by(tmp_path: Path) -> None:
    made = make_wheel_in(ROOT / "pyproject.toml", tmp_path)
    with zipfile.ZipFile(made.file) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("gatewayd/statements/profiles/")}
    assert held == {f"gatewayd/statements/profiles/{name}" for names in FILES.values() for name in names}


def test_the_units_are_installed_for_their_prefix(tmp_path: Path) -> None:
    ran = make(ROOT, "install-service", f"DESTDIR={tmp_path}", "PREFIX=/srv/gatewayd")
    assert ran.returncode == 0, ran.stderr
    units = tmp_path / "usr" / "local" / "lib" / "systemd" / "system"
    assert sorted(path.name for path in units.iterdir()) == ["gatewayd.service", "gatewayd.socket"]
    assert "\nExecStart=/srv/gatewayd/bin/gatewayd serve " in (units / "gatewayd.service").read_text()
    assert "/opt/gatewayd" not in (units / "gatewayd.service").read_text()
    assert (tmp_path / "usr" / "local" / "bin" / "gatewayd").readlink() == Path("/srv/gatewayd/bin/gatewayd")


@pytest.mark.parametrize(
    ("python", "told"),
    [("/home/ann/.pyenv/bin/python3.12", True), ("/root/bin/python3", True), ("/usr/bin/python3.12", False)],
)
def test_a_python_that_the_unit_cannot_see_is_told(tmp_path: Path, python: str, told: bool) -> None:
    """The unit has ProtectHome=yes, and its user may not look into root's folder: systemd would say 203/EXEC."""
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(python)
    ran = make(ROOT, "install-service", f"DESTDIR={tmp_path}", f"PREFIX={prefix}")
    assert ran.returncode == 0
    assert ("its Python lies in a home directory" in ran.stderr) is told


def test_a_prefix_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "precious").touch()
    ran = make(ROOT, "install-program", f"PREFIX={tmp_path}")
    assert ran.returncode != 0
    assert "choose another PREFIX" in ran.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["bin", "precious"]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A checkout whose environment was made there, by this interpreter."""
    folder = tmp_path / "checkout"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / "Makefile").write_text((ROOT / "Makefile").read_text())
    python = Path(sys.executable).resolve()
    (folder / ".venv" / "bin" / "python").symlink_to(python)
    (folder / ".venv" / "pyvenv.cfg").write_text(
        f"home = {python.parent}\nexecutable = {python}\ncommand = {python} -m venv --clear {folder.resolve()}/.venv\n"
    )
    for stamp in (".runtime-installed", ".dev-installed"):
        (folder / ".venv" / stamp).touch()
    return folder


def stamps(folder: Path) -> list[str]:
    assert make(folder, "help").returncode == 0
    names = ("bin/python", ".runtime-installed", ".dev-installed")
    return [name for name in names if (folder / ".venv" / name).exists()]


def test_an_environment_that_was_moved_does_not_count_as_installed(installed: Path) -> None:
    assert len(stamps(installed)) == 3
    (installed / "elsewhere").symlink_to(installed)
    assert len(stamps(installed / "elsewhere")) == 3
    (installed / "elsewhere").unlink()
    assert stamps(installed.rename(installed.with_name("moved"))) == []


def test_an_environment_of_another_interpreter_does_not_count_as_installed(installed: Path) -> None:
    python = installed / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/bin/sh")
    assert stamps(installed) == []
