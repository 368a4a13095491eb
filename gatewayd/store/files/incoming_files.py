"""Files on their way in: written beside the database a part at a time, hashed, and gone when nobody wants them.

Nothing in the database names them, so that none has to survive a crash; what one leaves is swept at the next start.
"""

import contextlib
import hashlib
import os
import secrets
from pathlib import Path
from typing import BinaryIO, Final

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.directory import free_bytes

FOLDER_NAME: Final = "incoming"
RESERVE_BYTES: Final = 64 << 20  # Chosen: what a file may not take from the database


class IncomingFile:
    """One file. `write` its parts, and `close` it whole or `discard` it. These wait for the disk: not on the loop."""

    def __init__(self, folder: Path) -> None:
        """Raises `StoreFailure` where no file can be made."""
        self.path = folder / secrets.token_hex(16)
        self.size = 0
        self._folder = folder
        self._hash = hashlib.sha256()
        try:
            self._file: BinaryIO = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", 0)
        except OSError as error:
            raise _refused(error) from error

    @property
    def sha256(self) -> str:
        """Of what was written, in hexadecimal."""
        return self._hash.hexdigest()

    def write(self, part: bytes | bytearray) -> None:
        """Append. Raises `StoreFailure` when the disk refuses, or has too little left for the database beside it."""
        if free_bytes(self._folder) < RESERVE_BYTES + len(part):
            raise StoreFailure("the disk has no room for the file")
        self._hash.update(part)
        self.size += len(part)
        try:
            self._file.write(part)
        except OSError as error:
            raise _refused(error) from error

    def close(self) -> None:
        """No more is written. Raises `StoreFailure`."""
        try:
            self._file.close()
        except OSError as error:
            raise _refused(error) from error

    def discard(self) -> None:
        """Remove it, unless it was moved away."""
        with contextlib.suppress(OSError):
            self._file.close()
        self.path.unlink(missing_ok=True)


def incoming_folder(directory: Path) -> Path:
    """The folder for such files in a data directory, made where it is not there. Raises `StoreFailure`."""
    folder = directory / FOLDER_NAME
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _refused(error) from error
    return folder


def sweep(folder: Path) -> int:
    """Remove what a crash left; answers how many files. Call before serving."""
    stale = list(folder.iterdir())
    for path in stale:
        path.unlink(missing_ok=True)
    return len(stale)


def _refused(error: OSError) -> StoreFailure:
    return StoreFailure(f"the file cannot be stored: {error.strerror}")
