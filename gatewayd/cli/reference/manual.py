"""The manual page, `docs/gatewayd.1`, made from the parser: groff_man(7), which mandoc reads too."""

import argparse
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import gatewayd
from gatewayd.cli.context import Context
from gatewayd.cli.parser import Subparsers, add_command, build_parser
from gatewayd.cli.reference.commands import EVERYWHERE, commands, example, meaning, value

REVISED: Final = "2026-11-21"
"""The day on which the words of this file were last changed; those of the commands come from the parser."""
WIDTH: Final = 66
"""Of a line of the source, before escapes make it longer: mandoc wants at most 80."""

DESCRIPTION: Final = (
    "gatewayd is an accounting and tax-compliance API that you run yourself: one process, one SQLite file, one file of "
    "settings. It keeps legal entities, clients and invoices, signs people and apps in, and tells other systems what "
    "happens through signed webhooks.",
    "Every command takes --config and --help. Commands work beside a running daemon and without one; what they change "
    "counts from the daemon's next request on.",
    "A command that makes or lists something takes --json and then prints exactly one JSON document on standard "
    "output. What a command made is printed like that in a pipe too; a list in a pipe is a table whose columns are "
    "parted by tabs.",
)
FILES: Final = (
    (
        "/etc/gatewayd/gatewayd.toml",
        "The settings. What --config names is read instead, else what $GATEWAYD_CONFIG names; that file must be there.",
    ),
    (
        "~/.config/gatewayd/gatewayd.toml",
        "The settings if there is no file in /etc; below $XDG_CONFIG_HOME if that is set. Without any file every key "
        "has its default.",
    ),
    (
        "/var/lib/gatewayd",
        "The data, if the settings lie in /etc/gatewayd, of a shell beside the service too. $STATE_DIRECTORY must name "
        "the same, or the setting store.directory another place.",
    ),
    (
        "/run/credentials/gatewayd.service, /etc/credstore, /run/credstore",
        "Where a shell looks for credentials: what the running service was given, which its user and root can read, "
        "then where systemd looks.",
    ),
    ("~/.local/share/gatewayd", "The data with other settings, below $XDG_DATA_HOME if that is set."),
)
EXIT_STATUS: Final = (
    ("0", "Done."),
    ("1", "Failed. The reason stands on standard error."),
    ("2", "Wrong usage, or wrong settings: every mistake stands on standard error."),
    ("130", "Interrupted with Ctrl-C."),
)
ENVIRONMENT: Final = (
    ("GATEWAYD_CONFIG", "The file of settings, if --config names none."),
    ("STATE_DIRECTORY", "Where data lies if the setting store.directory is empty; systemd sets it."),
    (
        "CREDENTIALS_DIRECTORY",
        "Where settings of the form credential:NAME find their file; systemd sets it. In a shell only what uses the "
        "secret needs it, if the service does not run.",
    ),
    ("XDG_CONFIG_HOME, XDG_DATA_HOME", "The folders of the user's settings and data."),
    (
        "PGSSLMODE",
        "What doctor takes for the sslmode of store.url where that names none, as PostgreSQL's library does.",
    ),
    ("NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID", "How serve tells systemd that it is ready and alive."),
)
SEE_ALSO: Final = (("systemd.exec", 5), ("systemd.socket", 5), ("sd_notify", 3))

