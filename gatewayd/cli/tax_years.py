"""`gatewayd entity tax-year` and `tax-years`: what is known of a person's tax years."""

import argparse

from gatewayd.cli.context import Context
from gatewayd.cli.listing import LIST_MAX, PAGE, cells
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.run_operation import operation_of, run_operation, walk

RESIDENCES = ("resident", "not_resident", "split")
_EXEMPT = {"yes": True, "no": False}
_COLUMNS = ("tax year", "income", "tax", "deducted", "exempt", "residence")
_NAMES = ("taxYear", "qualifyingIncome", "taxAssessed", "taxDeducted", "isExempt", "residence")


def add_to(group: Subparsers) -> None:
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
    found = walk(context, org_id, operation, values, size)
    rows = [cells({**one, "isExempt": "yes" if one["isExempt"] else None}, _NAMES) for one in found]
    print_list(arguments, found, _COLUMNS, rows)
    return 0


def _organization(arguments: argparse.Namespace, context: Context) -> str:
    from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES

    return context.read(lambda tx: LEGAL_ENTITIES.organization_of(tx, arguments.id))
