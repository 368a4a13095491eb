"""Rate limit, breaker and the wait for a 429 around a service, on virtual time."""

import itertools
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock

from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.outbound.errors import ConnectError
from gatewayd.tax.authority.authority import RemoteAuthority
from gatewayd.tax.authority.rate_limit import FAILURES_MAX, OPEN_SECONDS, Breaker, RateLimit
from tests.support.engines import TaxLog

ASK = Request("GET", "/x", [])
OK = Response(200, [], b"{}")


def busy(*fields: tuple[bytes, bytes]) -> Response:
    return Response(429, fields, b'{"code":"MESSAGE_THROTTLED_OUT"}')


@dataclass
class Service:
    """Answers what the script says; `at` are the instants at which it was asked."""

    script: list[Response | Exception | None]
    at: list[float] = field(default_factory=list)

    async def send(self, request: Request) -> Response:
        self.at.append(trio.current_time())
        said = self.script.pop(0) if self.script else OK
        if said is None:
            await trio.sleep_forever()
        if isinstance(said, Exception):
            raise said
        assert said is not None
        return said


def authority(service: Service, interval: float = 0.0) -> tuple[RemoteAuthority, TaxLog]:
    log = TaxLog()
    return RemoteAuthority(service, RateLimit(interval), Breaker(), log), log


async def test_a_429_is_waited_out_once(autojump_clock: MockClock) -> None:
    service = Service([busy((b"Retry-After", b"2"))])
    began = trio.current_time()
    assert await authority(service)[0].answer(ASK, "org") == OK
    assert [at - began for at in service.at] == [0, 2]


async def test_a_429_that_says_nothing_is_waited_out_for_a_second(autojump_clock: MockClock) -> None:
    service = Service([busy(), busy()])
    response = await authority(service)[0].answer(ASK, "org")
    assert service.at[1] - service.at[0] == 1
    assert (response.status, list(response.headers)) == (429, [(b"Retry-After", b"1")])


@pytest.mark.parametrize("wait", [b"3", b"3600", b"999999999", b"Fri, 20 Nov 2026 10:00:00 GMT", b"-1"])
async def test_a_429_with_a_longer_wait_is_passed_on(autojump_clock: MockClock, wait: bytes) -> None:
    service = Service([busy((b"retry-after", wait))])
    began = trio.current_time()
    assert await authority(service)[0].answer(ASK, "org") == busy((b"retry-after", wait))
    assert (len(service.at), trio.current_time()) == (1, began)


async def test_calls_are_spread_and_those_beyond_the_queue_refused(autojump_clock: MockClock) -> None:
    service = Service([])
    tested, _ = authority(service, 0.5)
    refused: list[Problem] = []

    async def call() -> None:
        try:
            await tested.answer(ASK, "org")
        except Problem as problem:
            refused.append(problem)

    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(7):
            nursery.start_soon(call)
    assert [at - began for at in service.at] == [0, 0.5, 1, 1.5, 2]
    assert [(problem.code, problem.headers) for problem in refused] == [("rate_limited", ((b"retry-after", b"3"),))] * 2


async def test_an_organization_that_fills_the_queue_starves_nobody(autojump_clock: MockClock) -> None:
    """Forty calls of one at the pace of HMRC, and those of another, one after the other: none is refused."""
    service = Service([])
    tested, _ = authority(service, 1 / 3)
    refused: list[str] = []

    async def flood() -> None:
        while True:
            try:
                await tested.answer(ASK, "greedy")
            except Problem as problem:
                refused.append(problem.code)
                await trio.sleep(0.01)

    async with trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(flood)
        await trio.sleep(1)
        for _ in range(10):
            began = trio.current_time()
            assert await tested.answer(ASK, "modest") == OK
            assert trio.current_time() - began <= 2 / 3 + 0.01
        assert set(refused) == {"rate_limited"}
        nursery.cancel_scope.cancel()
    assert all(later - one >= 1 / 3 - 1e-6 for one, later in itertools.pairwise(service.at))


async def test_who_goes_while_waiting_leaves_its_turn_to_the_next(autojump_clock: MockClock) -> None:
    service = Service([])
    tested, _ = authority(service, 1.0)
    began = trio.current_time()
    await tested.answer(ASK, "a")
    with trio.move_on_after(0.5):
        await tested.answer(ASK, "a")
    await tested.answer(ASK, "b")
    assert [at - began for at in service.at] == [0, 1]


async def test_after_failures_in_a_row_nobody_asks_until_a_probe(autojump_clock: MockClock) -> None:
    service = Service([ConnectError("down")] * FAILURES_MAX)
    tested, log = authority(service)
    codes = []
    for _ in range(FAILURES_MAX + 1):
        with pytest.raises(Problem) as caught:
            await tested.answer(ASK, "org")
        codes.append(caught.value.code)
    assert codes == ["tax_upstream_error"] * FAILURES_MAX + ["unavailable"]
    assert caught.value.headers == ((b"retry-after", b"10"),)
    assert log.events == ["tax_upstream_failed"] * FAILURES_MAX + ["tax_upstream_down"]
    await trio.sleep(OPEN_SECONDS)
    assert await tested.answer(ASK, "org") == OK
    assert len(service.at) == FAILURES_MAX + 1


async def test_deadlines_open_it_and_callers_that_go_do_not(autojump_clock: MockClock) -> None:
    service = Service([None] * 4 * FAILURES_MAX)
    tested, _ = authority(service)
    for _ in range(2 * FAILURES_MAX):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(tested.answer, ASK, "org")
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
    for _ in range(FAILURES_MAX):
        with trio.move_on_after(3) as deadline:
            await tested.answer(ASK, "org")
        assert deadline.cancelled_caught
    with pytest.raises(Problem, match="unavailable"):
        await tested.answer(ASK, "org")
