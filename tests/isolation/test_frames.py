"""Frames as a parent reads them: whole ones, broken ones, ones that are too large, and ones that come late."""

import math
from collections.abc import Sequence

import pytest
import trio
from trio.testing import MockClock

from gatewayd.isolation.frames import FramesBroken, FramesLate, FrameStream, framed


class Said:
    """What a child says: pieces, each after so many seconds; then nothing more."""

    def __init__(self, pieces: Sequence[bytes], pause: float = 0.0) -> None:
        self._pieces = list(pieces)
        self._pause = pause

    async def __call__(self, size: int) -> bytes:
        assert size == 65_536
        await trio.sleep(self._pause)
        return self._pieces.pop(0) if self._pieces else b""


def stream(*pieces: bytes, largest: int = 10, seconds: float = math.inf, pause: float = 0.0) -> FrameStream:
    return FrameStream(Said(pieces, pause), largest, seconds)


def test_a_frame_is_four_bytes_of_length_and_its_body() -> None:
    assert framed(b"ab") == b"\0\0\0\x02ab"
    assert framed(b"") == b"\0\0\0\0"
    assert framed(bytes(70_000))[:4] == b"\0\x01\x11\x70"


@pytest.mark.parametrize("cut", range(1, 15))
async def test_frames_are_the_same_however_they_are_cut(cut: int) -> None:
    said = framed(b"one") + framed(b"") + framed(b"three")
    frames = stream(*(said[at : at + cut] for at in range(0, len(said), cut)))
    assert [await frames.next() for _ in range(5)] == [b"one", b"", b"three", None, None]


async def test_the_largest_may_be_said_and_no_larger_one() -> None:
    frames = stream(framed(bytes(10)), framed(bytes(11)))
    assert await frames.next() == bytes(10)
    with pytest.raises(FramesBroken):
        await frames.next()


@pytest.mark.parametrize("rest", [b"\0", b"\0\0\0", b"\0\0\0\x02", b"\0\0\0\x02a"])
async def test_an_end_within_a_frame_breaks_it(rest: bytes) -> None:
    frames = stream(framed(b"whole") + rest)
    assert await frames.next() == b"whole"
    with pytest.raises(FramesBroken):
        await frames.next()


async def test_what_the_child_takes_is_counted_and_what_its_parent_takes_is_not(autojump_clock: MockClock) -> None:
    """Four pieces of 2 seconds each, of which three are within 7."""
    frames = stream(*[framed(b"x")] * 4, seconds=7.0, pause=2.0)
    for _ in range(3):
        assert await frames.next() == b"x"
        await trio.sleep(100)
    began = trio.current_time()
    with pytest.raises(FramesLate):
        await frames.next()
    assert trio.current_time() - began == pytest.approx(1.0)
