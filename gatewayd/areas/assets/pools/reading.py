"""What others read of holdings: today's, those of a past day, the gains of a range of days. Reads only."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.pools import computing, day_rows, holding_rows, splits
from gatewayd.areas.assets.pools.computing import NOTHING, Before, Computed
from gatewayd.areas.assets.pools.day_rows import Key, StoredDay
from gatewayd.areas.assets.pools.days import Day, read_day
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS, Split
from gatewayd.areas.assets.pools.shapes import Outcome
from gatewayd.clock import days_after
from gatewayd.store import ReadTx, Row

_SELECT_OPEN = """
SELECT instrument_id FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open = 1 ORDER BY instrument_id LIMIT 1
"""
_SELECT_SHORT = """
SELECT instrument_id FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open = 1 AND substr(quantity, 1, 1) = '-'
ORDER BY instrument_id LIMIT 1
"""
_COLUMNS = "scope_id, instrument_id, portfolio_id, currency, quantity, cost, fifo_cost, first_acquired_date, last_date"
_SELECT_OF_SCOPE = f"""
SELECT {_COLUMNS} FROM asset_holdings
WHERE org_id = :org_id AND scope_id = :scope_id AND is_open >= :least ORDER BY instrument_id
"""
_SELECT_OF_PORTFOLIO = f"""
SELECT {_COLUMNS} FROM asset_holdings
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND portfolio_id = :portfolio_id AND is_open >= :least
ORDER BY instrument_id, scope_id
"""
_SELECT_OF_ENTITY = f"""
SELECT {_COLUMNS} FROM asset_holdings
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND portfolio_id IS NOT NULL AND is_open >= :least
ORDER BY instrument_id, scope_id
"""
_SELECT_REALISED = """
SELECT instrument_id, sum(gain), sum(fifo_gain) FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND disposes = 1 AND date >= :first AND date <= :last
GROUP BY instrument_id
"""
_SELECT_DISPOSALS = """
SELECT instrument_id, date, inputs, outcome, gain, fifo_gain FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND disposes = 1 AND date >= :first AND date <= :last
ORDER BY date, instrument_id
"""
_SELECT_DISPOSAL_DAYS = """
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND disposes = 1 ORDER BY date
"""
_SELECT_DAYS = """
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND date > :after AND date <= :until
ORDER BY date LIMIT :count
"""


class Holding(NamedTuple):
    """What a scope holds of an instrument. Costs are in 1e-20 of `currency`.

    `portfolio_id` None: the pool of a legal entity, whose `cost` is that of the section 104 holding; else the cost is
    at the account's average, and `lot_cost` what it is first in, first out. `since` is when it was first acquired
    after nothing was held, `last_date` the last day on which something happened.
    """

    scope_id: str
    instrument_id: str
    portfolio_id: str | None
    currency: str
    quantity: Fraction
    cost: int
    lot_cost: int | None
    since: str | None
    last_date: str


class Days(NamedTuple):
    """Days of a holding, oldest first, and what was left the day before them; None: nothing was."""

    days: list[StoredDay]
    before: Outcome | None


class Realised(NamedTuple):
    """Gains of a range of days in minor units: by the pool or on average, and first in, first out. None: none."""

    gain: int | None
    lot_gain: int | None


def open_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument that the account holds, or owes; None where it is empty."""
    found: str | None = tx.value(_SELECT_OPEN, scope_id=account_id)
    return found


def short_position(tx: ReadTx, account_id: str) -> str | None:
    """The id of an instrument of which the account has sold more than it held; None where there is none."""
    found: str | None = tx.value(_SELECT_SHORT, scope_id=account_id)
    return found


def of_scope(tx: ReadTx, scope_id: str, *, closed: bool = False) -> list[Holding]:
    """What an account, or the pool of a legal entity, holds today; with `closed` also what it held once."""
    return [_holding(row) for row in tx.rows(_SELECT_OF_SCOPE, scope_id=scope_id, least=int(not closed))]


def of_portfolio(tx: ReadTx, legal_entity_id: str, portfolio_id: str, *, closed: bool = False) -> list[Holding]:
    """What the accounts of a portfolio hold today, each for itself."""
    named = {"legal_entity_id": legal_entity_id, "portfolio_id": portfolio_id}
    return [_holding(row) for row in tx.rows(_SELECT_OF_PORTFOLIO, least=int(not closed), **named)]


def of_entity(tx: ReadTx, legal_entity_id: str, *, closed: bool = False) -> list[Holding]:
    """What the accounts of a legal entity hold today, each for itself; its pool is not among them."""
    return [_holding(row) for row in tx.rows(_SELECT_OF_ENTITY, legal_entity_id=legal_entity_id, least=int(not closed))]


def as_of(tx: ReadTx, holdings: Sequence[Holding], date: str) -> list[Holding]:
    """These holdings as they were at the end of an ISO date; those that were not there yet are left out.

    What was entered since counts, what happened since does not: a later acquisition matches nothing yet.
    """
    found = [_past(tx, one, date) for one in holdings]
    return [one for one in found if one is not None]


