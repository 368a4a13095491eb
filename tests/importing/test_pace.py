"""How an import leaves the writer to others: pauses, and short writes while somebody else writes."""

from typing import cast

import trio
from trio.testing import MockClock

from gatewayd.importing.pace import OTHERS_SECONDS, UNPACED_READS, UNPACED_WRITES, Pace
from gatewayd.store import Store, WriteTx

SECONDS = 0.1


class SlowStore:
    """Takes a tenth of a second for each write. `others` are decided with the next of ours."""

    def __init__(self) -> None:
        self.decided = 0
        self.others = 0

    async def write(self, work: object, org_id: str) -> int:
        await trio.sleep(SECONDS)
        self.decided += 1 + self.others
        self.others = 0
        return 1

    async def read_later(self, work: object, org_id: str) -> int:
        await trio.sleep(SECONDS)
        return 1


def nothing(tx: WriteTx) -> int:
    return 0


async def test_behind_many_writes_there_is_as_long_a_pause(autojump_clock: MockClock) -> None:
    pace = Pace(cast(Store, SlowStore()), "org_a")
    for _ in range(UNPACED_WRITES):
        await pace.write(nothing)
    began = trio.current_time()
    await pace.write(nothing)
    assert round(trio.current_time() - began, 6) == 2 * SECONDS


async def test_behind_some_reads_there_is_as_long_a_pause(autojump_clock: MockClock) -> None:
    pace = Pace(cast(Store, SlowStore()), "org_a")
    for _ in range(UNPACED_READS):
        assert await pace.read(lambda tx: 0) == 1
    assert trio.current_time() == UNPACED_READS * SECONDS
    began = trio.current_time()
    await pace.read(lambda tx: 0)
    assert round(trio.current_time() - began, 6) == 2 * SECONDS


async def test_writes_are_short_while_others_write(autojump_clock: MockClock) -> None:
    store = SlowStore()
    pace = Pace(cast(Store, store), "org_a")
    assert pace.rows(250) == 250
    store.others = 2
    await pace.write(nothing)
    assert (pace.rows(250), pace.rows(2)) == (50, 1)
    await trio.sleep(OTHERS_SECONDS)
    assert pace.rows(250) == 250


async def test_one_write_now_and_again_is_the_heartbeat(autojump_clock: MockClock) -> None:
    store = SlowStore()
    pace = Pace(cast(Store, store), "org_a")
    for _ in range(5):
        store.others = 1
        await pace.write(nothing)
        assert pace.rows(250) == 250
        await trio.sleep(0.9)
    for _ in range(2):
        store.others = 1
        await pace.write(nothing)
    assert pace.rows(250) == 50
