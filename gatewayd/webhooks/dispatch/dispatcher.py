"""Carries deliveries from the queue to the receivers: claim, POST, record, again.

One loop writes. Each of its rounds is one transaction that records every attempt that has ended and begins as many as
there is room for; while it is being committed, more attempts end, and the next round takes them together. One task
makes each attempt, which was recorded and counted as begun before the first byte of it is sent.

Cancelled, it claims nothing more and gives attempts under way `stop_seconds` to end. One that does not is recorded as
interrupted and is due at once; one that cannot even be recorded is due when its lease ends.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar

import trio

from gatewayd.clock import SECOND, Clock, Instant
from gatewayd.events import TOPIC
from gatewayd.http1.log import Log
from gatewayd.outbound.errors import DeadlineError, NameLookupError
from gatewayd.store import StoreFailure, WriteTx
from gatewayd.webhooks.dispatch.delivery_report import Counts, DeliveryReporter, SubscriptionCounts
from gatewayd.webhooks.dispatch.ended_attempts import EndedAttempt, aborted_attempt, completed_attempt, record
from gatewayd.webhooks.dispatch.receiver_health import Notice
from gatewayd.webhooks.queue.claims import FIRST, Claim, ClaimResult, Slots, claim_due
from gatewayd.webhooks.queue.delivery_queue import INTERRUPTED
from gatewayd.webhooks.queue.receivers import SecretCache, SlowReceivers
from gatewayd.webhooks.schedule import Decision, FinishedAttempt, counted_attempts, decide
from gatewayd.webhooks.sender import AttemptResult, Headers
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.signature import confidential_texts, signed_headers

T = TypeVar("T")

SCAN_AGAIN_SECONDS: Final = 15.0  # Chosen: longest wait between scans, so that a clock set forward is noticed
STORE_PAUSE_SECONDS: Final = 1.0  # Chosen: between tries while the disk is full or the database is locked
INTERNAL: Final = "internal"  # Chosen: last error of an attempt that failed on our side
SLOW: Final = frozenset((DeadlineError.code, NameLookupError.code))
"""Errors after which the next attempt may take all its time: a name that is refused at once is looked up later."""


class Outbox(Protocol):
    """What the dispatcher needs of the store."""

    async def write(self, work: Callable[[WriteTx], T]) -> T: ...

    def topic(self, name: str) -> trio.Event: ...


class AttemptSender(Protocol):
    """What the dispatcher needs of the sender: one attempt, within its own deadline."""

    async def post(self, url: str, headers: Headers, body: bytes, *, pool_key: str) -> AttemptResult: ...

    def sweep(self) -> None: ...

    def close_idle(self, pool_key: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatcherParts:
    """What a dispatcher is made of. `fraction` draws the jitter, from [0, 1)."""

    store: Outbox
    sender: AttemptSender
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
        self._reporter = DeliveryReporter(parts.log)
        self._fraction = parts.fraction
        self._claims: dict[str, Claim] = {}  # by delivery
        self._ended: list[EndedAttempt] = []
        self._slow_receivers = SlowReceivers()
        self._secret_cache = SecretCache()
        self._wake_up = trio.Event()
        self._after = FIRST
        self.running = False

    @property
    def in_flight(self) -> int:
        """Attempts under way."""
        return len(self._claims)

    @property
    def counts(self) -> Counts:
        """What has been done since the start."""
        return self._reporter.counts

    @property
    def subscription_counts(self) -> Mapping[str, SubscriptionCounts]:
        """What became of the attempts of each subscription since the start."""
        return self._reporter.counters.by_subscription

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Dispatch until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                loop_scope = trio.CancelScope()
                nursery.start_soon(self._wake_on_new_deliveries, self._store.topic(TOPIC), loop_scope)
                self.running = True
                task_status.started()
                await self._run_loop(loop_scope)
        finally:
            self.running = False
            with trio.CancelScope(shield=True):
                await self._record_remaining()

    # -- the loop

    async def _wake_on_new_deliveries(self, announced: trio.Event, loop_scope: trio.CancelScope) -> None:
        """Wake the loop when the store has new deliveries. Runs until cancelled, and then ends the loop."""
        try:
            while True:
                await announced.wait()
                announced = self._store.topic(TOPIC)  # before the scan that follows, so that none is missed between
                self._wake_up.set()
        finally:
            loop_scope.cancel()

    async def _run_loop(self, loop_scope: trio.CancelScope) -> None:
        """Loop until `loop_scope` is cancelled; attempts that are under way then have `stop_seconds` to end."""
        with trio.CancelScope(shield=True) as grace:
            async with trio.open_nursery() as attempts:
                with loop_scope:
                    await self._loop(attempts)
                grace.deadline = trio.current_time() + self._settings.stop_seconds

    async def _loop(self, attempts: trio.Nursery) -> None:
        while True:
            self._wake_up = trio.Event()
            claimed = await self._record_and_claim()
            if claimed is None:
                await trio.sleep(STORE_PAUSE_SECONDS)
                continue
            for claim in claimed.claims:
                self._claims[claim.delivery_id] = claim
                attempts.start_soon(self._attempt, claim)
            self._sender.sweep()
            with trio.move_on_after(self._seconds_until(claimed.next_due)):
                await self._wake_up.wait()
            await trio.lowlevel.checkpoint()  # so that what ends together is recorded together

    async def _record_and_claim(self) -> ClaimResult | None:
        """Record the attempts that have ended and claim what is due; None when the store could do neither."""
        ended, self._ended = self._ended, []
        slots = self._slots()

        def work(tx: WriteTx) -> tuple[list[Notice], ClaimResult]:
            at = self._clock.now()
            return record(tx, ended, self._settings, at), claim_due(tx, slots, self._settings, at, self._secret_cache)

        try:
            notices, claimed = await self._store.write(work)
        except StoreFailure as error:
            self._ended[:0] = ended
            self._reporter.report_store_failure(error, len(self._ended))
            return None
        self._reporter.report_recorded()
        self._after = claimed.after
        self._report_notices(notices)
        self._reporter.report_exhausted(claimed.exhausted)
        return claimed

    def _slots(self) -> Slots:
        by_subscription = Counter([claim.subscription_id for claim in self._claims.values()])
        free = self._settings.concurrency - len(self._claims)
        return Slots(free, by_subscription, frozenset(self._claims), self._after, self._slow_receivers.snapshot())

    def _seconds_until(self, instant: Instant | None) -> float:
        if instant is None:
            return SCAN_AGAIN_SECONDS
        return min(max(0.0, (instant - self._clock.now()) / SECOND), SCAN_AGAIN_SECONDS)

    # -- one attempt

    async def _attempt(self, claim: Claim) -> None:
        try:
            ended = await self._send(claim)
        except trio.Cancelled:
            self._end(self._end_by_stop(claim))
            raise
        except Exception as error:  # noqa: BLE001 - one attempt fails, the rest go on
            self._reporter.report_internal_error(claim, error)
            ended = self._end_by_error(claim)
        self._end(ended)

    def _end(self, ended: EndedAttempt) -> None:
        del self._claims[ended.claim.delivery_id]
        self._ended.append(ended)
        self._wake_up.set()

    async def _send(self, claim: Claim) -> EndedAttempt:
        if not claim.secrets:
            raise StoreFailure("the signing secret does not open with this instance's key")
        signed = signed_headers(claim.secrets, claim.message_id, self._clock.now() // SECOND, claim.body)
        headers = (*_identifying_headers(claim), *signed)
        result = await self._sender.post(claim.url, headers, claim.body, pool_key=claim.subscription_id)
        decision = self._decide(claim, result)
        self._reporter.report_attempt(claim, result, decision)
        self._slow_receivers.note(claim.subscription_id, slow=not SLOW.isdisjoint((result.error, result.body_error)))
        if decision.status != "succeeded":
            self._mark_others_failing(claim)
        claim = self._claims[claim.delivery_id]  # as `_mark_others_failing` may have left it
        return completed_attempt(claim, decision, result, confidential_texts(claim.secrets, signed))

    def _decide(self, claim: Claim, result: AttemptResult) -> Decision:
        finished = FinishedAttempt(self._counted(claim), result.response_code, result.error, result.retry_after)
        return decide(self._settings.retry, finished, now=self._clock.now(), fraction=self._fraction())

    def _counted(self, claim: Claim, interrupted: int = 0) -> int:
        """Which of the attempts that count it is; 0: the delivery has none yet."""
        return counted_attempts(self._settings.retry, claim.attempt, claim.interruptions + interrupted)

    def _mark_others_failing(self, failed: Claim) -> None:
        """Mark the other attempts at the same receiver, for the row that they were claimed with does not say it yet."""
        for delivery_id, claim in self._claims.items():
            beside = claim.subscription_id == failed.subscription_id and delivery_id != failed.delivery_id
            if beside and claim.failing_since is None:
                self._claims[delivery_id] = replace(claim, failing_since=self._clock.now())

    def _end_by_error(self, claim: Claim) -> EndedAttempt:
        finished = FinishedAttempt(self._counted(claim), None, INTERNAL, None)
        decision = decide(self._settings.retry, finished, now=self._clock.now(), fraction=0.0)
        return aborted_attempt(claim, decision.status, decision.next_attempt_at, INTERNAL)

    def _end_by_stop(self, claim: Claim) -> EndedAttempt:
        """Our stop interrupted it: the next one is due at once, for it is not the receiver's fault."""
        self._reporter.count_interrupted()
        last = self._counted(claim, interrupted=1) >= self._settings.retry.max_attempts
        status, due_at = ("exhausted", None) if last else ("retrying", self._clock.now())
        return aborted_attempt(claim, status, due_at, INTERRUPTED)

    # -- the stop

    async def _record_remaining(self) -> None:
        if not self._ended:
            return
        ended = self._ended
        try:
            notices = await self._store.write(lambda tx: record(tx, ended, self._settings, self._clock.now()))
        except StoreFailure as error:
            self._reporter.report_left(error, len(ended))
            return
        self._ended = []
        self._report_notices(notices)

    def _report_notices(self, notices: list[Notice]) -> None:
        for notice in notices:
            if notice.reason is not None:
                self._sender.close_idle(notice.claim.subscription_id)
            self._reporter.report_notice(notice)


def _identifying_headers(claim: Claim) -> Headers:
    """What an attempt is of: a replay has an id of its own, and names the delivery that its receiver knows."""
    headers = (("X-Service-Event", claim.event), ("X-Service-Delivery", claim.delivery_id))
    replayed = claim.message_id != claim.delivery_id
    return (*headers, ("X-Service-Replayed-From", claim.message_id)) if replayed else headers
