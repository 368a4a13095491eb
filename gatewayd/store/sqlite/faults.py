"""What is wrong with a store, as its connections met it: for readiness, the log and the numbers."""

import os
from pathlib import Path

import apsw

from gatewayd.store.failures import StoreFailure, reason

_REFUSALS = (apsw.CantOpenError, apsw.FullError, apsw.IOError)
_DAMAGE = (apsw.CorruptError, apsw.NotADBError)


class Exchanged(StoreFailure):
    """There is another file in the place of the database, or none: what is written would be lost."""


class Faults:
    """The faults of one store. Any thread may tell of one; each call only sets a name."""

    def __init__(self) -> None:
        self._refusal: str | None = None
        self._damage: str | None = None

    @property
    def sentence(self) -> str | None:
        """What is wrong, to be read after "the store". None: nothing that is known."""
        if self._damage is not None:
            return f"is damaged: {self._damage}"
        return None if self._refusal is None else f"takes no writes: {self._refusal}"

    @property
    def refuses(self) -> bool:
        """Whether the last write failed."""
        return self._refusal is not None

    def met(self, error: BaseException) -> None:
        """Something failed with `error`. Damage stays until the next start, for a part of the file may seem well."""
        if isinstance(error, _DAMAGE):
            self._damage = str(error)

    def refused(self, error: BaseException) -> None:
        """A write failed with `error`: if that is the disk's or the file's doing, so may the next."""
        self.met(error)
        cause = error if isinstance(error, Exchanged) else error.__cause__ or error
        if isinstance(cause, (*_REFUSALS, Exchanged)):
            self._refusal = reason(cause)

    def found(self, fault: str) -> None:
        """A check of the database found a fault."""
        self._damage = fault

    def written(self) -> None:
        """A write is on the disk."""
        self._refusal = None


class OpenedFile:
    """The database file that was opened, and whether it is still the one at its path."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError`."""
        self.path = path
        self._name = str(path)
        self._opened = os.stat(path)

    def require(self) -> None:
        """Raises `Exchanged`, which does not say where the file lies: readiness tells it to anybody."""
        opened = self._opened
        try:
            found = os.stat(self._name)
        except OSError as error:
            raise Exchanged(f"{self.path.name} is gone ({error.strerror}): opened was {_identity(opened)}") from None
        if (found.st_ino, found.st_dev) != (opened.st_ino, opened.st_dev):
            raise Exchanged(
                f"{self.path.name} was exchanged: opened was {_identity(opened)}, and now it is {_identity(found)}"
            )


def _identity(status: os.stat_result) -> str:
    return f"inode {status.st_ino} of device {os.major(status.st_dev)}:{os.minor(status.st_dev)}"
