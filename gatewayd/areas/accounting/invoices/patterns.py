"""How invoice numbers are written: `INV-{yyyy}-{000001}` gives `INV-2026-000457`. Pure.

A pattern has one counter, `{1}` to `{000000000001}`, whose digits are the least that are written, and may have the
year, `{yyyy}`. What stands around them is printable ASCII. A counter beyond its digits grows longer.
"""

import functools
import re
from typing import NamedTuple

_PATTERN = re.compile(r"(?! )[^{}]*(\{yyyy\}[^{}]*)?\{0{0,11}1\}[^{}]*(\{yyyy\}[^{}]*)?(?<! )", re.ASCII)
_PRINTABLE = re.compile(r"[ -~]+", re.ASCII)
_COUNTER = re.compile(r"\{(0*1)\}")
_DIGITS = re.compile(r"(\{yyyy\}|\{0*1\}|[0-9])+")
_YEAR = "{yyyy}"

MAX_LENGTH = 40  # Chosen: a number fits 64 characters however far its counter has come
MAX_COUNT = 10**12 - 1  # Chosen: longer digits are a date or a reference of somebody else's, and move no counter


class Series(NamedTuple):
    """A pattern in one year: what stands around the counter, and the least digits that it has."""

    prefix: str
    suffix: str
    digits: int

    def written(self, count: int) -> str:
        """The number that `count` is."""
        return f"{self.prefix}{count:0{self.digits}d}{self.suffix}"

    def count_of(self, number: str) -> int | None:
        """Which count is written so; None where the number is not one of the series."""
        digits = number[len(self.prefix) : len(number) - len(self.suffix)]
        if not (digits.isascii() and digits.isdecimal()):
            return None
        count = int(digits)
        return count if 1 <= count <= MAX_COUNT and self.written(count) == number else None


def is_pattern(text: str) -> bool:
    """Whether numbers can be written so."""
    if len(text) > MAX_LENGTH or not _PRINTABLE.fullmatch(text) or text.count(_YEAR) > 1:
        return False
    return _PATTERN.fullmatch(text) is not None


def counts_by_year(pattern: str) -> bool:
    """True where each year begins with 1."""
    return _YEAR in pattern


@functools.lru_cache(maxsize=256)  # a few for each seller
def series(pattern: str, year: str) -> Series:
    """The series of a pattern in a year of four digits."""
    prefix, digits, suffix = _COUNTER.split(pattern.replace(_YEAR, year))
    return Series(prefix, suffix, len(digits))


def may_meet(one: str, other: str) -> bool:
    """True where two patterns could write the same number: they differ in nothing but digits."""
    return _DIGITS.sub("0", one) == _DIGITS.sub("0", other)
