"""The United Kingdom's tax year of persons, and the tax months of its construction industry (Domain C6). Pure."""

import datetime
from collections.abc import Iterator

from gatewayd.clock import months_later
from gatewayd.ledger.dates.months import DAY, DuePeriod

YEAR_STARTS = "04-06"  # 6 April, ITA 2007 s4
MONTH_STARTS = 6  # the day of the calendar month: HMRC's CISR31070
RETURN_DAYS = 14  # SI 2005/2045 reg 4(1): so that it is the 19th


def tax_year(first: int) -> str:
    """The tax year that starts in the calendar year `first`: `2026-27`."""
    return f"{first:04}-{(first + 1) % 100:02}"


def tax_year_of(date: str) -> str:
    """The tax year that holds an ISO date: `2026-04-05` is in `2025-26`, `1999-12-31` in `1999-00`."""
    return tax_year(first_year_of(date))


def first_year_of(date: str) -> int:
    """The calendar year in which the tax year of an ISO date starts: 2025 for `2026-04-05`."""
    return int(date[:4]) - (date[5:] < YEAR_STARTS)


def bounds(year: str) -> tuple[str, str]:
    """First and last day of a tax year, ISO."""
    first = int(year[:4])
    return f"{first:04}-04-06", f"{first + 1:04}-04-05"


def is_tax_year(text: str) -> bool:
    """Whether it is a tax year as this API writes it: `2026-27`, and not `2026-28`."""
    return len(text) == 7 and text.isascii() and text[:4].isdecimal() and text == tax_year(int(text[:4]))


def construction_returns(first_end: datetime.date, last_start: datetime.date) -> Iterator[DuePeriod]:
    """The tax months that end on or after one day and begin on or before another, with their returns.

    A month without payments has one too, since April 2026, unless HMRC was told beforehand that none would follow.
    """
    start = months_later(first_end.replace(day=MONTH_STARTS), -1)
    while start <= last_start:
        following = months_later(start, 1)
        end = following - DAY
        if end >= first_end:
            yield DuePeriod(start, end, end + RETURN_DAYS * DAY)
        start = following
