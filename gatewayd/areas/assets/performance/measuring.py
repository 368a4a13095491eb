"""Performance of a range of days: values at its ends and between them, what was put in, and returns. Reads only."""

import datetime
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from gatewayd.areas.assets.performance.history import History, Move, Worth
from gatewayd.areas.assets.performance.shapes import (
    Basis,
    Interval,
    Performance,
    PerformanceWarning,
    PerformanceWarningCode,
    ValueOfDay,
)
from gatewayd.areas.assets.positions.valuing import money_of
from gatewayd.clock import days_after
from gatewayd.money import Money, canonical

_MONTHS: Final[dict[Interval, int]] = {"month": 1, "quarter": 3, "year": 12}
_PLACES: Final = Decimal("0.0001")
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


class Span(NamedTuple):
    """From the beginning of an ISO date to the end of another, and the intervals at whose ends values are told."""

    first: str
    last: str
    interval: Interval


class _Flows(NamedTuple):
    """What came in and went out on each day, in major units. `known` false: something nobody knows the worth of."""

    came: dict[str, Fraction]
    went: dict[str, Fraction]
    known: bool
    at_amount: int

    @property
    def dates(self) -> list[str]:
        return sorted({*self.came, *self.went})

    def between(self, after: str, until: str) -> Fraction:
        """What was put in less what was taken out after a day, up to another."""
        came = sum((amount for date, amount in self.came.items() if after < date <= until), Fraction(0))
        return came - sum((amount for date, amount in self.went.items() if after < date <= until), Fraction(0))


def measure(history: History, span: Span, base: str, basis: Basis) -> Performance:
    """The performance of a span of at least one day."""
    before = days_after(span.first, -1)
    flows = _flows(history.moves(), before, span.last)
    start, end = history.worth(before), history.worth(span.last)
    known = flows.known and not start.unpriced and not end.unpriced
    came, went = sum(flows.came.values(), Fraction(0)), sum(flows.went.values(), Fraction(0))
    days = _days_between(before if start.value or not flows.dates else flows.dates[0], span.last)
    weighted = _money_weighted(flows, (before, start), (span.last, end)) if known else None
    links, worths = _links(history, flows, (before, start), (span.last, end)) if known else ([], [])
    timed = None if not known or any(worth.unpriced for worth in worths) else time_weighted(links)
    seen = [start, end, *worths]
    lacks_rate = known and weighted is None and bool(flows.dates or start.value)
    return Performance(
        from_date=span.first,
        to_date=span.last,
        basis=basis,
        currency=base,
        start_value=None if start.unpriced else _money(start.value, base),
        end_value=None if end.unpriced else _money(end.value, base),
        put_in=_money(came, base) if flows.known else None,
        taken_out=_money(went, base) if flows.known else None,
        gain=_money(end.value - start.value - came + went, base) if known else None,
        money_weighted_return=None if weighted is None else _percent(over(weighted, days)),
        money_weighted_annual=_percent(weighted) if weighted is not None and days >= YEAR_DAYS else None,
        time_weighted_return=None if timed is None else _percent(timed),
        time_weighted_annual=None if timed is None else _percent(yearly(timed, days)),
        values=list(_values_of_days(history, span, flows, base)),
        warnings=list(_warnings(flows, seen, lacks_rate=lacks_rate)),
    )


def _flows(moves: Iterator[Move], before: str, last: str) -> _Flows:
    came: dict[str, Fraction] = defaultdict(Fraction)
    went: dict[str, Fraction] = defaultdict(Fraction)
    known, at_amount = True, 0
    for move in moves:
        if before < move.date <= last:
            known = known and move.amount is not None
            at_amount += move.at_amount
            amount = move.amount or Fraction(0)
            if amount > 0:
                came[move.date] += amount
            elif amount < 0:
                went[move.date] -= amount
    return _Flows(came, went, known, at_amount)


def _money_weighted(flows: _Flows, start: tuple[str, Worth], end: tuple[str, Worth]) -> float | None:
    dated = [Flow(date, float(flows.went.get(date, 0) - flows.came.get(date, 0))) for date in flows.dates]
    ends = [Flow(start[0], -float(start[1].value)), Flow(end[0], float(end[1].value))]
    return money_weighted([flow for flow in (*ends, *dated) if flow.amount])


