"""What commands of imports have in common: the arguments of a file, and what is told of its run."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from gatewayd.cli.context import CommandError
from gatewayd.cli.import_engine import Json
from gatewayd.cli.output import print_document
from gatewayd.cli.parser import add_override

IGNORED = {
    "total": "a total",
    "balance": "a balance",
    "heading": "the headings once more",
    "investment": "one of investments",
    "list": "an item of another list",
    "notice": "a note that a document was made",
    "split_half": "the other half of a split",
    "excluded": "what the mapping leaves out",
}


def add_file(command: argparse.ArgumentParser, formats: Sequence[str], what: str) -> None:
    """Add the arguments of a file and its account."""
    add_override(command)
    command.add_argument("file", metavar="FILE", type=Path)
    command.add_argument("--org", required=True, metavar="ID")
    account = command.add_mutually_exclusive_group(required=True)
    account.add_argument("--account", metavar="ID", help=f"the {what} it is of")
    account.add_argument(
        "--new-account", metavar="NAME", help=f"make {'an' if what[0] in 'aeiou' else 'a'} {what} for it"
    )
    command.add_argument("--format", choices=formats, default="auto", help="auto: found out by content")
    command.add_argument("--mapping", metavar="FILE", type=Path, help="how the columns of a CSV are read, as JSON")
    command.add_argument("--preview", action="store_true", help="only count what would become of its rows")


def file_values(arguments: argparse.Namespace) -> Json:
    """What the request of an import says of its file."""
    return {
        "fileName": arguments.file.name[:255],
        "format": arguments.format,
        "preview": arguments.preview,
        "mapping": None if arguments.mapping is None else _text(arguments.mapping),
    }


def refuse_waiting(run: Json, flags: Sequence[str] = ()) -> None:
    """Raises `CommandError` where a run waits for a mapping, or for what these flags say."""
    if run["proposal"] is None:
        return
    print_document({"importId": run["id"], "accountId": run["accountId"], "proposal": run["proposal"]})
    again = f"--account {run['accountId']}"
    if flags:
        raise CommandError(f"{run['error']} Give it again with {' '.join([again, *flags])}.")
    raise CommandError(f"{run['error']} Put the mapping into a file, and give it with {again} --mapping FILE.")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None


def document(run: Json, balance: str) -> Json:
    """What is printed of a run as JSON."""
    names = ("format", "rows", "added", "duplicates", "replaced", "ignored", "refused", "supposed")
    return {"importId": run["id"], "accountId": run["accountId"], **{n: run[n] for n in names}, "balance": balance}


def told_ignored(one: Json) -> str:
    """Which rows are no transactions, for people."""
    rows = "1 row" if one["rows"] == 1 else f"{one['rows']} rows"
    return f"{rows} left out, the first on line {one['firstLine']}: no transaction, but {IGNORED[one['kind']]}"


def lines(run: Json, balance: str) -> list[str]:
    """What is printed of a run for people."""
    would = "would be " if run["status"] == "previewed" else ""
    counted = f"{run['added']} {would}added, {run['replaced']} replaced, {run['duplicates']} there already"
    found = [f"{run['fileName']}, {run['format']}: {counted}, {run['refusedRows']} refused."]
    found += [f"  {told_ignored(one)}" for one in run["ignored"]]
    found += [f"  line {one['line']}: {one['reason']}" for one in run["refused"]]
    found += [f"  {one['reason']}" for one in run["supposed"]]
    if run["balanced"] is False:
        found.append("Its balances and its lines do not add up: something is missing in it.")
    found.append(f"The account holds {run['currency']} {balance}, by what is known of it.")
    if run["status"] == "previewed":
        found.append(f"Nothing was changed. The preview is {run['id']}.")
    return found
