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


def granted(limits: RateLimits, now: float = 0.0) -> int:
    """How many requests of one key are let in at an instant, each of which ends at once."""
    count = 0
    while True:
        try:
            spend(limits, 1, now)
        except Problem:
            return count
        count += 1


def test_two_daemons_grant_a_credential_as_much_as_one() -> None:
    both = RateLimits(601, 4), RateLimits(601, 4)
    for limits in both:
        limits.divide(2)
    assert [granted(limits) for limits in both] == [300, 300]
    assert [granted(limits, 30.0) for limits in both] == [150, 150]
    for limits in both:  # requests at once are each daemon's own
        for _ in range(4):
            limits.take("other", 1, 0.0)
        with pytest.raises(Problem, match="At most 4 requests at once"):
            limits.take("other", 1, 0.0)


def test_a_daemon_that_comes_or_goes_gives_nothing_anew() -> None:
    limits = RateLimits(60, 64)
    spend(limits, 50)
    limits.divide(2)
    assert granted(limits) == 10
    limits.divide(1)
    assert granted(limits) == 0
    assert granted(limits, 60.0) == 60
    limits.divide(3)
    assert granted(limits, 120.0) == 20


def test_a_share_is_one_at_least_and_no_limit_has_no_share() -> None:
    limits = RateLimits(2, 2)
    limits.divide(5)
    assert granted(limits) == 1
    without = RateLimits(0, 64)
    without.divide(5)
    spend(without, 1000)


def test_what_is_said_of_the_limit_is_the_share() -> None:
    limits = RateLimits(60, 64)
    allowance = limits.take("key", 1, 0.0)
    limits.divide(2)
    assert limits.headers(allowance) == [
        (b"ratelimit-policy", b'"default";q=30;w=60'),
        (b"ratelimit", b'"default";r=30;t=1'),
    ]
    limits.change(90, 64)
    assert limits.headers(limits.take("key", 1, 0.0))[1] == (b"ratelimit", b'"default";r=44;t=2')
