"""The queue of deliveries: statements of the daemon itself, over all organizations. Only here `deliveries` is updated.

The row is the queue. While attempts are left, `due_at` says when the next one may begin; while one is under way,
`in_flight` is 1 and `due_at` is the end of its lease, after which it counts as interrupted. Rows of events that were
just recorded come from `events.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gatewayd.clock import Instant
from gatewayd.events import SentEvent, sequence_of
from gatewayd.store import ReadTx, WriteTx

INTERRUPTED: Final = "interrupted"  # Chosen: last error of an attempt that this daemon did not live to record
CANCEL_AT_ONCE: Final = 1000  # Chosen: rows that one transaction cancels; the dispatcher goes on with the rest


class QueueHead(NamedTuple):
    """What is due first in the queue of one subscription. `recorded_at`: when `due_at` was written."""

    org_id: str
    subscription_id: str
    due_at: Instant
    recorded_at: Instant


class DueDelivery(NamedTuple):
    """A delivery whose time has come. `in_flight` is 1 where an attempt began at `begun_at` and its lease ran out.

    Then this one is among the `interruptions`, too. `original_id` is the delivery that it repeats, the first of all;
    None: it repeats none.
    """

    id: str
    original_id: str | None
    event: str
    attempts: int
    interruptions: int
    in_flight: int
    begun_at: Instant
    event_id: str
    data: bytes
    event_at: Instant
    recorded_at: int

    @property
    def sent(self) -> SentEvent:
        """The event as it is sent."""
        sequence = sequence_of(self.recorded_at, self.event_id)
        return SentEvent(self.event_id, self.event, self.data, self.event_at, sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What became of one attempt. `due_at` is the next attempt, None when there is none."""

    delivery_id: str
    org_id: str
    attempt: int
    status: str
    due_at: Instant | None
    response_code: int | None
    error: str | None
    duration_ms: int | None
    interrupted: bool  # by a stop of this daemon


_NEXT_HEAD = """
SELECT org_id, subscription_id, due_at, COALESCE(last_attempt_at, created_at) FROM deliveries
WHERE due_at IS NOT NULL AND subscription_id > :after ORDER BY subscription_id, due_at, id LIMIT 1
"""
_SELECT_DUE = """
SELECT d.id, d.original_id, d.event, d.attempts, d.interruptions + d.in_flight, d.in_flight,
    COALESCE(d.last_attempt_at, d.created_at), e.id, e.data, e.created_at, e.recorded_at
FROM deliveries d JOIN events e ON e.id = d.event_id
WHERE d.org_id = :org_id AND d.subscription_id = :subscription_id AND d.due_at <= :at
ORDER BY d.due_at, d.id LIMIT :count
"""
_BEGIN_ATTEMPT = f"""
UPDATE deliveries SET attempts = attempts + 1, interruptions = interruptions + in_flight, in_flight = 1,
    due_at = :lease_until, last_attempt_at = :at,
    status = CASE WHEN in_flight = 1 THEN 'retrying' ELSE status END,
    last_error = CASE WHEN in_flight = 1 THEN '{INTERRUPTED}' ELSE last_error END
WHERE org_id = :org_id AND id = :id
"""
_EXHAUST = f"""
UPDATE deliveries SET status = 'exhausted', interruptions = interruptions + in_flight, in_flight = 0, due_at = NULL,
    completed_at = :at,
    last_error = CASE WHEN in_flight = 1 THEN '{INTERRUPTED}' ELSE last_error END
WHERE org_id = :org_id AND id = :id
"""
# An attempt that began before the clock was set back is brought over with it, or its next wait would look like one of
# the clock that was ahead.
_COMPLETE = """
UPDATE deliveries SET status = :status, in_flight = 0, due_at = :due_at, response_code = :response_code,
    interruptions = interruptions + :interrupted, last_error = :error, duration_ms = :duration_ms,
    completed_at = :completed_at,
    last_attempt_at = CASE WHEN last_attempt_at > :at THEN :at ELSE last_attempt_at END
WHERE org_id = :org_id AND id = :id AND in_flight = 1 AND attempts = :attempt
"""
_REWIND = """
UPDATE deliveries SET due_at = :at + due_at - COALESCE(last_attempt_at, created_at),
    last_attempt_at = CASE WHEN last_attempt_at IS NULL THEN NULL ELSE CAST(:at AS BIGINT) END
WHERE org_id = :org_id AND subscription_id = :subscription_id AND due_at > :at
    AND COALESCE(last_attempt_at, created_at) > :at
"""
_UNDER_WAY = """
SELECT max(due_at) FROM deliveries
WHERE org_id = :org_id AND in_flight = 1 AND due_at IS NOT NULL AND subscription_id IN (
    SELECT id FROM webhook_subscriptions WHERE org_id = :org_id
)
"""
_CANCEL = """
UPDATE deliveries SET status = 'cancelled', in_flight = 0, due_at = NULL, completed_at = :now
WHERE id IN (
    SELECT id FROM deliveries WHERE org_id = :org_id AND subscription_id = :subscription_id AND due_at IS NOT NULL
    LIMIT :count
)
"""


