"""First in, first out: what an account's disposals and what it holds cost by lots. Pure.

A day's acquisitions are one lot. Adjustments of the cost are spread over the lots in proportion to what they cost, by
an index (`Lots.scale`), so that no lot is rewritten: a day needs the day before it, and the lots it uses up.
"""

from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.pools import distributions, spin_offs
from gatewayd.areas.assets.pools.days import ZERO, Lots
from gatewayd.areas.assets.pools.exact import cost_of, cost_text, part, quantity_of, quantity_text
from gatewayd.areas.assets.pools.matching import ONE
from gatewayd.areas.assets.pools.spin_offs import Costs
from gatewayd.areas.assets.pools.walking import Walked, portion
from gatewayd.clock import days_after

SCALE: Final = 10**40


class Lot(NamedTuple):
    """What was acquired on an ISO date, in shares of the very first day, and its cost as `Lots.base`."""

    date: str
    quantity: Fraction
    base: int


class LotDay(NamedTuple):
    """What the lots make of a day: what is left, the costs of its `leaving`, its disposals' cost, and its gain.

    `distributed_cost` is the cost of the parts that distributions dispose of.
    """

    lots: Lots
    carried: list[int]
    disposal_cost: int
    capital_gain: int
    distributed_cost: int


Earlier = Callable[[str], Iterator[Lot]]
"""The lots of days before the computed ones, from this date on."""


