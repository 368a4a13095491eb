"""What a data directory knows of its backups, `backups.json`: the last good one, and the last that was none.

The commands write it on the machine where they run; a backup that another machine or another tool makes is not in it.
"""

import secrets
from pathlib import Path
from typing import Final

import msgspec

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.manifests import Manifest
from gatewayd.store.files.private_files import create_file, sync_directory

NAME: Final = "backups.json"


class LastBackup(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One backup: where it was put, and what is in it. Instants as in the API.

    It was read again, and its database checked, when it was made; `verified_at` is when that was done once more, None:
    never. `rows`: the PostgreSQL whose rows are not in it, in words; empty: they are.
    """

    made_at: str
    directory: str
    files: int
    size_bytes: int
    with_key: bool
    rows: str = ""
    verified_at: str | None = None
    is_whole: bool = True


class KnownBackups(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`last` None: none was made. `damaged_at`: when a copy was last made that is no backup, since then or before."""

    last: LastBackup | None = None
    damaged_at: str | None = None


def find_known(directory: Path) -> KnownBackups:
    """What is known in a data directory; nothing where no file is. Raises `StoreFailure` for one that is broken."""
    path = directory / NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=KnownBackups)
    except FileNotFoundError:
        return KnownBackups()
    except (OSError, msgspec.DecodeError) as error:
        raise StoreFailure(f"{path} cannot be read: {error}") from error


def note_made(directory: Path, destination: Path, manifest: Manifest) -> None:
    """A copy was made and looked at; one that is not whole takes no good one's place. Raises `StoreFailure`."""
    known = _known_or_nothing(directory)
    if manifest.faults:
        _write(directory, msgspec.structs.replace(known, damaged_at=manifest.made_at))
        return
    made = LastBackup(
        made_at=manifest.made_at,
        directory=str(destination.absolute()),
        files=len(manifest.files),
        size_bytes=manifest.size_bytes,
        with_key=manifest.with_key,
        rows=manifest.database,
    )
    _write(directory, KnownBackups(last=made, damaged_at=known.damaged_at))


def note_verified(directory: Path, source: Path, manifest: Manifest, at: str, *, is_whole: bool) -> None:
    """A backup was looked at once more. Nothing where it is not the last that is known. Raises `StoreFailure`."""
    known = _known_or_nothing(directory)
    last = known.last
    if last is None or (last.directory, last.made_at) != (str(source.absolute()), manifest.made_at):
        return
    looked_at = msgspec.structs.replace(last, verified_at=at, is_whole=is_whole)
    _write(directory, msgspec.structs.replace(known, last=looked_at))


def _known_or_nothing(directory: Path) -> KnownBackups:
    """A file that is broken is written anew."""
    try:
        return find_known(directory)
    except StoreFailure:
        return KnownBackups()


def _write(directory: Path, known: KnownBackups) -> None:
    """Replace the file, whole or not at all. Raises `StoreFailure`."""
    path = directory / NAME
    draft = path.with_name(f".{NAME}.{secrets.token_hex(8)}")
    content = msgspec.json.format(msgspec.json.encode(known)) + b"\n"
    try:
        create_file(draft, content, directory)
        draft.replace(path)
        sync_directory(directory)
    except OSError as error:
        raise StoreFailure(f"{path} cannot be written: {error.strerror}") from error
