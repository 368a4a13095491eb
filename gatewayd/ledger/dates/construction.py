"""The Construction Industry Scheme: what a contractor sends each month (domain model C6). Pure."""

import datetime
from collections.abc import Iterator

from gatewayd.clock import months_later
from gatewayd.ledger.dates.months import DAY, DuePeriod

MONTH_STARTS = 6  # the day of the calendar month: HMRC's CISR31070
RETURN_DAYS = 14  # SI 2005/2045 reg 4(1): so that it is the 19th


def returns(first_end: datetime.date, last_start: datetime.date) -> Iterator[DuePeriod]:
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
