"""`gatewayd allocation rule`: rules that say what bank transactions are for."""

import argparse
from collections.abc import Mapping
from typing import Any

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group, add_override, whole_number
from gatewayd.cli.run_operation import Perform, operation_of, run_operation, run_operations

Json = dict[str, Any]
_MODES = ("propose", "apply")
_PAGE = 100
_CONDITIONS = {
    "account": "accountId",
    "direction": "direction",
    "text": "text",
    "counterparty": "counterparty",
    "reference": "reference",
    "match_key": "matchKey",
    "min": "minAmount",
    "max": "maxAmount",
    "type": "type",
}
"""Options, and the conditions that they are on the wire."""
_OUTCOME = {
    "category": "category",
    "purpose": "purpose",
    "business": "businessId",
    "vat": "vatCode",
    "disallowable": "disallowablePercent",
    "property": "propertyId",
    "unit": "unitId",
    "tenancy": "tenancyId",
    "mortgage": "mortgageId",
}


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of rules."""
    group = add_group(subparsers, "rule", "rules that say what bank transactions are for")
    _add_add(group)
    command = add_command(group, "list", "list the rules of an organization, newest first", list_rules, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command = add_command(group, "remove", "delete a rule; what it allocated stays", remove, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(group, "learn", "make a rule of what was chosen for such lines before", learn, json=True)
    command.add_argument("bank_transaction", metavar="BANK_TRANSACTION")
    command.add_argument("--name")
    command.add_argument("--mode", choices=_MODES)
    command = add_command(group, "apply", "apply rules to what is unallocated", apply, json=True)
    add_override(command)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--account", metavar="ID")
    command.add_argument("--rule", metavar="ID", help="this one alone, whatever its mode")
    command.add_argument("--dry-run", action="store_true", help="say what would be done")


def _add_add(group: Subparsers) -> None:
    command = add_command(group, "add", "make a rule: conditions, and what follows", add, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--name", required=True)
    command.add_argument("--mode", choices=_MODES, help="propose by default")
    command.add_argument("--priority", type=whole_number(0, 10**6), metavar="N", help="the lowest decides; 100")
    conditions = command.add_argument_group("conditions, of which all have to be so")
    conditions.add_argument("--account", metavar="ID")
    conditions.add_argument("--direction", choices=("in", "out"))
    conditions.add_argument("--text", help="what stands anywhere on the line, in any letter case")
    conditions.add_argument("--counterparty")
    conditions.add_argument("--reference")
    conditions.add_argument("--match-key", help="who it is with, as proposals show it")
    conditions.add_argument("--min", metavar="A", help="the least amount, without its sign")
    conditions.add_argument("--max", metavar="A")
    conditions.add_argument("--type", help="such as direct_debit")
    outcome = command.add_argument_group("what follows")
    outcome.add_argument("--category", required=True, metavar="C", help="such as adminCosts, or not_pnl")
    outcome.add_argument("--purpose", metavar="P", help="of not_pnl, such as drawings")
    outcome.add_argument("--business", metavar="ID", help="by default the one that the account names")
    outcome.add_argument("--vat", metavar="CODE", help="such as standard; none by default")
    outcome.add_argument("--disallowable", metavar="PERCENT")
    for place in ("property", "unit", "tenancy", "mortgage"):
        outcome.add_argument(f"--{place}", metavar="ID")


def add(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA

    values = {
        "name": arguments.name,
        "mode": arguments.mode,
        "priority": arguments.priority,
        "conditions": _values_of(arguments, _CONDITIONS),
        "outcome": _values_of(arguments, _OUTCOME),
    }
    rule = run_operation(context, operation_of(AREA, "banking.createRule"), arguments.org, values)
    print_result(arguments, rule, [f"Made the rule {rule['name']}, which {_mode_text(rule)}: {rule['id']}"])
    return 0


def list_rules(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA

    operation = operation_of(AREA, "banking.listRules")
    rules = run_operations(context, arguments.org, lambda perform: _all_pages(perform, operation, {}))
    rows = [
        (rule["id"], rule["name"], rule["mode"], str(rule["priority"]), _category_text(rule["outcome"]))
        for rule in rules
    ]
    print_list(arguments, rules, ("id", "name", "mode", "priority", "category"), rows)
    return 0


def remove(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA
    from gatewayd.ledger.allocating.allocation_rules import RULES

    org_id = context.read(lambda tx: RULES.organization_of(tx, arguments.id))
    answer = run_operation(context, operation_of(AREA, "banking.deleteRule"), org_id, {"ruleId": arguments.id})
    print_result(arguments, answer, [f"Deleted the rule {arguments.id}."])
    return 0


def learn(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA
    from gatewayd.ledger.allocating import bank_lines

    line_id = arguments.bank_transaction
    org_id = context.read(lambda tx: bank_lines.organization_of(tx, line_id))
    values = {"bankTransactionId": line_id, "name": arguments.name, "mode": arguments.mode}
    rule = run_operation(context, operation_of(AREA, "banking.learnRule"), org_id, values)
    print_result(arguments, rule, [f"{rule['learnedFrom']} The rule {rule['name']} {_mode_text(rule)}: {rule['id']}"])
    return 0


def apply(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.areas.banking import AREA

    values = {"accountId": arguments.account, "ruleId": arguments.rule, "dryRun": arguments.dry_run}
    operation = operation_of(AREA, "banking.applyRules")
    outcomes = run_operations(context, arguments.org, lambda perform: _all_pages(perform, operation, values))
    columns = ("bankTransaction", "date", "amount", "currency", "reason", "refusal")
    names = ("bankTransactionId", "date", "amount", "currency", "reason")
    print_list(
        arguments,
        outcomes,
        columns,
        [(*(outcome[name] for name in names), outcome["refusal"] or "") for outcome in outcomes],
    )
    return 0


async def _all_pages(perform: Perform, operation: Any, values: Mapping[str, object]) -> list[Json]:
    """Every item of a list, page by page."""
    items: list[Json] = []
    cursor = None
    while True:
        page = await perform(operation, {**values, "limit": _PAGE, "cursor": cursor})
        items += page["data"]
        cursor = page["nextCursor"]
        if cursor is None:
            return items


def _values_of(arguments: argparse.Namespace, names: Mapping[str, str]) -> Json:
    values = {wire: getattr(arguments, option) for option, wire in names.items()}
    return {wire: value for wire, value in values.items() if value is not None}


def _mode_text(rule: Json) -> str:
    return "is applied by itself" if rule["mode"] == "apply" else "proposes"


def _category_text(outcome: Json) -> str:
    return str(outcome["purpose"] or outcome["category"])
