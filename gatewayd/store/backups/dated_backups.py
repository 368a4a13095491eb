"""Backups of many days in one folder, each in one of its own that is named by its instant.

gatewayd-2026-11-24T020000.123Z           a good one
gatewayd-2026-11-25T020000.123Z.damaged   a copy of a store that was not whole: it counts for nothing
.gatewayd-backup-...                      one that is being made or removed: the next run removes it
"""

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from gatewayd.clock import Instant, to_wire
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.manifests import DAMAGED_NAME, Manifest, read_manifest
from gatewayd.store.files.private_files import sync_directory

_NAME: Final = re.compile(r"gatewayd-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z")
_DAMAGED: Final = ".damaged"
_HIDDEN: Final = ".gatewayd-backup-"


class DatedBackup(NamedTuple):
    """What was made, where, and the names of the older ones that were removed for it."""

    manifest: Manifest
    folder: Path
    removed: list[str]


def back_up_into(folder: Path, keep: int, now: Instant, make: Callable[[Path], Manifest]) -> DatedBackup:
    """Have a backup made in a folder of its own, and remove the oldest but `keep` good ones, the new one included.

    None is removed for one that is not good, but an earlier one that is not. Raises `StoreFailure`.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(folder):
            draft = folder / f"{_HIDDEN}{secrets.token_hex(8)}"
            try:
                manifest = make(draft)
                made = folder / _name(now, manifest)
                draft.rename(made)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
            sync_directory(folder)
            return DatedBackup(manifest, made, [_removed(path) for path in _too_many(folder, made, keep)])
    except OSError as error:
        raise StoreFailure(f"the backup cannot be made in {folder}: {error}") from error


def _name(now: Instant, manifest: Manifest) -> str:
    """`to_wire` without its colons, which some file systems and programs refuse."""
    return f"gatewayd-{to_wire(now).replace(':', '')}{_DAMAGED if manifest.faults else ''}"


def _too_many(folder: Path, made: Path, keep: int) -> list[Path]:
    """Whatever the clock says, the one that was just made is the newest."""
    if made.name.endswith(_DAMAGED):
        damaged = folder.glob(f"gatewayd-*{_DAMAGED}")
        return [path for path in damaged if path != made and (path / DAMAGED_NAME).exists()]
    others = sorted((path for path in folder.iterdir() if path != made and _is_good(path)), reverse=True)
    return others[keep - 1 :]


def _is_good(path: Path) -> bool:
    """Whether it is a backup that says it is whole, and has every file that it lists, of the size it lists."""
    if _NAME.fullmatch(path.name) is None:
        return False
    try:
        manifest = read_manifest(path)
        return not manifest.faults and all((path / file.path).stat().st_size == file.bytes for file in manifest.files)
    except (OSError, StoreFailure):
        return False


def _removed(path: Path) -> str:
    """Remove one: nobody finds half of it under its name. Raises `OSError`."""
    hidden = path.with_name(f"{_HIDDEN}{secrets.token_hex(8)}")
    path.rename(hidden)
    shutil.rmtree(hidden)
    return path.name


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One at a time in a folder, by the kernel's lock; what is hidden is then nobody's. Raises `StoreFailure`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _is_ours(descriptor, folder):
            for left in folder.glob(f"{_HIDDEN}*"):
                shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int, folder: Path) -> bool:
    """Whether the lock is; False on a file system without locks: what is hidden may be somebody else's there."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreFailure(f"another backup is being made in {folder}") from None
    except OSError:
        return False
    return True
