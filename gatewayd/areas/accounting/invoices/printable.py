"""Which letters a paper can print: those of the fonts that its compiler brings along, which are all it is set in.

A paper with a letter that no font has prints a box there, is no PDF/A, which wants a glyph for each character, and so
has no electronic invoice attached. A test asks the compiler for each end of a range. Chosen: beyond the last range,
where the scripts of East Asia are, no letter is taken to have a glyph, though a few that nobody writes have one.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

RANGES: Final = (
    *((0x41, 0x4FF), (0x510, 0x513), (0x51A, 0x51D), (0x531, 0x5F2)),
    *((0x621, 0x63A), (0x640, 0x64A), (0x674, 0x674), (0x679, 0x67B), (0x67E, 0x680), (0x683, 0x684), (0x686, 0x687)),
    *((0x691, 0x691), (0x698, 0x698), (0x6A4, 0x6A4), (0x6A9, 0x6A9), (0x6AF, 0x6AF), (0x6BE, 0x6BE), (0x6CC, 0x6CC)),
    *((0x904, 0x97F), (0xE81, 0xE84), (0xE87, 0xE88), (0xE8A, 0xE8A), (0xE8D, 0xE8D), (0xE94, 0xE97), (0xE99, 0xE9F)),
    *((0xEA1, 0xEA7), (0xEAA, 0xEAB), (0xEAD, 0xEB3), (0x10D0, 0x10FF), (0x115F, 0x1160), (0x13A0, 0x13FD)),
    *((0x1D00, 0x2184), (0x2C60, 0x2CF3)),
)
"""First and last of the letters that have a glyph, ascending: between a first and its last no letter lacks one."""
_FIRSTS: Final = tuple(first for first, _ in RANGES)


def unprintable(texts: Iterable[str | None]) -> str:
    """The letters that have no glyph, each once, in their order. Of other characters nothing is known here."""
    letters = dict.fromkeys(letter for text in texts for letter in text or "" if letter > "\x7f" and letter.isalpha())
    return "".join(letter for letter in letters if not _has_glyph(ord(letter)))


def _has_glyph(code: int) -> bool:
    place = bisect_right(_FIRSTS, code) - 1
    return place >= 0 and code <= RANGES[place][1]
