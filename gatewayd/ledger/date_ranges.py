"""Ranges of civil dates: what a report covers, its buckets, and the range before it (Domain C1). Pure."""

import datetime
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from gatewayd.clock import months_later

QuarterlyType = Literal["standard", "calendar"]
GroupBy = Literal["total", "month", "quarter"]

_DAY = datetime.timedelta(days=1)
_QUARTER_STARTS: dict[QuarterlyType, tuple[str, ...]] = {
    "standard": ("01-06", "04-06", "07-06", "10-06"),
    "calendar": ("01-01", "04-01", "07-01", "10-01"),
}
"""Days on which the quarters of Domain C6 begin."""
_MONTH_STARTS = tuple(f"{month:02}-01" for month in range(1, 13))


class DateRange(NamedTuple):
    """From one ISO date to another, both inclusive."""

    first: str
    last: str


def after(date: str) -> str:
    """The next day."""
    return (datetime.date.fromisoformat(date) + _DAY).isoformat()


def before(date: str) -> str:
    """The day before."""
    return (datetime.date.fromisoformat(date) - _DAY).isoformat()


def days(whole: DateRange) -> int:
    """How many days the range has."""
    first, last = map(datetime.date.fromisoformat, whole)
    return (last - first).days + 1


def later(date: str, months: int) -> str:
    """The same day some months later, clamped to the end of the month; a negative number is earlier."""
    return months_later(datetime.date.fromisoformat(date), months).isoformat()


def is_longer(whole: DateRange, months: int) -> bool:
    """True where the range has more than `months` months."""
    return whole.last >= later(whole.first, months)


def buckets(whole: DateRange, group_by: GroupBy, quarterly_type: QuarterlyType) -> list[DateRange]:
    """The range in calendar months, or in the quarters of the type; the first and last may be parts of one."""
    if group_by == "total":
        return [whole]
    starts = _MONTH_STARTS if group_by == "month" else _QUARTER_STARTS[quarterly_type]
    return cut(whole, recurring(whole, starts))


def recurring(whole: DateRange, days: Iterable[str]) -> Iterator[str]:
    """The dates of each year of the range that fall on `days`, written `MM-DD`."""
    for year in range(int(whole.first[:4]), int(whole.last[:4]) + 1):
        for day in days:
            yield f"{year:04}-{day}"


def cut(whole: DateRange, starts: Iterable[str]) -> list[DateRange]:
    """The range in parts, oldest first, each of which begins with the range or on one of the dates."""
    inside = sorted({start for start in starts if whole.first < start <= whole.last})
    lasts = [*map(before, inside), whole.last]
    return [DateRange(first, last) for first, last in zip([whole.first, *inside], lasts, strict=True)]


def period_before(whole: DateRange) -> DateRange:
    """The range of the same length that ends the day before.

    Chosen: as many months where the range is whole months, from any day of the month; else as many days.
    """
    last = before(whole.first)
    months = _whole_months(whole)
    if months is not None:
        return DateRange(later(whole.first, -months), last)
    first, end = map(datetime.date.fromisoformat, whole)
    return DateRange((first - (end - first) - _DAY).isoformat(), last)


def year_before(whole: DateRange) -> DateRange:
    """The same days a year earlier.

    Chosen: whole months that end with February end with February; else 28 February is the 28th in any year, and 29
    February the 28th in one that has none.
    """
    first, end = later(whole.first, -12), after(whole.last)
    if _whole_months(whole) is not None and end.endswith("-01"):
        return DateRange(first, before(later(end, -12)))
    return DateRange(first, later(whole.last, -12))


def _whole_months(whole: DateRange) -> int | None:
    end = after(whole.last)
    months = 12 * (int(end[:4]) - int(whole.first[:4])) + int(end[5:7]) - int(whole.first[5:7])
    return months if months > 0 and later(whole.first, months) == end else None
