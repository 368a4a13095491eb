"""The only place that asks what time it is; everything else takes a `Clock`."""

import calendar
import datetime
import functools
import time
import zoneinfo
from typing import Final, Protocol


class Instant(int):
    """Microseconds UTC since the Unix epoch. In JSON it is the text of `to_wire`."""

    __slots__ = ()


SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
LAST_DATE: Final = "9999-12-31"
"""No ISO date is later: it stands where there is no end."""
EARLIEST_NOW: Final = Instant(1_735_689_600_000_000)
"""2025-01-01T00:00:00Z: a clock that says less was never set."""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
LONDON: Final = zoneinfo.ZoneInfo("Europe/London")


class Clock(Protocol):
    """Says what time it is. Callable from any thread."""

    def now(self) -> Instant:
        """The present instant."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> Instant:
        return Instant(time.time_ns() // 1000)


class SettableClock:
    """A clock that stands still until it is moved: for tests and for replaying a day.

    `follow` is added to the instant when given, in seconds: pass a mock clock's `current_time`, and wall time
    advances with virtual time.
    """

    def __init__(self, start: Instant, follow: "FollowedTime | None" = None) -> None:
        self._start = start
        self._follow = follow

    def now(self) -> Instant:
        elapsed = self._follow() if self._follow is not None else 0.0
        return Instant(self._start + round(elapsed * SECOND))

    def advance(self, microseconds: int) -> None:
        """Move by `microseconds`; a negative number jumps back, as a corrected machine clock does."""
        self._start = Instant(self._start + microseconds)


class FollowedTime(Protocol):
    def __call__(self) -> float: ...


def to_wire(instant: Instant) -> str:
    """`2026-11-20T09:30:00.125Z`: UTC with `Z` and milliseconds, rounded down."""
    second, rest = divmod(instant, SECOND)
    return f"{_second_to_wire(second)}{rest // 1000:03d}Z"


@functools.lru_cache(maxsize=256)  # rows of one page, and one operation's own instants, share their seconds
def _second_to_wire(second: int) -> str:
    moment = _EPOCH + datetime.timedelta(seconds=second)
    return moment.isoformat().removesuffix("+00:00") + "."


def from_wire(text: str) -> Instant:
    """The instant of an ISO 8601 timestamp that names its offset.

    Raises `ValueError` for a malformed timestamp, or one without an offset.
    """
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("the timestamp has no offset: write it with Z")
    return from_moment(moment)


def from_moment(moment: datetime.datetime) -> Instant:
    """The instant of a datetime that knows its offset."""
    return Instant((moment - _EPOCH) // datetime.timedelta(microseconds=1))


def london_date(instant: Instant) -> str:
    """The civil date in Europe/London, `YYYY-MM-DD`: what "today" means for deadlines."""
    return _london_date_of_minute(instant // MINUTE)


@functools.lru_cache(maxsize=64)  # the zone's offset only ever changes on a whole minute
def _london_date_of_minute(minute: int) -> str:
    moment = _EPOCH + datetime.timedelta(minutes=minute)
    return moment.astimezone(LONDON).date().isoformat()


def midnight(day: datetime.date, zone: zoneinfo.ZoneInfo) -> Instant:
    """The instant at which a civil date begins in a time zone; the first where clocks go back over it."""
    return from_moment(datetime.datetime.combine(day, datetime.time(), zone))


def date_in(instant: Instant, zone: zoneinfo.ZoneInfo) -> str:
    """The civil date in a time zone, `YYYY-MM-DD`."""
    moment = _EPOCH + datetime.timedelta(microseconds=instant)
    return moment.astimezone(zone).date().isoformat()


def time_zone(name: str) -> zoneinfo.ZoneInfo | None:
    """The zone of an IANA name such as `Europe/London`; None where this machine knows no such one."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # as the database says it of what is a folder, or no zone
        return None


def months_later(day: datetime.date, months: int) -> datetime.date:
    """The same day some months later, clamped to the end of the month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return datetime.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


@functools.lru_cache(maxsize=64)  # most invoices are made out today, on one of a few terms
def days_after(date: str, days: int) -> str:
    """The ISO date that many days after another, or before it where `days` is negative."""
    return (datetime.date.fromisoformat(date) + datetime.timedelta(days=days)).isoformat()
