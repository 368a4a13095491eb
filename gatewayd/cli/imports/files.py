"""What commands of imports have in common: the arguments of a file, and what is told of its run."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from gatewayd.cli.context import CommandError
from gatewayd.cli.imports.engine import Json
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
    "other_account": "of another account",
}


def add_file(command: argparse.ArgumentParser, formats: Sequence[str], what: str) -> argparse._MutuallyExclusiveGroup:
    """Add the arguments of a file and its account; answers those of which one says the account."""
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
    return account


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
    names = ("format", "rows", "added", "duplicates", "replaced", "ignored", "refused", "supposed", "otherAccounts")
    named = {"importId": run["id"], "accountId": run["accountId"], "firstImportedAt": run["firstImportedAt"]}
    return {**named, **{name: run[name] for name in names}, "balance": balance}


def told_ignored(one: Json) -> str:
    """Which rows are no transactions, for people."""
    rows = "1 row" if one["rows"] == 1 else f"{one['rows']} rows"
    what = "" if one["kind"] == "other_account" else "no transaction, but "
    return f"{rows} left out, the first on line {one['firstLine']}: {what}{IGNORED[one['kind']]}"


def _other(one: Json) -> str:
    """Another account of the file, and how its rows come in."""
    number = one["iban"] or one["accountNumber"]
    name = " ".join(part for part in (one["name"], number, one["currency"]) if part)
    rows = "1 row" if one["rows"] == 1 else f"{one['rows']} rows"
    into = f"import the file into {one['accountId']}" if one["accountId"] else "no account here has it; --all makes one"
    return f"{name}, {rows}: {into}"


def lines(run: Json, balance: str) -> list[str]:
    """What is printed of a run for people."""
    would = "would be " if run["status"] == "previewed" else ""
    counted = f"{run['added']} {would}added, {run['replaced']} replaced, {run['duplicates']} there already"
    found = [f"{run['fileName']}, {run['format']}: {counted}, {run['refusedRows']} refused."]
    if run["firstImportedAt"] is not None:
        found.append(f"Nothing was added: the same file came on {run['firstImportedAt']}, as {run['id']}.")
    found += [f"  {told_ignored(one)}" for one in run["ignored"]]
    found += [f"  {_other(one)}" for one in run["otherAccounts"]]
    found += [f"  line {one['line']}: {one['reason']}" for one in run["refused"]]
    found += [f"  {one['reason']}" for one in run["supposed"]]
    if run["balanced"] is False:
        found.append("Its balances and its lines do not add up: something is missing in it.")
    found.append(f"The account holds {run['currency']} {balance}, by what is known of it.")
    if run["status"] == "previewed":
        found.append(f"Nothing was changed. The preview is {run['id']}.")
    return found
