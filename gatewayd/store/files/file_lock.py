"""Locks on files, each held by one process at a time: the kernel's (flock(2)), which end with their process."""

import fcntl
import os
from pathlib import Path

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import make_folder, open_private


class FileLock:
    """One such lock, held until `release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        os.close(self._descriptor)


def take_lock(directory: Path, name: str, what: str) -> FileLock | None:
    """The lock on a file in a folder of the data directory, both made where they are missing; None: it is held.

    `name` is of folder and file. `what` is locked so, for whoever reads the `StoreFailure` that is raised where it
    cannot be.
    """
    path = directory / name
    try:
        make_folder(path.parent, directory)
        descriptor = open_private(path, os.O_RDWR, directory)  # stays: it is empty
    except OSError as error:
        raise StoreFailure(f"{what} cannot be locked: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:  # a file system without locks
        os.close(descriptor)
        raise StoreFailure(f"{what} cannot be locked: {error.strerror}") from error
    return FileLock(descriptor)
