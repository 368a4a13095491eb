"""The dispatcher on virtual time: a store whose writer runs inline on the loop, and receivers that are scripts.

The autojump clock does not wait for threads, so the store's own writer is called on the loop's thread here.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
import trio
from trio.testing import MockClock

from gatewayd.clock import Instant, SettableClock
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.webhooks import deliveries, replays
from gatewayd.webhooks.deliveries import Delivery, ListDeliveries
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.queue import attempts
from gatewayd.webhooks.replays import ResendDelivery
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import UpdatedSubscription, UpdateSubscription
from tests.support.store import START, MemoryStore, make_caller
from tests.support.subscribing import emit

T = TypeVar("T")


class InlineStore:
    """A `MemoryStore` with the two calls of the real store that a dispatcher makes.

    `failing` counts down: while positive each write is refused as by a full disk. `writes` counts those decided.
    """

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory
        self.failing = 0
        self.writes = 0
        self._topics: dict[str, trio.Event] = {}

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        """Decide one write; like the real one it cannot be cancelled once it is queued."""
        if self.failing > 0:
            self.failing -= 1
            raise StoreFailure("the disk is full")
        result = self.memory.write(work, org_id)
        self.writes += 1
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
    pool_key: str
    at: Instant


def response(
    status: int,
    *,
    retry_after: str | None = None,
    headers: Headers = (),
    body: bytes = b"",
    body_error: str | None = None,
) -> AttemptResult:
    """What the sender says of a response with that status."""
    error = None if 200 <= status < 300 else "redirect_refused" if status < 400 else f"http_{status // 100}xx"
    return AttemptResult(
        response_code=status,
        error=error,
        body_error=body_error,
        detail="",
        headers=headers,
        body_excerpt=body,
        retry_after=retry_after,
        duration_ms=20,
        timings=(("send", 50), ("headers", 19_000), ("body", 950)),
        reused=True,
    )


def no_response(error: str, duration_ms: int = 10_000, *, status: int | None = None) -> AttemptResult:
    """What the sender says when no response came, or none that was whole."""
    return AttemptResult(
        response_code=status,
        error=error,
        body_error=None,
        detail="",
        headers=(),
        body_excerpt=b"",
        retry_after=None,
        duration_ms=duration_ms,
        timings=(("dns", 1_000),),
        reused=False,
    )


@dataclass(frozen=True, slots=True, eq=False)
class DelayedResult:
    """A result that comes once the event is set."""

    until: trio.Event
    result: AttemptResult


ScriptedResult = AttemptResult | Exception | float | DelayedResult
"""A result, now or delayed; an error to raise; or seconds to take before a timeout or, below 10, a 200."""


@dataclass(eq=False)
class ScriptedSender:
    """Stands in for the network. `results` by URL are used up in order, the last one again and again."""

    clock: SettableClock
    results: dict[str, deque[ScriptedResult]] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    in_flight: dict[str, int] = field(default_factory=dict)
    most_in_flight: dict[str, int] = field(default_factory=dict)
    most_at_once: int = 0
    under_way: set[str] = field(default_factory=set)
    overlaps: list[str] = field(default_factory=list)
    closed_idle: list[str] = field(default_factory=list)
    sweeps: int = 0
    arrived: trio.Event = field(default_factory=trio.Event)

    def script(self, url: str, *results: ScriptedResult) -> None:
        self.results[url] = deque(results)

    async def post(self, url: str, headers: Headers, body: bytes, *, pool_key: str) -> AttemptResult:
        named = dict(headers)
        delivery_id = named["X-Service-Delivery"]
        self.posts.append(Post(url, named, body, pool_key, self.clock.now()))
        self.arrived.set()
        if delivery_id in self.under_way:
            self.overlaps.append(delivery_id)
        self.under_way.add(delivery_id)
        self.in_flight[url] = self.in_flight.get(url, 0) + 1
        self.most_in_flight[url] = max(self.most_in_flight.get(url, 0), self.in_flight[url])
        self.most_at_once = max(self.most_at_once, sum(self.in_flight.values()))
        try:
            return await self._next_result(url)
        finally:
            self.in_flight[url] -= 1
            self.under_way.discard(delivery_id)

    async def _next_result(self, url: str) -> AttemptResult:
        script = self.results.get(url) or deque([response(200)])
        result = script[0] if len(script) == 1 else script.popleft()
        await trio.lowlevel.checkpoint()
        if isinstance(result, AttemptResult):
            return result
        if isinstance(result, Exception):
            raise result
        if isinstance(result, DelayedResult):
            await result.until.wait()
            return result.result
        await trio.sleep(result)
        return no_response("timeout") if result >= 10 else response(200)

    def sweep(self) -> None:
        self.sweeps += 1

    def close_idle(self, pool_key: str) -> None:
        self.closed_idle.append(pool_key)

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


@dataclass(eq=False)
class Harness:
    """A store, a scripted network and everything a dispatcher is made of, on virtual time."""

    memory: MemoryStore
    outbox: InlineStore
    sender: ScriptedSender
    clock: SettableClock
    log: RecordingLog
    org_id: str

    def dispatcher(self, settings: WebhookSettings | None = None, fraction: float = 0.0) -> Dispatcher:
        return Dispatcher(
            DispatcherParts(
                store=self.outbox,
                sender=self.sender,
                clock=self.clock,
                settings=settings or WebhookSettings(),
                log=self.log,
                fraction=lambda: fraction,
            )
        )

    @classmethod
    def build(cls, image: bytes, time: MockClock) -> "Harness":
        """A harness whose wall clock begins at `START` and goes on with virtual time."""
        origin = time.current_time()
        clock = SettableClock(START, lambda: time.current_time() - origin)
        memory = MemoryStore(image, clock)
        return cls(memory, InlineStore(memory), ScriptedSender(clock), clock, RecordingLog(), memory.org())

    @asynccontextmanager
    async def dispatching(self, dispatcher: Dispatcher | None = None) -> AsyncIterator[Dispatcher]:
        dispatcher = dispatcher or self.dispatcher()
        async with trio.open_nursery() as nursery:
            await nursery.start(dispatcher.run)
            yield dispatcher
            nursery.cancel_scope.cancel()

    def emit(self, count: int = 1) -> None:
        emit(self.memory, self.org_id, count)
        self.outbox.wake()

    def records(self, subscription_id: str) -> list[dict[str, Any]]:
        """Delivery records, oldest first."""
        request = ListDeliveries(id=subscription_id, limit=100)
        caller = make_caller(self.org_id)
        page = self.memory.read(lambda tx: deliveries.list_deliveries(tx, caller, request, max_attempts=8), self.org_id)
        newest_first: list[dict[str, Any]] = msgspec.json.decode(page.data)
        return newest_first[::-1]

    def attempts(self, delivery_id: str) -> list[dict[str, Any]]:
        """The attempts of a delivery that are on record, oldest first."""
        wires = self.memory.read(lambda tx: attempts.of_delivery(tx, delivery_id), self.org_id)
        return [msgspec.json.decode(wire) for wire in wires]

    def resend(self, delivery_id: str) -> Delivery:
        """Send a delivery again as its owner does."""
        caller, request = make_caller(self.org_id), ResendDelivery(id=delivery_id)
        made = self.memory.write(lambda tx: replays.resend_delivery(tx, caller, request, max_attempts=8), self.org_id)
        self.outbox.wake()
        return made

    def update(self, request: UpdateSubscription) -> UpdatedSubscription:
        """Change a subscription as its owner does."""
        caller, policy = make_caller(self.org_id), WebhookSettings().policy
        made = self.memory.write(
            lambda tx: subscriptions.update_subscription(tx, caller, request, policy=policy), self.org_id
        )
        self.outbox.wake()
        return made

    async def until(self, met: Callable[[], bool], seconds: float = 4_000) -> None:
        """Let at most that much virtual time pass until `met`, looking 200 times."""
        with trio.fail_after(seconds):
            while not met():
                await trio.sleep(seconds / 200)
