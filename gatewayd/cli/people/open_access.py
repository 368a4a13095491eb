"""`gatewayd access`: what is open to the outside, by who made it, and its end."""

import argparse
from typing import Any, Final

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.people.user_access import find_user
from gatewayd.cli.run_operation import operation_of, run_operation, walk

COLUMNS: Final = ("id", "kind", "name", "made by", "since", "ends", "last used")
MOST: Final = 100_000  # Chosen


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of what is open to the outside."""
    group = add_group(subparsers, "access", "what is open to the outside: links, URLs, feeds, receivers, apps, keys")
    command = add_command(group, "list", "list what works without whoever made it", list_all, json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--user", metavar="EMAIL", help="only what ends with this person's membership")
    command = add_command(group, "end", "end one of them now", end, json=True)
    command.add_argument("id", metavar="ID")


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd import access

    values: dict[str, object] = {}
    if arguments.user is not None:
        values["userId"] = context.read(lambda tx: find_user(tx, arguments.user)).id
    found = walk(context, arguments.org, operation_of(access.AREA, "access.list"), values, (100, MOST))
    print_list(arguments, found, COLUMNS, [cells(each) for each in found])
    return 0


def end(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd import access
    from gatewayd.access import kinds

    org_id = context.read(lambda tx: kinds.organization_of(tx, arguments.id))
    ended = run_operation(context, operation_of(access.AREA, "access.end"), org_id, {"id": arguments.id})
    print_result(arguments, ended, [f"Ended: the {words(ended['kind'])} {ended['name']} ({ended['id']})."])
    return 0


def cells(one: dict[str, Any]) -> tuple[str, ...]:
    """A row of the table."""
    maker = one["email"] or ("the operator" if one["createdBy"] == "operator" else "unknown")
    if one["email"] is not None and not one["isMember"]:
        maker += " (no member)"
    ends = "" if one["expiresAt"] is None else one["expiresAt"][:16]
    return one["id"], words(one["kind"]), one["name"], maker, one["createdAt"][:10], ends, one["lastUsed"] or ""


def words(kind: str) -> str:
    """What people call a kind: `document link`."""
    from gatewayd.access.kinds import KINDS

    return next(each.words for each in KINDS if each.name == kind)
