"""`gatewayd org`: organizations."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_list, print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import to_wire

if TYPE_CHECKING:
    from gatewayd.daemon.organization_end import Erased
    from gatewayd.identity.people.organizations import Organization
    from gatewayd.store import Store


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of organizations."""
    group = add_group(subparsers, "org", "organizations")
    command = add_command(group, "create", "make an organization", create, json=True)
    command.add_argument("--name", required=True)
    _add_zone(command, "by default Europe/London")
    add_command(group, "list", "list the organizations", list_all, json=True)
    command = add_command(group, "rename", "give an organization another name or time zone", rename, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--name")
    _add_zone(command, "credits that were given before keep the instant at which they end")
    summary = "refuse all its keys, apps, links and feeds, and let its webhooks wait, until it is resumed"
    command = add_command(group, "suspend", summary, suspend, json=True)
    command.add_argument("id", metavar="ID")
    command.add_argument("--reason", metavar="TEXT", help="told to whoever is refused")
    command = add_command(group, "resume", "let in again whom it let in before", resume, json=True)
    command.add_argument("id", metavar="ID")
    command = add_command(
        group, "delete", "delete an organization with all that it has, documents too", delete, json=True
    )
    command.add_argument("id", metavar="ID")
    command.add_argument("--yes", action="store_true", help="do not ask for its name on the terminal")


def _add_zone(command: argparse.ArgumentParser, more: str) -> None:
    summary = f"an IANA name: the days on which its credits end are over at its midnights; {more}"
    command.add_argument("--time-zone", metavar="NAME", help=summary)


def create(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity import audit
    from gatewayd.identity.people import organizations

    zone = organizations.ZONE_DEFAULT if arguments.time_zone is None else arguments.time_zone
    made = context.write(lambda tx: organizations.create(tx, arguments.name, audit.OPERATOR, zone), makes_store=True)
    print_result(arguments, made, [f"Made the organization {made.name}: {made.id}"])
    return 0


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity.people import organizations

    listed = context.read(organizations.list_all)
    rows = [(each.id, each.name, to_wire(each.created_at)[:10], each.time_zone, _state(each)) for each in listed]
    print_list(arguments, listed, ("id", "name", "created", "time zone", "state"), rows)
    return 0


def _state(organization: "Organization") -> str:
    if organization.deleting_since is not None:
        return "being deleted"
    return "" if organization.suspended_at is None else f"suspended {to_wire(organization.suspended_at)[:10]}"


def rename(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.identity.people import organizations

    if arguments.name is None and arguments.time_zone is None:
        raise CommandError("give --name or --time-zone", 2)
    if arguments.time_zone is not None:
        organizations.validate_zone("timeZone", arguments.time_zone)  # in the words of `org create`, an empty one too
    made = _perform(arguments, context, "organizations.rename", name=arguments.name, timeZone=arguments.time_zone)
    line = f"{made['id']} is called {made['name']}. Its days end in {made['timeZone']}."
    print_result(arguments, made, [line])
    return 0


def suspend(arguments: argparse.Namespace, context: Context) -> int:
    made = _perform(arguments, context, "organizations.suspend", reason=arguments.reason)
    line = f"{made['name']} is suspended: nobody acts for it until gatewayd org resume {made['id']}"
    print_result(arguments, made, [line])
    return 0


def resume(arguments: argparse.Namespace, context: Context) -> int:
    made = _perform(arguments, context, "organizations.resume")
    print_result(arguments, made, [f"{made['name']} is let in again."])
    return 0


def _perform(arguments: argparse.Namespace, context: Context, operation_id: str, **values: object) -> dict[str, Any]:
    from gatewayd.areas.organizations import AREA

    return run_operation(context, operation_of(AREA, operation_id), arguments.id, {"id": arguments.id, **values})


def delete(arguments: argparse.Namespace, context: Context) -> int:
    """Nobody acts for it from the first moment on; what a kill leaves is deleted by the same command given again.

    Its people stay, and are members of nothing or of others. A backup from before has it still.
    """
    from gatewayd.identity import audit
    from gatewayd.identity.people import organizations

    organization = context.read(lambda tx: organizations.get(tx, arguments.id))
    if not arguments.yes:
        _ask(organization)
    _perform(arguments, context, "organizations.delete", name=organization.name)

    async def work(store: "Store") -> "Erased":
        from gatewayd.daemon.organization_end import erase

        return await erase(store, organization.id, audit.OPERATOR, _Counting().add)

    erased = context.run(work)
    document = {"id": organization.id, "name": organization.name, "rows": erased.rows, "files": erased.files}
    lines = [
        f"{organization.name} is deleted: {erased.rows:,} rows, {erased.files:,} files.",
        "The database's file keeps its size for what comes; gatewayd compact makes it smaller.",
    ]
    print_result(arguments, document, lines)
    return 0


def _ask(organization: "Organization") -> None:
    """Raises `CommandError` 2 where its name is not typed, or no terminal is there to ask on."""
    if not sys.stdin.isatty():
        raise CommandError(f"{organization.name} would be deleted with all that it has: say so with --yes", 2)
    print(
        f"All that {organization.name} has is deleted for ever. Type its name to go on: ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip() != organization.name:
        raise CommandError("that is not its name: nothing was deleted", 2)


class _Counting:
    """How many rows are deleted, on a terminal."""

    def __init__(self) -> None:
        self._rows = 0
        self._shows = sys.stderr.isatty()

    def add(self, rows: int) -> None:
        """So many more."""
        self._rows += rows
        if self._shows:
            print(f"\r\x1b[K{self._rows:,} rows are deleted\r", end="", file=sys.stderr, flush=True)
