"""The sealed secrets of a database, as the instance key needs them: whichever engine has it."""

from pathlib import Path
from typing import Protocol

from gatewayd.store.sealer import Sealer
from gatewayd.store.sealing.sealed_columns import SealedValue


class SealedRows(Protocol):
    """Everything may block, and raises `StoreFailure`."""

    @property
    def name(self) -> str:
        """Which database it is, as it is told."""

    @property
    def way_on(self) -> str:
        """What to do where the key is missing, or another."""

    def sample(self) -> SealedValue | None:
        """One sealed secret; None where there is none, or no database."""

    def every(self) -> list[SealedValue]:
        """All of them."""

    def seal_anew(self, old: Sealer, new: Sealer) -> int:
        """Seal under the new key what opens with the old one, all in one transaction; returns how much that was.

        Raises `StoreFailure` where something opens with neither, and `MigrationError`; then nothing is changed.
        """

    def begin_key(self, path: Path) -> bytes:
        """The key at `path` for a daemon: made by the first that comes, where nothing is sealed yet.

        Raises where it is missing beside sealed secrets, or does not open them.
        """

    def require_alone(self, what: str) -> None:
        """Raises where others work with the database who do not lock the data directory of this host."""

    def note_key(self, sealer: Sealer) -> None:
        """This is the key from now on, though another one was: after all that it does not open was given up."""
