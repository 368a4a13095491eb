"""`gatewayd invoice`: what happens to invoices after they were made."""

import argparse
from typing import Any

from gatewayd.cli.books.accounting_operations import accounting_operation, add_command_of_one
from gatewayd.cli.books.recurring import add_recurring
from gatewayd.cli.books.sending import add_letter, letter_of, tell_sending
from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
STATUSES = ("draft", "issued", "sent", "part_paid", "paid", "void", "overdue")
KINDS = ("invoice", "credit_note")
LIST_MAX = 100  # one page of the API
LIST_DEFAULT = 50


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of invoices."""
    group = add_group(subparsers, "invoice", "invoices and credit notes")
    command = add_command_of_one(group, "issue", "issue a draft and give it its number", issue)
    add_override(command)
    command.add_argument("--fx-rate", metavar="R", help="units of the seller's currency for one of the invoice's")
    command = add_command_of_one(group, "send", "mail an invoice to its client, with its PDF and a link", send)
    add_override(command)
    add_letter(command)
    add_command_of_one(group, "mark-sent", "record that an issued invoice went out another way", mark_sent)
    add_command_of_one(group, "sendings", "show to whom an invoice was mailed, and what became of it", sendings)
    command = add_command_of_one(group, "link", "print the link under which the client sees an invoice", link)
    command.add_argument("--replace", action="store_true", help="end the link that there is, and make another")
    command = add_command_of_one(group, "void", "void an invoice that was issued by mistake", void)
    add_override(command)
    command.add_argument("--reason", required=True)
    command = add_command_of_one(group, "pay", "record money received", pay)
    add_override(command)
    command.add_argument("--amount", metavar="A", help="a decimal such as 1234.50; all that is due by default")
    command.add_argument("--date", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command.add_argument("--method", metavar="M", help="such as bank_transfer")
    command.add_argument("--reference", metavar="R")
    command.add_argument("--bank-transaction", metavar="ID", help="the bank transaction that it is a part of")
    command.add_argument("--charges", metavar="A", help="what a payment provider kept of the amount")
    command.add_argument("--fx-rate", metavar="R", help="units of the seller's currency for one of the invoice's")
    summary = "give a foreign invoice that was issued without one its rate of exchange"
    command = add_command_of_one(group, "rate", summary, rate)
    add_override(command)
    command.add_argument("--fx-rate", metavar="R", help="by default the one that is known of its supply date")
    command = add_command_of_one(group, "unpay", "take back a payment that bounced or was matched wrongly", unpay)
    add_override(command)
    command.add_argument("--payment", required=True, type=whole_number(1, 10**6), metavar="N", help="1 is the first")
    add_command_of_one(group, "delete", "delete a draft", delete)
    add_command_of_one(group, "show", "show one invoice", show)
    command = add_command(group, "list", "list the invoices of an organization, newest first", list_invoices, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--status", action="append", choices=STATUSES, help="may be given again")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=LIST_DEFAULT, metavar="N")
    command = add_command(group, "numbering", "show the next number of a seller, or set it", numbering, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--entity", metavar="ID", help="the legal entity that sells; by default the one there is")
    command.add_argument("--kind", choices=KINDS, default="invoice")
    command.add_argument("--pattern", metavar="P", help="how numbers are written, such as 'INV-{yyyy}-{000001}'")
    command.add_argument("--next", type=whole_number(1, 10**12 - 1), metavar="N", help="what the counter says next")
    add_recurring(group)


def issue(arguments: argparse.Namespace, context: Context) -> int:
    return _move(arguments, context, "accounting.issueInvoice", fxRate=arguments.fx_rate)


def send(arguments: argparse.Namespace, context: Context) -> int:
    org_id, values = _org_id(arguments, context), letter_of(arguments)
    sent = _perform(context, org_id, "accounting.sendInvoice", invoiceId=arguments.id, **values)
    return tell_sending(arguments, sent)


def sendings(arguments: argparse.Namespace, context: Context) -> int:
    org_id = _org_id(arguments, context)
    return tell_sending(arguments, _perform(context, org_id, "accounting.getSending", paperId=arguments.id))


def link(arguments: argparse.Namespace, context: Context) -> int:
    values = {"paperId": arguments.id, "replace": arguments.replace or None}
    made = _perform(context, _org_id(arguments, context), "accounting.makeLink", **values)
    print_result(arguments, made, [made["link"]])
    return 0


def mark_sent(arguments: argparse.Namespace, context: Context) -> int:
    """What has no operation: nothing is sent, it is noted that somebody did."""
    from gatewayd.areas.accounting.invoices import moves

    org_id = _org_id(arguments, context)
    context.write(lambda tx: moves.mark_sent(tx, arguments.id), org_id)
    return _tell(arguments, _perform(context, org_id, "accounting.getInvoice", invoiceId=arguments.id))


def void(arguments: argparse.Namespace, context: Context) -> int:
    return _move(arguments, context, "accounting.voidInvoice", reason=arguments.reason)


def pay(arguments: argparse.Namespace, context: Context) -> int:
    names = ("amount", "date", "method", "reference", "charges")
    values = {name: getattr(arguments, name) for name in names}
    values |= {"bankTransactionId": arguments.bank_transaction, "fxRate": arguments.fx_rate}
    return _move(arguments, context, "accounting.recordPayment", **values)


def rate(arguments: argparse.Namespace, context: Context) -> int:
    return _move(arguments, context, "accounting.setInvoiceRate", fxRate=arguments.fx_rate)


def unpay(arguments: argparse.Namespace, context: Context) -> int:
    return _move(arguments, context, "accounting.removePayment", position=arguments.payment)


def delete(arguments: argparse.Namespace, context: Context) -> int:
    _perform(context, _org_id(arguments, context), "accounting.deleteInvoice", invoiceId=arguments.id)
    print_result(arguments, {"id": arguments.id}, [f"Deleted the draft {arguments.id}."])
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    org_id = _org_id(arguments, context)
    print_document(_perform(context, org_id, "accounting.getInvoice", invoiceId=arguments.id))
    return 0


def list_invoices(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting import AREA

    operation = operation_of(AREA, "accounting.listInvoices")
    values = {"status": arguments.status, "summaryOnly": True}
    invoices = walk(context, arguments.org, operation, values, (arguments.limit, arguments.limit))
    columns = ("id", "number", "status", "issued", "due", "gross", "balance", "currency")
    print_list(arguments, invoices, columns, [_cells(invoice) for invoice in invoices])
    return 0


def numbering(arguments: argparse.Namespace, context: Context) -> int:
    """Nothing is set where neither pattern nor next number is given."""
    from gatewayd.areas.accounting import AREA

    changes = {"pattern": arguments.pattern, "nextCount": arguments.next}
    values = {"legalEntityId": arguments.entity, "kind": arguments.kind, **changes}
    sets = any(value is not None for value in changes.values())
    operation = operation_of(AREA, "accounting.setNumbering" if sets else "accounting.getNumbering")
    answer = run_operation(context, operation, arguments.org, values)
    print_result(arguments, answer, [f"{answer['nextNumber']} is next, by the pattern {answer['pattern']}."])
    return 0


def _perform(context: Context, org_id: str, operation_id: str, **values: object) -> Json:
    return run_operation(context, accounting_operation(context, operation_id), org_id, values)


def _move(arguments: argparse.Namespace, context: Context, operation_id: str, **values: object) -> int:
    """Make one move, and print the invoice as it then is and what it lacks."""
    org_id = _org_id(arguments, context)
    return _tell(arguments, _perform(context, org_id, operation_id, invoiceId=arguments.id, **values))


def _tell(arguments: argparse.Namespace, invoice: Json) -> int:
    for warning in invoice.pop("warnings", ()):
        note(warning["message"])
    due = f"{invoice['currency']} {invoice['balanceDue']} is due on it"
    print_result(arguments, invoice, [f"{invoice['number'] or invoice['id']} is {invoice['status']}; {due}."])
    return 0


def _org_id(arguments: argparse.Namespace, context: Context) -> str:
    from gatewayd.areas.accounting.invoices.rows import INVOICES

    return context.read(lambda tx: INVOICES.organization_of(tx, arguments.id))


def _cells(invoice: Json) -> tuple[str, ...]:
    status = "overdue" if invoice["isOverdue"] else invoice["status"]
    names = ("issueDate", "dueDate", "grossTotal", "balanceDue", "currency")
    return (invoice["id"], invoice["number"] or "", status, *(invoice[name] for name in names))
