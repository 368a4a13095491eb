"""The section 104 holding by date, or what an account holds at its average cost (Domain C5.5 to C5.8). Pure.

A day goes in this order, whatever the order of its transactions:

1. splits and bonus issues restate what is held;
2. what is acquired and not matched enters, and what rights issues, spin-offs, mergers and transfers add; a short
   position is covered first;
3. the cost is adjusted, not below 0: what is beyond is a gain;
4. spin-offs take their parts of the cost;
5. capital distributions that are not small take theirs;
6. what leaves for other holdings goes at the average, then what is disposed of and not matched. What is disposed of
   beyond that is a short position: it is identified with what enters next (TCGA 1992 s105(2)).
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from gatewayd.areas.assets.pools import distributions, spin_offs
from gatewayd.areas.assets.pools.days import Departure
from gatewayd.areas.assets.pools.distributions import Judged, Taken
from gatewayd.areas.assets.pools.exact import part
from gatewayd.areas.assets.pools.matching import ONE, Step, Take

_DEPARTING: Final[tuple[Departure, ...]] = ("moved", "removed")


@dataclass(slots=True)
class Short:
    """A part of a disposal that nothing covers yet."""

    step: Step
    units: int


@dataclass(slots=True)
class Walked:
    """A day after its walk. Units are those of its `step`.

    `entered` is what joins the pool, `cost_entered` what it cost; `costs` are the pool's after adjustment;
    `carried` are the costs of `day.leaving`, `pooled` the units of disposals that the pool gave, `left` those of each
    of `day.leaving` that it gave. `distributed` is what distributions gave for a part, and `distributed_cost` what
    that part cost.
    """

    step: Step
    entered: int = 0
    cost_entered: int = 0
    costs: spin_offs.Costs = spin_offs.NO_COSTS
    pooled: int = 0
    left: list[int] = field(default_factory=list)
    carried: list[int] = field(default_factory=list)
    judged: Judged = distributions.NONE
    capital_gain: int = 0
    distributed: int = 0
    distributed_cost: int = 0
    cost: int = 0  # of all that the day disposes of and passes on, as far as it is matched
    units: int = 0  # of the pool after it
    pool_cost: int = 0
    short: int = 0
    held: int = 0


class Pool:
    """What is held, and what it cost in a currency: as it stands before the first step."""

    def __init__(self, units: int, cost: int, currency: str) -> None:
        self._units = units
        self._cost = cost
        self._currency = currency
        self._shorts: deque[Short] = deque()

    def walk(self, steps: Sequence[Step]) -> list[Walked]:
        """Every day of the steps, in order; the days' own and later acquisitions are matched already."""
        days = [self._day(step) for step in steps]
        for day in days:
            _settle(day)
        return days

    def _day(self, step: Step) -> Walked:
        day = Walked(step)
        if step.day.distributions:
            day.judged = distributions.judge(step.day.distributions, step.day.leaving, self._currency)
        self._enter(day)
        self._adjust(day)
        if step.day.leaving:
            self._spin_off(day)
        if day.judged.parts:
            self._distribute(day)
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
        entered = spin_offs.Costs(self._cost, min(day.step.cost, day.cost_entered))
        self._cost += day.step.day.adjustment - day.judged.small
        if self._cost < 0:
            day.capital_gain, self._cost = -self._cost, 0
        day.costs = entered.adjusted(self._cost)

    def _spin_off(self, day: Walked) -> None:
        """Take the costs of spin-offs, before any other."""
        day.left, day.carried = [0] * len(day.step.day.leaving), [0] * len(day.step.day.leaving)
        left = day.costs
        for report in spin_offs.reports(day.step):
            day.carried[report.place], left = spin_offs.take(report, day.costs, left)
        self._cost = left.cost

    def _distribute(self, day: Walked) -> None:
        """Take each distribution's part of the cost before any of them, so that two brokers' reports of one add up."""
        cost = self._cost
        for paid in day.judged.parts:
            of = portion(day.step, day.step.paid_on[paid.place])
            taken = distributions.take(paid, part(cost, of.numerator, of.denominator))
            off = min(self._cost, taken.off)
            self._cost -= off
            _count_distribution(day, taken._replace(off=off, cost=off))

    def _depart(self, day: Walked) -> None:
        """Take out what leaves at cost; what is passed on is matched, and settled at the end."""
        for index, (leaving, units) in enumerate(zip(day.step.day.leaving, day.step.departures, strict=True)):
            if leaving.kind in _DEPARTING:
                day.left[index] = min(units, self._units)  # what is beyond leaves a holding below nothing
                day.carried[index] = self._leave(units)
                if (paid := day.judged.merged.get(leaving.transaction_id)) is not None:
                    taken = distributions.take(paid, day.carried[index])
                    day.carried[index] -= taken.off
                    _count_distribution(day, taken)

    def _leave(self, units: int) -> int:
        """Take out units, or as many as there are; answers what they cost."""
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


def portion(step: Step, units: int) -> Fraction:
    """How much of all that is held that day a report of so many units is about."""
    total = max(step.held, 0) + step.brought
    return min(Fraction(units, total), ONE) if total else Fraction(0)


def _count_distribution(day: Walked, taken: Taken) -> None:
    day.capital_gain += taken.excess
    day.distributed += taken.proceeds
    day.distributed_cost += taken.cost


def _departed(step: Step) -> int:
    """The units that were to leave by transfers and mergers, whether the pool gave them or not."""
    named = zip(step.day.leaving, step.departures, strict=True)
    return sum(units for leaving, units in named if leaving.kind in _DEPARTING)


def _settle(day: Walked) -> None:
    """Share the cost of the day's disposals pro rata with what was passed on."""
    day.cost = cost = sum(take.cost for take in day.step.takes)
    units = day.step.disposed
    for index, leaving in enumerate(day.step.day.leaving):
        if leaving.kind == "passed":
            passed = day.step.departures[index]
            day.carried[index] = part(cost, passed, units)
            cost, units = cost - day.carried[index], units - passed
