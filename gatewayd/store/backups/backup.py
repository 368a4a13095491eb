"""Backup: a copy of the store that is taken beside a running daemon, and looked at before it is called one.

gatewayd.db     the database as it was at one instant; the rows of a PostgreSQL are backed up by its own tools
blobs/          the files it names: documents, what was made of them, sealed periods
instance.key    only on request: without it the copy reveals no sealed secret
manifest.json   what it holds; damaged.json instead where the store was not whole, or the copy is not
"""

import contextlib
import errno
import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol

from gatewayd.clock import Instant, to_wire
from gatewayd.store.backups.named_blobs import NamedFile, Naming, RowsElsewhere, named_in
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.files.blobs import CHUNK_BYTES, Blobs
from gatewayd.store.files.manifests import BLOBS_NAME, FORMAT, KEY_NAME, File, Manifest, described, write_manifest
from gatewayd.store.files.place import missing, read_mark
from gatewayd.store.files.private_files import create_file, sync_directory
from gatewayd.store.settings import DATABASE_NAME, PLACE_MARK, Place
from gatewayd.store.sqlite.copies import copy_database
from gatewayd.store.sqlite.integrity import find_faults

ATTEMPTS_MAX: Final = 5  # Chosen: what is deleted while a copy is made is rare, and less each time


class Watcher(Protocol):
    """Who is told how far a copy is."""

    def expect(self, files: int, size_bytes: int) -> None:
        """So many more files are to be copied, of so many bytes."""
        ...

    def advance(self, size_bytes: int, name: str, files: int = 1) -> None:
        """So many more files are done, and so many bytes."""
        ...


class Unwatched:
    """Nobody is told."""

    def expect(self, files: int, size_bytes: int) -> None:
        """Nothing."""

    def advance(self, size_bytes: int, name: str, files: int = 1) -> None:
        """Nothing."""


class Looking(NamedTuple):
    """How a copy is looked at: by what names its files, and with whom watching.

    `rows`: where these are, which is not copied; None: in a file of the store.
    `place`: where the files lie that are copied; None: beside the database.
    """

    naming: Naming
    watcher: Watcher = Unwatched()
    rows: RowsElsewhere | None = None
    place: Place | None = None


def back_up(
    directory: Path, destination: Path, now: Instant, looking: Looking, key_file: Path | None = None
) -> Manifest:
    """Copy the store in `directory` to `destination`, which must not be there or be empty. `key_file`: that too.

    The copy is read again, and of a store that is not whole the manifest has `faults`: it is no backup then, though all
    that is there was copied. Raises `StoreFailure`; what was copied until then stays, without a manifest.
    """
    if looking.rows is None and not (directory / DATABASE_NAME).exists():
        raise StoreFailure(f"there is no database in {directory}")
    try:
        _make_empty(destination)
        copying = _Copying(directory, destination, looking)
        copying.run()
        files = [*copying.files.values()]
        if looking.rows is None:
            files.append(described(destination, destination / DATABASE_NAME))
        if key_file is not None:
            copy_file(key_file, destination / KEY_NAME)
            files.append(described(destination, destination / KEY_NAME))
        files.sort(key=lambda file: file.path)
        name = "" if looking.rows is None else looking.rows.name
        manifest = Manifest(format=FORMAT, made_at=to_wire(now), files=files, faults=copying.faults, database=name)
        write_manifest(destination, manifest)
        sync_tree(destination)
    except OSError as error:
        raise StoreFailure(f"the backup cannot be written: {error}") from error
    return manifest


