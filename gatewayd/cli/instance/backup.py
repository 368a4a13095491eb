"""`gatewayd backup`, `restore` and `verify`: copy the store, restore a copy, look for damage."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.instance.restored import AS_THEY_WERE, add_decision, decision_of, ends_in_words, what_ends
from gatewayd.cli.instance.store import dump_command
from gatewayd.cli.output import note, print_result
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.progress import Progress
from gatewayd.clock import to_wire
from gatewayd.config import ConfigError

if TYPE_CHECKING:
    from gatewayd.store import ReadTx
    from gatewayd.store.files.manifests import Manifest

CHUNK = 500  # rows that one read renders again
SHOWN = 20  # lines of faults that are printed
KEEP = 14  # Chosen: a fortnight of nights
KEEP_MAX = 10_000
WHEN_TO_DUMP = "Dump them before each backup, so that what they name is in it"
ITS_FILES = "the files of the PostgreSQL were not looked at: pg_amcheck does, and pg_checksums while it is stopped"


def add_commands(subparsers: Subparsers) -> None:
    """Add the commands."""
    summary = "copy database and documents beside a running daemon, and look whether the copy is whole"
    command = add_command(subparsers, "backup", summary, backup, json=True)
    to = command.add_mutually_exclusive_group(required=True)
    to.add_argument(
        "destination", type=Path, nargs="?", metavar="DEST", help="a directory that is empty or not there yet"
    )
    to.add_argument("--into", type=Path, metavar="DIR", help="a directory of backups, each in one named by its time")
    command.add_argument(
        "--keep",
        type=whole_number(1, KEEP_MAX),
        metavar="N",
        help=f"with --into: how many good ones stay there, {KEEP} if not given",
    )
    command.add_argument("--with-key", action="store_true", help="the instance key too, which opens the sealed secrets")
    command = add_command(subparsers, "restore", "put a backup in the place of an empty store", restore, json=True)
    command.add_argument("source", type=Path, metavar="SRC", help="the directory of a backup")
    command.add_argument("--damaged", action="store_true", help="what is left of a backup that is not whole")
    add_decision(command, required=False)
    summary = "look for damage in database and documents, or in a backup"
    command = add_command(subparsers, "verify", summary, verify, json=True)
    command.add_argument("source", type=Path, nargs="?", metavar="DIR", help="a backup where it lies; else the store")
    command.add_argument("--repair", action="store_true", help="set damaged documents aside, count and compute anew")


def backup(arguments: argparse.Namespace, context: Context) -> int:
    """A copy of what is damaged is no backup: it is told, and takes no other's place."""
    from gatewayd.ledger.named_files import NAMING
    from gatewayd.store.backups.backup import Looking, back_up
    from gatewayd.store.backups.dated_backups import back_up_into
    from gatewayd.store.backups.rows_of_server import rows_of_server
    from gatewayd.store.files import known_backups

    if arguments.keep is not None and arguments.into is None:
        raise CommandError("--keep goes with --into", 2)
    context.require_database()
    settings, key_file, now = context.store_settings, context.config.store.key_file, context.clock.now()
    rows = rows_of_server(settings, NAMING)
    to_copy = context.key_file if arguments.with_key else None
    removed = list[str]()
    with Progress(sys.stderr) as progress:

        def make(destination: Path) -> "Manifest":
            looking = Looking(NAMING, progress, rows, settings.place)
            return back_up(settings.directory, destination, now, looking, to_copy)

        if arguments.into is None:
            manifest, made = make(arguments.destination), arguments.destination
        else:
            manifest, made, removed = back_up_into(arguments.into, arguments.keep or KEEP, now, make)
    _note(lambda: known_backups.note_made(settings.directory, made, manifest))
    if manifest.faults:
        raise CommandError(
            _fault_lines([f"{made} is a copy of a store that is damaged, and no backup:", *manifest.faults])
        )
    more = {"directory": str(made), "removed": removed}
    _print_manifest(arguments, manifest, f"Copied to {made}, and looked at", more)
    if rows is not None:
        note(f"the rows are not in it, but in {rows.name}. {WHEN_TO_DUMP}: {dump_command(settings.url)}")
    if not manifest.with_key:
        note(f"the instance key is not in it: keep a copy of {key_file} elsewhere, or sealed secrets are lost")
    return 0


