"""Deletes what is past the retention: deliveries that ended longer ago, then the events that nothing refers to.

A walk goes over the primary keys, oldest first, up to the first id that is too young; ids sort by the time they were
made. It remembers its place, so that a minute costs two look-ups and the rows that grew old in it, however many are
young or were left: a delivery that ended late, or one of an enabled subscription that has not ended. For those a new
walk begins a day later. Each step is a transaction of its own; only the place is lost with the process.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeVar

import trio

from gatewayd.clock import DAY, Clock, Instant
from gatewayd.http1.log import Log
from gatewayd.ids import first_at
from gatewayd.store import WriteTx

T = TypeVar("T")

SWEEP_ROWS: Final = 200  # Chosen: one transaction; with eight attempts of 16 KiB each it frees 25 MB at most
PAUSE_SECONDS: Final = 0.01  # Chosen: between transactions, for those who wait for the writer
ROUND_SECONDS: Final = 20.0  # Chosen: then the next round goes on, so that a long backlog delays no other housekeeping
WALK_AGAIN: Final = DAY  # Chosen: what ended late stays at most this much longer
FIRST: Final = ""  # sorts before every id

_NEXT_DELIVERIES_ANY_ORG = """
SELECT MAX(id), COUNT(*) FROM (
    SELECT id FROM deliveries WHERE id > :after AND id < :young ORDER BY id LIMIT :count
) AS step
"""
_CANCEL_HELD_ANY_ORG = """
UPDATE deliveries SET status = 'cancelled', in_flight = 0, due_at = NULL, completed_at = :now
WHERE id > :after AND id <= :upto AND due_at IS NOT NULL AND (in_flight = 0 OR due_at <= :now) AND NOT EXISTS (
    SELECT 1 FROM webhook_subscriptions s WHERE s.id = deliveries.subscription_id AND s.enabled = 1
)
"""
_DELETE_DELIVERIES_ANY_ORG = """
DELETE FROM deliveries WHERE id > :after AND id <= :upto AND completed_at < :before
"""
_NEXT_EVENTS_ANY_ORG = """
SELECT MAX(id), COUNT(*) FROM (
    SELECT id FROM events WHERE id > :after AND id < :young ORDER BY id LIMIT :count
) AS step
"""
_DELETE_EVENTS_ANY_ORG = """
DELETE FROM events WHERE id > :after AND id <= :upto AND NOT EXISTS (
    SELECT 1 FROM deliveries d WHERE d.event_id = events.id
)
"""


class Database(Protocol):
    """What the sweep needs of the store."""

    async def write(self, work: Callable[[WriteTx], T]) -> T: ...


@dataclass(slots=True)
class SweepCounts:
    """How many rows were cancelled and deleted."""

    cancelled: int = 0
    deliveries: int = 0
    events: int = 0

    def add(self, more: "SweepCounts") -> None:
        """Count these too."""
        self.cancelled += more.cancelled
        self.deliveries += more.deliveries
        self.events += more.events


class Step(NamedTuple):
    """One transaction's share of a walk. `last` is the id it came to, None when there was nothing old enough."""

    last: str | None
    ended: bool
    counts: SweepCounts


StepFunction = Callable[[WriteTx, str, Instant], Step]


@dataclass(slots=True)
class _Walk:
    """How far a walk has come: everything up to these ids was handled."""

    began_at: Instant
    places: dict[StepFunction, str] = field(default_factory=dict)
    ended: bool = False


@dataclass(slots=True, eq=False)
class Retention:
    """The sweep of one daemon. `days`: how long deliveries are kept after their end, and events after they happened."""

    days: int
    clock: Clock
    log: Log
    _walk: _Walk = field(default_factory=lambda: _Walk(Instant(0), ended=True))

    async def sweep(self, store: Database) -> None:
        """One round: delete what has grown too old, for at most `ROUND_SECONDS`. Raises `StoreFailure`."""
        now = self.clock.now()
        if self._walk.ended and not 0 <= now - self._walk.began_at < WALK_AGAIN:
            self._walk = _Walk(now)
        counts = SweepCounts()
        try:
            with trio.move_on_after(ROUND_SECONDS):
                await self._walk_on(store, Instant(now - self.days * DAY), counts)
        finally:
            if counts != SweepCounts():
                self.log.info(
                    "webhooks_swept", cancelled=counts.cancelled, deliveries=counts.deliveries, events=counts.events
                )

    async def _walk_on(self, store: Database, before: Instant, counts: SweepCounts) -> None:
        self._walk.ended = False
        for take_step in (sweep_deliveries, sweep_events):
            while not await self._step(store, take_step, before, counts):
                await trio.sleep(PAUSE_SECONDS)  # also where a stop is noticed: a write cannot be cancelled
        self._walk.ended = True

    async def _step(self, store: Database, take_step: StepFunction, before: Instant, counts: SweepCounts) -> bool:
        """Take one step and, now that it is durable, remember it; True when it was the last one."""
        after = self._walk.places.get(take_step, FIRST)
        step = await store.write(lambda tx: take_step(tx, after, before))
        self._walk.places[take_step] = step.last or after
        counts.add(step.counts)
        return step.ended


def sweep_deliveries(tx: WriteTx, after: str, before: Instant) -> Step:
    """Look at the next `SWEEP_ROWS` deliveries made before an instant: delete those that also ended before it.

    What has not ended and has no enabled subscription to go to is cancelled, unless an attempt is under way.
    """
    upto, count = _next(tx, _NEXT_DELIVERIES_ANY_ORG, after, first_at("wdlv", before))
    if upto is None:
        return Step(None, True, SweepCounts())
    counts = SweepCounts(
        cancelled=tx.run(_CANCEL_HELD_ANY_ORG, after=after, upto=upto),
        deliveries=tx.run(_DELETE_DELIVERIES_ANY_ORG, after=after, upto=upto, before=before),
    )
    return Step(upto, count < SWEEP_ROWS, counts)


def sweep_events(tx: WriteTx, after: str, before: Instant) -> Step:
    """Look at the next `SWEEP_ROWS` events made before an instant: delete those that have no delivery left."""
    upto, count = _next(tx, _NEXT_EVENTS_ANY_ORG, after, first_at("evt", before))
    if upto is None:
        return Step(None, True, SweepCounts())
    return Step(upto, count < SWEEP_ROWS, SweepCounts(events=tx.run(_DELETE_EVENTS_ANY_ORG, after=after, upto=upto)))


def _next(tx: WriteTx, sql: str, after: str, young: str) -> tuple[str | None, int]:
    """The last id of the next step, None when there is none, and how many rows the step has."""
    row = tx.row(sql, after=after, young=young, count=SWEEP_ROWS)
    return row if row is not None else (None, 0)
