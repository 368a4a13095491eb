"""Which deliveries go next: fair over subscriptions, within the limits, in one transaction with what ended before.

The subscriptions stand in a circle; each look goes on where the last one stopped and gives every queue one slot
before any gets a second. Looking costs a step per subscription with a queue, however long the queues are.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from gatewayd.clock import Instant
from gatewayd.events import render_body
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks import attempts
from gatewayd.webhooks import queue as rows
from gatewayd.webhooks.queue import INTERRUPTED, Due, Head
from gatewayd.webhooks.receivers import Address, Receiver, SecretCache, receiver
from gatewayd.webhooks.settings import WebhookSettings

FIRST: Final = ""  # sorts before every id


@dataclass(frozen=True, slots=True)
class Slots:
    """What this dispatcher has room for. `in_flight` counts by subscription, `held` are the deliveries under way."""

    free: int
    in_flight: Mapping[str, int]
    held: frozenset[str]
    after: str = FIRST  # the subscription at which the last look stopped
    slow: AbstractSet[str] = frozenset()  # subscriptions whose last attempt timed out


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One attempt that is recorded as begun and now has to be made."""

    delivery_id: str
    org_id: str
    subscription_id: str
    url: str
    event: str
    attempt: int
    begun_at: Instant
    body: bytes
    secrets: tuple[str, ...] = field(repr=False)  # newest first; empty: they do not open with this instance's key
    failing_since: Instant | None  # as the subscription's row said when this was claimed
    failing_told: bool

    @property
    def address(self) -> Address:
        """Where it goes."""
        return Address(self.org_id, self.subscription_id, self.url)


