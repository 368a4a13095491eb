"""Places that are shared out: nobody takes all, the last is kept, and those who wait take turns."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gatewayd.errors import Problem
from gatewayd.shares import OWN, RETRY_SECONDS, Count, Holder, Shares


async def take(shares: Shares, given: list[str], org_id: str, over: trio.Event) -> None:
    async with shares.place(org_id):
        given.append(org_id)
        await over.wait()


@pytest.mark.parametrize(
    ("held", "allowed"),
    [
        ({}, {"a", "b"}),
        ({"a": 3}, {"a", "b"}),
        ({"a": 4}, {"b"}),  # its share
        ({"a": 4, "b": 2}, {"b", "c"}),
        ({"a": 4, "b": 3}, {"c"}),  # the last is for who has none
        ({"a": 4, "b": 3, "c": 1}, set()),
    ],
)
def test_who_may_take_one_of_eight(held: dict[str, int], allowed: set[str]) -> None:
    count = Count(8, 4, held)
    assert {one for one in "abc" if count.allows(one)} >= allowed
    assert {one for one in held if count.allows(one)} == allowed & held.keys()
    assert count.allows("d") == bool(allowed)


def test_of_two_places_one_is_kept_and_a_single_one_is_anybodys() -> None:
    assert [Count(2, 1, {"a": 1}).allows(one) for one in "ab"] == [False, True]
    assert [Shares("things", 1).count.allows(one) for one in "ab"] == [True, True]
    assert Shares("things", 3, share=2).count.allows("a")


async def test_a_place_is_given_back_also_by_who_fails() -> None:
    shares = Shares("things", 2)

    async def fail() -> None:
        async with shares.place("a"):
            assert shares.count.held == {"a": 1}
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await fail()
    assert (shares.count.held, shares.waiting) == ({}, 0)


async def test_what_is_done_for_no_organization_counts_as_one_of_its_own() -> None:
    shares = Shares("things", 4)
    async with shares.place(None):
        assert shares.holders(5) == [Holder(OWN, 1, 0)]


async def test_who_has_its_share_waits_and_the_others_do_not(nursery: trio.Nursery) -> None:
    shares, given = Shares("things", 4), list[str]()
    over = trio.Event()
    for _ in range(64):
        nursery.start_soon(take, shares, given, "greedy", over)
    await wait_all_tasks_blocked()
    assert given == ["greedy"] * 2
    for org_id in ("b", "c"):
        async with shares.place(org_id):
            assert shares.count.of(org_id) == 1
    assert shares.holders(1) == [Holder("greedy", 2, 62)]
    over.set()
    await wait_all_tasks_blocked()
    assert (len(given), shares.count.held, shares.waiting) == (64, {}, 0)


async def test_those_who_wait_take_turns_whoever_holds_least_first(nursery: trio.Nursery) -> None:
    shares, given = Shares("things", 3, share=2), list[str]()
    over = {org_id: trio.Event() for org_id in "abcd"}
    for org_id in ("a", "a", "b", "a", "a", "c", "c", "d"):
        nursery.start_soon(take, shares, given, org_id, over[org_id])
        await wait_all_tasks_blocked()
    assert given == ["a", "a", "b"]
    over["b"].set()
    await wait_all_tasks_blocked()
    assert given[3:] == ["c"]
    over["c"].set()
    await wait_all_tasks_blocked()
    assert given[4:] == ["d"]  # c has had a turn; its second is next
    over["d"].set()
    await wait_all_tasks_blocked()
    assert given[5:] == ["c"]
    over["a"].set()
    await wait_all_tasks_blocked()
    assert given[6:] == ["a", "a"]
    assert shares.count.held == {}


@pytest.mark.parametrize(
    ("held", "code", "said"),
    [
        (["a", "a", "b"], "rate_limited", "Your organization has 2 things under way, which is its share. Try again."),
        (["b", "b", "c", "d"], "unavailable", "As many things are under way as there may be. Try again."),
    ],
)
async def test_who_waited_too_long_is_told_why(
    autojump_clock: MockClock, held: list[str], code: str, said: str
) -> None:
    shares = Shares("things", 4, wait_seconds=10)
    async with AsyncExitStack() as places:
        for org_id in held:
            await places.enter_async_context(shares.place(org_id))
        began = trio.current_time()
        with pytest.raises(Problem) as refused:
            async with shares.place("a"):
                raise AssertionError("it got one")
        assert trio.current_time() - began == 10
        assert (refused.value.code, refused.value.message) == (code, said)
        assert refused.value.headers == ((b"retry-after", b"%d" % RETRY_SECONDS),)
        assert (shares.refused, shares.waiting) == (1, 0)
    assert shares.count.held == {}


@pytest.mark.parametrize("given_too", [False, True])
async def test_who_goes_while_waiting_holds_nothing(given_too: bool) -> None:
    shares = Shares("things", 1)
    got: list[str] = []
    async with trio.open_nursery() as nursery:
        holding = await nursery.start(_hold, shares)
        with trio.CancelScope() as scope:
            nursery.start_soon(_cancel_in_a_turn, scope, holding.set if given_too else lambda: None)
            async with shares.place("b"):
                got.append("b")
        await wait_all_tasks_blocked()
        assert (got, shares.waiting) == ([], 0)
        holding.set()
    assert shares.count.held == {}


async def _hold(shares: Shares, task_status: trio.TaskStatus[trio.Event]) -> None:
    over = trio.Event()
    async with shares.place("a"):
        task_status.started(over)
        await over.wait()


async def _cancel_in_a_turn(scope: trio.CancelScope, then: Callable[[], None]) -> None:
    """Cancels who waits, and before it has noticed lets it have the place."""
    await wait_all_tasks_blocked()
    scope.cancel()
    then()
