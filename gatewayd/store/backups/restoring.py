"""Looking at a backup where it lies, and restoring it: the copy is read again before it takes its place."""

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from gatewayd.clock import Instant, to_wire
from gatewayd.store.backups.backup import Looking, blob_path, copy_file, is_whole, not_stored, sync_tree
from gatewayd.store.backups.named_blobs import NamedFile, Naming, RowsElsewhere, named_in
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.directory import refuse_beside_daemon
from gatewayd.store.files.manifests import File, Manifest, described, files_in, read_manifest
from gatewayd.store.files.private_files import create_file, sync_directory
from gatewayd.store.files.restored import MARK_NAME, Decision, Restored
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite.integrity import find_faults

SHOWN: Final = 5  # faults that a refusal names


def verify_backup(source: Path, looking: Looking) -> tuple[Manifest, list[str]]:
    """What a backup says it is, and a sentence for each thing that is not so: every byte of it is read.

    Raises `StoreFailure` for what is no finished backup.
    """
    manifest = read_manifest(source)
    faults = [*manifest.faults, *_misnamed(source, manifest)]
    return manifest, faults + _faults_of(source, manifest, looking)


def restore(
    source: Path,
    directory: Path,
    now: Instant,
    looking: Looking,
    decision: Decision | None = None,
    *,
    damaged: bool = False,
) -> tuple[Manifest, list[str]]:
    """Restore a backup to `directory`, which must not be there or be empty. It appears whole or not at all, and marked.

    Answers what was wrong with it: nothing, unless `damaged` asks for what is left of it. Raises `StoreFailure` where
    the backup is not what it says, or what its database names, and beside a daemon that works there.
    """
    refuse_beside_daemon(directory)
    manifest = read_manifest(source)
    _require_rows(source, manifest, looking.rows)
    faults = [*manifest.faults, *_misnamed(source, manifest)]
    try:
        if directory.exists() and any(directory.iterdir()):
            raise StoreFailure(f"{directory} is not empty: a backup is restored into an empty directory")
        _refuse(source, [] if damaged else faults)
        with _draft_of(directory) as draft:
            _copy(source, draft, manifest)
            faults += _faults_of(draft, manifest, looking)
            _refuse(source, [] if damaged else faults)
            restored = Restored(backup_made_at=manifest.made_at, restored_at=to_wire(now), decision=decision)
            create_file(draft / MARK_NAME, restored.encoded, None)
            sync_tree(draft)
            draft.rename(directory)
            sync_directory(directory.parent)
    except OSError as error:
        raise StoreFailure(f"the backup cannot be restored: {error}") from error
    return manifest, list(dict.fromkeys(faults))


def _require_rows(source: Path, manifest: Manifest, rows: RowsElsewhere | None) -> None:
    """Raises `StoreFailure` where the rows of a backup and those of the settings are not of one kind."""
    if manifest.database and rows is None:
        raise StoreFailure(
            f"the backup {source} has no rows: they were in {manifest.database}; restore them with pg_restore, and name"
            " the database in store.url"
        )
    if rows is not None and not manifest.database:
        raise StoreFailure(
            f"the backup {source} has its rows in a file of SQLite's, and store.url names a PostgreSQL: restore it"
            " without that, and then copy the store"
        )


def _misnamed(source: Path, manifest: Manifest) -> list[str]:
    """Files that are listed and not there, or there and not listed."""
    listed = {file.path for file in manifest.files}
    there = {path.relative_to(source).as_posix(): path.is_symlink() for path in files_in(source)}
    return [
        *(f"{name} is missing" for name in sorted(listed - there.keys())),
        *(f"{name} is a link" for name, is_link in there.items() if is_link),
        *(f"{name} is not on its list" for name in sorted(there.keys() - listed)),
    ]


def _listed(folder: Path, manifest: Manifest) -> Iterator[tuple[File, Path]]:
    """What is listed and there; nothing that a link or the list leads to elsewhere."""
    listed = {file.path: file for file in manifest.files}
    for path in files_in(folder):
        file = listed.get(path.relative_to(folder).as_posix())
        if file is not None and not path.is_symlink():
            yield file, path


def _copy(source: Path, draft: Path, manifest: Manifest) -> None:
    """Raises `OSError`. What the disk cannot read is left out, and missing then."""
    for file, path in _listed(source, manifest):
        try:
            copy_file(path, draft / file.path)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            (draft / file.path).unlink(missing_ok=True)


def _faults_of(folder: Path, manifest: Manifest, looking: Looking) -> list[str]:
    """What is otherwise than the list says, and than the database says: the bytes are those of `folder`."""
    naming, watcher, rows = looking
    watcher.expect(len(manifest.files), manifest.size_bytes)
    found, faults = dict[str, File](), list[str]()
    for file, path in _listed(folder, manifest):
        try:
            found[file.path] = described(folder, path)
        except OSError as error:
            faults.append(f"{file.path} cannot be read: {error.strerror}")
        else:
            faults += [f"{file.path} is not what was copied"] if found[file.path] != file else []
        watcher.advance(file.bytes, file.path)
    if not manifest.database:
        return faults + _faults_of_database(folder / DATABASE_NAME, found, naming)
    return faults if rows is None else faults + _faults_of_named(rows.named(), found)


def _faults_of_database(database: Path, found: Mapping[str, File], naming: Naming) -> list[str]:
    """What SQLite finds, and what the database names that is not there as it names it."""
    if DATABASE_NAME not in found:
        raise StoreFailure(f"the backup {database.parent} is damaged: its database cannot be read")
    try:
        faults = [f"the database is damaged: {fault}" for fault in find_faults(database, is_copy=True)]
        named = named_in(database, naming, is_copy=True)
    except StoreFailure as error:
        return [f"the database is damaged: {error}"]
    return faults + _faults_of_named(named, found)


def _faults_of_named(named: Mapping[str, NamedFile], found: Mapping[str, File]) -> list[str]:
    faults = []
    for file in named.values():
        copy = found.get(blob_path(file.sha256))
        if copy is None:
            faults.append(f"the bytes of {file.named_by} are lost")
        elif not is_whole(file, copy):
            faults.append(not_stored(file))
    return faults


def _refuse(source: Path, faults: Sequence[str]) -> None:
    if faults:
        more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        told = "; ".join([*faults[:SHOWN], *more])
        raise StoreFailure(f"the backup {source} is damaged: {told} (what is left of it comes back with --damaged)")


@contextlib.contextmanager
def _draft_of(directory: Path) -> Iterator[Path]:
    """A folder beside, that is gone in the end or in its place; what killed restores left is removed.

    Its lock is the kernel's and ends with its process: what is not locked is nobody's.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    for left in directory.parent.glob(f".{directory.name}.restoring-*"):
        remove_unlocked(left)
    draft = directory.with_name(f".{directory.name}.restoring-{secrets.token_hex(8)}")
    draft.mkdir(mode=0o700)
    descriptor = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield draft
    finally:
        os.close(descriptor)
        shutil.rmtree(draft, ignore_errors=True)


def remove_unlocked(draft: Path) -> None:
    """Remove the folder of a copy that nobody makes any more."""
    with contextlib.suppress(OSError):
        descriptor = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(draft, ignore_errors=True)
        finally:
            os.close(descriptor)