AGAIN: Final = r"...\&"
"""What may be given again; the mark at the end says that no sentence ends there."""
_ESCAPES: Final[Mapping[str, str]] = {
    "\\": r"\(rs",
    "-": r"\-",  # as it is typed, which a hyphen is not
    "'": r"\(aq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}


def add_commands(subparsers: Subparsers) -> None:
    """Add `man`."""
    add_command(subparsers, "man", "print the source of the manual page", man)


def man(arguments: argparse.Namespace, context: Context) -> int:
    """The page as `man -l -` reads it. Chosen: so that an installed package has it, without a file."""
    print(manual(), end="")
    return 0


def manual() -> str:
    """The whole page, in the order of man-pages(7)."""
    return "\n".join(_page(build_parser())) + "\n"


def _page(parser: argparse.ArgumentParser) -> Iterator[str]:
    summary = (parser.description or "").rstrip(".")
    yield r".\" Made from the program's own parser by `make generate`."
    yield f'.TH GATEWAYD 1 {REVISED} "gatewayd {gatewayd.__version__}" "User Commands"'
    yield from (".SH NAME", rf"gatewayd \- {_roff_text(summary[0].lower() + summary[1:])}")
    yield from (".SH SYNOPSIS", *_synopsis("gatewayd", [_italic("COMMAND"), rf"[{_italic('ARGUMENT')}]{AGAIN}"]))
    yield from (*_synopsis("gatewayd", [_bold("--help")]), *_synopsis("gatewayd", [_bold("--version")]))
    yield ".SH DESCRIPTION"
    for place, text in enumerate(DESCRIPTION):
        yield from (*([".PP"] if place else []), *_roff_lines(text))
    yield ".SH OPTIONS"
    for action in parser._actions:
        if action.option_strings:
            yield from _argument(action)
    yield ".SH COMMANDS"
    for name, command in commands(parser):
        yield from _command(name, command)
    yield from (".SH EXIT STATUS", *_list(EXIT_STATUS))
    yield from (".SH ENVIRONMENT", *_list(ENVIRONMENT))
    yield from (".SH FILES", *_list(FILES))
    yield from (".SH SEE ALSO", ",\n".join(rf"\fB{_roff_text(name)}\fR({section})" for name, section in SEE_ALSO))


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """How it is called, what it does, its arguments, an example."""
    arguments = [action for action in parser._actions if action.dest not in EVERYWHERE]
    arguments.sort(key=lambda action: (bool(action.option_strings), action.dest == "json"))
    yield f".SS {_roff_text(name)}"
    yield from _synopsis(f"gatewayd {name}", _usage(parser, arguments))
    yield from (".PP", *_roff_lines(parser.description or ""))
    for action in arguments:
        yield from _argument(action)
    yield from (".PP", "Example:", ".PP", ".RS 4", ".EX", *map(_roff_text, folded(example(name))), ".EE", ".RE")


def _usage(parser: argparse.ArgumentParser, arguments: Sequence[argparse.Action]) -> Iterator[str]:
    """A word for each argument or choice of arguments; brackets stand around what may be left out."""
    either = {id(action): group for group in parser._mutually_exclusive_groups for action in group._group_actions}
    for action in arguments:
        group = either.get(id(action))
        if group is None:
            again = AGAIN if isinstance(action, argparse._AppendAction) else ""
            yield (_spelling(action) if action.required else f"[{_spelling(action)}]") + again
        elif action is group._group_actions[0]:
            choice = " |\n".join(map(_spelling, group._group_actions))
            yield f"({choice})" if group.required else f"[{choice}]"


def _argument(action: argparse.Action) -> Iterator[str]:
    yield from (".TP", _spelling(action, " "))
    explained = meaning(action) or ("required" if action.required else "optional")
    yield from _roff_lines(f"{explained[0].upper()}{explained[1:]}.")


def _spelling(action: argparse.Action, space: str = r"\ ") -> str:
    """`--port PORT`, `ID`: what is typed in bold, what is filled in in italics; no line ends at `space`."""
    words = [", ".join(map(_bold, action.option_strings)), _italic(value(action))]
    return space.join(filter(None, words))


def _synopsis(command: str, words: Iterator[str] | Sequence[str]) -> Iterator[str]:
    yield from (f'.SY "{_roff_text(command)}"', *words, ".YS")


def _list(entries: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, text in entries:
        yield from (".TP", _bold(term), *_roff_lines(text))


def _roff_lines(text: str) -> Iterator[str]:
    return map(_roff_text, textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def folded(line: str) -> Iterator[str]:
    """A line of the shell in lines that fit on a page, cut before options and `>`, which must not stand in quotes."""
    folded_line, *pieces = re.split(r" (?=--|>)", line)
    for piece in pieces:
        if len(f"{folded_line} {piece}") > WIDTH:
            yield f"{folded_line} \\"
            folded_line = "   "
        folded_line = f"{folded_line} {piece}"
    yield folded_line


def _bold(text: str) -> str:
    return rf"\fB{_roff_text(text)}\fR" if text else ""


def _italic(text: str) -> str:
    return rf"\fI{_roff_text(text)}\fR" if text else ""


def _roff_text(text: str) -> str:
    """Words that roff prints as they are; a dot at the beginning would be a request."""
    shown = "".join(_ESCAPES.get(char, char if char.isascii() else rf"\[u{ord(char):04X}]") for char in text)
    return rf"\&{shown}" if shown.startswith(".") else shown