class LotWalk:
    """The lots of an account from a day on. `before` is the day before's, None where there is none."""

    def __init__(self, before: Lots | None, earlier: Earlier, unit: int) -> None:
        before = before or Lots()
        self._unit = unit
        self._first, self._taken = before.first, quantity_of(before.taken)
        self._cost, self._loose = cost_of(before.cost), cost_of(before.loose)
        self._scale = SCALE if before.scale is None else int(before.scale)
        self._worthless = before.worthless
        self._earlier: Iterator[Lot] = iter(()) if before.first is None else earlier(before.first)
        self._new: deque[Lot] = deque()
        self._current: Lot | None = None
        self._carried: list[int] = []
        self._excess = self._distributed_cost = self._base = 0

    def day(self, walked: Walked) -> LotDay:
        """Enter one day more, in the order of its walk."""
        entered = Fraction(walked.entered, self._unit)
        self._enter(walked, entered)
        before = Costs(self._cost, min(walked.step.cost, walked.cost_entered) if entered else 0)
        adjustment = walked.step.day.adjustment - walked.judged.small
        self._excess, self._distributed_cost = max(0, -(self._cost + adjustment)), 0
        self._adjust(walked.step.day.date, adjustment)
        self._carried = [0] * len(walked.carried)
        self._spin_off(walked, before.adjusted(self._cost))
        self._distribute(walked)
        held = self._depart(walked, walked.units + walked.pooled + sum(walked.left))
        cost = self._take(walked.pooled, held) if walked.pooled else 0
        cost += sum(take.cost for take in walked.step.takes if take.rule == "later")
        cost = self._pass_on(walked, cost)
        return LotDay(self._lots(entered, cost), self._carried, cost, self._excess, self._distributed_cost)

    def _enter(self, walked: Walked, quantity: Fraction) -> None:
        cost = walked.cost_entered + walked.step.day.lot_difference
        self._cost += cost
        self._base = 0
        if not quantity:
            self._loose += cost
            return
        lot = Lot(walked.step.day.date, quantity, cost * SCALE // self._scale)
        self._new.append(lot)
        self._base = lot.base
        if self._first is None:
            self._first, self._taken = lot.date, ZERO

    def _adjust(self, date: str, adjustment: int) -> None:
        """Chosen: an adjustment of what has no cost left is spread over all that is held, in equal parts."""
        if self._cost:
            self._rescale(max(0, self._cost + adjustment), date)
        elif adjustment > 0:
            self._cost, self._loose = adjustment, self._loose + adjustment

    def _rescale(self, cost: int, date: str) -> None:
        if cost == self._cost:
            return
        if cost:
            self._scale = part(self._scale, cost, self._cost)
            self._loose = part(self._loose, cost, self._cost)
        else:
            self._scale, self._loose, self._worthless = SCALE, 0, date
        self._cost = cost

    def _spin_off(self, walked: Walked, costs: Costs) -> None:
        """Take the costs of spin-offs as the pool does: out of all lots together, in proportion to what they cost."""
        left = costs
        for report in spin_offs.reports(walked.step):
            before = left
            self._carried[report.place], left = spin_offs.take(report, costs, left)
            if report.original and before.bought:
                self._rescale_original(before, left.cost, walked.step.day.date)
            else:
                self._rescale(left.cost, walked.step.day.date)

    def _rescale_original(self, before: Costs, cost: int, date: str) -> None:
        """Let all that was not bought on the day cost so much; the day's own lot keeps its part of the cost."""
        original, left = before.cost - before.bought, cost - before.bought
        if left == original:
            return
        others = self._base * self._scale // SCALE - before.bought  # what else is in the lot of the day
        if left:
            self._scale = part(self._scale, left, original)
            self._loose = part(self._loose, left, original)
            others = part(others, left, original)
        else:
            self._scale, self._loose, self._worthless, others = SCALE, 0, days_after(date, -1), 0
        self._base = (before.bought + max(others, 0)) * SCALE // self._scale
        self._new[-1] = self._new[-1]._replace(base=self._base)
        self._cost = cost

    def _distribute(self, walked: Walked) -> None:
        """Take the costs of distributions as the pool does: out of all lots, in proportion to what they cost."""
        cost = self._cost
        for paid in walked.judged.parts:
            of = portion(walked.step, walked.step.paid_on[paid.place])
            off = min(self._cost, distributions.take(paid, part(cost, of.numerator, of.denominator)).off)
            self._distributed_cost += off
            self._rescale(self._cost - off, walked.step.day.date)

    def _depart(self, walked: Walked, held: int) -> int:
        """Take out what leaves at cost, of so many units that are held; answers how many are held after it."""
        for index, units in enumerate(walked.left):
            if units:
                self._carried[index] = self._take(units, held)
                held -= units
            paid = walked.judged.merged.get(walked.step.day.leaving[index].transaction_id)
            if paid is not None:
                taken = distributions.take(paid, self._carried[index])
                self._carried[index] -= taken.off
                self._excess += taken.excess
                self._distributed_cost += taken.cost
        return held

    def _take(self, units: int, held: int) -> int:
        """Take the units that came first, of as many as are held; answers what they cost."""
        if units >= held:
            cost, self._cost, self._loose = self._cost, 0, 0
            self._new.clear()
            self._earlier = iter(())
            self._current, self._first, self._taken = None, None, ZERO
            return cost
        loose = part(self._loose, units, held)
        cost = min(self._cost, loose + self._use_up(Fraction(units, self._unit)))
        self._loose -= loose
        self._cost -= cost
        return cost

    def _use_up(self, quantity: Fraction) -> int:
        cost = 0
        while quantity:
            lot = self._next()
            used = min(quantity, lot.quantity - self._taken)
            end = self._taken + used
            base = _part(lot.base, end, lot.quantity) - _part(lot.base, self._taken, lot.quantity)
            if self._worthless is None or lot.date > self._worthless:
                cost += base * self._scale // SCALE
            quantity -= used
            self._taken = end
            if end == lot.quantity:
                self._current, self._taken = None, ZERO
                self._next()
        return cost

    def _next(self) -> Lot:
        """The first lot that is not used up. There is one, for more is held than is taken."""
        if self._current is None:
            self._current = next(self._earlier, None) or self._new.popleft()
            self._first = self._current.date
        return self._current

    def _pass_on(self, walked: Walked, cost: int) -> int:
        """Share the cost of the day's disposals pro rata with what was passed on; answers the cost of the others."""
        units = walked.step.disposed
        for index, leaving in enumerate(walked.step.day.leaving):
            if leaving.kind == "passed":
                passed = walked.step.departures[index]
                self._carried[index] = gone = part(cost, passed, units)
                cost, units = cost - gone, units - passed
        return cost

    def _lots(self, lot: Fraction, disposal_cost: int) -> Lots:
        return Lots(
            lot=quantity_text(lot),
            base=cost_text(self._base),
            first=self._first,
            taken=quantity_text(self._taken),
            cost=cost_text(self._cost),
            loose=cost_text(self._loose),
            scale=None if self._scale == SCALE else str(self._scale),
            worthless=self._worthless,
            disposal_cost=cost_text(disposal_cost),
        )


def _part(cost: int, quantity: Fraction, total: Fraction) -> int:
    ratio = quantity / total if quantity != total else ONE
    return part(cost, ratio.numerator, ratio.denominator)
