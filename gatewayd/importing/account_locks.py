"""One process at a time imports into an account: the kernel's lock on a file (flock(2)), which ends with its process.

So a run that somebody works on is told from one whose process was killed, also beside a daemon.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from gatewayd.store import StoreFailure

FOLDER_NAME: Final = "imports"


class AccountLock:
    """The lock of one account, held until `release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        os.close(self._descriptor)


class AccountLocks:
    """The locks of the accounts of one data directory."""

    def __init__(self, directory: Path) -> None:
        self.folder = directory / FOLDER_NAME

    def forget(self, account_id: str) -> None:
        """Remove the file of an account that is gone."""
        (self.folder / f"{account_id}.lock").unlink(missing_ok=True)

    def take(self, account_id: str) -> AccountLock | None:
        """The lock of an account that exists; None where somebody holds it. Raises `StoreFailure`."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self.folder / f"{account_id}.lock", flags, 0o600)  # stays: it is empty
        except OSError as error:
            raise StoreFailure(f"the account cannot be locked: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:  # a file system without locks
            os.close(descriptor)
            raise StoreFailure(f"the account cannot be locked: {error.strerror}") from error
        return AccountLock(descriptor)
