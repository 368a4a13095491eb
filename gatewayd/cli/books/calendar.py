"""`gatewayd calendar`: addresses under which calendar programs read what is due."""

import argparse
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import operation_of, run_operation

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation

LIST_MAX = 100  # one page of the API


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of calendar feeds."""
    group = add_group(subparsers, "calendar", "deadlines in calendar programs")
    command = add_command(group, "create", "make an address to subscribe to, shown this once", create, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--entity", metavar="ID", help="of one legal entity; all by default")
    command.add_argument("--name", help='what the calendar is called; "Tax deadlines" by default')
    command = add_command(group, "list", "list addresses, without their tokens", list_feeds, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command = add_command(group, "revoke", "end an address", revoke, json=True)
    command.add_argument("id", metavar="ID")


def create(arguments: argparse.Namespace, context: Context) -> int:
    """The address is printed this once."""
    values = {"name": arguments.name, "legalEntityId": arguments.entity}
    made = run_operation(context, _operation(context, "createFeed"), arguments.org, values)
    lines = [f"{made['id']}: subscribe to this address, which is shown this once:", made["url"]]
    print_result(arguments, made, lines)
    return 0


def list_feeds(arguments: argparse.Namespace, context: Context) -> int:
    operation = _operation(context, "listFeeds")
    feeds: list[dict[str, Any]] = run_operation(context, operation, arguments.org, {"limit": LIST_MAX})["data"]
    names = ("id", "name", "legalEntityId", "createdAt", "revokedAt")
    cells = [tuple(feed[name] or "" for name in names) for feed in feeds]
    print_list(arguments, feeds, ("id", "name", "entity", "created", "revoked"), cells)
    return 0


def revoke(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity.keys.calendar_feeds import CALENDAR_FEEDS

    org_id = context.read(lambda tx: CALENDAR_FEEDS.organization_of(tx, arguments.id))
    ended = run_operation(context, _operation(context, "revokeFeed"), org_id, {"id": arguments.id})
    print_result(arguments, ended, [f"{ended['name']} is revoked."])
    return 0


def _operation(context: Context, name: str) -> "Operation":
    from gatewayd.areas import periods

    return operation_of(periods.AREA, f"obligations.{name}", periods.handlers(context.config.server.public_url))