def _links(
    history: History, flows: _Flows, start: tuple[str, Worth], end: tuple[str, Worth]
) -> tuple[list[Link], list[Worth]]:
    """The parts of a range from one flow to the next, and what was held at their ends."""
    links, worths, value = [], [], start[1].value
    for date in flows.dates:
        worth = history.worth(date, by_trades=True) if date < end[0] else end[1]
        worths.append(worth)
        came, went = flows.came.get(date, Fraction(0)), flows.went.get(date, Fraction(0))
        links.append(Link(float(value), float(came), float(worth.value), float(went)))
        value = worth.value
    if not flows.dates or flows.dates[-1] < end[0]:
        links.append(Link(float(value), 0.0, float(end[1].value), 0.0))
    return links, worths


def _values_of_days(history: History, span: Span, flows: _Flows, base: str) -> Iterator[ValueOfDay]:
    before = days_after(span.first, -1)
    for date in _ends(span):
        worth = history.worth(date)
        put_in = flows.between(before, date)
        yield ValueOfDay(
            date=date,
            value=None if worth.unpriced else _money(worth.value, base),
            put_in=_money(put_in, base) if flows.known else None,
            unpriced=worth.unpriced,
            stale=worth.stale,
            currency=base,
        )
        before = date


def _ends(span: Span) -> Iterator[str]:
    """The last days of the intervals that end in the span, and the span's own last day."""
    months = _MONTHS.get(span.interval)
    if months is None:
        return
    day = datetime.date.fromisoformat(span.first)
    while True:
        number = day.year * 12 + day.month - 1
        number += months - number % months
        following = datetime.date(number // 12, number % 12 + 1, 1)
        date = (following - datetime.timedelta(days=1)).isoformat()
        if date >= span.last:
            break
        yield date
        day = following
    yield span.last


def _warnings(flows: _Flows, worths: Sequence[Worth], *, lacks_rate: bool) -> Iterator[PerformanceWarning]:
    if not flows.known or any(worth.unpriced for worth in worths):
        yield _warning("unpriced", "Something has no price or no rate of exchange on a day that counts.")
    if any(worth.stale for worth in worths):
        yield _warning("stale_price", "Some values are by prices or rates of more than a week before.")
    if any(worth.traded for worth in worths):
        yield _warning("priced_by_trades", "Between the ends, some values are by what was paid in trades.")
    if flows.at_amount:
        message = f"{flows.at_amount} transfers or opening positions without a price of the day count at their amount."
        yield _warning("valued_at_amount", message)
    if lacks_rate:
        yield _warning("no_single_rate", "What was put in and taken out has no single money-weighted rate.")


def _warning(code: PerformanceWarningCode, message: str) -> PerformanceWarning:
    return PerformanceWarning(code=code, message=message)


def _money(amount: Fraction, base: str) -> Money:
    return money_of(amount.numerator, amount.denominator, base)


def _percent(rate: float | None) -> str | None:
    if rate is None:
        return None
    return canonical(str((Decimal(rate) * 100).quantize(_PLACES, ROUND_HALF_UP)))


def _days_between(before: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(before)).days


# -- money-weighted and time-weighted returns (Domain C11), pure: rates are parts of 1


def money_weighted(flows: Sequence[Flow]) -> float | None:
    """The yearly rate at which all flows together are worth nothing, as XIRR has it.

    None: there is no such rate, or more than one.
    """
    if not flows:
        return None
    first = datetime.date.fromisoformat(min(flow.date for flow in flows))
    dated = [((datetime.date.fromisoformat(flow.date) - first).days / YEAR_DAYS, flow.amount) for flow in flows]

    def worth(logarithm: float) -> float:
        return sum(amount * math.exp(max(-_MOST, min(_MOST, -logarithm * years))) for years, amount in dated)

    low, high = math.log(_LOWEST), math.log(_HIGHEST)
    grid = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    crossings = [pair for pair in itertools.pairwise(grid) if (worth(pair[0]) > 0) != (worth(pair[1]) > 0)]
    if len(crossings) != 1:
        return None
    below, above = crossings[0]
    positive = worth(below) > 0
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if (worth(middle) > 0) == positive:
            below = middle
        else:
            above = middle
    return math.exp((below + above) / 2) - 1


def time_weighted(links: Iterable[Link]) -> float | None:
    """The growth of 1 over all links, as a part of 1. None: a link holds less than nothing.

    What moves on the last day of a link moves at its end; where nothing was held before, it moves as the link begins.
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
    """The yearly rate of a rate over so many days. None of less than a year, which says little of one (GIPS)."""
    if days < YEAR_DAYS or rate <= -1:
        return None
    return math.exp(math.log1p(rate) * YEAR_DAYS / days) - 1


def over(rate: float, days: int) -> float:
    """What a yearly rate comes to over so many days."""
    return math.exp(math.log1p(rate) * days / YEAR_DAYS) - 1
