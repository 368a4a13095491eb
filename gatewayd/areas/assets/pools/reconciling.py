"""Whether the days and splits of instruments are what the transactions bring, all of them reckoned anew. Reads only.

`checking` computes what follows from the days; this is what goes before.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import cache, partial
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.pools import holding_rows, scopes, splits
from gatewayd.areas.assets.pools.contributions import contributions, unmeasured
from gatewayd.areas.assets.pools.days import Day, arriving, read_day
from gatewayd.areas.assets.pools.exact import cost_of
from gatewayd.areas.assets.pools.holding_rows import Key, StoredDay
from gatewayd.areas.assets.pools.scopes import Scope
from gatewayd.store import ReadTx

_SELECT_INSTRUMENTS = "SELECT id FROM instruments WHERE org_id = :org_id AND id > :after ORDER BY id LIMIT :count"
_HOLDS = "reversed_by_id IS NULL AND reverses_transaction_id IS NULL"
_SELECT_OF = f"{TRANSACTIONS.select} AND instrument_id = :instrument_id AND {_HOLDS}"
_SELECT_FROM = f"""
{TRANSACTIONS.select} AND type IN ('merger', 'spin_off') AND from_instrument_id = :instrument_id AND {_HOLDS}
"""


class DayFault(NamedTuple):
    """A day of a holding that has something else than its transactions bring. Equal days: the holding is missing."""

    scope: Scope
    key: Key
    stored: Day
    expected: Day


class Faults(NamedTuple):
    """What is wrong of some instruments: days of holdings, and whose splits are others than those that were told."""

    days: list[DayFault]
    splits: list[str]
    last: str | None  # of these instruments; None: there are no more


def faults(tx: ReadTx, after: str, count: int) -> Faults:
    """What is wrong of the next `count` instruments behind one of the organization."""
    ids = [row[0] for row in tx.rows(_SELECT_INSTRUMENTS, after=after, count=count)]
    days = [fault for id_ in ids for fault in _of_instrument(tx, id_)]
    untold = [id_ for id_ in ids if splits.differ(tx, id_)]
    return Faults(days, untold, ids[-1] if len(ids) == count else None)


def faults_of(tx: ReadTx, instrument_id: str) -> Faults:
    """What is wrong of one instrument."""
    untold = [instrument_id] if splits.differ(tx, instrument_id) else []
    return Faults(list(_of_instrument(tx, instrument_id)), untold, None)


@dataclass(slots=True)
class _Expected:
    """What transactions bring to the holdings of an instrument."""

    scope_of: dict[Key, Scope] = field(default_factory=dict)
    days: dict[Key, dict[str, Day]] = field(default_factory=lambda: defaultdict(dict))
    givers: set[tuple[Key, str]] = field(default_factory=set)  # days of other instruments from which cost comes
    unmeasured: set[str] = field(default_factory=set)  # whose quantity is what was held as they were entered

    def add(self, key: Key, day: Day) -> None:
        self.days[key].setdefault(day.date, Day(day.date)).add(day)


def _of_instrument(tx: ReadTx, instrument_id: str) -> Iterator[DayFault]:
    expected = _expected(tx, instrument_id)
    held = {Key(one.id, instrument_id): one for one in holding_rows.holders(tx, instrument_id)}
    scope_of = {**held, **expected.scope_of}
    stored = {key: {day.date: day for day in holding_rows.days_since(tx, key, "")} for key in scope_of}
    _add_carried(expected, scope_of, (day for days in stored.values() for day in days.values()), instrument_id)
    for giver, date in expected.givers:
        days = [day for day in holding_rows.days_between(tx, giver, date, date) if day.date == date]
        _add_carried(expected, scope_of, days, instrument_id)
    for key, scope in scope_of.items():
        yield from _differing(scope, key, stored[key], expected)
        if key not in held and stored[key]:
            day = read_day(*next((date, day.inputs) for date, day in stored[key].items()))
            yield DayFault(scope, key, day, day)


def _expected(tx: ReadTx, instrument_id: str) -> _Expected:
    expected = _Expected()
    concerned = cache(partial(scopes.concerned, tx))
    for row in _transactions(tx, instrument_id):
        if unmeasured(row) is not None:
            expected.unmeasured.add(row.id)
        for one in contributions(row, concerned(row.account_id), concerned):
            if one.instrument_id == instrument_id:
                key = Key(one.scope.id, instrument_id)
                expected.scope_of[key] = one.scope
                expected.add(key, one.day)
                if row.from_instrument_id is not None and row.instrument_id == instrument_id:
                    expected.givers.add((Key(one.scope.id, row.from_instrument_id), row.trade_date))
    return expected


def _transactions(tx: ReadTx, instrument_id: str) -> Iterator[AssetTransaction]:
    for sql in (_SELECT_OF, _SELECT_FROM):
        for values in tx.each(sql, instrument_id=instrument_id):
            yield TRANSACTIONS.read(tx, values)


def _add_carried(
    expected: _Expected, scope_of: Mapping[Key, Scope], givers: Iterable[StoredDay], instrument_id: str
) -> None:
    """What these days carry to the instrument, as they are stored."""
    for day in givers:
        for leaving, carried in zip(day.inputs.leaving, day.outcome.carried, strict=True):
            key = Key(leaving.to_scope or "", leaving.to_instrument or "")
            if key.instrument_id == instrument_id and key in scope_of:
                costs = cost_of(carried.cost), cost_of(carried.lot_cost)
                expected.add(key, arriving(day.date, leaving.kind, *costs, pooled=scope_of[key].is_pool))


def _differing(scope: Scope, key: Key, stored: Mapping[str, StoredDay], expected: _Expected) -> Iterator[DayFault]:
    wanted = expected.days[key]
    for date in sorted({*stored, *wanted}):
        has = read_day(date, stored[date].inputs) if date in stored else Day(date)
        wants = _measured(wanted.get(date, Day(date)), has, expected.unmeasured)
        if has != wants:
            yield DayFault(scope, key, has, wants)


def _measured(day: Day, stored: Day, of: set[str]) -> Day:
    """The day with the quantities that only the stored one knows."""
    known = {one.transaction_id: one.quantity for one in stored.leaving if one.transaction_id in of}
    known |= {one.transaction_id: one.quantity for one in stored.distributions if one.transaction_id in of}
    leaving = [replace(one, quantity=known.get(one.transaction_id, one.quantity)) for one in day.leaving]
    paid = [replace(one, quantity=known.get(one.transaction_id, one.quantity)) for one in day.distributions]
    return changed(day, leaving=leaving, distributions=paid)
