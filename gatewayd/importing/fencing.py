"""The store as one run is given it: whatever it writes, it writes while the account is its own."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from gatewayd.leases.holder import Lease
from gatewayd.store import ReadTx, WriterTime, WriteTx

T = TypeVar("T")


class Database(Protocol):
    """What imports need of the store, whose methods these are."""

    @property
    def awaited(self) -> int: ...

    def now(self) -> int: ...

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T: ...

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None) -> T: ...

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T: ...

    async def write_behind(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> tuple[T, WriterTime]: ...

    async def sweep(self, work: Callable[[WriteTx], int], rows: int) -> None: ...


class FencedStore:
    """See `Database`. Writes raise `LeaseLost`, and do nothing, once somebody else has taken the lease."""

    def __init__(self, store: Database, lease: Lease) -> None:
        self._store = store
        self._lease = lease

    @property
    def awaited(self) -> int:
        return self._store.awaited

    def now(self) -> int:
        return self._store.now()

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        return await self._store.read(work, org_id)

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        return await self._store.read_later(work, org_id)

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        return await self._store.write(self._lease.fenced(work), org_id)

    async def write_behind(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> tuple[T, WriterTime]:
        return await self._store.write_behind(self._lease.fenced(work), org_id)

    async def sweep(self, work: Callable[[WriteTx], int], rows: int) -> None:
        """Of all organizations, whatever becomes of the run."""
        await self._store.sweep(work, rows)
