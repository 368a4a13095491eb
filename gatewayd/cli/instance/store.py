"""`gatewayd migrate` and `compact`: the database as this program needs it, and no larger than what is in it."""

import argparse

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of the database."""
    add_command(subparsers, "migrate", "bring the database to the form this program needs", migrate, json=True)
    add_command(subparsers, "compact", "make the database's file smaller after much was deleted", shrink, json=True)


def migrate(arguments: argparse.Namespace, context: Context) -> int:
    """What a daemon does when it starts. No other command does it, and this one not beside a daemon."""
    from gatewayd.store.database import prepare
    from gatewayd.store.files.directory import locked
    from gatewayd.store.sqlite import connections, schema
    from gatewayd.store.sqlite.upgrade import upgrade

    settings = context.store_settings
    sealer = prepare(settings, context.key_file)
    with locked(settings.directory, "gatewayd migrate"):
        connection = connections.open_writer(settings.path, settings.busy_timeout_seconds)
        try:
            done = upgrade(connection, settings.path, context.clock.now(), sealer)
        finally:
            connection.close()
    number = len(schema.packaged())
    applied = 0 if done is None else number - done.before
    copy = None if done is None or done.copy is None else str(done.copy)
    document = {"applied": applied, "migration": number, "database": str(settings.path), "copy": copy}
    lines = [f"{settings.path} is at migration {number}; applied now: {applied}."]
    print_result(arguments, document, [*lines, *([f"It was copied to {copy} before."] if copy else [])])
    return 0


def shrink(arguments: argparse.Namespace, context: Context) -> int:
    """Not beside a daemon, which would wait for it."""
    from gatewayd.cli.progress import in_units
    from gatewayd.store.files.directory import locked
    from gatewayd.store.sqlite.compacting import compact

    context.require_database()
    settings = context.store_settings
    with locked(settings.directory, "gatewayd compact"):
        before, after = compact(settings.path)
    document = {"database": str(settings.path), "bytesBefore": before, "bytesAfter": after}
    print_result(arguments, document, [f"{settings.path} had {in_units(before)}, and has {in_units(after)} now."])
    return 0
