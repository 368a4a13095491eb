"""Income Tax of persons: quarters, updates, declarations and payments (domain model C6). Pure.

A tax year is named by the calendar year in which it begins: 2026 is 2026-27.

Who makes quarterly updates follows from the income of earlier years, in pence. The qualifying income of the return that
was due before the tax year began decides: that of two years before. Who has to make updates goes on until the income
was not above the threshold for three years in a row [mandation].
"""

import datetime
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from gatewayd.ledger.dates.months import DAY

QuarterType = Literal["standard", "calendar"]
YEARS_BEFORE: Final = 2
_YEARS_TO_LEAVE: Final = 3


class Quarter(NamedTuple):
    """One quarter. `start` is where its update begins, `opens` where the quarter itself does: these differ once updates
    are cumulative. `number` is 1 to 4.
    """

    number: int
    opens: datetime.date
    start: datetime.date
    end: datetime.date
    due: datetime.date


class DueDay(NamedTuple):
    """The day of the month on which updates are due, from a tax year on."""

    first_year: int
    day: int


DUE_DAYS = (  # the latest first; [obligations, MTD changelog, MTD guide] of domain model 0.1
    DueDay(2026, 7),
    DueDay(0, 5),
)
CUMULATIVE_FROM = 2025  # updates begin with the year from 2025-26 on [obligations, MTD changelog]
MANDATED_FROM = 2026  # from 6 April 2026, the first to be mandated [mandation]; before, whoever wished to

_ENDS: dict[QuarterType, tuple[tuple[int, int], ...]] = {  # month and day [MTD guide]
    "standard": ((7, 5), (10, 5), (1, 5), (4, 5)),
    "calendar": ((6, 30), (9, 30), (12, 31), (3, 31)),
}
_STARTS: dict[QuarterType, tuple[int, int]] = {"standard": (4, 6), "calendar": (4, 1)}
_DUE_MONTHS = (8, 11, 2, 5)  # [obligations]
ON_ACCOUNT_FROM = 1_000_00  # pence: less makes no payments on account (SI 1996/1654 reg 3)
MOST_DEDUCTED_PERCENT = 80  # of the tax: who had more deducted at source makes none (SI 1996/1654 reg 4)
_YEAR_START = (4, 6)  # ITA 2007 s4


def year_of(day: datetime.date) -> int:
    """The calendar year in which the tax year of a day begins."""
    return day.year - ((day.month, day.day) < _YEAR_START)


def year_start(year: int) -> datetime.date:
    """6 April."""
    return datetime.date(year, *_YEAR_START)


def year_end(year: int) -> datetime.date:
    """5 April of the year after."""
    return year_start(year + 1) - DAY


def quarters(year: int, kind: QuarterType, before: QuarterType) -> list[Quarter]:
    """The four quarters of a tax year. `before` is the type in the year before, which says with what day this begins.

    So that no day is lost and none is there twice, the first year of calendar quarters begins on 6 April, and the first
    one back on 1 April [MTD guide].
    """
    first = opens = datetime.date(year, *_STARTS[before])
    of_year = []
    for number, (month, day) in enumerate(_ENDS[kind], 1):
        end = datetime.date(year if number < 3 or month == 12 else year + 1, month, day)
        start = first if year >= CUMULATIVE_FROM else opens
        of_year.append(Quarter(number, opens, start, end, update_due(year, number)))
        opens = end + DAY
    return of_year


def update_due(year: int, number: int) -> datetime.date:
    """When the update of a quarter is due, alike for both types."""
    month = _DUE_MONTHS[number - 1]
    day = next(due_day.day for due_day in DUE_DAYS if year >= due_day.first_year)
    return datetime.date(year if number < 3 else year + 1, month, day)


def declaration_due(year: int) -> datetime.date:
    """When the final declaration is due: the 31 January after the year (TMA 1970 s8)."""
    return datetime.date(year + 2, 1, 31)


def balancing_payment_due(year: int) -> datetime.date:
    """When what is left of the tax is due: the 31 January after the year (TMA 1970 s59B(4))."""
    return datetime.date(year + 2, 1, 31)


def payment_on_account(assessed: int, deducted: int) -> int:
    """What each of the two payments on account of the next year is, pence, by the tax of a year; 0: none is made.

    Half of what was not deducted at source, unless that is under 1,000 pounds, or more than 80 % was deducted
    (TMA 1970 s59A, SI 1996/1654). Chosen: half a penny is dropped.
    """
    left = assessed - deducted
    if left < ON_ACCOUNT_FROM or deducted * 100 > assessed * MOST_DEDUCTED_PERCENT:
        return 0
    return left // 2


def payments_on_account_due(year: int) -> tuple[datetime.date, datetime.date]:
    """When the two payments are due, of those who make them: 31 January in the year and 31 July after it.

    TMA 1970 s59A(2). Whether somebody makes them depends on the tax of the year before.
    """
    return datetime.date(year + 1, 1, 31), datetime.date(year + 1, 7, 31)


class Threshold(NamedTuple):
    """Who had more than this income two years before makes updates, from a tax year on."""

    first_year: int
    income: int


THRESHOLDS: Final = (  # the latest first; SI 2026/336 reg 27, and [mandation] for the years to come
    Threshold(2028, 20_000_00),
    Threshold(2027, 30_000_00),
    Threshold(2026, 50_000_00),
)


def updates_are_due(year: int, incomes: Mapping[int, int]) -> bool | None:
    """Whether updates are due in a tax year, by the incomes that are known, each of a tax year; None: nobody knows.

    Years are named by the calendar year in which they begin.
    """
    decided = [_above(earlier, incomes) for earlier in range(year, year - _YEARS_TO_LEAVE, -1)]
    if any(decided):  # once they are due, they go on until three years are over
        return True
    return None if None in decided else False


def _above(year: int, incomes: Mapping[int, int]) -> bool | None:
    """Whether the income that decides about a tax year is above its threshold; None: the income is not known."""
    threshold = next((entry.income for entry in THRESHOLDS if year >= entry.first_year), None)
    if threshold is None:
        return False
    income = incomes.get(year - YEARS_BEFORE)
    return None if income is None else income > threshold
