"""A pool of idle connections for the next attempt at the same receiver: few, not for long, and never a dead one."""

import math
from collections import OrderedDict
from typing import Final, Generic, Protocol, TypeVar

IDLE_PER_KEY: Final = 4  # Chosen: as many as a subscription has attempts in flight
IDLE_TOTAL: Final = 256  # Chosen: file descriptors the daemon can spare
IDLE_SECONDS: Final = 15.0  # Chosen: below most servers' own limit, so that they seldom close under a new request
LIFE_SECONDS: Final = 120.0  # Chosen: a receiver that moves to another address is followed within two minutes


class PooledConnection(Protocol):
    """What the pool needs of a connection; times are on trio's clock, in seconds."""

    born: float
    idle_until: float

    def alive(self) -> bool:
        """Whether the peer has neither closed nor said anything since."""

    def close(self) -> None:
        """Closes at once, without waiting."""


ConnectionT = TypeVar("ConnectionT", bound=PooledConnection)
Key = tuple[str, str]  # subscription and URL: no two subscriptions share a connection, and a changed URL finds none


class ConnectionPool(Generic[ConnectionT]):
    """Idle connections by key, most recently used first out."""

    def __init__(self, per_key: int = IDLE_PER_KEY, total: int = IDLE_TOTAL) -> None:
        self._per_key = per_key
        self._total = total
        self._idle: OrderedDict[Key, list[ConnectionT]] = OrderedDict()
        self._count = 0
        self._open = True
        self._renewed_at = -math.inf

    def __len__(self) -> int:
        return self._count

    def take(self, key: Key, now: float) -> ConnectionT | None:
        """Hands out a live connection, now the caller's to close; None when there is none."""
        idle = self._idle.get(key)
        while idle:
            connection = self._pop(key, -1)
            if connection.idle_until > now and connection.alive():
                return connection
            connection.close()
        return None

    def put(self, key: Key, connection: ConnectionT, now: float) -> None:
        """Takes a connection that is between requests, or closes it."""
        connection.idle_until = min(connection.idle_until, connection.born + LIFE_SECONDS)
        too_late = connection.idle_until <= now or connection.born < self._renewed_at
        if not self._open or too_late or self._per_key < 1:
            connection.close()
            return
        idle = self._idle.setdefault(key, [])
        idle.append(connection)
        self._count += 1
        self._idle.move_to_end(key)
        if len(idle) > self._per_key:
            self._pop(key, 0).close()
        elif self._count > self._total:
            self._pop(next(iter(self._idle)), 0).close()

    def sweep(self, now: float) -> None:
        """Closes what is past its time; cheap enough to call every few seconds."""
        for key in list(self._idle):
            for connection in [one for one in self._idle[key] if one.idle_until <= now]:
                self._pop(key, self._idle[key].index(connection)).close()

    def drop(self, pool_key: str) -> None:
        """Closes the idle connections of one subscription."""
        for key in [key for key in self._idle if key[0] == pool_key]:
            while key in self._idle:
                self._pop(key, -1).close()

    def renew(self, now: float) -> None:
        """Closes everything, and whatever is put that was opened before now."""
        self._renewed_at = now
        self._close_all()

    def close(self) -> None:
        """Closes everything, and from now on whatever is put."""
        self._open = False
        self._close_all()

    def _close_all(self) -> None:
        for key in list(self._idle):
            while key in self._idle:
                self._pop(key, -1).close()

    def _pop(self, key: Key, index: int) -> ConnectionT:
        idle = self._idle[key]
        connection = idle.pop(index)
        self._count -= 1
        if not idle:
            del self._idle[key]
        return connection
