"""A store in memory as several daemons see it, whose time is the virtual one."""

from collections.abc import Callable
from typing import TypeVar

import trio

from gatewayd.clock import SettableClock
from gatewayd.store import ReadTx, StoreFailure, WriteTx
from tests.support.store import START, MemoryStore

T = TypeVar("T")


class Records:
    """A `MemoryStore` as a holder sees the store: its clock goes with the virtual one. `writes` counts them.

    `is_shared`: daemons on several machines may work with it. `full`: it takes no writes. `gone`: it answers nothing.
    """

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory
        self.is_shared = False
        self.full = False
        self.gone = False
        self.writes = 0

    def now(self) -> int:
        return self.memory.now()

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        await trio.lowlevel.checkpoint()
        if self.gone:
            raise StoreFailure("the database cannot be reached")
        return self.memory.read(work, org_id)

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        await trio.lowlevel.checkpoint()
        self.writes += 1
        if self.full or self.gone:
            raise StoreFailure("the disk is full")
        return self.memory.write(work, org_id)

    def leases(self) -> list[str]:
        return [
            str(row[0]) for row in self.memory.write(lambda tx: tx.rows("SELECT subject FROM leases ORDER BY subject"))
        ]


def records_of(image: bytes, seconds: Callable[[], float]) -> Records:
    """A new one; `seconds` is what time it is on the virtual clock."""
    return Records(MemoryStore(image, SettableClock(START, seconds)))
