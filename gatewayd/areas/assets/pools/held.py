"""What is held of every instrument in accounts and pools, today or at the end of a past day, and what was gained.

A few statements, whatever the number of instruments; of a past day the pools of which a disposal was identified with
what came after it are computed one by one. Reads only.
"""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec

from gatewayd.areas.assets.books.instruments import InstrumentSplit
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.computing import Computed
from gatewayd.areas.assets.pools.days import Day, Outcome
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.clock import LAST_DATE
from gatewayd.contract.pages import MAX_KEY
from gatewayd.store import ReadTx, Row

_COLUMNS = """
h.scope_id, h.instrument_id, h.quantity, h.cost, h.fifo_cost, h.currency, h.first_acquired_date, h.last_date, i.splits
"""
_FROM = """
FROM asset_holdings AS h JOIN instruments AS i ON i.org_id = :org_id AND i.id = h.instrument_id
WHERE h.org_id = :org_id AND h.instrument_id > :after AND h.instrument_id <= :last AND h.is_open >= :open
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

_OF_DISPOSALS = """
FROM asset_days WHERE org_id = :org_id AND scope_id = :scope_id AND disposes = 1 AND date >= :first AND date <= :date
    AND instrument_id > :after AND instrument_id <= :last
"""
_SELECT_GAINS = f"SELECT instrument_id, sum(gain), sum(fifo_gain) {_OF_DISPOSALS} GROUP BY instrument_id"
_SELECT_GAINS_BEFORE = """
SELECT sum(gain), sum(fifo_gain) FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND disposes = 1
    AND date >= :first AND date < :until
