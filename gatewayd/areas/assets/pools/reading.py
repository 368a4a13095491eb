"""What others read of single holdings: whether one is open, days with disposals, a pool as it was seen. Reads only.

At the end of a past day, nothing was matched with what came later. A pool was seen otherwise than it is stored now in
two cases: something left in the 30 days before, and was matched with a later acquisition; or a short position was open,
which something may have covered since. What such a pool gave at cost, to a spouse or to another instrument, had another
cost then too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from gatewayd.areas.assets.pools import computing, holding_rows, splits
from gatewayd.areas.assets.pools.computing import NOTHING, Before, Computed
from gatewayd.areas.assets.pools.days import Day, Outcome, arriving, inputs_of, read_day
from gatewayd.areas.assets.pools.exact import quantity_of
from gatewayd.areas.assets.pools.holding_rows import Key, StoredDay
from gatewayd.areas.assets.pools.lots import Lot
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS, Split
from gatewayd.areas.assets.pools.recomputing import shifts
from gatewayd.clock import days_after
from gatewayd.store import ReadTx

_SELECT_OPEN = """
SELECT instrument_id FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open = 1 ORDER BY instrument_id LIMIT 1
"""
_SELECT_SHORT = """
SELECT instrument_id FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open = 1 AND substr(quantity, 1, 1) = '-'
ORDER BY instrument_id LIMIT 1
"""
_DISPOSALS = """
SELECT instrument_id, date, inputs, outcome, gain, fifo_gain FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND disposes = 1 AND date >= :first AND date <= :last
"""
_SELECT_DISPOSALS = f"{_DISPOSALS} AND (date, instrument_id) > (:after_date, :after_id) ORDER BY date, instrument_id"
_SELECT_DISPOSALS_OF = f"{_DISPOSALS} AND instrument_id = :instrument_id AND date > :after_date ORDER BY date"
_SELECT_DISPOSAL_DAYS = """
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND disposes = 1 ORDER BY date
"""

SeenDays = list[tuple[Day, Computed]]
"""The last days of a pool, up to the past one, as they were seen at its end."""

_ROUNDS: Final = 8  # as of recording, beyond which nothing was accepted
_LATER = "WHERE h.org_id = :org_id AND h.scope_id = :scope_id AND h.last_date > :date"
_SELECT_RECENT = f"""
SELECT d.instrument_id, d.outcome FROM asset_holdings AS h
JOIN asset_days AS d ON d.org_id = :org_id AND d.scope_id = h.scope_id AND d.instrument_id = h.instrument_id
    AND d.date >= :first AND d.date <= :date
{_LATER}
"""
_SELECT_LAST = f"""
SELECT h.instrument_id, (
    SELECT d.outcome FROM asset_days AS d WHERE d.org_id = :org_id AND d.scope_id = h.scope_id
        AND d.instrument_id = h.instrument_id AND d.date <= :date ORDER BY d.date DESC LIMIT 1
)
FROM asset_holdings AS h {_LATER}
"""
_SELECT_GIVERS = """
SELECT DISTINCT giver.legal_entity_id FROM asset_accounts AS account
JOIN asset_transactions AS done ON done.org_id = :org_id AND done.account_id = account.id
    AND done.type = 'transfer_in' AND done.trade_date <= :date AND done.spouse_transfer = 1
    AND done.reversed_by_id IS NULL
JOIN asset_accounts AS giver ON giver.org_id = :org_id AND giver.id = done.counter_account_id
WHERE account.org_id = :org_id AND account.legal_entity_id = :legal_entity_id AND account.tax_wrapper = 'none'
"""
_SELECT_DAYS = """
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND date > :after AND date <= :until
ORDER BY date LIMIT :count
"""

_outcome = msgspec.json.Decoder(Outcome).decode


class Range(NamedTuple):
    """From one ISO date to another, both inclusive."""

    first: str
    last: str


def open_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument that the account holds, or owes; None where it is empty."""
    instrument_id: str | None = tx.value(_SELECT_OPEN, scope_id=account_id)
    return instrument_id


