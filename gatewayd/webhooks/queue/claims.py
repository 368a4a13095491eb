"""Claims: which deliveries are attempted next, fair over subscriptions and within the limits.

Round-robin over the subscriptions: each scan goes on where the last one stopped and gives every queue one slot before
any gets a second. A scan costs a step per subscription with a queue, however long the queues are. It shares its
transaction with the records of the attempts that ended before.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from gatewayd.clock import Instant
from gatewayd.events import render_body
from gatewayd.identity.people import suspensions
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks.queue import attempts, delivery_queue
from gatewayd.webhooks.queue.delivery_queue import INTERRUPTED, DueDelivery, QueueHead
from gatewayd.webhooks.queue.receivers import Address, Receiver, SecretCache, find_receiver
from gatewayd.webhooks.schedule import counted_attempts
from gatewayd.webhooks.settings import WebhookSettings

FIRST: Final = ""  # sorts before every id


@dataclass(frozen=True, slots=True)
class Slots:
    """What this dispatcher has room for. `in_flight` counts attempts by subscription; `under_way`: their deliveries."""

    free: int
    in_flight: Mapping[str, int]
    under_way: frozenset[str]
    after: str = FIRST  # the subscription at which the last scan stopped
    slow: AbstractSet[str] = frozenset()  # subscriptions whose last attempt timed out or found no name


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One attempt that is recorded as begun and now has to be made. `message_id`: what its receiver knows it by.

    `attempt` is 1 for the first, and no two have the same; `interruptions` are among those before it.
    """

    delivery_id: str
    message_id: str
    org_id: str
    subscription_id: str
    url: str
    event: str
    attempt: int
    interruptions: int
    begun_at: Instant
    body: bytes
    secrets: tuple[str, ...] = field(repr=False)  # newest first; empty: they do not open with this instance's key
    failing_since: Instant | None  # as the subscription's row said when this was claimed
    warned: bool

    @property
    def address(self) -> Address:
        """Where it goes."""
        return Address(self.org_id, self.subscription_id, self.url)


@dataclass(slots=True)
class ClaimResult:
    """What one scan of the queues began. `next_due`: when to scan again; None: only once something changes.

    `exhausted` are the deliveries that were found without an attempt left.
    """

    claims: list[Claim] = field(default_factory=list)
    exhausted: list[tuple[QueueHead, str]] = field(default_factory=list)
    after: str = FIRST
    next_due: Instant | None = None

    def scan_again_by(self, instant: Instant) -> None:
        """Scan again at `instant` at the latest."""
        self.next_due = instant if self.next_due is None else min(self.next_due, instant)


@dataclass(frozen=True, slots=True)
class _Queue:
    """A subscription with deliveries that are due, and for which there is room."""

    head: QueueHead
    receiver: Receiver
    waiting: list[DueDelivery]
    in_flight: int


def claim_due(
    tx: WriteTx, slots: Slots, settings: WebhookSettings, at: Instant, secret_cache: SecretCache | None = None
) -> ClaimResult:
    """Begin as many attempts as there is room for; `at` is the present instant on the clock that sets waits."""
    scan = _QueueScan(tx, slots, settings, at, secret_cache or SecretCache())
    queues, more_queues = scan.run()
    result = scan.result
    begun = list(_share_slots(queues, slots.free, settings.reserve))
    _record_interrupted(tx, begun)
    ids = [(queue.head.org_id, delivery.id) for queue, delivery in begun]
    delivery_queue.begin_attempts(tx, ids, at, Instant(at + settings.lease))
    result.claims = [_claim(queue, delivery, at) for queue, delivery in begun]
    if more_queues and len(begun) < slots.free:
        result.scan_again_by(at)
    return result


