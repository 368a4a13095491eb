"""What others read of single holdings: whether one is open, days with disposals, a pool as it was seen. Reads only."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.pools import computing, holding_rows, splits
from gatewayd.areas.assets.pools.computing import NOTHING, Before, Computed
from gatewayd.areas.assets.pools.days import Day, read_day
from gatewayd.areas.assets.pools.exact import quantity_of
from gatewayd.areas.assets.pools.holding_rows import Key, StoredDay
from gatewayd.areas.assets.pools.lots import Lot
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS, Split
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


class Range(NamedTuple):
    """From one ISO date to another, both inclusive."""

    first: str
    last: str


def open_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument that the account holds, or owes; None where it is empty."""
    found: str | None = tx.value(_SELECT_OPEN, scope_id=account_id)
    return found


def short_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument of which the account has sold more than it held; None where there is none."""
    found: str | None = tx.value(_SELECT_SHORT, scope_id=account_id)
    return found


def disposals(
    tx: ReadTx, scope_id: str, days: Range, instrument_id: str | None = None, after: tuple[str, str] = ("", "")
) -> Iterator[tuple[str, StoredDay]]:
    """The days of a scope with gains, of one instrument or of all, oldest first, with their instruments.

    Those behind the day and instrument `after`, one by one, for those who stop early.
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
    found = next((day for day in holding_rows.days_between(tx, key, date, date) if day.date == date), None)
    if found is None:
        return Fraction(0)
    day = read_day(date, found.inputs)
    return day.acquired - day.disposed - day.passed


def is_restated(tx: ReadTx, key: Key, date: str) -> bool:
    """Whether a split of an ISO date changes a holding: what was held then, or sold so late that it may be matched."""
    last = next(holding_rows.days_backwards(tx, key, date), None)
    return last is not None and (last[1].quantity != "0" or last[0] >= days_after(date, -WINDOW_DAYS))


def replayed(tx: ReadTx, key: Key, first: str, last: str, more: Iterable[Day] = ()) -> list[tuple[Day, Computed]]:
    """The days of a pool as if nothing had happened after `last`, those from 30 days before `first` on.

    `more` is what is imagined besides, from `first` on.
    """
    start = days_after(first, -WINDOW_DAYS)
    found, before = _until(tx, key, start, last)
    if before.outcome.pool_quantity.startswith("-"):
        start = holding_rows.short_since(tx, key, before.date)
        found, before = _until(tx, key, start, last)
    days = {day.date: read_day(day.date, day.inputs) for day in found if day.date >= start}
    for one in more:
        days.setdefault(one.date, Day(one.date)).add(one)
    kept = computing.kept_of([(day.date, day.outcome) for day in found if day.date < start], start)
    kept = [one for one in kept if one.date in days]
    ordered = [days[date] for date in sorted(days)]
    return list(zip(ordered, computing.pooled(before, ordered, _facts(tx, key, last), kept), strict=True))


def replayed_account(tx: ReadTx, key: Key, last: str, currency: str) -> list[tuple[Day, Computed]]:
    """The days of the short position that an account has at the end of an ISO date, as if nothing had come after it."""
    start = holding_rows.short_since(tx, key, days_after(last, 1))
    found, before = _until(tx, key, start, last)
    days = [read_day(day.date, day.inputs) for day in found if day.date >= start]

    def earlier(first: str) -> Iterator[Lot]:
        return holding_rows.lots(tx, key, first, start)

    return list(zip(days, computing.averaged(before, days, _facts(tx, key, last), earlier, currency), strict=True))


# -- parts


def _until(tx: ReadTx, key: Key, start: str, last: str) -> tuple[list[StoredDay], Before]:
    """The stored days up to `last` from 30 days before `start` on, and the last one before `start`."""
    found = holding_rows.days_between(tx, key, days_after(start, -WINDOW_DAYS), last)
    before = next((day for day in reversed(found) if day.date < start), None)
    return found, NOTHING if before is None else Before(before.date, before.outcome)


def _facts(tx: ReadTx, key: Key, last: str) -> list[Split]:
    return [split for split in splits.of_instrument(tx, key.instrument_id) if split.date <= last]
