"""`gatewayd completion`: what a real bash completes, and what the scripts for the other shells hold."""

import argparse
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from gatewayd.cli import main
from gatewayd.cli.parser import build_parser
from gatewayd.cli.reference.commands import commands
from gatewayd.cli.reference.completion import SHELLS, path_kind, script
from tests.cli.conftest import Run

SECONDS = 60
LEAVES: Mapping[str, argparse.ArgumentParser] = dict(commands(build_parser()))

ASK = """
source "$1"
mapfile -t lines
for line in "${lines[@]}"; do
  IFS=$'\\t' read -r -a COMP_WORDS <<< "$line"
  [[ $line == *$'\\t' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _shtab_gatewayd
  (IFS=$'\\t'; printf '%s\\n' "${COMPREPLY[*]}")
done
complete -p gatewayd
"""
"""Reads lines whose words are parted by tabs, and answers each with what its last word may become."""


def completed(folder: Path, lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """What bash, in `folder`, offers for the last word of each line; the words come without the program's name."""
    source = folder.parent / "gatewayd.bash"
    source.write_text(script("bash"), "utf-8")
    given = "".join("\t".join(["gatewayd", *line]) + "\n" for line in lines)
    ended = subprocess.run(
        ["bash", "--norc", "-u", "-c", ASK, "bash", str(source)],
        input=given,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    *answers, binding = ended.stdout.splitlines()
    assert binding == "complete -o bashdefault -F _shtab_gatewayd gatewayd"
    return [sorted(answer.split("\t")) if answer else [] for answer in answers]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with two files and a directory."""
    (tmp_path / "here" / "backups").mkdir(parents=True)
    for name in ("gatewayd.toml", "token 1.json"):
        (tmp_path / "here" / name).touch()
    return tmp_path / "here"


FILES = ["backups", "gatewayd.toml", "token 1.json"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["we"], ["webhook"]),
        (["webhook", "del"], ["delete", "deliveries", "delivery"]),
        (["--config", "gatewayd.toml", "invoice", "is"], ["issue"]),
        (["user", "create", "--ro"], ["--role"]),
        (["user", "create", "--role", ""], ["admin", "member", "owner"]),
        (["user", "create", "--name", "list", "--role", "o"], ["owner"]),
        (["invoice", "list", "--status", "void", "--status", "over"], ["overdue"]),
        (["completion", ""], sorted(SHELLS)),
        (["key", "create", "--scope", "accounting:read", "--scope", "land"], ["landlord:read", "landlord:write"]),
        (["--config", ""], FILES),
        (["serve", "--config", "g"], ["gatewayd.toml"]),
        (["tax", "connect", "--token-file", ""], FILES),
        (["backup", ""], ["backups"]),
        (["backup", "--with-key", "b"], ["backups"]),
        (["restore", "--json", ""], ["backups"]),
        (["init", "--directory", ""], ["backups"]),
        (["org", "create", "--name", ""], []),
        (["key", "revoke", ""], []),
        (["nonsense", "--rol"], []),
    ],
)
def test_bash_completes(folder: Path, line: list[str], offered: list[str]) -> None:
    assert completed(folder, [line]) == [offered]


def test_bash_knows_every_command_and_every_option(folder: Path) -> None:
    groups = sorted({name.split()[0] for name in LEAVES})
    offered = completed(folder, [[""], *([*name.split(), "-"] for name in LEAVES)])
    assert offered[0] == groups
    assert dict(zip(LEAVES, offered[1:], strict=True)) == {
        name: sorted(parser._option_string_actions) for name, parser in LEAVES.items()
    }


def options() -> Iterator[argparse.Action]:
    for parser in LEAVES.values():
        yield from (action for action in parser._actions if action.option_strings)


@pytest.mark.parametrize(
    ("shell", "head", "option", "files", "directories"),
    [
        ("zsh", "#compdef gatewayd\n", "--{}[", ":FILE:_files", ":DIR:_files -/"),
        ("fish", "# AUTOMATICALLY", " -l {} ", "__fish_complete_path", "__fish_complete_directories"),
    ],
)
def test_the_other_shells_know_them_too(shell: str, head: str, option: str, files: str, directories: str) -> None:
    text = script(shell)
    assert text.startswith(head)
    assert files in text
    assert directories in text
    assert "owner admin member" in text
    assert [name for name in LEAVES for word in name.split() if word not in text] == []
    plain = {word.removeprefix("--") for action in options() for word in action.option_strings if len(word) > 2}
    assert [word for word in plain - {"help"} if option.format(word) not in text] == []


def test_every_path_is_completed_as_one() -> None:
    paths = {
        f"{name} {action.dest}": path_kind(action)
        for name, parser in LEAVES.items()
        for action in parser._actions
        if action.type is Path or action.metavar in ("FILE", "DEST", "SRC", "DIR")
    }
    assert "" not in paths.values()
    assert paths["backup destination"] == paths["restore source"] == paths["demo directory"] == "directory"
    assert paths["backup config"] == paths["tax connect token_file"] == "file"
    assert path_kind(argparse.Action([], "statement", type=Path, metavar="CSV")) == "file"
    assert path_kind(argparse.Action(["--name"], "name")) == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script_whatever_the_settings_are(run: Run, config_file: Path, shell: str) -> None:
    config_file.write_text("not TOML")
    ran = run("completion", shell)
    assert (ran.code, ran.out, ran.err) == (0, script(shell) + "\n", "")


@pytest.mark.parametrize("arguments", [[], ["tcsh"]])
def test_a_shell_must_be_named_that_we_know(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", *arguments]) == 2
    assert "SHELL" in capsys.readouterr().err
