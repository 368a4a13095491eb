"""Token buckets and requests at once, on a clock that the test moves."""

import pytest

from gatewayd.errors import Problem
from gatewayd.performing.rate_limits import MAX_TRACKED, WINDOW_SECONDS, RateLimits


def spend(limits: RateLimits, count: int, now: float = 0.0, who: str = "key") -> None:
    for _ in range(count):
        limits.take(who, 1, now).running -= 1


def refused(limits: RateLimits, now: float = 0.0, cost: int = 1) -> dict[bytes, bytes]:
    with pytest.raises(Problem) as caught:
        limits.take("key", cost, now)
    assert caught.value.code == "rate_limited"
    return dict(caught.value.headers)


def test_a_full_bucket_is_the_capacity_and_refills_evenly() -> None:
    limits = RateLimits(60, 64)
    spend(limits, 60)
    assert refused(limits)[b"ratelimit"].startswith(b'"default";r=0;')
    spend(limits, 1, now=1.01)
    refused(limits, now=1.01)
    spend(limits, 60, now=1.01 + WINDOW_SECONDS)
    refused(limits, now=1.01 + WINDOW_SECONDS)


def test_a_bucket_never_holds_more_than_its_capacity() -> None:
    limits = RateLimits(2, 64)
    spend(limits, 2)
    spend(limits, 2, now=1e6)
    refused(limits, now=1e6)


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600])
def test_whoever_waits_as_long_as_told_is_admitted(per_minute: int) -> None:
    limits = RateLimits(per_minute, 64)
    spend(limits, per_minute)
    wait = int(refused(limits)[b"retry-after"])
    assert 1 <= wait <= WINDOW_SECONDS / per_minute + 1
    spend(limits, 1, now=float(wait))


def test_a_dear_row_takes_more_and_is_never_out_of_reach() -> None:
    limits = RateLimits(10, 64)
    limits.take("key", 8, 0.0)
    refused(limits, cost=5)
    with_small_bucket = RateLimits(3, 64)
    with_small_bucket.take("key", 5, 0.0)
    wait = int(refused(with_small_bucket, cost=5)[b"retry-after"])
    with_small_bucket.take("key", 5, float(wait))


def test_credentials_do_not_share() -> None:
    limits = RateLimits(1, 64)
    spend(limits, 1)
    spend(limits, 1, who="other")
    refused(limits)


def test_no_limit_has_no_headers() -> None:
    limits = RateLimits(0, 64)
    spend(limits, 10_000)
    assert limits.headers(limits.take("key", 1, 0.0)) == []


def test_a_refusal_for_too_many_at_once_costs_nothing() -> None:
    limits = RateLimits(5, 1)
    allowance = limits.take("key", 1, 0.0)
    before = allowance.tokens
    refused(limits)
    assert (allowance.tokens, limits.running) == (before, 1)


def test_idle_credentials_are_forgotten_and_busy_ones_are_not() -> None:
    limits, late = RateLimits(5, 64), WINDOW_SECONDS + 1.0
    busy, idle = (limits.take(who, 1, 0.0) for who in ("busy", "idle"))
    idle.running -= 1
    for number in range(MAX_TRACKED - 3):
        spend(limits, 1, who=f"other{number}")
    spend(limits, 5, now=WINDOW_SECONDS - 1.0)
    spend(limits, 1, now=late, who="one too many")
    assert limits.take("idle", 1, late) is not idle
    assert limits.take("busy", 1, late) is busy
    assert busy.running == 2
    refused(limits, now=late)  # what it spent has not come back


def test_another_limit_holds_from_the_next_request_on() -> None:
    limits = RateLimits(5, 1)
    spend(limits, 5)
    refused(limits)
    limits.change(5, 2)  # the rate is the same: what was spent stays spent
    refused(limits)
    limits.change(7, 2)
    spend(limits, 7)
    refused(limits)
    limits.change(0, 2)
    spend(limits, 100)
    limits.change(3, 1)
    spend(limits, 3)
    refused(limits)


def test_another_bound_on_requests_at_once_holds_from_the_next_on() -> None:
    limits = RateLimits(0, 1)
    limits.take("key", 1, 0.0)
    refused(limits)
    limits.change(0, 2)
    limits.take("key", 1, 0.0)
    limits.change(0, 1)
    refused(limits)
    assert limits.running == 2
