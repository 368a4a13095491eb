"""A refresh token works once: whatever becomes of the call that needed it, what it was spent for is kept."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast
from urllib.parse import parse_qs

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gatewayd.areas.legal_entities import operations
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.leases import rows
from gatewayd.leases.holder import RENEW_SECONDS, Holder
from gatewayd.leases.rows import LEASE_SECONDS
from gatewayd.store import ReadTx, Store, StoreFailure, WriteTx
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.bearer_tokens import (
    EXCHANGE_SECONDS,
    STORE_AGAIN_SECONDS_MAX,
    WAIT_SECONDS,
    BearerTokens,
    RefreshLeases,
)
from gatewayd.tax.connections.connections import Connection, Tokens
from gatewayd.tax.connections.token_endpoint import TokenEndpoint
from tests.support.engines import TaxLog
from tests.support.store import MemoryStore, make_caller

T = TypeVar("T")
SLOW = 5.0  # longer than the calls here wait, shorter than a refresh may last


class Records:
    """A `MemoryStore` as an engine sees the store: the mock clock does not wait for its threads."""

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory
        self.full = False  # nothing can be written

    def now(self) -> int:
        return self.memory.now()

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        await trio.lowlevel.checkpoint()
        return self.memory.read(work, org_id)

    async def write(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        await trio.lowlevel.checkpoint()
        if self.full:
            raise StoreFailure("the disk is full")
        return self.memory.write(work, org_id)


@dataclass
class Endpoint:
    """A token endpoint that takes its time, and takes each refresh token once."""

    seconds: float
    spent: list[str] = field(default_factory=list)
    fails: bool = False
    spending: Callable[[], None] = lambda: None
    held: trio.Event | None = None
    """What the next request waits for before it is heard."""
    asked: int = 0

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        held, self.held = self.held, None
        if held is not None:
            await held.wait()
        if self.fails:
            await trio.sleep(self.seconds)
            raise LookupError("a fault of ours")
        form = parse_qs(request.body.decode())
        (token,) = form["refresh_token"]
        self.asked += 1
        if token in self.spent:
            return Response(400, [], b'{"error":"invalid_grant"}')
        self.spent.append(token)
        number = len(self.spent) + 1
        self.spending()
        await trio.sleep(self.seconds)
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
    records: Records

    def process(self, nursery: trio.Nursery) -> BearerTokens:
        """The tokens as one process has them."""
        return self.daemon(nursery, self.records)

    def daemon(self, nursery: trio.Nursery, records: Records) -> BearerTokens:
        """The same with a way to the store of its own."""
        holder = Holder(cast(Store, records))
        nursery.start_soon(holder.run)
        endpoint = TokenEndpoint(self.endpoint, "app", lambda: "secret", self.log)
        return BearerTokens(records, endpoint, RefreshLeases(holder), self.log, nursery)

    def leases(self) -> int:
        """How many there are."""
        return int(self.store.read(lambda tx: tx.value("SELECT count(*) FROM leases")))

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
    records = Records(store)
    token_endpoint = TokenEndpoint(endpoint, "app", lambda: "secret", log)
    bearers = BearerTokens(records, token_endpoint, RefreshLeases(Holder(cast(Store, records))), log, nursery)
    return House(store, org_id, endpoint, bearers, log, records)


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


async def test_a_slow_answer_bounds_those_who_wait_and_not_the_exchange(
    house: House, autojump_clock: MockClock
) -> None:
    """The token may be spent already: to cut the exchange off would lose what it was spent for."""
    house.endpoint.seconds = 60
    began = trio.current_time()
    with pytest.raises(Problem) as caught:
        await house.bearers.refresh(house.org_id, house.kept())
    assert (caught.value.code, trio.current_time() - began) == ("tax_upstream_timeout", WAIT_SECONDS)
    assert house.kept().refresh == "refresh-1"
    await trio.sleep_until(began + 61)
    assert (house.kept().access, house.kept().refresh) == ("access-2", "refresh-2")
    assert house.endpoint.spent == ["refresh-1"]


async def test_an_exchange_that_hangs_is_given_up_in_the_end(house: House, autojump_clock: MockClock) -> None:
    house.endpoint.seconds = 3600
    began = trio.current_time()
    for _ in range(2):  # the second one waits for the same exchange
        with pytest.raises(Problem):
            await house.bearers.refresh(house.org_id, house.kept())
    assert house.endpoint.spent == ["refresh-1"]
    await trio.sleep_until(began + EXCHANGE_SECONDS + 1)
    house.endpoint.seconds, house.endpoint.spent = 0, []
    found = await house.bearers.refresh(house.org_id, house.kept())
    assert found is not None
    assert house.endpoint.spent == ["refresh-1"]


async def test_the_end_of_the_daemon_waits_for_an_exchange_so_long_and_no_longer(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house.endpoint.seconds = 3600
    with trio.move_on_after(1):
        await house.bearers.refresh(house.org_id, house.kept())
    began = trio.current_time()
    house.bearers.finish()
    with trio.fail_after(2 * WAIT_SECONDS):
        while not (nursery.cancel_scope.cancel_called or not nursery.child_tasks):
            await trio.sleep(1)
    assert trio.current_time() - began <= WAIT_SECONDS + 1


# -- a store that cannot write


async def test_where_nothing_can_be_written_no_token_is_spent(house: House, autojump_clock: MockClock) -> None:
    house.records.full = True
    with pytest.raises(StoreFailure):
        await house.bearers.refresh(house.org_id, house.kept())
    assert house.endpoint.spent == []
    house.records.full = False
    found = await house.bearers.refresh(house.org_id, house.kept())
    assert found is not None
    assert found.access == "access-2"


async def unstored(house: House) -> Connection:
    """The connection after a refresh whose tokens could not be stored."""

    def fill() -> None:
        house.records.full = True

    house.endpoint.spending = fill
    found = await house.bearers.refresh(house.org_id, house.kept())
    assert found is not None
    assert (found.access, house.kept().access) == ("access-2", "access-1")
    assert house.log.error_events == ["tax_tokens_not_stored"]
    house.endpoint.spending = lambda: None
    return found


async def test_tokens_that_cannot_be_stored_are_served_and_stored_later(
    house: House, autojump_clock: MockClock
) -> None:
    found = await unstored(house)
    await trio.sleep(600)
    assert await house.bearers.find(house.org_id, None) == found
    assert house.kept().access == "access-1"
    house.records.full = False
    await trio.sleep(STORE_AGAIN_SECONDS_MAX + 1)
    assert house.kept() == found
    assert await house.bearers.find(house.org_id, None) == found
    assert house.endpoint.spent == ["refresh-1"]
    assert [event for event, _ in house.log.infos] == ["tax_tokens_stored"]


async def test_what_is_remembered_is_refreshed_once_it_can_be_stored(house: House, autojump_clock: MockClock) -> None:
    found = await unstored(house)
    with pytest.raises(StoreFailure):
        await house.bearers.refresh(house.org_id, found)
    assert house.endpoint.spent == ["refresh-1"]
    house.records.full = False
    third = await house.bearers.refresh(house.org_id, found)
    assert third is not None
    assert (third.access, house.endpoint.spent) == ("access-3", ["refresh-1", "refresh-2"])
    assert house.kept() == third


async def test_what_a_person_connects_meanwhile_stays(house: House, autojump_clock: MockClock) -> None:
    await unstored(house)
    theirs = Tokens("theirs", "theirs-r", "", None)
    house.store.write(lambda tx: connections.save(tx, theirs, "usr_ann"), house.org_id)
    for _ in range(2):
        current = await house.bearers.find(house.org_id, None)
        assert current is not None
        assert (current.access, house.kept().access) == ("theirs", "theirs")
        house.records.full = False
        await trio.sleep(STORE_AGAIN_SECONDS_MAX)


async def test_the_end_of_the_daemon_tries_once_more(house: House, autojump_clock: MockClock) -> None:
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            house.bearers.finish()
            house.bearers = house.process(nursery)
            await unstored(house)
            house.records.full = False
            nursery.cancel_scope.cancel()
    assert house.kept().access == "access-2"


async def test_each_entity_has_a_refresh_of_its_own(house: House, autojump_clock: MockClock) -> None:
    request = CreateLegalEntity(name="Oak", type="limited_company", company_number="01234567")
    made = house.store.write(
        lambda tx: operations.create_legal_entity(tx, make_caller(house.org_id), request), house.org_id
    )
    own = Tokens("own-1", "own-r", "", None)
    house.store.write(lambda tx: connections.save(tx, own, "operator", made.id), house.org_id)
    before = house.store.read(lambda tx: connections.find(tx, made.id), house.org_id)
    assert before is not None
    async with trio.open_nursery() as both:
        both.start_soon(house.bearers.refresh, house.org_id, house.kept())
        both.start_soon(house.bearers.refresh, house.org_id, before)
    after = await house.bearers.find(house.org_id, made.id)
    assert after is not None
    assert after.access != house.kept().access
    assert sorted(house.endpoint.spent) == ["own-r", "refresh-1"]


# -- a command beside the daemon


async def test_of_two_processes_one_spends_the_token_and_both_have_what_came_for_it(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    command, found = house.process(nursery), []

    async def refresh(bearers: BearerTokens) -> None:
        found.append(await bearers.refresh(house.org_id, house.kept()))

    async with trio.open_nursery() as both:
        for bearers in (house.bearers, command):
            both.start_soon(refresh, bearers)
    assert found == [house.kept()] * 2
    assert (house.kept().access, house.endpoint.spent) == ("access-2", ["refresh-1"])
    third = await command.refresh(house.org_id, house.kept())  # whoever had it has let it go
    assert third is not None
    assert (third.access, house.endpoint.spent) == ("access-3", ["refresh-1", "refresh-2"])


async def test_what_one_process_could_not_store_no_other_spends(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    granted, command = await unstored(house), house.process(nursery)
    with pytest.raises(Problem) as caught:
        await command.refresh(house.org_id, house.kept())
    assert (caught.value.code, house.endpoint.spent) == ("tax_upstream_timeout", ["refresh-1"])
    await trio.testing.wait_all_tasks_blocked()  # both waits end in the same instant
    house.records.full = False
    assert await command.refresh(house.org_id, house.kept()) == granted
    assert house.endpoint.spent == ["refresh-1"]


async def test_a_refresh_that_fails_keeps_nobody_from_another(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    house.endpoint.fails = True
    with pytest.raises(LookupError):
        await house.bearers.refresh(house.org_id, house.kept())
    house.endpoint.fails = False
    found = await house.process(nursery).refresh(house.org_id, house.kept())
    assert found is not None
    assert found.access == "access-2"


async def test_of_two_daemons_the_one_that_can_write_waits_for_what_the_other_cannot_store(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """The first one is cut off from the database when it has spent the token. The second one does not spend it while
    the first one's lease lasts. Past it nobody can know that the first one lives: the token is tried, and refused, and
    what the first one holds is stored over nothing, once it can be.
    """
    house.endpoint.seconds = 0
    cut_off = Records(house.store)
    first, second = house.daemon(nursery, cut_off), house.daemon(nursery, Records(house.store))

    def cut() -> None:
        cut_off.full = True

    house.endpoint.spending = cut
    granted = await first.refresh(house.org_id, house.kept())
    assert granted is not None
    assert (granted.access, house.kept().access) == ("access-2", "access-1")
    with pytest.raises(Problem, match="in time"):
        await second.refresh(house.org_id, house.kept())
    await trio.testing.wait_all_tasks_blocked()  # both waits end in the same instant
    assert (house.endpoint.asked, house.endpoint.spent) == (1, ["refresh-1"])
    house.store.clock.advance(round(LEASE_SECONDS * SECOND))
    assert await second.refresh(house.org_id, house.kept()) is None
    assert (house.endpoint.asked, house.kept().access) == (2, "access-1")
    assert await first.find(house.org_id, None) == granted
    cut_off.full = False
    await trio.sleep(STORE_AGAIN_SECONDS_MAX)
    assert await second.refresh(house.org_id, granted) is not None, "it has a token again that works"
    assert house.endpoint.spent == ["refresh-1", "refresh-2"]
    assert await first.find(house.org_id, None) == house.kept()


# -- a process that sleeps past its lease, or loses it otherwise


async def test_a_lease_is_renewed_for_as_long_as_an_exchange_takes(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    daemon, command = house.process(nursery), house.process(nursery)
    house.endpoint.seconds = 60
    nursery.start_soon(ask_too_long, daemon, house)
    for _ in range(4):
        await trio.sleep(RENEW_SECONDS + 1)
        house.store.clock.advance(round((RENEW_SECONDS + 1) * SECOND))
    with pytest.raises(Problem) as caught:
        await command.refresh(house.org_id, house.kept())
    assert (caught.value.code, house.endpoint.spent) == ("tax_upstream_timeout", ["refresh-1"])
    await trio.sleep(60)
    assert (house.kept().refresh, house.leases()) == ("refresh-2", 0)


async def ask_too_long(bearers: BearerTokens, house: House) -> None:
    with pytest.raises(Problem, match="in time"):
        await bearers.refresh(house.org_id, house.kept())


async def begun(house: House, nursery: trio.Nursery, found: list[Connection | None]) -> BearerTokens:
    """A process that sleeps in the midst of a refresh, past its lease; answers another one."""

    async def refresh() -> None:
        found.append(await house.bearers.refresh(house.org_id, house.kept()))

    nursery.start_soon(refresh)
    await trio.testing.wait_all_tasks_blocked()
    assert house.leases() == 1
    house.store.clock.advance(round(LEASE_SECONDS * SECOND))
    return house.process(nursery)


async def test_what_a_sleeper_was_granted_is_kept_where_the_token_was_refused_to_another(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    found: list[Connection | None] = []
    other = await begun(house, nursery, found)
    assert await other.refresh(house.org_id, house.kept()) is None
    await trio.sleep(SLOW + 1)
    assert (house.kept().refresh, found) == ("refresh-2", [house.kept()])
    assert house.leases() == 0


async def test_a_sleeper_that_spends_what_was_spent_is_given_what_came_for_it(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    found: list[Connection | None] = []
    held = house.endpoint.held = trio.Event()
    other = await begun(house, nursery, found)
    assert house.endpoint.spent == []
    renewed = await other.refresh(house.org_id, house.kept())
    held.set()
    await trio.sleep(SLOW + 1)
    assert renewed is not None
    assert (renewed.access, house.endpoint.spent, found) == ("access-2", ["refresh-1"], [renewed])
    assert house.kept() == renewed


async def test_a_sleeper_stores_nothing_over_newer_tokens(
    house: House, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """An authority that takes the same token twice, for who lost the first answer."""
    found: list[Connection | None] = []
    other = await begun(house, nursery, found)
    house.endpoint.seconds, house.endpoint.spent = 0, ["forgotten", "forgotten"]
    renewed = await other.refresh(house.org_id, house.kept())
    assert renewed is not None
    assert renewed.access == "access-4"
    await trio.sleep(SLOW + 1)
    assert (house.kept(), found) == (renewed, [renewed])
    assert house.leases() == 0


async def test_who_loses_the_lease_before_the_token_is_spent_spends_nothing(
    house: House, autojump_clock: MockClock
) -> None:
    write = house.records.write

    async def taken_between(work: Callable[[WriteTx], T], org_id: str | None = None) -> T:
        if house.leases():
            house.store.clock.advance(round(LEASE_SECONDS * SECOND))
            house.store.write(lambda tx: rows.take(tx, "tax_refresh:", "other:1", LEASE_SECONDS), house.org_id)
        return await write(work, org_id)

    house.records.write = taken_between  # type: ignore[method-assign]
    with pytest.raises(Problem) as caught:
        await house.bearers.refresh(house.org_id, house.kept())
    assert (caught.value.code, house.endpoint.spent) == ("tax_upstream_timeout", [])
    assert (house.leases(), house.kept().access) == (1, "access-1")


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
            endpoint, log = Endpoint(SLOW), TaxLog()
            token_endpoint = TokenEndpoint(endpoint, "app", lambda: "secret", log)
            records = Records(store)
            leases = RefreshLeases(Holder(cast(Store, records)))
            bearers = BearerTokens(records, token_endpoint, leases, log, nursery)
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
