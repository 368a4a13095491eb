"""`gatewayd invoice recur`: invoices that are made again and again."""

import argparse
from typing import Any

from gatewayd.cli.books.accounting_operations import accounting_operation, add_command_of_one
from gatewayd.cli.context import Context
from gatewayd.cli.output import print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import run_operation, walk

Json = dict[str, Any]
STATUSES = ("active", "paused", "halted", "ended")
LIST_MAX = 100  # one page of the API
LIST_DEFAULT = 50


def add_recurring(subparsers: Subparsers) -> None:
    """Add the commands of recurring invoices."""
    group = add_group(subparsers, "recur", "invoices that are made again and again")
    command = add_command(group, "list", "list recurring invoices, newest first", list_recurring, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--status", choices=STATUSES)
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=LIST_DEFAULT, metavar="N")
    add_command_of_one(group, "show", "show one, with the day that is next and what halted it", show)
    add_command_of_one(group, "pause", "make nothing more until it is resumed", pause)
    command = add_command_of_one(group, "resume", "let one go on that is paused or halted", resume)
    command.add_argument("--missed", choices=("make", "skip"), help="what becomes of days that have passed meanwhile")
    add_command_of_one(group, "end", "end it for good", end)


def list_recurring(arguments: argparse.Namespace, context: Context) -> int:
    operation = accounting_operation(context, "accounting.listRecurring")
    found = walk(context, arguments.org, operation, {"status": arguments.status}, (arguments.limit, arguments.limit))
    names = ("id", "status", "makes", "every", "unit", "nextDate", "madeCount", "haltedReason")
    columns = ("id", "status", "makes", "every", "unit", "next", "made", "halted by")
    rows = [tuple("" if each[name] is None else str(each[name]) for name in names) for each in found]
    print_list(arguments, found, columns, rows)
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    print_document(_perform(arguments, context, "getRecurring"))
    return 0


def pause(arguments: argparse.Namespace, context: Context) -> int:
    return _tell(arguments, _perform(arguments, context, "pauseRecurring"))


def resume(arguments: argparse.Namespace, context: Context) -> int:
    return _tell(arguments, _perform(arguments, context, "resumeRecurring", missed=arguments.missed))


def end(arguments: argparse.Namespace, context: Context) -> int:
    return _tell(arguments, _perform(arguments, context, "endRecurring"))


def _perform(arguments: argparse.Namespace, context: Context, name: str, **values: object) -> Json:
    from gatewayd.areas.accounting.recurring.rows import RECURRING

    org_id = context.read(lambda tx: RECURRING.organization_of(tx, arguments.id))
    operation = accounting_operation(context, f"accounting.{name}")
    return run_operation(context, operation, org_id, {"recurringId": arguments.id, **values})


def _tell(arguments: argparse.Namespace, recurring: Json) -> int:
    following = f"; {recurring['nextDate']} is next" if recurring["nextDate"] else ""
    print_result(arguments, recurring, [f"{recurring['id']} is {recurring['status']}{following}."])
    return 0
