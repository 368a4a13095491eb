"""The frame of the command line: usage, exit codes, configuration, and commands as real processes."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewayd.cli import main
from gatewayd.cli.output import print_list
from gatewayd.cli.parser import GROUPS, build_parser
from gatewayd.store.files.directory import locked
from tests.cli.conftest import Run

SECONDS = 60


def process(*arguments: str, given: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m gatewayd` as a program of its own."""
    command = [sys.executable, "-m", "gatewayd", *arguments]
    environment = {"PATH": os.defpath, "HOME": "/nonexistent", "LANG": "C.UTF-8", **environ}
    root = Path(__file__).parents[2]
    return subprocess.run(
        command, input=given, env=environment, cwd=root, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["org"], ["org", "create"], ["org", "create", "--nam", "x"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith("usage: gatewayd")) == ("", True)


@pytest.mark.parametrize("arguments", [["--help"], ["org", "--help"], ["key", "create", "--help"], ["--version"]])
def test_help_and_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert ("gatewayd" in out, err) == (True, "")


def test_every_command_takes_config_and_says_what_it_does() -> None:
    parsers = [build_parser()]
    leaves = 0
    while parsers:
        parser = parsers.pop()
        groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        parsers += [child for action in groups for child in action.choices.values()]
        leaves += not groups
        assert "--config" in parser._option_string_actions or groups, parser.prog
        assert parser.description, parser.prog
    assert leaves >= 11


def branches(*argv: str) -> set[str]:
    """The commands that the parser of a line knows."""
    actions = build_parser(argv)._actions
    (tree,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))
    return set(tree.choices)


@pytest.mark.parametrize(("module", "commands"), GROUPS.items())
def test_a_module_adds_the_commands_that_it_is_said_to(module: str, commands: tuple[str, ...]) -> None:
    for command in commands:
        assert branches(command) == set(commands), module


def test_a_line_builds_what_it_names_and_another_builds_all() -> None:
    everything = {command for commands in GROUPS.values() for command in commands}
    assert branches("--config", "invoice", "org", "list") == {"org"}
    assert branches("--config=invoice", "org", "invoice") == {"org"}
    for argv in ((), ("--help",), ("--config", "org"), ("nothing", "org")):
        assert branches(*argv) == everything


def test_config_may_stand_before_the_command(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", str(config_file), "check-config"]) == 0
    assert str(config_file.parent / "data") in capsys.readouterr().out


def test_check_config_reports_every_mistake_and_makes_nothing(run: Run, config_file: Path) -> None:
    config_file.write_text('[server]\nbind = "x"\nbnid = 1\n[store]\ndirectory = "data"\n')
    ran = run("check-config")
    assert (ran.code, ran.out) == (2, "")
    first, second = ran.err.splitlines()
    assert first.startswith("gatewayd: server.bind: ")
    assert second.startswith("gatewayd: server.bnid: ")
    assert run("org", "list").code == 2
    assert not (config_file.parent / "data").exists()


def test_a_missing_configuration_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["org", "list", "--config", str(tmp_path / "none.toml")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_directory_that_cannot_be_made_fails_in_one_line(run: Run, config_file: Path) -> None:
    (config_file.parent / "data").write_text("a file is in the way")
    ran = run("org", "list")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)


def test_no_database_is_made_where_a_daemon_lost_its_own(run: Run, org_id: str, config_file: Path) -> None:
    """Another one in its place would hide that, and stand in the way of the one that was moved away."""
    data = config_file.parent / "data"
    with locked(data, "gatewayd/0.1.0"):
        (data / "gatewayd.db").rename(data / "moved.db")
        ran = run("org", "create", "--name", "Birch")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == (
            f"gatewayd: a daemon works with {data}, but the database is gone: none is made in its place\n"
        )
        assert not list(data.glob("gatewayd.db*"))
    assert "is lost or empty" in run("org", "create", "--name", "Birch").err, "without a daemon neither"
    assert not list(data.glob("gatewayd.db*"))
    data.rename(data.with_name("before"))
    assert run("org", "create", "--name", "Birch").code == 0


def test_a_file_that_is_no_database_fails_in_one_line(run: Run, config_file: Path) -> None:
    data = config_file.parent / "data"
    data.mkdir()
    (data / "gatewayd.db").write_bytes(b"no database " * 1000)
    ran = run("org", "list")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)


def test_migrates_once(run: Run) -> None:
    first, second = run("migrate", "--json").document, run("migrate", "--json").document
    assert first["applied"] == first["migration"] > 0
    assert second == {**first, "applied": 0}


class Terminal:
    """Standard output that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        return

    def isatty(self) -> bool:
        return True


def test_a_table_on_a_terminal_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    arguments = build_parser().parse_args(["org", "list"])
    print_list(arguments, [], ("id", "name"), [("org_1", "[red]Acme[/red]")])
    assert "[red]Acme[/red]" in terminal.text


def test_on_a_terminal_a_command_speaks_to_people(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    run("org", "create", "--name", "Acme")
    run("org", "create", "--name", "Beta", "--json")
    spoken, document = terminal.text.splitlines()
    assert spoken.startswith("Made the organization Acme: org_")
    assert json.loads(document)["name"] == "Beta"


def test_as_programs_from_the_first_organization_to_a_revoked_key(config_file: Path) -> None:
    config = {"GATEWAYD_CONFIG": str(config_file)}
    org_id = json.loads(process("org", "create", "--name", "Acme", "--json", **config).stdout)["id"]
    user = ("--email", "ann@example.com", "--name", "Ann", "--org", org_id, "--role", "owner", "--password-stdin")
    made = process("user", "create", *user, given="a good password\n", **config)
    assert (made.returncode, made.stderr) == (0, "")
    key = process("key", "create", "--org", org_id, "--user", "ann@example.com", "--name", "CI", "--json", **config)
    assert key.returncode == 0
    revoked = process("key", "revoke", json.loads(key.stdout)["id"], **config)
    assert (revoked.returncode, revoked.stderr) == (0, "")
    failed = process("key", "revoke", "key_none", **config)
    assert (failed.returncode, failed.stdout, failed.stderr) == (1, "", "gatewayd: There is no such API key.\n")


def test_a_reader_that_goes_away_is_no_traceback(config_file: Path) -> None:
    main(["org", "create", "--name", "Acme", "--config", str(config_file)])
    read_end, write_end = os.pipe()
    os.close(read_end)
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-m", "gatewayd", "org", "list", "--config", str(config_file)],
        stdout=write_end,
        stderr=subprocess.PIPE,
        cwd=root,
        timeout=SECONDS,
        check=False,
    )
    os.close(write_end)
    assert (ran.returncode, ran.stderr) == (1, b"")
