"""Carries deliveries from the queue to the receivers: claim, POST, record, again.

One loop writes. Each of its rounds is one transaction that records every attempt that has ended and begins as many as
there is room for; while it is being committed, more attempts end, and the next round takes them together. One task
makes each attempt. What is in the air is in the database too, counted, before the first byte of it is sent.

Cancelled, it claims nothing more and gives attempts under way `stop_seconds` to end. What does not is recorded as
interrupted and due at once; what cannot even be recorded comes back when its lease ends.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import trio

from gatewayd.clock import SECOND, Clock, Instant
from gatewayd.events import TOPIC
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.webhooks import queue, subscriptions
from gatewayd.webhooks.claims import FIRST, Claim, Look, Slots, claim_due
from gatewayd.webhooks.queue import INTERRUPTED, Completion
from gatewayd.webhooks.schedule import Decision, Finished, decide
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import signed_headers

T = TypeVar("T")

LOOK_AGAIN_SECONDS: Final = 15.0  # Chosen: longest wait between looks, so that a clock set forward is noticed
STORE_PAUSE_SECONDS: Final = 1.0  # Chosen: between tries while the disk is full or the database is locked
INTERNAL: Final = "internal"  # Chosen: last error of an attempt that failed on our side


class Outbox(Protocol):
    """What the dispatcher needs of the store."""

    async def write(self, work: Callable[[WriteTx], T]) -> T: ...

    def topic(self, name: str) -> trio.Event: ...


class Poster(Protocol):
    """What the dispatcher needs of the sender: one attempt, within its own deadline."""

    async def post(self, url: str, headers: Headers, body: bytes, *, slot_key: str) -> AttemptResult: ...

    def sweep(self) -> None: ...

    def forget(self, slot_key: str) -> None: ...


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


@dataclass(slots=True, eq=False)
class _Ended:
    """An attempt that waits to be recorded."""

    claim: Claim
    completion: Completion
    gone: bool


class Dispatcher:
    """The one reader of the outbox in this process. Another process may run one on the same database."""

    def __init__(self, parts: DispatcherParts) -> None:
        self._store = parts.store
        self._sender = parts.sender
        self._clock = parts.clock
        self._settings = parts.settings
        self._log = parts.log
        self._fraction = parts.fraction
        self._flights: dict[str, tuple[Claim, trio.CancelScope]] = {}
        self._ended: list[_Ended] = []
        self._bell = trio.Event()
        self._after = FIRST
        self.counts = Counts()
        self.running = False

    @property
    def in_flight(self) -> int:
        """Attempts under way."""
        return len(self._flights)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Dispatch until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, self._store.topic(TOPIC))
                self.running = True
                task_status.started()
                try:
                    await self._go_round(nursery)
                finally:
                    self._stop_flights(trio.current_time() + self._settings.stop_seconds)
        finally:
            self.running = False
            with trio.CancelScope(shield=True):
                await self._record_the_last()

    # -- the loop

    async def _listen(self, announced: trio.Event) -> None:
        """Ring when the store has new deliveries. Runs until cancelled."""
        while True:
            await announced.wait()
            announced = self._store.topic(TOPIC)  # before the look that follows, so that none is missed between
            self._bell.set()

    async def _go_round(self, nursery: trio.Nursery) -> None:
        while True:
            self._bell = trio.Event()
            look = await self._round()
            if look is None:
                await trio.sleep(STORE_PAUSE_SECONDS)
                continue
            for claim in look.claims:
                scope = trio.CancelScope(shield=True)
                self._flights[claim.delivery_id] = claim, scope
                nursery.start_soon(self._attempt, claim, scope)
            self._sender.sweep()
            with trio.move_on_after(self._seconds_until(look.next_due)):
                await self._bell.wait()

    async def _round(self) -> Look | None:
        """Record what has ended and claim what is due; None when the store could do neither."""
        ended, self._ended = self._ended, []
        slots = self._slots()

        def work(tx: WriteTx) -> tuple[list[_Ended], Look]:
            at = self._clock.now()
            return _record(tx, ended, at), claim_due(tx, slots, self._settings, at)

        try:
            gone, look = await self._store.write(work)
        except StoreFailure as error:
            self._ended[:0] = ended
            self.counts.store_failures += 1
            self._log.error("webhooks_not_recorded", waiting=len(self._ended), exc_info=error)
            return None
        self._after = look.after
        self._tell_gone(gone)
        return look

    def _slots(self) -> Slots:
        by_subscription = Counter(claim.subscription_id for claim, _ in self._flights.values())
        free = self._settings.concurrency - len(self._flights)
        return Slots(free, by_subscription, frozenset(self._flights), self._after)

    def _seconds_until(self, instant: Instant | None) -> float:
        if instant is None:
            return LOOK_AGAIN_SECONDS
        return min(max(0.0, (instant - self._clock.now()) / SECOND), LOOK_AGAIN_SECONDS)

    # -- one attempt

    async def _attempt(self, claim: Claim, scope: trio.CancelScope) -> None:
        try:
            with scope:
                ended = await self._send(claim)
            if scope.cancelled_caught:
                ended = self._interrupted(claim)
        except Exception as error:  # noqa: BLE001 - the delivery border: one attempt fails, the rest go on
            self.counts.failed_here += 1
            self._log.error("delivery_failed_here", **_names(claim), exc_info=error)
            ended = self._failed_here(claim)
        del self._flights[claim.delivery_id]
        self._ended.append(ended)
        self._bell.set()

    async def _send(self, claim: Claim) -> _Ended:
        if not claim.secrets:
            raise StoreFailure("the signing secret does not open with this instance's key")
        timestamp = self._clock.now() // SECOND
        headers = (
            ("X-Service-Event", claim.event),
            ("X-Service-Delivery", claim.delivery_id),
            *signed_headers(claim.secrets, claim.delivery_id, timestamp, claim.body),
        )
        result = await self._sender.post(claim.url, headers, claim.body, slot_key=claim.subscription_id)
        decision = self._decide(claim, result)
        self._tell(claim, result, decision)
        return _Ended(claim, _completion(claim, decision, result), decision.disable_subscription)

    def _decide(self, claim: Claim, result: AttemptResult) -> Decision:
        finished = Finished(claim.attempt, result.response_code, result.error, result.retry_after)
        return decide(self._settings.retry, finished, now=self._clock.now(), fraction=self._fraction())

    def _failed_here(self, claim: Claim) -> _Ended:
        finished = Finished(claim.attempt, None, INTERNAL, None)
        decision = decide(self._settings.retry, finished, now=self._clock.now(), fraction=0.0)
        return _Ended(claim, _unanswered(claim, decision.status, decision.next_attempt_at, INTERNAL), gone=False)

    def _interrupted(self, claim: Claim) -> _Ended:
        """Stopped by us: it counts, and the next one need not wait for what is not the receiver's fault."""
        self.counts.interrupted += 1
        last = claim.attempt >= self._settings.retry.max_attempts
        status, due_at = ("exhausted", None) if last else ("retrying", self._clock.now())
        return _Ended(claim, _unanswered(claim, status, due_at, INTERRUPTED), gone=False)

    # -- the end

    def _stop_flights(self, deadline: float) -> None:
        for _, scope in self._flights.values():
            scope.deadline = deadline

    async def _record_the_last(self) -> None:
        if not self._ended:
            return
        ended = self._ended
        try:
            gone = await self._store.write(lambda tx: _record(tx, ended, self._clock.now()))
        except StoreFailure as error:
            self.counts.store_failures += 1
            self._log.error("webhooks_not_recorded", waiting=len(ended), exc_info=error)
            return
        self._ended = []
        self._tell_gone(gone)

    # -- what the operator sees

    def _tell(self, claim: Claim, result: AttemptResult, decision: Decision) -> None:
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

    def _tell_gone(self, gone: list[_Ended]) -> None:
        for ended in gone:
            self._sender.forget(ended.claim.subscription_id)
            self._log.warning("subscription_disabled", reason="the receiver answered 410", **_names(ended.claim))


