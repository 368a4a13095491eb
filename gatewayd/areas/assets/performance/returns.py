"""Money-weighted and time-weighted returns (Domain C11). Pure; rates are parts of 1."""

import datetime
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

YEAR_DAYS: Final = 365  # as spreadsheets' XIRR has it
_LOWEST, _HIGHEST, _STEPS = 1e-6, 1e6, 240  # of 1 + rate
_HALVINGS: Final = 200
_MOST: Final = 600.0  # beyond which a float ends


class Flow(NamedTuple):
    """Money that comes to the investor on an ISO date, or goes from the investor where it is below 0."""

    date: str
    amount: float


class Link(NamedTuple):
    """A part of a range: what it began with, what came in and went out on its last day, and what it ended with."""

    start: float
    came: float
    end: float
    went: float


def money_weighted(flows: Sequence[Flow]) -> float | None:
    """The yearly rate at which all flows are worth nothing together, as XIRR.

    None: they have no such rate, or more than one.
    """
    if not flows:
        return None
    first = datetime.date.fromisoformat(min(one.date for one in flows))
    dated = [((datetime.date.fromisoformat(one.date) - first).days / YEAR_DAYS, one.amount) for one in flows]

    def worth(logarithm: float) -> float:
        return sum(amount * math.exp(max(-_MOST, min(_MOST, -logarithm * years))) for years, amount in dated)

    low, high = math.log(_LOWEST), math.log(_HIGHEST)
    grid = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    found = [pair for pair in itertools.pairwise(grid) if (worth(pair[0]) > 0) != (worth(pair[1]) > 0)]
    if len(found) != 1:
        return None
    below, above = found[0]
    positive = worth(below) > 0
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if (worth(middle) > 0) == positive:
            below = middle
        else:
            above = middle
    return math.exp((below + above) / 2) - 1


def time_weighted(links: Iterable[Link]) -> float | None:
    """What 1 became over all links, less 1. None: one of them has less than nothing.

    What moves on the last day of a link moves at its end; where nothing was held before, what came in came as it began.
    """
    grown = 1.0
    for link in links:
        began, ended = link.start, link.end + link.went - link.came
        if began == 0:
            began, ended = link.came, link.end + link.went
        if began == ended == 0:
            continue
        if began <= 0 or ended < 0:
            return None
        grown *= ended / began
    return grown - 1


def yearly(rate: float, days: int) -> float | None:
    """A rate over so many days as one of a year; None of less than a year, which is no sign of one (GIPS)."""
    if days < YEAR_DAYS or rate <= -1:
        return None
    return math.exp(math.log1p(rate) * YEAR_DAYS / days) - 1


def over(rate: float, days: int) -> float:
    """A yearly rate over so many days."""
    return math.exp(math.log1p(rate) * days / YEAR_DAYS) - 1
