"""The data directory: private to its user, and worked with by one daemon at a time.

The lock is the kernel's (flock(2)) and ends with its process, however that ends. Commands need none: they write beside
a daemon as other processes do.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from gatewayd.store.failures import StoreFailure

LOCK_NAME = "gatewayd.lock"
_HOLDER_BYTES = 200  # of the file that are read


def make_directory(directory: Path) -> None:
    """Make it where it is not there. Raises `StoreFailure`."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFailure(f"the data directory {directory} cannot be made: {error.strerror}") from error


def is_worked_with(directory: Path) -> bool:
    """Whether a daemon works with the directory now. Raises `StoreFailure` where that cannot be found out.

    The lock is taken for a moment, and shared: only a daemon that starts in that very moment would be turned away.
    """
    try:
        descriptor = os.open(directory / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreFailure(f"{directory / LOCK_NAME} cannot be read: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:  # a file system without locks
        raise StoreFailure(f"{directory} cannot be locked: {error.strerror}") from error
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def locked(directory: Path, holder: str) -> Iterator[None]:
    """Work with the directory as the one daemon of it; `holder` is told to whoever comes second, beside our process.

    Raises `StoreFailure` where another one does, or the directory takes no files.
    """
    make_directory(directory)
    path = directory / LOCK_NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreFailure(f"the data directory {directory} cannot be written to: {error.strerror}") from error
    try:
        _lock(descriptor, directory)
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its holder's name
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{holder}, process {os.getpid()},".encode()[:_HOLDER_BYTES], 0)
        yield
    finally:
        os.close(descriptor)  # and with it the lock


def _lock(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, _HOLDER_BYTES, 0).decode(errors="replace") or "another daemon"
        raise StoreFailure(f"{holder} works with {directory} already: one daemon at a time") from None
    except OSError as error:  # a file system without locks
        raise StoreFailure(f"{directory} cannot be locked: {error.strerror}") from error
