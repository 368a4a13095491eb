"""PostgreSQL as the store's engine.

short reads   on threads, each with a session that is kept; see reading.py
long reads    on a few others, in the share of the organization they are for
writes        see write_connection.py
watching      a session that listens to what other daemons commit
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeVar

import outcome
import trio

from gatewayd.clock import Instant
from gatewayd.shares import Refused, Shares
from gatewayd.store.catalogue import Catalogue
from gatewayd.store.engine import Form, Upgrade
from gatewayd.store.failures import MigrationError, OverBudget, StoreFailure
from gatewayd.store.postgres import schema
from gatewayd.store.postgres.catalogue import read_catalogue
from gatewayd.store.postgres.connections import Connection, address_of, open_connection
from gatewayd.store.postgres.deadlines import Deadlines
from gatewayd.store.postgres.faults import ServerFaults
from gatewayd.store.postgres.form import form_of
from gatewayd.store.postgres.listening import Listener
from gatewayd.store.postgres.read_threads import ReadThreads
from gatewayd.store.postgres.reading import Reader
from gatewayd.store.postgres.sessions import session
from gatewayd.store.postgres.write_connection import PostgresWrites
from gatewayd.store.sealer import Sealer
from gatewayd.store.settings import StoreSettings
from gatewayd.store.transactions import Bindings, ReadTx

T = TypeVar("T")

SHORT_READ_SECONDS: Final = 1.0  # Chosen: what takes longer is begun anew among long reads, where it has a share
SHORT_READERS: Final = 8  # Chosen: sessions; more would only share the same cores
ORGANIZATION_SHORT_READERS: Final = 6
LONG_READ_SECONDS: Final = 30.0  # Chosen: past it the answer is 503
LONG_READERS: Final = 3
ORGANIZATION_LONG_READERS: Final = 2  # Chosen: a report beside an export, and one that is left to others
WRITE_SECONDS: Final = 30.0  # Chosen: for one statement, the wait for another daemon's transaction among it
IDLE_SECONDS: Final = 5.0  # Chosen: a daemon that is stopped in a transaction holds up others no longer
POLL_SECONDS: Final = 1.0  # Chosen: how soon another's commit is noticed whose notice was lost
PAUSE_SECONDS: Final = 0.05  # Chosen: commits of so long are one wake-up
NO_DEADLINE: Final = 0.0  # statement_timeout: for migrations, which nothing waits behind
_OTHER_SESSIONS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'gatewayd' AND pid <> pg_backend_pid()
"""


