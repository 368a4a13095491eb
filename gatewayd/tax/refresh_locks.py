"""One process at a time refreshes a connection to the tax authority: a command does beside a daemon.

The lock of a connection is held until what was granted is stored, also where that takes long: whoever has it then finds
tokens in the store that nobody has spent.
"""

import hashlib
from pathlib import Path
from typing import Final, Protocol

import trio

from gatewayd.store.files.file_lock import FileLock, take_lock

FOLDER_NAME: Final = "tax-refresh"
_LOOK_AGAIN_SECONDS: Final = 0.1  # Chosen: a refresh takes some tenths of a second

Key = tuple[str, str | None]
"""Of an organization, and of the legal entity whose own the connection is."""


class Locks(Protocol):
    """What keeps others from a connection."""

    async def take(self, key: Key) -> None:
        """Wait until the connection is ours alone, if it is not. Raises `StoreFailure` where it cannot be locked."""

    def release(self, key: Key) -> None:
        """Let others have it."""


class RefreshLocks:
    """See `Locks`: those of one process, of a data directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[Key, FileLock] = {}

    async def take(self, key: Key) -> None:
        if key in self._held:
            return
        org_id, legal_entity_id = key
        name = hashlib.sha256(f"{org_id} {legal_entity_id or ''}".encode()).hexdigest()[:32]
        while (lock := take_lock(self._directory, f"{FOLDER_NAME}/{name}.lock", "the connection")) is None:
            await trio.sleep(_LOOK_AGAIN_SECONDS)
        self._held[key] = lock

    def release(self, key: Key) -> None:
        lock = self._held.pop(key, None)
        if lock is not None:
            lock.release()
