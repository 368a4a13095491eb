"""The circuit breaker and the queue: pure state, moved by the test's own clock."""

import pytest

from gatewayd.tax.authority.rate_limit import (
    AUTHORITY_INTERVAL_SECONDS,
    FAILURES_MAX,
    OPEN_SECONDS,
    QUEUE_SECONDS,
    Breaker,
    RateLimit,
    Turn,
)


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


def nothing() -> None:
    pass


def entered(limit: RateLimit, now: float, *org_ids: str) -> list[Turn]:
    turns = [limit.enter(org_id, now, nothing) for org_id in org_ids]
    assert None not in turns
    return [turn for turn in turns if turn is not None]


def given_at(limit: RateLimit, turn: Turn, until: float) -> float | None:
    """When a turn was given, the instants being those at which the limit says that there is one to give."""
    while turn.granted is None:
        at = limit.next_at(turn.org_id)
        assert at <= until
        limit.advance(turn.org_id, at)
        if turn.granted:
            return at
    return None


def test_calls_are_spread_and_the_queue_is_short() -> None:
    limit = RateLimit(0.5)
    first, *turns = entered(limit, 10.0, *["a"] * 5)
    assert first.granted
    assert limit.enter("a", 10.0, nothing) is None
    assert limit.wait_seconds("a", 10.0) == 2.5
    assert [given_at(limit, turn, 12.0) for turn in turns] == [10.5, 11.0, 11.5, 12.0]
    assert entered(limit, 100.0, "a")[0].granted


def test_the_authoritys_own_interval_fills_the_queue_at_any_instant() -> None:
    """Six thirds of a second are two seconds, wherever the clock stands."""
    for now in (0.0, 1234.567, 987_654.321):
        limit = RateLimit(AUTHORITY_INTERVAL_SECONDS)
        _, *turns = entered(limit, now, *["a"] * 7)
        assert limit.enter("a", now, nothing) is None
        waits = [(given_at(limit, turn, now + 3) or now) - now for turn in turns]
        assert waits == pytest.approx([number / 3 for number in range(1, 7)], abs=1e-6)


def test_without_an_interval_only_a_hold_makes_wait() -> None:
    limit = RateLimit(0.0)
    assert [turn.granted for turn in entered(limit, 1.0, "a", "a", "a")] == [True] * 3
    limit.hold("a", 1.0, 1.5)
    [turn] = entered(limit, 1.0, "a")
    [later] = entered(limit, 2.0, "a")
    assert (given_at(limit, turn, 3.0), later.granted, entered(limit, 2.5, "a")[0].granted) == (2.5, True, True)


@pytest.mark.parametrize("seconds", [5.0, 3600.0, float("inf")])
def test_a_long_hold_is_as_long_as_the_queue(seconds: float) -> None:
    limit = RateLimit(0.0)
    limit.hold("a", 0.0, seconds)
    [turn] = entered(limit, 0.0, "a")
    assert given_at(limit, turn, 100.0) == QUEUE_SECONDS


def test_organizations_take_turns_and_share_a_full_queue() -> None:
    """Of two that fill the queue each has its half of it, and each second turn."""
    limit = RateLimit(0.5)
    _, *greedy = entered(limit, 0.0, *["a"] * 5)
    modest = entered(limit, 0.0, "b", "b")
    assert limit.enter("b", 0.0, nothing) is None
    assert [turn.granted for turn in greedy] == [None, None, False, False]
    assert [given_at(limit, turn, 2.0) for turn in (greedy[0], modest[0], greedy[1], modest[1])] == [0.5, 1, 1.5, 2]


def test_who_asks_without_end_delays_another_by_one_turn() -> None:
    limit = RateLimit(1 / 3)
    now = 0.0
    for _ in range(60):
        while limit.enter("greedy", now, nothing) is not None:
            pass
        [turn] = entered(limit, now, "modest")
        at = given_at(limit, turn, now + 1)
        assert at is not None
        assert at - now <= 2 / 3 + 1e-6
        now = at


def test_more_organizations_than_there_is_room_for_have_one_turn_each() -> None:
    limit = RateLimit(0.5)
    _, *turns = entered(limit, 0.0, "a", "b", "c", "d", "e")
    assert limit.enter("f", 0.0, nothing) is None
    assert [given_at(limit, turn, 2.0) for turn in turns] == [0.5, 1, 1.5, 2]


def test_a_hold_of_a_limit_that_nobody_knows_is_of_who_met_it() -> None:
    limit = RateLimit(0.0)
    limit.hold("a", 0.0, 2.0)
    assert [turn.granted for turn in entered(limit, 0.0, "a", "b")] == [None, True]
    known = RateLimit(0.5)
    known.hold("a", 0.0, 2.0)
    assert [turn.granted for turn in entered(known, 0.0, "b")] == [None]


def test_what_a_hold_makes_too_late_is_refused_at_once() -> None:
    limit = RateLimit(0.5)
    _, waiting = entered(limit, 0.0, "a", "a")
    limit.hold("b", 0.4, 1.5)
    limit.advance("a", 0.4)
    assert waiting.granted is None
    limit.hold("b", 1.0, 2.0)
    limit.advance("a", 1.0)
    assert waiting.granted is False


def test_who_goes_leaves_the_place_to_others() -> None:
    limit = RateLimit(0.5)
    _, first, second = entered(limit, 0.0, "a", "a", "b")
    limit.leave(first)
    limit.leave(first.__class__("a", 0.0, nothing, granted=True))
    assert given_at(limit, second, 2.0) == 0.5


def test_lines_that_are_over_are_forgotten() -> None:
    limit = RateLimit(0.0)
    for number in range(1_000):
        limit.hold(f"org_{number}", number * 10.0, 1.0)
    assert len(limit._lines) <= 2