def realised(tx: ReadTx, scope_id: str, first: str, last: str) -> dict[str, Realised]:
    """The gains of a scope from one ISO date to another, by instrument."""
    rows = tx.rows(_SELECT_REALISED, scope_id=scope_id, first=first, last=last)
    return {instrument_id: Realised(gain, lot_gain) for instrument_id, gain, lot_gain in rows}


def disposals(tx: ReadTx, scope_id: str, first: str, last: str) -> list[tuple[str, StoredDay]]:
    """The days of a scope with gains, from one ISO date to another, oldest first, with their instruments."""
    rows = tx.rows(_SELECT_DISPOSALS, scope_id=scope_id, first=first, last=last)
    return [(row[0], day_rows.stored_day(row[1:])) for row in rows]


def disposal_days(tx: ReadTx, scope_id: str, instrument_id: str) -> list[StoredDay]:
    """All days with disposals of one holding, oldest first."""
    rows = tx.rows(_SELECT_DISPOSAL_DAYS, scope_id=scope_id, instrument_id=instrument_id)
    return [day_rows.stored_day(row) for row in rows]


def quantity_held(tx: ReadTx, account_id: str, instrument_id: str, date: str) -> Fraction:
    """What an account holds of an instrument at the end of an ISO date."""
    last = next(day_rows.backwards(tx, Key(account_id, instrument_id), days_after(date, 1)), None)
    if last is None:
        return Fraction(0)
    facts = splits.of_instrument(tx, instrument_id)
    return quantity_of(holding_rows.quantity_after(last[1], last[0], facts, date))


def days_of(tx: ReadTx, key: Key, until: str, after: str, count: int, *, matched: bool) -> Days:
    """At most `count` days of a holding after an ISO date, up to another; of a pool, as if nothing came after that."""
    rows = tx.rows(_SELECT_DAYS, after=after, until=until, count=count, **key._asdict())
    days = [day_rows.stored_day(row) for row in rows]
    before = next(day_rows.backwards(tx, key, days[0].date), None) if days else None
    if matched and days and days[-1].date >= days_after(until, -WINDOW_DAYS):
        anew = {day.date: one for day, one in replayed(tx, key, until, until)}
        days = [_replaced(day, anew.get(day.date)) for day in days]
    return Days(days, None if before is None else before[1])


def replayed(tx: ReadTx, key: Key, first: str, last: str, more: Day | None = None) -> list[tuple[Day, Computed]]:
    """The days of a pool as if nothing had happened after `last`, those from 30 days before `first` on.

    `more` is what is imagined besides, on one of those days.
    """
    start = days_after(first, -WINDOW_DAYS)
    found, before = _until(tx, key, start, last)
    if before.outcome.pool_quantity.startswith("-"):
        start = day_rows.short_since(tx, key, before.date)
        found, before = _until(tx, key, start, last)
    days = {day.date: read_day(day.date, day.inputs) for day in found if day.date >= start}
    if more is not None:
        days.setdefault(more.date, Day(more.date)).add(more)
    kept = computing.kept_of([(day.date, day.outcome) for day in found if day.date < start], start)
    kept = [one for one in kept if one.date in days]
    ordered = [days[date] for date in sorted(days)]
    return list(zip(ordered, computing.pooled(before, ordered, _facts(tx, key, last), kept), strict=True))


# -- parts


def _until(tx: ReadTx, key: Key, start: str, last: str) -> tuple[list[StoredDay], Before]:
    """The stored days up to `last` from 30 days before `start` on, and the last one before `start`."""
    found = day_rows.between(tx, key, days_after(start, -WINDOW_DAYS), last)
    before = next((day for day in reversed(found) if day.date < start), None)
    return found, NOTHING if before is None else Before(before.date, before.outcome)


def _replaced(day: StoredDay, anew: Computed | None) -> StoredDay:
    return day if anew is None else day._replace(outcome=anew.outcome, gain=anew.gain)


def _facts(tx: ReadTx, key: Key, last: str) -> list[Split]:
    return [split for split in splits.of_instrument(tx, key.instrument_id) if split.date <= last]


def _holding(row: Row) -> Holding:
    scope_id, instrument_id, portfolio_id, currency, quantity, cost, lot_cost, since, last_date = row
    lots = None if lot_cost is None else cost_of(lot_cost)
    held = quantity_of(quantity)
    return Holding(scope_id, instrument_id, portfolio_id, currency, held, cost_of(cost), lots, since, last_date)


def _past(tx: ReadTx, today: Holding, date: str) -> Holding | None:
    key = Key(today.scope_id, today.instrument_id)
    if today.portfolio_id is None:
        days = replayed(tx, key, date, date)
        last = (days[-1][0].date, days[-1][1].outcome) if days else next(day_rows.backwards(tx, key, date), None)
    else:
        last = next(day_rows.backwards(tx, key, days_after(date, 1)), None)
    if last is None:
        return None
    day, outcome = last
    quantity = quantity_of(holding_rows.quantity_after(outcome, day, _facts(tx, key, date), date))
    lots = None if outcome.lots is None else cost_of(outcome.lots.cost)
    return today._replace(
        quantity=quantity, cost=cost_of(outcome.pool_cost), lot_cost=lots, since=outcome.since, last_date=day
    )
