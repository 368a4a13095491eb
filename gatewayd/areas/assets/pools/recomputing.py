"""One holding computed anew from the day that changed on: reads its days, computes, writes those that differ."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gatewayd.areas.assets.pools import computing, holding_rows, splits
from gatewayd.areas.assets.pools.computing import NOTHING, Before, Computed
from gatewayd.areas.assets.pools.days import Carried, Day, Inputs, Leaving, inputs_of, read_day
from gatewayd.areas.assets.pools.exact import cost_of
from gatewayd.areas.assets.pools.holding_rows import Key, StoredDay
from gatewayd.areas.assets.pools.lots import Lot
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS, EarlierMatch, Split
from gatewayd.areas.assets.pools.scopes import Scope
from gatewayd.clock import days_after
from gatewayd.store import ReadTx, WriteTx

Changes = dict[str, Day]
"""What each day of a holding gets in addition; a figure below 0 is taken out."""


class Shift(NamedTuple):
    """The cost that a day of another holding has to take over beyond what it took before, in 1e-20; may be below 0."""

    leaving: Leaving
    date: str
    cost: int
    lot_cost: int


class Recomputed(NamedTuple):
    """What came of a change: the days from the first that was computed, and what goes on to other holdings."""

    days: list[tuple[Day, Computed]]
    shifts: list[Shift]


class Window(NamedTuple):
    """The stored days that a change concerns: those from `first` on, the day before, and what it took beforehand."""

    first: str
    before: Before
    kept: list[EarlierMatch]
    days: list[StoredDay]


def recompute(tx: WriteTx, scope: Scope, instrument_id: str, changes: Mapping[str, Day]) -> Recomputed:
    """Enter the changes into the days of a holding, and compute it anew from the first of them on."""
    key = Key(scope.id, instrument_id)
    facts = splits.of_instrument(tx, instrument_id)
    window = _window(tx, key, min(changes), matched=scope.is_pool)
    stored = {day.date: day for day in window.days}
    days, gone = _changed_days(stored, changes)
    computed = compute(tx, scope, key, window, days, facts)
    written = [
        StoredDay(day.date, _inputs(day, stored, changes), result.outcome, result.gain, result.lot_gain)
        for day, result in zip(days, computed, strict=True)
        if day.date in changes or _differs(result, stored[day.date])
    ]
    holding_rows.write_days(tx, key, written)
    holding_rows.delete_days(tx, key, [date for date in gone if date in stored])
    last = Before(days[-1].date, computed[-1].outcome) if days else window.before
    _put_holding(tx, scope, key, last, facts)
    pairs = list(zip(days, computed, strict=True))
    return Recomputed(pairs, list(shifts(stored, pairs, gone)))


def _window(tx: WriteTx, key: Key, changed: str, *, matched: bool) -> Window:
    """The window of a change on that day. A pool is matched by days, so that earlier ones may change with it."""
    stored_days = holding_rows.days_since(tx, key, days_after(changed, -2 * WINDOW_DAYS) if matched else changed)
    first = changed
    if matched:
        first = computing.restart(changed, [(day.date, day.outcome) for day in stored_days])
    before = next((day for day in reversed(stored_days) if day.date < first), None)
    if before is not None and before.outcome.pool_quantity.startswith("-"):
        first = holding_rows.short_since(tx, key, before.date)
        stored_days = holding_rows.days_since(tx, key, days_after(first, -WINDOW_DAYS))
        before = next((day for day in reversed(stored_days) if day.date < first), None)
    earlier = [(day.date, day.outcome) for day in stored_days if day.date < first]
    kept = computing.kept_of(earlier, first) if matched else []
    since = [day for day in stored_days if day.date >= first]
    return Window(first, NOTHING if before is None else Before(before.date, before.outcome), kept, since)


def _changed_days(stored: Mapping[str, StoredDay], changes: Mapping[str, Day]) -> tuple[list[Day], list[str]]:
    """The days as they are from now on, by date, and the dates to which no transaction brings anything any more."""
    days = {date: read_day(date, day.inputs) for date, day in stored.items()}
    gone = []
    for date, change in changes.items():
        day = days.setdefault(date, Day(date))
        day.add(change)
        day.staying = set()
        if day == Day(date):
            gone.append(date)
            del days[date]
    return [days[date] for date in sorted(days)], gone


def _inputs(day: Day, stored: Mapping[str, StoredDay], changes: Mapping[str, Day]) -> Inputs:
    return inputs_of(day) if day.date in changes else stored[day.date].inputs


def _differs(computed: Computed, stored: StoredDay) -> bool:
    """Whether a day differs by its outcome, or, as where a return of capital takes all the cost, by a gain alone."""
    return computed.outcome != stored.outcome or (computed.gain, computed.lot_gain) != (stored.gain, stored.lot_gain)


def compute(tx: ReadTx, scope: Scope, key: Key, window: Window, days: list[Day], facts: list[Split]) -> list[Computed]:
    """What follows from the days of a window, as they are to be."""
    if scope.is_pool:
        return computing.pooled(window.before, days, facts, window.kept)

    def earlier(first: str) -> Iterator[Lot]:
        return holding_rows.lots(tx, key, first, window.first)  # what is stored from then on is of before the change

    return computing.averaged(window.before, days, facts, earlier, scope.currency)


def _put_holding(tx: WriteTx, scope: Scope, key: Key, last: Before, facts: list[Split]) -> None:
    if not last.date:
        holding_rows.delete_holding(tx, key)
        return
    quantity = holding_rows.quantity_after(last.outcome, last.date, facts)
    holding_rows.put_holding(tx, scope, key.instrument_id, last, quantity)


def shifts(stored: Mapping[str, StoredDay], computed: list[tuple[Day, Computed]], gone: list[str]) -> Iterator[Shift]:
    """What is carried into other holdings now, less what was carried before."""
    for date in gone:
        if date in stored:
            yield from _differing(date, _carried(stored[date].inputs.leaving, stored[date].outcome.carried), {})
    for day, result in computed:
        before = stored.get(day.date)
        if day.leaving or (before is not None and before.inputs.leaving):
            old = {} if before is None else _carried(before.inputs.leaving, before.outcome.carried)
            yield from _differing(day.date, old, _carried(day.leaving, result.outcome.carried))


def _carried(leaving: list[Leaving], carried: list[Carried]) -> dict[str, tuple[Leaving, int, int]]:
    named = zip(leaving, carried, strict=True)
    return {
        leaving.transaction_id: (leaving, cost_of(with_it.cost), cost_of(with_it.lot_cost))
        for leaving, with_it in named
    }


def _differing(
    date: str, old: dict[str, tuple[Leaving, int, int]], new: dict[str, tuple[Leaving, int, int]]
) -> Iterator[Shift]:
    for id_ in sorted({*old, *new}):
        leaving = (new.get(id_) or old[id_])[0]
        cost = (new[id_][1] if id_ in new else 0) - (old[id_][1] if id_ in old else 0)
        lot_cost = (new[id_][2] if id_ in new else 0) - (old[id_][2] if id_ in old else 0)
        if leaving.to_scope is not None and (cost or lot_cost):
            yield Shift(leaving, date, cost, lot_cost)
