"""`gatewayd quote`: what is offered to clients, and what becomes of it."""

import argparse
from typing import Any

from gatewayd.cli.books.accounting_operations import accounting_operation, add_command_of_one
from gatewayd.cli.books.sending import add_letter, letter_of, tell_sending
from gatewayd.cli.context import Context
from gatewayd.cli.output import print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import run_operation, walk
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
STATUSES = ("draft", "sent", "accepted", "declined", "expired", "invoiced")
LIST_MAX = 100  # one page of the API
LIST_DEFAULT = 50


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of quotes."""
    group = add_group(subparsers, "quote", "quotes to clients")
    command = add_command(group, "list", "list the quotes of an organization, newest first", list_quotes, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--status", choices=STATUSES)
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=LIST_DEFAULT, metavar="N")
    add_command_of_one(group, "show", "show one quote", show)
    add_command_of_one(group, "issue", "issue a draft and give it its number", issue)
    command = add_command_of_one(
        group, "send", "mail a quote to its client, with its PDF and a link to accept it", send
    )
    add_letter(command)
    command = add_command_of_one(group, "accept", "record that the client accepted", accept)
    command.add_argument("--date", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command = add_command_of_one(group, "decline", "record that the client declined", decline)
    command.add_argument("--reason")
    command = add_command_of_one(
        group, "invoice", "make an invoice of an accepted quote: all of it, a part, or the rest", invoice
    )
    command.add_argument("--percent", metavar="P", help="of the whole, such as 30 for a deposit")
    command.add_argument("--amount", metavar="A", help="a decimal such as 500.00, VAT included")
    command.add_argument("--issue", action="store_true", help="issue it at once; a draft otherwise")
    add_command_of_one(group, "delete", "delete a draft", delete)


def list_quotes(arguments: argparse.Namespace, context: Context) -> int:
    operation = accounting_operation(context, "accounting.listQuotes")
    quotes = walk(context, arguments.org, operation, {"status": arguments.status}, (arguments.limit, arguments.limit))
    names = ("id", "number", "status", "issueDate", "validUntil", "grossTotal", "invoicedTotal", "currency")
    columns = ("id", "number", "status", "issued", "holds until", "gross", "invoiced", "currency")
    print_list(arguments, quotes, columns, [tuple(quote[name] or "" for name in names) for quote in quotes])
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    print_document(_perform(arguments, context, "getQuote"))
    return 0


def issue(arguments: argparse.Namespace, context: Context) -> int:
    return _tell(arguments, _perform(arguments, context, "issueQuote"))


def send(arguments: argparse.Namespace, context: Context) -> int:
    return tell_sending(arguments, _perform(arguments, context, "sendQuote", **letter_of(arguments)))


def accept(arguments: argparse.Namespace, context: Context) -> int:
    return _tell(arguments, _perform(arguments, context, "acceptQuote", acceptedDate=arguments.date))


def decline(arguments: argparse.Namespace, context: Context) -> int:
    return _tell(arguments, _perform(arguments, context, "declineQuote", declineReason=arguments.reason))


def invoice(arguments: argparse.Namespace, context: Context) -> int:
    values = {"percent": arguments.percent, "amount": arguments.amount}
    made = _perform(arguments, context, "invoiceQuote", status="issued" if arguments.issue else "draft", **values)
    named = f"{made['number'] or made['id']} is {made['status']}"
    print_result(arguments, made, [f"{named}, of {made['currency']} {made['grossTotal']}."])
    return 0


def delete(arguments: argparse.Namespace, context: Context) -> int:
    _perform(arguments, context, "deleteQuote")
    print_result(arguments, {"id": arguments.id}, [f"Deleted the draft {arguments.id}."])
    return 0


def _perform(arguments: argparse.Namespace, context: Context, name: str, **values: object) -> Json:
    from gatewayd.areas.accounting.quotes.rows import QUOTES

    org_id = context.read(lambda tx: QUOTES.organization_of(tx, arguments.id))
    operation = accounting_operation(context, f"accounting.{name}")
    return run_operation(context, operation, org_id, {"quoteId": arguments.id, **values})


def _tell(arguments: argparse.Namespace, quote: Json) -> int:
    told = f"{quote['number'] or quote['id']} is {quote['status']}; it holds until {quote['validUntil']}."
    print_result(arguments, quote, [told])
    return 0
