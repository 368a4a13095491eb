"""The circuit breaker and the queue: pure state, moved by the test's own clock."""

import pytest

from gatewayd.tax.breaker import FAILURES_MAX, OPEN_SECONDS, Breaker
from gatewayd.tax.rate_limit import QUEUE_SECONDS, RateLimit


def opened(at: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES_MAX):
        assert breaker.enter(at) == 0
        breaker.failed(at)
    return breaker


def test_it_opens_after_failures_in_a_row_only() -> None:
    breaker = Breaker()
    for _ in range(3):
        for _ in range(FAILURES_MAX - 1):
            breaker.failed(0)
        breaker.succeeded()
    assert not breaker.is_open
    assert opened().is_open


def test_open_it_refuses_and_says_for_how_long() -> None:
    breaker = opened(at=100.0)
    assert breaker.enter(100.0) == OPEN_SECONDS
    assert breaker.enter(104.0) == OPEN_SECONDS - 4


def test_half_open_one_probe_goes_through() -> None:
    breaker = opened()
    assert breaker.enter(OPEN_SECONDS) == 0
    assert breaker.enter(OPEN_SECONDS) > 0
    breaker.succeeded()
    assert not breaker.is_open
    assert [breaker.enter(OPEN_SECONDS) for _ in range(3)] == [0, 0, 0]


def test_a_failed_probe_opens_it_again() -> None:
    breaker = opened()
    assert breaker.enter(OPEN_SECONDS) == 0
    breaker.failed(OPEN_SECONDS + 3)
    assert breaker.enter(OPEN_SECONDS + 4) == OPEN_SECONDS - 1
    assert breaker.enter(2 * OPEN_SECONDS + 3) == 0


def test_a_probe_that_learns_nothing_makes_room_for_another() -> None:
    breaker = opened()
    assert breaker.enter(OPEN_SECONDS) == 0
    breaker.abandoned()
    assert breaker.is_open
    assert breaker.enter(OPEN_SECONDS) == 0


def test_calls_are_spread_and_the_queue_is_short() -> None:
    limit = RateLimit(0.5)
    assert [limit.reserve(10.0) for _ in range(6)] == [0, 0.5, 1.0, 1.5, 2.0, None]
    assert limit.wait_seconds(10.0) == 2.5
    assert limit.reserve(10.5) == QUEUE_SECONDS
    assert limit.reserve(100.0) == 0


def test_without_an_interval_only_a_hold_makes_wait() -> None:
    limit = RateLimit(0.0)
    assert [limit.reserve(1.0) for _ in range(3)] == [0, 0, 0]
    limit.hold(1.0, 1.5)
    assert [limit.reserve(1.0), limit.reserve(2.0), limit.reserve(2.5)] == [1.5, 0.5, 0]


@pytest.mark.parametrize("seconds", [5.0, 3600.0, float("inf")])
def test_a_long_hold_is_as_long_as_the_queue(seconds: float) -> None:
    limit = RateLimit(0.0)
    limit.hold(0.0, seconds)
    assert limit.reserve(0.0) == QUEUE_SECONDS
