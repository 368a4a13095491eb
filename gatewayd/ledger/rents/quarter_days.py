"""The quarter days on which rent of business premises is due in advance, and what a part of a quarter costs. Pure.

    english   Lady Day 25 March, Midsummer 24 June, Michaelmas 29 September, Christmas 25 December (custom)
    scottish  28 February, 28 May, 28 August, 28 November (Term and Quarter Days (Scotland) Act 1990 s1)
    modern    1 January, 1 April, 1 July, 1 October, as newer leases have it

Chosen: a day of a part costs 1/365 of the rent of a year, in leap years too, as the Standard Commercial Property
Conditions have it; and a part never costs more than its quarter, which it would where days are missing of a long one.
"""

import datetime
from collections.abc import Mapping
from typing import Final, Literal

from gatewayd.money import half_up

QuarterDays = Literal["english", "scottish", "modern"]

_OF_A_YEAR: Final[Mapping[QuarterDays, tuple[tuple[int, int], ...]]] = {
    "english": ((3, 25), (6, 24), (9, 29), (12, 25)),
    "scottish": ((2, 28), (5, 28), (8, 28), (11, 28)),
    "modern": ((1, 1), (4, 1), (7, 1), (10, 1)),
}
"""Month and day of each. None is a leap day."""
_QUARTERS: Final = 4
_DAYS_OF_A_YEAR: Final = 365
_DAYS_OF_400_YEARS: Final = 146_097


def part(rent: int, days: int) -> int:
    """What some days of a quarter cost, minor units, of the rent of a quarter."""
    return min(half_up(rent * _QUARTERS * days, _DAYS_OF_A_YEAR), rent)


class Quarters:
    """Due days on the quarter days of each year: the ordinal of the nth, and how many are before or until a day.

    The first is that of the tenancy's first day, or the next one; `begins_at_once`: it is the first day.
    """

    __slots__ = ("_days", "_first", "begins_at_once")

    def __init__(self, start: datetime.date, which: QuarterDays) -> None:
        self._days = _OF_A_YEAR[which]
        self._first = self._quarter(start, 0)
        self.begins_at_once = (start.month, start.day) in self._days

    def nth(self, index: int) -> int:
        """The ordinal of a due day."""
        year, quarter = divmod(self._first + index, _QUARTERS)
        cycles, year = divmod(year, 400)  # before the first and after the last year of a date there are more
        return datetime.date(year + 400, *self._days[quarter]).toordinal() + (cycles - 1) * _DAYS_OF_400_YEARS

    def before(self, day: datetime.date) -> int:
        """How many due days are before a day."""
        return max(self._quarter(day, 0) - self._first, 0)

    def until(self, day: datetime.date) -> int:
        """How many are before a day or on it."""
        return max(self._quarter(day, 1) - self._first, 0)

    def _quarter(self, day: datetime.date, more: int) -> int:
        """The first quarter day, counted from the year 0, that is not before what comes `more` days, 0 or 1, later."""
        return _QUARTERS * day.year + sum(one < (day.month, day.day + more) for one in self._days)
