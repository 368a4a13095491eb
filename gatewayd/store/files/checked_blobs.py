"""Looks whether the bytes of blobs are there, and those that they were. Blocks: for commands."""

import hashlib
import os
from pathlib import Path
from typing import Final, Literal

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.blobs import Blobs
from gatewayd.store.files.private_files import make_folder, sync_directory

DAMAGED: Final = "damaged"
"""The folder in the data directory for what is set aside."""


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
