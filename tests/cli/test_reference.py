"""`docs/commands.md`: fresh, whole, and right in its examples."""

import shlex

import pytest

from gatewayd.cli.parser import build_parser
from gatewayd.cli.reference.commands import EXAMPLES, commands, example, reference
from tests.cli.conftest import Run
from tests.daemon.instance import ROOT

PARSER = build_parser()
COMMANDS = dict(commands(PARSER))


def words(name: str) -> list[str]:
    """An example as the shell hands it over, without the program's name and what is the shell's own."""
    given = shlex.split(example(name))[1:]
    return given[: given.index(">")] if ">" in given else given


def test_the_file_is_what_the_parser_says() -> None:
    assert (ROOT / "docs" / "commands.md").read_text("utf-8") == reference(), "run `make generate`"


def test_every_command_has_one_example() -> None:
    assert sorted(EXAMPLES) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_is_understood(name: str) -> None:
    assert PARSER.parse_args(words(name)).run is COMMANDS[name].get_default("run")


def test_every_flag_of_a_command_is_in_its_section() -> None:
    sections = dict(section.split("`\n", 1) for section in reference().split("## `gatewayd ")[1:])
    for name, parser in COMMANDS.items():
        for flag in set(parser._option_string_actions) - {"-h", "--help", "--config"}:
            assert f"| `{flag}" in sections[name], (name, flag)
    assert "| `--role ROLE` | yes | one of owner, admin, member |" in sections["user create"]
    assert "| `--overlap-hours H` |  | default 24 |" in sections["key rotate"]


def test_the_example_of_an_event_is_one(run: Run, org_id: str) -> None:
    ran = run(*(word.replace("ORG_ID", org_id) for word in words("event emit")))
    assert (ran.code, ran.err) == (0, "")
