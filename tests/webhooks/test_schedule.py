"""The retry table of Spec §3 and §8, row by row."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.webhooks.schedule import (
    Decision,
    FinishedAttempt,
    RetryPolicy,
    Verdict,
    classify,
    counted_attempts,
    decide,
    retry_after_wait,
    retry_wait,
)
from gatewayd.webhooks.settings import WebhookSettings

SECOND = 1_000_000
HOUR = 3600 * SECOND
NOW = 1_767_225_600 * SECOND  # 2026-01-01T00:00:00Z
SPEC = RetryPolicy()


def failed(attempt: int, code: int | None = 500, retry_after: str | None = None) -> FinishedAttempt:
    return FinishedAttempt(attempt, code, "timeout" if code is None else f"http_{code // 100}xx", retry_after)


def test_the_waits_of_the_spec() -> None:
    waits = [retry_wait(SPEC, made, 0.0) // SECOND for made in range(1, 8)]
    assert waits == [30, 60, 120, 240, 480, 960, 1920]
    assert sum(waits) == 3810  # 63.5 minutes from the first attempt to the last


def test_eight_attempts_then_exhausted() -> None:
    decisions = [decide(SPEC, failed(attempt), now=NOW, fraction=0.0) for attempt in range(1, 9)]
    assert [one.status for one in decisions] == ["retrying"] * 7 + ["exhausted"]
    assert decisions[0] == Decision("retrying", NOW + 30 * SECOND, disable_subscription=False)
    assert decisions[7] == Decision("exhausted", None, disable_subscription=False)


def test_the_cap_is_six_hours() -> None:
    long = RetryPolicy(max_attempts=100)
    assert retry_wait(long, 10, 0.0) == 15_360 * SECOND
    assert retry_wait(long, 11, 0.0) == 6 * HOUR
    assert retry_wait(long, 99, 0.999) == 6 * HOUR
    assert retry_wait(long, 10**9, 0.0) == 6 * HOUR


@settings(deadline=None)
@given(st.integers(1, 200), st.floats(0, 1, exclude_max=True), st.integers(1, 500), st.integers(1, 100_000))
def test_jitter_only_lengthens_by_at_most_a_tenth_within_the_cap(
    made: int, fraction: float, first: int, more: int
) -> None:
    policy = RetryPolicy(300, first, first + more)
    bare, jittered = retry_wait(policy, made, 0.0), retry_wait(policy, made, fraction)
    assert bare <= jittered <= min(bare * 11 // 10, policy.retry_cap_seconds * SECOND)
    assert retry_wait(policy, made + 1, 0.0) >= bare


def test_jitter_is_a_share_of_the_wait() -> None:
    assert retry_wait(SPEC, 1, 0.5) == 31_500_000
    assert retry_wait(SPEC, 2, 0.25) == 61_500_000


@pytest.mark.parametrize(
    ("code", "error", "verdict"),
    [
        (200, None, Verdict.SUCCEED),
        (204, None, Verdict.SUCCEED),
        (299, None, Verdict.SUCCEED),
        (199, "protocol", Verdict.RETRY),
        (300, "redirect_refused", Verdict.RETRY),
        (300, "http_3xx", Verdict.RETRY),
        (301, "redirect_refused", Verdict.RETRY),
        (308, "redirect_refused", Verdict.RETRY),
        (400, "http_4xx", Verdict.RETRY),
        (401, "http_4xx", Verdict.RETRY),
        (404, "http_4xx", Verdict.RETRY),
        (409, "http_4xx", Verdict.RETRY),
        (410, "http_4xx", Verdict.DISABLE),
        (411, "http_4xx", Verdict.RETRY),
        (429, "http_4xx", Verdict.RETRY),
        (500, "http_5xx", Verdict.RETRY),
        (503, "http_5xx", Verdict.RETRY),
        (None, "timeout", Verdict.RETRY),
        (None, "dns", Verdict.RETRY),
        (None, "tls", Verdict.RETRY),
        (None, "connection", Verdict.RETRY),
        (None, "blocked_address", Verdict.RETRY),
        (200, "timeout", Verdict.RETRY),  # the answer did not arrive whole
        (200, "connection", Verdict.RETRY),
        (410, "timeout", Verdict.RETRY),
    ],
)
def test_outcomes(code: int | None, error: str | None, verdict: Verdict) -> None:
    assert classify(code, error) is verdict


@pytest.mark.parametrize("attempt", [1, 8])
def test_success_ends_it_whenever_it_comes(attempt: int) -> None:
    decision = decide(SPEC, FinishedAttempt(attempt, 200, None, "600"), now=NOW, fraction=0.9)
    assert decision == Decision("succeeded", None, disable_subscription=False)


@pytest.mark.parametrize("attempt", [1, 8])
def test_gone_disables_the_subscription(attempt: int) -> None:
    decision = decide(SPEC, failed(attempt, 410, "600"), now=NOW, fraction=0.0)
    assert decision == Decision("exhausted", None, disable_subscription=True)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0),
        ("0", 0),
        ("120", 120),
        (" 120 ", 120),
        ("1234567890", 1_234_567_890),
        ("9" * 9000, 9_999_999_999),
        ("-5", 0),
        ("1.5", 0),
        ("٣٠", 0),
        ("soon", 0),
        ("", 0),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120),  # IMF-fixdate
        ("Thursday, 01-Jan-26 00:02:00 GMT", 120),  # RFC 850
        ("Thu Jan  1 00:02:00 2026", 120),  # asctime
        ("Thu, 01 Jan 2026 01:02:00 +0100", 120),
        ("Wed, 31 Dec 2025 23:59:00 GMT", 0),  # past
        ("Thu, 32 Jan 2026 00:02:00 GMT", 0),
        ("Thu, 01 Jan 99999 00:02:00 GMT", 0),
        ("Thu, 01 Jan 99999999999999999999 00:02:00 GMT", 0),
    ],
)
def test_retry_after_forms(header: str | None, seconds: int) -> None:
    assert retry_after_wait(header, NOW) == seconds * SECOND


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_retry_after_text_breaks_it(header: str) -> None:
    assert retry_after_wait(header, NOW) >= 0


@pytest.mark.parametrize(
    ("attempt", "header", "seconds"),
    [
        (1, "10", 30),  # shorter than the schedule: ignored
        (1, "30", 30),
        (1, "90", 90),
        (7, "90", 1920),
        (1, "21600", 21_600),
        (1, "21601", 21_600),  # no longer than the cap
        (1, "999999999999", 21_600),
        (1, "Thu, 01 Jan 2026 00:10:00 GMT", 600),
    ],
)
def test_retry_after_only_lengthens(attempt: int, header: str, seconds: int) -> None:
    decision = decide(SPEC, failed(attempt, 503, header), now=NOW, fraction=0.0)
    assert decision.next_attempt_at == NOW + seconds * SECOND


def test_the_settings_rule() -> None:
    policy = RetryPolicy(max_attempts=2, first_retry_seconds=1, retry_cap_seconds=1)
    assert decide(policy, failed(1, 503, "600"), now=NOW, fraction=0.99).next_attempt_at == NOW + SECOND
    assert decide(policy, failed(2), now=NOW, fraction=0.0).status == "exhausted"
    assert decide(RetryPolicy(max_attempts=1), failed(1), now=NOW, fraction=0.0).status == "exhausted"


@pytest.mark.parametrize("settings", [(0, 30, 60), (8, 0, 60), (8, 61, 60)])
def test_settings_that_make_no_sense(settings: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="max_attempts"):
        RetryPolicy(*settings)


@pytest.mark.parametrize(
    ("attempts", "interruptions", "counted"), [(0, 0, 0), (8, 0, 8), (8, 8, 0), (9, 1, 8), (15, 15, 7), (16, 16, 8)]
)
def test_as_many_interruptions_as_there_are_attempts_do_not_count(
    attempts: int, interruptions: int, counted: int
) -> None:
    assert counted_attempts(RetryPolicy(), attempts, interruptions) == counted


@pytest.mark.parametrize(("first", "remembered"), [(1, 1), (29, 29), (30, 30), (300, 30)])
def test_a_name_that_was_not_found_is_looked_up_anew_by_every_retry(first: int, remembered: float) -> None:
    policy = RetryPolicy(first_retry_seconds=first)
    assert WebhookSettings(retry=policy).lookup_failure_seconds == remembered
