"""`gatewayd bill`: what suppliers charge, entered, listed and paid."""

import argparse
from typing import Any, Final

from gatewayd.cli.books.ages import add_filters, filters_of, tell_ages
from gatewayd.cli.context import Context
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
STATUSES: Final = ("draft", "awaiting_payment", "part_paid", "paid", "void", "overdue")
_MOST: Final = 100  # one page of the API
_DEFAULT: Final = 50


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of bills."""
    group = add_group(subparsers, "bill", "bills of suppliers and expense claims")
    command = add_command(group, "add", "enter a bill of one line, or an expense claim", add, json=True)
    add_override(command)
    command.add_argument("--org", required=True, metavar="ID")
    owed = command.add_mutually_exclusive_group(required=True)
    owed.add_argument("--supplier", metavar="ID", help="the client who charges it")
    owed.add_argument("--claimant", metavar="NAME", help="who paid out of their own pocket: it is an expense claim")
    command.add_argument("--business", metavar="ID", help="whose expense it is; by default the only business")
    command.add_argument("--number", metavar="N", help="the supplier's number")
    command.add_argument("--date", required=True, metavar="D", type=civil_date, help="YYYY-MM-DD, of the bill")
    command.add_argument("--due", metavar="D", type=civil_date, help="YYYY-MM-DD, the last day to pay")
    command.add_argument("--description", required=True, metavar="TEXT", help="what was bought")
    command.add_argument("--gross", required=True, metavar="A", help="what is to be paid, VAT included")
    command.add_argument("--currency", metavar="C", help="by default that of the business")
    command.add_argument("--category", required=True, metavar="C", help="such as costOfGoods, or not_pnl")
    command.add_argument("--vat-code", metavar="C", help="such as standard; the VAT that it says is in the amount")
    command.add_argument("--allow-duplicate", action="store_true", help="although it looks like one that is entered")
    command = add_command(group, "list", "list the bills of an organization, newest first", list_bills, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--status", choices=STATUSES)
    command.add_argument("--limit", type=whole_number(1, _MOST), default=_DEFAULT, metavar="N")
    add_filters(add_command(group, "aged", "list who is owed what, by how long it is due", aged, json=True))
    command = add_command(group, "pay", "record money paid on a bill", pay, json=True)
    command.add_argument("id", metavar="ID")
    add_override(command)
    command.add_argument("--amount", metavar="A", help="a decimal such as 1234.50; all that is due by default")
    command.add_argument("--date", metavar="D", type=civil_date, help="YYYY-MM-DD, today by default")
    command.add_argument("--method", metavar="M", help="such as bank_transfer")
    command.add_argument("--reference", metavar="R")
    command.add_argument("--bank-transaction", metavar="ID", help="the bank transaction that it is a part of")


def add(arguments: argparse.Namespace, context: Context) -> int:
    line = {
        "description": arguments.description,
        "amount": arguments.gross,
        "category": arguments.category,
        "vatCode": arguments.vat_code,
    }
    values = {
        "kind": "bill" if arguments.claimant is None else "expense_claim",
        "supplierId": arguments.supplier,
        "claimant": arguments.claimant,
        "businessId": arguments.business,
        "number": arguments.number,
        "billDate": arguments.date,
        "dueDate": arguments.due,
        "currency": arguments.currency,
        "amountsAre": "inclusive",
        "lines": [{name: value for name, value in line.items() if value is not None}],
        "allowDuplicate": arguments.allow_duplicate,
    }
    return _tell(arguments, _perform(context, arguments.org, "accounting.createBill", **values))


def list_bills(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting import AREA

    operation = operation_of(AREA, "accounting.listBills")
    limits = (arguments.limit, arguments.limit)
    bills = walk(context, arguments.org, operation, {"status": arguments.status}, limits)
    columns = ("id", "kind", "number", "status", "date", "due", "gross", "balance", "currency")
    print_list(arguments, bills, columns, [_cells(bill) for bill in bills])
    return 0


def aged(arguments: argparse.Namespace, context: Context) -> int:
    answer = _perform(context, arguments.org, "accounting.agedCreditors", **filters_of(arguments))
    return tell_ages(arguments, answer, ("to", "creditors", "name"))


def pay(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.accounting.bills.rows import BILLS

    org_id = context.read(lambda tx: BILLS.organization_of(tx, arguments.id))
    values = {name: getattr(arguments, name) for name in ("amount", "date", "method", "reference")}
    values |= {"billId": arguments.id, "bankTransactionId": arguments.bank_transaction}
    return _tell(arguments, _perform(context, org_id, "accounting.recordBillPayment", **values))


def _perform(context: Context, org_id: str, operation_id: str, **values: object) -> Json:
    from gatewayd.areas.accounting import AREA

    return run_operation(context, operation_of(AREA, operation_id), org_id, values)


def _tell(arguments: argparse.Namespace, bill: Json) -> int:
    for warning in bill.pop("warnings", ()):
        note(warning["message"])
    due = f"{bill['currency']} {bill['balanceDue']} is due on it"
    print_result(arguments, bill, [f"{bill['id']} is {bill['status']}; {due}."])
    return 0


def _cells(bill: Json) -> tuple[str, ...]:
    status = "overdue" if bill["isOverdue"] else bill["status"]
    names = ("billDate", "dueDate", "grossTotal", "balanceDue", "currency")
    return (bill["id"], bill["kind"], bill["number"] or "", status, *(bill[name] for name in names))
