"""When the rent of a tenancy falls due, and how much of it (Domain C3). Pure.

Rent is due in advance, on the first day of its period. Periods begin on due days: a day of the month, 31 being its
last, for rent by months, and of the week, 1 Monday to 7 Sunday, for rent by weeks. The first due day is the first such
day of the tenancy; from there they follow at the distance of the frequency.

    start              due day           due day                     due day      end
      | part of a period |     period      |           ...             | part of one |
    index -1             0                 1                           n

Rent of business premises by the quarter may be due on quarter days instead:

Chosen: another part costs the share of its days in the whole period that it belongs to, half up; a period has the rent
of its first day, so that a change within it counts from the next due day on.

    english   Lady Day 25 March, Midsummer 24 June, Michaelmas 29 September, Christmas 25 December (custom)
    scottish  28 February, 28 May, 28 August, 28 November (Term and Quarter Days (Scotland) Act 1990 s1)
    modern    1 January, 1 April, 1 July, 1 October, as newer leases have it

Chosen: a day of a part costs 1/365 of the rent of a year, in leap years too, as the Standard Commercial Property
Conditions have it; and a part never costs more than its quarter, which it would where days are missing of a long one.
"""

import calendar
import datetime
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from gatewayd.money import half_up

Frequency = Literal["weekly", "fortnightly", "four_weekly", "monthly", "quarterly", "annually"]

_DAYS = {"weekly": 7, "fortnightly": 14, "four_weekly": 28}
_MONTHS = {"monthly": 1, "quarterly": 3, "annually": 12}
_IN_A_MONTH: Mapping[Frequency, Fraction] = {
    "weekly": Fraction(52, 12),
    "fortnightly": Fraction(26, 12),
    "four_weekly": Fraction(13, 12),
    "monthly": Fraction(1),
    "quarterly": Fraction(1, 3),
    "annually": Fraction(1, 12),
}
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_OF_400_YEARS: Final = 146_097
_LAST_ORDINAL = datetime.date.max.toordinal()

_date = datetime.date.fromisoformat
QuarterDays = Literal["english", "scottish", "modern"]

_OF_A_YEAR: Final[Mapping[QuarterDays, tuple[tuple[int, int], ...]]] = {
    "english": ((3, 25), (6, 24), (9, 29), (12, 25)),
    "scottish": ((2, 28), (5, 28), (8, 28), (11, 28)),
    "modern": ((1, 1), (4, 1), (7, 1), (10, 1)),
}
"""Month and day of each. None is a leap day."""
_QUARTERS: Final = 4
_DAYS_OF_A_YEAR: Final = 365


class Step(NamedTuple):
    """A rent in minor units, from an ISO date on. `frequency` None: that of the terms it stands in."""

    first: str
    amount: int
    frequency: Frequency | None = None


class Monthly(NamedTuple):
    """Rent by the month from an ISO date on, which is the first day of a period. `steps` are as those of `Terms`."""

    first: str
    steps: tuple[Step, ...]


class Terms(NamedTuple):
    """What the rent of a tenancy follows from. `start` and `end` are its first and last ISO dates; None: it goes on.

    `steps` are at least one, in the order of their dates; the first holds from the start on. `monthly`: what the law
    has put in the place of all this later on, where a period would have begun. `quarter_days`: those on which rent by
    the quarter is due; None: the day of the month says it, and it is never looked at where these are given.
    """

    start: str
    end: str | None
    frequency: Frequency
    due_day: int
    steps: tuple[Step, ...]
    monthly: Monthly | None = None
    quarter_days: QuarterDays | None = None


class Due(NamedTuple):
    """The rent of a period, due on its first day. ISO dates, both inclusive; minor units."""

    first: str
    last: str
    amount: int


class Rent(NamedTuple):
    """What a tenancy costs from an ISO date on, minor units, how often, and on which day of the month or week.

    `due_day` None: on the days that `quarter_days` names.
    """

    first: str
    amount: int
    frequency: Frequency
    due_day: int | None
    quarter_days: QuarterDays | None = None


class Unpaid(NamedTuple):
    """What is owed, minor units, and the ISO date of the first rent that is not wholly paid."""

    amount: int
    oldest: str


class _Run(NamedTuple):
    """Periods of one amount that follow each other: the index of the first, how many they are, what each costs."""

    first: int
    periods: int
    amount: int


