"""Reads documents from the queue: claim, read, store, again.

One loop claims; one task makes each attempt, which was recorded as running before, under a lease. A process that is
ended leaves the row that says so, and another one queues the document again once the lease has ended, as another
attempt. What the first one stores when it only slept is of an attempt that has ended, and comes to nothing. Cancelled,
the loop claims nothing more, and what is under way is recorded as interrupted.
"""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import trio

from gatewayd.areas.vault.parses import rows
from gatewayd.areas.vault.parses.rows import TOPIC, Failure, Left
from gatewayd.clock import SECOND, Instant
from gatewayd.leases.holder import Lease
from gatewayd.parsing import attempts, metering, results
from gatewayd.parsing.claims import FIRST, Claim, Claimed, claim_due, next_due_at
from gatewayd.parsing.made_files import MadeFiles
from gatewayd.parsing.parts import ParseParts
from gatewayd.parsing.results import Outcome
from gatewayd.shares import Shares
from gatewayd.store import StoreFailure, WriteTx

AT_ONCE: Final = 3  # Chosen: documents that are read at a time; there is a child for each, which gives way to requests
ORGANIZATION_AT_ONCE: Final = 2  # Chosen: those of one organization, so that others need not wait for its scans
SCAN_AGAIN_SECONDS: Final = 15.0  # Chosen: longest wait between scans, so that a clock set forward is noticed
LEFT_AT_ONCE: Final = 100
LEFT_SECONDS: Final = 15.0  # Chosen: between looks for what other processes have left
COUNTED: Final = 100_000  # Chosen: so far the queue is counted
_FAILED_HERE: Final = Failure("internal", "Something went wrong on our side.", False)


@dataclass(slots=True)
class ParseCounts:
    """What became of attempts since the start, and how many seconds they took."""

    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    interrupted: int = 0
    seconds: float = 0.0


@asynccontextmanager
async def open_parsing(parts: ParseParts, *, reads: bool = True) -> AsyncIterator["Parsing"]:
    """The engine, reading for the length of the block; without `reads` it only makes what it is asked for."""
    async with trio.open_nursery() as nursery:
        engine = Parsing(parts, nursery)
        if reads:
            nursery.start_soon(engine.run)
        yield engine
        nursery.cancel_scope.cancel()


