"""`gatewayd import`: files that are brought into the books, by the path of the API, and taken out again."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.imports import bank, prices
from gatewayd.cli.imports.engine import Json, perform, received
from gatewayd.cli.imports.files import add_file, document, file_values, lines, refuse_waiting
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.money import from_minor

if TYPE_CHECKING:
    from gatewayd.contract.received_file import ReceivedFile

OF_BROKERS = ("auto", "csv", "ibkr_flex")
WRAPPERS = ("none", "isa", "lisa", "jisa", "sipp", "ssas", "workplace_pension", "other")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of imports."""
    group = add_group(subparsers, "import", "files that are brought into the books")
    bank.add_command_to(group)
    command = add_command(group, "broker", "import a broker's file: CSV, or a Flex query of IBKR", broker, json=True)
    add_file(command, OF_BROKERS, "account")
    command.add_argument("--portfolio", metavar="ID", help="of a new account")
    command.add_argument("--wrapper", choices=WRAPPERS, default="none", help="of a new account; none by default")
    command.add_argument("--currency", default="GBP", metavar="C", help="of a new account; GBP by default")
    prices.add_command_to(group)
    command = add_command(group, "undo", "take out what an import brought", undo, json=True)
    add_override(command)
    allocated_help = "of a bank's file: take back what its transactions are allocated to as well"
    command.add_argument("--remove-allocations", action="store_true", help=allocated_help)
    command.add_argument("--preview", action="store_true", help="of a bank's file: only tell what would be taken out")
    command.add_argument("id", metavar="ID")


def broker(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets.pools import cash

    values, file = file_values(arguments), received(arguments.file)
    if arguments.account is None:
        run = _into_new_asset_account(arguments, context, values, file)
    else:
        command = ("assets.importTransactions", {"accountId": arguments.account, **values})
        run = perform(context, arguments.org, command, file)
    refuse_waiting(run)
    held = context.read(lambda tx: cash.balances(tx, run["accountId"]), arguments.org)
    balance = next(
        (str(amount) for amount in held if amount.currency == run["currency"]), from_minor(0, run["currency"])
    )
    print_result(arguments, document(run, balance), lines(run, balance))
    return 0


def undo(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.imports.import_runs import RUNS

    org_id = context.read(lambda tx: RUNS.organization_of(tx, arguments.id))
    kind = context.read(lambda tx: RUNS.get(tx, arguments.id).kind, org_id)
    values = {"importId": arguments.id}
    flags = {"removeAllocations": arguments.remove_allocations, "preview": arguments.preview}
    if kind != "bank" and any(flags.values()):
        raise CommandError("--remove-allocations and --preview are of a bank's file")
    operation = ("banking.undoImport", values | flags) if kind == "bank" else ("assets.undoImport", values)
    run = perform(context, org_id, operation)
    print_result(arguments, run, undone(run))
    return 0


def undone(run: Json) -> list[str]:
    """What is printed of an undoing for people."""
    told = run["undoing"]
    if told is None:
        return [f"Took out {run['added']} transactions of {run['fileName']}."]
    is_preview = run["status"] == "applied"
    verb = "Would take out" if is_preview else "Took out"
    lines = [f"{verb} {told['transactions']} transactions of {run['fileName']} and {told['allocations']} allocations."]
    lines += [f"  {kept['allocationId']} stays: {kept['reason']}" for kept in told["kept"]]
    return [*lines, "Nothing was changed."] if is_preview else lines


def _into_new_asset_account(
    arguments: argparse.Namespace, context: Context, values: Json, file: "ReceivedFile"
) -> Json:
    """The import into an account with assets that is made before. Raises `CommandError` without its portfolio."""
    from gatewayd.areas.assets import AREA

    if arguments.portfolio is None:
        raise CommandError("a new account is of a portfolio: give --portfolio")
    account = {
        "name": arguments.new_account,
        "type": "brokerage",
        "currency": arguments.currency,
        "portfolioId": arguments.portfolio,
        "taxWrapper": arguments.wrapper,
    }
    made = run_operation(context, operation_of(AREA, "assets.createAccount"), arguments.org, account)
    note(f"made the account {made['id']}")
    command = ("assets.importTransactions", {"accountId": made["id"], **values})
    return perform(context, arguments.org, command, file)