def password_of(settings: StoreSettings) -> str | None:
    """The first line of the password file; None: there is none. Raises `StoreFailure`."""
    path = settings.password_file
    if path is None:
        return None
    try:
        return path.read_text("utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreFailure(f"the password file {path} cannot be read: {error}") from None


class LongReaders:
    """Sessions for long reads, each opened when it is first needed."""

    def __init__(self, number: int, make: Callable[[], Reader]) -> None:
        self._make = make
        self._idle: list[Reader] = []
        self.threads = trio.CapacityLimiter(number)
        self._closed = False

    @contextlib.contextmanager
    def one(self) -> Iterator[Reader]:
        """One for the length of the block. Raises `StoreFailure` once they are closed."""
        if self._closed:
            raise StoreFailure("the store is closed")
        reader = self._idle.pop() if self._idle else self._make()
        try:
            yield reader
        finally:
            self._give_back(reader)

    def _give_back(self, reader: Reader) -> None:
        self._idle.append(reader)
        if self._closed:
            reader.close()

    def close(self) -> None:
        """Close what is idle; a read that is under way closes its own."""
        self._closed = True
        for reader in self._idle:
            reader.close()


class PostgresEngine:
    """See `Engine`. One database of a server, which other daemons may work with too."""

    is_shared: Final = True
    log_bytes: Final = 0
    holds_snapshot: Final = False

    def __init__(self, settings: StoreSettings, now: Instant, sealer: Sealer, *, migrates: bool) -> None:
        """Raises `StoreFailure` or `MigrationError`."""
        address = address_of(settings.url, password_of(settings))
        self.upgraded = _bring_up_to_date(address, now, migrates=migrates)
        self._deadlines = Deadlines()
        self._faults = ServerFaults()
        self.writes = PostgresWrites(
            partial(self._deadlines.kept, partial(open_connection, address, WRITE_SECONDS, IDLE_SECONDS)),
            written=lambda version: self._faults.written(),
            refused=self._faults.refused,
        )
        short = partial(self._deadlines.kept, partial(open_connection, address, SHORT_READ_SECONDS))
        self._connect = long = partial(self._deadlines.kept, partial(open_connection, address, LONG_READ_SECONDS))
        self._short = ReadThreads(SHORT_READERS, partial(Reader, short, sealer, SHORT_READ_SECONDS))
        self._long = LongReaders(LONG_READERS, partial(Reader, long, sealer, LONG_READ_SECONDS))
        self._short_shares = Shares("reads", SHORT_READERS, ORGANIZATION_SHORT_READERS, LONG_READ_SECONDS)
        self.read_shares = Shares("long reads", LONG_READERS, ORGANIZATION_LONG_READERS, LONG_READ_SECONDS)
        self._listener = Listener(long, frozenset({self.writes.writer}))
        self._listening = trio.CapacityLimiter(1)
        self._interrupting = trio.CapacityLimiter(LONG_READERS)

    @property
    def fault(self) -> str | None:
        return self._faults.sentence

    @property
    def refuses_writes(self) -> bool:
        return self._faults.refuses

    def start(self) -> None:
        self._deadlines.start()
        self._short.start()

    # -- reads

    def read_now(self, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        """See `Engine`: the loop never waits for another process."""
        raise OverBudget("the database is another process")

    async def read_soon(self, work: Callable[[ReadTx], T], bindings: Bindings, holder: str | None) -> T:
        try:
            async with self._short_shares.place(holder):
                return await self._short.run(work, bindings)
        except Refused as error:
            raise StoreFailure("the read waited too long for a thread") from error

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None, now: Callable[[], Instant]) -> T:
        try:
            async with self.read_shares.place(org_id):
                with self._long.one() as reader:
                    return await self._interruptible(reader, work, Bindings(org_id, now()))
        except Refused as error:
            raise StoreFailure("the read waited too long for a thread") from error
        except OverBudget as error:
            raise StoreFailure("the read took too long") from error

    async def _interruptible(self, reader: Reader, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        """Run a read; cancelled, it is ended at the server and waited for, which is then soon over."""
        reader.resume()
        ended = False

        async def interrupt_when_cancelled() -> None:
            try:
                await trio.sleep_forever()
            finally:
                if not ended:
                    with trio.CancelScope(shield=True):
                        await trio.to_thread.run_sync(reader.interrupt, limiter=self._interrupting)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(interrupt_when_cancelled)
            read = partial(trio.to_thread.run_sync, reader.read, work, bindings, limiter=self._long.threads)
            result = await outcome.acapture(read)
            ended = True
            nursery.cancel_scope.cancel()
        return result.unwrap()

    # -- writes

    def write_submitted(self) -> None:
        """Nothing that reads is in the way of a write."""

    def writes_decided(self, number: int) -> None:
        """The same."""

    # -- what others do, and what is wrong

    async def watch(self, on_commit: Callable[[], None]) -> None:
        """See `Engine`. While the server cannot be reached it is tried again; its return tells too."""
        try:
            while True:
                with contextlib.suppress(StoreFailure):
                    if await trio.to_thread.run_sync(
                        self._listener.wait, POLL_SECONDS, limiter=self._listening, abandon_on_cancel=True
                    ):
                        on_commit()
                await trio.sleep(PAUSE_SECONDS)
        finally:
            self._listener.end()  # its thread was left to itself

    async def find_damage(self) -> list[str] | None:
        """Nothing: to check pages and indexes is the server's own affair (data checksums, pg_amcheck)."""
        return []

    def catalogue(self) -> Catalogue:
        with session(self._connect, "the database cannot be read") as connection:
            return read_catalogue(connection)

    def form(self) -> Form:
        with session(self._connect, "the database cannot be read") as connection:
            return form_of(connection)

    # -- life

    def close_reads(self) -> None:
        self._short.close()
        self._long.close()

    def stop(self) -> None:
        """Those that read end by themselves."""

    def close(self) -> None:
        self._deadlines.stop()


def _bring_up_to_date(address: str, now: Instant, *, migrates: bool) -> Upgrade | None:
    """Apply what migrations wait; None where none did. A database that is empty is made by whoever comes first.

    Raises `MigrationError` where they wait and `migrates` is False, or another daemon works with the database, which
    must not find it changed; and `StoreFailure`.
    """
    connection = open_connection(address, NO_DEADLINE)
    try:
        migrations = schema.packaged()
        waiting = schema.pending(connection, migrations)
        if not waiting:
            return None
        is_new = len(waiting) == len(migrations)
        before, after = (0 if is_new else waiting[0].number - 1), migrations[-1].number
        if not is_new:
            _require_leave(connection, before, after, migrates=migrates)
        schema.migrate(connection, migrations, now)
        return Upgrade(before, after, None)
    finally:
        connection.close()


def _require_leave(connection: Connection, before: int, after: int, *, migrates: bool) -> None:
    if not migrates:
        raise MigrationError(
            f"the database is at migration {before} and this program needs {after}: `gatewayd migrate` brings it there,"
            " and so does the daemon when it starts"
        )
    others = connection.execute(_OTHER_SESSIONS).get
    if others:
        raise MigrationError(
            f"the database is at migration {before} and this program needs {after}, and others work with it"
            f" ({others} sessions): stop every daemon first"
        )
