"""What a command works with: the settings, the clock, and the store, also beside a running daemon."""

import functools
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gatewayd.clock import Clock
from gatewayd.config import ROOT, Config, find_path, load
from gatewayd.doctor.examined import Examined, OutOfReach

if TYPE_CHECKING:
    from gatewayd.mail.notices import Mailing
    from gatewayd.store import ReadTx, Store, WriteTx
    from gatewayd.store.reactions import Reactions

T = TypeVar("T")


class CommandError(Exception):
    """A command failed, for the reason in one line; `code` is the exit code: 1 failed, 2 wrong usage."""

    def __init__(self, reason: str, code: int = 1) -> None:
        super().__init__(reason)
        self.code = code


class NoDatabase(CommandError, OutOfReach):
    """The same of a database that is not to be had."""


class Context(Examined):
    """One run of one command. Nothing is read or opened before it is needed.

    A daemon that runs beside it sees within a moment what is written: see `Store.watch_other_processes`.
    """

    overrides: frozenset[str] = frozenset()
    """What its operations are done in spite of: see `Caller`."""

    def __init__(self, config_flag: str | None, environ: Mapping[str, str], clock: Clock, root: Path = ROOT) -> None:
        """`root` is where /etc and /var/lib are: another folder than / is for looking at a machine from outside."""
        super().__init__(environ, clock, root)
        self._config_flag = config_flag

    @functools.cached_property
    def config_path(self) -> Path | None:
        """The file of the settings; None where there is none and all are defaults."""
        return find_path(self._config_flag, self.environ, self.root)

    @functools.cached_property
    def config(self) -> Config:
        """The settings, as they were when they were first asked for. Raises `ConfigError`."""
        return self.load_config()

    def load_config(self) -> Config:
        """The settings as they are now. Raises `ConfigError`."""
        return load(self.config_path, self.environ, self.root)

    def has_database(self) -> bool:
        """Whether a database is there. Raises `NoDatabase` where that is out of this user's reach."""
        try:
            return super().has_database()
        except OutOfReach as error:
            raise NoDatabase(str(error)) from None

    def require_database(self) -> None:
        """Raises `NoDatabase` where none is, with the place that was looked at, or as `has_database`."""
        if not self.has_database():
            place = self.store_settings.directory
            raise NoDatabase(
                f"there is no database in {place}, the data directory of {self.config_path or 'the default settings'}"
            )

    def open_existing(self) -> "AbstractAsyncContextManager[Store]":
        """The store as it is: nothing is made. Raises as `require_database`, and when entered as `open_store`."""
        from gatewayd.store.database import open_existing

        self.require_database()
        return open_existing(self.store_settings, self.clock, lambda: self.key_file, self.reactions)

    def run(self, work: "Callable[[Store], Awaitable[T]]", *, makes_store: bool = False) -> T:
        """Run what works with the store, in an event loop of its own; `makes_store`: where there is none, in a new one.

        Raises as `work` and `open_existing` do.
        """
        import trio

        async def run() -> T:
            async with self._opening(makes_store) as store:
                return await work(store)

        return trio.run(run)

    def _opening(self, makes_store: bool) -> "AbstractAsyncContextManager[Store]":
        from gatewayd.store.database import open_store

        if makes_store and not self.has_database():
            self._refuse_beside_daemon()
            return open_store(self.store_settings, self.clock, self.key_file, self.reactions, migrates=False)
        return self.open_existing()

    def _refuse_beside_daemon(self) -> None:
        """A database that is not there though a daemon works with it was removed: another one would hide that."""
        from gatewayd.store.files.directory import is_worked_with

        directory = self.store_settings.directory
        if is_worked_with(directory):
            raise CommandError(f"a daemon works with {directory}, but the database is gone: none is made in its place")

    def reactions(self) -> "Reactions":
        """What follows from what a command writes: all areas, which a command that reads does without."""
        from gatewayd import following

        return following.reactions(self.mailing)

    @property
    def mailing(self) -> "Mailing | None":
        """Whether what a command does is told by mail, which a daemon sends; None: no mail is."""
        from gatewayd.mail.notices import mailing_of

        return mailing_of(self.config.mail, self.config.server.public_url)

    def read(self, work: "Callable[[ReadTx], T]", org_id: str | None = None) -> T:
        """Run a read. Raises what `work` raises, `StoreFailure` or `MigrationError`."""
        return self.run(lambda store: store.read(work, org_id))

    def write(self, work: "Callable[[WriteTx], T]", org_id: str | None = None, *, makes_store: bool = False) -> T:
        """Run a write; it is durable when this returns. Raises as `read` does, and then nothing was written."""
        return self.run(lambda store: store.write(work, org_id), makes_store=makes_store)
