"""Which deliveries go next: fair over subscriptions, within the limits, in one transaction with what ended before.

The subscriptions stand in a circle; each look goes on where the last one stopped and gives every queue one slot
before any gets a second. Looking costs a step per subscription with a queue, however long the queues are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gatewayd.clock import Instant
from gatewayd.events import render_body
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks import queue as rows
from gatewayd.webhooks import subscriptions
from gatewayd.webhooks.queue import Due, Head
from gatewayd.webhooks.settings import WebhookSettings

FIRST: Final = ""  # sorts before every id


@dataclass(frozen=True, slots=True)
class Slots:
    """What this dispatcher has room for. `in_flight` counts by subscription, `held` are the deliveries under way."""

    free: int
    in_flight: Mapping[str, int]
    held: frozenset[str]
    after: str = FIRST  # the subscription at which the last look stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One attempt that is recorded as begun and now has to be made."""

    delivery_id: str
    org_id: str
    subscription_id: str
    url: str
    event: str
    attempt: int
    body: bytes
    secrets: tuple[str, ...] = field(repr=False)  # newest first; empty: they do not open with this instance's key


@dataclass(slots=True)
class Look:
    """What one look at the queues found. `next_due`: when to look again; None: only once something changes."""

    claims: list[Claim] = field(default_factory=list)
    after: str = FIRST
    next_due: Instant | None = None

    def expect(self, instant: Instant) -> None:
        """Look again at `instant` at the latest."""
        self.next_due = instant if self.next_due is None else min(self.next_due, instant)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A subscription that is owed something now, and for which there is room."""

    head: Head
    receiver: subscriptions.Receiver
    waiting: list[Due]
    in_flight: int


def claim_due(tx: WriteTx, slots: Slots, settings: WebhookSettings, at: Instant) -> Look:
    """Begin as many attempts as there is room for; `at` is the present instant on the clock that sets waits."""
    look = Look(after=slots.after)
    queues: list[_Queue] = []
    cut_short = False
    for head in _circle(tx, slots.after):
        if len(queues) >= slots.free:
            cut_short = slots.free > 0
            break
        look.after = head.subscription_id
        queue = _queue_of(tx, head, slots, settings, at, look)
        if queue is not None:
            queues.append(queue)
    for queue, delivery in _shared_out(queues, slots.free, settings.reserve):
        rows.begin_attempt(tx, queue.head, delivery.id, at, Instant(at + settings.lease))
        look.claims.append(_claim(queue, delivery))
    if cut_short and len(look.claims) < slots.free:
        look.expect(at)
    return look


def _circle(tx: ReadTx, after: str) -> Iterator[Head]:
    """Every subscription that has a queue, from the one behind `after` round to `after` itself."""
    position = after
    while (head := rows.next_head(tx, position)) is not None:
        yield head
        position = head.subscription_id
    position = FIRST
    while (head := rows.next_head(tx, position)) is not None and head.subscription_id <= after:
        yield head
        position = head.subscription_id


def _queue_of(
    tx: WriteTx, head: Head, slots: Slots, settings: WebhookSettings, at: Instant, look: Look
) -> _Queue | None:
    """What may be claimed of a queue, or None; then `look` knows when to come back, or the end of an attempt tells."""
    in_flight = slots.in_flight.get(head.subscription_id, 0)
    room = min(settings.per_subscription - in_flight, slots.free)
    if room <= 0 or (in_flight and slots.free <= settings.reserve):
        return None
    if head.due_at > at and head.recorded_at > at:  # written by a clock that was ahead
        rows.rewind(tx, head, at)
        look.expect(at)
        return None
    if head.due_at > at:
        look.expect(head.due_at)
        return None
    receiver = subscriptions.receiver(tx, head.org_id, head.subscription_id, at)
    if receiver is None:
        rows.cancel_pending(tx, head.org_id, head.subscription_id)
        look.expect(at)
        return None
    if not receiver.enabled:
        return None
    found = rows.due(tx, head, at, room + in_flight)
    waiting = [one for one in found if one.id not in slots.held]
    for spent in [one for one in waiting if one.attempts >= settings.retry.max_attempts]:
        rows.exhaust(tx, head, spent.id, at)
        waiting.remove(spent)
        look.expect(at)
    return _Queue(head, receiver, waiting[:room], in_flight) if waiting else None


def _shared_out(queues: list[_Queue], free: int, reserve: int) -> Iterator[tuple[_Queue, Due]]:
    """One for each queue, then a second for each, and so on; the last `reserve` slots are for first ones only."""
    longest = max((len(queue.waiting) for queue in queues), default=0)
    for turn in range(longest):
        for queue in queues:
            first = turn == 0 and queue.in_flight == 0
            if turn < len(queue.waiting) and free > (0 if first else reserve):
                free -= 1
                yield queue, queue.waiting[turn]


def _claim(queue: _Queue, delivery: Due) -> Claim:
    return Claim(
        delivery_id=delivery.id,
        org_id=queue.head.org_id,
        subscription_id=queue.head.subscription_id,
        url=queue.receiver.url,
        event=delivery.event,
        attempt=delivery.attempts + 1,
        body=render_body(delivery.id, delivery.event, delivery.data, delivery.event_at),
        secrets=queue.receiver.secrets,
    )
