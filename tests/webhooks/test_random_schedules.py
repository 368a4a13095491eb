"""Random lives of deliveries on virtual time, with restarts, crashes, full disks and clocks that are set.

Every delivery has a fate of its own: how its attempts end. What must hold whatever happens is checked at each POST,
after each write of the dispatcher, and once all is over. One seed is one world; the same seed is the same world.
"""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Final, TypeVar

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import SECOND
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks.dispatch.dispatcher import Dispatcher, DispatcherParts
from gatewayd.webhooks.queue.attempts import Attempt
from gatewayd.webhooks.schedule import RetryPolicy, counted_attempts
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import SignatureError, verify
from gatewayd.webhooks.subscribers.subscription_shapes import UpdateSubscription
from tests.support.subscribing import emit, subscribe
from tests.support.wire import read_as
from tests.webhooks.harness import Harness, InlineStore, no_response, response

T = TypeVar("T")

SEEDS: Final = int(os.environ.get("GATEWAYD_SCHEDULES", "8"))
SUBSCRIPTIONS: Final = 5
EVENTS: Final = 20  # each is a delivery, with a schedule of its own, to each subscription
WAITS: Final = (30, 60, 120, 240, 480, 960, 1920)  # Spec §8, seconds
TIMEOUT_SECONDS: Final = 10.0  # Spec §8
ENDINGS: Final = ("reset", "500", "302", "hang", "drip", "seconds", "date", "garbage", "defect", "410")
WEIGHTS: Final = (20, 30, 8, 10, 5, 6, 4, 4, 4, 1)
FINISHED: Final = ("succeeded", "exhausted", "cancelled")

_ROWS = """
SELECT id, subscription_id, status, attempts, in_flight, due_at, response_code, last_error, interruptions
FROM deliveries WHERE org_id = :org_id
"""
_ATTEMPT = "SELECT wire FROM delivery_attempts WHERE org_id = :org_id AND delivery_id = :id AND attempt = :attempt"
_ATTEMPTS = (
    "SELECT delivery_id, attempt, wire FROM delivery_attempts WHERE org_id = :org_id ORDER BY delivery_id, attempt"
)
_DISABLED = "SELECT id FROM webhook_subscriptions WHERE org_id = :org_id AND enabled = 0"
_CLAIMED = "SELECT attempts FROM deliveries WHERE org_id = :org_id AND id = :id AND in_flight = 1"


@dataclass(slots=True)
class Post:
    """One attempt as its receiver saw it. `result` None: it was broken off, or failed on our side."""

    number: int
    began: float
    life: int  # which start of the dispatcher made it
    ended: float | None = None
    result: AttemptResult | None = None
    asked: float = 0.0  # seconds of a Retry-After


@dataclass(slots=True)
class Seen:
    """What the receiver remembers of one delivery."""

    body: bytes
    posts: list[Post] = field(default_factory=list)


class CheckedStore(InlineStore):
    """Looks at every row after each write."""

    checks: Callable[[], None] = staticmethod(lambda: None)

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        result = await super().write(work, org_id)
        self.checks()
        return result


