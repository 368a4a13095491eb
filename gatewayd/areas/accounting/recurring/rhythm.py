"""On which days a recurring invoice is made. Pure.

The days are counted from the first, which is day 0 of the rhythm, and each is computed from the first and never from
the one before: of the 31st, the 28th of February is followed by the 31st of March.
"""

import calendar
import datetime
from collections.abc import Iterator
from typing import Literal, NamedTuple

RhythmUnit = Literal["week", "month"]

LATEST = datetime.date(2199, 12, 31)  # Chosen: the latest that an invoice bears


class Rhythm(NamedTuple):
    """Every `every` weeks or months from `start`.

    `day_of_month` is the day that months have, or their last where they are shorter; None: that of `start`, and of
    weeks always. `end` is the last day that may be one, `times` how many days there are; None: no end by it.
    """

    every: int
    unit: RhythmUnit
    start: datetime.date
    day_of_month: int | None
    end: datetime.date | None
    times: int | None


def day(rhythm: Rhythm, index: int) -> str | None:
    """The ISO date of the day with this index, from 0. None: the rhythm has ended before it."""
    if rhythm.times is not None and index >= rhythm.times:
        return None
    found = _day(rhythm, index)
    if found is None or found > (rhythm.end or LATEST):
        return None
    return found.isoformat()


def missed(rhythm: Rhythm, first: int, today: str) -> Iterator[str]:
    """The days before today from the one with this index on, in order."""
    index = first
    while (date := day(rhythm, index)) is not None and date < today:
        yield date
        index += 1


def is_of_month(date: datetime.date, day_of_month: int) -> bool:
    """Whether a date is this day of its month, or the month's last where it is shorter."""
    return date.day == min(day_of_month, calendar.monthrange(date.year, date.month)[1])


def _day(rhythm: Rhythm, index: int) -> datetime.date | None:
    steps = index * rhythm.every
    if rhythm.unit == "week":
        days = (LATEST - rhythm.start).days
        return rhythm.start + datetime.timedelta(weeks=steps) if 7 * steps <= days else None
    year, month = divmod(rhythm.start.year * 12 + rhythm.start.month - 1 + steps, 12)
    if year > LATEST.year:
        return None
    wanted = rhythm.day_of_month or rhythm.start.day
    return datetime.date(year, month + 1, min(wanted, calendar.monthrange(year, month + 1)[1]))
