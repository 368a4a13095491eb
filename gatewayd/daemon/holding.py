"""The leases of a daemon, by which it is known to be the one that follows those before it on its data directory.

The directory has a name, drawn when a daemon first starts with it, so that hosts which share a database are told from
each other. Locks of the kernel, which earlier versions had in files beside the database, are removed.
"""

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from gatewayd.leases.holder import Holder, open_holder
from gatewayd.store import Store
from gatewayd.store.files.private_files import create_file

NAME_FILE: Final = "gatewayd.name"
_NAME_CHARACTERS: Final = 16
_FORMER_LOCKS: Final = ("imports", "tax-refresh")


@asynccontextmanager
async def open_daemons_holder(store: Store) -> AsyncIterator[Holder]:
    """The holder of the one daemon that works with the store's directory, which it has locked."""
    _remove_former_locks(store.directory)
    async with open_holder(store, f"daemon-{_name_of(store.directory)}") as holder:
        yield holder


def _name_of(directory: Path) -> str:
    """The name of a data directory; where none can be kept, a new one, and what a kill leaves ends by itself."""
    path, new = directory / NAME_FILE, secrets.token_hex(_NAME_CHARACTERS // 2)
    with suppress(OSError):
        name = path.read_text("ascii", "replace").strip()
        if len(name) == _NAME_CHARACTERS and name.isascii() and name.isalnum():
            return name
        path.unlink()
    with suppress(OSError):
        create_file(path, new.encode(), directory)
    return new


def _remove_former_locks(directory: Path) -> None:
    for folder in _FORMER_LOCKS:
        for path in (directory / folder).glob("*.lock"):
            with suppress(OSError):
                path.unlink()
    with suppress(OSError):  # what else is there was not ours
        os.rmdir(directory / "tax-refresh")
