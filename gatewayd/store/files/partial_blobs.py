"""Bytes that arrive in several requests: each upload is a file of its own until it is whole, and outlasts kills.

uploads/NAME        what has arrived; its size is how far the upload is
uploads/NAME.since  where a part began whose checksum is not known to be right: after a kill the upload stands there

NAME is an id, or an id and what tells a copy from the file before it (see `appending`).

A file's size counts once it is synced. What it holds is hashed when it is whole.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gatewayd.clock import Instant
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.blobs import BlobInfo, Blobs
from gatewayd.store.files.directory import free_bytes
from gatewayd.store.files.incoming_files import RESERVE_BYTES
from gatewayd.store.files.private_files import create_file, make_folder, make_private, open_private, sync_directory

FOLDER_NAME: Final = "uploads"
COPY_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[a-z]{1,8}_[0-9a-z]{1,64}(\.[0-9a-f]{16})?")
_SINCE: Final = ".since"


class PartialBlobs:
    """The uploads under way below one data directory, each by the id of what it is for."""

    def __init__(self, directory: Path) -> None:
        """Raises `OSError`."""
        self.folder = directory / FOLDER_NAME
        make_folder(self.folder, directory)

    @staticmethod
    def is_name(name: str) -> bool:
        """Whether it is the name of an upload."""
        return _NAME.fullmatch(name) is not None

    def path(self, name: str) -> Path:
        """Where the bytes are, whether or not any came. Raises `ValueError` for what is no name of an upload."""
        if not self.is_name(name):
            raise ValueError("an upload is named by an id, a copy by an id and 16 digits")
        return self.folder / name

    def size(self, name: str) -> int:
        """How many bytes are there, durable. Raises `StoreFailure`."""
        if not self._is_there(self.path(name)):
            return 0
        with self.open(name) as partial:
            partial.sync()
            return partial.size

    def _is_there(self, path: Path) -> bool:
        """Whether an upload has a file. Raises `StoreFailure` where the folder has gone: it has lost nothing."""
        with _refusals():
            if path.exists():
                return True
            self.folder.stat()
        return False

    def open(self, name: str) -> "PartialBlob":
        """Go on behind what is there. Raises `StoreFailure`."""
        return PartialBlob(self.path(name), self.folder)

    def is_certain(self, name: str) -> bool:
        """Whether all that was asked for of an upload is done, or will never be: who goes on needs no copy."""
        self.path(name)
        return True

    def adopt(self, name: str, blobs: Blobs) -> BlobInfo:
        """Make a blob of a whole upload, of an empty one too. Raises `StoreFailure`."""
        with self.open(name):
            return blobs.adopt(self.path(name))

    def copy(self, name: str, to: str) -> None:
        """Make another file of what counts of an upload, durable; of nothing, none. Raises `StoreFailure`."""
        source, target = self.path(name), self.path(to)
        if not self._is_there(source):
            return
        with _refusals(), source.open("rb") as file:
            left = _counting(source, os.fstat(file.fileno()).st_size)
            if free_bytes(self.folder) < RESERVE_BYTES + left:
                raise StoreFailure("the disk has no room for the document")
            with os.fdopen(make_private(target, os.O_WRONLY, self.folder), "wb") as copied:
                while left and (part := file.read(min(left, COPY_BYTES))):
                    left -= copied.write(part)
                copied.flush()
                os.fsync(copied.fileno())
            sync_directory(self.folder)

    def is_older(self, name: str, before: Instant) -> bool:
        """Whether nothing was written to it since an instant of the disk's clock. Raises `StoreFailure`."""
        path = self.path(name)
        with _refusals():
            for each in (path, _since(path)):
                with contextlib.suppress(FileNotFoundError):
                    if each.stat().st_mtime_ns >= before * 1_000:
                        return False
        return True

    def discard(self, name: str) -> None:
        """Delete what came, if anything did."""
        path = self.path(name)
        path.unlink(missing_ok=True)
        _since(path).unlink(missing_ok=True)

    def begin_anew(self, name: str) -> None:
        """Delete what came, and let what comes then begin at 0. Raises `StoreFailure`."""
        self.discard(name)

    def list_names(self) -> list[str]:
        """Every upload of which something is there. Raises `StoreFailure`."""
        with _refusals():
            names = {path.name.removesuffix(_SINCE) for path in self.folder.iterdir()}
        return sorted(name for name in names if self.is_name(name))


class PartialBlob:
    """An upload that is gone on with. Every method waits for the disk, and raises `StoreFailure` where it refuses."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._folder = folder
        with _refusals():
            is_new = not path.exists()
            self._file = open_private(path, os.O_WRONLY, folder)
            if is_new:
                sync_directory(folder)
        self.size = os.fstat(self._file).st_size
        with contextlib.ExitStack() as opened:
            opened.callback(self.close)
            self._recover()
            opened.pop_all()

    def __enter__(self) -> "PartialBlob":
        return self

    def __exit__(self, *_: object) -> None:
        """What was written stays."""
        self.close()

    def write(self, part: bytes | bytearray) -> None:
        """Append."""
        view = memoryview(part)
        with _refusals():
            while view:
                written = os.pwrite(self._file, view, self.size)
                self.size += written
                view = view[written:]

    def sync(self) -> None:
        """Make durable what was written."""
        with _refusals():
            os.fdatasync(self._file)

    def doubt(self) -> None:
        """What is written from now on counts only once `trust` was called; until then a kill takes it back."""
        with _refusals():
            self.sync()
            create_file(_since(self._path), b"%d" % self.size, self._folder)
            sync_directory(self._folder)

    def trust(self) -> None:
        """What was written since `doubt` counts."""
        with _refusals():
            self.sync()
            _since(self._path).unlink()
            sync_directory(self._folder)

    def distrust(self) -> None:
        """Take back what was written since `doubt`, if that is in question."""
        with _refusals():
            self._recover()

    def close(self) -> None:
        """Nothing more is written now. It may be called again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _recover(self) -> None:
        since = _since(self._path)
        with _refusals(), contextlib.suppress(FileNotFoundError):
            since.stat()
            self.size = _counting(self._path, self.size)
            os.ftruncate(self._file, self.size)
            self.sync()
            since.unlink()
            sync_directory(self._folder)


def _since(path: Path) -> Path:
    return path.with_name(path.name + _SINCE)


def _counting(path: Path, size: int) -> int:
    """How many bytes of an upload count. Raises `OSError`."""
    try:
        told = _since(path).read_bytes()
    except FileNotFoundError:
        return size
    # Where nothing was told the kill came before the first byte of the part.
    return min(size, int(told)) if told.isdigit() else size


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreFailure(f"the upload cannot be stored: {error.strerror}") from error
