"""How an import leaves the writer to others: pauses, and short writes while somebody else writes."""

from collections.abc import Callable
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from gatewayd.importing.pace import (
    ALONE_SECONDS,
    BESIDE_SECONDS,
    COMMITS,
    LEAST_SHARE,
    OTHERS_SECONDS,
    PAUSES_BESIDE,
    SHORTER,
    UNPACED_READS,
    UNPACED_WRITES,
    Pace,
)
from gatewayd.store import Store, WriterTime, WriteTx

SECONDS = 0.1
ROWS = 1000


class SlowStore:
    """Takes as long for each write as `cost` says and then `commit`, and a tenth of a second for a read.

    `others` are decided with the next of our writes, and somebody waited for them. Each of ours waits for `before`.
    """

    def __init__(self, cost: Callable[[], float] = lambda: SECONDS) -> None:
        self.cost = cost
        self.commit = 0.0
        self.awaited = 0
        self.others = 0
        self.before = 0.0

    async def write_behind(self, work: Callable[[object], int], org_id: str) -> tuple[int, WriterTime]:
        taken = WriterTime(self.cost() + self.commit, self.commit)
        await trio.sleep(self.before + taken.seconds)
        self.awaited += self.others
        self.others = 0
        return work(None), taken

    async def read_later(self, work: object, org_id: str) -> int:
        await trio.sleep(SECONDS)
        return 1


def made(store: SlowStore) -> Pace:
    return Pace(cast(Store, store), "org_a")


def nothing(tx: WriteTx) -> int:
    return 0


async def lasting(pace: Pace) -> float:
    """How long a write takes with the pause before it."""
    began = trio.current_time()
    await pace.write(nothing)
    return round(trio.current_time() - began, 6)


async def test_behind_many_writes_there_is_as_long_a_pause(autojump_clock: MockClock) -> None:
    store = SlowStore()
    pace = made(store)
    for _ in range(UNPACED_WRITES):
        assert await lasting(pace) == SECONDS
    store.before = 5.0  # which is the time of others, and no reason to pause as long
    assert await lasting(pace) == store.before + SECONDS
    store.before = 0.0
    assert await lasting(pace) == 2 * SECONDS
    await trio.sleep(SECONDS / 2)  # what the caller does meanwhile is of the pause
    assert await lasting(pace) == round(1.5 * SECONDS, 6)


async def test_beside_others_there_is_a_longer_one_from_the_first(autojump_clock: MockClock) -> None:
    store = SlowStore()
    pace = made(store)
    store.others = 2
    assert await lasting(pace) == SECONDS
    assert await lasting(pace) == round((1 + PAUSES_BESIDE) * SECONDS, 6)
    assert await lasting(pace) == round((1 + PAUSES_BESIDE) * SECONDS, 6)
    await trio.sleep(OTHERS_SECONDS)
    assert await lasting(pace) == SECONDS
    assert await lasting(pace) == SECONDS


async def test_a_write_that_raises_is_one_too(autojump_clock: MockClock) -> None:
    store = SlowStore()
    pace = made(store)

    def raising(tx: WriteTx) -> int:
        raise LookupError

    for _ in range(UNPACED_WRITES + 1):
        with pytest.raises(LookupError):
            await pace.write(raising)
    assert trio.current_time() == pytest.approx((UNPACED_WRITES + 1) * SECONDS)
    assert pace.rows(ROWS) == LEAST_SHARE * ROWS  # it was as long as any, and nothing was committed
    assert await lasting(pace) == 2 * SECONDS


async def test_behind_some_reads_there_is_as_long_a_pause(autojump_clock: MockClock) -> None:
    pace = made(SlowStore())
    for _ in range(UNPACED_READS):
        assert await pace.read(lambda tx: 0) == 1
    await pace.read(lambda tx: 0)
    assert trio.current_time() == pytest.approx((UNPACED_READS + 1) * SECONDS)
    await pace.read(lambda tx: 0)
    assert trio.current_time() == pytest.approx((UNPACED_READS + 3) * SECONDS)


@pytest.mark.parametrize("microseconds", [5, 10, 20, 50])
async def test_a_write_has_as_many_rows_as_the_writer_has_time_for(
    microseconds: int, autojump_clock: MockClock
) -> None:
    """Where each row costs so much, with the others and without."""
    written = 0
    store = SlowStore(lambda: written * microseconds / 1e6)
    pace = made(store)
    for others, seconds, most in (
        (0, ALONE_SECONDS, ROWS),
        (2, BESIDE_SECONDS, ROWS / SHORTER),
        (0, ALONE_SECONDS, ROWS),
    ):
        for _ in range(40):
            written, store.others = pace.rows(ROWS), others
            await pace.write(nothing)
        fitting = min(max(seconds * 1e6 / microseconds, LEAST_SHARE * ROWS), most)
        assert 0.75 * fitting <= pace.rows(ROWS) <= min(1.3 * fitting, most)
        await trio.sleep(OTHERS_SECONDS)


@pytest.mark.parametrize("commit", [0.001, 0.004, 0.02, 0.1])
async def test_on_a_slow_disk_a_write_has_as_many_rows_as_take_as_long_as_its_commit(
    commit: float, autojump_clock: MockClock
) -> None:
    written = 0
    store = SlowStore(lambda: written * 20e-6)
    store.commit = commit
    pace = made(store)
    for others, seconds in ((0, ALONE_SECONDS), (2, BESIDE_SECONDS)):
        most = ROWS / SHORTER if others else ROWS
        for _ in range(40):
            written, store.others = pace.rows(ROWS), others
            await pace.write(nothing)
        fitting = min(max((max(seconds, COMMITS * commit) - commit) / 20e-6, LEAST_SHARE * ROWS), most)
        assert 0.75 * fitting <= pace.rows(ROWS) <= min(1.3 * fitting, most)


async def test_writes_are_short_at_first_and_beside_others(autojump_clock: MockClock) -> None:
    store = SlowStore(lambda: 0.0)
    pace = made(store)
    assert (pace.rows(250), pace.rows(2)) == (50, 1)
    for _ in range(20):
        await pace.write(nothing)
    assert pace.rows(250) == 250
    store.others = 2
    await pace.write(nothing)
    assert pace.rows(250) == 50
    store.cost = lambda: 1.0  # each row costs so much: fewer of them at once would mostly be commits
    for _ in range(20):
        store.others = 2
        await pace.write(nothing)
    assert pace.rows(250) == 25


async def test_one_write_now_and_again_is_the_heartbeat(autojump_clock: MockClock) -> None:
    store = SlowStore(lambda: 0.0)
    pace = made(store)
    for _ in range(20):
        store.others = 1
        await pace.write(nothing)
        await trio.sleep(0.9)
    assert pace.rows(250) == 250
    for _ in range(2):
        store.others = 1
        await pace.write(nothing)
    assert pace.rows(250) == 50


async def test_draining_goes_on_until_nothing_is_found(autojump_clock: MockClock) -> None:
    left, asked = 180, []

    def take(tx: WriteTx, /, *, count: int) -> int:
        nonlocal left
        asked.append(count)
        taken = min(left, count)
        left -= taken
        return taken

    pace = made(SlowStore(lambda: 0.0))
    await pace.drain(take, 250)
    assert (left, asked) == (0, [50, 62, 78, 97])
