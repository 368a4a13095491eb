"""What is held of every instrument in accounts and pools, today or at the end of a past day, and what was gained.

A few statements, whatever the number of instruments; of a past day the pools with trades of the 30 days before it are
computed one by one. Reads only.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import msgspec

from gatewayd.areas.assets.instruments.shapes import InstrumentSplit
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.computing import Computed
from gatewayd.areas.assets.pools.day_rows import Key
from gatewayd.areas.assets.pools.days import Day
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS
from gatewayd.areas.assets.pools.shapes import Outcome
from gatewayd.clock import days_after
from gatewayd.store import ReadTx, Row

_COLUMNS = """
h.scope_id, h.instrument_id, h.quantity, h.cost, h.fifo_cost, h.first_acquired_date, h.last_date, i.splits
"""
_FROM = """
FROM asset_holdings AS h JOIN instruments AS i ON i.org_id = :org_id AND i.id = h.instrument_id
WHERE h.org_id = :org_id AND h.instrument_id > :after AND h.is_open >= :open
"""
_OF_SCOPE = "AND h.scope_id = :scope_id"
_OF_PORTFOLIO = "AND h.legal_entity_id = :legal_entity_id AND h.portfolio_id = :portfolio_id"
_OF_ENTITY = "AND h.legal_entity_id = :legal_entity_id AND h.portfolio_id IS NOT NULL"
_ORDER = "ORDER BY h.instrument_id, h.scope_id"
_SELECT_SCOPE = f"SELECT {_COLUMNS}{_FROM}{_OF_SCOPE} {_ORDER}"
_SELECT_PORTFOLIO = f"SELECT {_COLUMNS}{_FROM}{_OF_PORTFOLIO} {_ORDER}"
_SELECT_ENTITY = f"SELECT {_COLUMNS}{_FROM}{_OF_ENTITY} {_ORDER}"

_DAY = """
(SELECT d.outcome FROM asset_days AS d WHERE d.org_id = :org_id AND d.scope_id = h.scope_id
    AND d.instrument_id = h.instrument_id AND d.date <= :date ORDER BY d.date DESC LIMIT 1)
"""
_DAY_DATE = """
(SELECT max(e.date) FROM asset_days AS e WHERE e.org_id = :org_id AND e.scope_id = h.scope_id
    AND e.instrument_id = h.instrument_id AND e.date <= :date)
"""
_SELECT_PAST_SCOPE = f"SELECT {_COLUMNS}, {_DAY_DATE}, {_DAY}{_FROM}{_OF_SCOPE} {_ORDER}"
_SELECT_PAST_PORTFOLIO = f"SELECT {_COLUMNS}, {_DAY_DATE}, {_DAY}{_FROM}{_OF_PORTFOLIO} {_ORDER}"
_SELECT_PAST_ENTITY = f"SELECT {_COLUMNS}, {_DAY_DATE}, {_DAY}{_FROM}{_OF_ENTITY} {_ORDER}"

_SELECT_TRADED = """
SELECT DISTINCT instrument_id FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND date > :first AND date <= :date
"""
_SELECT_POOL_GAINS = """
SELECT scope_id, instrument_id, sum(gain), sum(fifo_gain) FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND disposes = 1 AND date >= :first AND date <= :date
GROUP BY scope_id, instrument_id
"""
_SELECT_ACCOUNT_GAINS = """
SELECT d.scope_id, d.instrument_id, sum(d.gain), sum(d.fifo_gain)
FROM asset_accounts AS a
JOIN asset_days AS d ON d.org_id = :org_id AND d.scope_id = a.id
WHERE a.org_id = :org_id AND a.legal_entity_id = :legal_entity_id
    AND d.disposes = 1 AND d.date >= :first AND d.date <= :date
GROUP BY d.scope_id, d.instrument_id
"""
_SELECT_GAINS_BEFORE = """
SELECT sum(gain) FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND disposes = 1
    AND date >= :first AND date < :until
