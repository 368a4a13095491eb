"""Receiver health: what an ended attempt says about its receiver, and when a failing subscription is disabled.

The claim carries what the subscription's row said, so that a success after a success needs no statement.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gatewayd.clock import Instant
from gatewayd.store import WriteTx
from gatewayd.webhooks.queue.claims import Claim
from gatewayd.webhooks.settings import WebhookSettings
from gatewayd.webhooks.subscribers import subscriptions

REASON_GONE: Final = "the receiver answered 410"
REASON_FAILING: Final = "nothing but failures"


class AttemptOutcome(StrEnum):
    """What an attempt says about its receiver."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EXHAUSTED = "exhausted"  # it failed, and the delivery has no attempt left
    GONE = "gone"  # it answered 410
    UNKNOWN = "unknown"  # it ended on our side, which says nothing about the receiver


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What the operator is told once it is durable.

    With a `reason` the subscription was disabled; without one it will be at `disabled_at`, if nothing succeeds until
    then.
    """

    claim: Claim
    reason: str | None
    failing_since: Instant | None = None
    disabled_at: Instant | None = None


def record_outcome(
    tx: WriteTx, claim: Claim, outcome: AttemptOutcome, settings: WebhookSettings, at: Instant
) -> Notice | None:
    """Record what an ended attempt says about its receiver. Returns what the operator should know."""
    if outcome is AttemptOutcome.UNKNOWN:
        return None
    if outcome is AttemptOutcome.SUCCEEDED:
        if claim.failing_since is not None:
            subscriptions.clear_failing(tx, claim.address)
        return None
    if outcome is AttemptOutcome.GONE:
        gone = subscriptions.disable(tx, claim.address, "receiver_gone")
        return Notice(claim=claim, reason=REASON_GONE) if gone else None
    return _record_failure(tx, claim, outcome, settings, at)


def _record_failure(
    tx: WriteTx, claim: Claim, outcome: AttemptOutcome, settings: WebhookSettings, at: Instant
) -> Notice | None:
    since = claim.failing_since
    if since is None or since > at:  # the first failure, or one recorded by a clock that was ahead
        subscriptions.mark_failing(tx, claim.address, at)
        return None
    failing_upto = Instant(at - settings.disable_after)
    if outcome is AttemptOutcome.EXHAUSTED and since <= failing_upto:
        disabled = subscriptions.disable(tx, claim.address, "failing", failing_upto)
        return Notice(claim=claim, reason=REASON_FAILING, failing_since=since) if disabled else None
    warned = claim.warned or at - since < settings.warn_after
    if warned or not subscriptions.mark_warned(tx, claim.address, at):
        return None
    disabled_at = Instant(max(at, since + settings.disable_after))
    return Notice(claim=claim, reason=None, failing_since=since, disabled_at=disabled_at)
