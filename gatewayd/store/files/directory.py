"""The data directory: private to its user, and worked with by one daemon at a time.

The locks are the kernel's (flock(2)) and end with their process, however that ends: one on a file, which tells who
holds it and for which directory, and one on the directory itself, which stays when its files are removed. Commands need
none: they write beside a daemon as other processes do. The file is emptied at the end of a good stop.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import open_private

LOCK_NAME = "gatewayd.lock"
OURS = ("gatewayd.", ".gatewayd.", "instance.key")  # how the names of files in it begin
GROUP_READS = 0o640  # the most that they keep of their permissions
_HOLDER_BYTES = 200  # of the file, for its first line
_FILE_BYTES = 16_384  # with the directory behind it, as it was named and as it is


@dataclass
class Tenure:
    """One daemon's time with the directory.

    `interrupted`: the one before was ended by a kill or a power cut, and what it left was not checked since.
    """

    interrupted: bool


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


def free_bytes(directory: Path) -> int:
    """What this user may still write there; 0 where that cannot be found out."""
    try:
        status = os.statvfs(directory)
    except OSError:
        return 0
    return status.f_bavail * status.f_frsize


def tighten(directory: Path) -> None:
    """Take from our files in it that an earlier version or a copy by hand left open what nobody else needs.

    Chosen: a group may go on reading, as an operator may have let it; nobody else may, and nobody else may write. What
    belongs to another user stays as it is, and `gatewayd doctor` tells of it.
    """
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        for entry in found:
            if not entry.name.startswith(OURS) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                mode = entry.stat(follow_symlinks=False).st_mode & 0o777
                if mode & ~GROUP_READS:
                    os.chmod(entry.path, mode & GROUP_READS)


@contextlib.contextmanager
def locked(directory: Path, holder: str) -> Iterator[Tenure]:
    """Work with the directory as the one daemon of it; `holder` is told to whoever comes second, beside our process.

    Raises `StoreFailure` where another one does, or the directory takes no files.
    """
    make_directory(directory)
    with contextlib.ExitStack() as held:  # and with its end the locks
        descriptor = _open(directory / LOCK_NAME, directory)
        held.callback(os.close, descriptor)
        _lock(descriptor, directory)
        _lock_itself(directory, held)
        tighten(directory)
        tenure = Tenure(interrupted=bool(_content(descriptor)))
        line = f"{holder}, process {os.getpid()},".encode()[:_HOLDER_BYTES]
        _write(descriptor, b"\n".join([line, *_names(directory)]))
        yield tenure
        if not tenure.interrupted:
            _write(descriptor, b"")


def refuse_beside_daemon(directory: Path) -> None:
    """Raises `StoreFailure` where a daemon works with the directory, also if it or its files were moved or removed.

    A directory that was renamed is found beside its old place; one that was moved elsewhere is not.
    """
    for path in sorted(directory.parent.glob(f"*/{LOCK_NAME}")):
        with contextlib.suppress(OSError), path.open("rb") as file:
            holder, *names = _content(file.fileno()).split(b"\n")
            if path.parent == directory or not _names(directory).isdisjoint(names):
                _refuse_locked(file.fileno(), directory, holder)
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _refuse_locked(descriptor, directory, b"a daemon")
        finally:
            os.close(descriptor)


def _names(directory: Path) -> set[bytes]:
    """Its path as it was given, and where that leads."""
    return {os.fsencode(directory.absolute()), os.fsencode(directory.resolve())}


def _refuse_locked(descriptor: int, directory: Path, holder: bytes) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the descriptor
    except BlockingIOError:
        who = holder.decode(errors="replace") or "a daemon"
        raise StoreFailure(f"{who} works with {directory}: stop it first") from None


def _open(path: Path, directory: Path) -> int:
    try:
        return open_private(path, os.O_RDWR, directory)
    except OSError as error:
        raise StoreFailure(f"the data directory {directory} cannot be written to: {error.strerror}") from error


def _lock(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _content(descriptor).partition(b"\n")[0].decode(errors="replace") or "another daemon"
        raise StoreFailure(f"{holder} works with {directory} already: one daemon at a time") from None
    except OSError as error:  # a file system without locks
        raise StoreFailure(f"{directory} cannot be locked: {error.strerror}") from error


def _lock_itself(directory: Path, held: contextlib.ExitStack) -> None:
    """Where the file system can: it only serves to refuse a restore."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        held.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _content(descriptor: int) -> bytes:
    return os.pread(descriptor, _FILE_BYTES, 0)


def _write(descriptor: int, content: bytes) -> None:
    with contextlib.suppress(OSError):  # a full disk: the lock holds without its holder's name
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, content, 0)
