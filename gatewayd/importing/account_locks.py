"""One process at a time imports into an account.

So a run that somebody works on is told from one whose process was killed, also beside a daemon.
"""

from pathlib import Path
from typing import Final

from gatewayd.store.files.file_lock import FileLock, take_lock

FOLDER_NAME: Final = "imports"


class AccountLocks:
    """The locks of the accounts of one data directory."""

    def __init__(self, directory: Path) -> None:
        self.folder = directory / FOLDER_NAME
        self._directory = directory

    def forget(self, account_id: str) -> None:
        """Remove the file of an account that is gone."""
        (self.folder / f"{account_id}.lock").unlink(missing_ok=True)

    def take(self, account_id: str) -> FileLock | None:
        """The lock of an account that exists; None where somebody holds it. Raises `StoreFailure`."""
        return take_lock(self._directory, f"{FOLDER_NAME}/{account_id}.lock", "the account")
