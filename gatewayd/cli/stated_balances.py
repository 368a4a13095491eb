"""`gatewayd bank-account balance`: what an account held at the end of a day, beside what its lines make of it."""

import argparse
from decimal import Decimal

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import civil_date


def add_to(group: Subparsers) -> None:
    """Add the command to those of bank accounts."""
    summary = "state what an account held at the end of a day, as a statement's foot does"
    command = add_command(group, "balance", summary, state, json=True)
    command.add_argument("account", metavar="ACCOUNT")
    command.add_argument("balance", metavar="BALANCE", help="in the account's currency, below 0 if it is overdrawn")
    command.add_argument("--date", required=True, metavar="D", type=civil_date, help="YYYY-MM-DD, up to today")
    command.add_argument("--note", metavar="T", help="where it stands, for people")


def state(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA
    from gatewayd.areas.banking.accounts.rows import ACCOUNTS

    org_id = context.read(lambda tx: ACCOUNTS.organization_of(tx, arguments.account))
    values = {
        "accountId": arguments.account,
        "date": arguments.date,
        "balance": arguments.balance,
        "note": arguments.note,
    }
    made = run_operation(context, operation_of(AREA, "banking.stateBalance"), org_id, values)
    check = made["check"]
    if check is None:
        counted = "no other balance is known to count from"
    elif not Decimal(check["difference"]):
        counted = "its lines come to the same"
    else:
        counted = f"its lines come to {check['countedBalance']}, which is {check['difference']} off"
    print_result(arguments, made, [f"{made['balance']} {made['currency']} on {made['date']}; {counted}: {made['id']}"])
    return 0
