"""Stores that tests open in a directory, and those of daemons, on a PostgreSQL: `GATEWAYD_TEST_STORE=postgresql`.

Each directory has a database of its own until its test ends, or the file of tests that share it. Then it is emptied and
used again, which is many times quicker than to make another. What is opened by another process is not reached from
here, but by its settings (`Instance`).
"""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from gatewayd.store import ReadTx
from gatewayd.store.failures import OverBudget
from gatewayd.store.postgres import write_connection
from gatewayd.store.postgres.connections import open_connection
from gatewayd.store.postgres.engine import PostgresEngine
from gatewayd.store.settings import StoreSettings
from gatewayd.store.transactions import Bindings
from tests.support.postgres import Server

T = TypeVar("T")

STATEMENT_SECONDS = 30
TESTS = str(Path(__file__).parents[1])
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
_SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'"
_OF_ALL_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class Emptied:
    """A migrated database, and what makes it a new one again."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._connection = open_connection(address, STATEMENT_SECONDS)
        self._connection.execute("SET application_name = 'tests'")  # or commands would take it for a daemon
        tables = [row[0] for row in self._connection.execute(_TABLES)]
        sequences = [row[0] for row in self._connection.execute(_SEQUENCES)]
        filled = [name for name in tables if self._connection.execute(f'SELECT EXISTS (SELECT FROM "{name}")').get]
        self._run("CREATE SCHEMA as_new", *(f'CREATE TABLE as_new."{n}" AS TABLE public."{n}"' for n in filled))
        self._again = [
            "SET LOCAL session_replication_role = replica",  # no foreign key is looked at, in whichever order
            *(f'DELETE FROM public."{name}"' for name in tables),
            *(f'INSERT INTO public."{n}" OVERRIDING SYSTEM VALUE TABLE as_new."{n}"' for n in filled),
            *(f"SELECT setval('public.\"{name}\"', 1, false)" for name in sequences),
        ]

    def empty(self) -> None:
        """Leave nothing of a test. Sessions that it did not close are ended. Raises `psycopg.Error`."""
        self._connection.execute(_OF_ALL_SESSIONS)
        self._run(*self._again)

    def _run(self, *statements: str) -> None:
        """All of it in one transaction and one round trip."""
        self._connection.session.execute("; ".join(statements).encode(), prepare=False)

    def close(self) -> None:
        self._connection.close()


class Directories:
    """Which database has the rows of a directory's store."""

    def __init__(self, server: Server, template: Callable[[], str]) -> None:
        self._server = server
        self._template = template
        self._free: list[Emptied] = []
        self._taken: dict[Path, Emptied] = {}

    def url_of(self, directory: Path) -> str:
        """Of the directory's database, which is a new one where no store was opened in it yet."""
        place = directory.resolve()
        if place not in self._taken:
            self._taken[place] = self._free.pop() if self._free else self._new()
        return self._taken[place].address

    def _new(self) -> Emptied:
        return Emptied(self._server.url(self._server.new_database(self._template())))

    @contextmanager
    def lent(self) -> Iterator[None]:
        """What is taken in the block is given back at its end. A database that cannot be emptied is left."""
        before = len(self._taken)
        yield
        while len(self._taken) > before:
            _, database = self._taken.popitem()
            try:
                database.empty()
            except psycopg.Error:
                database.close()
            else:
                self._free.append(database)

    def close(self) -> None:
        """End the sessions of those that were given back."""
        for database in self._free:
            database.close()


@contextmanager
def stores_of(directories: Directories) -> Iterator[None]:
    """For the length of the block settings that name no database name the directory's."""
    plain = StoreSettings.__init__

    @functools.wraps(plain)
    def with_url(self: StoreSettings, *, directory: Path, url: str = "", **more: Any) -> None:
        plain(self, directory=directory, url=url or directories.url_of(directory), **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoreSettings, "__init__", with_url)
        patch.setattr(PostgresEngine, "read_now", _read_now)
        # The clock of a test stands still: the wait for other daemons, some microseconds of the server's, is not added.
        patch.setattr(write_connection, "_BEAT", write_connection._BEAT.replace(write_connection._WAITED, "0"))
        yield


def _read_now(engine: PostgresEngine, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
    """A test may hold up its loop; the program is answered as ever that it may not."""
    if not sys._getframe(2).f_code.co_filename.startswith(TESTS):  # who asked the `Store`
        raise OverBudget("the database is another process")
    with engine._long.one() as reader:
        reader.resume()
        return reader.read(work, bindings)
