"""What the tests of the command line share: a configuration of their own, and commands run in this process."""

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gatewayd.cli import main


class CommandResult(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output, which must be exactly one JSON document."""
        assert self.code == 0, self.err
        return json.loads(self.out)


Run = Callable[..., CommandResult]

CONFIG = '[store]\ndirectory = "data"\n'
ANN = "ann@example.com"
SCAN = b"%PDF-1"
DIGEST = hashlib.sha256(SCAN).hexdigest()


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "gatewayd.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def run(config_file: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("org", "list")`: runs the command on a data directory of this test alone."""

    def run_command(*arguments: str) -> CommandResult:
        code = main([*arguments, "--config", str(config_file)])
        return CommandResult(code, *capsys.readouterr())

    return run_command


class Prepared(NamedTuple):
    """Data directories that commands have made, once: with an empty database, then with Acme, then with Ann too."""

    empty: Path
    acme: Path
    ann: Path
    org_id: str


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    directory = tmp_path_factory.mktemp("prepared")
    config = directory / "gatewayd.toml"
    config.write_text(CONFIG)

    def ran(*arguments: str) -> str:
        with redirect_stdout(io.StringIO()) as printed:
            assert main([*arguments, "--config", str(config)]) == 0
        return printed.getvalue()

    def kept(name: str) -> Path:
        return Path(shutil.copytree(directory / "data", directory / name))

    ran("migrate")
    empty = kept("empty")
    org_id = str(json.loads(ran("org", "create", "--name", "Acme", "--json"))["id"])
    acme = kept("acme")
    ran("user", "create", "--email", ANN, "--name", "Ann", "--org", org_id, "--role", "owner")
    return Prepared(empty, acme, kept("ann"), org_id)


def lay_out(config_file: Path, data: Path) -> None:
    shutil.copytree(data, config_file.with_name("data"), dirs_exist_ok=True)


@pytest.fixture
def database(config_file: Path, prepared: Prepared) -> None:
    """A database in which nothing is yet."""
    lay_out(config_file, prepared.empty)


@pytest.fixture
def org_id(config_file: Path, prepared: Prepared) -> str:
    """An organization, Acme."""
    lay_out(config_file, prepared.acme)
    return prepared.org_id


@pytest.fixture
def email(config_file: Path, prepared: Prepared, org_id: str) -> str:
    """The address of an owner of `org_id`."""
    lay_out(config_file, prepared.ann)
    return ANN


@pytest.fixture
def stored(run: Run, org_id: str, tmp_path: Path) -> Path:
    """Where the bytes of the one document of `org_id` are, `SCAN`."""
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "a.pdf").write_bytes(SCAN)
    assert run("document", "import", str(tmp_path / "scans"), "--org", org_id, "--json").document["added"] == 1
    return tmp_path / "data" / "blobs" / DIGEST[:2] / DIGEST
