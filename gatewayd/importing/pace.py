"""A long row of writes that leaves the writer to others: each is short, and behind it as long a pause."""

from collections.abc import Callable
from typing import Final, TypeVar

import trio

from gatewayd.store import Store, WriteTx

T = TypeVar("T")

UNPACED_WRITES: Final = 50  # Chosen: a file of some thousand rows does not wait


class Pace:
    """The writes of one step of an import, for one organization."""

    def __init__(self, store: Store, org_id: str) -> None:
        self._store = store
        self._org_id = org_id
        self._writes = 0

    async def write(self, work: Callable[[WriteTx], T]) -> T:
        """Write, and pause for as long as that took, once there were many. Raises as `Store.write` does."""
        began = trio.current_time()
        result = await self._store.write(work, self._org_id)
        self._writes += 1
        if self._writes > UNPACED_WRITES:
            await trio.sleep(trio.current_time() - began)
        return result

    async def drain(self, work: Callable[[WriteTx], int]) -> None:
        """Repeat a write until it finds nothing more."""
        while await self.write(work):
            pass
