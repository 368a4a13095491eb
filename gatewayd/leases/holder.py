"""Who holds leases: one process, by an id that it draws at its start. It puts their end off while it holds any.

One statement every few seconds renews all of them; while none is held, nothing is written. A process that ends gives
back what it has. One that was killed cannot, and its leases end by themselves; but the daemon that follows on the same
data directory, which only one works with at a time, knows that those before it are dead, and ends theirs at once.
"""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final, TypeVar

import trio

from gatewayd.leases import rows
from gatewayd.leases.daemons import Daemons
from gatewayd.leases.rows import LEASE_SECONDS
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx

RENEW_SECONDS: Final = 10.0  # Chosen: two of three may come to nothing, or late
AGAIN_SECONDS: Final = 1.0  # Chosen: after the store could not be written to
COMMAND: Final = "command"
"""The name of holders of which none follows another."""

T = TypeVar("T")
Key = tuple[str, str]
"""Organization and subject."""


class Lease:
    """What a task of this process works on alone, unless it was stopped for too long, until it lets others have it."""

    def __init__(self, holder: "Holder", org_id: str, subject: str) -> None:
        self.org_id = org_id
        self.subject = subject
        self._holder = holder

    def require(self, tx: ReadTx) -> None:
        """Raises `LeaseLost` where somebody else has taken it. Asked by the transaction that writes what needs it."""
        rows.require(tx, self.subject, self._holder.id)

    def fenced(self, work: Callable[[WriteTx], T]) -> Callable[[WriteTx], T]:
        """The same work, which raises `LeaseLost` before it does anything where somebody else has taken the lease."""
        return partial(_fenced, self, work)

    async def release(self) -> None:
        """Let others have it; where nothing can be written, as soon as something can."""
        await self._holder.release(self)

    def release_in(self, tx: WriteTx) -> None:
        """The same in the transaction that stores what it was held for; `forget` once that is durable."""
        rows.release(tx, self.subject, self._holder.id)

    def forget(self) -> None:
        """It needs no more renewing: its row is gone."""
        self._holder.forget(self)


def _fenced(lease: Lease, work: Callable[[WriteTx], T], tx: WriteTx) -> T:
    lease.require(tx)
    return work(tx)


class Holder:
    """The leases of one process, and the store they are in.

    `name` is what its ids begin with: that of a data directory, where its daemons follow one another. Of two tasks that
    take the same lease the second gets none, as if it were of another process.
    """

    def __init__(
        self,
        store: Store,
        name: str = COMMAND,
        *,
        seconds: float = LEASE_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
    ) -> None:
        self.store = store
        self.id = f"{name}:{secrets.token_hex(8)}"
        self._name = name
        self._seconds = seconds
        self._renew_seconds = renew_seconds
        self._held: dict[Key, Lease] = {}
        self._unreleased: set[Key] = set()
        self._something = trio.Event()
        self.daemons = Daemons(self)
        """Who else works with the store's rows."""

    async def take(self, org_id: str, subject: str) -> Lease | None:
        """The lease of a subject; None where somebody holds it. Nothing is written for that. Raises `StoreFailure`."""
        key = (org_id, subject)
        if key in self._held:
            return None
        lease = self._hold(key)
        try:
            taken = await self._taken(key)
        except BaseException:
            self.forget(lease)
            raise
        if not taken:
            self.forget(lease)
            return None
        self._unreleased.discard(key)
        return lease

    def take_in(self, tx: WriteTx, subject: str) -> None:
        """Take a lease in a transaction that sees to it that nobody else works on the subject; then `note` it."""
        rows.take(tx, subject, self.id, self._seconds)

    def note(self, org_id: str, subject: str) -> Lease:
        """A lease that was taken in a transaction which is durable by now."""
        return self._hold((org_id, subject))

    async def shorten(self) -> None:
        """Cut down what a clock that was ahead has written. Raises `StoreFailure`."""
        if await self.store.read(partial(rows.is_any_too_long, seconds=self._seconds)):
            await self.store.write(partial(rows.shorten, seconds=self._seconds))

    async def release(self, lease: Lease) -> None:
        """See `Lease.release`."""
        key = (lease.org_id, lease.subject)
        with trio.CancelScope(shield=True):  # bounded by the store
            try:
                await self.store.write(lease.release_in, lease.org_id)
            except StoreFailure:
                self._unreleased.add(key)
                self._something.set()
        self.forget(lease)

    def forget(self, lease: Lease) -> None:
        """See `Lease.forget`."""
        key = (lease.org_id, lease.subject)
        if self._held.get(key) is lease:
            del self._held[key]

    async def drop_former(self) -> None:
        """End the leases of those before it of the same name. Where nothing can be written they end by themselves."""
        with suppress(StoreFailure):
            await self.store.write(partial(rows.drop_former, name=self._name, holder=self.id))

    async def run(self) -> None:
        """Renew until cancelled."""
        pause = self._renew_seconds
        while True:
            await self._something.wait()
            await trio.sleep(pause)
            pause = self._renew_seconds
            if not self._held and not self._unreleased:
                self._something = trio.Event()
            elif not await self._renewed():
                pause = min(AGAIN_SECONDS, self._renew_seconds)

    async def end(self) -> None:
        """Give back what is still held."""
        if self._held or self._unreleased:
            with trio.CancelScope(shield=True), suppress(StoreFailure):  # bounded by the store
                await self.store.write(lambda tx: rows.release_all_of(tx, self.id))

    def _hold(self, key: Key) -> Lease:
        lease = self._held[key] = Lease(self, *key)
        self._something.set()
        return lease

    async def _taken(self, key: Key) -> bool:
        org_id, subject = key
        found = await self.store.read(partial(rows.find, subject=subject), org_id)
        if found is not None and found.holder != self.id and found.until > self.store.now():
            await self.shorten()  # so that it ends in time
            return False
        return await self.store.write(
            partial(rows.take, subject=subject, holder=self.id, seconds=self._seconds), org_id
        )

    async def _renewed(self) -> bool:
        """Put everything off, and release what could not be before; False: nothing could be written."""
        unreleased = frozenset(self._unreleased - self._held.keys())
        try:
            await self.store.write(partial(self._renew, unreleased=unreleased))
        except StoreFailure:
            return False
        self._unreleased -= unreleased
        return True

    def _renew(self, tx: WriteTx, unreleased: frozenset[Key]) -> None:
        for org_id, subject in sorted(unreleased):
            tx.bind(org_id)
            rows.release(tx, subject, self.id)
        rows.renew(tx, self.id, self._seconds)


@asynccontextmanager
async def open_holder(store: Store, name: str = COMMAND) -> AsyncIterator[Holder]:
    """A holder for the length of the block, and what renews its leases; of a daemon, also who else works there."""
    holder = Holder(store, name)
    if name != COMMAND:
        await holder.drop_former()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(holder.run)
        if name != COMMAND and store.is_shared:
            with suppress(StoreFailure):
                await holder.daemons.join()
            nursery.start_soon(holder.daemons.run)
        try:
            yield holder
        finally:
            await holder.end()
            nursery.cancel_scope.cancel()
