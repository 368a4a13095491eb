"""What a backup says of itself: `manifest.json`, or `damaged.json` where what was copied was not whole.

Either is written last, so that a folder without them is not finished.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import create_file
from gatewayd.store.settings import DATABASE_NAME

MANIFEST_NAME: Final = "manifest.json"
DAMAGED_NAME: Final = "damaged.json"
KEY_NAME: Final = "instance.key"
BLOBS_NAME: Final = "blobs"
FORMAT: Final = 1


class File(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a backup; `path` is relative and written with slashes."""

    path: str
    sha256: str
    bytes: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a backup holds. `faults`: a sentence for each that its source had; none of a good one.

    `database`: the PostgreSQL that had the rows, in words; empty: they are in the backup, in a file of SQLite's.
    """

    format: int
    made_at: str
    files: list[File]
    faults: list[str] = []
    database: str = ""

    @property
    def with_key(self) -> bool:
        return any(file.path == KEY_NAME for file in self.files)

    @property
    def size_bytes(self) -> int:
        return sum(file.bytes for file in self.files)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Say what the backup is. Raises `OSError`."""
    name = DAMAGED_NAME if manifest.faults else MANIFEST_NAME
    create_file(folder / name, msgspec.json.format(msgspec.json.encode(manifest)), None)


def read_manifest(source: Path) -> Manifest:
    """What a backup says of itself. Raises `StoreFailure` for what is no finished backup of this format."""
    try:
        name = DAMAGED_NAME if (source / DAMAGED_NAME).exists() else MANIFEST_NAME
        manifest = msgspec.json.decode((source / name).read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise StoreFailure(f"{source} is no finished backup: it has no {MANIFEST_NAME}") from error
    except (OSError, msgspec.DecodeError) as error:
        raise StoreFailure(f"the backup {source} cannot be read: {error}") from error
    if manifest.format != FORMAT:
        raise StoreFailure(f"{source} is a backup of format {manifest.format}: it needs another gatewayd")
    if not manifest.database and all(file.path != DATABASE_NAME for file in manifest.files):
        raise StoreFailure(f"the backup {source} is damaged: it has no database")
    return manifest


def files_in(root: Path) -> Iterator[Path]:
    """Every file of a backup but what says what it is, and every link: those are not followed."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or (path.is_file() and path not in (root / MANIFEST_NAME, root / DAMAGED_NAME)):
            yield path


def described(root: Path, path: Path) -> File:
    """A file of a backup as it is. Raises `OSError`."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return File(path=path.relative_to(root).as_posix(), sha256=digest, bytes=file.tell())
