"""`gatewayd after-restore`: what holds of a store that was restored from a backup."""

import argparse
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.time_arguments import time_argument
from gatewayd.clock import from_wire

if TYPE_CHECKING:
    from gatewayd.access.deprovisioning import CountedAccess
    from gatewayd.store.files.restored import Decision, Restored

NUMBERS_MAX = 999_999_999  # Chosen
AS_THEY_WERE = "people, members, passwords and passkeys are those of the backup: see gatewayd user list and member list"


def add_commands(subparsers: Subparsers) -> None:
    """Add `after-restore`."""
    summary = "decide what holds of a restored store, before a daemon serves it"
    command = add_command(subparsers, "after-restore", summary, decide, json=True)
    add_decision(command, required=True)
    command.add_argument(
        "--rows-of",
        type=time_argument,
        metavar="TIME",
        help="of a PostgreSQL that its own tools restored: the time as of which its rows are",
    )


def add_decision(command: argparse.ArgumentParser, *, required: bool) -> None:
    """The arguments that decide it."""
    access = command.add_mutually_exclusive_group(required=required)
    access.add_argument(
        "--end-everything",
        action="store_true",
        help="sessions, keys, apps, links, upload URLs and feeds end, and webhooks wait for an owner: some ended since",
    )
    access.add_argument("--keep-access", action="store_true", help="what held at the time of the backup holds again")
    command.add_argument(
        "--numbers-after",
        type=whole_number(1, NUMBERS_MAX),
        metavar="N",
        help="every sequence of invoice numbers goes on after N at the least: the last that was given since the backup",
    )


def decision_of(arguments: argparse.Namespace) -> "Decision | None":
    """None: nothing was decided. Raises `CommandError` for half a decision."""
    from gatewayd.store.files.restored import Decision

    if not arguments.end_everything and not arguments.keep_access:
        if arguments.numbers_after is not None:
            raise CommandError("--numbers-after goes with --end-everything or --keep-access", 2)
        return None
    return Decision(access="end" if arguments.end_everything else "keep", numbers_after=arguments.numbers_after)


def decide(arguments: argparse.Namespace, context: Context) -> int:
    """It is carried out by the next start of the daemon, before that lets anybody in."""
    import msgspec
    from msgspec.structs import replace

    from gatewayd.store.files.directory import locked
    from gatewayd.store.files.restored import find_restored, mark

    directory, decision = context.store_settings.directory, decision_of(arguments)
    brought = _brought(arguments, context)
    if brought is None and find_restored(directory) is None:
        raise CommandError(f"{directory} was not restored from a backup")
    with locked(directory, "gatewayd after-restore"):
        restored = brought or find_restored(directory)
        assert restored is not None
        if restored.done:
            raise CommandError(f"{directory} has been served since it was restored: the decision was carried out")
        restored = replace(restored, decision=decision)
        mark(directory, restored)
    lines = ["The next start of the daemon carries it out, before it lets anybody in."]
    ends = what_ends(context, decision)
    document = {**msgspec.to_builtins(restored), **({} if ends is None else {"ends": ends})}
    print_result(arguments, document, [*lines, *ends_in_words(ends)])
    note(AS_THEY_WERE)
    return 0


def _brought(arguments: argparse.Namespace, context: Context) -> "Restored | None":
    """A restore of which only the operator knows; None: none is told. Raises `CommandError`, `StoreFailure`."""
    from gatewayd.clock import to_wire
    from gatewayd.store.files.directory import make_directory
    from gatewayd.store.files.restored import Restored
    from gatewayd.store.sealed_rows import sealed_rows_of

    settings, now = context.store_settings, context.clock.now()
    if arguments.rows_of is None:
        return None
    if not settings.url:
        raise CommandError("--rows-of is for a PostgreSQL: of a SQLite gatewayd restore knows it", 2)
    sealed_rows_of(settings).require_alone("gatewayd after-restore")
    make_directory(settings.directory)
    made_at = arguments.rows_of.wire(now)
    if from_wire(made_at) > now:
        raise CommandError(f"--rows-of: {made_at} is not past", 2)
    return Restored(backup_made_at=made_at, restored_at=to_wire(now))


def what_ends(context: Context, decision: "Decision | None") -> "CountedAccess | None":
    """How much of each kind `--end-everything` will end; None: nothing, or what cannot be counted yet.

    A database of an earlier version is migrated by the daemon, and counted then: in its log.
    """
    if decision is None or decision.access != "end":
        return None
    from gatewayd.access import deprovisioning
    from gatewayd.store import StoreFailure
    from gatewayd.store.failures import MigrationError

    try:
        return context.read(deprovisioning.count_access_of_all)
    except (StoreFailure, MigrationError):
        return None


def ends_in_words(ends: "CountedAccess | None") -> list[str]:
    """`It ends: sessions 2, ...`."""
    if ends is None:
        return []
    counts = [f"{name.replace('_', ' ')} {getattr(ends, name)}" for name in ends.__struct_fields__]
    return [f"It ends: {', '.join(counts)}."]
