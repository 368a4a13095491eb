"""Bytes too large for the database: files named by their SHA-256 under the data directory."""

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple

from gatewayd.clock import Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.place import missing, read_mark
from gatewayd.store.files.private_files import create_file, make_folder, make_private, sync_directory
from gatewayd.store.settings import Place

_DIGEST = re.compile("[0-9a-f]{64}")
CHUNK_BYTES = 1 << 20
DAMAGED: Final = "damaged"
"""The folder in the data directory for what is set aside."""


class BlobInfo(NamedTuple):
    """What was stored."""

    sha256: str
    size_bytes: int


class BlobTooLarge(Exception):
    """More bytes came than were allowed; none were stored."""


class BlobDraft:
    """Bytes on their way in: write chunks, then `save` or `discard`. Until saved they have no readable name."""

    def __init__(self, folder: Path, drafts: Path, max_bytes: int) -> None:
        self._folder = folder
        self._path = drafts / secrets.token_hex(16)
        self._max_bytes = max_bytes
        self._hash = hashlib.sha256()
        self._size = 0
        try:
            self._file: BinaryIO = os.fdopen(make_private(self._path, os.O_WRONLY, folder), "wb")
        except OSError as error:
            raise _refused(error) from error

    def __enter__(self) -> "BlobDraft":
        return self

    def __exit__(self, *_: object) -> None:
        """What was not saved is discarded."""
        self.discard()

    @property
    def sha256(self) -> str:
        """Of what was written, in hexadecimal."""
        return self._hash.hexdigest()

    def write(self, chunk: bytes | bytearray) -> None:
        """Append. Raises `BlobTooLarge`, or `StoreFailure` when the disk refuses; the draft is then gone."""
        self._size += len(chunk)
        if self._size > self._max_bytes:
            self.discard()
            raise BlobTooLarge
        self._hash.update(chunk)
        try:
            self._file.write(chunk)
        except OSError as error:
            self.discard()
            raise _refused(error) from error

    def sync(self) -> None:
        """Bring what was written to the disk, so that `save` has little left. Raises as `write` does."""
        try:
            self._file.flush()
            os.fdatasync(self._file.fileno())
        except OSError as error:
            self.discard()
            raise _refused(error) from error

    def written(self) -> Path:
        """Where the bytes so far can be read until the draft ends. Raises as `write` does."""
        try:
            self._file.flush()
        except OSError as error:
            self.discard()
            raise _refused(error) from error
        return self._path

    def save(self) -> BlobInfo:
        """Make the bytes durable under their digest. Raises `StoreFailure`; the draft is then gone."""
        digest = self.sha256
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            _name(self._path, self._folder, digest)
        except OSError as error:
            self.discard()
            raise _refused(error) from error
        return BlobInfo(digest, self._size)

    def discard(self) -> None:
        """Delete the bytes, unless they are saved already."""
        with contextlib.suppress(OSError):  # the buffer may not fit a full disk; the file goes next
            self._file.close()
        self._path.unlink(missing_ok=True)


def _name(path: Path, folder: Path, digest: str) -> None:
    """Give a file on the disk the name that its bytes have, in the place of one that has them. Raises `OSError`."""
    target = folder / digest[:2] / digest
    make_folder(target.parent, folder)
    sync_directory(folder)  # also where another made it: its own sync may be yet to come
    os.rename(path, target)
    sync_directory(target.parent)


def _delete_old(path: Path, before: Instant, aside: Path) -> bool:
    """Delete a file that was written before an instant; answers whether it was there, and old. Raises `OSError`.

    It is moved aside first: what another takes its place in the same moment is put back.
    """
    with contextlib.suppress(FileNotFoundError):  # somebody else was first
        if path.stat().st_mtime_ns >= before * 1_000:
            return False
        path.rename(aside)
        if aside.stat().st_mtime_ns >= before * 1_000:
            aside.rename(path)
            return False
        aside.unlink()
        return True
    return False


def _link(path: Path, name: Path) -> None:
    """A second name for a file; where the file system has one only, it moves. Raises `OSError`."""
    try:
        os.link(path, name)
    except FileNotFoundError:
        raise
    except OSError:
        os.rename(path, name)


def _refused(error: OSError) -> StoreFailure:
    return StoreFailure(f"the upload cannot be stored: {error.strerror}")


