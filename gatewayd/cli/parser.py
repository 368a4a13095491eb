"""The tree of commands, built from the modules that own a group each."""

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import gatewayd
from gatewayd.cli.context import Context

GROUPS: Mapping[str, tuple[str, ...]] = {
    "instance.serve": ("serve",),
    "demo.command": ("demo",),
    "reference.description": ("openapi", "operations"),
    "reference.completion": ("completion",),
    "reference.manual": ("man",),
    "doctor.configuration": ("check-config",),
    "instance.store": ("migrate", "compact"),
    "instance.store_copy": ("store",),
    "instance.files": ("files",),
    "instance.init": ("init",),
    "doctor.command": ("doctor",),
    "instance.clock": ("accept-clock",),
    "instance.backup": ("backup", "restore", "verify"),
    "instance.restored": ("after-restore",),
    "instance.instance_key": ("instance-key",),
    "instance.mail": ("mail",),
    "people.organizations": ("org",),
    "people.users": ("unlock", "user"),
    "people.members": ("member",),
    "people.open_access": ("access",),
    "people.audit": ("audit",),
    "people.keys": ("key",),
    "tax.command": ("tax",),
    "people.oauth_clients": ("client",),
    "books.registers": ("entity", "bank-account", "billing-client"),
    "books.invoices": ("invoice",),
    "books.quotes": ("quote",),
    "books.bills": ("bill",),
    "books.client_statements": ("statement",),
    "books.periods": ("period", "obligation"),
    "books.businesses": ("business",),
    "imports.command": ("import",),
    "books.documents": ("document",),
    "books.allocations": ("allocation",),
    "books.assets": ("asset",),
    "books.lets": ("property", "tenancy", "rent"),
    "books.calendar": ("calendar",),
    "books.credits": ("credits",),
    "books.plans": ("plan", "cost"),
    "events.crm": ("lead", "opportunity", "event"),
    "events.webhooks": ("webhook",),
    "events.listen": ("listen",),
    "tax.dev": ("dev",),
}
"""Modules of this package and the commands they add, in the order of the help text. They import what is heavy when
run."""

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Command = Callable[[argparse.Namespace, Context], int]
"""`(arguments, context) -> exit code`. `CommandError`, `Problem` and `StoreFailure` that it raises are reported."""


class _Parser(argparse.ArgumentParser):
    """One that tells where help or version cannot be written; it is the class of its subparsers too."""

    def _print_message(self, message: str, file: Any = None) -> None:
        print(message, end="", file=file or sys.stderr)
        sys.stdout.flush()


class Group(Protocol):
    """A module of the command line."""

    def add_commands(self, subparsers: Subparsers) -> None:
        """Add the module's commands."""
        ...


def build_parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The tree of commands; every leaf sets `run`. Of a line that names a command it is that branch alone: all of them
    take longer to build than most commands to run.
    """
    parser: argparse.ArgumentParser = _Parser(
        prog="gatewayd", description="An accounting and tax-compliance API that you run yourself.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"gatewayd {gatewayd.__version__}")
    parser.add_argument("--config", metavar="FILE", help="the settings; else $GATEWAYD_CONFIG, else the usual places")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = _command(argv)
    for name in [name for name, commands in GROUPS.items() if command in commands] or GROUPS:
        cast(Group, importlib.import_module(f"gatewayd.cli.{name}")).add_commands(subparsers)
    return parser


def _command(argv: Sequence[str]) -> str | None:
    """The first word that is neither a flag nor the settings' file."""
    words = iter(argv)
    for word in words:
        if word == "--config":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


def add_group(subparsers: Subparsers, name: str, summary: str) -> Subparsers:
    """`gatewayd NAME ...`: returns where its commands are added."""
    group = subparsers.add_parser(name, help=summary, description=_sentence(summary), allow_abbrev=False)
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_command(
    subparsers: Subparsers, name: str, summary: str, run: Command, *, json: bool = False
) -> argparse.ArgumentParser:
    """One command, with `--config`, and with `--json` where it makes or lists something."""
    parser = subparsers.add_parser(name, help=summary, description=_sentence(summary), allow_abbrev=False)
    parser.add_argument("--config", metavar="FILE", default=argparse.SUPPRESS, help="the settings")
    if json:
        parser.add_argument("--json", action="store_true", help="print exactly one JSON document")
    parser.set_defaults(run=run)
    return parser


def add_override(parser: argparse.ArgumentParser) -> None:
    """`--override`, of a command that writes in the books."""
    parser.add_argument("--override", action="store_true", help="also in a period that is being closed")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number from `low` to `high`."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return number

    return convert


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."
