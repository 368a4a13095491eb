"""What the tests of the command line share: a configuration of their own, and commands run in this process."""

import json
from collections.abc import Callable
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


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "gatewayd.toml"
    path.write_text('[store]\ndirectory = "data"\n')
    return path


@pytest.fixture
def run(config_file: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("org", "list")`: runs the command on a data directory of this test alone."""

    def run_command(*arguments: str) -> CommandResult:
        code = main([*arguments, "--config", str(config_file)])
        return CommandResult(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def database(run: Run) -> None:
    """A database in which nothing is yet."""
    assert run("migrate").code == 0


@pytest.fixture
def org_id(run: Run) -> str:
    return str(run("org", "create", "--name", "Acme", "--json").document["id"])


@pytest.fixture
def email(run: Run, org_id: str) -> str:
    """The address of an owner of `org_id`."""
    address = "ann@example.com"
    created = run("user", "create", "--email", address, "--name", "Ann", "--org", org_id, "--role", "owner")
    assert created.code == 0, created.err
    return address
