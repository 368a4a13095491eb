"""Lookups of names: one for a name at a time, and dead name servers hold up nobody but those who ask them."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gatewayd.outbound.resolver import (
    FAILURE_SECONDS,
    FAILURES_MAX,
    LOOKUP_THREADS,
    OVERDUE_SECONDS,
    Answer,
    Report,
    SystemResolver,
    look_up,
    start_in_thread,
)

ADDRESSES = ["192.0.2.7"]
DEAD = "a.dead.example"
ATTEMPT_SECONDS = 10.0  # Spec §8


class FakeLookups:
    """Name servers on virtual time: those of `dead.example` and of what is `held` say nothing before they are told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.under_way: dict[str, Report] = {}
        self.held: set[str] = set()
        self.without_threads = False

    def start(self, host: str, report: Report) -> None:
        if self.without_threads:
            raise RuntimeError("can't start new thread")
        self.begun.append(host)
        if host.endswith("dead.example") or host in self.held:
            assert host not in self.under_way
            self.under_way[host] = report
        else:
            trio.lowlevel.current_trio_token().run_sync_soon(report, Answer(ADDRESSES, None))

    def answer(self, host: str) -> None:
        self.under_way.pop(host)(Answer(ADDRESSES, None))

    def fail(self, host: str) -> None:
        self.under_way.pop(host)(Answer((), "temporary failure"))


class Askers:
    """Attempts that ask, each within its own deadline; what came of each by name."""

    def __init__(self, resolver: SystemResolver, nursery: trio.Nursery) -> None:
        self._resolver = resolver
        self._nursery = nursery
        self.outcomes: list[tuple[str, str]] = []

    def begin(self, host: str, seconds: float = ATTEMPT_SECONDS) -> None:
        self._nursery.start_soon(self._ask, host, seconds)

    async def _ask(self, host: str, seconds: float) -> None:
        outcome = "timeout"
        with trio.move_on_after(seconds):
            try:
                outcome = ",".join(await self._resolver(host, 443))
            except OSError as error:
                outcome = str(error)
        self.outcomes.append((host, outcome))


@pytest.fixture
def fake() -> FakeLookups:
    return FakeLookups()


async def test_who_asks_meanwhile_waits_for_the_same_answer(autojump_clock: MockClock, fake: FakeLookups) -> None:
    fake.held.add("held.example")
    async with trio.open_nursery() as nursery:
        askers = Askers(SystemResolver(fake.start), nursery)
        askers.begin("held.example", seconds=1)
        askers.begin("held.example")
        await trio.sleep(2)  # the first one has given up: the lookup is not its own
        askers.begin("held.example")
        await wait_all_tasks_blocked()
        fake.answer("held.example")
    assert fake.begun == ["held.example"]
    assert askers.outcomes == [("held.example", "timeout"), *[("held.example", "192.0.2.7")] * 2]


async def test_an_answer_is_for_those_who_wait_and_nobody_later(autojump_clock: MockClock, fake: FakeLookups) -> None:
    resolver = SystemResolver(fake.start)
    for _ in range(2):
        assert await resolver("a.example", 443) == ADDRESSES
    assert fake.begun == ["a.example"] * 2


async def test_who_asks_while_a_lookup_is_overdue_is_refused_at_once(
    autojump_clock: MockClock, fake: FakeLookups
) -> None:
    resolver = SystemResolver(fake.start)
    with trio.move_on_after(OVERDUE_SECONDS):
        await resolver(DEAD, 443)
    began = trio.current_time()
    with pytest.raises(OSError, match="no name server has answered for 5 s"):
        await resolver(DEAD, 443)
    assert trio.current_time() == began
    fake.answer(DEAD)
    assert fake.begun == [DEAD]


async def test_a_failure_is_remembered_and_then_asked_for_anew(autojump_clock: MockClock, fake: FakeLookups) -> None:
    async with trio.open_nursery() as nursery:
        askers = Askers(SystemResolver(fake.start), nursery)
        askers.begin(DEAD)
        await wait_all_tasks_blocked()
        fake.fail(DEAD)
        await trio.sleep(FAILURE_SECONDS - 1)
        askers.begin(DEAD)
        await wait_all_tasks_blocked()
        assert askers.outcomes == [(DEAD, "temporary failure"), (DEAD, "temporary failure (29 s ago)")]
        await trio.sleep(1)
        askers.begin(DEAD)
        await wait_all_tasks_blocked()
        fake.answer(DEAD)
    assert fake.begun == [DEAD] * 2
    assert askers.outcomes[2:] == [(DEAD, "192.0.2.7")]


async def test_a_failure_need_not_be_remembered(autojump_clock: MockClock, fake: FakeLookups) -> None:
    async with trio.open_nursery() as nursery:
        askers = Askers(SystemResolver(fake.start, failure_seconds=0), nursery)
        askers.begin(DEAD)
        await wait_all_tasks_blocked()
        fake.fail(DEAD)
        askers.begin(DEAD)
        await wait_all_tasks_blocked()
        fake.answer(DEAD)
    assert fake.begun == [DEAD] * 2
    assert askers.outcomes == [(DEAD, "temporary failure"), (DEAD, "192.0.2.7")]


