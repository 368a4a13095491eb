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
    openings = walk(context, arguments.org, operation_of(access.AREA, "access.list"), values, (100, MOST))
    print_list(arguments, openings, COLUMNS, [cells(each) for each in openings])
    return 0


def end(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd import access
    from gatewayd.access import kinds

    org_id = context.read(lambda tx: kinds.organization_of(tx, arguments.id))
    ended = run_operation(context, operation_of(access.AREA, "access.end"), org_id, {"id": arguments.id})
    print_result(arguments, ended, [f"Ended: the {words(ended['kind'])} {ended['name']} ({ended['id']})."])
    return 0


def cells(opening: dict[str, Any]) -> tuple[str, ...]:
    """A row of the table."""
    maker = opening["email"] or ("the operator" if opening["createdBy"] == "operator" else "unknown")
    if opening["email"] is not None and not opening["isMember"]:
        maker += " (no member)"
    ends = "" if opening["expiresAt"] is None else opening["expiresAt"][:16]
    return (
        opening["id"],
        words(opening["kind"]),
        opening["name"],
        maker,
        opening["createdAt"][:10],
        ends,
        opening["lastUsed"] or "",
    )


def words(kind: str) -> str:
    """What people call a kind: `document link`."""
    from gatewayd.access.kinds import KINDS

    return next(each.words for each in KINDS if each.name == kind)
