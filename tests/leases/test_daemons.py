"""How many daemons live is known to each of them, and what is limited for all is never granted twice."""

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.http1.log import NoLog
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.leases import rows
from gatewayd.leases.daemons import KNOWN_SECONDS, LOOK_SECONDS, NOBODYS, USE_SECONDS, share_of
from gatewayd.leases.holder import Holder, open_holder
from gatewayd.leases.rows import LEASE_SECONDS
from gatewayd.oauth.rate_limit import NetworkRateLimit
from gatewayd.oauth.storage_budget import ROW_BYTES, StorageBudget
from gatewayd.store import Store, StoreFailure
from gatewayd.tax.authority.authority import RemoteAuthority
from gatewayd.tax.authority.rate_limit import AUTHORITY_INTERVAL_SECONDS, Breaker, RateLimit, interval_of_one
from tests.leases.records import Records, records_of
from tests.support.store import START

SETTLING = KNOWN_SECONDS + USE_SECONDS


@pytest.fixture
def records(database_image: bytes, autojump_clock: MockClock) -> Records:
    made = records_of(database_image, autojump_clock.current_time)
    made.is_shared = True
    return made


class Daemon:
    """A daemon that can be killed, with all of its `tasks`."""

    def __init__(self, records: Records, name: str) -> None:
        self.records, self.name = records, name
        self.holder: Holder
        self.tasks: trio.Nursery
        self._life = trio.CancelScope()

    async def run(self, task_status: trio.TaskStatus["Daemon"] = trio.TASK_STATUS_IGNORED) -> None:
        with self._life:
            holding = open_holder(cast(Store, self.records), f"daemon-{self.name}")
            async with holding as self.holder, trio.open_nursery() as self.tasks:
                task_status.started(self)
                try:
                    await trio.sleep_forever()
                finally:
                    self.holder._held.clear()  # killed, it gives nothing back

    def kill(self) -> None:
        self._life.cancel()

    @property
    def count(self) -> int:
        return self.holder.daemons.count


async def begun(records: Records, nursery: trio.Nursery, name: str) -> Daemon:
    daemon: Daemon = await nursery.start(Daemon(records, name).run)
    return daemon


async def test_who_is_alone_on_its_database_asks_nobody(autojump_clock: MockClock, records: Records) -> None:
    records.is_shared = False
    async with open_holder(cast(Store, records), "daemon-a") as holder:
        writes = records.writes
        await trio.sleep(10 * LEASE_SECONDS)
        assert (holder.daemons.count, await holder.daemons.wait_seconds()) == (1, 0.0)
        assert (records.writes, records.leases()) == (writes, [])