def restore(arguments: argparse.Namespace, context: Context) -> int:
    from gatewayd.ledger.named_files import NAMING
    from gatewayd.store.backups import restoring
    from gatewayd.store.backups.backup import Looking
    from gatewayd.store.backups.rows_of_server import rows_of_server
    from gatewayd.store.files import manifests
    from gatewayd.store.settings import PLACE_MARK

    rows = rows_of_server(context.store_settings, NAMING)
    if rows is not None:
        _require_alone(context)
    directory, key_file = context.store_settings.directory, context.config.store.key_file
    decision = decision_of(arguments)
    source, now = arguments.source.absolute(), context.clock.now()
    with Progress(sys.stderr) as progress:
        manifest, faults = restoring.restore(
            source, directory, now, Looking(NAMING, progress, rows), decision, damaged=arguments.damaged
        )
    ends = what_ends(context, decision)
    more = {"faults": faults} if ends is None else {"faults": faults, "ends": ends}
    _print_manifest(arguments, manifest, f"Restored to {directory}", more, ends_in_words(ends))
    if faults:
        note(_fault_lines(["what is left of it was restored:", *faults]))
    if rows is not None:
        note("no daemon of another host may start before one on this host has: it carries out what is decided")
    if decision is None:
        note(
            f"sessions, keys, grants, links, feeds and subscriptions that were ended since {manifest.made_at} live"
            " again, and invoice numbers would be given again: no daemon serves it until you decide, with gatewayd"
            " after-restore"
        )
        note(AS_THEY_WERE)
    place = context.store_settings.place
    if place.bucket is not None:
        note(f"send its documents to {place.name} before the daemon starts: gatewayd files send {directory}")
    elif place.is_shared:
        note(
            f"move blobs and {PLACE_MARK} from {directory} to {place.folder}, which is to hold nothing else, before the"
            " daemon starts"
        )
    if not manifest.with_key:
        note(f"put the instance key of that time at {key_file} before the daemon starts")
    elif Path(key_file) != directory / manifests.KEY_NAME:
        note(f"the instance key of the backup is {directory / manifests.KEY_NAME}, but the settings name {key_file}")
    return 0


def _require_alone(context: Context) -> None:
    """Raises `StoreFailure` where a daemon serves the rows, from whichever host."""
    from gatewayd.store.sealed_rows import sealed_rows_of

    sealed_rows_of(context.store_settings).require_alone("gatewayd restore")


def verify(arguments: argparse.Namespace, context: Context) -> int:
    """SQLite's own checks first; then every stored wire form and sum is compared with what it is made of.

    Credits are added up, holdings compared with their transactions and computed from their first day on, and the bytes
    of all documents read. Of a backup it is what it says of itself, SQLite's checks, and the bytes of what it names.
    The files of a PostgreSQL are looked at by its own tools.
    """
    if arguments.source is not None:
        return _verify_backup(arguments, context)
    from gatewayd.cli.instance.verified import holdings_at_fault, verify_files
    from gatewayd.store.postgres.reaching import name_of
    from gatewayd.store.sqlite.integrity import find_faults

    context.require_database()
    settings = context.store_settings
    name, faults = name_of(settings), [] if settings.url else find_faults(settings.path)
    if not faults:
        files, file_faults = verify_files(context, repairs=arguments.repair)
        faults = [*_stale_wires(context), *_faults_of_credits(context), *file_faults]
        faults += holdings_at_fault(context, repairs=arguments.repair)
    if faults:
        raise CommandError(_fault_lines(faults))
    lines = [f"{name} and {files} files of documents: nothing is wrong."]
    print_result(arguments, {"database": name, "files": files, "faults": []}, lines)
    if settings.url:
        note(ITS_FILES)
    return 0


def _note(work: Callable[[], None]) -> None:
    """Let the pages of the daemon know; a backup is none the worse where they cannot."""
    from gatewayd.store import StoreFailure

    try:
        work()
    except StoreFailure as error:
        note(f"{error}: the page of backups will not tell of this")


