"""The signs of vectors, in planes: which of very many are most like those of a question.

A plane has one sign of every passage of a block, as a number of as many bits. So one operation on two numbers does for
thousands of passages what it does for one: signs that differ are found by XOR, and counted by adders of planes, as
hardware counts (Harley-Seal). Measured, that takes a tenth of what a function called for each passage does.
"""

import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

BLOCK: Final = 16_384
"""Chosen: passages of a block, so that what is made of it fits the processor's cache."""
_SWAPS: Final = ((4, 0x0F), (2, 0x33), (1, 0x55))


class Block(NamedTuple):
    """Some passages by their numbers, and the planes of their signs."""

    numbers: Sequence[int]
    planes: Sequence[int]

    @property
    def size(self) -> int:
        """Bytes, about."""
        return len(self.numbers) * (8 + len(self.planes) // 8)


def blocks_of(numbers: Sequence[int], codes: bytes) -> Iterator[Block]:
    """Blocks of passages whose codes, all of one length, stand one after the other."""
    width = len(codes) // len(numbers)
    for at in range(0, len(numbers), BLOCK):
        some = array("q", numbers[at : at + BLOCK])
        padding = bytes(-len(some) % 8 * width)
        yield Block(some, list(_planes(codes[at * width : (at + len(some)) * width] + padding, width)))


def nearest(blocks: Sequence[Block], code: bytes, count: int) -> list[int]:
    """The numbers of the passages whose codes differ least from this; of those that tie the greatest."""
    if not blocks:
        return []
    counted = [_differences(block, code) for block in blocks]
    near = [0] * len(blocks)
    open_ = [(1 << len(block.numbers)) - 1 for block in blocks]
    for at in reversed(range(len(counted[0]))):  # the greatest power of two first
        less = [mask & ~planes[at] for mask, planes in zip(open_, counted, strict=True)]
        less_count = sum(mask.bit_count() for mask in less)
        if less_count >= count:
            open_ = less
        else:
            near = [mask | other for mask, other in zip(near, less, strict=True)]
            open_ = [mask & ~other for mask, other in zip(open_, less, strict=True)]
            count -= less_count
    tied = [block.numbers[at] for block, mask in zip(blocks, open_, strict=True) for at in _places(mask)]
    sure = [block.numbers[at] for block, mask in zip(blocks, near, strict=True) for at in _places(mask)]
    return sure + sorted(tied, reverse=True)[:count]


def _planes(codes: bytes, width: int) -> Iterator[int]:
    """A byte of eight passages each is eight signs of each: eight times eight bits change places."""
    count = len(codes) // width // 8
    swaps = [(shift, int.from_bytes(bytes([mask]) * count, "little")) for shift, mask in _SWAPS]
    for at in range(width):
        eight = [int.from_bytes(codes[at + n * width :: 8 * width], "little") for n in range(8)]
        for shift, mask in swaps:
            for low in range(8):
                if not low & shift:
                    moved = (eight[low] >> shift ^ eight[low + shift]) & mask
                    eight[low + shift] ^= moved
                    eight[low] ^= moved << shift
        yield from eight


def _differences(block: Block, code: bytes) -> list[int]:
    """How many signs of each passage are others than those of the code: a plane for each power of two."""
    every = (1 << len(block.numbers)) - 1
    code_bits = int.from_bytes(code, "little")
    level = [plane ^ every if code_bits >> at & 1 else plane for at, plane in enumerate(block.planes)]
    counted: list[int] = []
    while level:
        carried: list[int] = []
        while len(level) > 2:
            a, b, c = level.pop(), level.pop(), level.pop()
            either = a ^ b
            level.append(either ^ c)
            carried.append(a & b | either & c)
        if len(level) == 2:
            carried.append(level[0] & level[1])
        counted.append(level[0] ^ level[1] if len(level) == 2 else level[0])
        level = carried
    return counted


def _places(mask: int) -> Iterator[int]:
    """Where bits are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Source(NamedTuple):
    """Of what blocks are made: they are the same as long as it is."""

    org_id: str
    model: str
    width: int
    revision: int


class KeptBlocks:
    """The blocks of the organizations that were asked last, up to so many bytes. Callable from any thread."""

    def __init__(self, most: int) -> None:
        self._room = most
        self._kept: OrderedDict[str, tuple[Source, list[Block], int]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, source: Source) -> list[Block] | None:
        """Those of a source; None: they are to be made."""
        with self._lock:
            kept = self._kept.get(source.org_id)
            if kept is None or kept[0] != source:
                return None
            self._kept.move_to_end(source.org_id)
            return kept[1]

    def keep(self, source: Source, blocks: list[Block]) -> None:
        """Keep them in place of others of the organization, and of those that were asked longest ago."""
        size = sum(block.size for block in blocks)
        with self._lock:
            self._forget(source.org_id)
            while self._kept and size > self._room:
                self._forget(next(iter(self._kept)))
            if size <= self._room:
                self._kept[source.org_id] = (source, blocks, size)
                self._room -= size

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            for org_id in list(self._kept):
                self._forget(org_id)

    def _forget(self, org_id: str) -> None:
        if org_id in self._kept:
            self._room += self._kept.pop(org_id)[2]
