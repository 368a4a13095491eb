"""What the operator learns of deliveries: a line in the log, and counters for the metrics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gatewayd.clock import to_wire
from gatewayd.http1.log import Log, Outage
from gatewayd.webhooks.dispatch.receiver_health import Notice
from gatewayd.webhooks.queue.claims import Claim
from gatewayd.webhooks.queue.delivery_queue import INTERRUPTED, QueueHead
from gatewayd.webhooks.schedule import Decision
from gatewayd.webhooks.sender import AttemptResult

SUBSCRIPTIONS_MAX: Final = 1024  # Chosen: the one that was sent to longest ago is forgotten first


@dataclass(slots=True)
class Counts:
    """What has been done since the start. Attempts that `failed_here` ended by an error of our own."""

    succeeded: int = 0
    retried: int = 0
    exhausted: int = 0
    interrupted: int = 0
    failed_here: int = 0
    store_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionCounts:
    """Attempts that a receiver or the way to it decided. `failed`: another one follows; `exhausted`: none does."""

    succeeded: int = 0
    failed: int = 0
    exhausted: int = 0
    seconds_sum: float = 0.0


_NONE: Final = SubscriptionCounts()


class SubscriptionCounters:
    """Counts since the start by subscription, the one that was sent to last at the end."""

    def __init__(self, max_subscriptions: int = SUBSCRIPTIONS_MAX) -> None:
        self._by_subscription: dict[str, SubscriptionCounts] = {}
        self._max_subscriptions = max_subscriptions

    @property
    def by_subscription(self) -> Mapping[str, SubscriptionCounts]:
        return self._by_subscription

    def add(self, subscription_id: str, status: str, seconds: float) -> None:
        """Count an attempt after which the delivery has `status`: succeeded, retrying or exhausted."""
        counts = self._by_subscription.pop(subscription_id, _NONE)
        self._by_subscription[subscription_id] = SubscriptionCounts(
            succeeded=counts.succeeded + (status == "succeeded"),
            failed=counts.failed + (status == "retrying"),
            exhausted=counts.exhausted + (status == "exhausted"),
            seconds_sum=counts.seconds_sum + seconds,
        )
        if len(self._by_subscription) > self._max_subscriptions:
            del self._by_subscription[next(iter(self._by_subscription))]


class DeliveryReporter:
    """Counts and logs what a dispatcher does."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.counts = Counts()
        self.counters = SubscriptionCounters()
        self._recording = Outage(log, "webhooks_not_recorded", "webhooks_recorded_again")

    def report_attempt(self, claim: Claim, result: AttemptResult, decision: Decision) -> None:
        """Of an attempt that was made to its end."""
        self.counters.add(claim.subscription_id, decision.status, result.duration_ms / 1000)
        if decision.status == "succeeded":
            self.counts.succeeded += 1
            return
        values = {**_log_fields(claim), "error": result.error, "response_code": result.response_code}
        if decision.status == "exhausted":
            self.counts.exhausted += 1
            self._log.warning("delivery_exhausted", **values, detail=result.detail)
        else:
            self.counts.retried += 1
            self._log.info("delivery_attempt_failed", **values, detail=result.detail)

    def report_internal_error(self, claim: Claim, error: Exception) -> None:
        """Of an attempt that ended by an error of our own."""
        self.counts.failed_here += 1
        self._log.error("delivery_failed_here", **_log_fields(claim), exc_info=error)

    def count_interrupted(self) -> None:
        """Of an attempt that a stop interrupted: no line, for the next start makes it again."""
        self.counts.interrupted += 1

    def report_exhausted(self, deliveries: Iterable[tuple[QueueHead, str]]) -> None:
        """Of deliveries that were found without an attempt left."""
        for head, delivery_id in deliveries:
            self.counts.exhausted += 1
            values = {"delivery_id": delivery_id, "subscription_id": head.subscription_id, "organization": head.org_id}
            self._log.warning("delivery_exhausted", **values, error=INTERRUPTED, response_code=None)

    def report_notice(self, notice: Notice) -> None:
        """Of a receiver that only fails, or whose subscription was disabled."""
        values = _log_fields(notice.claim)
        if notice.failing_since is not None:
            values["failing_since"] = to_wire(notice.failing_since)
        if notice.disabled_at is not None:
            values["disabled_at"] = to_wire(notice.disabled_at)
            self._log.warning("webhook_subscription_failing", **values)
        else:
            self._log.warning("subscription_disabled", reason=notice.reason, **values)

    def report_store_failure(self, error: Exception, waiting: int) -> None:
        """Of a store that could not record attempts, which is tried again; `waiting` is how many."""
        self.counts.store_failures += 1
        self._recording.failed(error, waiting=waiting)

    def report_left(self, error: Exception, waiting: int) -> None:
        """Of a stop that could not record them: the next start makes them again."""
        self.counts.store_failures += 1
        self._log.error("webhooks_not_recorded", waiting=waiting, exc_info=error)

    def report_recorded(self) -> None:
        """Of a store that took what there was to record."""
        self._recording.succeeded()


def _log_fields(claim: Claim) -> dict[str, object]:
    return {
        "delivery_id": claim.delivery_id,
        "subscription_id": claim.subscription_id,
        "organization": claim.org_id,
        "attempt": claim.attempt,
    }