@dataclass(slots=True)
class Look:
    """What one look at the queues found. `next_due`: when to look again; None: only once something changes."""

    claims: list[Claim] = field(default_factory=list)
    spent: list[tuple[Head, str]] = field(default_factory=list)  # deliveries that have no attempt left, now exhausted
    after: str = FIRST
    next_due: Instant | None = None

    def expect(self, instant: Instant) -> None:
        """Look again at `instant` at the latest."""
        self.next_due = instant if self.next_due is None else min(self.next_due, instant)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A subscription that is owed something now, and for which there is room."""

    head: Head
    receiver: Receiver
    waiting: list[Due]
    in_flight: int


def claim_due(
    tx: WriteTx, slots: Slots, settings: WebhookSettings, at: Instant, secret_cache: SecretCache | None = None
) -> Look:
    """Begin as many attempts as there is room for; `at` is the present instant on the clock that sets waits."""
    looking = _Looking(tx, slots, settings, at, secret_cache or SecretCache())
    queues, cut_short = looking.go_round()
    look = looking.look
    begun = list(_shared_out(queues, slots.free, settings.reserve))
    _record_interrupted(tx, begun)
    ids = [(queue.head.org_id, delivery.id) for queue, delivery in begun]
    rows.begin_attempts(tx, ids, at, Instant(at + settings.lease))
    look.claims = [_claim(queue, delivery, at) for queue, delivery in begun]
    if cut_short and len(begun) < slots.free:
        look.expect(at)
    return look


class _Looking:
    """One look at the queues, within one transaction."""

    def __init__(
        self, tx: WriteTx, slots: Slots, settings: WebhookSettings, at: Instant, secret_cache: SecretCache
    ) -> None:
        self.look = Look(after=slots.after)
        self._tx = tx
        self._slots = slots
        self._settings = settings
        self._at = at
        self._secret_cache = secret_cache
        taken = sum([count for name, count in slots.in_flight.items() if name in slots.slow])
        self._room_for_slow = settings.slow_slots - taken

    def go_round(self) -> tuple[list[_Queue], bool]:
        """The queues that may be served, at most as many as there are free slots, and whether there may be more."""
        queues: list[_Queue] = []
        last_slow = None
        for head in _circle(self._tx, self._slots.after):
            if len(queues) >= self._slots.free:
                return queues, self._slots.free > 0
            self.look.after = head.subscription_id
            queue = self._queue_of(head)
            if queue is None:
                continue
            queues.append(queue)
            if head.subscription_id in self._slots.slow:
                self._room_for_slow -= 1
                last_slow = head.subscription_id
        # All were met. Some of the slow ones may have found no room: the next look begins with those.
        self.look.after = last_slow or self.look.after
        return queues, False

    def _queue_of(self, head: Head) -> _Queue | None:
        """What may be claimed of a queue, or None; then `look` knows when to come back, or an attempt's end tells."""
        in_flight = self._slots.in_flight.get(head.subscription_id, 0)
        room = self._room_for(head.subscription_id, in_flight)
        if room <= 0 or not self._is_due(head):
            return None
        found = receiver(self._tx, head.org_id, head.subscription_id, self._at, self._secret_cache)
        if found is None:
            rows.cancel_pending(self._tx, head.org_id, head.subscription_id)
            self.look.expect(self._at)
            return None
        if not found.enabled:
            return None
        waiting = self._waiting(head, room + in_flight)
        return _Queue(head, found, waiting[:room], in_flight) if waiting else None

    def _room_for(self, subscription_id: str, in_flight: int) -> int:
        """How many attempts of a subscription may begin."""
        slots, settings = self._slots, self._settings
        if in_flight and slots.free <= settings.reserve:
            return 0
        if subscription_id in slots.slow:
            return min(1 - in_flight, self._room_for_slow, slots.free)
        return min(settings.per_subscription - in_flight, slots.free)

    def _is_due(self, head: Head) -> bool:
        if head.due_at <= self._at:
            return True
        if head.recorded_at > self._at:  # written by a clock that was ahead
            rows.rewind(self._tx, head, self._at)
            self.look.expect(self._at)
        else:
            self.look.expect(head.due_at)
        return False

    def _waiting(self, head: Head, count: int) -> list[Due]:
        """What of a queue is due and has an attempt left; what has none is exhausted."""
        held, most = self._slots.held, self._settings.retry.max_attempts
        waiting = [one for one in rows.due(self._tx, head, self._at, count) if one.id not in held]
        spent = [one for one in waiting if one.attempts >= most]
        if not spent:
            return waiting
        attempts.insert(self._tx, [_interrupted(head, one) for one in spent if one.in_flight])
        for one in spent:
            rows.exhaust(self._tx, head, one.id, self._at)
        self.look.spent += [(head, one.id) for one in spent]
        self.look.expect(self._at)
        return [one for one in waiting if one.attempts < most]


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


def _shared_out(queues: list[_Queue], free: int, reserve: int) -> Iterator[tuple[_Queue, Due]]:
    """One for each queue, then a second for each, and so on; the last `reserve` slots are for first ones only."""
    longest = max((len(queue.waiting) for queue in queues), default=0)
    for turn in range(longest):
        for queue in queues:
            first = turn == 0 and queue.in_flight == 0
            if turn < len(queue.waiting) and free > (0 if first else reserve):
                free -= 1
                yield queue, queue.waiting[turn]


def _record_interrupted(tx: WriteTx, begun: list[tuple[_Queue, Due]]) -> None:
    """Put those on record that were begun before and whose lease ran out."""
    attempts.insert(tx, [_interrupted(queue.head, delivery) for queue, delivery in begun if delivery.in_flight])


def _interrupted(head: Head, delivery: Due) -> attempts.Row:
    wire = attempts.unanswered(delivery.attempts, delivery.begun_at, INTERRUPTED)
    return delivery.id, delivery.attempts, head.org_id, wire


def _claim(queue: _Queue, delivery: Due, at: Instant) -> Claim:
    return Claim(
        delivery_id=delivery.id,
        org_id=queue.head.org_id,
        subscription_id=queue.head.subscription_id,
        url=queue.receiver.url,
        event=delivery.event,
        attempt=delivery.attempts + 1,
        begun_at=at,
        body=render_body(delivery.id, delivery.event, delivery.data, delivery.event_at),
        secrets=queue.receiver.secrets,
        failing_since=queue.receiver.failing_since,
        failing_told=queue.receiver.failing_told,
    )
