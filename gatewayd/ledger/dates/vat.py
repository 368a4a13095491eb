"""VAT periods and what is due on them (domain model C6). Pure."""

import datetime
from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.dates.months import DAY, DuePeriod, is_month_end, month_end, months_after

STAGGERS = {1: (3, 6, 9, 12), 2: (1, 4, 7, 10), 3: (2, 5, 8, 11)}  # months that a quarter ends with [staggers]
EVERY_MONTH = tuple(range(1, 13))
EXTRA_DAYS = 7  # after the month, for returns and payments made electronically [staggers; HMRC's VAT examples]
ANNUAL_MONTHS = 2  # after the end, with annual accounting [VATAAS3400]


class Registration(NamedTuple):
    """When somebody is registered, and the months with which their periods end.

    Both days are inclusive; None is not known, or no end.
    """

    first: datetime.date | None
    last: datetime.date | None
    months: tuple[int, ...]
    annual: bool


def due(end: datetime.date, annual: bool = False) -> datetime.date:
    """When return and payment are due: a month and 7 days after the end, or 2 months with annual accounting."""
    if annual:
        return months_after(end, ANNUAL_MONTHS)
    following = months_after(end, 1) if is_month_end(end) else months_later(end, 1)
    return following + EXTRA_DAYS * DAY


def periods(registration: Registration, first_end: datetime.date, last_start: datetime.date) -> Iterator[DuePeriod]:
    """The periods that end on or after one day and begin on or before another.

    Chosen: the first begins with the registration, however short that makes it; HMRC may set another end.
    """
    start = _start(registration, first_end)
    if registration.first is not None and registration.first > start:
        start = registration.first
    while start <= last_start and (registration.last is None or start <= registration.last):
        end = _end(registration.months, start)
        if registration.last is not None:
            end = min(end, registration.last)
        if end >= first_end:
            yield DuePeriod(start, end, due(end, registration.annual))
        start = end + DAY


def _start(registration: Registration, day: datetime.date) -> datetime.date:
    """The first day of the period that a day lies in, as the months alone have it."""
    year, month = (day.year, day.month - 1) if day.month > 1 else (day.year - 1, 12)
    while month not in registration.months:
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return month_end(year, month) + DAY


def _end(months: tuple[int, ...], day: datetime.date) -> datetime.date:
    year, month = day.year, day.month
    while month not in months:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return month_end(year, month)
