"""The nearest by signs, against a count of each; and what is kept of them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.search.signs import BLOCK, Block, KeptBlocks, Source, blocks_of, nearest

BYTES = 3


def by_counting(codes: dict[int, bytes], code: bytes, count: int) -> list[int]:
    """The numbers in order of how many bits differ, the greatest first where that is the same."""

    def differ(number: int) -> int:
        return sum((a ^ b).bit_count() for a, b in zip(codes[number], code, strict=True))

    return sorted(sorted(codes, key=lambda number: (differ(number), -number))[:count])


@given(
    codes=st.lists(st.binary(min_size=BYTES, max_size=BYTES), max_size=70),
    code=st.binary(min_size=BYTES, max_size=BYTES),
    length=st.integers(1, 30),
    count=st.integers(1, 40),
)
def test_the_nearest_are_those_of_a_count(codes: list[bytes], code: bytes, length: int, count: int) -> None:
    numbered = {3 * at + 1: one for at, one in enumerate(codes)}
    numbers = list(numbered)
    parts = [numbers[at : at + length] for at in range(0, len(numbers), length)]
    blocks = [block for part in parts for block in blocks_of(part, b"".join(numbered[number] for number in part))]
    assert sorted(nearest(blocks, code, count)) == by_counting(numbered, code, count)


@pytest.mark.parametrize("bytes_", [1, 32, 192])
def test_codes_may_have_any_length(bytes_: int) -> None:
    source = random.Random(bytes_)
    codes = {number: source.randbytes(bytes_) for number in range(300)}
    blocks = list(blocks_of(list(codes), b"".join(codes.values())))
    for code in (source.randbytes(bytes_), bytes(bytes_), b"\xff" * bytes_):
        assert sorted(nearest(blocks, code, 20)) == by_counting(codes, code, 20)


def test_more_than_a_block_are_several() -> None:
    codes = {number: (number // 5).to_bytes(BYTES, "little") for number in range(BLOCK + 9)}
    blocks = list(blocks_of(list(codes), b"".join(codes.values())))
    assert [len(block.numbers) for block in blocks] == [BLOCK, 9]
    for number in (0, BLOCK - 1, BLOCK, BLOCK + 8):
        assert sorted(nearest(blocks, codes[number], 7)) == by_counting(codes, codes[number], 7)


def block_of(count: int) -> list[Block]:
    return list(blocks_of(range(count), bytes(count * BYTES)))


SIZE = block_of(80)[0].size


def source_of(org_id: str, revision: int = 1) -> Source:
    return Source(org_id, "fake-1", BYTES, revision)


def test_what_is_kept_is_of_one_state() -> None:
    kept, blocks = KeptBlocks(SIZE), block_of(80)
    kept.keep(source_of("org_a"), blocks)
    assert kept.find(source_of("org_a")) is blocks
    assert kept.find(source_of("org_a", 2)) is None
    assert kept.find(source_of("org_b")) is None
    assert kept.find(source_of("org_a")._replace(model="fake-2")) is None
    later = block_of(80)
    kept.keep(source_of("org_a", 2), later)
    assert kept.find(source_of("org_a", 2)) is later, "it has the place of the former"
    kept.clear()
    assert kept.find(source_of("org_a", 2)) is None
    kept.keep(source_of("org_b"), blocks)
    assert kept.find(source_of("org_b")) is blocks, "there is room again"


def test_what_was_asked_longest_ago_makes_room() -> None:
    kept = KeptBlocks(2 * SIZE)
    for org_id in ("org_a", "org_b"):
        kept.keep(source_of(org_id), block_of(80))
    assert kept.find(source_of("org_a")) is not None
    kept.keep(source_of("org_c"), block_of(80))
    assert [org_id for org_id in ("org_a", "org_b", "org_c") if kept.find(source_of(org_id))] == ["org_a", "org_c"]


def test_what_is_kept_anew_takes_no_more_room() -> None:
    kept = KeptBlocks(2 * SIZE)
    for revision in (1, 2):
        kept.keep(source_of("org_a", revision), block_of(80))
    kept.keep(source_of("org_b"), block_of(80))
    assert kept.find(source_of("org_a", 2)) is not None


def test_what_is_too_large_is_not_kept() -> None:
    kept = KeptBlocks(SIZE)
    kept.keep(source_of("org_b"), block_of(88))
    assert kept.find(source_of("org_b")) is None
    kept.keep(source_of("org_a"), block_of(80))
    assert kept.find(source_of("org_a")) is not None


def test_the_size_of_a_block_is_about_what_it_holds() -> None:
    (block,) = block_of(800)
    assert block.size == 800 * (8 + BYTES)
