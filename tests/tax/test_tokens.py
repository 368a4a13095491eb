"""A refresh token works once: whatever becomes of the call that needed it, what it was spent for is kept."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import parse_qs

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import ReadTx, WriteTx
from gatewayd.tax import connections
from gatewayd.tax.connections import Connection, Tokens
from gatewayd.tax.tokens import REFRESH_SECONDS, BearerTokens, TokenEndpoint
from tests.support.engines import TaxLog
from tests.support.store import MemoryStore

T = TypeVar("T")
SLOW = 5.0  # longer than the calls here wait, shorter than a refresh may last


class Records:
    """A `MemoryStore` as an engine sees the store: the mock clock does not wait for its threads."""

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory

    def now(self) -> int:
        return self.memory.now()

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        await trio.lowlevel.checkpoint()
        return self.memory.read(work, org_id)

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None) -> T:
        await trio.lowlevel.checkpoint()
        return self.memory.write(work, org_id)


@dataclass
class Endpoint:
    """A token endpoint that takes its time, and takes each refresh token once."""

    seconds: float
    spent: list[str] = field(default_factory=list)
    fails: bool = False

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        if self.fails:
            await trio.sleep(self.seconds)
            raise LookupError("a fault of ours")
        form = parse_qs(request.body.decode())
        (token,) = form["refresh_token"]
        if token in self.spent:
            return Response(400, [], b'{"error":"invalid_grant"}')
        self.spent.append(token)
        await trio.sleep(self.seconds)
        number = len(self.spent) + 1
        granted = {"access_token": f"access-{number}", "refresh_token": f"refresh-{number}", "expires_in": 14400}
        return Response(200, [], msgspec.json.encode(granted))


@dataclass
class House:
    """One connected organization."""

    store: MemoryStore
    org_id: str
    endpoint: Endpoint
    bearers: BearerTokens
    log: TaxLog

    def kept(self) -> Connection:
        found = self.store.read(connections.find, self.org_id)
        assert found is not None
        return found


@pytest.fixture
def house(store: MemoryStore, nursery: trio.Nursery) -> House:
    org_id = store.org()
    store.write(lambda tx: connections.save(tx, Tokens("access-1", "refresh-1", "", None), "operator"), org_id)
    endpoint = Endpoint(SLOW)
    log = TaxLog()
    bearers = BearerTokens(Records(store), TokenEndpoint(endpoint, "app", "secret"), log, nursery)
    return House(store, org_id, endpoint, bearers, log)


async def test_a_deadline_during_a_refresh_loses_nothing(house: House, autojump_clock: MockClock) -> None:
    began = trio.current_time()
    with trio.move_on_after(1) as call:
        await house.bearers.refresh(house.org_id, house.kept())
    assert call.cancelled_caught
    assert trio.current_time() - began == 1
    assert house.kept().access == "access-1"
    await trio.testing.wait_all_tasks_blocked()
    await trio.sleep_until(began + SLOW + 1)
    assert (house.kept().access, house.kept().refresh) == ("access-2", "refresh-2")


async def test_a_caller_who_goes_during_a_refresh_loses_nothing(house: House, autojump_clock: MockClock) -> None:
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.bearers.refresh, house.org_id, house.kept())
            await trio.sleep(1)
            nursery.cancel_scope.cancel()
    await trio.sleep(SLOW)
    assert house.kept().refresh == "refresh-2"
    house.endpoint.seconds = 0
    found = await house.bearers.refresh(house.org_id, house.kept())
    assert found is not None
    assert (found.access, found.refresh) == ("access-3", "refresh-3")


async def test_of_those_who_wait_each_may_go_and_the_others_get_what_was_granted(
    house: House, autojump_clock: MockClock
) -> None:
    before, found = house.kept(), []

    async def wait(seconds: float) -> None:
        with trio.move_on_after(seconds):
            found.append(await house.bearers.refresh(house.org_id, before))

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for seconds in (1.0, 2.0, 30.0, 30.0):
                nursery.start_soon(wait, seconds)
    assert [connection and connection.access for connection in found] == ["access-2", "access-2"]
    assert house.endpoint.spent == ["refresh-1"]


async def test_a_refresh_has_a_bound_of_its_own(house: House, autojump_clock: MockClock) -> None:
    house.endpoint.seconds = 3600
    began = trio.current_time()
    with pytest.raises(Problem) as caught:
        await house.bearers.refresh(house.org_id, house.kept())
    assert caught.value.code == "tax_upstream_timeout"
    assert trio.current_time() - began == REFRESH_SECONDS
    assert house.kept().refresh == "refresh-1"


async def test_who_has_gone_before_the_refresh_begins_spends_nothing(house: House, autojump_clock: MockClock) -> None:
    with trio.CancelScope() as gone:
        gone.cancel()
        await house.bearers.refresh(house.org_id, house.kept())
    assert house.endpoint.spent == []


async def test_the_end_of_the_engine_waits_for_a_refresh(store: MemoryStore, autojump_clock: MockClock) -> None:
    org_id = store.org()
    store.write(lambda tx: connections.save(tx, Tokens("access-1", "refresh-1", "", None), "operator"), org_id)
    with trio.move_on_after(1):
        async with trio.open_nursery() as nursery:
            bearers = BearerTokens(Records(store), TokenEndpoint(Endpoint(SLOW), "app", "secret"), TaxLog(), nursery)
            found = store.read(connections.find, org_id)
            assert found is not None
            await bearers.refresh(org_id, found)
    kept = store.read(connections.find, org_id)
    assert kept is not None
    assert kept.refresh == "refresh-2"


async def test_what_goes_wrong_is_told_to_each_who_waits_and_the_next_one_asks_anew(
    house: House, autojump_clock: MockClock
) -> None:
    house.endpoint.fails = True
    before, failures = house.kept(), []

    async def wait() -> None:
        try:
            await house.bearers.refresh(house.org_id, before)
        except LookupError as error:
            failures.append(error)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            nursery.start_soon(wait)
    assert len(failures) == 2
    assert house.log.events == ["tax_refresh_failed"]
    house.endpoint.fails = False
    found = await house.bearers.refresh(house.org_id, before)
    assert found is not None
    assert found.access == "access-2"
