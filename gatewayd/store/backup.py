"""Backup: a copy of the store that is taken beside a running daemon, and its restore.

gatewayd.db     the database as it was at one instant
blobs/          the documents it names
instance.key    only on request: without it the copy reveals no sealed secret
manifest.json   written last: a backup without one is not finished
"""

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from gatewayd.clock import Instant, to_wire
from gatewayd.store import connections, schema
from gatewayd.store.copies import copy_database
from gatewayd.store.directory import refuse_beside_daemon
from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure
from gatewayd.store.private_files import sync_directory
from gatewayd.store.restored import MARK_NAME, Decision, Restored
from gatewayd.store.settings import DATABASE_NAME

MANIFEST_NAME = "manifest.json"
KEY_NAME = "instance.key"
BLOBS_NAME = "blobs"
FORMAT = 1
PAGES_PER_STEP = 2_000  # 16 MB: Ctrl-C works between two steps
CHUNK_BYTES = 1 << 20


class File(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a backup; `path` is relative and written with slashes."""

    path: str
    sha256: str
    bytes: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a backup holds."""

    format: int
    made_at: str
    files: list[File]

    @property
    def with_key(self) -> bool:
        return any(file.path == KEY_NAME for file in self.files)


def back_up(directory: Path, destination: Path, now: Instant, key_file: Path | None = None) -> Manifest:
    """Copy the store in `directory` to `destination`, which must not be there or be empty. `key_file`: that too.

    Raises `StoreFailure`; what was copied until then stays, without a manifest.
    """
    if not (directory / DATABASE_NAME).exists():
        raise StoreFailure(f"there is no database in {directory}")
    try:
        _make_empty(destination)
        copy_database(directory / DATABASE_NAME, destination / DATABASE_NAME)
        # After the database: a document is stored before the row that names it.
        for path in _blobs(directory):
            with contextlib.suppress(_Gone):  # nothing names it any more
                _copy(path, destination / path.relative_to(directory))
        if key_file is not None:
            _copy(key_file, destination / KEY_NAME)
        manifest = Manifest(format=FORMAT, made_at=to_wire(now), files=list(_files(destination)))
        _write(destination / MANIFEST_NAME, msgspec.json.format(msgspec.json.encode(manifest)))
        _sync_tree(destination)
    except OSError as error:
        raise StoreFailure(f"the backup cannot be written: {error}") from error
    return manifest


def restore(source: Path, directory: Path, now: Instant, decision: Decision | None = None) -> Manifest:
    """Restore a backup to `directory`, which must not be there or be empty. It appears whole or not at all, and marked.

    Raises `StoreFailure` where the backup is not what its manifest says, and beside a daemon that works there.
    """
    refuse_beside_daemon(directory)
    manifest = validate(source)
    draft = directory.with_name(f".{directory.name}.{secrets.token_hex(8)}")
    try:
        if directory.exists() and any(directory.iterdir()):
            raise StoreFailure(f"{directory} is not empty: a backup is restored into an empty directory")
        draft.mkdir(mode=0o700, parents=True)
        for file in manifest.files:
            _copy(source / file.path, draft / file.path)
        restored = Restored(backup_made_at=manifest.made_at, restored_at=to_wire(now), decision=decision)
        _write(draft / MARK_NAME, restored.encoded)
        _sync_tree(draft)
        draft.rename(directory)
        sync_directory(directory.parent)
    except OSError as error:
        raise StoreFailure(f"the backup cannot be restored: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def validate(source: Path) -> Manifest:
    """The manifest of a backup that holds exactly what it lists. Raises `StoreFailure`."""
    try:
        manifest = msgspec.json.decode((source / MANIFEST_NAME).read_bytes(), type=Manifest)
        found = {file.path: file for file in _files(source)}
    except FileNotFoundError as error:
        raise StoreFailure(f"{source} is no finished backup: it has no {MANIFEST_NAME}") from error
    except (OSError, msgspec.DecodeError) as error:
        raise StoreFailure(f"the backup {source} cannot be read: {error}") from error
    if manifest.format != FORMAT:
        raise StoreFailure(f"{source} is a backup of format {manifest.format}: it needs another gatewayd")
    listed = {file.path: file for file in manifest.files}
    wrong = sorted(path for path in listed.keys() | found.keys() if listed.get(path) != found.get(path))
    if wrong or DATABASE_NAME not in listed:
        raise StoreFailure(f"the backup {source} is damaged: {', '.join(wrong[:5]) or 'it has no database'}")
    return manifest


def find_faults(database: Path) -> list[str]:
    """What SQLite finds wrong with a database; empty: nothing. Raises `StoreFailure` where it cannot be read."""
    connection = connections.open_reader(database, 5)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        found = [] if found == ["ok"] else found
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            found.append(f"row {row} of {table} refers to a row of {parent} that is not there")
    except ENGINE_FAILURES as error:
        return [f"the database cannot be read: {error}"]
    finally:
        connection.close()
    return found


def is_current(database: Path) -> bool:
    """Whether no migration waits for it. Raises `MigrationError`, or `StoreFailure` where it cannot be read."""
    connection = connections.open_reader(database, 5)
    try:
        return not schema.pending(connection, schema.packaged())
    except ENGINE_FAILURES as error:
        raise StoreFailure(f"the database cannot be read: {error}") from error
    finally:
        connection.close()


def _make_empty(destination: Path) -> None:
    destination.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise StoreFailure(f"{destination} is not empty: a backup is written into an empty directory")


def _blobs(directory: Path) -> Iterator[Path]:
    folder = directory / BLOBS_NAME
    drafts = folder / "drafts"
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and drafts not in path.parents)


def _files(root: Path) -> Iterator[File]:
    """Every file but the manifest; symbolic links are not followed, and so never match a manifest."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            yield File(path=name, sha256="a link", bytes=0)
        elif path.is_file() and name != MANIFEST_NAME:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield File(path=name, sha256=digest, bytes=path.stat().st_size)


class _Gone(OSError):
    """A file was deleted before it could be copied."""


def _copy(source: Path, destination: Path) -> None:
    """Raises `OSError`: `_Gone` where there is nothing to be copied, and then nothing is made."""
    try:
        origin = source.open("rb")
    except FileNotFoundError as error:
        raise _Gone(*error.args) from error
    with origin:
        _write_from(origin, destination)


def _write_from(origin: BinaryIO, destination: Path) -> None:
    destination.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(destination, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(origin, file, CHUNK_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_tree(root: Path) -> None:
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        sync_directory(folder)
