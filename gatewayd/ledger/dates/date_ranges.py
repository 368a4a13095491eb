"""Ranges of civil dates: what a report covers, its buckets, and the range before it (Domain C1). Pure."""

import datetime
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.dates import income_tax
from gatewayd.ledger.dates.tax_calendar import first_year_of

QuarterlyType = income_tax.QuarterType
GroupBy = Literal["total", "month", "quarter"]

_DAY = datetime.timedelta(days=1)
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


def days(date_range: DateRange) -> int:
    """How many days the range has."""
    first, last = map(datetime.date.fromisoformat, date_range)
    return (last - first).days + 1


def later(date: str, months: int) -> str:
    """The same day some months later, clamped to the end of the month; a negative number is earlier."""
    return months_later(datetime.date.fromisoformat(date), months).isoformat()


def is_longer(date_range: DateRange, months: int) -> bool:
    """True where the range has more than `months` months."""
    return date_range.last >= later(date_range.first, months)


def buckets(date_range: DateRange, group_by: GroupBy, type_in: Callable[[int], QuarterlyType]) -> list[DateRange]:
    """The range in calendar months, or in quarters, of the type that they have in each tax year, by the calendar year
    it begins in; the first and last may be parts of one.
    """
    if group_by == "total":
        return [date_range]
    if group_by == "month":
        return cut(date_range, recurring(date_range, _MONTH_STARTS))
    years = range(first_year_of(date_range.first), first_year_of(date_range.last) + 2)
    opened = (
        quarter.opens for year in years for quarter in income_tax.quarters(year, type_in(year), type_in(year - 1))
    )
    return cut(date_range, (day.isoformat() for day in opened))


def recurring(date_range: DateRange, days: Iterable[str]) -> Iterator[str]:
    """The dates of each year of the range that fall on `days`, written `MM-DD`."""
    for year in range(int(date_range.first[:4]), int(date_range.last[:4]) + 1):
        for day in days:
            yield f"{year:04}-{day}"


def cut(date_range: DateRange, starts: Iterable[str]) -> list[DateRange]:
    """The range in parts, oldest first, each of which begins with the range or on one of the dates."""
    inside = sorted({start for start in starts if date_range.first < start <= date_range.last})
    lasts = [*map(before, inside), date_range.last]
    return [DateRange(first, last) for first, last in zip([date_range.first, *inside], lasts, strict=True)]


def period_before(date_range: DateRange) -> DateRange:
    """The range of the same length that ends the day before.

    Chosen: as many months where the range is whole months, from any day of the month; else as many days.
    """
    last = before(date_range.first)
    months = _whole_months(date_range)
    if months is not None:
        return DateRange(later(date_range.first, -months), last)
    first, end = map(datetime.date.fromisoformat, date_range)
    return DateRange((first - (end - first) - _DAY).isoformat(), last)


def year_before(date_range: DateRange) -> DateRange:
    """The same days a year earlier.

    Chosen: whole months that end with February end with February; else 28 February is the 28th in any year, and 29
    February the 28th in one that has none.
    """
    first, end = later(date_range.first, -12), after(date_range.last)
    if _whole_months(date_range) is not None and end.endswith("-01"):
        return DateRange(first, before(later(end, -12)))
    return DateRange(first, later(date_range.last, -12))


def _whole_months(date_range: DateRange) -> int | None:
    end = after(date_range.last)
    months = 12 * (int(end[:4]) - int(date_range.first[:4])) + int(end[5:7]) - int(date_range.first[5:7])
    return months if months > 0 and later(date_range.first, months) == end else None
