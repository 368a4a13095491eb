"""Token buckets and requests at once, on a clock that the test moves."""

import pytest
from trio.testing import MockClock

from gatewayd.errors import Problem
from gatewayd.http.rate_limits import MAX_TRACKED, WINDOW_SECONDS, RateLimits
from tests.http.conftest import OpenProbes
from tests.support.api import Reply, TestedApi


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


# -- on the wire


async def read(api: TestedApi, path: str = "/probe/read") -> Reply:
    return await api("GET", path, query={"word": "w"})


async def test_answers_tell_what_is_left(open_probes: OpenProbes, mock_clock: MockClock) -> None:
    async with open_probes(per_minute=60) as api:
        first = await read(api)
        assert first["ratelimit-policy"] == '"default";q=60;w=60'
        assert first["ratelimit"] == '"default";r=59;t=2'
        assert (await read(api, "/probe/dear"))["ratelimit"] == '"default";r=54;t=7'


async def test_past_the_limit_is_429_until_retry_after(open_probes: OpenProbes, mock_clock: MockClock) -> None:
    async with open_probes(per_minute=6) as api:
        for _ in range(6):
            assert (await read(api)).status == 200
        reply = await read(api)
        assert (reply.status, reply.code) == (429, "rate_limited")
        assert reply["ratelimit"].startswith('"default";r=0;')
        wait = int(reply["retry-after"])
        mock_clock.jump(wait - 2.0)
        assert (await read(api)).status == 429
        mock_clock.jump(2.0)
        assert (await read(api)).status == 200


async def test_who_is_not_known_is_not_counted(open_probes: OpenProbes) -> None:
    async with open_probes(per_minute=1) as api:
        for _ in range(3):
            reply = await api("GET", "/probe/read", token="unknown", query={"word": "w"})
            assert reply.status == 401
            assert "ratelimit" not in reply