"""

_outcome = msgspec.json.Decoder(Outcome).decode
_splits = msgspec.json.Decoder(list[InstrumentSplit]).decode


class Held(NamedTuple):
    """An instrument in one scope. Costs are in 1e-20 of the scope's currency; `lot_cost` of a pool is 0.

    `since` None: nothing is held, or what is held is owed.
    """

    scope_id: str
    instrument_id: str
    quantity: Fraction
    cost: int
    lot_cost: int
    since: str | None


class Whose(NamedTuple):
    """Whose holdings are asked for: an account's, a portfolio's, or all of a legal entity."""

    legal_entity_id: str
    portfolio_id: str | None = None
    account_id: str | None = None


def ratio_between(splits: str, after: str, until: str) -> Fraction:
    """Units at the end of the ISO date `until` for one at the end of `after`. `splits` is their JSON."""
    ratio = Fraction(1)
    if splits != "[]":
        for one in _splits(splits):
            if after < one.date <= until:
                ratio *= Fraction(one.numerator, one.denominator)
    return ratio


class HeldOn:
    """What is held at the end of an ISO date, `today` or before. `after`: instruments up to that id are left out."""

    def __init__(self, tx: ReadTx, whose: Whose, date: str, *, after: str = "", closed: bool = False) -> None:
        self._tx, self._whose, self._date = tx, whose, date
        self._is_past = date < tx.today
        self._values: dict[str, object] = {"after": after, "open": int(not closed and not self._is_past)}
        self._closed = closed
        self._pools: dict[str, list[tuple[Day, Computed]]] = {}

    def accounts(self) -> Iterator[Held]:
        """What each account holds, by instrument and account."""
        tx, whose = self._tx, self._whose
        if whose.account_id is not None:
            sql, past_sql, of = _SELECT_SCOPE, _SELECT_PAST_SCOPE, {"scope_id": whose.account_id}
        elif whose.portfolio_id is not None:
            sql, past_sql = _SELECT_PORTFOLIO, _SELECT_PAST_PORTFOLIO
            of = {"legal_entity_id": whose.legal_entity_id, "portfolio_id": whose.portfolio_id}
        else:
            sql, past_sql, of = _SELECT_ENTITY, _SELECT_PAST_ENTITY, {"legal_entity_id": whose.legal_entity_id}
        if self._is_past:
            rows = tx.each(past_sql, date=self._date, **of, **self._values)
            return (held for row in rows if (held := self._past(row)) is not None and self._shows(held))
        return (_held(row) for row in tx.each(sql, **of, **self._values))

    def pools(self) -> dict[str, Held]:
        """What the pool of the legal entity holds, by instrument."""
        entity_id = self._whose.legal_entity_id
        if not self._is_past:
            return {row[1]: _held(row) for row in self._tx.rows(_SELECT_SCOPE, scope_id=entity_id, **self._values)}
        rows = self._tx.rows(_SELECT_PAST_SCOPE, scope_id=entity_id, date=self._date, **self._values)
        found = {row[1]: held for row in rows if (held := self._past(row)) is not None}
        splits = {row[1]: row[7] for row in rows if row[6] > self._date}
        for instrument_id in self._traded() & splits.keys():
            day, computed = self._replayed(instrument_id)[-1]
            ratio = ratio_between(splits[instrument_id], day.date, self._date)
            found[instrument_id] = _from_outcome((entity_id, instrument_id), computed.outcome, ratio)
        return found

    def gains(self, first: str) -> dict[tuple[str, str], tuple[int, int]]:
        """The gains since an ISO date, by scope and instrument: by pool or average, and by lots. Minor units."""
        entity_id = self._whose.legal_entity_id
        values = {"first": first, "date": self._date}
        rows = self._tx.rows(_SELECT_ACCOUNT_GAINS, legal_entity_id=entity_id, **values)
        rows += self._tx.rows(_SELECT_POOL_GAINS, scope_id=entity_id, **values)
        gains = {(scope_id, instrument_id): (gain or 0, lots or 0) for scope_id, instrument_id, gain, lots in rows}
        if self._is_past:
            for instrument_id in self._traded():
                gains[entity_id, instrument_id] = (self._past_gain(Key(entity_id, instrument_id), first), 0)
        return gains

    def _past_gain(self, key: Key, first: str) -> int:
        days = self._replayed(key.instrument_id)
        before = self._tx.value(_SELECT_GAINS_BEFORE, first=first, until=days[0][0].date, **key._asdict())
        return (before or 0) + sum(one.gain or 0 for day, one in days if day.date >= first)

    def _replayed(self, instrument_id: str) -> list[tuple[Day, Computed]]:
        """The days of a pool with any in the 30 days until the date, from those on, as they were seen then."""
        found = self._pools.get(instrument_id)
        if found is None:
            key = Key(self._whose.legal_entity_id, instrument_id)
            found = self._pools[instrument_id] = reading.replayed(self._tx, key, self._date, self._date)
        return found

    def _traded(self) -> set[str]:
        """The instruments of the pool with a day that later ones may have changed."""
        first = days_after(self._date, -WINDOW_DAYS)
        rows = self._tx.rows(_SELECT_TRADED, scope_id=self._whose.legal_entity_id, first=first, date=self._date)
        return {row[0] for row in rows}

    def _past(self, row: Row) -> Held | None:
        """What was held then; None where nothing had happened yet."""
        *today, day, text = row
        scope_id, instrument_id, _, _, _, _, last_date, splits = today
        if last_date <= self._date:
            held = _held(row)
            return held._replace(quantity=held.quantity / ratio_between(splits, self._date, "9999-12-31"))
        if day is None:
            return None
        return _from_outcome((scope_id, instrument_id), _outcome(text), ratio_between(splits, day, self._date))

    def _shows(self, held: Held) -> bool:
        return self._closed or held.quantity != 0


def _held(row: Row) -> Held:
    scope_id, instrument_id, quantity, cost, lot_cost, since = row[:6]
    lots = 0 if lot_cost is None else cost_of(lot_cost)
    return Held(scope_id, instrument_id, quantity_of(quantity), cost_of(cost), lots, since)


def _from_outcome(key: tuple[str, str], outcome: Outcome, ratio: Fraction) -> Held:
    """What followed from a day, restated by the splits since."""
    lots = 0 if outcome.lots is None else cost_of(outcome.lots.cost)
    return Held(*key, quantity_of(outcome.quantity) * ratio, cost_of(outcome.pool_cost), lots, outcome.since)
