"""The dispatcher on virtual time: a store whose writer runs inline on the loop, and receivers that are scripts.

The autojump clock does not wait for threads, so the store's own writer is called on the loop's thread here.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import trio

from gatewayd.clock import Instant, SettableClock
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.webhooks.sender import AttemptResult, Headers
from tests.support.store import MemoryStore

T = TypeVar("T")


class InlineStore:
    """A `MemoryStore` with the two calls of the real store that a dispatcher makes.

    `failing` counts down: while positive each write is refused as by a full disk.
    """

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory
        self.failing = 0
        self._topics: dict[str, trio.Event] = {}

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Decide one write; like the real one it cannot be cancelled once it is queued."""
        if self.failing > 0:
            self.failing -= 1
            raise StoreFailure("the disk is full")
        result = self.memory.write(work, org_id)
        self.wake()
        with trio.CancelScope(shield=True):
            await trio.lowlevel.checkpoint()
        return result

    def topic(self, name: str) -> trio.Event:
        return self._topics.setdefault(name, trio.Event())

    def wake(self) -> None:
        """Set what was announced, also by writes that went past this object."""
        announced, self.memory.announced = self.memory.announced, set()
        for name in announced & self._topics.keys():
            self._topics.pop(name).set()


@dataclass(frozen=True, slots=True)
class Post:
    """One attempt as a receiver saw it. `at` is the wall clock."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    slot_key: str
    at: Instant


def answered(status: int, *, retry_after: str | None = None) -> AttemptResult:
    """What the sender says of an answer with that status."""
    error = None if 200 <= status < 300 else "redirect_refused" if status < 400 else f"http_{status // 100}xx"
    return _result(status, error, retry_after, 20)


def unanswered(error: str, duration_ms: int = 10_000) -> AttemptResult:
    """What the sender says when no answer came."""
    return _result(None, error, None, duration_ms)


def _result(status: int | None, error: str | None, retry_after: str | None, duration_ms: int) -> AttemptResult:
    return AttemptResult(
        response_code=status,
        error=error,
        detail="",
        headers=(),
        body_excerpt=b"",
        retry_after=retry_after,
        duration_ms=duration_ms,
        timings=(),
        reused=False,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An answer that comes once the event is set."""

    until: trio.Event
    result: AttemptResult


Answer = AttemptResult | Exception | float | Held
"""A result, now or held; an error to raise; or seconds to take before a timeout or, below 10, a 200."""


@dataclass(eq=False)
class ScriptedSender:
    """Stands at the network's border. `answers` by URL are used up in order, the last one again and again."""

    clock: SettableClock
    answers: dict[str, deque[Answer]] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    in_flight: dict[str, int] = field(default_factory=dict)
    most_in_flight: dict[str, int] = field(default_factory=dict)
    most_at_once: int = 0
    under_way: set[str] = field(default_factory=set)
    overlaps: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    arrived: trio.Event = field(default_factory=trio.Event)

    def script(self, url: str, *answers: Answer) -> None:
        self.answers[url] = deque(answers)

    async def post(self, url: str, headers: Headers, body: bytes, *, slot_key: str) -> AttemptResult:
        named = dict(headers)
        delivery_id = named["X-Service-Delivery"]
        self.posts.append(Post(url, named, body, slot_key, self.clock.now()))
        self.arrived.set()
        if delivery_id in self.under_way:
            self.overlaps.append(delivery_id)
        self.under_way.add(delivery_id)
        self.in_flight[url] = self.in_flight.get(url, 0) + 1
        self.most_in_flight[url] = max(self.most_in_flight.get(url, 0), self.in_flight[url])
        self.most_at_once = max(self.most_at_once, sum(self.in_flight.values()))
        try:
            return await self._answer(url)
        finally:
            self.in_flight[url] -= 1
            self.under_way.discard(delivery_id)

    async def _answer(self, url: str) -> AttemptResult:
        script = self.answers.get(url) or deque([answered(200)])
        answer = script[0] if len(script) == 1 else script.popleft()
        await trio.lowlevel.checkpoint()
        if isinstance(answer, AttemptResult):
            return answer
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Held):
            await answer.until.wait()
            return answer.result
        await trio.sleep(answer)
        return unanswered("timeout") if answer >= 10 else answered(200)

    def sweep(self) -> None:
        return

    def forget(self, slot_key: str) -> None:
        self.forgotten.append(slot_key)

    def posts_to(self, url: str) -> list[Post]:
        """The attempts at one receiver, in order."""
        return [post for post in self.posts if post.url == url]


@dataclass(eq=False)
class RecordingLog:
    """Keeps what was logged: level, event and values."""

    lines: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)

    def info(self, event: str, **values: object) -> None:
        self.lines.append(("info", event, values))

    def warning(self, event: str, **values: object) -> None:
        self.lines.append(("warning", event, values))

    def error(self, event: str, **values: object) -> None:
        self.lines.append(("error", event, values))

    def events(self, level: str) -> list[str]:
        """The events of one level, in order."""
        return [event for one, event, _ in self.lines if one == level]
