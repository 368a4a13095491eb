"""`gatewayd doctor`: checks what the daemon depends on, and says in plain sentences what it found."""

import argparse
import contextlib
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.doctor.clock import clock
from gatewayd.cli.doctor.daemon import daemon
from gatewayd.cli.doctor.database import database
from gatewayd.cli.doctor.documents import documents
from gatewayd.cli.doctor.files import files
from gatewayd.cli.doctor.findings import Finding, missing_finding
from gatewayd.cli.doctor.listening import listening
from gatewayd.cli.doctor.mail import mail
from gatewayd.cli.doctor.permissions import passed, private
from gatewayd.cli.doctor.search import search
from gatewayd.cli.doctor.taxes import taxes
from gatewayd.cli.doctor.webhooks import webhooks
from gatewayd.cli.output import print_document
from gatewayd.cli.parser import Subparsers, add_command
from gatewayd.config import is_credential

FREE_BYTES_MIN = 512 * 2**20  # Chosen: backups, logs and the database's own log want room
REACH_SECONDS = 5.0  # Chosen


def add_commands(subparsers: Subparsers) -> None:
    """Add `doctor`."""
    add_command(subparsers, "doctor", "look for what would hinder the daemon; 1 if something does", doctor, json=True)


def doctor(arguments: argparse.Namespace, context: Context) -> int:
    """It changes nothing. The settings are checked before anything else, as by `check-config`."""
    checks = (
        *(_permissions, _disk, database, files, clock, listening, _proxy, _reach, daemon, taxes),
        *(documents, search, mail, webhooks),
    )
    findings = [finding for check in checks for finding in check(context)]
    if arguments.json:
        print_document([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok' if finding.well else 'WRONG':5}  {finding.about}: {finding.sentence}")
    wrong = sum(not finding.well for finding in findings)
    if wrong:
        raise CommandError("1 thing is wrong" if wrong == 1 else f"{wrong} things are wrong")
    return 0


def _permissions(context: Context) -> Iterator[Finding]:
    directory = Path(context.config.store.directory)
    if not directory.exists():
        yield Finding("data directory", True, f"{directory} is not there yet; the first start makes it.")
        return
    yield from _restored(directory)
    owner = directory.stat().st_uid
    yield private("data directory", directory, owner)
    if not os.access(directory, os.R_OK | os.X_OK):
        return
    if missing := missing_finding(context, "store.key_file"):
        yield missing
        return
    key_file = context.key_file
    if key_file.exists():
        is_passed = is_credential(key_file, context.environ, context.root)
        yield passed("instance key", key_file) if is_passed else private("instance key", key_file, owner)
        yield from _sealed(context)
    elif _has_sealed(context):
        yield Finding("instance key", False, f"{key_file} is missing: what it sealed cannot be opened.")


def _restored(directory: Path) -> Iterator[Finding]:
    """Whether somebody decided what holds of a backup that was restored. Nothing where none was."""
    from gatewayd.store import StoreFailure
    from gatewayd.store.files.restored import find_restored

    try:
        restored = find_restored(directory)
    except StoreFailure as error:
        yield Finding("restore", False, f"{error}.")
        return
    if restored is None:
        return
    which = f"The backup of {restored.backup_made_at} was restored on {restored.restored_at[:10]}"
    if restored.decision is None:
        yield Finding("restore", False, f"{which}, and nobody has decided what holds: gatewayd after-restore.")
        return
    ended = "ended" if restored.decision.access == "end" else "kept"
    done = "" if restored.done else " by the next start"
    yield Finding("restore", True, f"{which}; sessions, keys and grants are {ended}{done}.")


def _has_sealed(context: Context) -> bool:
    """Whether a key was made for the database. False where it is a server's that cannot be asked: see there."""
    from gatewayd.store import StoreFailure
    from gatewayd.store.sealed_rows import sealed_rows_of

    if not context.store_settings.url:
        return context.has_database()
    with contextlib.suppress(StoreFailure):
        return sealed_rows_of(context.store_settings).sample() is not None
    return False


def _sealed(context: Context) -> Iterator[Finding]:
    """Whether every sealed secret opens. Nothing where there are none, or the database cannot be read: see there."""
    from gatewayd.store import StoreFailure
    from gatewayd.store.sealed_rows import sealed_rows_of
    from gatewayd.store.sealer import Sealer, read_key
    from gatewayd.store.sealing.instance_key import closed_values

    path = context.key_file
    if not context.has_database():
        return
    try:
        key = read_key(path)
    except StoreFailure as error:
        yield Finding("sealed secrets", False, f"{error}.")
        return
    try:
        lost, count = closed_values(sealed_rows_of(context.store_settings), Sealer(key))
    except StoreFailure:
        return
    if lost:
        sentence = f"{len(lost)} of {count} do not open with {path}: gatewayd instance-key abandon names them."
        yield Finding("sealed secrets", False, sentence)
    elif count:
        yield Finding("sealed secrets", True, f"Each of {count} opens with {path}.")


def _disk(context: Context) -> Iterator[Finding]:
    place = Path(context.config.store.directory)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    enough = free >= FREE_BYTES_MIN
    yield Finding("disk", enough, f"{free // 2**20} MiB are free at {place}{'' if enough else ', which is little'}.")


def _proxy(context: Context) -> Iterator[Finding]:
    """Where the public URL is https and TLS is not ours, something in front ends it, and speaks for everybody."""
    server = context.config.server
    if server.tls_certificate or not server.public_url.startswith("https://"):
        return
    trusted = ", ".join(server.trusted_proxies)
    sentence = (
        f"Whoever comes through {trusted} is told by X-Forwarded-For."
        if trusted
        else "A proxy ends TLS, and server.trusted_proxies names none: all who come through it count as one network."
    )
    yield Finding("proxy", bool(trusted), sentence)


def _reach(context: Context) -> Iterator[Finding]:
    """Whether the public URL leads to this service."""
    url = context.config.server.public_url
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/healthz", timeout=REACH_SECONDS) as answer:
            well = b'"status":"ok"' in answer.read(1024)
    except urllib.error.HTTPError as error:
        with error:
            yield Finding("public URL", False, f"{url}/healthz answers {error.code}: does the proxy lead here?")
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        yield Finding("public URL", False, f"Nothing answers at {url} ({reason}): is the daemon running?")
        return
    yield Finding("public URL", well, f"{url} {'leads to this service' if well else 'leads to something else'}.")
