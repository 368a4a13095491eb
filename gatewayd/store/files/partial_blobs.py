"""Bytes that arrive in several requests: each upload is a file of its own until it is whole, and outlasts kills.

uploads/NAME        what has arrived; its size is how far the upload is
uploads/NAME.since  where a part began whose checksum is not known to be right: after a kill the upload stands there

A file's size counts once it is synced. What it holds is hashed when it is whole.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import create_file, make_folder, open_private, sync_directory

FOLDER_NAME: Final = "uploads"
_NAME: Final = re.compile(r"[a-z]{1,8}_[0-9a-z]{1,64}")  # an id
_SINCE: Final = ".since"


class PartialBlobs:
    """The uploads under way below one data directory, each by the id of what it is for."""

    def __init__(self, directory: Path) -> None:
        """Raises `OSError`."""
        self.folder = directory / FOLDER_NAME
        make_folder(self.folder, directory)

    def path(self, name: str) -> Path:
        """Where the bytes are, whether or not any came. Raises `ValueError` for what is no id."""
        if not _NAME.fullmatch(name):
            raise ValueError("an upload is named by an id")
        return self.folder / name

    def size(self, name: str) -> int:
        """How many bytes are there, durable. Raises `StoreFailure`."""
        if not self.path(name).exists():
            return 0
        with self.open(name) as partial:
            partial.sync()
            return partial.size

    def open(self, name: str) -> "PartialBlob":
        """Go on behind what is there. Raises `StoreFailure`."""
        return PartialBlob(self.path(name), self.folder)

    def discard(self, name: str) -> None:
        """Delete what came, if anything did."""
        path = self.path(name)
        path.unlink(missing_ok=True)
        _since(path).unlink(missing_ok=True)

    def names(self) -> Iterator[str]:
        """Every upload of which something is there."""
        return (path.name.removesuffix(_SINCE) for path in self.folder.iterdir())


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
            told = since.read_bytes()
            # Where nothing was told the kill came before the first byte of the part.
            self.size = min(self.size, int(told)) if told.isdigit() else self.size
            os.ftruncate(self._file, self.size)
            self.sync()
            since.unlink()
            sync_directory(self._folder)


def _since(path: Path) -> Path:
    return path.with_name(path.name + _SINCE)


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreFailure(f"the upload cannot be stored: {error.strerror}") from error
