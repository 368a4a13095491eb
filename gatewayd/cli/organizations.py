"""`gatewayd org`: organizations."""

import argparse

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.clock import to_wire


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of organizations."""
    group = add_group(subparsers, "org", "organizations")
    command = add_command(group, "create", "make an organization", create, json=True)
    command.add_argument("--name", required=True)
    add_command(group, "list", "list the organizations", list_all, json=True)


def create(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit, organizations

    made = context.write(lambda tx: organizations.create(tx, arguments.name, audit.OPERATOR), makes_store=True)
    print_result(arguments, made, [f"Made the organization {made.name}: {made.id}"])
    return 0


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import organizations

    found = context.read(organizations.list_all)
    rows = [(each.id, each.name, to_wire(each.created_at)[:10]) for each in found]
    print_list(arguments, found, ("id", "name", "created"), rows)
    return 0
