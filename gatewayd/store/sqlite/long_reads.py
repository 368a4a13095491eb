"""Reads on threads, for what may take its time: a few connections of their own, which organizations share."""

from collections.abc import Callable
from typing import TypeVar

import apsw
import trio

from gatewayd.shares import Refused, Shares
from gatewayd.store.failures import ENGINE_FAILURES, StoreFailure
from gatewayd.store.sealer import Sealer
from gatewayd.store.sqlite import connections, vectors
from gatewayd.store.sqlite.budget import STEPS_PER_TICK, Budget
from gatewayd.store.sqlite.faults import Faults, OpenedFile
from gatewayd.store.transactions import Bindings, ReadTx

T = TypeVar("T")

LONG_READ_SECONDS = 30.0  # Chosen: past it the answer is 503
READER_THREADS = 3
ORGANIZATION_THREADS = 2  # Chosen: a report beside an export, and one that is left to others


class LongReads:
    """The reading connections of one store; each is opened when it is first needed."""

    def __init__(self, file: OpenedFile, busy_timeout_seconds: float, sealer: Sealer, faults: Faults) -> None:
        self._busy_timeout_seconds = busy_timeout_seconds
        self._sealer = sealer
        self._faults = faults
        self._file = file
        self._idle: list[apsw.Connection] = []
        self.shares = Shares("long reads", READER_THREADS, ORGANIZATION_THREADS, LONG_READ_SECONDS)
        self._threads = trio.CapacityLimiter(READER_THREADS)
        self._closed = False

    async def run(self, work: Callable[[ReadTx], T], org_id: str | None, bind: Callable[[], Bindings]) -> T:
        """Run a read on a thread, in the share of the organization it is bound to. Cancelled, it ends at once.

        Raises `StoreFailure`.
        """
        try:
            async with self.shares.place(org_id):
                return await self._on_thread(work, bind())
        except Refused as error:
            raise StoreFailure("the read waited too long for a thread") from error

    def close(self) -> None:
        """Close what is idle; a read that is under way ends by itself, and closes its own."""
        self._closed = True
        for connection in self._idle:
            connection.close()

    async def _on_thread(self, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        if self._closed:
            raise StoreFailure("the store is closed")
        connection = self._idle.pop() if self._idle else self._open()
        try:
            return await trio.to_thread.run_sync(self._read_on, connection, work, bindings, limiter=self._threads)
        finally:
            self._give_back(connection)

    def _open(self) -> apsw.Connection:
        self._file.require()  # or answers of two databases would be mixed
        connection = connections.open_reader(self._file.path, self._busy_timeout_seconds)
        vectors.load(connection)
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _read_on(self, connection: apsw.Connection, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        try:
            connection.execute("BEGIN")
            connection.set_progress_handler(Budget(LONG_READ_SECONDS * 1000).tick_on_thread, STEPS_PER_TICK)
            try:
                return work(ReadTx(connection, bindings, self._sealer))
            finally:
                connection.set_progress_handler(None)
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except apsw.InterruptError:
            raise StoreFailure("the read took too long") from None
        except ENGINE_FAILURES as error:
            self._faults.met(error)
            raise StoreFailure(f"the database cannot be read: {error}") from error