def short_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument of which the account has sold more than it held; None where there is none."""
    instrument_id: str | None = tx.value(_SELECT_SHORT, scope_id=account_id)
    return instrument_id


def disposals(
    tx: ReadTx, scope_id: str, days: Range, instrument_id: str | None = None, after: tuple[str, str] = ("", "")
) -> Iterator[tuple[str, StoredDay]]:
    """The days of a scope with gains, of one instrument or of all, oldest first, with their instruments.

    They begin behind the day and instrument `after`, and come one by one, for those who stop early.
    """
    values = {"scope_id": scope_id, "first": max(days.first, after[0]), "last": days.last, "after_date": after[0]}
    if instrument_id is None:
        rows = tx.each(_SELECT_DISPOSALS, after_id=after[1], **values)
    else:
        rows = tx.each(_SELECT_DISPOSALS_OF, instrument_id=instrument_id, **values)
    for row in rows:
        yield row[0], holding_rows.stored_day(row[1:])


def disposal_days(tx: ReadTx, scope_id: str, instrument_id: str) -> list[StoredDay]:
    """All days with disposals of one holding, oldest first."""
    rows = tx.rows(_SELECT_DISPOSAL_DAYS, scope_id=scope_id, instrument_id=instrument_id)
    return [holding_rows.stored_day(row) for row in rows]


def quantity_held(tx: ReadTx, account_id: str, instrument_id: str, date: str) -> Fraction:
    """What an account holds of an instrument at the end of an ISO date."""
    last = next(holding_rows.days_backwards(tx, Key(account_id, instrument_id), days_after(date, 1)), None)
    if last is None:
        return Fraction(0)
    facts = splits.of_instrument(tx, instrument_id)
    return quantity_of(holding_rows.quantity_after(last[1], last[0], facts, date))


def traded(tx: ReadTx, key: Key, date: str) -> Fraction:
    """By how much the trades and gifts of a day changed a holding."""
    stored = next((day for day in holding_rows.days_between(tx, key, date, date) if day.date == date), None)
    if stored is None:
        return Fraction(0)
    day = read_day(date, stored.inputs)
    return day.acquired - day.disposed - day.passed


def is_restated(tx: ReadTx, key: Key, date: str) -> bool:
    """Whether a split of an ISO date changes a holding: it is held, or was sold so late that it may be matched."""
    last = next(holding_rows.days_backwards(tx, key, date), None)
    return last is not None and (last[1].quantity != "0" or last[0] >= days_after(date, -WINDOW_DAYS))


# -- as it was seen at the end of a past day


def replayed(tx: ReadTx, key: Key, first: str, last: str, more: Iterable[Day] = ()) -> list[tuple[Day, Computed]]:
    """The days of a pool from 30 days before `first` on, as if nothing had happened after `last`.

    `more` are days that are imagined besides, from `first` on.
    """
    start = days_after(first, -WINDOW_DAYS)
    stored, before = _days_until(tx, key, start, last)
    if before.outcome.pool_quantity.startswith("-"):
        start = holding_rows.short_since(tx, key, before.date)
        stored, before = _days_until(tx, key, start, last)
    days = {day.date: read_day(day.date, day.inputs) for day in stored if day.date >= start}
    for imagined in more:
        days.setdefault(imagined.date, Day(imagined.date)).add(imagined)
    kept = computing.kept_of([(day.date, day.outcome) for day in stored if day.date < start], start)
    kept = [match for match in kept if match.date in days]
    ordered = [days[date] for date in sorted(days)]
    return list(zip(ordered, computing.pooled(before, ordered, _splits_until(tx, key, last), kept), strict=True))


def replayed_account(tx: ReadTx, key: Key, last: str, currency: str) -> list[tuple[Day, Computed]]:
    """The days of the short position that an account has at the end of an ISO date, as if nothing had come after it."""
    start = holding_rows.short_since(tx, key, days_after(last, 1))
    stored, before = _days_until(tx, key, start, last)
    days = [read_day(day.date, day.inputs) for day in stored if day.date >= start]

    def earlier(first: str) -> Iterator[Lot]:
        return holding_rows.lots(tx, key, first, start)

    computed = computing.averaged(before, days, _splits_until(tx, key, last), earlier, currency)
    return list(zip(days, computed, strict=True))


def _days_until(tx: ReadTx, key: Key, start: str, last: str) -> tuple[list[StoredDay], Before]:
    """The stored days up to `last` from 30 days before `start` on, and the last one before `start`."""
    stored = holding_rows.days_between(tx, key, days_after(start, -WINDOW_DAYS), last)
    before = next((day for day in reversed(stored) if day.date < start), None)
    return stored, NOTHING if before is None else Before(before.date, before.outcome)


def _splits_until(tx: ReadTx, key: Key, last: str) -> list[Split]:
    return [split for split in splits.of_instrument(tx, key.instrument_id) if split.date <= last]


class Days(NamedTuple):
    """Days of a holding, oldest first, and what was left the day before them; None: nothing was."""

    days: list[StoredDay]
    before: Outcome | None


def days_of(tx: ReadTx, key: Key, until: str, after: str, count: int, *, matched: bool) -> Days:
    """At most `count` days of a holding after an ISO date, up to another; of a pool, as if nothing came after that."""
    rows = tx.rows(_SELECT_DAYS, after=after, until=until, count=count, **key._asdict())
    days = [holding_rows.stored_day(row) for row in rows]
    before = next(holding_rows.days_backwards(tx, key, days[0].date), None) if days else None
    left = None if before is None else before[1]
    if not matched or not days or until >= tx.today:
        return Days(days, left)
    anew = {day.date: (day, computed) for day, computed in seen_otherwise(tx, key.scope_id, until).get(key, [])}
    if before is not None and before[0] in anew:
        left = anew[before[0]][1].outcome
    return Days([_replaced_day(day, anew.get(day.date)) for day in days], left)


def seen_otherwise(tx: ReadTx, legal_entity_id: str, date: str) -> dict[Key, SeenDays]:
    """The pools of a person that were seen otherwise at the end of an ISO date before today."""
    givers, waiting = [], [legal_entity_id]
    while waiting:
        scope_id = waiting.pop()
        givers.append(scope_id)
        giver_ids = [row[0] for row in tx.rows(_SELECT_GIVERS, legal_entity_id=scope_id, date=date)]
        waiting += [id_ for id_ in giver_ids if id_ not in givers and id_ not in waiting]
    past = _Past(tx, date, {})
    past.settle({Key(scope_id, id_) for scope_id in givers for id_ in _changed_instruments(tx, scope_id, date)})
    return {key: days for key, days in past.seen.items() if key.scope_id == legal_entity_id}


@dataclass(slots=True)
class _Past:
    """Pools that are computed anew, and how much more came to each at cost, by the pool and transaction it is from."""

    tx: ReadTx
    date: str
    seen: dict[Key, SeenDays]
    came: dict[Key, dict[tuple[Key, str], Day]] = field(default_factory=lambda: defaultdict(dict))
    rounds: Counter[tuple[Key, str]] = field(default_factory=Counter)

    def settle(self, waiting: set[Key]) -> None:
        """Compute these anew, and those to which they gave, until nothing differs any more."""
        while waiting:
            key = min(waiting, key=lambda pool: (self._first(pool), pool))
            waiting.remove(key)
            more = list(self.came[key].values())
            self.seen[key] = replayed(self.tx, key, self._first(key), self.date, more)
            waiting |= set(self._pass_on(key))

    def _first(self, key: Key) -> str:
        """The first day on which another cost came to a pool; else the last day of all."""
        return min((day.date for day in self.came[key].values()), default=self.date)

    def _pass_on(self, giver: Key) -> Iterator[Key]:
        """Give to others what the giver gave; answers which of them that changes."""
        first = self.seen[giver][0][0].date
        stored = {
            day.date: day for day in holding_rows.days_between(self.tx, giver, first, self.date) if day.date >= first
        }
        gave: dict[tuple[Key, str], Day] = {}
        for shift in shifts(stored, self.seen[giver], []):
            taker = Key(shift.leaving.to_scope or "", shift.leaving.to_instrument or "")
            gave[taker, shift.leaving.transaction_id] = arriving(
                shift.date, shift.leaving.kind, shift.cost, 0, pooled=True
            )
        before = {(taker, id_) for taker, days in self.came.items() for from_, id_ in days if from_ == giver}
        for taker, id_ in sorted({*before, *gave}):
            day = gave.get((taker, id_), Day(self.date))
            if self.came[taker].get((giver, id_)) != day and self.rounds[taker, id_] < _ROUNDS:
                self.came[taker][giver, id_] = day
                self.rounds[taker, id_] += 1
                yield taker


def _changed_instruments(tx: ReadTx, scope_id: str, date: str) -> Iterator[str]:
    """The instruments whose pool matched something up to the day with something later, or may have covered it."""
    first = days_after(date, 1 - WINDOW_DAYS)
    for instrument_id, text in tx.rows(_SELECT_RECENT, scope_id=scope_id, first=first, date=date):
        if any((match.date or "") > date for match in _outcome(text).matches):
            yield instrument_id
    for instrument_id, text in tx.rows(_SELECT_LAST, scope_id=scope_id, date=date):
        if text is not None and _outcome(text).pool_quantity.startswith("-"):
            yield instrument_id


def _replaced_day(day: StoredDay, anew: tuple[Day, Computed] | None) -> StoredDay:
    if anew is None:
        return day
    return day._replace(inputs=inputs_of(anew[0]), outcome=anew[1].outcome, gain=anew[1].gain)
