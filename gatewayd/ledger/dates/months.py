"""Months as the law counts them, and their last working days, as banks in England and Wales count them. Pure.

Banking and Financial Dealings Act 1971 s1 and Sch 1. Known are the bank holidays that come round every year and can lie
at the end of a month. One that is proclaimed for a single year, such as a coronation's, is not.
"""

import calendar
import datetime
from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.clock import months_later

DAY = datetime.timedelta(days=1)
_SATURDAY = 5  # as `datetime.date.weekday` counts


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


def last_working_day(year: int, month: int) -> datetime.date:
    """The last working day of a month."""
    return on_or_before(month_end(year, month))


def on_or_before(day: datetime.date) -> datetime.date:
    """The day, or the last working day before it. Chosen: of days at the end of a month; of others weekends alone."""
    holidays = set(_holidays(day.year))
    while day.weekday() >= _SATURDAY or day in holidays:
        day -= DAY
    return day


def easter_sunday(year: int) -> datetime.date:
    """Easter by the Gregorian calendar (the anonymous algorithm of 1876)."""
    golden, (century, of_century) = year % 19, divmod(year, 100)
    leaps, rest = divmod(century, 4)
    shift = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leaps - shift + 15) % 30
    fours, odd = divmod(of_century, 4)
    weekday = (32 + 2 * rest + 2 * fours - epact - odd) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return datetime.date(year, month, day + 1)


def _holidays(year: int) -> Iterator[datetime.date]:
    """Good Friday and Easter Monday, the spring and the summer bank holiday."""
    easter = easter_sunday(year)
    yield easter - 2 * DAY
    yield easter + DAY
    yield _last_monday(year, 5)
    yield _last_monday(year, 8)


def _last_monday(year: int, month: int) -> datetime.date:
    last = month_end(year, month)
    return last - last.weekday() * DAY
