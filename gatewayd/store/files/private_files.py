"""Files that their owner alone may read: made so, whole, and given to the daemon's user where root makes them.

Some commands are run by root beside a data directory of another user. As SQLite does with the files beside a database,
what they make there belongs to whom the rest belongs to, or the daemon could not use it.
"""

import contextlib
import os
from pathlib import Path


def open_private(path: Path, flags: int, owned_like: Path) -> int:
    """A descriptor of the file, which is made where it is not there; never through a link. Raises `OSError`."""
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, flags)
    try:
        return make_private(path, flags, owned_like)
    except FileExistsError:  # another process was first
        return os.open(path, flags)


def make_private(path: Path, flags: int, owned_like: Path | None) -> int:
    """A descriptor of a new file; `owned_like` None: root keeps it. Raises `OSError`, also where it is there."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    if owned_like is not None and os.geteuid() == 0:
        owner = owned_like.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def make_folder(path: Path, owned_like: Path) -> None:
    """A folder, where it is not there yet. Raises `OSError`."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return
    if os.geteuid() == 0:
        owner = owned_like.stat()
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        finally:
            os.close(descriptor)


def create_file(path: Path, content: bytes, owned_like: Path | None) -> None:
    """A new file, its content on disk; as `make_private`. Raises `OSError`, also where it is there."""
    descriptor = make_private(path, os.O_WRONLY, owned_like)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # a full disk
        path.unlink()
        raise


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