def _record(tx: WriteTx, ended: list[_Ended], at: Instant) -> list[_Ended]:
    """Record attempts; answers those that switched their subscription off."""
    gone = []
    for one in ended:
        recorded = queue.complete(tx, one.completion, at)
        claim = one.claim
        if recorded and one.gone and subscriptions.disable_gone(tx, claim.org_id, claim.subscription_id, claim.url):
            gone.append(one)
    return gone


def _completion(claim: Claim, decision: Decision, result: AttemptResult) -> Completion:
    return Completion(
        delivery_id=claim.delivery_id,
        org_id=claim.org_id,
        attempt=claim.attempt,
        status=decision.status,
        due_at=None if decision.next_attempt_at is None else Instant(decision.next_attempt_at),
        response_code=result.response_code,
        error=result.error,
        duration_ms=result.duration_ms,
    )


def _unanswered(claim: Claim, status: str, due_at: int | None, error: str) -> Completion:
    return Completion(
        delivery_id=claim.delivery_id,
        org_id=claim.org_id,
        attempt=claim.attempt,
        status=status,
        due_at=None if due_at is None else Instant(due_at),
        response_code=None,
        error=error,
        duration_ms=None,
    )


def _names(claim: Claim) -> dict[str, object]:
    return {
        "delivery_id": claim.delivery_id,
        "subscription_id": claim.subscription_id,
        "organization": claim.org_id,
        "attempt": claim.attempt,
    }
