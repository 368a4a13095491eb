"""`gatewayd entity`, `bank-account` and `billing-client`: the ids that other commands ask for.

And what is said of them: a person's tax years, and what an account held at the end of a day.
"""

import argparse
from decimal import Decimal

from gatewayd.cli.context import Context
from gatewayd.cli.listing import LIST_MAX, PAGE, Listed, add_list, cells
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk
from gatewayd.cli.time_arguments import civil_date

RESIDENCES = ("resident", "not_resident", "split")
_EXEMPT = {"yes": True, "no": False}
_COLUMNS = ("tax year", "income", "tax", "deducted", "exempt", "residence")
_NAMES = ("taxYear", "qualifyingIncome", "taxAssessed", "taxDeducted", "isExempt", "residence")
_ENTITIES = Listed(
    "legal_entities",
    "legalEntity.getLegalEntities",
    [("id", "id"), ("name", "name"), ("type", "type"), ("status", "status")],
    archived=True,
)
_ACCOUNTS = Listed(
    "banking",
    "banking.listAccounts",
    [("id", "id"), ("name", "name"), ("type", "type"), ("currency", "currency"), ("status", "status")],
)
_TRANSACTIONS = Listed(
    "banking",
    "banking.getTransactions",
    [
        ("id", "id"),
        ("date", "date"),
        ("amount", "amount"),
        ("currency", "currency"),
        ("not allocated", "unallocatedAmount"),
        ("description", "description"),
    ],
)
_CLIENTS = Listed(
    "accounting",
    "accounting.listClients",
    [("id", "id"), ("name", "name"), ("email", "email"), ("currency", "currency"), ("status", "status")],
    archived=True,
)


def _add_tax_years(group: Subparsers) -> None:
    """Add the commands to those of legal entities."""
    summary = "say what a person's tax year came to; what is not given stays"
    command = add_command(group, "tax-year", summary, set_year, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("tax_year", metavar="YEAR", help="such as 2026-27")
    help_ = "from self-employment and property, before expenses"
    command.add_argument("--qualifying-income", metavar="AMOUNT", help=help_)
    command.add_argument("--tax-assessed", metavar="AMOUNT", help="Income Tax and class 4 contributions")
    command.add_argument("--tax-deducted", metavar="AMOUNT", help="what of it was deducted at source")
    command.add_argument("--exempt", choices=tuple(_EXEMPT), help="by HMRC from quarterly updates in this year")
    command.add_argument("--residence", choices=RESIDENCES, help="in the United Kingdom; split has a part abroad")
    command = add_command(group, "tax-years", "list what is known of a person's tax years", list_years, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=PAGE, metavar="N")


def set_year(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.legal_entities import AREA

    values = {
        "id": arguments.id,
        "taxYear": arguments.tax_year,
        "qualifyingIncome": arguments.qualifying_income,
        "taxAssessed": arguments.tax_assessed,
        "taxDeducted": arguments.tax_deducted,
        "isExempt": _EXEMPT.get(arguments.exempt),
        "residence": arguments.residence,
    }
    org_id = _organization(arguments, context)
    made = run_operation(context, operation_of(AREA, "legalEntity.setTaxYear"), org_id, values)
    known = [f"{name} {made[member]}" for name, member in zip(_COLUMNS, _NAMES, strict=True) if made[member]]
    print_result(arguments, made, ["; ".join(known)])
    return 0


def list_years(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.legal_entities import AREA

    operation, values = operation_of(AREA, "legalEntity.listTaxYears"), {"id": arguments.id}
    org_id, size = _organization(arguments, context), (min(PAGE, arguments.limit), arguments.limit)
    years = walk(context, org_id, operation, values, size)
    rows = [cells({**year, "isExempt": "yes" if year["isExempt"] else None}, _NAMES) for year in years]
    print_list(arguments, years, _COLUMNS, rows)
    return 0


def _organization(arguments: argparse.Namespace, context: Context) -> str:
    from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES

    return context.read(lambda tx: LEGAL_ENTITIES.organization_of(tx, arguments.id))


def _add_balance(group: Subparsers) -> None:
    """Add the command to those of bank accounts."""
    summary = "state what an account held at the end of a day, as a statement's foot does"
    command = add_command(group, "balance", summary, state_balance, json=True)
    command.add_argument("account", metavar="ACCOUNT")
    command.add_argument("balance", metavar="BALANCE", help="in the account's currency, below 0 if it is overdrawn")
    command.add_argument("--date", required=True, metavar="D", type=civil_date, help="YYYY-MM-DD, up to today")
    command.add_argument("--note", metavar="T", help="where it stands, for people")


def state_balance(arguments: argparse.Namespace, context: Context) -> int:
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


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = add_group(subparsers, "entity", "who is taxed: people, companies, partnerships")
    add_list(group, "list legal entities, newest first", _ENTITIES)
    _add_tax_years(group)
    group = add_group(subparsers, "bank-account", "bank accounts and their lines")
    add_list(group, "list bank accounts, newest first", _ACCOUNTS)
    command = add_list(group, "list the lines of an account, newest first", _TRANSACTIONS, "transactions")
    command.add_argument("account", metavar="ACCOUNT")
    _add_balance(group)
    group = add_group(subparsers, "billing-client", "whom an organization invoices; gatewayd client is of OAuth")
    add_list(group, "list billing clients, newest first", _CLIENTS)
