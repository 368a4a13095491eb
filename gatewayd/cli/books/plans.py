"""`gatewayd plan` and `gatewayd cost`: what organizations can subscribe to, and what work costs."""

import argparse
from typing import Any

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import offered_operation, operation_of, run_operation
from gatewayd.cli.time_arguments import civil_date

Json = dict[str, Any]
_OPTIONS = {
    "code": "code",
    "name": "name",
    "description": "description",
    "currency": "currency",
    "price_monthly": "priceMonthly",
    "price_yearly": "priceYearly",
    "included": "includedCredits",
    "rollover": "rollover",
    "feature": "features",
}
"""Options, and the fields that they are on the wire."""
_LIMITS = {"documents": "documents", "storage_bytes": "storageBytes", "connections": "connections"}


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of plans and costs."""
    group = add_group(subparsers, "plan", "what organizations can subscribe to")
    _add_create(group)
    command = add_command(group, "list", "list the plans of the instance", list_plans, json=True)
    command.add_argument("--org", metavar="ID", help="marks the plan that this organization has")
    command.add_argument("--retired", action="store_true", help="with those that are offered no more")
    command = add_command(group, "retire", "offer a plan no more; whoever has it keeps it", retire, json=True)
    command.add_argument("code", metavar="CODE")
    command = add_command(group, "set", "give an organization a plan, from today on", set_plan, json=True)
    command.add_argument("code", metavar="CODE", help="or none: nothing is metered")
    command.add_argument("--org", required=True, metavar="ID")
    group = add_group(subparsers, "cost", "what work costs organizations that have a plan")
    command = add_command(group, "set", "let work cost so much from a day on", set_cost, json=True)
    command.add_argument("operation", metavar="OPERATION", help="such as vault.parse")
    command.add_argument("--credits", required=True, metavar="N", help="of one unit; 0: it is free")
    command.add_argument("--unit", choices=("call", "page", "mb"), default="call")
    command.add_argument("--from", dest="from_date", metavar="DATE", type=civil_date, help="by default today")
    command.add_argument("--description", metavar="TEXT")
    command = add_command(group, "list", "list what work costs", list_costs, json=True)
    command.add_argument("--at", metavar="DATE", type=civil_date, help="by default today")


def _add_create(group: Subparsers) -> None:
    command = add_command(group, "create", "make a plan, which never changes afterwards", create, json=True)
    command.add_argument("code", metavar="CODE", help="lower case, such as studio")
    command.add_argument("--name", required=True)
    command.add_argument("--description", metavar="TEXT")
    command.add_argument("--currency", metavar="CODE", help="by default GBP")
    command.add_argument("--price-monthly", metavar="N", help="a decimal such as 12.00")
    command.add_argument("--price-yearly", metavar="N")
    command.add_argument("--included", metavar="N", help="credits that are granted each month")
    command.add_argument("--rollover", choices=("none", "full", "capped"), help="of what is left of them; or none")
    command.add_argument("--soft-limit", action="store_true", help="refuse nothing for want of credits, only count")
    command.add_argument("--feature", action="append", metavar="NAME", help="may be given again")
    command.add_argument("--documents", type=int, metavar="N", help="at most so many, the trash included")
    command.add_argument("--storage-bytes", type=int, metavar="N", help="at most so many of documents")
    command.add_argument("--connections", type=int, metavar="N", help="is told, and refuses nothing")


def create(arguments: argparse.Namespace, context: Context) -> int:
    values: Json = {field: getattr(arguments, option) for option, field in _OPTIONS.items()}
    limits = {field: getattr(arguments, option) for option, field in _LIMITS.items()}
    values |= {"limits": limits, "softLimit": arguments.soft_limit}
    made = _run(context, "billing.createPlan", None, values)
    print_result(arguments, made, [f"Made the plan {made['name']}: {made['code']}"])
    return 0


def list_plans(arguments: argparse.Namespace, context: Context) -> int:
    plans = _run(context, "billing.getPlans", arguments.org, {"includeRetired": arguments.retired})["data"]
    names = ("code", "name", "includedCredits", "rollover", "status")
    cells = [
        (*(str(plan[name]) for name in names), "yes" if plan["current"] and arguments.org else "") for plan in plans
    ]
    print_list(arguments, plans, ("code", "name", "included", "rollover", "status", "current"), cells)
    return 0


def retire(arguments: argparse.Namespace, context: Context) -> int:
    plan = _run(context, "billing.retirePlan", None, {"code": arguments.code})
    print_result(arguments, plan, [f"{plan['name']} is offered no more."])
    return 0


def set_plan(arguments: argparse.Namespace, context: Context) -> int:
    plans = _run(context, "billing.setPlan", arguments.org, {"code": arguments.code})["data"]
    current = next((plan for plan in plans if plan["current"]), None)
    said = "It has no plan: nothing is metered." if current is None else f"It has the plan {current['name']}."
    print_result(arguments, current, [said])
    return 0


def set_cost(arguments: argparse.Namespace, context: Context) -> int:
    values = {name: getattr(arguments, name) for name in ("operation", "credits", "unit", "description")}
    values["effectiveFrom"] = arguments.from_date
    cost = run_operation(context, offered_operation(context, "billing.setOperationCost"), _first(context), values)
    said = f"{cost['operation']} costs {cost['credits']} credits by {cost['unit']} from {cost['effectiveFrom']} on."
    print_result(arguments, cost, [said])
    return 0


def list_costs(arguments: argparse.Namespace, context: Context) -> int:
    operation = offered_operation(context, "billing.getOperationCosts")
    costs = run_operation(context, operation, _first(context), {"asOfDate": arguments.at})["data"]
    names = ("operation", "unit", "credits", "effectiveFrom", "effectiveTo")
    cells = [(*(str(cost[name] or "") for name in names), "yes" if cost["known"] else "no") for cost in costs]
    print_list(arguments, costs, ("operation", "unit", "credits", "from", "to", "known"), cells)
    return 0


def _run(context: Context, operation: str, org_id: str | None, values: Json) -> Json:
    """Run an operation; without an organization for the first of the instance, whose plans and costs are those of all.

    Raises `CommandError` where there is none.
    """
    from gatewayd.areas.billing import AREA

    return run_operation(context, operation_of(AREA, operation), org_id or _first(context), values)


def _first(context: Context) -> str:
    """The first organization of the instance. Raises `CommandError` where there is none."""
    from gatewayd.identity.people import organizations

    first = context.read(lambda tx: next(iter(organizations.list_all(tx)), None))
    if first is None:
        raise CommandError("there is no organization yet: `gatewayd org create` makes one")
    return first.id