async def test_each_knows_of_the_others_within_seconds(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    told: list[int] = []
    first = await begun(records, nursery, "a")
    first.holder.daemons.tell(told.append)
    assert await first.holder.daemons.wait_seconds() == 0.0, "whoever comes later sees it"
    second, third = await begun(records, nursery, "b"), await begun(records, nursery, "c")
    assert (first.count, second.count, third.count) == (1, 2, 3)
    await trio.sleep(LOOK_SECONDS + 0.1)
    assert (first.count, second.count, third.count, told) == (3, 3, 3, [1, 3])
    await trio.sleep(10 * LEASE_SECONDS)
    assert (first.count, second.count, third.count, told) == (3, 3, 3, [1, 3])
    second.kill()
    await trio.sleep(LEASE_SECONDS + LOOK_SECONDS)
    assert (first.count, third.count, told) == (2, 2, [1, 3, 2])


async def test_one_that_ends_counts_no_more_at_once(autojump_clock: MockClock, records: Records) -> None:
    async with open_holder(cast(Store, records), "daemon-a") as holder:
        async with open_holder(cast(Store, records), "daemon-b"):
            await trio.sleep(LOOK_SECONDS + 0.1)
            assert holder.daemons.count == 2
        await trio.sleep(LOOK_SECONDS + 0.1)
        assert holder.daemons.count == 1


async def test_who_comes_waits_until_all_must_have_seen_it(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    await begun(records, nursery, "a")
    second = await begun(records, nursery, "b")
    assert await second.holder.daemons.wait_seconds() == SETTLING
    await trio.sleep(SETTLING)
    assert await second.holder.daemons.wait_seconds() == 0.0


async def test_one_whose_lease_ended_while_it_was_stopped_looks_first(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    """It wakes and knows of nobody: before it uses anything, it has a lease again and has waited."""
    holder, other = Holder(cast(Store, records), "daemon-a"), Holder(cast(Store, records), "daemon-b")
    await holder.daemons.join()
    await trio.sleep(LEASE_SECONDS)  # stopped: nothing of it runs
    await other.daemons.join()
    assert (holder.daemons.count, other.daemons.count) == (1, 1)
    assert await holder.daemons.wait_seconds() == SETTLING
    assert holder.daemons.count == 2
    await other.daemons.look()
    assert other.daemons.count == 2


async def test_where_the_store_cannot_be_asked_nobody_uses_what_it_knew(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    daemon = await begun(records, nursery, "a")
    records.gone = True
    await trio.sleep(KNOWN_SECONDS - 1)
    assert await daemon.holder.daemons.wait_seconds() == 0.0
    await trio.sleep(LOOK_SECONDS)
    with pytest.raises(StoreFailure):
        await daemon.holder.daemons.wait_seconds()
    records.gone = False
    await trio.sleep(LOOK_SECONDS)
    assert await daemon.holder.daemons.wait_seconds() == 0.0


async def test_one_that_could_not_join_at_its_start_joins_later(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    records.full = True
    daemon = await begun(records, nursery, "a")
    assert records.leases() == []
    with pytest.raises(StoreFailure):
        await daemon.holder.daemons.wait_seconds()
    records.full = False
    await trio.sleep(LOOK_SECONDS + 0.1)
    assert records.leases() == [f"daemon:{daemon.holder.id}"]


async def test_a_lease_that_somebody_dropped_is_taken_anew(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    """As by a daemon on a copy of its data directory, which takes it for one that was killed."""
    first = await begun(records, nursery, "a")
    second = await begun(records, nursery, "a")
    assert records.leases() == [f"daemon:{second.holder.id}"]
    await trio.sleep(LOOK_SECONDS + 0.1)
    await trio.sleep(LOOK_SECONDS + 0.1)
    assert (first.count, second.count) == (2, 2)
    await trio.sleep(10 * LEASE_SECONDS)
    assert (first.count, second.count) == (2, 2)


def test_what_lives_is_told_by_kind_and_by_the_end(records: Records) -> None:
    store = records.memory
    for subject in ("daemon:a", "daemon:b", "daemons:c", "import:d"):
        store.write(lambda tx, subject=subject: rows.take(tx, subject, subject, LEASE_SECONDS), NOBODYS)  # type: ignore[misc]
    store.write(lambda tx: rows.take(tx, "daemon:e", "e", 0), NOBODYS)
    store.write(lambda tx: rows.take(tx, "daemon:f", "f", LEASE_SECONDS), store.org())
    assert store.read(lambda tx: rows.living(tx, "daemon"), NOBODYS) == {"daemon:a", "daemon:b"}


# -- what is limited for all


@pytest.mark.parametrize("limit", [1, 7, 600])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 100])
def test_shares_are_no_more_than_the_limit_and_one_at_least(limit: int, count: int) -> None:
    share = share_of(limit, count)
    assert share >= 1
    assert share * count <= max(limit, count)


def test_what_a_network_may_do_without_a_credential_is_shared() -> None:
    """Of two daemons at once it gets as much as of one."""
    granted = 0
    for limit in (NetworkRateLimit(600), NetworkRateLimit(600)):
        limit.divide(2)
        for _ in range(600):
            try:
                limit.take("192.0.2.7", START)
            except OAuthFailure:
                break
            granted += 1
    assert granted == 600
    alone = NetworkRateLimit(2)
    alone.divide(2)
    alone.take("192.0.2.7", START)
    alone.divide(1)
    alone.take("192.0.2.7", START)
    with pytest.raises(OAuthFailure):
        alone.take("192.0.2.7", START)


@pytest.mark.parametrize("peers", [["192.0.2.7"], [f"192.0.2.{number}" for number in range(10)]])
def test_what_may_be_stored_without_a_credential_is_shared(peers: Sequence[str]) -> None:
    row = ROW_BYTES + 100
    budgets = [StorageBudget(per_network=10 * row, in_all=30 * row) for _ in range(3)]
    for budget in budgets:
        budget.divide(3)
        for peer in peers * 40:
            try:
                budget.charge(peer, 100, Instant(START))
            except OAuthFailure:
                continue
    assert sum(budget.stored for budget in budgets) <= (10 if len(peers) == 1 else 30) * row
    assert all(budget.stored >= 3 * row for budget in budgets)


@pytest.mark.parametrize(
    ("count", "seconds"), [(1, AUTHORITY_INTERVAL_SECONDS), (2, 1.0), (3, 1.0), (4, 4 / 3), (9, 3.0)]
)
def test_the_authoritys_three_a_second_among_daemons(count: int, seconds: float) -> None:
    assert interval_of_one(AUTHORITY_INTERVAL_SECONDS, count) == pytest.approx(seconds)
    assert interval_of_one(0.0, count) == 0.0
    assert interval_of_one(2.0, count) == 2.0 * count


class Upstream:
    """The authority, which counts."""

    def __init__(self) -> None:
        self.times: list[float] = []

    async def send(self, request: Request) -> Response:
        await trio.lowlevel.checkpoint()
        self.times.append(trio.current_time())
        return Response(200, ())

    def most_in_a_second(self) -> int:
        return max(sum(first <= each < first + 0.999 for each in self.times) for first in self.times)


async def test_the_authority_never_hears_more_than_its_limit(
    autojump_clock: MockClock, records: Records, nursery: trio.Nursery
) -> None:
    """Daemons come and are killed, each with more calls than it may send."""
    upstream = Upstream()

    async def ask(authority: RemoteAuthority, org_id: str) -> None:
        while True:
            with suppress(Problem):
                await authority.answer(Request("GET", "/", ()), org_id)
            await trio.sleep(0.05)

    async def calling(name: str) -> Daemon:
        daemon = await begun(records, nursery, name)
        limit = RateLimit(AUTHORITY_INTERVAL_SECONDS)
        daemon.holder.daemons.tell(limit.divide)
        settling = daemon.holder.daemons.wait_seconds
        authority = RemoteAuthority(upstream, limit, Breaker(), NoLog(), settling)
        for number in range(8):
            daemon.tasks.start_soon(ask, authority, f"org_{number}")
        return daemon

    await calling("a")
    await trio.sleep(10)
    alone = len(upstream.times)
    assert alone >= 29
    second = await calling("b")
    await trio.sleep(30)
    third = await calling("c")
    await trio.sleep(30)
    before = len(upstream.times)
    await trio.sleep(10)
    assert len(upstream.times) - before >= 28, "three daemons send as much as one"
    for daemon in (second, third):
        daemon.kill()
    await trio.sleep(LEASE_SECONDS + 10)
    assert upstream.most_in_a_second() == 3
    nursery.cancel_scope.cancel()
