"""Who makes quarterly updates of Income Tax, by the income of earlier years (Domain C6). Pure; pence.

The qualifying income of the return that was due before the tax year began decides: that of two years before. Who has
to make updates goes on until the income was not above the threshold for three years in a row [mandation].
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

YEARS_BEFORE: Final = 2
_YEARS_TO_LEAVE: Final = 3


class Threshold(NamedTuple):
    """Who had more than this income two years before makes updates, from a tax year on."""

    first_year: int
    income: int


THRESHOLDS: Final = (  # the latest first; SI 2026/336 reg 27, and [mandation] for the years to come
    Threshold(2028, 20_000_00),
    Threshold(2027, 30_000_00),
    Threshold(2026, 50_000_00),
)


def are_due(year: int, incomes: Mapping[int, int]) -> bool | None:
    """Whether updates are due in a tax year, by the incomes that are known, each of a tax year; None: nobody knows.

    Years are named by the calendar year in which they begin.
    """
    decided = [_above(one, incomes) for one in range(year, year - _YEARS_TO_LEAVE, -1)]
    if any(decided):  # once they are due, they go on until three years are over
        return True
    return None if None in decided else False


def _above(year: int, incomes: Mapping[int, int]) -> bool | None:
    """Whether the income that decides of a tax year is above its threshold; None: it is not known."""
    threshold = next((one.income for one in THRESHOLDS if year >= one.first_year), None)
    if threshold is None:
        return False
    income = incomes.get(year - YEARS_BEFORE)
    return None if income is None else income > threshold
