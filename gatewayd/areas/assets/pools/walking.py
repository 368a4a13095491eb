"""The section 104 holding by date, or what an account holds at its average cost (Domain C5.5 to C5.8). Pure.

A day goes in this order, whatever the order of its transactions:

1. splits and bonus issues restate what is held;
2. what is acquired and not matched enters, and what rights issues, spin-offs, mergers and transfers add; a short
   position is covered first;
3. the cost is adjusted, not below 0: what is beyond is a gain;
4. spin-offs take their parts of the cost;
5. what leaves for other holdings goes at the average, then what is disposed of and not matched. What is disposed of
   beyond that is a short position: it is identified with what enters next (TCGA 1992 s105(2)).
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from gatewayd.areas.assets.pools.exact import cost_of, part, quantity_of
from gatewayd.areas.assets.pools.matching import Step, Take
from gatewayd.areas.assets.pools.shapes import Departure, Leaving

_DEPARTING: Final[tuple[Departure, ...]] = ("moved", "removed")


@dataclass(slots=True)
class Short:
    """A part of a disposal that nothing covers yet."""

    step: Step
    units: int


@dataclass(slots=True)
class Walked:
    """A day after its walk. Units are those of its `step`.

    `entered` is what joins the pool, `cost_entered` what it cost; `cost_adjusted` is the pool's after adjustment;
    `carried` are the costs of `day.leaving`, `pooled` the units of disposals that the pool gave, `left` those of each
    of `day.leaving` that it gave.
    """

    step: Step
    entered: int = 0
    cost_entered: int = 0
    cost_adjusted: int = 0
    pooled: int = 0
    left: list[int] = field(default_factory=list)
    carried: list[int] = field(default_factory=list)
    capital_gain: int = 0
    cost: int = 0  # of all that the day disposes of and passes on, as far as it is matched
    units: int = 0  # of the pool after it
    pool_cost: int = 0
    short: int = 0
    held: int = 0


class Pool:
    """What is held, and what it cost: as it stands before the first step."""

    def __init__(self, units: int, cost: int) -> None:
        self._units = units
        self._cost = cost
        self._shorts: deque[Short] = deque()

    def walk(self, steps: Sequence[Step]) -> list[Walked]:
        """Every day of the steps, in order; the days' own and later acquisitions are matched already."""
        days = [self._day(step) for step in steps]
        for day in days:
            _settle(day)
        return days

    def _day(self, step: Step) -> Walked:
        day = Walked(step)
        self._enter(day)
        self._adjust(day)
        if step.day.leaving:
            self._depart(day)
        self._dispose(day)
        day.held = step.held + step.brought - step.disposed - _departed(step)
        day.units, day.pool_cost = self._units, self._cost
        day.short = sum(short.units for short in self._shorts)
        return day

    def _enter(self, day: Walked) -> None:
        step = day.step
        units, cost = step.acquired + step.added, step.cost + step.day.added_cost
        while self._shorts and units:
            short = self._shorts[0]
            covered = min(short.units, units)
            taken = part(cost, covered, units)
            short.step.takes.append(Take("later", step.day.date, covered, taken))
            units, cost, short.units = units - covered, cost - taken, short.units - covered
            if not short.units:
                self._shorts.popleft()
        day.entered, day.cost_entered = units, cost
        self._units += units
        self._cost += cost

    def _adjust(self, day: Walked) -> None:
        self._cost += day.step.day.adjustment
        if self._cost < 0:
            day.capital_gain, self._cost = -self._cost, 0
        day.cost_adjusted = self._cost

    def _depart(self, day: Walked) -> None:
        """Costs of spin-offs go first; what is passed on is matched, and settled at the end."""
        whole = max(day.step.held, 0) + day.step.brought
        named = list(zip(day.step.day.leaving, day.step.departures, strict=True))
        day.left, day.carried = [0] * len(named), [0] * len(named)
        for index, (one, units) in enumerate(named):
            if one.kind == "spun_off":
                share = spun_off(one, day.cost_adjusted, Fraction(units, whole) if whole else Fraction(0))
                day.carried[index] = min(self._cost, share)
                self._cost -= day.carried[index]
        for index, (one, units) in enumerate(named):
            if one.kind in _DEPARTING:
                day.left[index] = min(units, self._units)  # what is beyond leaves a holding below nothing
                day.carried[index] = self._leave(units)

    def _leave(self, units: int) -> int:
        """The cost of units that leave, or of as many as there are."""
        units = min(units, self._units)
        cost = part(self._cost, units, self._units) if units else 0
        self._units -= units
        self._cost -= cost
        return cost

    def _dispose(self, day: Walked) -> None:
        step = day.step
        day.pooled = min(step.out, self._units)
        if day.pooled:
            step.takes.append(Take("pool", None, day.pooled, self._leave(day.pooled)))
        if step.out > day.pooled:
            self._shorts.append(Short(step, step.out - day.pooled))


def spun_off(leaving: Leaving, cost: int, portion: Fraction) -> int:
    """The part of `cost` that a spin-off takes along; its report is about a `portion` of all that is held.

    Chosen: every spin-off of a day is reckoned on the cost before any of them, as their market values would be (TCGA
    1992 s130).
    """
    if leaving.amount is not None:
        return cost_of(leaving.amount)
    share = quantity_of(leaving.share or "0") * min(portion, Fraction(1))
    return part(cost, share.numerator, share.denominator)


def _departed(step: Step) -> int:
    """The units that were to leave by transfers and mergers, whether the pool gave them or not."""
    named = zip(step.day.leaving, step.departures, strict=True)
    return sum(units for one, units in named if one.kind in _DEPARTING)


def _settle(day: Walked) -> None:
    """What was passed on shares the cost of the day's disposals pro rata."""
    day.cost = cost = sum(take.cost for take in day.step.takes)
    units = day.step.disposed
    for index, one in enumerate(day.step.day.leaving):
        if one.kind == "passed":
            passed = day.step.departures[index]
            day.carried[index] = part(cost, passed, units)
            cost, units = cost - day.carried[index], units - passed
