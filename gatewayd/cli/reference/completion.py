"""`gatewayd completion`: what teaches a shell to complete commands, made from the parser."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gatewayd.cli.context import Context
from gatewayd.cli.parser import Subparsers, add_command, build_parser
from gatewayd.cli.reference.commands import commands, value

SHELLS: Final = ("bash", "zsh", "fish")
"""Chosen: not tcsh, which shtab knows too: there every command would offer the options of all."""
DIRECTORIES: Final = frozenset({"DIR", "DIRECTORY", "DEST", "SRC"})
"""Placeholders of values that name a directory; `FILE` names a file, and so does any other path."""


def add_commands(subparsers: Subparsers) -> None:
    """Add `completion`."""
    command = add_command(subparsers, "completion", "print a script that lets a shell complete commands", completion)
    command.add_argument(
        "shell",
        metavar="SHELL",
        choices=SHELLS,
        help="bash and fish source it; zsh evaluates it, or finds it in fpath as _gatewayd",
    )


def completion(arguments: argparse.Namespace, context: Context) -> int:
    """The script on standard output; nothing is read but the parser."""
    print(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """The script for one of `SHELLS`."""
    import shtab

    parser = build_parser()
    for action in _actions(parser):
        if kind := path_kind(action):
            vars(action)["complete"] = kind  # where shtab looks for it; argparse's own class does not know the name
    return shtab.complete(parser, shell)


def path_kind(action: argparse.Action) -> str:
    """`file` or `directory`, as shtab calls them, if the value of the argument is a path; else empty."""
    if value(action) in DIRECTORIES:
        return "directory"
    return "file" if value(action) == "FILE" or action.type is Path else ""


def _actions(root: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of the program and of its commands."""
    yield from root._actions
    for _, parser in commands(root):
        yield from parser._actions
