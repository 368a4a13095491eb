"""What commands print: tables for people, exactly one JSON document for programs."""

import argparse
import sys
from collections.abc import Sequence


def print_document(document: object) -> None:
    """One JSON document on one line; structs in the spelling they have on the wire."""
    from gatewayd.contract.wire import encode

    print(encode(document).decode())


def print_result(arguments: argparse.Namespace, document: object, lines: Sequence[str]) -> None:
    """What a command made: `lines` on a terminal; the document with `--json` or in a pipe."""
    if arguments.json or not sys.stdout.isatty():
        print_document(document)
    else:
        print("\n".join(lines))


def print_list(
    arguments: argparse.Namespace, documents: Sequence[object], columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """What a command lists: a table on a terminal, its columns parted by tabs in a pipe, a JSON list with `--json`."""
    if arguments.json:
        print_document(documents)
    elif sys.stdout.isatty():
        _print_table(columns, rows)
    else:
        print("\n".join("\t".join(row) for row in (columns, *rows)))


def note(sentence: str) -> None:
    """Print a sentence beside the result, on standard error."""
    print(f"gatewayd: {sentence}", file=sys.stderr)


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # Text: a name such as [red] is no markup
    Console().print(table)
