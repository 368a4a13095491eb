"""`gatewayd statement`: what clients owe."""

import argparse
from typing import Any

from gatewayd.cli.books.ages import add_filters, filters_of, tell_ages
from gatewayd.cli.context import Context
from gatewayd.cli.output import print_document, print_list
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
KINDS = ("activity", "outstanding")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of what clients owe."""
    group = add_group(subparsers, "statement", "what clients owe: statements of account and aged debtors")
    command = add_command(group, "show", "show a client's statement of account", show, json=True)
    command.add_argument("client", metavar="CLIENT")
    command.add_argument(
        "--kind", choices=KINDS, default="activity", help="what happened, or the invoices that are open"
    )
    command.add_argument(
        "--from", dest="first", metavar="D", type=civil_date, help="YYYY-MM-DD, the month before by default"
    )
    command.add_argument("--to", dest="last", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command.add_argument("--currency", metavar="C", help="the account in this currency alone")
    command.add_argument("--entity", metavar="ID", help="the account with this legal entity alone")
    command = add_command(group, "aged", "list who owes what, by how long it is due", aged, json=True)
    add_filters(command)


def show(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.clients.rows import CLIENTS

    org_id = context.read(lambda tx: CLIENTS.organization_of(tx, arguments.client))
    values = {"clientId": arguments.client, "kind": arguments.kind, "currency": arguments.currency}
    values |= {"fromDate": arguments.first, "toDate": arguments.last, "legalEntityId": arguments.entity}
    answer = _perform(context, org_id, "accounting.getStatement", values)
    if arguments.json:
        print_document(answer)
        return 0
    columns = ("currency", "date", "what", "number", "amount", "balance")
    print_list(arguments, [], columns, [row for account in answer["currencies"] for row in _rows(account)])
    return 0


def aged(arguments: argparse.Namespace, context: Context) -> int:
    answer = _perform(context, arguments.org, "accounting.agedDebtors", filters_of(arguments))
    return tell_ages(arguments, answer, ("client", "clients", "clientName"))


def _perform(context: Context, org_id: str, operation_id: str, values: Json) -> Json:
    from gatewayd.areas.accounting import AREA

    return run_operation(context, operation_of(AREA, operation_id), org_id, values)


def _rows(account: Json) -> list[tuple[str, ...]]:
    currency = account["currency"]
    opening = (currency, "", "balance before", "", "", account["openingBalance"])
    lines = [
        (currency, line["date"], line["kind"].replace("_", " "), line["number"] or "", line["amount"], line["balance"])
        for line in account["lines"]
    ]
    return [opening, *lines]
