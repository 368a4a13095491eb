"""Several daemons on one PostgreSQL, as its rows see them: a writer for each, which write at once."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gatewayd.clock import Clock, SettableClock
from gatewayd.store import WriteTx
from gatewayd.store.postgres import schema
from gatewayd.store.postgres.connections import open_connection
from gatewayd.store.postgres.write_connection import PostgresWrites
from gatewayd.store.sealer import Sealer
from gatewayd.store.waiting_jobs import Job
from gatewayd.store.writer import Writer, WriterParts
from tests.support.postgres import Server
from tests.support.store import SEALING_KEY, START

Work = Callable[[WriteTx], object]
STATEMENT_SECONDS = 60


class Daemons:
    """Their writers. `write` is that of one, in this thread; `at_once` has each work done by another one."""

    def __init__(self, address: str, clocks: Sequence[Clock]) -> None:
        self.address = address
        self._writers = [self._writer(clock) for clock in clocks]

    def _writer(self, clock: Clock) -> Writer:
        writes = PostgresWrites(lambda: open_connection(self.address, STATEMENT_SECONDS))
        parts = WriterParts(writes, clock, Sealer(SEALING_KEY), lambda prefix: prefix)
        return Writer(parts, lambda batch: None, 10)

    def write(self, work: Work, org_id: str | None = None, *, by: int = 0) -> object:
        """What `work` answers; what it raises comes out here."""
        job = Job(work, org_id, lambda job: None)
        self._writers[by].write([job])
        if job.error is not None:
            raise job.error
        return job.result

    def at_once(self, *batches: Sequence[Work], org_id: str | None = None) -> list[object]:
        """The first daemon does the first works, each in a transaction of its own, and so on, all daemons at once.

        What each answered or raised, in the order of the works.
        """
        jobs = [[Job(work, org_id, lambda job: None) for work in works] for works in batches]
        ready = threading.Barrier(len(jobs))

        def write(number: int) -> None:
            ready.wait(STATEMENT_SECONDS)
            for job in jobs[number]:
                self._writers[number].write([job])

        threads = [threading.Thread(target=write, args=(number,)) for number in range(len(jobs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [job.error or job.result for batch in jobs for job in batch]

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


@contextmanager
def several_daemons(server: Server, count: int = 2, clocks: Sequence[Clock] = ()) -> Iterator[Daemons]:
    """Daemons on a new database, until the end of the block. Without `clocks` their time stands still at `START`."""
    name = server.new_database()
    connection = open_connection(server.address(name), STATEMENT_SECONDS)
    schema.migrate(connection, schema.packaged(), START)
    connection.close()
    daemons = Daemons(server.address(name), clocks or [SettableClock(START) for _ in range(count)])
    try:
        yield daemons
    finally:
        daemons.close()
        server.drop(name)
