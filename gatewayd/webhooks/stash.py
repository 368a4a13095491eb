"""Keeps idle connections for the next attempt to the same receiver: few, not for long, and never a dead one."""

from collections import OrderedDict
from typing import Final, Generic, Protocol, TypeVar

IDLE_PER_KEY: Final = 4  # Chosen: as many as a subscription has attempts in flight
IDLE_TOTAL: Final = 256  # Chosen: file descriptors the daemon can spare
IDLE_SECONDS: Final = 15.0  # Chosen: below most servers' own limit, so that they seldom close under a new request
LIFE_SECONDS: Final = 120.0  # Chosen: a receiver that moves to another address is followed within two minutes


class Idle(Protocol):
    """A connection that can be kept; times are on trio's clock, in seconds."""

    born: float
    idle_until: float

    def alive(self) -> bool:
        """Whether the peer has neither closed nor said anything since."""

    def close(self) -> None:
        """Closes at once, without waiting."""


IdleT = TypeVar("IdleT", bound=Idle)
Key = tuple[str, str]  # slot and URL: no two subscriptions share a connection, and a changed URL finds none


class Stash(Generic[IdleT]):
    """Idle connections by key, most recently used first out."""

    def __init__(self, per_key: int = IDLE_PER_KEY, total: int = IDLE_TOTAL) -> None:
        self._per_key = per_key
        self._total = total
        self._kept: OrderedDict[Key, list[IdleT]] = OrderedDict()
        self._count = 0
        self._open = True

    def __len__(self) -> int:
        return self._count

    def take(self, key: Key, now: float) -> IdleT | None:
        """Hands out a live connection, now the caller's to close; None when there is none."""
        kept = self._kept.get(key)
        while kept:
            connection = self._pop(key, -1)
            if connection.idle_until > now and connection.alive():
                return connection
            connection.close()
        return None

    def put(self, key: Key, connection: IdleT, now: float) -> None:
        """Keeps a connection that is between exchanges, or closes it."""
        connection.idle_until = min(connection.idle_until, connection.born + LIFE_SECONDS)
        if not self._open or connection.idle_until <= now or self._per_key < 1:
            connection.close()
            return
        kept = self._kept.setdefault(key, [])
        kept.append(connection)
        self._count += 1
        self._kept.move_to_end(key)
        if len(kept) > self._per_key:
            self._pop(key, 0).close()
        elif self._count > self._total:
            self._pop(next(iter(self._kept)), 0).close()

    def sweep(self, now: float) -> None:
        """Closes what is past its time; cheap enough to call every few seconds."""
        for key in list(self._kept):
            for connection in [one for one in self._kept[key] if one.idle_until <= now]:
                self._pop(key, self._kept[key].index(connection)).close()

    def drop(self, slot: str) -> None:
        """Closes all idle connections of one slot."""
        for key in [key for key in self._kept if key[0] == slot]:
            while key in self._kept:
                self._pop(key, -1).close()

    def close(self) -> None:
        """Closes everything, and from now on whatever is put."""
        self._open = False
        for key in list(self._kept):
            while key in self._kept:
                self._pop(key, -1).close()

    def _pop(self, key: Key, index: int) -> IdleT:
        kept = self._kept[key]
        connection = kept.pop(index)
        self._count -= 1
        if not kept:
            del self._kept[key]
        return connection
