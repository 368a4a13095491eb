"""The local relay: each event once and none lost, whatever the order of the ids, and no way out to the public."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gatewayd.clock import MINUTE, SECOND, Instant
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.errors import AddressBlockedError
from gatewayd.store import ReadTx
from gatewayd.webhooks.feeds.relay import PAGE, REMEMBERED, EventFeed, LocalTransport
from tests.outbound.test_transport import FakeResolver
from tests.support.store import START, MemoryStore
from tests.support.subscribing import emit

T = TypeVar("T")

_INSERT = """
INSERT INTO events (id, org_id, kind, data, created_at) VALUES (:id, :org_id, 'lead.created', :data, :at)
"""


class FakeEventStore:
    """A `MemoryStore` with the two calls of the real store that a feed makes."""

    def __init__(self, memory: MemoryStore) -> None:
        self.memory = memory
        self.org_id = memory.org()
        self._woken = trio.Event()

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None) -> T:
        await trio.lowlevel.checkpoint()
        return self.memory.read(work, org_id)

    def topic(self, name: str) -> trio.Event:
        return self._woken

    def wake(self) -> None:
        self._woken.set()
        self._woken = trio.Event()

    def insert(self, *ids: str, at: int = START) -> None:
        """Events with ids of the test's choice."""
        for event_id in ids:
            self.memory.write(lambda tx: tx.run(_INSERT, id=event_id, data=b"{}", at=at), self.org_id)  # noqa: B023

    async def feed(self, since: Instant | None = None) -> EventFeed:
        feed = EventFeed(self, self.org_id)
        await feed.begin(since)
        return feed


@pytest.fixture
def events(store: MemoryStore) -> Iterator[FakeEventStore]:
    return FakeEventStore(store)


async def ids(feed: EventFeed) -> list[str]:
    """The ids of the next page."""
    with trio.fail_after(60):
        return [event.id for event in await feed.page()]


def numbered(numbers: Sequence[int]) -> list[str]:
    return [f"evt_{number:05d}" for number in numbers]


async def nothing_comes(feed: EventFeed) -> bool:
    with trio.move_on_after(1) as waited:
        await feed.page()
    return waited.cancelled_caught


async def test_what_is_there_already_is_seen(events: FakeEventStore, autojump_clock: MockClock) -> None:
    emit(events.memory, events.org_id, 3)
    feed = await events.feed()
    assert await nothing_comes(feed)
    emit(events.memory, events.org_id, 1, source="new")
    (event,) = await feed.page()
    assert b'"source":"new"' in event.data
    assert await nothing_comes(feed)


async def test_a_wait_ends_with_what_is_committed(events: FakeEventStore, autojump_clock: MockClock) -> None:
    feed = await events.feed()
    pages: list[list[str]] = []

    async def wait() -> None:
        pages.append(await ids(feed))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        events.wake()  # something else was committed
        await wait_all_tasks_blocked()
        events.insert("evt_1")
        events.wake()
    assert pages == [["evt_1"]]


async def test_a_page_is_all_that_is_held(events: FakeEventStore, autojump_clock: MockClock) -> None:
    feed = await events.feed()
    wanted = numbered(range(2 * PAGE + 1))
    events.insert(*wanted)
    pages = [await ids(feed) for _ in range(3)]
    assert [len(page) for page in pages] == [PAGE, PAGE, 1]
    assert [event_id for page in pages for event_id in page] == wanted
    assert await nothing_comes(feed)


async def test_an_id_that_comes_late_is_found(events: FakeEventStore, autojump_clock: MockClock) -> None:
    """Another process made it earlier, or its clock is behind."""
    events.insert(*numbered(range(10, 20)))
    feed = await events.feed()
    events.insert("evt_00030")
    assert await ids(feed) == ["evt_00030"]
    events.insert("evt_00025", "evt_00005")
    assert await ids(feed) == ["evt_00005", "evt_00025"]
    assert await nothing_comes(feed)


async def test_nothing_is_told_twice_once_it_is_forgotten(events: FakeEventStore, autojump_clock: MockClock) -> None:
    """A late id is forgotten after the newer one that was seen before it."""
    feed = await events.feed()
    for late in ("evt_00100", "evt_00050"):
        events.insert(late)
        assert await ids(feed) == [late]
    wanted = numbered(range(200, 200 + REMEMBERED))
    events.insert(*wanted)
    told: list[str] = []
    while len(told) < REMEMBERED:
        told += await ids(feed)
    assert told == wanted
    assert await nothing_comes(feed)


async def test_what_was_seen_and_deleted_makes_no_page_longer(
    events: FakeEventStore, autojump_clock: MockClock
) -> None:
    events.insert(*numbered(range(100)))
    feed = await events.feed()
    events.memory.write(lambda tx: tx.run("DELETE FROM events WHERE org_id = :org_id"), events.org_id)
    events.insert(*numbered(range(100, 200)))
    assert await ids(feed) == numbered(range(100, 100 + PAGE))


async def test_a_feed_since_an_instant_begins_with_its_first_event(
    events: FakeEventStore, autojump_clock: MockClock
) -> None:
    early, late = numbered(range(REMEMBERED + 10)), numbered(range(9000, 9003))
    events.insert(*early, at=START)
    events.insert(*late, at=START + MINUTE)
    assert await ids(await events.feed(Instant(START + SECOND))) == late
    assert await ids(await events.feed(Instant(START + MINUTE))) == late
    assert await ids(await events.feed(Instant(0))) == early[:PAGE]


async def test_another_organization_is_not_heard(events: FakeEventStore, autojump_clock: MockClock) -> None:
    feed = await events.feed()
    emit(events.memory, events.memory.org("Elm Ltd"))
    assert await nothing_comes(feed)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "fd12::1"])
async def test_local_addresses_may_receive(address: str) -> None:
    assert [str(one) for one in await LocalTransport().vetted(address, 80)] == [address]


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "169.254.169.254", "fd00:ec2::254", "0.0.0.0", "100.64.0.1", "fe80::1"]
)
async def test_other_addresses_may_not(address: str) -> None:
    with pytest.raises(AddressBlockedError):
        await LocalTransport().vetted(address, 80)


async def test_a_name_that_moves_away_is_refused_at_the_next_connection() -> None:
    transport = LocalTransport(resolve=FakeResolver(["192.168.1.7"], ["192.168.1.7", "93.184.216.34"]))
    assert await transport.vetted("receiver.test", 80)
    with pytest.raises(AddressBlockedError, match="neither this machine nor a private network"):
        await transport.vetted("receiver.test", 80)


async def test_the_operator_may_open_more() -> None:
    transport = LocalTransport(parse_networks(["100.64.0.0/10", "203.0.113.7"]))
    assert await transport.vetted("100.64.0.1", 80)
    assert await transport.vetted("203.0.113.7", 80)
