"""Ids are unique, sort by time, and go backwards only with a clock that was set back."""

import random
import re
import threading

import pytest

from gatewayd.clock import DAY, SECOND, Instant, SettableClock, from_wire
from gatewayd.ids import ULID_BYTES, ULID_LENGTH, IdSource, first_at, packed, unpacked

_START = from_wire("2026-11-20T09:30:00Z")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(_START)


@pytest.fixture
def ids(clock: SettableClock) -> IdSource:
    return IdSource(clock, random.Random(1).randbytes)


def test_an_id_is_a_prefix_and_26_characters(ids: IdSource) -> None:
    new = ids.new("inv")
    assert ULID_LENGTH == 26
    assert re.fullmatch("inv_[0-7][0-9a-hjkmnp-tv-z]{25}", new)


def test_an_id_may_be_packed(ids: IdSource) -> None:
    for id_ in (ids.new("doc"), "doc_" + "0" * 26, "doc_7" + "z" * 25):
        assert len(packed(id_)) == ULID_BYTES
        assert unpacked("doc", packed(id_)) == id_
    assert packed("doc_" + "0" * 24 + "1a") == (32 + 10).to_bytes(16)


def test_the_first_ten_characters_are_the_millisecond() -> None:
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    ulid = IdSource(SettableClock(_START), lambda count: b"\xff" * count).new("x").partition("_")[2]
    value = 0
    for character in ulid:
        value = value * 32 + alphabet.index(character)
    assert value >> 80 == _START // 1000
    assert value & (1 << 80) - 1 == (1 << 79) - 1  # the top bit is left clear, as room to count up


def test_ids_sort_as_they_were_made(ids: IdSource, clock: SettableClock) -> None:
    made = []
    for step in (0, 0, 1, 999, 1000, 1_001, SECOND, DAY, 400 * DAY):
        clock.advance(step)
        made += [ids.new("a"), ids.new("a")]
    assert made == sorted(set(made))


def test_the_first_id_of_an_instant_parts_those_before_it_from_the_rest(ids: IdSource, clock: SettableClock) -> None:
    before = [ids.new("inv") for _ in range(3)]
    clock.advance(SECOND // 1000)
    bound = first_at("inv", clock.now())
    assert max(before) < bound <= ids.new("inv")
    assert len(bound) == len(before[0])


def test_the_first_id_of_an_instant_that_no_id_can_tell_is_the_nearest() -> None:
    assert first_at("inv", -1) == first_at("inv", 0) == "inv_" + "0" * 26
    assert first_at("inv", 1 << 62) == first_at("inv", (1 << 48) * 1000) == "inv_7" + "z" * 9 + "0" * 16


def test_ids_go_up_while_the_clock_stands_still(ids: IdSource) -> None:
    made = [ids.new("a") for _ in range(5_000)]
    assert made == sorted(set(made))


def test_ids_go_up_while_the_clock_is_corrected(ids: IdSource, clock: SettableClock) -> None:
    made = [ids.new("a")]
    for _ in range(200):
        clock.advance(-SECOND // 100)
        made.append(ids.new("a"))
    assert made == sorted(set(made))


def test_ids_follow_a_clock_that_was_set_back_and_never_repeat(ids: IdSource, clock: SettableClock) -> None:
    """Or a range of time, which is looked for as a range of ids, would miss what was made after it."""
    made = [ids.new("a") for _ in range(3)]
    clock.advance(5 * DAY)
    made += [ids.new("a") for _ in range(3)]
    clock.advance(-5 * DAY)
    made += [ids.new("a") for _ in range(3)]
    assert len(set(made)) == 9
    present = first_at("a", clock.now()), first_at("a", clock.now() + SECOND)
    assert [present[0] <= new < present[1] for new in made] == [True] * 3 + [False] * 3 + [True] * 3


def test_a_full_random_part_carries_into_no_older_id() -> None:
    ids = IdSource(SettableClock(_START), lambda count: b"\xff" * count)
    made = [ids.new("a") for _ in range(1_000)]
    assert made == sorted(set(made))


def test_a_clock_before_1970_still_gives_ids() -> None:
    ids = IdSource(SettableClock(Instant(-DAY)), lambda count: b"\x00" * count)
    assert ids.new("a") < ids.new("a")


def test_threads_never_get_the_same_id(ids: IdSource) -> None:
    made: list[list[str]] = [[] for _ in range(8)]
    ready = threading.Barrier(8)

    def make(into: list[str]) -> None:
        ready.wait(timeout=10)
        into += [ids.new("a") for _ in range(500)]

    threads = [threading.Thread(target=make, args=(into,)) for into in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    everything = [new for one in made for new in one]
    assert len(everything) == len(set(everything)) == 4_000
    assert all(one == sorted(one) for one in made)
