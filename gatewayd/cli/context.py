"""What a command works with: the settings, the clock, and the store, also beside a running daemon."""

import functools
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gatewayd.clock import Clock
from gatewayd.config import Config, find_path, load

if TYPE_CHECKING:
    from gatewayd.store import ReadTx, Store, WriteTx
    from gatewayd.store.database import StoreSettings

T = TypeVar("T")


class CommandError(Exception):
    """A command failed, for the reason in one line; `code` is the exit code: 1 failed, 2 wrong usage."""

    def __init__(self, reason: str, code: int = 1) -> None:
        super().__init__(reason)
        self.code = code


class Context:
    """One run of one command. Nothing is read or opened before it is needed.

    A daemon that runs beside it sees within a moment what is written: see `Store.watch_other_processes`.
    """

    def __init__(self, config_flag: str | None, environ: Mapping[str, str], clock: Clock) -> None:
        self._config_flag = config_flag
        self.environ = environ
        self.clock = clock

    @functools.cached_property
    def config_path(self) -> Path | None:
        """The file of the settings; None where there is none and all are defaults."""
        return find_path(self._config_flag, self.environ)

    @functools.cached_property
    def config(self) -> Config:
        """The settings. Raises `ConfigError`."""
        return load(self.config_path, self.environ)

    @property
    def store_settings(self) -> "StoreSettings":
        """Where the store of these settings is."""
        from gatewayd.store.database import StoreSettings

        return StoreSettings.of(self.config.store)

    @property
    def key_file(self) -> Path:
        """The instance key of these settings."""
        return Path(self.config.store.key_file)

    def run(self, work: "Callable[[Store], Awaitable[T]]") -> T:
        """Run what works with the store, in an event loop of its own. Raises as it and `open_store` do."""
        import trio

        from gatewayd.store.database import open_store

        async def run() -> T:
            async with open_store(self.store_settings, self.clock, self.key_file, migrates=False) as store:
                return await work(store)

        return trio.run(run)

    def read(self, work: "Callable[[ReadTx], T]", org_id: str | None = None) -> T:
        """Run a read. Raises what `work` raises, `StoreFailure` or `MigrationError`."""
        return self.run(lambda store: store.read(work, org_id))

    def write(self, work: "Callable[[WriteTx], T]", org_id: str | None = None) -> T:
        """Run a write; it is durable when this returns. Raises as `read` does, and then nothing was written."""
        return self.run(lambda store: store.write(work, org_id))
