"""`gatewayd allocation`: what bank transactions are for."""

import argparse
from typing import Any

from gatewayd.cli.books import allocation_rules
from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, run_operations, walk

Json = dict[str, Any]
LIST_MAX = 10_000
_PAGE = 100
_DIRECTIONS = ("in", "out")
_PLACES = ("property", "unit", "tenancy", "mortgage")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of allocations."""
    group = add_group(subparsers, "allocation", "what bank transactions are for")
    _add_add(group)
    command = add_command(group, "list", "list allocations, latest money first", list_allocations, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--bank-transaction", metavar="ID")
    command.add_argument("--business", metavar="ID")
    command.add_argument("--category", metavar="C")
    command.add_argument("--from", dest="from_date", metavar="DATE", help="YYYY-MM-DD, of the money")
    command.add_argument("--to", dest="to_date", metavar="DATE", help="YYYY-MM-DD, inclusive")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")
    summary = "take an allocation back; both halves where it is a transfer"
    command = add_command(group, "remove", summary, remove, json=True)
    add_override(command)
    command.add_argument("id", metavar="ID")
    _add_match(group)
    allocation_rules.add_commands(group)


def _add_add(group: Subparsers) -> None:
    command = add_command(group, "add", "say what a bank transaction, or a part of it, is for", add, json=True)
    add_override(command)
    command.add_argument("bank_transaction", metavar="BANK_TRANSACTION")
    command.add_argument("--business", metavar="ID", help="by default the one that the account names")
    command.add_argument("--category", required=True, metavar="C", help="such as adminCosts, or not_pnl")
    command.add_argument("--purpose", metavar="P", help="of not_pnl, such as drawings")
    command.add_argument("--amount", metavar="A", help="a decimal such as 1234.50; all that is left by default")
    command.add_argument("--direction", choices=_DIRECTIONS, help="by default the way the money went")
    command.add_argument("--vat-code", metavar="CODE", help="such as standard, which says the VAT in it")
    command.add_argument("--vat", metavar="A", help="the VAT in it, where no code says it")
    command.add_argument("--disallowable", metavar="A", help="the part that tax doesn't allow")
    help_ = "of 2,000 or more, or their sale: VAT outside a flat rate"
    command.add_argument("--capital-goods", action="store_true", default=None, help=help_)
    for place in _PLACES:
        command.add_argument(f"--{place}", metavar="ID")
    command.add_argument("--description", metavar="D")
    command.add_argument("--external-id", metavar="ID", help="its key in another system")


def _add_match(group: Subparsers) -> None:
    summary = "show what bank transactions probably are, and allocate those that are sure enough"
    command = add_command(group, "match", summary, match, json=True)
    add_override(command)
    command.add_argument("--org", required=True, metavar="ID")
    of = command.add_mutually_exclusive_group(required=True)
    of.add_argument("--account", metavar="ID")
    of.add_argument("--bank-transaction", metavar="ID")
    help_ = "do what is proposed with this score or more, of 100"
    command.add_argument("--apply", type=whole_number(1, 100), metavar="SCORE", help=help_)
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")


def add(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA
    from gatewayd.ledger.allocating import bank_lines

    line_id = arguments.bank_transaction
    org_id = context.read(lambda tx: bank_lines.organization_of(tx, line_id))
    same = ("category", "purpose", "amount", "direction", "description")
    part = {name: getattr(arguments, name) for name in same}
    part |= {"vatCode": arguments.vat_code, "vatAmount": arguments.vat}
    part |= {"capitalGoods": arguments.capital_goods}
    part |= {"disallowableAmount": arguments.disallowable, "externalId": arguments.external_id}
    part |= {f"{name}Id": getattr(arguments, name) for name in ("business", *_PLACES)}
    part = {name: value for name, value in part.items() if value is not None}
    values = {"bankTransactionId": line_id, "parts": [part]}
    answer = run_operation(context, operation_of(AREA, "banking.allocate"), org_id, values)
    row = answer["allocations"][-1]
    left = f"{answer['currency']} {answer['unallocatedAmount']} is left"
    print_result(arguments, row, [f"Allocated {row['amount']} as {_category_text(row)}; {left}: {row['id']}"])
    return 0


def list_allocations(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA

    values = {
        "bankTransactionId": arguments.bank_transaction,
        "businessId": arguments.business,
        "category": arguments.category,
        "fromDate": arguments.from_date,
        "toDate": arguments.to_date,
    }
    operation = operation_of(AREA, "banking.listAllocations")
    allocations = walk(context, arguments.org, operation, values, (min(_PAGE, arguments.limit), arguments.limit))
    columns = ("id", "date", "direction", "amount", "currency", "category", "description")
    print_list(arguments, allocations, columns, [_cells(row) for row in allocations])
    return 0


def remove(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA
    from gatewayd.ledger.allocating.allocations import ALLOCATIONS

    org_id = context.read(lambda tx: ALLOCATIONS.organization_of(tx, arguments.id))
    operation = operation_of(AREA, "banking.removeAllocation")
    answer = run_operation(context, operation, org_id, {"allocationId": arguments.id})
    print_result(arguments, answer, [f"Took back {' and '.join(answer['removedIds'])}."])
    return 0


def match(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.cli.books import matching

    of = {"accountId": arguments.account, "bankTransactionId": arguments.bank_transaction}
    lines = run_operations(
        context, arguments.org, lambda perform: matching.matched(perform, of, arguments.limit, arguments.apply)
    )
    columns = ("id", "date", "left", "currency", "description", "score", "proposal", "done")
    print_list(arguments, lines, columns, [matching.cells(line) for line in lines])
    return 0


def _category_text(row: Json) -> str:
    return str(row["purpose"] or row["category"])


def _cells(row: Json) -> tuple[str, ...]:
    names = ("id", "date", "direction", "amount", "currency")
    return (*(str(row[name]) for name in names), _category_text(row), row["description"])
