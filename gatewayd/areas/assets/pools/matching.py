"""What disposals are identified with: acquisitions of the day, then of the 30 days after it (Domain C5.1-4). Pure.

Quantities in here are whole numbers of one unit, so small that every quantity of the computation is some of it, and
restated into shares of the very first day: a split changes none of them. What is left is for the pool.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.pools.days import ZERO, Day, Rule
from gatewayd.areas.assets.pools.exact import part, quantity_of
from gatewayd.clock import days_after

WINDOW_DAYS: Final = 30  # TCGA 1992 s106A(5): both the first and the thirtieth day after a disposal count
ONE = Fraction(1)


class Split(NamedTuple):
    """Units for one that was held before an ISO date."""

    date: str
    ratio: Fraction


class Start(NamedTuple):
    """Where the days begin: the ISO date and the factor of the day before, "" and 1 where there is none.

    What is held, and what of it is in the pool, is in shares of the very first day.
    """

    date: str
    factor: Fraction
    held: Fraction
    pool: Fraction


class EarlierMatch(NamedTuple):
    """A part of an acquisition that a disposal before the computed days is identified with, and stays so."""

    date: str
    quantity: Fraction  # in shares of the very first day
    cost: int


class Take(NamedTuple):
    """A part of a day's disposals, and what it is identified with."""

    rule: Rule
    date: str | None
    units: int
    cost: int


@dataclass(slots=True)
class Step:
    """A day on its way through. What is not identified yet is `acquired`, which cost `cost`, and `out`.

    `disposed` is all that is disposed of or passed on, `held` what was held before the day, `brought` what the day adds
    to that, `factor` the units of the day for one of the very first.
    """

    day: Day
    factor: Fraction
    acquired: int = 0
    cost: int = 0
    out: int = 0
    disposed: int = 0
    added: int = 0
    held: int = 0
    brought: int = 0
    unheld: Fraction = ZERO  # shares of a bonus issue that restate nothing
    departures: list[int] = field(default_factory=list)  # units of each of `day.leaving`
    paid_on: list[int] = field(default_factory=list)  # units of each of `day.distributions`
    takes: list[Take] = field(default_factory=list)


def restated(
    start: Start, days: Sequence[Day], splits: Sequence[Split], kept: Iterable[EarlierMatch]
) -> tuple[list[Step], int]:
    """The days in units of one size, and how many of those are one share of the very first day."""
    steps = _factors(start, days, splits)
    shares = [_shares(step) for step in steps]
    sizes = {quantity.denominator for row in shares for quantity in row} | {
        match.quantity.denominator for match in kept
    }
    unit = math.lcm(start.held.denominator, start.pool.denominator, *sizes)
    held = units_of(start.held, unit)
    for step, row in zip(steps, shares, strict=True):
        acquired, disposed, added, *named_units = (units_of(quantity, unit) for quantity in row)
        departures, step.paid_on = named_units[: len(step.day.leaving)], named_units[len(step.day.leaving) :]
        step.acquired, step.cost, step.added = acquired, step.day.acquired_cost, added
        step.held, step.brought, step.departures = held, acquired + added, departures
        named = list(zip(step.day.leaving, departures, strict=True))
        step.out = step.disposed = disposed + sum(units for leaving, units in named if leaving.kind == "passed")
        gone = sum(units for leaving, units in named if leaving.kind in ("moved", "removed"))
        held += acquired + added - step.out - gone
    return steps, unit


def match_days(steps: Sequence[Step], kept: Iterable[EarlierMatch], unit: int) -> None:
    """Identify disposals with acquisitions of the same day, and after that of the 30 days that follow.

    Every day is matched with itself before anything else. What earlier disposals have taken is taken out before later
    ones choose: they come first. Disposals go oldest first, and take acquisitions oldest first.
    """
    for step in steps:
        _take(step, step, "same_day")
    by_date = {step.day.date: step for step in steps}
    for match in kept:
        step = by_date[match.date]
        step.acquired -= units_of(match.quantity, unit)
        step.cost -= match.cost
    for index, step in enumerate(steps):
        if step.out:
            last = days_after(step.day.date, WINDOW_DAYS)
            for later in steps[index + 1 :]:
                if not step.out or later.day.date > last:
                    break
                _take(step, later, "thirty_days")


def _take(disposal: Step, acquisition: Step, rule: Rule) -> None:
    units = min(disposal.out, acquisition.acquired)
    if not units:
        return
    cost = part(acquisition.cost, units, acquisition.acquired)
    acquisition.acquired -= units
    acquisition.cost -= cost
    disposal.out -= units
    disposal.takes.append(Take(rule, acquisition.day.date, units, cost))


def _factors(start: Start, days: Sequence[Day], splits: Sequence[Split]) -> list[Step]:
    """Splits and bonus issues restate what is held at the start of their day (TCGA 1992 s127).

    Chosen: shares that a bonus issue brings where nothing is held are added, for there is nothing to restate.
    """
    factor, held = start.factor, start.held
    coming = [split for split in splits if split.date > start.date]
    counted = any(day.bonus for day in days)
    steps = []
    for day in days:
        while coming and coming[0].date <= day.date:
            factor *= coming.pop(0).ratio
        unheld = day.bonus if held <= 0 else ZERO
        if day.bonus and held > 0:
            factor *= ONE + day.bonus / (held * factor)
        if counted:
            held += (day.acquired + day.added + unheld - day.disposed - day.passed - day.departed) / factor
        steps.append(Step(day, factor, unheld=unheld))
    return steps


def _shares(step: Step) -> list[Fraction]:
    """Acquired, disposed of and added, each of what leaves and of what is paid on, in shares of the very first day."""
    day = step.day
    quantities = [day.acquired, day.disposed, day.added + step.unheld]
    quantities += [quantity_of(leaving.quantity) for leaving in day.leaving]
    quantities += [quantity_of(distribution.quantity) for distribution in day.distributions]
    return quantities if step.factor == 1 else [quantity / step.factor for quantity in quantities]


def units_of(quantity: Fraction, unit: int) -> int:
    """How many units of the computation a quantity is; all its quantities are whole numbers of them."""
    return quantity.numerator * (unit // quantity.denominator)