class World:
    """A house, its receivers, and the fate that both are dealt."""

    def __init__(self, harness: Harness, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.harness = harness
        self.store = CheckedStore(harness.memory)
        self.store.checks = self.check_rows
        self.settings = WebhookSettings(stop_seconds=0, per_subscription=self.random.choice((1, 4, 8)), concurrency=16)
        self.secrets: dict[str, str] = {}
        self.seen: dict[str, Seen] = {}
        self.rows: dict[str, tuple[Any, ...]] = {}
        self.under_way: dict[str, str] = {}  # deliveries, and their subscriptions
        self.arrived = trio.Event()
        self.faults: list[Exception] = []
        self.leaps: list[tuple[float, float]] = []  # when the clock was set forward, and by how much: virtual seconds
        self.life = 0

    # -- the receiver's side: an `AttemptSender`

    async def post(self, url: str, headers: Headers, body: bytes, *, pool_key: str) -> AttemptResult:
        named = dict(headers)
        delivery_id = named["X-Service-Delivery"]
        seen = self.seen.setdefault(delivery_id, Seen(body))
        number = self.read(lambda tx: tx.value(_CLAIMED, id=delivery_id))
        try:
            self.check_post(delivery_id, seen, number)
            assert body == seen.body
            verify(named["X-Service-Signature"], body, self.secrets[pool_key], now=self.harness.clock.now() // SECOND)
        except (AssertionError, SignatureError) as fault:
            self.faults.append(fault)  # the dispatcher takes it for a defect of its own and goes on
        post = Post(number, trio.current_time(), self.life)
        seen.posts.append(post)
        self.under_way[delivery_id] = pool_key
        self.arrived.set()
        self.arrived = trio.Event()
        try:
            post.result = await self.ending(delivery_id, post)
        finally:
            self.under_way.pop(delivery_id, None)
            post.ended = trio.current_time()
        return post.result

    def sweep(self) -> None:
        return

    def close_idle(self, pool_key: str) -> None:
        return

    async def ending(self, delivery_id: str, post: Post) -> AttemptResult:
        """Draw how an attempt ends, and let that happen: the same whatever order tasks run in."""
        dice = random.Random(f"{self.seed} {delivery_id} {post.number}")
        if dice.random() < random.Random(f"{self.seed} {delivery_id}").choice((0.0, 0.05, 0.3, 0.8)):
            await trio.sleep(dice.choice((0.0, 0.02, 3.0)))
            return response(dice.choice((200, 204)))
        ending = dice.choices(ENDINGS, WEIGHTS)[0]
        if ending in ("hang", "drip"):
            await trio.sleep(TIMEOUT_SECONDS)
            return no_response("timeout", status=200 if ending == "drip" else None)
        await trio.sleep(dice.choice((0.0, 0.1, 9.0)))
        if ending == "defect":
            raise RuntimeError("a defect")
        if ending == "reset":
            return no_response("connection", 5)
        if ending.isdigit():
            return response(int(ending))
        if ending == "garbage":
            return response(429, retry_after="soon")
        now, asked = self.harness.clock.now() / SECOND, dice.choice((0, 1, 45, 600))
        date = int(now) + asked
        post.asked = asked if ending == "seconds" else date - now
        return response(429, retry_after=str(asked) if ending == "seconds" else formatdate(date, usegmt=True))

    # -- what must hold

    def check_post(self, delivery_id: str, seen: Seen, number: int | None) -> None:
        """One at a time, eight at most, and none too early."""
        assert number is not None, "sent without being claimed"
        assert delivery_id not in self.under_way, "two in flight"
        beside = list(self.under_way.values())
        assert len(beside) < self.settings.concurrency
        assert beside.count(self.rows[delivery_id][1]) < self.settings.per_subscription
        counted = counted_attempts(RetryPolicy(), number, self.rows[delivery_id][-1])
        assert 1 <= counted <= 8
        assert len(seen.posts) < 16
        assert self.rows[delivery_id][2] not in FINISHED
        if not seen.posts:
            return
        last = seen.posts[-1]
        assert number > last.number, "an attempt was made twice"
        wire = self.read(lambda tx: tx.value(_ATTEMPT, id=delivery_id, attempt=number - 1))
        record = read_as(wire, Attempt)
        if record.error == "interrupted":
            assert number - 1 > last.number or last.life < self.life, "interrupted without a restart"
            return
        assert last.number == number - 1
        assert last.ended is not None
        waited = trio.current_time() - last.ended + sum(by for at, by in self.leaps if at >= last.ended)
        assert waited >= max(WAITS[counted - 2], last.asked) - 1e-3, "too early"

    def check_rows(self) -> None:
        """No row goes back: attempts are counted up one by one, and what is finished stays as it is."""
        for row in self.read(lambda tx: tx.rows(_ROWS)):
            delivery_id, _, status, attempts, flying, due_at, *_, interruptions = row
            before = self.rows.get(delivery_id)
            if before == row:
                continue
            self.rows[delivery_id] = row
            counted = counted_attempts(RetryPolicy(), attempts, interruptions)
            assert counted < 8 or flying or status in FINISHED, "not exhausted at once"
            assert counted <= 8
            assert (due_at is None) == (status in FINISHED)
            assert before is None or before[2] not in FINISHED, "a finished delivery was changed"
            assert before is None or before[3] <= attempts <= before[3] + 1
            assert before is None or before[-1] <= interruptions <= before[-1] + 1

    def check_end(self) -> None:
        """All is finished, for a reason, and every attempt is on record as the receiver saw it."""
        records: dict[str, list[Attempt]] = {}
        for delivery_id, number, wire in self.read(lambda tx: tx.rows(_ATTEMPTS)):
            log = records.setdefault(delivery_id, [])
            log.append(read_as(wire, Attempt))
            assert number == log[-1].attempt == len(log)
        assert records.keys() == self.rows.keys()
        for delivery_id, (_, _, status, attempts, _, _, code, error, interruptions) in self.rows.items():
            log = records[delivery_id]
            assert len(log) == attempts
            assert (log[-1].response_code, log[-1].error) == (code, error) or error == "interrupted"
            well = [one.error is None for one in log]
            assert well == [False] * (attempts - 1) + [status == "succeeded"]
            gone = log[-1].response_code == 410
            assert sum(one.error == "interrupted" for one in log) == interruptions
            used_up = counted_attempts(RetryPolicy(), attempts, interruptions) == 8
            assert status == "succeeded" or (status == "exhausted" and (used_up or gone))
            self.check_log(log, {post.number: post for post in self.seen[delivery_id].posts})

    def check_log(self, log: list[Attempt], posts: dict[int, Post]) -> None:
        for record in log:
            post = posts.get(record.attempt)
            if record.error == "interrupted":
                assert post is None or post.life < self.life, "interrupted without a restart"
                continue
            assert post is not None, "recorded and never sent"
            expected = (None, "internal") if post.result is None else (post.result.response_code, post.result.error)
            assert (record.response_code, record.error) == expected

    # -- what happens

    def read(self, work: Callable[[ReadTx], T]) -> T:
        return self.harness.memory.read(work, self.harness.org_id)

    def begin(self) -> None:
        """Subscriptions and what they are owed."""
        for number in range(SUBSCRIPTIONS):
            made = subscribe(self.harness.memory, self.harness.org_id, f"https://r{number}.example/")
            self.secrets[made.id] = made.secret
        emit(self.harness.memory, self.harness.org_id, EVENTS)
        self.check_rows()

    def dispatcher(self) -> Dispatcher:
        self.life += 1
        return Dispatcher(
            DispatcherParts(
                store=self.store,
                sender=self,
                clock=self.harness.clock,
                settings=self.settings,
                log=self.harness.log,
                fraction=lambda: self.harness.clock.now() % 1_000 / 1_000,
            )
        )

    async def live(self, seconds: float, *, crash: bool) -> None:
        """Run one dispatcher for that long; a crash leaves it no chance to record."""
        self.store.failing = 0
        async with trio.open_nursery() as nursery:
            await nursery.start(self.dispatcher().run)
            with trio.move_on_after(seconds):
                while not self.is_over():
                    await trio.sleep(self.random.uniform(1, 120))
                    self.disturb()
                    assert self.faults == []
            with trio.move_on_after(1_000):
                while not self.under_way and not self.is_over():
                    await self.arrived.wait()  # so that the end comes in the middle of something
            self.store.failing = 1 if crash else 0
            nursery.cancel_scope.cancel()
        assert not self.under_way

    def disturb(self) -> None:
        """Now and then the clock is set or the disk is full for a while; who was disabled is enabled again."""
        fate = self.random.random()
        if fate < 0.05:
            self.store.failing = self.random.randint(1, 20)
        elif fate < 0.08:
            leap = self.random.choice((3, 20, 90, 4_000))
            self.leaps.append((trio.current_time(), leap))
            self.harness.clock.advance(leap * SECOND)
        elif fate < 0.11:
            self.harness.clock.advance(-self.random.choice((3, 20, 90, 4_000)) * SECOND)
        elif fate < 0.3:
            for (subscription_id,) in self.read(lambda tx: tx.rows(_DISABLED)):
                self.harness.update(UpdateSubscription(id=subscription_id, enabled=True))

    def is_over(self) -> bool:
        return all(row[2] in FINISHED for row in self.rows.values())


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whatever_happens(autojump_clock: MockClock, harness: Harness, seed: int) -> None:
    world = World(harness, seed)
    world.begin()
    for _ in range(world.random.randint(3, 9)):
        await world.live(world.random.uniform(1, 1_200), crash=world.random.random() < 0.6)
        await trio.sleep(world.random.choice((0, 1, 60)))
    with trio.fail_after(4 * 24 * 3600):
        await world.live(float("inf"), crash=False)
    assert world.faults == []
    world.check_end()
    statuses = [row[2] for row in world.rows.values()]
    assert len(statuses) == SUBSCRIPTIONS * EVENTS
    assert min(statuses.count("succeeded"), statuses.count("exhausted")) > 0
