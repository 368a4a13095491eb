"""`gatewayd asset`: portfolios and their accounts, and what is held in them."""

import argparse
from pathlib import Path
from typing import Any

from gatewayd.cli.books import asset_transactions
from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.listing import PAGE, ListColumns, ListRequest, cells, print_found
from gatewayd.cli.output import note, print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, whole_number
from gatewayd.cli.run_operation import operation_of, run_for_file, run_operation, walk
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
LIST_MAX = 10_000
METHODS = ("section_104", "average_cost", "fifo")
TYPES = ("brokerage", "savings", "cash", "pension", "crypto", "property", "other")
WRAPPERS = (
    *("none", "isa", "lisa", "jisa", "ifisa", "sipp", "ssas", "workplace_pension", "offshore_bond", "onshore_bond"),
    *("vct", "eis", "seis", "premium_bonds", "other"),
)


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of assets."""
    group = add_group(subparsers, "asset", "portfolios, their accounts, and what is held in them")
    _add_portfolios(group)
    _add_accounts(group)
    asset_transactions.add_commands(group)
    command = add_command(group, "positions", "list what is held, and what it cost", positions, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    of = command.add_mutually_exclusive_group(required=True)
    of.add_argument("--portfolio", metavar="ID")
    of.add_argument("--account", metavar="ID")
    of.add_argument("--entity", metavar="ID", help="all that a legal entity holds")
    command.add_argument("--date", metavar="D", type=civil_date, help="as of then; YYYY-MM-DD, today by default")
    command.add_argument("--method", choices=METHODS, help="of the cost; by default the portfolio's")
    command.add_argument("--closed", action="store_true", help="with what is held no more")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=500, metavar="N")

    command = add_command(group, "gains", "add up the capital gains of a tax year", gains, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--entity", required=True, metavar="ID", help="the person whose gains they are")
    command.add_argument("--tax-year", required=True, metavar="Y", help="such as 2026-27")
    command.add_argument("--csv", metavar="FILE", type=Path, help="write each disposal into a new file")


def _add_portfolios(group: Subparsers) -> None:
    group = add_group(group, "portfolio", "accounts that are looked at together")
    command = add_command(group, "create", "make a portfolio of a legal entity", create_portfolio, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--entity", required=True, metavar="ID", help="the legal entity that owns what is in it")
    command.add_argument("--name", required=True)
    command.add_argument("--currency", metavar="C", help="in which it is counted; GBP by default")
    command.add_argument("--method", choices=METHODS, help="by default section_104 for a person, else average_cost")
    command.add_argument("--external-id", metavar="ID", help="your own identifier")
    command = add_command(group, "list", "list portfolios, newest first", list_portfolios, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--entity", metavar="ID", help="of one legal entity")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")


def _add_accounts(group: Subparsers) -> None:
    group = add_group(group, "account", "accounts with brokers, platforms and pension providers, and wallets")
    command = add_command(group, "create", "make an account of a portfolio", create_account, json=True)
    command.add_argument("portfolio", metavar="PORTFOLIO")
    command.add_argument("--name", required=True)
    command.add_argument("--type", choices=TYPES, default="brokerage")
    command.add_argument("--wrapper", choices=WRAPPERS, default="none", help="what keeps tax away from it")
    command.add_argument("--currency", metavar="C", default="GBP")
    command.add_argument("--institution", metavar="NAME", help="who keeps it")
    command.add_argument("--number", metavar="N", help="its number there")
    command.add_argument("--allow-short", action="store_true", help="more may be sold than is held")
    command.add_argument("--external-id", metavar="ID", help="your own identifier")
    command = add_command(group, "list", "list accounts, newest first", list_accounts, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--portfolio", metavar="ID", help="of one portfolio")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=50, metavar="N")


def create_portfolio(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA

    values = {
        "legalEntityId": arguments.entity,
        "name": arguments.name,
        "baseCurrency": arguments.currency,
        "costBasisMethod": arguments.method,
        "externalId": arguments.external_id,
    }
    made = run_operation(context, operation_of(AREA, "assets.createPortfolio"), arguments.org, values)
    print_result(arguments, made, [f"Made the portfolio {made['name']}, in {made['baseCurrency']}: {made['id']}"])
    return 0


def list_portfolios(arguments: argparse.Namespace, context: Context) -> int:
    names = ("id", "name", "baseCurrency", "costBasisMethod", "status")
    columns = ("id", "name", "currency", "method", "status")
    _list(arguments, context, ("assets.listPortfolios", {"legalEntityId": arguments.entity}), (columns, names))
    return 0


def create_account(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA
    from gatewayd.areas.assets.books.portfolios import PORTFOLIOS

    org_id = context.read(lambda tx: PORTFOLIOS.organization_of(tx, arguments.portfolio))
    values = {
        "portfolioId": arguments.portfolio,
        "name": arguments.name,
        "type": arguments.type,
        "taxWrapper": arguments.wrapper,
        "currency": arguments.currency,
        "institutionName": arguments.institution,
        "accountNumber": arguments.number,
        "allowShort": arguments.allow_short,
        "externalId": arguments.external_id,
    }
    made = run_operation(context, operation_of(AREA, "assets.createAccount"), org_id, values)
    print_result(arguments, made, [f"Made the account {made['name']}, in {made['currency']}: {made['id']}"])
    return 0


def list_accounts(arguments: argparse.Namespace, context: Context) -> int:
    names = ("id", "name", "type", "taxWrapper", "currency", "status")
    columns = ("id", "name", "type", "wrapper", "currency", "status")
    _list(arguments, context, ("assets.listAccounts", {"portfolioId": arguments.portfolio}), (columns, names))
    return 0


def positions(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA

    values = {
        "portfolioId": arguments.portfolio,
        "accountId": arguments.account,
        "legalEntityId": arguments.entity,
        "asOfDate": arguments.date,
        "method": arguments.method,
        "includeClosed": arguments.closed,
    }
    wanted = (min(PAGE, arguments.limit), arguments.limit)
    positions = walk(context, arguments.org, operation_of(AREA, "assets.listPositions"), values, wanted)
    columns = ("instrument", "name", "account", "quantity", "cost", "value", "gain", "currency")
    names = ("accountId", "quantity", "costBasisBase", "marketValueBase", "unrealisedGain", "baseCurrency")
    shown = [(row["instrumentId"], row["instrument"]["name"], *cells(row, names)) for row in positions]
    print_list(arguments, positions, columns, shown)
    return 0


def gains(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.assets import AREA

    values = {"legalEntityId": arguments.entity, "taxYear": arguments.tax_year}
    summary = run_operation(context, operation_of(AREA, "assets.capitalGains"), arguments.org, values)
    if arguments.csv is not None:
        export = operation_of(AREA, "assets.exportCapitalGains")
        _write_new(arguments.csv, run_for_file(context, export, arguments.org, values).content)
    for warning in summary["warnings"]:
        note(warning["message"])
    totals = summary["chargeable"]
    currency = summary["currency"]
    lines = [
        f"{summary['taxYear']}: {totals['disposals']} disposals for {totals['proceeds']} {currency}, which had cost"
        f" {totals['costs']}.",
        f"Gains {totals['gains']}, losses {totals['losses']}, together {totals['net']} {currency}.",
    ]
    if summary["exemptAmount"] is not None:
        above = summary["aboveExemptAmount"]
        lines.append(f"The exempt amount is {summary['exemptAmount']}; above it: {above} {currency}.")
    losses = summary["losses"]
    if summary["taxable"] is not None and losses["broughtForward"] != "0.00":
        lines.append(f"Losses brought forward {losses['broughtForward']}, used {losses['used']} {currency}.")
        lines.append(f"Taxable: {summary['taxable']} {currency}.")
    print_result(arguments, summary, lines)
    return 0


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet."""
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from None


def _list(arguments: argparse.Namespace, context: Context, request: ListRequest, columns: ListColumns) -> None:
    from gatewayd.areas.assets import AREA

    print_found(arguments, context, AREA, (request, columns))
