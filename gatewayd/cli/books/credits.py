"""`gatewayd credits`: what organizations may use, and what became of it."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import Perform, offered_operation, operation_of, run_operation, run_operations, walk
from gatewayd.cli.time_arguments import TimeArgument, civil_date, time_argument

if TYPE_CHECKING:
    from gatewayd.store import ReadTx

Json = dict[str, Any]
TYPES: Final = ("grant", "purchase", "usage", "expiry", "void", "refund", "adjustment")
LIST_MAX: Final = 1_000_000
IMPORTED_AT_ONCE: Final = 250  # as many as one request takes
_PAGE: Final = 500
_COLUMNS: Final = ("occurredAt", "type", "amount", "description", "externalId", "operation")
"""Columns of an import, in any order; the last three may be left out."""


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of credits."""
    group = add_group(subparsers, "credits", "what organizations may use, and what became of it")
    _add_changes(group)
    command = add_command(group, "balance", "show what an organization has", balance, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--at", metavar="TIME", type=time_argument, help="by default now")
    command = add_command(group, "ledger", "list what became of credits, latest first", ledger, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--type", action="append", choices=TYPES, help="may be given again")
    command.add_argument("--operation", metavar="NAME", help="such as vault.parse")
    _add_days(command)
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")
    command = add_command(group, "usage", "show what was used, day by day", usage, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--timezone", metavar="NAME", help="an IANA name; by default the organization's")
    _add_days(command)
    command = add_command(group, "import", "take over entries of another ledger, from CSV", import_file, json=True)
    command.add_argument("file", metavar="FILE", type=Path, help=f"with the columns {', '.join(_COLUMNS)}")
    command.add_argument("--org", required=True, metavar="ID")


def _add_changes(group: Subparsers) -> None:
    command = add_command(group, "grant", "give credits", grant, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--amount", required=True, metavar="N", help="a decimal such as 500")
    command.add_argument(
        "--expires",
        metavar="DATE",
        type=civil_date,
        help="the last day on which they can be used, in the organization's time zone",
    )
    command.add_argument(
        "--priority", type=whole_number(0, 10_000), metavar="N", help="the lower is used first; by default 100"
    )
    command.add_argument("--category", choices=("promotional", "paid"), help="promotional ones are used first")
    command.add_argument("--purchase", action="store_true", help="they were paid for")
    command.add_argument("--description", metavar="TEXT")
    command = add_command(group, "void", "take back what is left of a grant", void, json=True)
    command.add_argument("id", metavar="ID", help="of the grant")
    command.add_argument("--description", metavar="TEXT")
    command = add_command(group, "refund", "give back what was used", refund, json=True)
    command.add_argument("id", metavar="ENTRY", help="of the ledger")
    command.add_argument("--amount", metavar="N", help="by default all of it that was not refunded")
    command.add_argument("--description", metavar="TEXT")
    command = add_command(group, "adjust", "add credits or take some, where nothing else fits", adjust, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--amount", required=True, metavar="N", help="below 0 it is taken")
    command.add_argument("--description", required=True, metavar="TEXT")


def _add_days(command: argparse.ArgumentParser) -> None:
    command.add_argument("--from", dest="from_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD")
    command.add_argument("--to", dest="to_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD, inclusive")


def grant(arguments: argparse.Namespace, context: Context) -> int:
    values = {name: getattr(arguments, name) for name in ("amount", "priority", "category", "description")}
    values |= {"type": "purchase" if arguments.purchase else None, "expiresDate": arguments.expires}
    made = _run(context, "billing.grantCredits", arguments.org, values)
    until = "" if made["expiresAt"] is None else f", which expire at {made['expiresAt']}"
    print_result(arguments, made, [f"Gave {made['amount']} credits{until}: {made['id']}"])
    return 0


def void(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.credits import grants

    org_id = context.read(lambda tx: grants.organization_of(tx, arguments.id))
    values = {"id": arguments.id, "description": arguments.description}
    after = _run(context, "billing.voidGrant", org_id, values)
    print_result(arguments, after, [f"Took back {after['voided']} of {after['amount']} credits."])
    return 0


def refund(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.credits import entries

    def owner(tx: "ReadTx") -> str:
        return entries.organization_of(tx, arguments.id)

    values = {name: getattr(arguments, name) for name in ("id", "amount", "description")}
    entry = _run(context, "billing.refundEntry", context.read(owner), values)
    print_result(arguments, entry, [f"Gave back {entry['amount']}; the balance is {entry['balanceAfter']}."])
    return 0


def adjust(arguments: argparse.Namespace, context: Context) -> int:
    values = {"amount": arguments.amount, "description": arguments.description}
    made = _run(context, "billing.adjustCredits", arguments.org, values)
    print_result(arguments, made, [f"The balance is {made['data'][-1]['balanceAfter']}."])
    return 0


def balance(arguments: argparse.Namespace, context: Context) -> int:
    at: TimeArgument | None = arguments.at
    values = {"asOf": None if at is None else at.wire(context.clock.now())}
    answer = _run(context, "billing.getBalance", arguments.org, values)
    lines = [f"{answer['available']} credits are available, {answer['held']} are held for work that is under way."]
    lines += [f"{grant['amount']} expire at {grant['expiresAt']}." for grant in answer["expiringSoon"]]
    print_result(arguments, answer, lines)
    return 0


def ledger(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.billing import AREA

    values = {"type": arguments.type, "operation": arguments.operation}
    values |= {"fromDate": arguments.from_date, "toDate": arguments.to_date}
    operation = operation_of(AREA, "billing.getLedger")
    entries = walk(context, arguments.org, operation, values, (_PAGE, arguments.limit))
    names = ("id", "occurredAt", "type", "amount", "balanceAfter", "operation")
    cells = [tuple(str(entry[name] or "") for name in names) for entry in entries]
    print_list(arguments, entries, ("id", "occurred", "type", "amount", "balance", "operation"), cells)
    return 0


def usage(arguments: argparse.Namespace, context: Context) -> int:
    values = {"fromDate": arguments.from_date, "toDate": arguments.to_date, "timezone": arguments.timezone}
    summary = _run(context, "billing.getUsageSummary", arguments.org, values)
    days = [*summary["data"], {**summary["totals"], "date": "in all"}]
    cells = [(day["date"], day["credits"], str(day["operations"])) for day in days]
    print_list(arguments, summary["data"], ("day", "credits", "operations"), cells)
    return 0


def import_file(arguments: argparse.Namespace, context: Context) -> int:
    entries = list(_entries(arguments.file))
    operation = offered_operation(context, "billing.importEntries")

    async def work(perform: Perform) -> Json:
        told: Json = {"importIds": [], "added": 0, "duplicates": 0}
        for start in range(0, len(entries), IMPORTED_AT_ONCE):
            values = {"source": arguments.file.name, "entries": entries[start : start + IMPORTED_AT_ONCE]}
            done = await perform(operation, values)
            told["importIds"].append(done["importId"])
            told["added"] += done["added"]
            told["duplicates"] += done["duplicates"]
        return told

    told = run_operations(context, arguments.org, work)
    print_result(arguments, told, [f"Added {told['added']} entries; {told['duplicates']} were there."])
    return 0


def _entries(file: Path) -> Iterator[dict[str, str]]:
    """The entries of a CSV. Raises `CommandError` for a file that cannot be read as one."""
    import csv

    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines, strict=True)
            unknown = sorted({*(reader.fieldnames or ())} - {*_COLUMNS})
            if unknown:
                raise CommandError(f"{file}: the column {unknown[0]!r} is not one of {', '.join(_COLUMNS)}", 2)
            for row in reader:
                yield {name: value for name, value in row.items() if name in _COLUMNS and value}
    except (OSError, UnicodeError, csv.Error) as error:
        raise CommandError(f"{file}: {error}") from None


def _run(context: Context, operation: str, org_id: str, values: Json) -> Json:
    from gatewayd.areas.billing import AREA

    return run_operation(context, operation_of(AREA, operation), org_id, values)
