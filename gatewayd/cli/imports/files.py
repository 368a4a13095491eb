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
        "mapping": None if arguments.mapping is None else _file_text(arguments.mapping),
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


def _file_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None


def document(run: Json, balance: str) -> Json:
    """What is printed of a run as JSON."""
    names = ("format", "rows", "added", "duplicates", "replaced", "ignored", "refused", "supposed", "otherAccounts")
    named = {"importId": run["id"], "accountId": run["accountId"], "firstImportedAt": run["firstImportedAt"]}
    return {**named, **{name: run[name] for name in names}, "balance": balance}


def told_ignored(ignored: Json) -> str:
    """Which rows are no transactions, for people."""
    rows = "1 row" if ignored["rows"] == 1 else f"{ignored['rows']} rows"
    what = "" if ignored["kind"] == "other_account" else "no transaction, but "
    return f"{rows} left out, the first on line {ignored['firstLine']}: {what}{IGNORED[ignored['kind']]}"


def _other_account_text(account: Json) -> str:
    """Another account of the file, and how its rows come in."""
    number = account["iban"] or account["accountNumber"]
    name = " ".join(part for part in (account["name"], number, account["currency"]) if part)
    rows = "1 row" if account["rows"] == 1 else f"{account['rows']} rows"
    into = (
        f"import the file into {account['accountId']}"
        if account["accountId"]
        else "no account here has it; --all makes one"
    )
    return f"{name}, {rows}: {into}"


def lines(run: Json, balance: str) -> list[str]:
    """What is printed of a run for people."""
    would = "would be " if run["status"] == "previewed" else ""
    counted = f"{run['added']} {would}added, {run['replaced']} replaced, {run['duplicates']} there already"
    lines = [f"{run['fileName']}, {run['format']}: {counted}, {run['refusedRows']} refused."]
    if run["firstImportedAt"] is not None:
        lines.append(f"Nothing was added: the same file came on {run['firstImportedAt']}, as {run['id']}.")
    lines += [f"  {told_ignored(ignored)}" for ignored in run["ignored"]]
    lines += [f"  {_other_account_text(account)}" for account in run["otherAccounts"]]
    lines += [f"  line {refusal['line']}: {refusal['reason']}" for refusal in run["refused"]]
    lines += [f"  {supposition['reason']}" for supposition in run["supposed"]]
    if run["balanced"] is False:
        lines.append("Its balances and its lines do not add up: something is missing in it.")
    lines.append(f"The account holds {run['currency']} {balance}, by what is known of it.")
    if run["status"] == "previewed":
        lines.append(f"Nothing was changed. The preview is {run['id']}.")
    return lines
