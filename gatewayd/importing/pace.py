"""Long rows of writes and reads that leave writer and loop to others: pauses, and shorter ones beside others."""

from collections.abc import Callable
from typing import Final, TypeVar

import trio

from gatewayd.store import ReadTx, Store, WriteTx

T = TypeVar("T")

UNPACED_WRITES: Final = 50  # Chosen: a file of some thousand rows does not wait
UNPACED_READS: Final = 5  # Chosen: they are longer
OTHERS_SECONDS: Final = 2.0  # Chosen: so long after the last write of somebody else each is short
HEARTBEAT_SECONDS: Final = 0.5  # less than lies between two writes of the heartbeat
SHORTER: Final = 5  # Chosen: a fifth of the rows is written in some milliseconds


class Pace:
    """The writes and reads of one step of an import, for one organization.

    Others are seen by what the writer has decided beside our own. The heartbeat writes too, once a second: one write
    between two of ours is nobody, unless the one before it was a moment ago.
    """

    def __init__(self, store: Store, org_id: str) -> None:
        self._store = store
        self._org_id = org_id
        self._writes = self._reads = 0
        self._decided = store.decided
        self._others_at = -OTHERS_SECONDS
        self._one_at = -OTHERS_SECONDS

    def rows(self, most: int) -> int:
        """How many rows are to be written next: `most`, or few where others of this process wait for the writer."""
        is_shared = trio.current_time() - self._others_at < OTHERS_SECONDS
        return max(1, most // SHORTER) if is_shared else most

    async def read(self, work: Callable[[ReadTx], T]) -> T:
        """Read on a thread, and pause for as long: what is computed there, the loop can't. Raises as `read_later`."""
        began = trio.current_time()
        result = await self._store.read_later(work, self._org_id)
        self._reads += 1
        if self._reads > UNPACED_READS:
            await trio.sleep(trio.current_time() - began)
        return result

    async def write(self, work: Callable[[WriteTx], T]) -> T:
        """Write, and pause for as long as that took, once there were many. Raises as `Store.write` does."""
        began = trio.current_time()
        result = await self._store.write(work, self._org_id)
        self._writes += 1
        self._look()
        if self._writes > UNPACED_WRITES:
            await trio.sleep(trio.current_time() - began)
        return result

    def _look(self) -> None:
        decided, now = self._store.decided, trio.current_time()
        others, self._decided = decided - self._decided - 1, decided
        if others <= 0:
            return
        if others > 1 or now - self._one_at < HEARTBEAT_SECONDS:
            self._others_at = now
        self._one_at = now

    async def drain(self, work: Callable[[WriteTx], int]) -> None:
        """Repeat a write until it finds nothing more."""
        while await self.write(work):
            pass
