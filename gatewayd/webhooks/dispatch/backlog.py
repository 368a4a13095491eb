"""What waits in the queues of deliveries: counted within bounds, on a thread, every few seconds at most."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple, get_args

import trio

from gatewayd.clock import SECOND
from gatewayd.store import ReadTx, Store, StoreFailure
from gatewayd.webhooks.subscribers.subscription_shapes import DisabledReason

SUBSCRIPTIONS_TOLD: Final = 1_000  # Chosen: time series that one page of metrics may add
COUNTED_PER_QUEUE: Final = 100_000  # Chosen: deliveries
COUNTED_IN_ALL: Final = 1_000_000  # Chosen: deliveries; a tenth of a second's work
BACKLOG_SECONDS: Final = 5.0  # Chosen: how old the numbers may be
BACKLOG_READ_SECONDS: Final = 2.0  # Chosen: then whoever asks goes without them


class Queue(NamedTuple):
    """What waits for one subscription. `overdue` in seconds; None: it is disabled or deleted, so nothing is due."""

    pending: int
    overdue: float | None


class Backlog(NamedTuple):
    """What waits in all. `complete` is False where a bound was met: then it is the least that waits."""

    queues: Mapping[str, Queue]
    disabled: Mapping[str, int]
    complete: bool


class Bounds(NamedTuple):
    """How far the counting goes: subscriptions, deliveries of each, deliveries in all."""

    subscriptions: int = SUBSCRIPTIONS_TOLD
    per_queue: int = COUNTED_PER_QUEUE
    in_all: int = COUNTED_IN_ALL


DEFAULT_BOUNDS: Final = Bounds()
UNKNOWN: Final = Backlog({}, {}, complete=False)

_NEXT_QUEUE_ANY_ORG = """
SELECT subscription_id, due_at FROM deliveries
WHERE due_at IS NOT NULL AND subscription_id > :after ORDER BY subscription_id, due_at, id LIMIT 1
"""
_COUNT_QUEUE_ANY_ORG = """
SELECT COUNT(*) FROM (
    SELECT id FROM deliveries WHERE subscription_id = :subscription_id AND due_at IS NOT NULL LIMIT :count
) AS waiting
"""
_SELECT_ENABLED_ANY_ORG = "SELECT enabled FROM webhook_subscriptions WHERE id = :subscription_id"
_COUNT_DISABLED_ANY_ORG = """
SELECT disabled_reason, COUNT(*) FROM (
    SELECT disabled_reason FROM webhook_subscriptions ORDER BY id LIMIT :count
) AS looked_at GROUP BY disabled_reason
"""


def read_backlog(tx: ReadTx, bounds: Bounds = DEFAULT_BOUNDS) -> Backlog:
    """Count what waits, within the bounds: a step for each subscription with a queue and for each delivery counted."""
    queues: dict[str, Queue] = {}
    left, after, complete = bounds.in_all, "", True
    while (head := tx.row(_NEXT_QUEUE_ANY_ORG, after=after)) is not None:
        if len(queues) == bounds.subscriptions or left <= 0:
            complete = False
            break
        after, due_at = head
        bound = min(bounds.per_queue, left)
        pending = tx.value(_COUNT_QUEUE_ANY_ORG, subscription_id=after, count=bound + 1)
        complete = complete and pending <= bound
        left -= pending
        enabled = tx.value(_SELECT_ENABLED_ANY_ORG, subscription_id=after)
        queues[after] = Queue(min(pending, bound), max(0.0, (tx.now - due_at) / SECOND) if enabled else None)
    by_reason: dict[str | None, int] = dict(tx.rows(_COUNT_DISABLED_ANY_ORG, count=bounds.in_all))
    complete = complete and sum(by_reason.values()) < bounds.in_all
    return Backlog(queues, {reason: by_reason.get(reason, 0) for reason in get_args(DisabledReason)}, complete)


class BacklogReader:
    """Reads the backlog when the last one is too old. Belongs to the event loop's thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._latest = UNKNOWN
        self._fresh_until = 0.0

    async def latest(self) -> Backlog:
        """The backlog of `BACKLOG_SECONDS` ago at most; `UNKNOWN` when the store does not tell it in time."""
        if trio.current_time() < self._fresh_until:
            return self._latest
        with trio.move_on_after(BACKLOG_READ_SECONDS), suppress(StoreFailure):  # the page says that it is not known
            self._latest = await self._store.read_later(read_backlog, None)
            self._fresh_until = trio.current_time() + BACKLOG_SECONDS
            return self._latest
        return UNKNOWN
