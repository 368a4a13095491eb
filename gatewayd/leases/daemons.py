"""How many daemons work with the same rows, so that what is limited for all is shared out among them.

Each has a lease, which its holder renews with its others, and looks every few seconds whose there are. One that was
killed counts until its lease ends: the others have less meanwhile, and never more than there is.

What an outside counts, as the tax authority does, has to hold at each instant. So a daemon that has come waits until
each other must have seen it, and one that has not looked for some seconds, as after it was stopped, looks first:

    at every instant t, whoever uses its share has looked since t - KNOWN_SECONDS; so who came before that was seen by
    all, and who came since then does not use its share yet

Clocks of daemons may be twenty seconds apart: leases of thirty are renewed each ten. So long as none is further off, no
living one is overlooked.

A daemon that is alone on its database, as on SQLite, takes no lease and asks nobody.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, Protocol

import trio

from gatewayd.leases import rows
from gatewayd.store import Store, StoreFailure, WriteTx

LOOK_SECONDS: Final = 2.0  # Chosen
KNOWN_SECONDS: Final = 5.0  # Chosen: one look may fail
USE_SECONDS: Final = 3.0  # Chosen: how long a share may be used by what asked for it while it was known
KIND: Final = "daemon"
"""What subjects of their leases begin with, and a colon."""
NOBODYS: Final = ""
"""The organization of leases that are of no organization."""


class KeptLease(Protocol):
    """A lease that is renewed until it is forgotten."""

    def forget(self) -> None: ...


class Keeper(Protocol):
    """What renews leases, and the store they are in."""

    @property
    def id(self) -> str: ...

    @property
    def store(self) -> Store: ...

    def take_in(self, tx: WriteTx, subject: str) -> None:
        """Take a lease in a transaction; then `note` it."""

    def note(self, org_id: str, subject: str) -> KeptLease:
        """A lease that was taken in a transaction which is durable by now."""


def share_of(limit: int, daemons: int) -> int:
    """What one of so many may grant of a limit: all together no more than it, but each one at least."""
    return max(1, limit // daemons)


class Daemons:
    """Those that are known to live; `count` is how many, with this one. For one event loop."""

    def __init__(self, holder: Keeper) -> None:
        self._holder = holder
        self._subject = f"{KIND}:{holder.id}"
        self._lease: KeptLease | None = None
        self._is_one = False
        self._listeners: list[Callable[[int], None]] = []
        self._seen_at = -math.inf
        self._settled_at = -math.inf
        self.count = 1

    def tell(self, *listeners: Callable[[int], None]) -> None:
        """Have each told how many there are, now and whenever that changes."""
        for listener in listeners:
            listener(self.count)
            self._listeners.append(listener)

    async def join(self) -> None:
        """Be one of them from now on. Raises `StoreFailure`: then `run` takes the lease later."""
        self._is_one = True
        await self.look()

    async def look(self) -> None:
        """See who lives; a lease that it has not, or not any more, is taken. Raises `StoreFailure`."""
        began = trio.current_time()
        living = await self._holder.store.read(partial(rows.living, kind=KIND), NOBODYS)
        if self._subject not in living:
            await self._take()
            began = trio.current_time()
            living = await self._holder.store.read(partial(rows.living, kind=KIND), NOBODYS)
        self._seen_at = began
        count = len(living | {self._subject})
        if count == 1:
            self._settled_at = began  # whoever comes from now on sees this one
        if count != self.count:
            self.count = count
            for listener in self._listeners:
                listener(count)

    async def run(self) -> None:
        """Look until cancelled. While the store cannot be asked, what was seen last goes on."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            with suppress(StoreFailure):
                await self.look()

    async def wait_seconds(self) -> float:
        """How long to wait before the share may be used of what an outside counts; 0: it may. Raises `StoreFailure`."""
        if not self._is_one:  # alone on its database, or a command
            return 0.0
        if trio.current_time() - self._seen_at > KNOWN_SECONDS:
            await self.look()
        return max(0.0, self._settled_at - trio.current_time())

    async def _take(self) -> None:
        if self._lease is not None:
            self._lease.forget()
        await self._holder.store.write(self._take_in, NOBODYS)
        self._lease = self._holder.note(NOBODYS, self._subject)
        self._settled_at = trio.current_time() + KNOWN_SECONDS + USE_SECONDS

    def _take_in(self, tx: WriteTx) -> None:
        self._holder.take_in(tx, self._subject)
