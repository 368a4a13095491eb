"""Attempts that have ended, and their records: of the delivery, of the attempt, and of the receiver's health."""

from collections.abc import Iterable
from dataclasses import dataclass

from gatewayd.clock import Instant
from gatewayd.mail import notices
from gatewayd.mail.notices import FailingWebhook, Mailing
from gatewayd.store import WriteTx
from gatewayd.webhooks.dispatch import receiver_health
from gatewayd.webhooks.dispatch.receiver_health import AttemptOutcome, Notice
from gatewayd.webhooks.queue import attempts, delivery_queue
from gatewayd.webhooks.queue.claims import Claim
from gatewayd.webhooks.queue.delivery_queue import INTERRUPTED, Completion
from gatewayd.webhooks.schedule import Decision
from gatewayd.webhooks.sender import AttemptResult
from gatewayd.webhooks.settings import WebhookSettings


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An attempt that has ended and is not recorded yet. `wire` is the record of the attempt itself."""

    claim: Claim
    completion: Completion
    wire: bytes
    outcome: AttemptOutcome


def completed_attempt(claim: Claim, decision: Decision, result: AttemptResult, redacted: Iterable[str]) -> EndedAttempt:
    """An attempt that was made to its end. The texts `redacted` are kept out of its record."""
    completion = Completion(
        delivery_id=claim.delivery_id,
        org_id=claim.org_id,
        attempt=claim.attempt,
        status=decision.status,
        due_at=None if decision.next_attempt_at is None else Instant(decision.next_attempt_at),
        response_code=result.response_code,
        error=result.error,
        duration_ms=result.duration_ms,
        interrupted=False,
    )
    return EndedAttempt(
        claim,
        completion,
        attempts.render_completed(claim.attempt, claim.begun_at, result, redacted),
        _outcome_of(decision),
    )


def aborted_attempt(claim: Claim, status: str, due_at: int | None, error: str) -> EndedAttempt:
    """An attempt that ended on our side."""
    completion = Completion(
        delivery_id=claim.delivery_id,
        org_id=claim.org_id,
        attempt=claim.attempt,
        status=status,
        due_at=None if due_at is None else Instant(due_at),
        response_code=None,
        error=error,
        duration_ms=None,
        interrupted=error == INTERRUPTED,
    )
    return EndedAttempt(
        claim, completion, attempts.render_aborted(claim.attempt, claim.begun_at, error), AttemptOutcome.UNKNOWN
    )


def _outcome_of(decision: Decision) -> AttemptOutcome:
    if decision.status == "succeeded":
        return AttemptOutcome.SUCCEEDED
    if decision.disable_subscription:
        return AttemptOutcome.GONE
    return AttemptOutcome.EXHAUSTED if decision.status == "exhausted" else AttemptOutcome.FAILED


def record(tx: WriteTx, ended: list[EndedAttempt], settings: WebhookSettings, at: Instant) -> list[Notice]:
    """Record attempts, but for those that are no longer their delivery's. Returns what the operator should know."""
    recorded = [one for one in ended if delivery_queue.complete(tx, one.completion, at)]
    rows = [(one.claim.delivery_id, one.claim.attempt, one.claim.org_id, one.wire) for one in recorded]
    attempts.insert(tx, rows)
    told = [receiver_health.record_outcome(tx, one.claim, one.outcome, settings, at) for one in recorded]
    found = [notice for notice in told if notice is not None]
    if settings.mailing is not None:
        _tell_by_mail(tx, settings.mailing, recorded, found)
    return found


def _tell_by_mail(tx: WriteTx, mailing: Mailing, recorded: list[EndedAttempt], found: list[Notice]) -> None:
    """Tell of subscriptions that were switched off, and of those of which a delivery was exhausted."""
    off = {notice.claim.subscription_id: notice for notice in found if notice.reason is not None}
    lost = {one.claim.subscription_id: one.claim for one in recorded if one.outcome is AttemptOutcome.EXHAUSTED}
    claims = {**lost, **{id_: notice.claim for id_, notice in off.items()}}
    for id_, claim in claims.items():
        tx.bind(claim.org_id)
        notices.tell_of_webhook(tx, mailing, FailingWebhook(id_, claim.url, off[id_].reason if id_ in off else None))
