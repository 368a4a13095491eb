"""Spin-offs: of which shares' cost they take a part (TCGA 1992 s126, s130). Pure.

The original shares are those that were held as the demerger came: what is bought on its day is not of them, and keeps
what it cost. Chosen: where the reports of a day are about more than the original ones, they are about all that is held
with the day's purchases, at the average.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.pools.days import Leaving
from gatewayd.areas.assets.pools.exact import cost_of, part, quantity_of
from gatewayd.areas.assets.pools.matching import ONE, Step


class Costs(NamedTuple):
    """What all that is held cost, in 1e-20 of the base currency, and how much of that was bought on the day."""

    cost: int
    bought: int

    def adjusted(self, cost: int) -> "Costs":
        """The same where the cost of all changes in proportion."""
        return Costs(cost, part(self.bought, cost, self.cost) if self.cost else 0)


NO_COSTS: Final = Costs(0, 0)


class Report(NamedTuple):
    """A spin-off, its place in `leaving`, and the portion that it is about: of the original shares, or of all."""

    place: int
    leaving: Leaving
    portion: Fraction
    original: bool


def reports(step: Step) -> Iterator[Report]:
    """The spin-offs of a day. Two brokers' reports of one name the same new instrument."""
    held = max(step.held, 0)
    together: Counter[str | None] = Counter()
    for leaving, units in zip(step.day.leaving, step.departures, strict=True):
        if leaving.kind == "spun_off":
            together[leaving.to_instrument] += units
    for place, (leaving, units) in enumerate(zip(step.day.leaving, step.departures, strict=True)):
        if leaving.kind == "spun_off":
            original = together[leaving.to_instrument] <= held + step.added
            total = held + (step.added if original else step.brought)
            yield Report(place, leaving, min(Fraction(units, total), ONE) if total else Fraction(0), original)


def take(report: Report, before: Costs, now: Costs) -> tuple[int, Costs]:
    """What a spin-off takes along, and what is left of `now`.

    Chosen: every spin-off of a day is reckoned on the cost before any of them, as their market values would be (TCGA
    1992 s130).
    """
    if report.original:
        gone = min(now.cost - now.bought, _told_cost(report, before.cost - before.bought))
        return gone, Costs(now.cost - gone, now.bought)
    gone = min(now.cost, _told_cost(report, before.cost))
    return gone, now.adjusted(now.cost - gone)


def _told_cost(report: Report, cost: int) -> int:
    if report.leaving.amount is not None:
        return cost_of(report.leaving.amount)
    share = quantity_of(report.leaving.share or "0") * report.portion
    return part(cost, share.numerator, share.denominator)
