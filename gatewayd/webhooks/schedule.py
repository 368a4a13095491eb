"""When the next attempt is due, and what an attempt's result means for its delivery (Spec §3, §8). Pure.

attempts made     1    2    3     4     5     6      7      8
wait after it  30 s 60 s 120 s 240 s 480 s 960 s 1920 s    none: exhausted
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

MICROSECONDS: Final = 1_000_000
MAX_ATTEMPTS: Final = 8  # Spec §8
FIRST_RETRY_SECONDS: Final = 30  # Spec §8
RETRY_CAP_SECONDS: Final = 21_600  # Spec §8: 6 hours
JITTER_SHARE: Final = 0.10  # Chosen: waits grow by up to a tenth, never shrink below Spec §8
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MAX_DELTA_DIGITS: Final = 10  # a longer Retry-After is beyond any cap


class Verdict(StrEnum):
    """What one result asks for."""

    SUCCEED = "succeed"
    RETRY = "retry"
    DISABLE = "disable"  # the receiver is gone for good: no more attempts, and the subscription is switched off


# First match wins; what no row names is retried (Spec §3: any non-2xx, or no response).
VERDICTS: Final = (
    (range(200, 300), Verdict.SUCCEED),  # Spec §6
    (range(410, 411), Verdict.DISABLE),  # Chosen: 410 Gone (RFC 9110 §15.5.11) is the receiver's own word
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The `[webhooks]` settings of the schedule."""

    max_attempts: int = MAX_ATTEMPTS
    first_retry_seconds: int = FIRST_RETRY_SECONDS
    retry_cap_seconds: int = RETRY_CAP_SECONDS

    def __post_init__(self) -> None:
        """Raises ValueError on a policy that would never send or never wait."""
        if self.max_attempts < 1 or self.first_retry_seconds < 1 or self.retry_cap_seconds < self.first_retry_seconds:
            raise ValueError("need max_attempts >= 1 and 1 <= first_retry_seconds <= retry_cap_seconds")

    @property
    def free_interruptions(self) -> int:
        """How many attempts of a delivery may be interrupted by this daemon before further ones count as attempts."""
        return self.max_attempts  # Chosen: as many again; a delivery that kills the daemon each time comes to an end


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of the delivery. `status` is the delivery record's; the instant in microseconds since the epoch."""

    status: str  # succeeded | retrying | exhausted
    next_attempt_at: int | None  # None unless retrying
    disable_subscription: bool


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """One finished attempt, as far as the schedule cares."""

    attempt: int  # 1 for the first, as `counted_attempts` counts
    response_code: int | None  # None: no status line arrived
    error: str | None  # a stable code; None only for a 2xx, whose head is enough
    retry_after: str | None  # the header as received


def classify(response_code: int | None, error: str | None) -> Verdict:
    """Reads the table `VERDICTS`. Another status whose response did not arrive whole counts as no response."""
    if response_code is None or (error is not None and not error.startswith("http_")):
        return Verdict.RETRY
    return next((verdict for codes, verdict in VERDICTS if response_code in codes), Verdict.RETRY)


def counted_attempts(policy: RetryPolicy, attempts: int, interruptions: int) -> int:
    """How many of a delivery's attempts count towards `max_attempts`; `interruptions` are among `attempts`."""
    return attempts - min(interruptions, policy.free_interruptions)


def decide(policy: RetryPolicy, finished: FinishedAttempt, *, now: int, fraction: float) -> Decision:
    """Decides over a delivery after an attempt; `now` in microseconds, `fraction` random in [0, 1)."""
    verdict = classify(finished.response_code, finished.error)
    if verdict is Verdict.SUCCEED:
        return Decision("succeeded", None, disable_subscription=False)
    if verdict is Verdict.DISABLE:
        # Chosen: exhausted, not cancelled: it was refused by the receiver and stays replayable.
        return Decision("exhausted", None, disable_subscription=True)
    if finished.attempt >= policy.max_attempts:
        return Decision("exhausted", None, disable_subscription=False)
    wait = retry_wait(policy, finished.attempt, fraction)
    requested = retry_after_wait(finished.retry_after, now)
    wait = max(wait, min(requested, policy.retry_cap_seconds * MICROSECONDS))
    return Decision("retrying", now + wait, disable_subscription=False)


def retry_wait(policy: RetryPolicy, attempts_made: int, fraction: float) -> int:
    """Microseconds to wait after that many failed attempts: first x 2^(n-1), plus jitter, within the cap."""
    doublings = min(attempts_made - 1, policy.retry_cap_seconds.bit_length())  # further ones are past the cap
    base = policy.first_retry_seconds * MICROSECONDS << doublings
    cap = policy.retry_cap_seconds * MICROSECONDS
    return min(base + int(base * JITTER_SHARE * fraction), cap)


def retry_after_wait(header: str | None, now: int) -> int:
    """Microseconds a Retry-After asks for (RFC 9110 §10.2.3: seconds or date); 0 when absent, past or unreadable."""
    if header is None:
        return 0
    text = header.strip()
    if text.isascii() and text.isdigit():
        return int(text if len(text) <= MAX_DELTA_DIGITS else "9" * MAX_DELTA_DIGITS) * MICROSECONDS
    try:
        instant = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return 0
    if instant.tzinfo is None:  # asctime form carries no zone and means UTC (RFC 9110 §5.6.7)
        instant = instant.replace(tzinfo=UTC)
    return max(0, (instant - EPOCH) // timedelta(microseconds=1) - now)
