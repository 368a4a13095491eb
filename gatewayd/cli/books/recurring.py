"""`gatewayd invoice recur`: invoices that are made again and again."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation

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
    _add(group, "show", "show one, with the day that is next and what halted it", show)
    _add(group, "pause", "make nothing more until it is resumed", pause)
    command = _add(group, "resume", "let one go on that is paused or halted", resume)
    command.add_argument("--missed", choices=("make", "skip"), help="what becomes of days that have passed meanwhile")
    _add(group, "end", "end it for good", end)


def list_recurring(arguments: argparse.Namespace, context: Context) -> int:
    operation = _operation(context, "listRecurring")
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


def _add(
    group: Subparsers, name: str, summary: str, run: Callable[[argparse.Namespace, Context], int]
) -> argparse.ArgumentParser:
    command = add_command(group, name, summary, run, json=True)
    command.add_argument("id", metavar="ID")
    return command


def _operation(context: Context, name: str) -> "Operation":
    from gatewayd.areas import accounting

    handlers = accounting.handlers(context.config.server.public_url, context.mailing)
    return operation_of(accounting.AREA, f"accounting.{name}", handlers)


def _perform(arguments: argparse.Namespace, context: Context, name: str, **values: object) -> Json:
    from gatewayd.areas.accounting.recurring.rows import RECURRING

    org_id = context.read(lambda tx: RECURRING.organization_of(tx, arguments.id))
    return run_operation(context, _operation(context, name), org_id, {"recurringId": arguments.id, **values})


def _tell(arguments: argparse.Namespace, recurring: Json) -> int:
    following = f"; {recurring['nextDate']} is next" if recurring["nextDate"] else ""
    print_result(arguments, recurring, [f"{recurring['id']} is {recurring['status']}{following}."])
    return 0
