"""`gatewayd business`: which there are, what one made, and what another choice would make of it."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from gatewayd.cli.context import Context
from gatewayd.cli.listing import Listed, add_list
from gatewayd.cli.output import note, print_document, print_list
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
BASES = ("cash", "accruals")
GROUPS = ("total", "month", "quarter")
COMPARED = ("none", "previous_period", "previous_year")
QUARTERLY = ("standard", "calendar")
SCHEMES = ("standard", "flat_rate")
_BUSINESSES = Listed(
    "businesses",
    "businesses.list",
    [("id", "id"), ("name", "name"), ("type", "type"), ("entity", "legalEntityId"), ("status", "status")],
    archived=True,
)
TOTALS = ("income", "expenses", "disallowable", "netProfit", "taxableProfit")


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of businesses."""
    group = add_group(subparsers, "business", "businesses, and what they made")
    add_list(group, "list businesses, newest first", _BUSINESSES)
    command = add_command(group, "pnl", "the profit and loss account of a business", pnl, json=True)
    _add_days(command)
    command.add_argument("--compare", choices=COMPARED, help="also the days before")
    command = add_command(group, "what-if", "what another choice would make of the same books", what_if, json=True)
    _add_days(command)
    command.add_argument("--quarterly-period-type", choices=QUARTERLY)
    command.add_argument("--owner-share", metavar="PERCENT", help="of property")
    command.add_argument("--vat-scheme", choices=SCHEMES)
    command.add_argument("--flat-rate", metavar="PERCENT")
    command.add_argument("--flat-rate-category", metavar="C", help="001 to 055")


def pnl(arguments: argparse.Namespace, context: Context) -> int:
    statement = _ask(
        arguments, context, "businesses.businessPnl", {**_report_values(arguments), "compare": arguments.compare}
    )
    if arguments.json:
        print_document(statement)
        return 0
    shown = [statement, *statement["buckets"], *filter(None, [statement["previous"]])]
    headings = [f"{column['fromDate']} to {column['toDate']}" for column in shown]
    print_list(arguments, shown, ("line", *headings), list(_rows(shown)))
    left = statement["unallocated"]
    if left["count"]:
        note(f"{left['count']} bank transactions are not allocated: {left['amount']} {statement['currency']}")
    _warn(statement["warnings"])
    return 0


def what_if(arguments: argparse.Namespace, context: Context) -> int:
    values = {
        **_report_values(arguments),
        "quarterlyPeriodType": arguments.quarterly_period_type,
        "ownerSharePercent": arguments.owner_share,
        "vatScheme": arguments.vat_scheme,
        "flatRatePercent": arguments.flat_rate,
        "flatRateCategory": arguments.flat_rate_category,
    }
    answer = _ask(arguments, context, "businesses.whatIf", values)
    if arguments.json:
        print_document(answer)
        return 0
    rows = [(*row, answer["difference"].get(row[0], "")) for row in _rows([answer["actual"], answer["whatIf"]])]
    print_list(arguments, rows, ("line", "as it is", "what if", "difference"), rows)
    _warn([*answer["whatIf"]["warnings"]])
    return 0


def _add_days(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", metavar="ID")
    command.add_argument("--tax-year", metavar="YEAR", help="such as 2026-27")
    command.add_argument("--period", metavar="ID", help="of the business, or of its legal entity")
    command.add_argument("--from", dest="from_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD")
    command.add_argument("--to", dest="to_date", metavar="DATE", type=civil_date, help="YYYY-MM-DD, inclusive")
    command.add_argument("--basis", choices=BASES, help="by default the business's own")
    command.add_argument("--group-by", choices=GROUPS)


def _report_values(arguments: argparse.Namespace) -> Json:
    return {
        "id": arguments.id,
        "taxYear": arguments.tax_year,
        "periodId": arguments.period,
        "fromDate": arguments.from_date,
        "toDate": arguments.to_date,
        "basis": arguments.basis,
        "groupBy": arguments.group_by,
    }


def _ask(arguments: argparse.Namespace, context: Context, operation_id: str, values: Json) -> Json:
    from gatewayd.areas.businesses import AREA
    from gatewayd.areas.businesses.rows import BUSINESSES

    org_id = context.read(lambda tx: BUSINESSES.organization_of(tx, arguments.id))
    return run_operation(context, operation_of(AREA, operation_id), org_id, values)


def _rows(statements: list[Json]) -> Iterator[tuple[str, ...]]:
    """The lines of statements side by side, then the sums; what is in one alone is empty in the others."""
    for section in ("income", "expenses", "memoranda"):
        columns = [{line["category"]: line["amount"] for line in statement[section]} for statement in statements]
        for name in dict.fromkeys(name for column in columns for name in column):
            yield (name, *(column.get(name, "") for column in columns))
    for name in TOTALS:
        yield (name, *(statement["totals"][name] for statement in statements))


def _warn(warnings: Iterable[Json]) -> None:
    for warning in warnings:
        note(warning["message"])
