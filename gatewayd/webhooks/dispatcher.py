"""Carries deliveries from the queue to the receivers: claim, POST, record, again.

One loop writes. Each of its rounds is one transaction that records every attempt that has ended and begins as many as
there is room for; while it is being committed, more attempts end, and the next round takes them together. One task
makes each attempt. What is in the air is in the database too, counted, before the first byte of it is sent.

Cancelled, it claims nothing more and gives attempts under way `stop_seconds` to end. What does not is recorded as
interrupted and due at once; what cannot even be recorded comes back when its lease ends.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar

import trio

from gatewayd.clock import SECOND, Clock, Instant, to_wire
from gatewayd.events import TOPIC
from gatewayd.outbound.errors import DeadlineError
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.webhooks.claims import FIRST, Claim, ClaimResult, Slots, claim_due
from gatewayd.webhooks.delivery_queue import INTERRUPTED
from gatewayd.webhooks.ended_attempts import EndedAttempt, aborted_attempt, completed_attempt, record
from gatewayd.webhooks.receiver_health import Notice
from gatewayd.webhooks.receivers import SecretCache, SlowReceivers
from gatewayd.webhooks.schedule import Decision, Finished, decide
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import confidential, signed_headers
from gatewayd.webhooks.tallies import Tallies, Tally

T = TypeVar("T")

LOOK_AGAIN_SECONDS: Final = 15.0  # Chosen: longest wait between looks, so that a clock set forward is noticed
STORE_PAUSE_SECONDS: Final = 1.0  # Chosen: between tries while the disk is full or the database is locked
INTERNAL: Final = "internal"  # Chosen: last error of an attempt that failed on our side
TIMEOUT: Final = DeadlineError.code


class Outbox(Protocol):
    """What the dispatcher needs of the store."""

    async def write(self, work: Callable[[WriteTx], T]) -> T: ...

    def topic(self, name: str) -> trio.Event: ...


class Poster(Protocol):
    """What the dispatcher needs of the sender: one attempt, within its own deadline."""

    async def post(self, url: str, headers: Headers, body: bytes, *, pool_key: str) -> AttemptResult: ...

    def sweep(self) -> None: ...

    def close_idle(self, pool_key: str) -> None: ...


class Log(Protocol):
    """The calls of a structlog logger that the dispatcher makes."""

    def info(self, event: str, **values: object) -> object: ...

    def warning(self, event: str, **values: object) -> object: ...

    def error(self, event: str, **values: object) -> object: ...


@dataclass(slots=True)
class Counts:
    """What has been done since the start. Attempts that ended `failed_here` are ours to explain."""

    succeeded: int = 0
    retried: int = 0
    exhausted: int = 0
    interrupted: int = 0
    failed_here: int = 0
    store_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatcherParts:
    """What a dispatcher is made of. `fraction` draws the jitter, from [0, 1)."""

    store: Outbox
    sender: Poster
    clock: Clock
    settings: WebhookSettings
    log: Log
    fraction: Callable[[], float] = random.random


class Dispatcher:
    """The one reader of the outbox in this process. Another process may run one on the same database."""

    def __init__(self, parts: DispatcherParts) -> None:
        self._store = parts.store
        self._sender = parts.sender
        self._clock = parts.clock
        self._settings = parts.settings
        self._log = parts.log
        self._fraction = parts.fraction
        self._flights: dict[str, Claim] = {}  # by delivery
        self._ended: list[EndedAttempt] = []
        self._slow_receivers = SlowReceivers()
        self._secret_cache = SecretCache()
        self._tallies = Tallies()
        self._bell = trio.Event()
        self._after = FIRST
        self.counts = Counts()
        self.running = False

    @property
    def in_flight(self) -> int:
        """Attempts under way."""
        return len(self._flights)

    @property
    def tallies(self) -> Mapping[str, Tally]:
        """What became of the attempts of each subscription since the start."""
        return self._tallies.by_subscription

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Dispatch until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                looping = trio.CancelScope()
                nursery.start_soon(self._listen, self._store.topic(TOPIC), looping)
                self.running = True
                task_status.started()
                await self._fly(looping)
        finally:
            self.running = False
            with trio.CancelScope(shield=True):
                await self._record_the_last()

    # -- the loop

    async def _listen(self, announced: trio.Event, looping: trio.CancelScope) -> None:
        """Ring when the store has new deliveries. Runs until cancelled, and ends the loop with it."""
        try:
            while True:
                await announced.wait()
                announced = self._store.topic(TOPIC)  # before the scan that follows, so that none is missed between
                self._bell.set()
        finally:
            looping.cancel()

    async def _fly(self, looping: trio.CancelScope) -> None:
        """Go round until `looping` is cancelled; what is under way then has `stop_seconds` to end."""
        with trio.CancelScope(shield=True) as grace:
            async with trio.open_nursery() as flights:
                with looping:
                    await self._go_round(flights)
                grace.deadline = trio.current_time() + self._settings.stop_seconds

    async def _go_round(self, flights: trio.Nursery) -> None:
        while True:
            self._bell = trio.Event()
            claimed = await self._round()
            if claimed is None:
                await trio.sleep(STORE_PAUSE_SECONDS)
                continue
            for claim in claimed.claims:
                self._flights[claim.delivery_id] = claim
                flights.start_soon(self._attempt, claim)
            self._sender.sweep()
            with trio.move_on_after(self._seconds_until(claimed.next_due)):
                await self._bell.wait()
            await trio.lowlevel.checkpoint()  # so that what ends together is recorded together

    async def _round(self) -> ClaimResult | None:
        """Record what has ended and claim what is due; None when the store could do neither."""
        ended, self._ended = self._ended, []
        slots = self._slots()

        def work(tx: WriteTx) -> tuple[list[Notice], ClaimResult]:
            at = self._clock.now()
            return record(tx, ended, self._settings, at), claim_due(tx, slots, self._settings, at, self._secret_cache)

        try:
            notices, claimed = await self._store.write(work)
        except StoreFailure as error:
            self._ended[:0] = ended
            self.counts.store_failures += 1
            self._log.error("webhooks_not_recorded", waiting=len(self._ended), exc_info=error)
            return None
        self._after = claimed.after
        self._tell_notices(notices)
        self._tell_exhausted(claimed)
        return claimed

    def _slots(self) -> Slots:
        by_subscription = Counter([claim.subscription_id for claim in self._flights.values()])
        free = self._settings.concurrency - len(self._flights)
        return Slots(free, by_subscription, frozenset(self._flights), self._after, self._slow_receivers.snapshot())

    def _seconds_until(self, instant: Instant | None) -> float:
        if instant is None:
            return LOOK_AGAIN_SECONDS
        return min(max(0.0, (instant - self._clock.now()) / SECOND), LOOK_AGAIN_SECONDS)

    # -- one attempt

    async def _attempt(self, claim: Claim) -> None:
        try:
            ended = await self._send(claim)
        except trio.Cancelled:
            self._land(self._interrupted(claim))
            raise
        except Exception as error:  # noqa: BLE001 - the delivery border: one attempt fails, the rest go on
            self.counts.failed_here += 1
            self._log.error("delivery_failed_here", **_names(claim), exc_info=error)
            ended = self._failed_here(claim)
        self._land(ended)

    def _land(self, ended: EndedAttempt) -> None:
        del self._flights[ended.claim.delivery_id]
        self._ended.append(ended)
        self._bell.set()

    async def _send(self, claim: Claim) -> EndedAttempt:
        if not claim.secrets:
            raise StoreFailure("the signing secret does not open with this instance's key")
        signed = signed_headers(claim.secrets, claim.delivery_id, self._clock.now() // SECOND, claim.body)
        headers = (("X-Service-Event", claim.event), ("X-Service-Delivery", claim.delivery_id), *signed)
        result = await self._sender.post(claim.url, headers, claim.body, pool_key=claim.subscription_id)
        decision = self._decide(claim, result)
        self._tell(claim, result, decision)
        self._slow_receivers.note(claim.subscription_id, timed_out=result.error == TIMEOUT)
        if decision.status != "succeeded":
            self._note_beside(claim)
        claim = self._flights[claim.delivery_id]  # what was noted beside it
        return completed_attempt(claim, decision, result, confidential(claim.secrets, signed))

    def _decide(self, claim: Claim, result: AttemptResult) -> Decision:
        finished = Finished(claim.attempt, result.response_code, result.error, result.retry_after)
        return decide(self._settings.retry, finished, now=self._clock.now(), fraction=self._fraction())

    def _note_beside(self, failed: Claim) -> None:
        """Let the other attempts at the same receiver know that one failed: the row they saw does not say so yet."""
        for delivery_id, claim in self._flights.items():
            beside = claim.subscription_id == failed.subscription_id and delivery_id != failed.delivery_id
            if beside and claim.failing_since is None:
                self._flights[delivery_id] = replace(claim, failing_since=self._clock.now())

    def _failed_here(self, claim: Claim) -> EndedAttempt:
        finished = Finished(claim.attempt, None, INTERNAL, None)
        decision = decide(self._settings.retry, finished, now=self._clock.now(), fraction=0.0)
        return aborted_attempt(claim, decision.status, decision.next_attempt_at, INTERNAL)

    def _interrupted(self, claim: Claim) -> EndedAttempt:
        """Stopped by us: it counts, and the next one need not wait for what is not the receiver's fault."""
        self.counts.interrupted += 1
        last = claim.attempt >= self._settings.retry.max_attempts
        status, due_at = ("exhausted", None) if last else ("retrying", self._clock.now())
        return aborted_attempt(claim, status, due_at, INTERRUPTED)

    # -- the end

    async def _record_the_last(self) -> None:
        if not self._ended:
            return
        ended = self._ended
        try:
            notices = await self._store.write(lambda tx: record(tx, ended, self._settings, self._clock.now()))
        except StoreFailure as error:
            self.counts.store_failures += 1
            self._log.error("webhooks_not_recorded", waiting=len(ended), exc_info=error)
            return
        self._ended = []
        self._tell_notices(notices)

    # -- what the operator sees

    def _tell(self, claim: Claim, result: AttemptResult, decision: Decision) -> None:
        self._tallies.add(claim.subscription_id, decision.status, result.duration_ms / 1000)
        if decision.status == "succeeded":
            self.counts.succeeded += 1
            return
        values = {**_names(claim), "error": result.error, "response_code": result.response_code}
        if decision.status == "exhausted":
            self.counts.exhausted += 1
            self._log.warning("delivery_exhausted", **values, detail=result.detail)
        else:
            self.counts.retried += 1
            self._log.info("delivery_attempt_failed", **values, detail=result.detail)

    def _tell_exhausted(self, claimed: ClaimResult) -> None:
        for head, delivery_id in claimed.exhausted:
            self.counts.exhausted += 1
            values = {"delivery_id": delivery_id, "subscription_id": head.subscription_id, "organization": head.org_id}
            self._log.warning("delivery_exhausted", **values, error=INTERRUPTED, response_code=None)

    def _tell_notices(self, notices: list[Notice]) -> None:
        for notice in notices:
            values = _names(notice.claim)
            if notice.failing_since is not None:
                values["failing_since"] = to_wire(notice.failing_since)
            if notice.disabled_at is not None:
                values["disabled_at"] = to_wire(notice.disabled_at)
                self._log.warning("webhook_subscription_failing", **values)
            else:
                self._sender.close_idle(notice.claim.subscription_id)
                self._log.warning("subscription_disabled", reason=notice.reason, **values)


def _names(claim: Claim) -> dict[str, object]:
    return {
        "delivery_id": claim.delivery_id,
        "subscription_id": claim.subscription_id,
        "organization": claim.org_id,
        "attempt": claim.attempt,
    }