class _QueueScan:
    """One scan of the queues, within one transaction."""

    def __init__(
        self, tx: WriteTx, slots: Slots, settings: WebhookSettings, at: Instant, secret_cache: SecretCache
    ) -> None:
        self.result = ClaimResult(after=slots.after)
        self._tx = tx
        self._slots = slots
        self._settings = settings
        self._at = at
        self._secret_cache = secret_cache
        taken = sum([count for name, count in slots.in_flight.items() if name in slots.slow])
        self._room_for_slow = settings.slow_slots - taken

    def run(self) -> tuple[list[_Queue], bool]:
        """The queues that may be served, at most as many as there are free slots, and whether there may be more."""
        queues: list[_Queue] = []
        last_slow = None
        for head in _round_robin(self._tx, self._slots.after):
            if len(queues) >= self._slots.free:
                return queues, self._slots.free > 0
            self.result.after = head.subscription_id
            if suspensions.is_suspended(self._tx, head.org_id):
                continue  # it waits; once it is resumed, the queue is looked at again
            queue = self._queue_of(head)
            if queue is None:
                continue
            queues.append(queue)
            if head.subscription_id in self._slots.slow:
                self._room_for_slow -= 1
                last_slow = head.subscription_id
        # All were scanned. Some of the slow ones may have found no room: the next scan begins with those.
        self.result.after = last_slow or self.result.after
        return queues, False

    def _queue_of(self, head: QueueHead) -> _Queue | None:
        """What may be claimed of a queue; None: nothing now. `result.next_due` or an ended attempt leads back to it."""
        in_flight = self._slots.in_flight.get(head.subscription_id, 0)
        room = self._room_for(head.subscription_id, in_flight)
        if room <= 0 or not self._is_due(head):
            return None
        found = find_receiver(self._tx, head.org_id, head.subscription_id, self._at, self._secret_cache)
        if found is None:
            delivery_queue.cancel_pending(self._tx, head.org_id, head.subscription_id)
            self.result.scan_again_by(self._at)
            return None
        if not found.enabled:
            return None
        waiting = self._due_deliveries(head, room + in_flight)
        return _Queue(head, found, waiting[:room], in_flight) if waiting else None

    def _room_for(self, subscription_id: str, in_flight: int) -> int:
        """How many attempts of a subscription may begin."""
        slots, settings = self._slots, self._settings
        if in_flight and slots.free <= settings.reserve:
            return 0
        if subscription_id in slots.slow:
            return min(1 - in_flight, self._room_for_slow, slots.free)
        return min(settings.per_subscription - in_flight, slots.free)

    def _is_due(self, head: QueueHead) -> bool:
        if head.due_at <= self._at:
            return True
        if head.recorded_at > self._at:  # written by a clock that was ahead
            delivery_queue.rewind(self._tx, head, self._at)
            self.result.scan_again_by(self._at)
        else:
            self.result.scan_again_by(head.due_at)
        return False

    def _due_deliveries(self, head: QueueHead, count: int) -> list[DueDelivery]:
        """The deliveries of a queue that are due and have an attempt left; those that have none are exhausted."""
        under_way = self._slots.under_way
        due = delivery_queue.due_deliveries(self._tx, head, self._at, count)
        waiting = [one for one in due if one.id not in under_way]
        exhausted = [one for one in waiting if self._is_used_up(one)]
        if not exhausted:
            return waiting
        attempts.insert(self._tx, [_interrupted(head, one) for one in exhausted if one.in_flight])
        for one in exhausted:
            delivery_queue.exhaust(self._tx, head, one.id, self._at)
        self.result.exhausted += [(head, one.id) for one in exhausted]
        self.result.scan_again_by(self._at)
        return [one for one in waiting if not self._is_used_up(one)]

    def _is_used_up(self, delivery: DueDelivery) -> bool:
        policy = self._settings.retry
        return counted_attempts(policy, delivery.attempts, delivery.interruptions) >= policy.max_attempts


def _round_robin(tx: ReadTx, after: str) -> Iterator[QueueHead]:
    """The head of every queue, from the subscription behind `after` round to `after` itself."""
    position = after
    while (head := delivery_queue.next_head(tx, position)) is not None:
        yield head
        position = head.subscription_id
    position = FIRST
    while (head := delivery_queue.next_head(tx, position)) is not None and head.subscription_id <= after:
        yield head
        position = head.subscription_id


def _share_slots(queues: list[_Queue], free: int, reserve: int) -> Iterator[tuple[_Queue, DueDelivery]]:
    """One for each queue, then a second for each, and so on; the last `reserve` slots are for first ones only."""
    longest = max((len(queue.waiting) for queue in queues), default=0)
    for turn in range(longest):
        for queue in queues:
            first = turn == 0 and queue.in_flight == 0
            if turn < len(queue.waiting) and free > (0 if first else reserve):
                free -= 1
                yield queue, queue.waiting[turn]


def _record_interrupted(tx: WriteTx, begun: list[tuple[_Queue, DueDelivery]]) -> None:
    """Put those on record that were begun before and whose lease ran out."""
    attempts.insert(tx, [_interrupted(queue.head, delivery) for queue, delivery in begun if delivery.in_flight])


def _interrupted(head: QueueHead, delivery: DueDelivery) -> attempts.Row:
    wire = attempts.render_aborted(delivery.attempts, delivery.begun_at, INTERRUPTED)
    return delivery.id, delivery.attempts, head.org_id, wire


def _claim(queue: _Queue, delivery: DueDelivery, at: Instant) -> Claim:
    message_id = delivery.original_id or delivery.id
    return Claim(
        delivery_id=delivery.id,
        message_id=message_id,
        org_id=queue.head.org_id,
        subscription_id=queue.head.subscription_id,
        url=queue.receiver.url,
        event=delivery.event,
        attempt=delivery.attempts + 1,
        interruptions=delivery.interruptions,
        begun_at=at,
        body=render_body(message_id, delivery.sent),
        secrets=queue.receiver.secrets,
        failing_since=queue.receiver.failing_since,
        warned=queue.receiver.warned,
    )