def _verify_backup(arguments: argparse.Namespace, context: Context) -> int:
    """It needs no settings: on any machine, also where nothing can be written."""
    from gatewayd.ledger.named_files import NAMING
    from gatewayd.store.backups.backup import Looking
    from gatewayd.store.backups.restoring import verify_backup

    if arguments.repair:
        raise CommandError("a backup is not repaired: --repair is for the store", 2)
    with Progress(sys.stderr) as progress:
        manifest, faults = verify_backup(arguments.source, Looking(NAMING, progress))
    _note_verified(context, arguments.source, manifest, is_whole=not faults)
    if faults:
        raise CommandError(_fault_lines([f"{arguments.source} is no backup to rely on:", *faults]))
    _print_manifest(arguments, manifest, f"Nothing is wrong with {arguments.source}", {"faults": []})
    return 0


def _note_verified(context: Context, source: Path, manifest: "Manifest", *, is_whole: bool) -> None:
    """Where the settings of the store are here, and the backup is the last that it knows of."""
    from gatewayd.store.files import known_backups

    try:
        directory = context.store_settings.directory
    except (ConfigError, OSError):
        return
    if directory.is_dir():
        at = to_wire(context.clock.now())
        _note(lambda: known_backups.note_verified(directory, source, manifest, at, is_whole=is_whole))


def _fault_lines(faults: list[str]) -> str:
    """As many lines as are read."""
    more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    return "\n".join([*faults[:SHOWN], *more])


def _print_manifest(
    arguments: argparse.Namespace,
    manifest: "Manifest",
    sentence: str,
    more: Mapping[str, object],
    lines: Sequence[str] = (),
) -> None:
    size, files = manifest.size_bytes, len(manifest.files)
    document = {"madeAt": manifest.made_at, "files": files, "bytes": size, "withKey": manifest.with_key, **more}
    print_result(arguments, document, [f"{sentence}: {files} files, {size} bytes, of {manifest.made_at}.", *lines])


def _stale_wires(context: Context) -> list[str]:
    """A sentence for each row whose stored JSON, or sum of rents, is not what it is made of."""
    import trio

    from gatewayd.identity.people import organizations

    async def run() -> list[str]:
        faults: list[str] = []
        async with context.open_existing() as store:
            for org in await store.read(organizations.list_all):
                for check in _checks():
                    after: str | None = ""
                    while after is not None:
                        stale, after = await store.read_later(_chunk(check, after), org.id)
                        faults += [f"{row_id} is served otherwise than its columns say" for row_id in stale]
        return faults

    return trio.run(run)


def _faults_of_credits(context: Context) -> list[str]:
    """A sentence for each invariant of the ledger of credits that doesn't hold (Domain C8)."""
    import trio

    from gatewayd.identity.people import organizations
    from gatewayd.ledger.credits import invariants

    async def run() -> list[str]:
        sentences: list[str] = []
        async with context.open_existing() as store:
            for org in await store.read(organizations.list_all):
                sentences += await store.read_later(invariants.faults_of_grants, org.id)
                faults, last = await store.read_later(invariants.from_entry(None), org.id)
                sentences += faults
                while last is not None:
                    faults, last = await store.read_later(invariants.from_entry(last), org.id)
                    sentences += faults
        return sentences

    return trio.run(run)


Check = Callable[["ReadTx", str, int], list[tuple[str, bool]]]
"""The next rows after an id, at most so many: the id of each, and whether it is stale."""


def _checks() -> tuple[Check, ...]:
    from gatewayd.areas.accounting.clients.rows import CLIENTS
    from gatewayd.areas.accounting.invoices import rows as invoice_rows
    from gatewayd.areas.businesses.rows import BUSINESSES
    from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES
    from gatewayd.ledger.allocating import rents_received
    from gatewayd.ledger.loans import loans

    return invoice_rows.stale, CLIENTS.stale, LEGAL_ENTITIES.stale, BUSINESSES.stale, rents_received.stale, loans.stale


def _chunk(check: Check, after: str) -> "Callable[[ReadTx], tuple[list[str], str | None]]":
    """A read of the stale rows of one chunk, and where the next begins; None: there is none."""

    def work(tx: "ReadTx") -> tuple[list[str], str | None]:
        rows = check(tx, after, CHUNK)
        return [row_id for row_id, stale in rows if stale], rows[-1][0] if len(rows) == CHUNK else None

    return work