def next_head(tx: ReadTx, after: str) -> QueueHead | None:
    """The first subscription behind `after` that has a queue, in the order of ids; None behind the last."""
    row = tx.row(_NEXT_HEAD, after=after)
    return None if row is None else QueueHead(*row)


def under_way_until(tx: ReadTx) -> Instant | None:
    """When the last lease ends of the attempts that the transaction's organization has under way; None: it has none."""
    until = tx.value(_UNDER_WAY)
    return None if until is None else Instant(until)


def due_deliveries(tx: ReadTx, head: QueueHead, at: Instant, count: int) -> list[DueDelivery]:
    """The first `count` deliveries of a queue whose time has come, longest due first."""
    rows = tx.rows(_SELECT_DUE, org_id=head.org_id, subscription_id=head.subscription_id, at=at, count=count)
    return [DueDelivery(*row) for row in rows]


def begin_attempts(tx: WriteTx, begun: Sequence[tuple[str, str]], at: Instant, lease_until: Instant) -> None:
    """Count an attempt of each delivery and lease it, before anything is sent. `begun`: organizations and ids."""
    if begun:
        tx.run_each(_BEGIN_ATTEMPT, [(lease_until, at, org_id, delivery_id) for org_id, delivery_id in begun])


def exhaust(tx: WriteTx, head: QueueHead, delivery_id: str, at: Instant) -> None:
    """End a delivery that has no attempt left."""
    tx.run(_EXHAUST, org_id=head.org_id, id=delivery_id, at=at)


def complete(tx: WriteTx, completion: Completion, at: Instant) -> bool:
    """Record an attempt; False when it is no longer the delivery's: cancelled, or its lease ran out and it was begun
    again."""
    changed = tx.run(
        _COMPLETE,
        org_id=completion.org_id,
        id=completion.delivery_id,
        attempt=completion.attempt,
        status=completion.status,
        due_at=completion.due_at,
        response_code=completion.response_code,
        error=completion.error,
        duration_ms=completion.duration_ms,
        interrupted=int(completion.interrupted),
        completed_at=at if completion.due_at is None else None,
        at=at,
    )
    return changed == 1


def rewind(tx: WriteTx, head: QueueHead, at: Instant) -> None:
    """Bring the queue of a subscription over from a clock that was ahead: waits keep their length and begin now."""
    tx.run(_REWIND, org_id=head.org_id, subscription_id=head.subscription_id, at=at)


def cancel_pending(tx: WriteTx, org_id: str, subscription_id: str) -> None:
    """Cancel what a subscription still has to get, at most `CANCEL_AT_ONCE` deliveries of it."""
    tx.run(_CANCEL, org_id=org_id, subscription_id=subscription_id, count=CANCEL_AT_ONCE)