class Parsing:
    """The one reader of the queue in this process."""

    def __init__(self, parts: ParseParts, nursery: trio.Nursery) -> None:
        self._parts = parts
        self._store = parts.store
        self._wake_up = trio.Event()
        self._after = FIRST
        self.made_files = MadeFiles(parts, nursery)
        self.counts = ParseCounts()
        self.shares = Shares("documents", AT_ONCE, ORGANIZATION_AT_ONCE)
        self.waiting = math.nan

    @property
    def under_way(self) -> int:
        """How many documents are being read."""
        return self.shares.count.taken

    async def run(self) -> None:
        """Read until cancelled."""
        await attempts.until_stored(self._parts, self.queue_left)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._wake_on_new_documents, self._store.topic(TOPIC))
            nursery.start_soon(self._look_for_left)
            await self._loop(nursery)

    async def count_waiting(self) -> None:
        """Count the documents that wait, for `waiting`; NaN where the store does not tell."""
        try:
            self.waiting = await self._store.read_later(lambda tx: rows.count_waiting(tx, COUNTED), None)
        except StoreFailure:
            self.waiting = math.nan

    # -- the loop

    async def _wake_on_new_documents(self, announced: trio.Event) -> None:
        while True:
            await announced.wait()
            announced = self._store.topic(TOPIC)  # before the scan that follows, so that none is missed between
            self._wake_up.set()

    async def _loop(self, nursery: trio.Nursery) -> None:
        while True:
            self._wake_up = trio.Event()
            claimed = await attempts.until_stored(self._parts, self._claim)
            self._after = claimed.after
            for claim in claimed.claims:
                self.shares.count.take(claim.org_id)
                lease = self._parts.holder.note(claim.org_id, rows.lease_subject(claim.document_id))
                nursery.start_soon(self._attempt, claim, lease)
            if claimed.claims:
                continue  # when the next one is due is yet to be found out
            with trio.move_on_after(self._seconds_until(claimed.next_due)):
                await self._wake_up.wait()

    async def _claim(self) -> Claimed:
        """Begin what there is room for. Nothing is written where nothing is due. Raises `StoreFailure`."""
        places = self.shares.count.copy()
        if places.taken == places.limit:
            return Claimed(after=self._after)
        next_due = await self._store.read(partial(next_due_at, places=places))
        if next_due is None or next_due > self._store.now():
            return Claimed(after=self._after, next_due=next_due)
        holder = self._parts.holder
        return await self._store.write(partial(claim_due, places=places, after=self._after, holder=holder))

    def _seconds_until(self, instant: Instant | None) -> float:
        if instant is None:
            return SCAN_AGAIN_SECONDS
        return min(max(0.0, (instant - self._store.now()) / SECOND), SCAN_AGAIN_SECONDS)

    # -- one attempt

    async def _attempt(self, claim: Claim, lease: Lease) -> None:
        began = trio.current_time()
        try:
            outcome = await attempts.read(self._parts, claim)
        except trio.Cancelled:
            await self._interrupt(claim, lease)
            raise
        except Exception as error:  # the border of parsing: one document fails, the rest go on
            self._parts.log.error("parse_failed", document_id=claim.document_id, exc_info=error)
            outcome = Outcome(_FAILED_HERE, None)
        outcome = await attempts.until_stored(self._parts, partial(self._store_outcome, claim, lease, outcome))
        lease.forget()
        self._count(outcome, trio.current_time() - began)
        self.shares.give_back(claim.org_id)
        self._wake_up.set()

    async def _store_outcome(self, claim: Claim, lease: Lease, outcome: Outcome) -> Outcome:
        """Behind what somebody waits for: the text may be long. Answers what was stored. Raises `StoreFailure`."""
        try:
            await self._store.write_behind(partial(_end, lease=lease, claim=claim, outcome=outcome), claim.org_id)
        except StoreFailure:
            raise
        except (
            Exception
        ) as error:  # the same border: what cannot be stored may not end the daemon, nor be tried for ever
            self._parts.log.error("parse_failed", document_id=claim.document_id, exc_info=error)
            outcome = Outcome(_FAILED_HERE, None)
            await self._store.write(partial(_end, lease=lease, claim=claim, outcome=outcome), claim.org_id)
        return outcome

    def _count(self, outcome: Outcome, seconds: float) -> None:
        setattr(self.counts, outcome.word, getattr(self.counts, outcome.word) + 1)
        self.counts.seconds += seconds

    # -- what was cut short

    async def _interrupt(self, claim: Claim, lease: Lease) -> None:
        """Our stop ended it: the next daemon begins with it, and it costs no retry."""
        self.counts.interrupted += 1
        left = Left(claim.org_id, claim.document_id, claim.attempt, claim.retries, "uploaded")
        with trio.CancelScope(shield=True):
            try:
                await self._store.write(lambda tx: _give_back(tx, lease, claim, left), claim.org_id)
            except StoreFailure as error:  # then it is left as running, and the next start finds it
                self._parts.log.error("parse_not_stored", exc_info=error)
            lease.forget()

    async def _look_for_left(self) -> None:
        """Notice that another process has ended in the midst of an attempt."""
        while True:
            await trio.sleep(LEFT_SECONDS)
            await attempts.until_stored(self._parts, self.queue_left)

    async def queue_left(self) -> None:
        """Queue again what a process that was killed has left as running. Raises `StoreFailure`."""
        holder = self._parts.holder
        await holder.shorten()
        while await self._store.read(lambda tx: rows.left_running(tx, holder.id, 1)):
            await self._store.write(partial(_queue_left, holder=holder.id))


def _end(tx: WriteTx, lease: Lease, claim: Claim, outcome: Outcome) -> None:
    lease.release_in(tx)
    results.store(tx, claim, outcome)


def _give_back(tx: WriteTx, lease: Lease, claim: Claim, left: Left) -> None:
    lease.release_in(tx)
    metering.give_up(tx, claim.held)
    rows.interrupt(tx, left, counted=False)


def _queue_left(tx: WriteTx, holder: str) -> None:
    for left in rows.left_running(tx, holder, LEFT_AT_ONCE):
        tx.bind(left.org_id)
        rows.interrupt(tx, left, counted=True)
        tx.announce(TOPIC)
