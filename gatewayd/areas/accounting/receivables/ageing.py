"""How old what is owed is: days past the due date, in bands. Pure.

Chosen: the days run from the due date, as reminders and interest do, and not from the date of issue; on the due date
itself an invoice is not past due.
"""

import datetime
from collections.abc import Sequence
from itertools import pairwise

from gatewayd.areas.accounting.receivables.shapes import AgeBand
from gatewayd.errors import invalid_field

IN_HAND = -1
"""The place of what a client has in hand, which has no age."""


def checked(band_ends: Sequence[int], path: str) -> tuple[int, ...]:
    """The ends of bands, days past due. Raises `Problem` `validation_failed` where they do not ascend."""
    if any(last >= next_ for last, next_ in pairwise(band_ends)):
        raise invalid_field(path, "conflict", "Each is later than the one before: expected such as 30, 60, 90.")
    return tuple(band_ends)


def bands(band_ends: Sequence[int]) -> list[AgeBand]:
    """What the ends are the ends of: what is not due yet, each band, and all that is older."""
    firsts = [1, *(last + 1 for last in band_ends)]
    past = [AgeBand(from_days=first, to_days=last) for first, last in zip(firsts, [*band_ends, None], strict=True)]
    return [AgeBand(from_days=None, to_days=None), *past]


def first_due_dates(band_ends: Sequence[int], day: str) -> list[str]:
    """For all bands but the last, the earliest due date that is in it at the end of an ISO date."""
    end = datetime.date.fromisoformat(day)
    return [_earlier(end, days) for days in (0, *band_ends)]


def _earlier(day: datetime.date, days: int) -> str:
    ordinal = max(day.toordinal() - days, 1)  # before the first day of the calendar nothing was due
    return datetime.date.fromordinal(ordinal).isoformat()


def place(due_date: str, firsts: Sequence[str]) -> int:
    """In which band an ISO due date is, by `first_due_dates`."""
    return next((index for index, first in enumerate(firsts) if due_date >= first), len(firsts))
