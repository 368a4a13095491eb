"""Rents due by a walk over the days: knows the days on which a rent may fall due, and no formula."""

import datetime
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

from gatewayd.ledger.rents.schedule import Due, Terms

_DAY = datetime.timedelta(days=1)
_EACH = {"weekly": 1, "fortnightly": 2, "four_weekly": 4, "monthly": 1, "quarterly": 3, "annually": 12}
"""Of how many of its weekdays, or days of the month, one is a due day."""
QUARTER_DAYS = {
    "english": {"25 Mar", "24 Jun", "29 Sep", "25 Dec"},
    "scottish": {"28 Feb", "28 May", "28 Aug", "28 Nov"},
    "modern": {"01 Jan", "01 Apr", "01 Jul", "01 Oct"},
}
_MARGIN = datetime.timedelta(days=400)


def dues(terms: Terms, until: datetime.date) -> Iterator[Due]:
    """Each rent due up to a day."""
    start = datetime.date.fromisoformat(terms.start)
    end = datetime.date.max if terms.end is None else datetime.date.fromisoformat(terms.end)
    for period in _periods(terms, start, until):
        lived = [day for day in period if start <= day <= end]
        if lived and lived[0] <= until:
            rent = _rent_on(terms, lived[0])
            share = Decimal(rent) * len(lived) / len(period)
            if terms.quarter_days is not None and len(lived) < len(period):
                share = min(Decimal(4 * rent * len(lived)) / 365, Decimal(rent))
            amount = int(share.quantize(Decimal(1), ROUND_HALF_UP))
            yield Due(lived[0].isoformat(), lived[-1].isoformat(), amount)


def _periods(terms: Terms, start: datetime.date, until: datetime.date) -> Iterator[list[datetime.date]]:
    """The days of each whole period around the tenancy."""
    day, last = start - _MARGIN, max(start, until) + _MARGIN
    candidates: list[datetime.date] = []
    while day <= last:
        if _is_candidate(terms, day):
            candidates.append(day)
        day += _DAY
    place = next(index for index, candidate in enumerate(candidates) if candidate >= start)
    each = 1 if terms.quarter_days is not None else _EACH[terms.frequency]
    due_days = candidates[place % each :: each]
    for first, following in pairwise(due_days):
        yield [first + _DAY * number for number in range((following - first).days)]


def _is_candidate(terms: Terms, day: datetime.date) -> bool:
    if terms.quarter_days is not None:
        return day.strftime("%d %b") in QUARTER_DAYS[terms.quarter_days]
    if terms.frequency in ("weekly", "fortnightly", "four_weekly"):
        return day.isoweekday() == terms.due_day
    month_ends = (day + _DAY).day == 1
    return day.day == terms.due_day or (month_ends and day.day < terms.due_day)


def _rent_on(terms: Terms, day: datetime.date) -> int:
    rent = terms.steps[0].amount
    for step in terms.steps:
        if datetime.date.fromisoformat(step.first) <= day:
            rent = step.amount
    return rent
