"""Long rows of writes and reads that leave writer and loop to others: short ones, and pauses between them.

Each write goes behind those that somebody waits for. How many rows it has follows from how long those before it took
the writer: whoever comes while it is under way waits for the rest of it.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, TypeVar

import trio

from gatewayd.importing.fencing import Database
from gatewayd.store import ReadTx, WriterTime, WriteTx

T = TypeVar("T")

UNPACED_WRITES: Final = 50  # Chosen: a file of some thousand rows does not wait
UNPACED_READS: Final = 5  # Chosen: they are longer
OTHERS_SECONDS: Final = 2.0  # Chosen: so long after the last write of somebody else each is short
HEARTBEAT_SECONDS: Final = 0.5  # less than lies between two writes of the heartbeat
ALONE_SECONDS: Final = 0.010  # Chosen: of the writer, for one write while nobody else writes
BESIDE_SECONDS: Final = 0.002  # Chosen: the same beside others
COMMITS: Final = 2.0  # Chosen: a write may last for two commits, or on a slow disk it would be hardly more than one
PAUSES_BESIDE: Final = 2.0  # Chosen: beside others the writer is ours for a third of the time
SHORTER: Final = 5  # Chosen: a fifth of the rows at first, and at most beside others
LEAST_SHARE: Final = 0.1  # Chosen: shorter ones would mostly be commits


class Some(Protocol):
    """Writes at most `count` rows, and answers how many that were."""

    def __call__(self, tx: WriteTx, /, *, count: int) -> int: ...


class Pace:
    """The writes and reads of one step of an import, for one organization.

    Others are seen by what the writer has decided that somebody waited for. The heartbeat waits too, once a second: one
    write between two of ours is nobody, unless the one before it was a moment ago.
    """

    def __init__(self, store: Database, org_id: str) -> None:
        self._store = store
        self._org_id = org_id
        self._writes = self._reads = 0
        self._share = 1 / SHORTER
        self._awaited = store.awaited
        self._others_at = -OTHERS_SECONDS
        self._one_at = -OTHERS_SECONDS
        self._rests_until = 0.0

    def rows(self, most: int) -> int:
        """How many rows are to be written next, of `most`."""
        return max(1, int(most * self._share))

    async def read(self, work: Callable[[ReadTx], T]) -> T:
        """Read on a thread, and pause for as long: what is computed there, the loop can't. Raises as `read_later`."""
        await trio.sleep_until(self._rests_until)
        began = trio.current_time()
        result = await self._store.read_later(work, self._org_id)
        self._reads += 1
        if self._reads > UNPACED_READS:
            self._rest(trio.current_time() - began)
        return result

    async def write(self, work: Callable[[WriteTx], T]) -> T:
        """Write behind others, and pause, beside others or once there were many. Raises as `Store.write` does."""
        await trio.sleep_until(self._rests_until)
        began = trio.current_time()
        taken: WriterTime | None = None
        try:
            result, taken = await self._store.write_behind(work, self._org_id)
        finally:
            self._written(taken or WriterTime(trio.current_time() - began, 0.0))
        return result

    async def drain(self, work: Some, most: int) -> None:
        """Repeat a write of at most so many rows until it finds no more."""
        while await self.write(partial(work, count=self.rows(most))):
            pass

    def _written(self, taken: WriterTime) -> None:
        """What follows a write that took the writer so long."""
        self._writes += 1
        self._look()
        is_beside = trio.current_time() - self._others_at < OTHERS_SECONDS
        self._choose_share(taken, is_beside)
        if is_beside:
            self._rest(PAUSES_BESIDE * taken.seconds)
        elif self._writes > UNPACED_WRITES:
            self._rest(taken.seconds)

    def _rest(self, seconds: float) -> None:
        """Before the next write or read, not behind the last: nothing is to be held for a pause."""
        self._rests_until = trio.current_time() + seconds

    def _look(self) -> None:
        awaited, now = self._store.awaited, trio.current_time()
        others, self._awaited = awaited - self._awaited, awaited
        if others == 0:
            return
        if others > 1 or now - self._one_at < HEARTBEAT_SECONDS:
            self._others_at = now
        self._one_at = now

    def _choose_share(self, taken: WriterTime, is_beside: bool) -> None:
        """So that the next write takes as long as it may; step by step, for one that was slow says little."""
        wanted = max(BESIDE_SECONDS if is_beside else ALONE_SECONDS, COMMITS * taken.commit)
        most = 1 / SHORTER if is_beside else 1.0
        change = min(max(wanted / max(taken.seconds, 1e-6), 0.8), 1.25)
        self._share = min(max(self._share * change, LEAST_SHARE), most)
