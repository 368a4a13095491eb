"""`docs/gatewayd.1`: fresh, whole, and sound without a program that reads it."""

import ast
import functools
import re
import shlex
from pathlib import Path

import pytest

from gatewayd.cli.parser import build_parser
from gatewayd.cli.reference.commands import EXAMPLES, commands, example
from gatewayd.cli.reference.manual import folded, manual
from gatewayd.config import system_file
from tests.cli.conftest import Run
from tests.daemon.instance import ROOT
from tests.structure.sources import sources

MACROS = {".TH", ".SH", ".SS", ".SY", ".YS", ".PP", ".TP", ".RS", ".RE", ".EX", ".EE", r".\""}
LINE_MAX = 80
"""What `mandoc -T lint` allows a line of the source, but for examples, which it leaves as they are."""


def plain(text: str) -> str:
    """The source without fonts, and with characters in place of their names."""
    for escape, char in ((r"\-", "-"), (r"\(aq", "'"), (r"\(ti", "~"), (r"\(rs", "\\"), (r"\ ", " "), (r"\&", "")):
        text = text.replace(escape, char)
    return re.sub(r"\\f[BIR]", "", text)


@functools.cache
def page() -> str:
    return manual()


@functools.cache
def parts(macro: str) -> dict[str, str]:
    """What follows each heading, by its words."""
    found = re.split(rf"^\.{macro} (.*)\n", page(), flags=re.MULTILINE)[1:]
    return {plain(title): plain(text) for title, text in zip(found[::2], found[1::2], strict=True)}


def test_the_file_is_what_the_parser_says() -> None:
    assert (ROOT / "docs" / "gatewayd.1").read_text("utf-8") == manual(), "run `make generate`"


def test_the_command_prints_it(run: Run, config_file: Path) -> None:
    config_file.write_text("not TOML")
    ran = run("man")
    assert (ran.code, ran.out, ran.err) == (0, manual(), "")


def test_its_sections_stand_in_the_usual_order() -> None:
    first = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS"]
    assert list(parts("SH")) == [*first, "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]
    assert parts("SH")["NAME"].startswith("gatewayd - ")


def test_every_command_has_a_section_with_its_options() -> None:
    sections = parts("SS")
    parsers = dict(commands(build_parser()))
    assert list(sections) == list(parsers)
    for name, parser in parsers.items():
        assert f'.SY "gatewayd {name}"' in sections[name]
        assert parser.description in " ".join(sections[name].splitlines())
        for flag in set(parser._option_string_actions) - {"-h", "--help", "--config"}:
            assert re.search(rf"^\.TP\n{flag}( |$)", sections[name], re.MULTILINE), (name, flag)


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("backup", "(DEST | --into DIR) [--keep N] [--with-key] [--json]"),
        ("tax approve", "(--key ID | --client ID) [--attestation TEXT] [--json]"),
        (
            "webhook update",
            "ID [--url URL] [--event KIND]... [--enable | --disable] [--rotate-secret] [--end-rotation]",
        ),
        ("webhook create", "--org ID --url URL --event KIND... [--json]"),
    ],
)
def test_how_a_command_is_called(name: str, usage: str) -> None:
    synopsis = parts("SS")[name].split("\n.YS")[0].splitlines()[1:]
    assert " ".join(synopsis).startswith(usage)


def test_what_arguments_mean() -> None:
    sections = parts("SS")
    assert ".TP\n--role ROLE\nOne of owner, admin, member.\n" in sections["user create"]
    assert ".TP\n--overlap-hours H\nDefault 24.\n" in sections["key rotate"]
    assert ".TP\n--org ID\nRequired.\n" in sections["user create"]
    assert "SUPPRESS" not in manual()


def test_every_line_of_the_source_is_one_that_roff_reads() -> None:
    assert manual().isascii()
    filled = re.sub(r"^\.EX\n.*?^\.EE\n", "", manual(), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in filled.splitlines() if len(line) > LINE_MAX] == []
    for line in manual().splitlines():
        assert line, "an empty line is a fault in a manual page"
        assert line == line.rstrip()
        assert not line.startswith("'"), line
        assert not line.startswith(".") or line.split()[0] in MACROS, line


def test_what_the_program_reads_of_its_environment_is_told() -> None:
    read = {
        str(node.args[0].value)
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("environ.get")
        and isinstance(node.args[0], ast.Constant)
    }
    assert {"GATEWAYD_CONFIG", "STATE_DIRECTORY", "NOTIFY_SOCKET"} <= read
    told = parts("SH")["ENVIRONMENT"]
    assert [name for name in sorted(read) if name not in told] == []


def test_where_settings_are_looked_for_is_told() -> None:
    told = parts("SH")["FILES"]
    places = ["--config", "$GATEWAYD_CONFIG", "~/.config/gatewayd/gatewayd.toml", "$STATE_DIRECTORY"]
    assert [place for place in [str(system_file()), *places] if place not in told] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_that_was_folded_means_the_same(name: str) -> None:
    lines = list(folded(example(name)))
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert shlex.split("".join(line.removesuffix("\\") for line in lines)) == shlex.split(example(name))
    assert "\n".join(lines) in parts("SS")[name]
