"""The instance key of a store: made before anything is sealed and never after, proven at each start, rotated.

    instance.key             the key
    instance.key.new         while it is rotated: the next one, which counts once the database is sealed under it
    instance.key.until-...   after that: the one before, which backups from before need

A rotation may be cut short at any point. Until its one transaction is committed nothing has happened; from then on the
next key is the one that opens what is sealed, and whoever opens the store next puts it in its place.
"""

import contextlib
import errno
import os
import secrets
from pathlib import Path
from typing import NamedTuple

from gatewayd.clock import Instant, to_wire
from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import create_file, sync_directory
from gatewayd.store.sealer import KEY_BYTES, Sealer, load_key, read_key
from gatewayd.store.sealing.sealed_columns import SealedValue, opens
from gatewayd.store.sealing.sealed_rows import SealedRows


class Rotated(NamedTuple):
    """A rotation that is done: how many secrets were sealed anew, and where the key of until then is kept."""

    secrets: int
    kept: Path


def open_key(rows: SealedRows, path: Path) -> Sealer:
    """The key at `path`, which is made where nothing is sealed in the database yet.

    Raises `StoreFailure` where it is missing beside sealed secrets, or does not open them.
    """
    sample = rows.sample()
    if sample is None:
        return Sealer(load_key(path))
    sealer = _opening(sample, path) or _finish_rotation(sample, path)
    if sealer is not None:
        return sealer
    if not path.exists():
        lacking = f"the instance key {path} is missing, and {rows.name} has secrets that it sealed"
        raise StoreFailure(f"{lacking}: {rows.way_on}")
    raise StoreFailure(f"the instance key {path} is not the one that sealed the secrets in {rows.name}: {rows.way_on}")


def proven_key(rows: SealedRows, path: Path) -> bytes:
    """The key at `path`, which has to be there. Raises `StoreFailure` as `open_key` does."""
    try:
        if rows.sample() is not None:
            open_key(rows, path)
        return read_key(path)
    except FileNotFoundError:
        raise StoreFailure(f"the instance key {path} cannot be read: {os.strerror(errno.ENOENT)}") from None


def closed_values(rows: SealedRows, sealer: Sealer) -> tuple[list[SealedValue], int]:
    """The sealed secrets that do not open with a key, and how many there are in all. Raises `StoreFailure`."""
    values = rows.every()
    return [value for value in values if not opens(sealer, value)], len(values)


def rotate(rows: SealedRows, path: Path, now: Instant) -> Rotated:
    """Seal every secret under a new key, and put it in the place of the key at `path`. No daemon may run.

    Raises `StoreFailure`, or `MigrationError` for a database of a newer program; then the key at `path` is still the
    right one, or the next to open the store finds the new one that is.
    """
    old, draft = open_key(rows, path), _draft_of(path)
    kept = path.with_name(f"{path.name}.until-{to_wire(now)[:19].replace(':', '')}Z")
    try:
        draft.unlink(missing_ok=True)  # of a rotation that was cut short before anything happened
        key = secrets.token_bytes(KEY_BYTES)
        create_file(kept, read_key(path), path)
        create_file(draft, key, path)
        sync_directory(path.parent)
        count = rows.seal_anew(old, Sealer(key))
        draft.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise StoreFailure(f"the instance key {path} cannot be replaced: {error.strerror}") from error
    # A command that had read the old key before may have sealed something with it meanwhile.
    return Rotated(count + rows.seal_anew(old, Sealer(key)), kept)


def _opening(sample: SealedValue, path: Path) -> Sealer | None:
    """The key at `path`, if it is there and opens the sample. Raises `StoreFailure` for one that cannot be read."""
    try:
        sealer = Sealer(read_key(path))
    except FileNotFoundError:
        return None
    return sealer if opens(sealer, sample) else None


def _finish_rotation(sample: SealedValue, path: Path) -> Sealer | None:
    """Put the next key in its place where the database is sealed under it already; None where it is not."""
    draft, sealer = _draft_of(path), None
    with contextlib.suppress(StoreFailure):  # half a file, of a rotation that had not begun to seal
        sealer = _opening(sample, draft)
    if sealer is None:
        return _opening(sample, path)  # another process may have done it a moment ago
    try:
        draft.replace(path)
        sync_directory(path.parent)
    except FileNotFoundError:
        return _opening(sample, path)
    except OSError as error:
        raise StoreFailure(f"{draft} is the instance key, and cannot take its place: {error.strerror}") from error
    return sealer


def _draft_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")
