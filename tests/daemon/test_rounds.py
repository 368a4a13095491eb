"""Rounds of housekeeping: when each was last done, and whether it could be."""

import io
import json

from gatewayd.clock import MINUTE, SettableClock
from gatewayd.console.instance import Round
from gatewayd.daemon.rounds import Rounds
from gatewayd.logs import make_logger
from gatewayd.store import StoreFailure
from tests.support.store import START


async def test_each_round_is_noted_and_one_that_fails_is_left_to_the_next() -> None:
    stream, clock = io.StringIO(), SettableClock(START)
    rounds = Rounds(clock, make_logger("json", "info", stream))

    async def does() -> None:
        clock.advance(MINUTE)

    async def fails() -> None:
        raise StoreFailure("the disk is full")

    await rounds.done("trash emptied", does())
    await rounds.done("credits booked", fails())
    assert rounds.last == {
        "trash emptied": Round(clock.now(), failed=False),
        "credits booked": Round(clock.now(), failed=True),
    }
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["housekeeping_failed"]
    await rounds.done("credits booked", does())
    assert rounds.last["credits booked"] == Round(clock.now(), failed=False)
