"""What follows from the days of a holding, from any day on (Domain C5, decision 0022). Pure.

**Why 30 days before a change are enough.** Let the day x change, and r = x - 30 days. A disposal before r reaches
acquisitions of at most 30 days after it: all of them are before x. What of those the day itself takes depends on that
day alone, and what earlier disposals take on disposals that are earlier still; so by induction no match of a disposal
before r changes. Quantities are restated by splits and bonus issues up to the acquisition's day, which is before x. The
holding on the day before r depends on what disposals before r have left of acquisitions before r: it stays too. Hence
all that a computation needs are the days from r on, the outcome of the day before r, and what disposals before r have
taken of acquisitions from r on (`EarlierMatch`): they chose first, and keep it.

The same holds for any later r, if every disposal from x - 30 days to r is matched by days, and with days before x
alone: those days come first for it, and do not change (`restart`). A short position is covered by whatever comes, so
that r is never while one is open that was there before.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.assets.pools.days import Carried, Day, Match, Outcome
from gatewayd.areas.assets.pools.exact import cost_of, cost_text, minor_of, part, quantity_of, quantity_text
from gatewayd.areas.assets.pools.lots import Earlier, LotWalk
from gatewayd.areas.assets.pools.matching import (
    WINDOW_DAYS,
    EarlierMatch,
    Split,
    Start,
    Step,
    match_days,
    restated,
    units_of,
)
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.areas.assets.pools.walking import Pool, Walked
from gatewayd.clock import days_after


class Before(NamedTuple):
    """The last day before the computed ones, and what follows from it. `date` is "" where there is none."""

    date: str
    outcome: Outcome


class Computed(NamedTuple):
    """What follows from a day, and its gains in minor units: by the pool or on average, and by lots."""

    outcome: Outcome
    gain: int | None
    lot_gain: int | None


NOTHING = Before("", Outcome(quantity="0", pool_quantity="0", pool_cost="0"))


def restart(changed: str, days: Iterable[tuple[str, Outcome]]) -> str:
    """The first of these days that a change on the ISO date `changed` may concern, or that date. Oldest first."""
    earliest = days_after(changed, -WINDOW_DAYS)
    for date, outcome in days:
        if date >= changed:
            break
        if date >= earliest and any(_may_change(match, changed) for match in outcome.matches):
            return date
    return changed


def _may_change(match: Match, changed: str) -> bool:
    """Whether a day may: acquisitions of the 30 days go before the pool, and before what covers a short position."""
    return match.rule in ("pool", "later") or match.date is None or match.date >= changed


def kept_of(days: Iterable[tuple[str, Outcome]], first: str) -> list[EarlierMatch]:
    """What the disposals of these days, all before `first`, have taken of acquisitions from `first` on."""
    return [
        EarlierMatch(match.date, quantity_of(match.quantity) / quantity_of(outcome.factor), cost_of(match.cost))
        for _, outcome in days
        for match in outcome.matches
        if match.rule == "thirty_days" and match.date is not None and match.date >= first
    ]


def pooled(
    before: Before, days: Sequence[Day], splits: Sequence[Split], kept: Sequence[EarlierMatch]
) -> list[Computed]:
    """The days of a person's pool, which is in pounds: matched by days, then by the section 104 holding."""
    start = _start(before)
    steps, unit = restated(start, days, splits, kept)
    match_days(steps, kept, unit)
    return [
        Computed(outcome, _gain(day, _costs(day, outcome), POOL_CURRENCY), None)
        for day, outcome in _walked(before, start, (steps, unit), POOL_CURRENCY)
    ]


def averaged(
    before: Before, days: Sequence[Day], splits: Sequence[Split], earlier: Earlier, currency: str
) -> list[Computed]:
    """The days of an account: at its average cost, and beside it by lots. `earlier` are the lots before them."""
    start = _start(before)
    steps, unit = restated(start, days, splits, ())
    lots = LotWalk(before.outcome.lots, earlier, unit)
    computed = []
    for day, outcome in _walked(before, start, (steps, unit), currency):
        left = lots.day(day)
        carried = [
            Carried(cost=cost_text(cost), lot_cost=cost_text(lot_cost))
            for cost, lot_cost in zip(day.carried, left.carried, strict=True)
        ]
        gain = _gain(day, _costs(day, outcome), currency)
        lot_gain = _gain(day, _Costs(left.disposal_cost, left.distributed_cost, left.capital_gain), currency)
        computed.append(Computed(replace(outcome, carried=carried, lots=left.lots), gain, lot_gain))
    return computed


def _start(before: Before) -> Start:
    outcome = before.outcome
    factor = quantity_of(outcome.factor)
    held, pool = quantity_of(outcome.quantity), quantity_of(outcome.pool_quantity)
    return Start(before.date, factor, held / factor, pool / factor)


def _walked(
    before: Before, start: Start, restated_days: tuple[list[Step], int], currency: str
) -> Iterator[tuple[Walked, Outcome]]:
    steps, unit = restated_days
    pool = Pool(units_of(start.pool, unit), cost_of(before.outcome.pool_cost), currency)
    since = before.outcome.since
    for day in pool.walk(steps):
        if day.held <= 0:
            since = None
        elif since is None:
            since = day.step.day.date
        yield day, _outcome(day, unit, since)


def _outcome(day: Walked, unit: int, since: str | None) -> Outcome:
    factor = day.step.factor

    def quantity(units: int) -> str:
        return quantity_text(Fraction(units * factor.numerator, unit * factor.denominator))

    return Outcome(
        quantity=quantity(day.held),
        pool_quantity=quantity(day.units - day.short),
        pool_cost=cost_text(day.pool_cost),
        factor=quantity_text(factor),
        since=since,
        cost=cost_text(_disposal_cost(day)),
        matches=[
            Match(rule=take.rule, date=take.date, quantity=quantity(take.units), cost=cost_text(take.cost))
            for take in day.step.takes
        ],
        carried=[Carried(cost=cost_text(cost), lot_cost=cost_text(cost)) for cost in day.carried],
        capital_gain=cost_text(day.capital_gain),
        distributed=cost_text(day.distributed),
        distributed_cost=cost_text(day.distributed_cost),
        small=cost_text(_small(day)),
    )


def _small(day: Walked) -> int:
    """All that distributions of the day take off a cost, or would if there were so much of it."""
    return day.judged.small + sum(paid.amount for paid in day.judged.merged.values() if paid.share is None)


def _disposal_cost(day: Walked) -> int:
    """What the day's disposals cost, without what was passed to the spouse."""
    named = zip(day.step.day.leaving, day.carried, strict=True)
    return day.cost - sum(cost for leaving, cost in named if leaving.kind == "passed")


class _Costs(NamedTuple):
    """What a day's disposals cost, what the parts cost that distributions dispose of, and what was beyond all cost."""

    disposal: int
    distributed: int
    beyond: int


def _costs(day: Walked, outcome: Outcome) -> _Costs:
    return _Costs(cost_of(outcome.cost), day.distributed_cost, day.capital_gain)


def _gain(day: Walked, costs: _Costs, currency: str) -> int | None:
    """The gain in minor units; None: nothing is disposed of. Proceeds of a short position count once it is covered."""
    disposed = day.step.day.disposed
    if not disposed and not costs.beyond and not day.distributed:
        return None
    gain = minor_of(costs.beyond, currency) + minor_of(day.distributed - costs.distributed, currency)
    if disposed:
        matched = sum(take.units for take in day.step.takes)
        gain += minor_of(part(day.step.day.proceeds, matched, day.step.disposed) - costs.disposal, currency)
    return gain