async def test_48_dead_names_hold_up_no_healthy_one(autojump_clock: MockClock, fake: FakeLookups) -> None:
    """Attempts at them go on for five minutes, three at once; each lookup fails after 20 s, as resolv.conf has it."""
    dead = [f"n{number}.dead.example" for number in range(48)]
    resolver = SystemResolver(fake.start)
    waits = []
    async with trio.open_nursery() as nursery:
        askers = Askers(resolver, nursery)
        for second in range(300):
            if second % 10 == 0:
                for host in dead * 3:
                    askers.begin(host)
            if second % 20 == 19:
                for host in list(fake.under_way):
                    fake.fail(host)
            await trio.sleep(1)
            began = trio.current_time()
            assert await resolver("healthy.example", 443) == ADDRESSES
            waits.append(trio.current_time() - began)
            assert len(fake.under_way) <= 48
        nursery.cancel_scope.cancel()
    assert max(waits) == 0


async def test_names_that_fail_share_a_quarter_of_the_threads(autojump_clock: MockClock, fake: FakeLookups) -> None:
    dead = [f"n{number}.dead.example" for number in range(LOOKUP_THREADS)]
    async with trio.open_nursery() as nursery:
        askers = Askers(SystemResolver(fake.start), nursery)
        for host in dead:
            askers.begin(host)
        await wait_all_tasks_blocked()
        assert len(fake.under_way) == LOOKUP_THREADS
        askers.begin("healthy.example")
        await wait_all_tasks_blocked()
        assert askers.outcomes == []
        for host in dead:
            fake.fail(host)
        await trio.sleep(FAILURE_SECONDS)
        assert askers.outcomes[-1] == ("healthy.example", "192.0.2.7")
        for host in dead:
            askers.begin(host)
        await wait_all_tasks_blocked()
        assert len(fake.under_way) == LOOKUP_THREADS // 4
        askers.begin("healthy.example")
        await wait_all_tasks_blocked()
        assert askers.outcomes[-1] == ("healthy.example", "192.0.2.7")
        for _ in dead:  # each has its turn
            assert 0 < len(fake.under_way) <= LOOKUP_THREADS // 4
            fake.fail(next(iter(fake.under_way)))
    assert Counter(fake.begun) == {**dict.fromkeys(dead, 2), "healthy.example": 2}


async def test_a_lookup_that_found_no_thread_and_is_not_wanted_is_never_begun(
    autojump_clock: MockClock, fake: FakeLookups
) -> None:
    async with trio.open_nursery() as nursery:
        askers = Askers(SystemResolver(fake.start, threads=1), nursery)
        askers.begin(DEAD)
        await wait_all_tasks_blocked()
        askers.begin("b.dead.example", seconds=1)
        await trio.sleep(2)
        fake.fail(DEAD)
    assert fake.begun == [DEAD]
    assert askers.outcomes == [("b.dead.example", "timeout"), (DEAD, "temporary failure")]


async def test_a_system_without_threads_fails_a_lookup_and_nothing_else(
    autojump_clock: MockClock, fake: FakeLookups
) -> None:
    fake.without_threads = True
    resolver = SystemResolver(fake.start)
    with pytest.raises(OSError, match="can't start new thread"):
        await resolver("a.example", 443)
    fake.without_threads = False
    await trio.sleep(FAILURE_SECONDS)
    assert await resolver("a.example", 443) == ADDRESSES


async def test_only_so_many_failures_are_remembered(autojump_clock: MockClock, fake: FakeLookups) -> None:
    fake.without_threads = True
    resolver = SystemResolver(fake.start)
    for number in range(FAILURES_MAX + 1):
        with pytest.raises(OSError, match="thread"):
            await resolver(f"n{number}.example", 443)
    fake.without_threads = False
    assert await resolver("n0.example", 443) == ADDRESSES
    with pytest.raises(OSError, match="thread"):
        await resolver("n1.example", 443)


# -- in threads


class DeadServers:
    """Lookups that block a real thread until the block is over, but for one name."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._lock = threading.Lock()
        self.blocked: list[str] = []

    def look_up(self, host: str) -> Answer:
        if host == "healthy.example":
            return Answer(ADDRESSES, None)
        with self._lock:
            self.blocked.append(host)
        self._over.wait(30)
        return Answer((), "temporary failure")

    @contextmanager
    def serving(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._over.set()


async def test_abandoned_lookups_leave_threads_to_a_healthy_name() -> None:
    servers = DeadServers()
    dead = [f"n{number}.dead.example" for number in range(48)]
    with servers.serving(), trio.fail_after(120):
        resolver = SystemResolver(partial(start_in_thread, look_up=servers.look_up))
        for _ in range(3):
            async with trio.open_nursery() as nursery:
                askers = Askers(resolver, nursery)
                for host in dead:
                    askers.begin(host, seconds=0.05)
            assert {outcome for _, outcome in askers.outcomes} == {"timeout"}
            assert await resolver("healthy.example", 443) == ADDRESSES
    assert len(servers.blocked) == len(set(servers.blocked))


def test_a_name_of_this_machine_is_looked_up_and_one_that_cannot_be_is_a_failure() -> None:
    assert "127.0.0.1" in look_up("localhost").addresses
    assert look_up("a" * 64 + ".example").failure is not None
