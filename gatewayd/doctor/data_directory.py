"""`gatewayd doctor`, of the data directory: whose it is, whether it was restored, the instance key and its secrets."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from gatewayd.config import is_credential
from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding, missing_finding
from gatewayd.doctor.permissions import passed, private


def data_directory(examined: Examined) -> Iterator[Finding]:
    """Nothing is read that this user may not read."""
    directory = Path(examined.config.store.directory)
    if not directory.exists():
        yield Finding("data directory", True, f"{directory} is not there yet; the first start makes it.")
        return
    yield from _restored(directory)
    owner = directory.stat().st_uid
    yield private("data directory", directory, owner)
    if not os.access(directory, os.R_OK | os.X_OK):
        return
    if missing := missing_finding(examined, "store.key_file"):
        yield missing
        return
    key_file = examined.key_file
    if key_file.exists():
        is_passed = is_credential(key_file, examined.environ, examined.root)
        yield passed("instance key", key_file) if is_passed else private("instance key", key_file, owner)
        yield from _sealed(examined)
    elif _has_sealed(examined):
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


def _has_sealed(examined: Examined) -> bool:
    """Whether a key was made for the database. False where it is a server's that cannot be asked: see there."""
    from gatewayd.store import StoreFailure
    from gatewayd.store.sealed_rows import sealed_rows_of

    if not examined.store_settings.url:
        return examined.has_database()
    with contextlib.suppress(StoreFailure):
        return sealed_rows_of(examined.store_settings).sample() is not None
    return False


def _sealed(examined: Examined) -> Iterator[Finding]:
    """Whether every sealed secret opens. Nothing where there are none, or the database cannot be read: see there."""
    from gatewayd.store import StoreFailure
    from gatewayd.store.sealed_rows import sealed_rows_of
    from gatewayd.store.sealer import Sealer, read_key
    from gatewayd.store.sealing.instance_key import closed_values

    path = examined.key_file
    if not examined.has_database():
        return
    try:
        key = read_key(path)
    except StoreFailure as error:
        yield Finding("sealed secrets", False, f"{error}.")
        return
    try:
        lost, count = closed_values(sealed_rows_of(examined.store_settings), Sealer(key))
    except StoreFailure:
        return
    if lost:
        sentence = f"{len(lost)} of {count} do not open with {path}: gatewayd instance-key abandon names them."
        yield Finding("sealed secrets", False, sentence)
    elif count:
        yield Finding("sealed secrets", True, f"Each of {count} opens with {path}.")
