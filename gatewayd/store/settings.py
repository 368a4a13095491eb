"""Where a store lies, and how patient it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gatewayd import config

DATABASE_NAME: Final = "gatewayd.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the database is and how patient the store is. `directory` has what stands beside it, wherever that is."""

    directory: Path
    read_budget_ms: float = 2.0
    busy_timeout_seconds: float = 5.0
    url: str = ""
    """Of a PostgreSQL, without a password; empty: SQLite in `directory`."""
    password_file: Path | None = None

    @property
    def path(self) -> Path:
        return self.directory / DATABASE_NAME

    @classmethod
    def of(cls, store: config.Store) -> "StoreSettings":
        """The `[store]` table of a loaded configuration."""
        return cls(
            directory=Path(store.directory),
            read_budget_ms=store.read_budget_ms,
            busy_timeout_seconds=store.busy_timeout_seconds,
            url=store.url,
            password_file=Path(store.password_file) if store.password_file else None,
        )