class _Weeks:
    """Due days at a distance of some days: the ordinal of the nth, and how many are before or until a day.

    `begins_at_once`: whether the first of them is the first day of the tenancy.
    """

    __slots__ = ("_days", "_first", "begins_at_once")

    def __init__(self, start: datetime.date, days: int, due_day: int) -> None:
        ordinal = start.toordinal()  # 1 was a Monday
        self._first, self._days = ordinal + (due_day - ordinal) % 7, days
        self.begins_at_once = self._first == ordinal

    def nth(self, index: int) -> int:
        return self._first + index * self._days

    def before(self, day: datetime.date) -> int:
        return max(-((self._first - day.toordinal()) // self._days), 0)

    def until(self, day: datetime.date) -> int:
        return max((day.toordinal() - self._first) // self._days + 1, 0)


class _Months:
    """The same at a distance of some months, which are counted from the year 0."""

    __slots__ = ("_due_day", "_first", "_months", "begins_at_once")

    def __init__(self, start: datetime.date, months: int, due_day: int) -> None:
        self._months, self._due_day = months, due_day
        self._first = self._month(start, 0)
        self.begins_at_once = start.day == self._due_in(start.year, start.month - 1)

    def nth(self, index: int) -> int:
        year, month = divmod(self._first + index * self._months, 12)
        cycles, year = divmod(year, 400)  # before the first and after the last year of a date there are more
        day = datetime.date(year + 400, month + 1, self._due_in(year, month))
        return day.toordinal() + (cycles - 1) * _DAYS_OF_400_YEARS

    def before(self, day: datetime.date) -> int:
        return max(-((self._first - self._month(day, 0)) // self._months), 0)

    def until(self, day: datetime.date) -> int:
        return max(-((self._first - self._month(day, 1)) // self._months), 0)

    def _month(self, day: datetime.date, more: int) -> int:
        """The first month whose due day is not before the one that comes `more` days, 0 or 1, after `day`."""
        year, month = day.year, day.month - 1
        return 12 * year + month + (day.day + more > self._due_in(year, month))

    def _due_in(self, year: int, month: int) -> int:
        return min(self._due_day, _MONTH_LENGTHS[month] + (month == 1 and calendar.isleap(year)))


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
        return _QUARTERS * day.year + sum(quarter_day < (day.month, day.day + more) for quarter_day in self._days)


def due_until(terms: Terms, day: str) -> int:
    """The rent that has fallen due by the end of an ISO date, in minor units."""
    return sum([periods * amount for part in parts(terms) for _, periods, amount in _runs(part, day)])


def dues(terms: Terms, first: str, last: str) -> Iterator[Due]:
    """Each rent that falls due from one ISO date to another, the earliest first."""
    for part in parts(terms):
        yield from _dues(part, first, last)


def parts(terms: Terms) -> list[Terms]:
    """The terms one after the other, each with one frequency: what was agreed, then what the law made of it."""
    if terms.monthly is None:
        return [terms]
    first, steps = terms.monthly
    agreed = terms._replace(monthly=None)
    if terms.end is not None and terms.end < first:
        return [agreed]
    begins = _date(first)
    before = agreed._replace(end=_iso(begins.toordinal() - 1))
    return [before, Terms(first, terms.end, "monthly", begins.day, steps)]


def _dues(terms: Terms, first: str, last: str) -> Iterator[Due]:
    """The same, of one frequency."""
    grid, start = _grid(terms), _date(terms.start).toordinal()
    end = _LAST_ORDINAL if terms.end is None else _date(terms.end).toordinal()
    skipped = grid.before(_date(first)) if first > terms.start else -1
    for run in _runs(terms, last):
        for index in range(max(run.first, skipped), run.first + run.periods):
            yield Due(_iso(max(grid.nth(index), start)), _iso(min(grid.nth(index + 1) - 1, end)), run.amount)


def unpaid(terms: Terms, day: str, received: int) -> Unpaid | None:
    """What `received`, minor units, leaves unpaid of what has fallen due by the end of an ISO date; None: nothing.

    It pays the oldest first.
    """
    runs, left = [(part, run) for part in parts(terms) for run in _runs(part, day)], max(received, 0)
    owed = sum([periods * amount for _, (_, periods, amount) in runs]) - left
    if owed <= 0:
        return None
    for part, (first, periods, amount) in runs:
        if periods * amount > left:
            return Unpaid(owed, _first_day(part, first + left // amount))
        left -= periods * amount
    raise AssertionError("what is owed is of one of them")


def oldest_unpaid(terms: Terms, day: str, received: int) -> str | None:
    """The ISO date of the oldest of what `unpaid` finds; None: it finds nothing."""
    arrears = unpaid(terms, day, received)
    return None if arrears is None else arrears.oldest


def latest_due(terms: Terms, day: str) -> str | None:
    """The ISO date of the last rent that has fallen due by the end of another; None: none has."""
    for part in reversed(parts(terms)):
        if runs := _runs(part, day):
            return _first_day(part, runs[-1].first + runs[-1].periods - 1)
    return None


def amounts(terms: Terms) -> set[int]:
    """What one rent may come to, in minor units: those of the history, and of parts of periods at the start and end."""
    sums = set()
    for part in parts(terms):
        runs = _runs(part, part.start if part.end is None else part.end)
        sums |= {step.amount for step in part.steps} | {run.amount for run in runs}
    return sums


def rent_on(terms: Terms, day: str) -> Rent:
    """The rent that is in force on an ISO date; before the tenancy, that of its start."""
    *before, last = parts(terms)
    part = last if not before or last.start <= day else before[0]
    begun = [step for step in part.steps if step.first <= day] or part.steps[:1]
    due_day = part.due_day if part.quarter_days is None else None
    return Rent(max(begun[-1].first, part.start), begun[-1].amount, part.frequency, due_day, part.quarter_days)


def monthly_rent(amount: int, frequency: Frequency) -> Fraction:
    """What a rent comes to in a month, not rounded (Domain C3)."""
    return amount * _IN_A_MONTH[frequency]


def _grid(terms: Terms) -> _Weeks | _Months | Quarters:
    """The due days of a tenancy."""
    start, days = _date(terms.start), _DAYS.get(terms.frequency)
    if terms.quarter_days is not None:
        return Quarters(start, terms.quarter_days)
    if days is not None:
        return _Weeks(start, days, terms.due_day)
    return _Months(start, _MONTHS[terms.frequency], terms.due_day)


def _runs(terms: Terms, day: str) -> list[_Run]:
    """What has fallen due by the end of an ISO date, the earliest first."""
    until = day if terms.end is None or day < terms.end else terms.end
    if until < terms.start:
        return []
    grid = _grid(terms)
    runs = _part_before(terms, grid)
    count = grid.until(_date(until))
    if terms.end is None or not count:
        return runs + _first_periods(terms, grid, count)
    begins, following, end = grid.nth(count - 1), grid.nth(count), _date(terms.end).toordinal()
    if following <= end + 1:
        return runs + _first_periods(terms, grid, count)
    part = _part(terms, _iso(begins), end + 1 - begins, following - begins)
    return [*runs, *_first_periods(terms, grid, count - 1), _Run(count - 1, 1, part)]


def _part_before(terms: Terms, grid: _Weeks | _Months | Quarters) -> list[_Run]:
    """What is due at the start of a tenancy that does not begin on a due day."""
    if grid.begins_at_once:  # as most do: nothing else of the grid is worked out
        return []
    start, first = _date(terms.start).toordinal(), grid.nth(0)
    following = first if terms.end is None else min(first, _date(terms.end).toordinal() + 1)
    part = _part(terms, terms.start, following - start, first - grid.nth(-1))
    return [_Run(-1, 1, part)]


def _part(terms: Terms, first: str, days: int, of: int) -> int:
    """What some days of a period cost that begin on an ISO date, minor units. `of`: the days of the whole period."""
    rent = _rent_on(terms, first)
    return half_up(rent * days, of) if terms.quarter_days is None else part(rent, days)


def _first_periods(terms: Terms, grid: _Weeks | _Months | Quarters, count: int) -> list[_Run]:
    """The first `count` periods, at the rents of their first days."""
    if len(terms.steps) == 1:
        return [_Run(0, count, terms.steps[0].amount)] if count else []
    ends = [min(grid.before(_date(step.first)), count) for step in terms.steps[1:]]
    runs, begin = [], 0
    for step, end in zip(terms.steps, (*ends, count), strict=True):
        if begin < end:
            runs.append(_Run(begin, end - begin, step.amount))
        begin = end
    return runs


def _rent_on(terms: Terms, day: str) -> int:
    """The rent of an ISO date, in minor units."""
    return next((step.amount for step in reversed(terms.steps) if step.first <= day), terms.steps[0].amount)


def _first_day(terms: Terms, index: int) -> str:
    """The ISO date on which a period begins and its rent is due."""
    return terms.start if index < 0 else _iso(_grid(terms).nth(index))


def _iso(ordinal: int) -> str:
    return datetime.date.fromordinal(min(ordinal, _LAST_ORDINAL)).isoformat()


def part(rent: int, days: int) -> int:
    """What some days of a quarter cost, minor units, of the rent of a quarter."""
    return min(half_up(rent * _QUARTERS * days, _DAYS_OF_A_YEAR), rent)
