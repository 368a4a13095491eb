"""Where a store lies, and how patient it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from gatewayd import config

DATABASE_NAME: Final = "gatewayd.db"
PLACE_MARK: Final = "gatewayd.files"


class Place(NamedTuple):
    """Where the bytes of documents lie: a folder, and whether daemons of several data directories share it."""

    folder: Path
    is_shared: bool

    @property
    def mark_file(self) -> Path:
        """What says whose it is, where it is shared."""
        return self.folder / PLACE_MARK


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the database is and how patient the store is. `directory` has what stands beside it, wherever that is."""

    directory: Path
    files: Path | None = None
    """Where the bytes of documents lie; None: in `directory`."""
    read_budget_ms: float = 2.0
    busy_timeout_seconds: float = 5.0
    url: str = ""
    """Of a PostgreSQL, without a password; empty: SQLite in `directory`."""
    password_file: Path | None = None

    @property
    def path(self) -> Path:
        return self.directory / DATABASE_NAME

    @property
    def place(self) -> Place:
        """Where the bytes of documents lie."""
        return Place(self.directory if self.files is None else self.files, self.files is not None)

    @classmethod
    def of(cls, store: config.Store) -> "StoreSettings":
        """The `[store]` table of a loaded configuration."""
        return cls(
            directory=Path(store.directory),
            files=Path(store.files) if store.files else None,
            read_budget_ms=store.read_budget_ms,
            busy_timeout_seconds=store.busy_timeout_seconds,
            url=store.url,
            password_file=Path(store.password_file) if store.password_file else None,
        )
