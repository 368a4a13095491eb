"""`gatewayd migrate` and `compact`: the database as this program needs it, and no larger than what is in it."""

import argparse
import shlex

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of the database."""
    command = add_command(
        subparsers, "migrate", "bring the database to the form this program needs", migrate, json=True
    )
    command.add_argument(
        "--without-copy",
        action="store_true",
        help="of a PostgreSQL: it was dumped, or need not be, before it is changed",
    )
    add_command(subparsers, "compact", "make the database's file smaller after much was deleted", shrink, json=True)


def migrate(arguments: argparse.Namespace, context: Context) -> int:
    """What a daemon does when it starts. No other command does it, and this one not beside a daemon."""
    from gatewayd.store.database import prepare
    from gatewayd.store.files.directory import locked
    from gatewayd.store.sqlite import connections, schema
    from gatewayd.store.sqlite.upgrade import upgrade

    settings = context.store_settings
    if settings.url:
        return _migrate_server(arguments, context)
    if arguments.without_copy:
        raise CommandError("--without-copy is for a PostgreSQL: a SQLite file is always copied", 2)
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


def _migrate_server(arguments: argparse.Namespace, context: Context) -> int:
    """Its own tools alone copy a PostgreSQL: nothing is changed before somebody says that this was done."""
    from gatewayd.store.files.directory import make_directory
    from gatewayd.store.postgres.reaching import connect_of, name_of
    from gatewayd.store.sealed_rows import sealed_rows_of

    settings = context.store_settings
    connect, name = connect_of(settings, statement_seconds=0), name_of(settings)
    from gatewayd.store.postgres import schema
    from gatewayd.store.postgres.sessions import refuse_beside_others, session

    migrations = schema.packaged()
    with session(connect, "the database cannot be migrated") as connection:
        waiting = schema.pending(connection, migrations)
        if 0 < len(waiting) < len(migrations):
            refuse_beside_others(connection, "gatewayd migrate")
            if not arguments.without_copy:
                raise CommandError(
                    f"{name} waits for {len(waiting)} migrations, and is not copied before as a SQLite file is: dump it"
                    f" with {dump_command(settings.url)}, then say --without-copy"
                )
        applied = schema.migrate(connection, migrations, context.clock.now())
    make_directory(settings.directory)
    sealed_rows_of(settings).begin_key(context.key_file)
    number = migrations[-1].number
    document = {"applied": applied, "migration": number, "database": name, "copy": None}
    print_result(arguments, document, [f"{name} is at migration {number}; applied now: {applied}."])
    return 0


def dump_command(url: str) -> str:
    """What dumps the rows, to be typed: it asks for the password, or takes it from ~/.pgpass."""
    return f"pg_dump --format=custom --file=gatewayd.dump {shlex.quote(url)}"


def shrink(arguments: argparse.Namespace, context: Context) -> int:
    """Not beside a daemon, which would wait for it."""
    from gatewayd.doctor.sizes import in_units
    from gatewayd.store.files.directory import locked
    from gatewayd.store.postgres.reaching import name_of
    from gatewayd.store.sqlite.compacting import compact

    context.require_database()
    settings = context.store_settings
    if settings.url:
        raise CommandError(
            f"the rows are in {name_of(settings)}, which reuses its space by itself (autovacuum): VACUUM (FULL) there"
            " makes a table smaller; compact is for SQLite"
        )
    with locked(settings.directory, "gatewayd compact"):
        before, after = compact(settings.path)
    document = {"database": str(settings.path), "bytesBefore": before, "bytesAfter": after}
    print_result(arguments, document, [f"{settings.path} had {in_units(before)}, and has {in_units(after)} now."])
    return 0
