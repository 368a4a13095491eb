"""Places that are shared out: a limited thing of which no organization can take all.

    place --free, and within its share--> held --> given back
          --not--> waits in turns --> held, or refused after `wait_seconds`

An organization has at most its share, and takes a second place only while one more is free: the last is kept for
somebody who holds none. Of those who wait, whoever holds least goes first, and among equals they take turns.
"""

from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import trio

from gatewayd.errors import Problem

RETRY_SECONDS: Final = 5  # Chosen: what a refused caller is told to wait
OWN: Final = ""
"""Stands for the instance itself, in what it does for no organization or before it knows for which."""


@dataclass(slots=True)
class Count:
    """Who holds how many places, of `limit` in all. Pure. `share` is the most of one organization."""

    limit: int
    share: int
    held: dict[str, int] = field(default_factory=dict)

    @property
    def taken(self) -> int:
        """How many are held."""
        return sum(self.held.values())

    def of(self, org_id: str) -> int:
        """How many an organization holds."""
        return self.held.get(org_id, 0)

    def allows(self, org_id: str) -> bool:
        """Whether an organization may take a place now."""
        own = self.of(org_id)
        return self.taken < self.limit if not own else own < self.share and self.taken < self.limit - 1

    def take(self, org_id: str) -> None:
        """Count one more."""
        self.held[org_id] = self.of(org_id) + 1

    def give_back(self, org_id: str) -> None:
        """Count one less."""
        if self.held[org_id] == 1:
            del self.held[org_id]
        else:
            self.held[org_id] -= 1

    def copy(self) -> "Count":
        """The same, to plan with."""
        return Count(self.limit, self.share, dict(self.held))


class Refused(Problem):
    """Nobody gave a place back in time."""


class Holder(NamedTuple):
    """An organization with what it holds, and how many of its calls wait."""

    org_id: str
    held: int
    waiting: int


class Shares:
    """The places of one limited thing. For one event loop."""

    def __init__(self, thing: str, limit: int, share: int = 0, wait_seconds: float = float("inf")) -> None:
        """`thing` is what it is of, in plural, as metrics and refusals call it. `share` 0: half of the places."""
        self.thing = thing
        self.count = Count(limit, share or max(1, limit // 2))
        self.refused = 0
        self._wait_seconds = wait_seconds
        self._waiting: OrderedDict[str, deque[trio.Event]] = OrderedDict()

    @asynccontextmanager
    async def place(self, org_id: str | None) -> AsyncIterator[None]:
        """A place for the length of the block.

        Raises `Refused`, with `Retry-After`: `rate_limited` where the organization's own share is used up for too long,
        `unavailable` where the others hold what it could have.
        """
        holder = org_id or OWN
        if self.count.allows(holder):  # whoever waits is not allowed one, or would have been given it
            self.count.take(holder)
        else:
            await self._wait(holder)
        try:
            yield
        finally:
            self.give_back(holder)

    def give_back(self, org_id: str) -> None:
        """Free a place, and give what is free to those who wait."""
        self.count.give_back(org_id)
        self._serve()

    def holders(self, most: int) -> list[Holder]:
        """Who holds or waits for most, so many of them."""
        known = {*self.count.held, *self._waiting}
        holders = [Holder(org_id, self.count.of(org_id), len(self._waiting.get(org_id, ()))) for org_id in known]
        return sorted(holders, key=lambda holder: (-holder.held, -holder.waiting, holder.org_id))[:most]

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        return sum(map(len, self._waiting.values()))

    async def _wait(self, org_id: str) -> None:
        turn = trio.Event()
        self._waiting.setdefault(org_id, deque()).append(turn)
        try:
            with trio.move_on_after(self._wait_seconds):
                await turn.wait()
        except BaseException:
            if turn.is_set():
                self.give_back(org_id)
            else:
                self._leave(org_id, turn)
            raise
        if not turn.is_set():
            self._leave(org_id, turn)
            self.refused += 1
            raise self._refusal(org_id)

    def _leave(self, org_id: str, turn: trio.Event) -> None:
        turns = self._waiting[org_id]
        turns.remove(turn)
        if not turns:
            del self._waiting[org_id]

    def _serve(self) -> None:
        while allowed := [org_id for org_id in self._waiting if self.count.allows(org_id)]:
            org_id = min(allowed, key=self.count.of)  # the first of those who hold least
            turns = self._waiting[org_id]
            turn = turns.popleft()
            self._waiting.move_to_end(org_id)
            if not turns:
                del self._waiting[org_id]
            self.count.take(org_id)
            turn.set()

    def _refusal(self, org_id: str) -> Refused:
        retry = ((b"retry-after", b"%d" % RETRY_SECONDS),)
        own, share = self.count.of(org_id), self.count.share
        if own >= share:
            message = f"Your organization has {own} {self.thing} under way, which is its share. Try again."
            return Refused("rate_limited", message, headers=retry)
        message = f"As many {self.thing} are under way as there may be. Try again."
        return Refused("unavailable", message, headers=retry)
