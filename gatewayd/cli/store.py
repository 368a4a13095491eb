"""`gatewayd migrate`."""

import argparse

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command


def add_commands(subparsers: Subparsers) -> None:
    """Add the command of the database."""
    add_command(subparsers, "migrate", "bring the database to the form this program needs", migrate, json=True)


def migrate(arguments: argparse.Namespace, context: Context) -> int:
    """Every command that opens the store migrates it; this one prints what was done."""
    from gatewayd.store import connections, schema
    from gatewayd.store.database import prepare

    settings = context.store_settings
    prepare(settings.directory, context.key_file)
    connection = connections.open_writer(settings.path, settings.busy_timeout_seconds)
    migrations = schema.packaged()
    try:
        applied = schema.migrate(connection, migrations, context.clock.now())
    finally:
        connection.close()
    document = {"applied": applied, "migration": len(migrations), "database": str(settings.path)}
    print_result(arguments, document, [f"{settings.path} is at migration {len(migrations)}; applied now: {applied}."])
    return 0
