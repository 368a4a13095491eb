"""The last credits, spent by many at once; prices, plans and credits that come and go (Domain C8)."""

from collections import Counter
from typing import Any

import pytest
import trio

from gatewayd.clock import HOUR, Instant, from_wire
from gatewayd.following import reactions
from gatewayd.ledger.credits import booking
from gatewayd.money import Credits
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.http.metered import CALL, READ, ROWS, WRITE, Metered, OpenMetered, refused
from tests.support import purses
from tests.support.api import Body

# -- at once, and over time


async def test_no_more_is_spent_than_there_is_and_nobody_refused_who_could_pay(open_metered: OpenMetered) -> None:
    """32 callers, three kinds of rows, the last credits: each of 100 that can be paid for is done, exactly."""
    answers: Counter[tuple[str, int]] = Counter()

    async def spend(box: Metered, first: int) -> None:
        for turn in range(8):
            path = (READ, WRITE, CALL)[(first + turn) % 3]
            answers[(path, (await box.send(path)).status)] += 1

    async with open_metered() as box:
        for name in ROWS.values():
            await box.price(name, 7)
        await box.grant(7 * 100 + 6)
        async with trio.open_nursery() as nursery:
            for number in range(32):
                nursery.start_soon(spend, box, number)
        charged = Counter(name for name, _ in await box.charged())
        assert {path: answers[(path, 200)] for path in ROWS} == {path: charged[name] for path, name in ROWS.items()}
        assert sum(charged.values()) == 100
        assert {status for _, status in answers} == {200, 402}
        assert (await box.balance(), await box.held()) == (6, 0)


async def test_a_price_is_that_of_the_instant(box: Metered) -> None:
    midnight = from_wire("2026-11-21T00:00:00Z")
    await box.price("probe.read", 5, days=1)
    await box.grant(5)
    box.api.clock.advance(midnight - box.api.store.now() - 1)
    assert (await box.send(READ)).status == 200
    assert await box.charged() == []
    box.api.clock.advance(1)
    assert (await box.send(READ)).status == 200
    assert await box.charged() == [("probe.read", 5)]


async def test_a_plan_or_price_that_another_process_sets_counts_from_the_next_call(box: Metered) -> None:
    directory = box.api.store.directory
    assert (await box.send(READ)).status == 200
    async with open_store(StoreSettings(directory=directory), box.api.clock, reactions=reactions) as other:
        await other.write(lambda tx: purses.price(tx, "probe.read", 5))
        assert refused(await box.send(READ))
        await other.write(lambda tx: purses.grant(tx, 5), "org_a")
        assert (await box.send(READ)).status == 200
        await other.write(lambda tx: booking.change_plan(tx, None), "org_a")
    assert (await box.send(READ)).status == 200
    assert await box.charged() == [("probe.read", 5)]


@pytest.mark.parametrize("path", ROWS)
async def test_what_a_plan_includes_is_there_from_the_first_moment_of_the_month(box: Metered, path: str) -> None:
    await box.api.store.write(lambda tx: purses.put_on_plan(tx, included_credits=Credits(5)), "org_a")
    await box.price(ROWS[path], 5)
    begins = from_wire("2026-12-20T00:00:00Z")
    assert [(await box.send(path)).status for _ in range(2)] == [200, 402]
    box.api.clock.advance(begins - box.api.store.now() - 1)
    assert refused(await box.send(path))
    box.api.clock.advance(1)
    assert [(await box.send(path)).status for _ in range(2)] == [200, 402]


@pytest.mark.parametrize("path", ROWS)
async def test_credits_that_have_expired_pay_for_nothing(box: Metered, path: str) -> None:
    await box.price(ROWS[path], 5)
    ends = Instant(box.api.store.now() + HOUR)
    await box.api.store.write(lambda tx: purses.grant(tx, 10, ends), "org_a")
    box.api.clock.advance(HOUR - 1)
    assert (await box.send(path)).status == 200
    box.api.clock.advance(1)
    assert refused(await box.send(path))
    assert await box.charged() == [(ROWS[path], 5)]


@pytest.mark.parametrize("path", ROWS)
async def test_a_plan_with_a_soft_limit_refuses_nobody_and_counts(box: Metered, path: str) -> None:
    await box.api.store.write(lambda tx: purses.put_on_plan(tx, soft_limit=True), "org_a")
    await box.price(ROWS[path], 5)
    assert (await box.send(path)).status == 200
    assert (await box.charged(), await box.balance()) == ([(ROWS[path], 5)], -5)


async def test_whose_body_is_slow_is_charged_all_the_same(box: Metered, mock_clock: trio.testing.MockClock) -> None:
    class Slow(Body):
        async def receive(self) -> dict[str, Any]:
            mock_clock.jump(1)
            return await super().receive()

    await box.price("probe.write", 5)
    await box.grant(5)
    body = Slow(b'{"word":"w"}')
    reply = await box.api("POST", WRITE, body=body, headers=[(b"content-type", b"application/json")])
    assert reply.status == 200
    assert len(box.api.authenticator.asked) == 2
    assert await box.charged() == [("probe.write", 5)]
