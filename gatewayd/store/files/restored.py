"""The mark of a store that was restored from a backup, `restored.json`: whatever was ended since then lives again.

It says what the operator decided about that, and whether it was done. Without a decision no daemon serves the store.
"""

import secrets
from pathlib import Path
from typing import Final, Literal

import msgspec

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.private_files import create_file, sync_directory

MARK_NAME: Final = "restored.json"

Access = Literal["end", "keep"]


class Decision(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What becomes of sessions, keys and grants. `numbers_after` None: invoice numbers go on as they are."""

    access: Access
    numbers_after: int | None = None


class Restored(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A restore: of a backup of when, and when. Instants as in the API. `done`: the decision was carried out."""

    backup_made_at: str
    restored_at: str
    decision: Decision | None = None
    done: bool = False

    @property
    def encoded(self) -> bytes:
        """The content of the mark."""
        return msgspec.json.format(msgspec.json.encode(self)) + b"\n"


def find_restored(directory: Path) -> Restored | None:
    """The mark of a store; None: it was never restored. Raises `StoreFailure` for a mark that cannot be read."""
    path = directory / MARK_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Restored)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise StoreFailure(f"{path} cannot be read: {error}") from error


def mark(directory: Path, restored: Restored) -> None:
    """Replace the mark of a store, whole or not at all. Raises `StoreFailure`."""
    path = directory / MARK_NAME
    draft = path.with_name(f".{MARK_NAME}.{secrets.token_hex(8)}")
    try:
        create_file(draft, restored.encoded, directory)
        draft.replace(path)
        sync_directory(directory)
    except OSError as error:
        raise StoreFailure(f"{path} cannot be written: {error.strerror}") from error
