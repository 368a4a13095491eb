"""`gatewayd statement`: what clients owe."""

import argparse
from typing import Any

from gatewayd.cli.books.accounting_operations import accounting_operation
from gatewayd.cli.books.ages import add_filters, filters_of, tell_ages
from gatewayd.cli.books.sending import add_mail, mail_of, told_of
from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import run_operation
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
KINDS = ("activity", "outstanding")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of what clients owe."""
    group = add_group(subparsers, "statement", "what clients owe: statements of account and aged debtors")
    command = add_command(group, "show", "show a client's statement of account", show, json=True)
    _add_account(command, "--from", "--to")
    command = add_command(group, "send", "mail a client its statement of account, with its PDF", send, json=True)
    _add_account(command, "--from-date", "--to-date")  # `--to` is of addresses, as in each command that mails
    add_mail(command)
    add_filters(add_command(group, "aged", "list who owes what, by how long it is due", aged, json=True))


def _add_account(command: argparse.ArgumentParser, first: str, last: str) -> None:
    command.add_argument("client", metavar="CLIENT")
    command.add_argument(
        "--kind", choices=KINDS, default="activity", help="what happened, or the invoices that are open"
    )
    command.add_argument(
        first, dest="first", metavar="D", type=civil_date, help="YYYY-MM-DD, the month before by default"
    )
    command.add_argument(last, dest="last", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command.add_argument("--currency", metavar="C", help="the account in this currency alone")
    command.add_argument("--entity", metavar="ID", help="the account with this legal entity alone")


def show(arguments: argparse.Namespace, context: Context) -> int:
    answer = _perform(context, _org_id(arguments, context), "accounting.getStatement", _account_of(arguments))
    if arguments.json:
        print_document(answer)
        return 0
    columns = ("currency", "date", "what", "number", "amount", "balance")
    print_list(arguments, [], columns, [row for account in answer["currencies"] for row in _rows(account)])
    return 0


def send(arguments: argparse.Namespace, context: Context) -> int:
    values = _account_of(arguments) | mail_of(arguments)
    sent = _perform(context, _org_id(arguments, context), "accounting.sendStatement", values)
    for warning in sent["warnings"]:
        note(warning["message"])
    print_result(arguments, sent, told_of(sent["mails"]))
    return 0


def aged(arguments: argparse.Namespace, context: Context) -> int:
    answer = _perform(context, arguments.org, "accounting.agedDebtors", filters_of(arguments))
    return tell_ages(arguments, answer, ("client", "clients", "clientName"))


def _org_id(arguments: argparse.Namespace, context: Context) -> str:
    from gatewayd.areas.accounting.clients.rows import CLIENTS

    return context.read(lambda tx: CLIENTS.organization_of(tx, arguments.client))


def _account_of(arguments: argparse.Namespace) -> Json:
    values = {"clientId": arguments.client, "kind": arguments.kind, "currency": arguments.currency}
    return values | {"fromDate": arguments.first, "toDate": arguments.last, "legalEntityId": arguments.entity}


def _perform(context: Context, org_id: str, operation_id: str, values: Json) -> Json:
    return run_operation(context, accounting_operation(context, operation_id), org_id, values)


def _rows(account: Json) -> list[tuple[str, ...]]:
    currency = account["currency"]
    opening = (currency, "", "balance before", "", "", account["openingBalance"])
    lines = [
        (currency, line["date"], line["kind"].replace("_", " "), line["number"] or "", line["amount"], line["balance"])
        for line in account["lines"]
    ]
    return [opening, *lines]
