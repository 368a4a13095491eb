"""Attempts that have ended, and their record: the delivery, the attempt itself, and what it says of the receiver."""

from collections.abc import Iterable
from dataclasses import dataclass

from gatewayd.clock import Instant
from gatewayd.store import WriteTx
from gatewayd.webhooks import attempts, delivery_queue, failing
from gatewayd.webhooks.claims import Claim
from gatewayd.webhooks.delivery_queue import Completion
from gatewayd.webhooks.failing import Notice, Sign
from gatewayd.webhooks.schedule import Decision
from gatewayd.webhooks.sender import AttemptResult
from gatewayd.webhooks.settings import WebhookSettings


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that waits to be recorded. `wire` is its own record."""

    claim: Claim
    completion: Completion
    wire: bytes
    sign: Sign


def answered(claim: Claim, decision: Decision, result: AttemptResult, hidden: Iterable[str]) -> Ended:
    """An attempt that was made to its end. `hidden` is kept out of its record."""
    completion = Completion(
        delivery_id=claim.delivery_id,
        org_id=claim.org_id,
        attempt=claim.attempt,
        status=decision.status,
        due_at=None if decision.next_attempt_at is None else Instant(decision.next_attempt_at),
        response_code=result.response_code,
        error=result.error,
        duration_ms=result.duration_ms,
    )
    return Ended(claim, completion, attempts.answered(claim.attempt, claim.begun_at, result, hidden), _sign(decision))


def unanswered(claim: Claim, status: str, due_at: int | None, error: str) -> Ended:
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
    )
    return Ended(claim, completion, attempts.unanswered(claim.attempt, claim.begun_at, error), Sign.NOTHING)


def _sign(decision: Decision) -> Sign:
    if decision.status == "succeeded":
        return Sign.WELL
    if decision.disable_subscription:
        return Sign.GONE
    return Sign.EXHAUSTED if decision.status == "exhausted" else Sign.FAILED


def record(tx: WriteTx, ended: list[Ended], settings: WebhookSettings, at: Instant) -> list[Notice]:
    """Record attempts, those that are still their delivery's. Answers what the operator should know."""
    recorded = [one for one in ended if delivery_queue.complete(tx, one.completion, at)]
    rows = [(one.claim.delivery_id, one.claim.attempt, one.claim.org_id, one.wire) for one in recorded]
    attempts.insert(tx, rows)
    notices = [failing.note(tx, one.claim, one.sign, settings, at) for one in recorded]
    return [notice for notice in notices if notice is not None]