"""

_outcome = msgspec.json.Decoder(Outcome).decode
_splits = msgspec.json.Decoder(list[InstrumentSplit]).decode


class Held(NamedTuple):
    """An instrument in one scope. Costs are in 1e-20 of `currency`; `lot_cost` of a pool is 0.

    `since` None: nothing is held, or what is held is owed.
    """

    scope_id: str
    instrument_id: str
    quantity: Fraction
    cost: int
    lot_cost: int
    currency: str
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
        for split in _splits(splits):
            if after < split.date <= until:
                ratio *= Fraction(split.numerator, split.denominator)
    return ratio


class HeldOn:
    """What is held at the end of an ISO date, `today` or before, of instruments whose ids come behind `after`."""

    def __init__(self, tx: ReadTx, whose: Whose, date: str, *, after: str = "", closed: bool = False) -> None:
        self._tx, self._whose, self._date = tx, whose, date
        self._is_past = date < tx.today
        self._ids = {"after": after, "last": MAX_KEY}
        self._closed = closed
        self._past_pools: _PastPools | None = None

    def accounts(self) -> Iterator[Held]:
        """What each account holds, by instrument and account."""
        whose = self._whose
        if whose.account_id is not None:
            sql, past_sql, of = _SELECT_SCOPE, _SELECT_PAST_SCOPE, {"scope_id": whose.account_id}
        elif whose.portfolio_id is not None:
            sql, past_sql = _SELECT_PORTFOLIO, _SELECT_PAST_PORTFOLIO
            of = {"legal_entity_id": whose.legal_entity_id, "portfolio_id": whose.portfolio_id}
        else:
            sql, past_sql, of = _SELECT_ENTITY, _SELECT_PAST_ENTITY, {"legal_entity_id": whose.legal_entity_id}
        if not self._is_past:
            return (_held_now(row) for row in self._tx.each(sql, open=int(not self._closed), **of, **self._ids))
        rows = self._tx.each(past_sql, open=0, date=self._date, **of, **self._ids)
        past = (held for row in rows if (held := _held_in_past(row, self._date)) is not None)
        return (held for held in past if self._closed or held.quantity != 0)

    def end(self, instrument_id: str) -> None:
        """Limit what is asked from here on to instruments up to this one."""
        self._ids["last"] = instrument_id

    def pools(self) -> dict[str, Held]:
        """What the pool of the legal entity holds, by instrument."""
        if self._is_past:
            return self._past().held()
        values = {"scope_id": self._whose.legal_entity_id, "open": int(not self._closed), **self._ids}
        return {row[1]: _held_now(row) for row in self._tx.rows(_SELECT_SCOPE, **values)}

    def gains(self, held: Collection[Held], first: str, *, pooled: bool) -> dict[Key, tuple[int, int]]:
        """The gains since an ISO date, by scope and instrument: by pool or average, and by lots. Minor units.

        Of the accounts of these holdings, and with `pooled` of the pool of the legal entity.
        """
        scopes = {holding.scope_id for holding in held}
        if pooled:
            scopes.add(self._whose.legal_entity_id)
        values = {"first": first, "date": self._date, **self._ids}
        gains = {
            Key(scope_id, instrument_id): (gain or 0, lots or 0)
            for scope_id in sorted(scopes)
            for instrument_id, gain, lots in self._tx.rows(_SELECT_GAINS, scope_id=scope_id, **values)
        }
        if self._is_past:
            for holding in held:
                if holding.quantity < 0:  # what has covered it since is not known yet
                    key = Key(holding.scope_id, holding.instrument_id)
                    days = reading.replayed_account(self._tx, key, self._date, holding.currency)
                    gains[key] = _gains(self._tx, key, days, first)
            if pooled:
                gains |= self._past().gains(first)
        return gains

    def _past(self) -> "_PastPools":
        if self._past_pools is None:
            self._past_pools = _PastPools(self._tx, self._whose.legal_entity_id, self._date, self._ids)
        return self._past_pools


class _PastPools:
    """The pools of a legal entity as they were seen at the end of a past day (`reading.seen_otherwise`)."""

    def __init__(self, tx: ReadTx, legal_entity_id: str, date: str, ids: Mapping[str, str]) -> None:
        self._tx, self._date = tx, date
        self._of: dict[str, object] = {"scope_id": legal_entity_id, "date": date, **ids}
        self._rows = {Key(*row[:2]): row for row in tx.rows(_SELECT_PAST_SCOPE, open=0, **self._of)}
        self._anew = reading.seen_otherwise(tx, legal_entity_id, date)

    def held(self) -> dict[str, Held]:
        """What each held, by instrument."""
        by_instrument = {}
        for key, row in self._rows.items():
            if key in self._anew:
                day, computed = self._anew[key][-1]
                by_instrument[key.instrument_id] = _from_outcome(row, computed.outcome, day.date, self._date)
            elif (held := _held_in_past(row, self._date)) is not None:
                by_instrument[key.instrument_id] = held
        return by_instrument

    def gains(self, first: str) -> dict[Key, tuple[int, int]]:
        """The gains since an ISO date of those that were seen otherwise."""
        return {key: _gains(self._tx, key, days, first) for key, days in self._anew.items()}


def _gains(tx: ReadTx, key: Key, days: list[tuple[Day, Computed]], first: str) -> tuple[int, int]:
    """The gains since an ISO date of a holding whose last days, these, are other than they are stored."""
    gain, lots = tx.row(_SELECT_GAINS_BEFORE, first=first, until=days[0][0].date, **key._asdict()) or (0, 0)
    since = [computed for day, computed in days if day.date >= first]
    gained = sum(computed.gain or 0 for computed in since)
    gained_by_lots = sum(computed.lot_gain or 0 for computed in since)
    return (gain or 0) + gained, (lots or 0) + gained_by_lots


def _last_date(row: Row) -> str:
    return str(row[7])


def _held_in_past(row: Row, date: str) -> Held | None:
    """What was held at the end of a day; None where nothing had happened yet."""
    day, text = row[9:]
    if _last_date(row) <= date:
        held = _held_now(row)
        return held._replace(quantity=held.quantity / ratio_between(row[8], date, LAST_DATE))
    return None if day is None else _from_outcome(row, _outcome(text), day, date)


def _held_now(row: Row) -> Held:
    scope_id, instrument_id, quantity, cost, lot_cost, currency, since = row[:7]
    lots = 0 if lot_cost is None else cost_of(lot_cost)
    return Held(scope_id, instrument_id, quantity_of(quantity), cost_of(cost), lots, currency, since)


def _from_outcome(row: Row, outcome: Outcome, day: str, date: str) -> Held:
    """What followed from a day, restated by the splits until a date."""
    scope_id, instrument_id, *_, currency, _, _, splits = row[:9]
    quantity = quantity_of(outcome.quantity) * ratio_between(splits, day, date)
    lots = 0 if outcome.lots is None else cost_of(outcome.lots.cost)
    return Held(scope_id, instrument_id, quantity, cost_of(outcome.pool_cost), lots, currency, outcome.since)
