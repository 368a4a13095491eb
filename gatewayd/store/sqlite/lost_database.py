"""A database that is gone, though what stood beside it is still there: no other one takes its place.

An empty one would serve, refuse every key, and be what the next backup copies. A first start that was cut short is told
from it by its order: an empty file for the database is made first, then the key, then the database, then all the rest.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.manifests import BLOBS_NAME, KEY_NAME
from gatewayd.store.files.private_files import make_private
from gatewayd.store.files.restored import MARK_NAME
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite.snapshot import PULSE_NAME

_FILES: Final = (MARK_NAME, PULSE_NAME)


def remains_in(directory: Path, *more: str) -> list[str]:
    """What in a data directory is there only beside a database that was worked with; `more`: files that are too."""
    found = [name for name in (*more, *_FILES) if (directory / name).is_file()]
    if next((directory / BLOBS_NAME).glob("??/*"), None) is not None:
        found.append(BLOBS_NAME)
    return found + sorted(path.name for path in directory.glob(f"{DATABASE_NAME}.before-*"))


def lost(directory: Path, remains: list[str]) -> str:
    """What is said of a database that is gone beside `remains`, or empty."""
    return (
        f"the database {directory / DATABASE_NAME} is lost or empty, and none is made in its place, for what belongs to"
        f" it is there ({', '.join(remains)}): put it back, or move {directory} away and restore a backup with gatewayd"
        f" restore; to begin anew on purpose, move {directory} away as well"
    )


def begin_database(directory: Path) -> None:
    """Make the empty file of a new database. Raises `StoreFailure` where one was there and is gone."""
    path = directory / DATABASE_NAME
    remains = remains_in(directory, KEY_NAME)  # before the look at it: another process may be making the first
    if path.exists():
        return
    if remains:
        raise StoreFailure(lost(directory, remains))
    try:
        with contextlib.suppress(FileExistsError):
            os.close(make_private(path, os.O_WRONLY, directory))
    except OSError as error:
        raise StoreFailure(f"{path} cannot be made: {error.strerror}") from error
