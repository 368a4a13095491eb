"""Months as the law counts them. Pure."""

import calendar
import datetime
from typing import NamedTuple

from gatewayd.clock import months_later

DAY = datetime.timedelta(days=1)


class DuePeriod(NamedTuple):
    """A period, both days inclusive, and when what is owed of it is due."""

    start: datetime.date
    end: datetime.date
    due: datetime.date


def month_end(year: int, month: int) -> datetime.date:
    """The last day of a month."""
    return datetime.date(year, month, calendar.monthrange(year, month)[1])


def is_month_end(day: datetime.date) -> bool:
    """Whether it is the last day of its month."""
    return day == month_end(day.year, day.month)


def months_after(day: datetime.date, months: int) -> datetime.date:
    """The last day of a time of so many months after a day: from the end of a month to the end of a month.

    Else the same day of that month, or the last where it has no such day (Companies Act 2006 s443; CTM01800).
    """
    later = months_later(day, months)
    return month_end(later.year, later.month) if is_month_end(day) else later


def following(start: datetime.date, months: int) -> datetime.date:
    """The day after a time of so many months that begins with `start`: a year that begins on 29 February is followed
    by 1 March.
    """
    later = months_later(start, months)
    return later if later.day == start.day else later + DAY
