"""Carries deliveries from the queue to the receivers, in the loop of `sending`: one POST is one attempt."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from gatewayd.clock import SECOND, Clock, Instant
from gatewayd.events import TOPIC
from gatewayd.http1.log import Log
from gatewayd.outbound.errors import DeadlineError, NameLookupError
from gatewayd.sending import Outbox, SendingLoop
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

INTERNAL: Final = "internal"  # Chosen: last error of an attempt that failed on our side
SLOW: Final = frozenset((DeadlineError.code, NameLookupError.code))
"""Errors after which the next attempt may take all its time: a name that is refused at once is looked up later."""


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


class Dispatcher(SendingLoop[Claim, EndedAttempt]):
    """The one reader of the queue of deliveries in this process."""

    def __init__(self, parts: DispatcherParts) -> None:
        super().__init__(parts.store, TOPIC, parts.clock, parts.settings.stop_seconds)
        self._sender = parts.sender
        self._settings = parts.settings
        self._reporter = DeliveryReporter(parts.log)
        self._fraction = parts.fraction
        self._slow_receivers = SlowReceivers()
        self._secret_cache = SecretCache()
        self._after = FIRST

    @property
    def counts(self) -> Counts:
        """What has been done since the start."""
        return self._reporter.counts

    @property
    def subscription_counts(self) -> Mapping[str, SubscriptionCounts]:
        """What became of the attempts of each subscription since the start."""
        return self._reporter.counters.by_subscription

    # -- a round

    def _id_of(self, claim: Claim) -> str:
        return claim.delivery_id

    async def _record_and_claim(self, ended: list[EndedAttempt]) -> tuple[Sequence[Claim], Instant | None]:
        slots = self._slots()

        def work(tx: WriteTx) -> tuple[list[Notice], ClaimResult]:
            at = self._clock.now()
            return record(tx, ended, self._settings, at), claim_due(tx, slots, self._settings, at, self._secret_cache)

        notices, claimed = await self._store.write(work)
        self._reporter.report_recorded()
        self._after = claimed.after
        self._report_notices(notices)
        self._reporter.report_exhausted(claimed.exhausted)
        return claimed.claims, claimed.next_due

    async def _record_last(self, ended: list[EndedAttempt]) -> None:
        self._report_notices(await self._store.write(lambda tx: record(tx, ended, self._settings, self._clock.now())))

    def _not_recorded(self, error: StoreFailure, waiting: int, *, last: bool) -> None:
        report = self._reporter.report_left if last else self._reporter.report_store_failure
        report(error, waiting)

    async def _sweep(self) -> None:
        self._sender.sweep()

    def _slots(self) -> Slots:
        by_subscription = Counter([claim.subscription_id for claim in self._claims.values()])
        free = self._settings.concurrency - len(self._claims)
        return Slots(free, by_subscription, frozenset(self._claims), self._after, self._slow_receivers.snapshot())

    # -- one attempt

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

    def _end_by_error(self, claim: Claim, error: Exception, began: float) -> EndedAttempt:
        self._reporter.report_internal_error(claim, error)
        finished = FinishedAttempt(self._counted(claim), None, INTERNAL, None)
        decision = decide(self._settings.retry, finished, now=self._clock.now(), fraction=0.0)
        return aborted_attempt(claim, decision.status, decision.next_attempt_at, INTERNAL)

    def _end_by_stop(self, claim: Claim, began: float) -> EndedAttempt:
        """Our stop interrupted it: the next one is due at once, for it is not the receiver's fault."""
        self._reporter.count_interrupted()
        last = self._counted(claim, interrupted=1) >= self._settings.retry.max_attempts
        status, due_at = ("exhausted", None) if last else ("retrying", self._clock.now())
        return aborted_attempt(claim, status, due_at, INTERRUPTED)

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