class _Copying:
    """One copy on its way. `files`: the blobs that are in it, by digest."""

    def __init__(self, directory: Path, destination: Path, looking: Looking) -> None:
        self._source, self._destination = directory, destination
        self._naming, self._watcher, self._rows, place = looking
        self._place = place or Place(directory, is_shared=False)
        self.files: dict[str, File] = {}
        self._of_database: list[str] = []
        self._of_blobs: dict[str, str] = {}

    @property
    def faults(self) -> list[str]:
        """A sentence for each."""
        return [*self._of_database, *self._of_blobs.values()]

    def run(self) -> None:
        """The database, and then what it names: that was there before it was named.

        A place that has a mark is restored with it: the data directory takes its part then.

        What a daemon deletes meanwhile, because nothing names it any more, would be missing in a copy that does: then
        the database is copied once more. Raises `OSError`, `StoreFailure`.
        """
        mark = read_mark(self._place) if self._place.is_shared else None
        if self._place.is_shared and mark is None:
            raise StoreFailure(missing(self._place))
        for _ in range(ATTEMPTS_MAX):
            named = self._copy_database()
            lost = self._copy_blobs(named)
            if not lost or not self._deleted(lost):
                break
        for sha256 in self.files.keys() - named.keys():
            (self._destination / self.files.pop(sha256).path).unlink()
        damaged = {sha256: fault for sha256, fault in self._of_blobs.items() if sha256 in named}
        if mark is not None or self._place.mark_file.exists():
            create_file(self._destination / PLACE_MARK, f"{mark or read_mark(self._place)}\n".encode(), None)
            self.files[PLACE_MARK] = described(self._destination, self._destination / PLACE_MARK)
        self._of_blobs = damaged | {sha256: f"the bytes of {file.named_by} are lost" for sha256, file in lost.items()}

    def _copy_database(self) -> dict[str, NamedFile]:
        """What it names. Where it is damaged too much to tell, every file that is there. Rows elsewhere stay there."""
        if self._rows is not None:
            return self._rows.named()
        source, copy = self._source / DATABASE_NAME, self._destination / DATABASE_NAME
        copy.unlink(missing_ok=True)
        self._watcher.expect(1, source.stat().st_size)
        copy_database(source, copy, told=lambda size_bytes: self._watcher.advance(size_bytes, DATABASE_NAME, files=0))
        self._watcher.advance(0, f"{DATABASE_NAME}, which is looked at")
        try:
            found = find_faults(copy, is_copy=True)
            named = named_in(copy, self._naming, is_copy=True)
        except StoreFailure as error:
            found, named = [str(error)], dict(self._found())
        self._of_database = [f"the database is damaged: {fault}" for fault in found]
        return named

    def _copy_blobs(self, named: dict[str, NamedFile]) -> dict[str, NamedFile]:
        """Copy what is not copied yet; answers what is not there."""
        missing = [file for sha256, file in named.items() if sha256 not in self.files]
        self._watcher.expect(len(missing), sum(file.size_bytes for file in missing))
        lost = {}
        for file in missing:
            try:
                copied = self._copy_blob(file.sha256)
            except Gone:
                lost[file.sha256] = file
            else:
                if copied is None or not is_whole(file, copied):
                    self._of_blobs[file.sha256] = not_stored(file)
                if copied is not None:
                    self.files[file.sha256] = copied
            self._watcher.advance(file.size_bytes, file.named_by)
        return lost

    def _copy_blob(self, sha256: str) -> File | None:
        """The copy as it was read again; None where the disk cannot read the file.

        Raises `OSError`, `Gone`; of a bucket `StoreFailure`.
        """
        path = blob_path(sha256)
        copy = self._destination / path
        try:
            if self._place.bucket is None:
                copy_file(self._place.folder / path, copy)
            else:
                self._fetch(sha256, copy)
            return described(self._destination, copy)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            copy.unlink(missing_ok=True)
            return None

    @cached_property
    def _blobs(self) -> Blobs:
        """Those of a bucket."""
        return blobs_at(self._place)

    def _fetch(self, sha256: str, copy: Path) -> None:
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open_new(copy) as file:
                self._blobs.copy_out(sha256, file)
                file.flush()
                os.fsync(file.fileno())
        except FileNotFoundError as error:
            copy.unlink()
            raise Gone(*error.args) from error
        except StoreFailure:
            copy.unlink()
            raise

    def _deleted(self, lost: dict[str, NamedFile]) -> bool:
        """Whether some of it is lost because it was deleted, and named no more."""
        database = self._source / DATABASE_NAME
        with contextlib.suppress(StoreFailure):
            named = self._rows.named() if self._rows else named_in(database, self._naming, is_copy=False)
            return not lost.keys() <= named.keys()
        return False

    def _found(self) -> list[tuple[str, NamedFile]]:
        """Every blob of the store, as one that is named by itself."""
        if self._place.bucket is not None:
            found = self._blobs.found()
            return [(each.sha256, NamedFile(each.sha256, each.size_bytes, each.sha256)) for each in found]
        paths = [path for path in (self._place.folder / BLOBS_NAME).glob("??/*") if path.is_file()]
        return [(path.name, NamedFile(path.name, path.stat().st_size, path.name)) for path in sorted(paths)]


def is_whole(named: NamedFile, found: File) -> bool:
    """Whether a file is what a database names."""
    return (found.sha256, found.bytes) == (named.sha256, named.size_bytes)


def blob_path(sha256: str) -> str:
    """Where a blob lies in a store, and in a backup."""
    return f"{BLOBS_NAME}/{sha256[:2]}/{sha256}"


def not_stored(file: NamedFile) -> str:
    """The sentence for a file that is damaged."""
    return f"the bytes of {file.named_by} are not those that were stored: {blob_path(file.sha256)}"


class Gone(OSError):
    """A file was deleted before it could be copied."""


def copy_file(source: Path, destination: Path) -> None:
    """Raises `OSError`: `Gone` where there is nothing to be copied, and then nothing is made."""
    try:
        origin = source.open("rb")
    except FileNotFoundError as error:
        raise Gone(*error.args) from error
    with origin:
        _write_from(origin, destination)


def sync_tree(root: Path) -> None:
    """Make every name in a folder durable."""
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        sync_directory(folder)


def _make_empty(destination: Path) -> None:
    destination.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise StoreFailure(f"{destination} is not empty: a backup is written into an empty directory")


def open_new(path: Path) -> BinaryIO:
    """A new file that its owner alone may read. Raises `OSError`."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _write_from(origin: BinaryIO, destination: Path) -> None:
    destination.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open_new(destination) as file:
        shutil.copyfileobj(origin, file, CHUNK_BYTES)
        file.flush()
        os.fsync(file.fileno())
