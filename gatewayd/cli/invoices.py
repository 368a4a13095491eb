"""`gatewayd invoice`: what happens to invoices after they were made."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_document, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import civil_date

if TYPE_CHECKING:
    from gatewayd.store import ReadTx, WriteTx

Json = dict[str, Any]
STATUSES = ("draft", "issued", "sent", "part_paid", "paid", "void", "overdue")
KINDS = ("invoice", "credit_note")
LIST_MAX = 100  # one page of the API
LIST_DEFAULT = 50


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of invoices."""
    group = add_group(subparsers, "invoice", "invoices and credit notes")
    command = _add(group, "issue", "issue a draft and give it its number", issue)
    add_override(command)
    command.add_argument("--fx-rate", metavar="R", help="units of the seller's currency for one of the invoice's")
    _add(group, "send", "record that an issued invoice went out", send)
    command = _add(group, "void", "void an invoice that was issued by mistake", void)
    add_override(command)
    command.add_argument("--reason", required=True)
    command = _add(group, "pay", "record money received", pay)
    add_override(command)
    command.add_argument("--amount", metavar="A", help="a decimal such as 1234.50; all that is due by default")
    command.add_argument("--date", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command.add_argument("--method", metavar="M", help="such as bank_transfer")
    command.add_argument("--reference", metavar="R")
    command.add_argument("--bank-transaction", metavar="ID", help="the bank transaction that it is a part of")
    command.add_argument("--charges", metavar="A", help="what a payment provider kept of the amount")
    command.add_argument("--fx-rate", metavar="R", help="units of the seller's currency for one of the invoice's")
    summary = "give a foreign invoice that was issued without one its rate of exchange"
    command = _add(group, "rate", summary, rate)
    add_override(command)
    command.add_argument("--fx-rate", metavar="R", help="by default the one that is known of its supply date")
    command = _add(group, "unpay", "take back a payment that bounced or was matched wrongly", unpay)
    add_override(command)
    command.add_argument("--payment", required=True, type=whole_number(1, 10**6), metavar="N", help="1 is the first")
    _add(group, "delete", "delete a draft", delete)
    _add(group, "show", "show one invoice", show)
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


def issue(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    warnings: list[str] = []

    def work(tx: "WriteTx") -> None:
        issued = moves.issue(tx, arguments.id, arguments.fx_rate)
        warnings[:] = [warning.message for warning in moves.warnings(issued)]

    status = _move(arguments, context, work)
    for message in warnings:
        note(message)
    return status


def send(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    return _move(arguments, context, lambda tx: moves.mark_sent(tx, arguments.id))


def void(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    return _move(arguments, context, lambda tx: moves.void(tx, arguments.id, arguments.reason))


def pay(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    given = (arguments.amount, arguments.date, arguments.method, arguments.reference)
    payment = moves.Payment(*given, arguments.bank_transaction, arguments.charges, arguments.fx_rate)
    return _move(arguments, context, lambda tx: moves.pay(tx, arguments.id, payment))


def rate(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    return _move(arguments, context, lambda tx: moves.set_rate(tx, arguments.id, arguments.fx_rate))


def unpay(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    return _move(arguments, context, lambda tx: moves.unpay(tx, arguments.id, arguments.payment))


def delete(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.invoices import moves

    context.write(lambda tx: moves.delete_draft(tx, arguments.id), _org_id(arguments, context))
    print_result(arguments, {"id": arguments.id}, [f"Deleted the draft {arguments.id}."])
    return 0


def show(arguments: argparse.Namespace, context: Context) -> int:
    invoice = context.read(lambda tx: _read(tx, arguments.id), _org_id(arguments, context))
    print_document(invoice)
    return 0


def list_invoices(arguments: argparse.Namespace, context: Context) -> int:
    import msgspec

    from gatewayd.areas.accounting.invoices import pages
    from gatewayd.areas.accounting.invoices.shapes import ListInvoices
    from gatewayd.identity import organizations

    def work(tx: "ReadTx") -> list[Json]:
        organizations.get(tx, arguments.org)
        items: list[Json] = []
        cursor = None
        while True:  # a page may hold fewer
            left = arguments.limit - len(items)
            request = ListInvoices(limit=left, status=arguments.status, summary_only=True, cursor=cursor)
            page = pages.page(tx, request)
            items += msgspec.json.decode(page.data, type=list[Json])
            cursor = page.next_cursor
            if cursor is None or len(items) == arguments.limit:
                return items

    found = context.read(work, arguments.org)
    columns = ("id", "number", "status", "issued", "due", "gross", "balance", "currency")
    print_list(arguments, found, columns, [_cells(invoice) for invoice in found])
    return 0


def numbering(arguments: argparse.Namespace, context: Context) -> int:
    """Nothing is set where neither pattern nor next number is given."""
    from gatewayd.areas.accounting import AREA

    changes = {"pattern": arguments.pattern, "nextCount": arguments.next}
    values = {"legalEntityId": arguments.entity, "kind": arguments.kind, **changes}
    sets = any(value is not None for value in changes.values())
    operation = operation_of(AREA, "accounting.setNumbering" if sets else "accounting.getNumbering")
    found = run_operation(context, operation, arguments.org, values)
    print_result(arguments, found, [f"{found['nextNumber']} is next, by the pattern {found['pattern']}."])
    return 0


def _add(
    group: Subparsers, name: str, summary: str, run: Callable[[argparse.Namespace, Context], int]
) -> argparse.ArgumentParser:
    command = add_command(group, name, summary, run, json=True)
    command.add_argument("id", metavar="ID")
    return command


def _move(arguments: argparse.Namespace, context: Context, work: "Callable[[WriteTx], object]") -> int:
    """Make one move and print the invoice as it then is."""

    def move(tx: "WriteTx") -> Json:
        tx.overrides = context.overrides
        work(tx)
        return _read(tx, arguments.id)

    invoice = context.write(move, _org_id(arguments, context))
    due = f"{invoice['currency']} {invoice['balanceDue']} is due on it"
    print_result(arguments, invoice, [f"{invoice['number'] or invoice['id']} is {invoice['status']}; {due}."])
    return 0


def _org_id(arguments: argparse.Namespace, context: Context) -> str:
    from gatewayd.areas.accounting.invoices.rows import INVOICES

    return context.read(lambda tx: INVOICES.organization_of(tx, arguments.id))


def _read(tx: "ReadTx", invoice_id: str) -> Json:
    import msgspec

    from gatewayd.areas.accounting.invoices import rows

    return msgspec.json.decode(rows.wire_of(tx, invoice_id), type=Json)


def _cells(invoice: Json) -> tuple[str, ...]:
    status = "overdue" if invoice["isOverdue"] else invoice["status"]
    names = ("issueDate", "dueDate", "grossTotal", "balanceDue", "currency")
    return (invoice["id"], invoice["number"] or "", status, *(invoice[name] for name in names))