class Blobs:
    """Content-addressed files. The same bytes stored twice are one file.

    `is_shared`: daemons of several machines work with them, and what is young is told by the clock of the share, for a
    file bears no other. Raises `OSError`.
    """

    def __init__(self, directory: Path, *, is_shared: bool = False) -> None:
        self.folder = directory / "blobs"
        self._is_shared = is_shared
        self._drafts = self.folder / "drafts"
        make_folder(self.folder, directory)
        make_folder(self._drafts, directory)

    @classmethod
    def at(cls, place: Place) -> "Blobs":
        """Those of a place. Raises `OSError`, or `StoreFailure` where it is not there, or shared and not mounted."""
        if place.is_shared and read_mark(place) is None:
            raise StoreFailure(missing(place))
        if not place.folder.is_dir():  # beside a PostgreSQL, which needs no folder for its rows
            raise StoreFailure(f"{place.folder}, where documents lie, is not there")
        return cls(place.folder, is_shared=place.is_shared)

    def as_the_disk_tells(self, now: Instant) -> Instant:
        """The instant that a file written `now` would bear. Raises `StoreFailure`."""
        if not self._is_shared:
            return now
        probe = self._drafts / secrets.token_hex(16)
        try:
            create_file(probe, b"", self.folder)
            return Instant(probe.stat().st_mtime_ns // 1_000)
        except OSError as error:
            raise _refused(error) from error
        finally:
            with contextlib.suppress(OSError):
                probe.unlink(missing_ok=True)

    def draft(self, max_bytes: int) -> BlobDraft:
        """Begin to store at most `max_bytes`."""
        return BlobDraft(self.folder, self._drafts, max_bytes)

    def adopt(self, path: Path) -> BlobInfo:
        """Store a whole file of the same data directory, which keeps its own name beside. Raises `StoreFailure`."""
        draft = self._drafts / secrets.token_hex(16)
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                os.utime(file.fileno())  # what is young is not swept before somebody names it
                os.fsync(file.fileno())
                size = os.fstat(file.fileno()).st_size
            _link(path, draft)
            _name(draft, self.folder, digest)
        except OSError as error:
            raise _refused(error) from error
        finally:
            draft.unlink(missing_ok=True)
        return BlobInfo(digest, size)

    def path(self, sha256: str) -> Path:
        """Where the bytes are. Raises `ValueError` for what is no digest, `FileNotFoundError` when they are gone.

        Raises `StoreFailure` where that cannot be told: a share that is not mounted has lost nothing.
        """
        if not _DIGEST.fullmatch(sha256):
            raise ValueError("a blob is named by 64 lower-case hexadecimal digits")
        path = self.folder / sha256[:2] / sha256
        try:
            if path.is_file():
                return path
            is_there = self.folder.is_dir()
        except OSError as error:  # a share that answers nothing
            raise StoreFailure(f"{self.folder} cannot be read: {error.strerror}") from error
        if not is_there:
            raise StoreFailure(f"{self.folder} is not there")
        raise FileNotFoundError(path)

    def chunks(self, sha256: str) -> Iterator[bytes]:
        """The bytes, a mebibyte at a time."""
        with self.path(sha256).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def remove(self, sha256: str) -> None:
        """Delete the bytes; nothing happens where they are gone already."""
        try:
            self.path(sha256).unlink()
        except FileNotFoundError:
            return

    def remove_old(self, sha256: str, before: Instant) -> bool:
        """Delete bytes that were stored before an instant, and answer whether. Raises `StoreFailure`.

        Those that somebody stored again since stay: they are about to be named.
        """
        try:
            return _delete_old(self.path(sha256), before, self._drafts / secrets.token_hex(16))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreFailure(f"what nothing names cannot be deleted: {error.strerror}") from error

    def sweep(self, is_named: Callable[[str], bool], before: Instant) -> int:
        """Delete what a kill left: drafts, and what is stored but named by nothing; answers how many files.

        What was written since `before` stays: somebody, here or in another process, may be about to name it. Raises
        `StoreFailure`.
        """
        swept = 0
        try:
            for path in self.folder.glob("*/*"):
                if _DIGEST.fullmatch(path.name) is None or not is_named(path.name):
                    swept += _delete_old(path, before, self._drafts / secrets.token_hex(16))
        except OSError as error:
            raise StoreFailure(f"what nothing names cannot be deleted: {error.strerror}") from error
        return swept


def fault_of(blobs: Blobs, sha256: str, size_bytes: int) -> Literal["lost", "damaged"] | None:
    """What is wrong with a blob; None: nothing."""
    try:
        with blobs.path(sha256).open("rb") as file:
            is_whole = os.fstat(file.fileno()).st_size == size_bytes
            return None if is_whole and hashlib.file_digest(file, "sha256").hexdigest() == sha256 else "damaged"
    except FileNotFoundError:
        return "lost"
    except OSError:  # a disk that cannot read it
        return "damaged"


def set_aside(blobs: Blobs, directory: Path, sha256: str) -> Path:
    """Move a damaged blob away: nobody is given it, and the same bytes can be stored anew. Raises `StoreFailure`."""
    try:
        make_folder(directory / DAMAGED, directory)
        there = blobs.path(sha256)
        aside = directory / DAMAGED / sha256
        os.replace(there, aside)
        sync_directory(there.parent)
        sync_directory(aside.parent)
    except OSError as error:
        raise StoreFailure(f"what is damaged cannot be moved: {error.strerror}") from error
    return aside
