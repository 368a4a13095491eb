"""`gatewayd store copy`: all rows from SQLite to a PostgreSQL, or from there into a new SQLite."""

import argparse
import contextlib
import importlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.output import print_result
from gatewayd.cli.parser import Subparsers, add_command, add_group
from gatewayd.cli.progress import Progress
from gatewayd.config.forms import database_url_error

if TYPE_CHECKING:
    from gatewayd.store.copying.both_ways import Sums
    from gatewayd.store.copying.plan import MadeAnew
    from gatewayd.store.settings import StoreSettings

_URLS: Final = ("postgresql:", "postgres:")
_OF_A_DAEMON: Final = ("gatewayd.lock", "gatewayd.pulse")
_HOLDER: Final = "gatewayd store copy"


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands of the store as a whole."""
    group = add_group(subparsers, "store", "the database as a whole")
    summary = "copy all rows from SQLite to an empty PostgreSQL, or from there into a new SQLite; not beside a daemon"
    command = add_command(group, "copy", summary, copy, json=True)
    command.add_argument(
        "--to",
        required=True,
        metavar="WHERE",
        help="postgresql://user@host/database, without a password; or a directory, for SQLite",
    )
    command.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="with a URL: the file with its password in the first line",
    )


def copy(arguments: argparse.Namespace, context: Context) -> int:
    """All or nothing, whatever ends it: one transaction, or a file that has its name once it is whole."""
    settings, to_url = context.store_settings, arguments.to.startswith(_URLS)
    if to_url == bool(settings.url):
        own, other = ("PostgreSQL", "pg_dump") if to_url else ("SQLite", "gatewayd backup")
        raise CommandError(f"the store is a {own} already, and from one to another it is copied with {other}", 2)
    if arguments.password_file is not None and not to_url:
        raise CommandError("--password-file goes with a URL: that of [store] url is [store] password_file", 2)
    sums = _to_url(arguments, context) if to_url else _to_directory(arguments, context)
    directory = settings.directory if to_url else Path(arguments.to).absolute()
    beside = _beside(settings.directory)
    document = {
        "from": settings.url or str(settings.path),
        "to": arguments.to if to_url else str(directory),
        "rows": sum(table.rows for table in sums.values()),
        "tables": [{"table": name, "rows": its.rows, "sha256": its.digest} for name, its in sums.items()],
        "beside": {"directory": str(settings.directory), "names": beside},
    }
    lines = [
        f"{document['from']} was copied to {document['to']}: {document['rows']} rows of {len(sums)} tables, the same on"
        " both sides.",
        "Documents are indexed anew once a daemon works with it; until then a search does not find all of them.",
        *(_next_there(arguments, context, beside) if to_url else _next_back(context, directory, beside)),
    ]
    print_result(arguments, document, lines)
    return 0


def _to_url(arguments: argparse.Namespace, context: Context) -> "Sums":
    from gatewayd.store.files.directory import locked

    error = database_url_error(arguments.to)
    if error is not None:
        raise CommandError(f"--to {error}", 2)
    context.require_database()
    _require_driver()
    from gatewayd.store.copying import both_ways

    settings = context.store_settings
    address = _address(replace(settings, url=arguments.to, password_file=arguments.password_file))
    with locked(settings.directory, _HOLDER), Progress(sys.stderr, called="tables") as progress:
        return both_ways.copy_to_postgres(settings.path, address, context.clock.now(), _made_anew(), progress)


def _to_directory(arguments: argparse.Namespace, context: Context) -> "Sums":
    """A data directory whose documents stay may be the one that the copy goes to."""
    from gatewayd.store.files.directory import locked

    _require_driver()
    from gatewayd.store.copying import both_ways

    settings = context.store_settings
    address, copied = _address(settings), replace(settings, directory=Path(arguments.to).absolute())
    with contextlib.ExitStack() as held:
        held.enter_context(locked(copied.directory, _HOLDER))
        if settings.directory.is_dir() and not settings.directory.samefile(copied.directory):
            held.enter_context(locked(settings.directory, _HOLDER))
        progress = held.enter_context(Progress(sys.stderr, called="tables"))
        return both_ways.copy_to_sqlite(address, copied.path, context.clock.now(), _made_anew(), progress)


def _require_driver() -> None:
    """Most do without psycopg, and have not installed it."""
    try:
        importlib.import_module("gatewayd.store.postgres.connections")
    except ImportError:
        raise CommandError("psycopg is not installed: gatewayd[postgresql] has it") from None


def _address(settings: "StoreSettings") -> str:
    from gatewayd.store.postgres.connections import address_of
    from gatewayd.store.postgres.engine import password_of

    return address_of(settings.url, password_of(settings))


def _made_anew() -> "MadeAnew":
    """Each engine has an index of words of its own kind, whose numbers are those of the parts of documents."""
    from gatewayd.areas.vault.documents import index_queue
    from gatewayd.store.copying.plan import MadeAnew

    return MadeAnew(frozenset({"vault_index_parts", "vault_index_queue"}), (index_queue.PUT_ALL_ANY_ORG,))


def _beside(directory: Path) -> list[str]:
    """What of a data directory is no database, nor a file of a daemon that runs."""
    from gatewayd.store.settings import DATABASE_NAME

    names = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
    return [name for name in names if not name.startswith((DATABASE_NAME, f".{DATABASE_NAME}", *_OF_A_DAEMON))]


def _next_there(arguments: argparse.Namespace, context: Context, beside: Sequence[str]) -> list[str]:
    settings, path = context.store_settings, context.config_path or "the settings"
    password = "" if arguments.password_file is None else f' and password_file = "{arguments.password_file}"'
    lines = [f'Write [store] url = "{arguments.to}"{password} into {path}, and start the daemon.']
    if beside:
        lines.append(f"It goes on to need what stays in {settings.directory}: {', '.join(beside)}.")
    return [*lines, f"Nothing reads {settings.path} then: move it away once you no longer want to go back to it."]


def _next_back(context: Context, directory: Path, beside: Sequence[str]) -> list[str]:
    settings, path = context.store_settings, context.config_path or "the settings"
    lines = [f'Write [store] url = "" and directory = "{directory}" into {path}, and start the daemon.']
    if beside and not settings.directory.samefile(directory):
        lines.append(f"Before, move there from {settings.directory} what belongs to it: {', '.join(beside)}.")
    return [*lines, "Nothing reads the PostgreSQL then: drop its database once you no longer want to go back to it."]
