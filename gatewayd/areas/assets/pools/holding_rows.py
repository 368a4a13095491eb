"""Holdings and their days as they are stored. Owns the tables `asset_holdings` and `asset_days`."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import msgspec

from gatewayd.areas.assets.pools.days import Inputs, Outcome
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of, quantity_text
from gatewayd.areas.assets.pools.lots import Lot
from gatewayd.areas.assets.pools.matching import Split
from gatewayd.areas.assets.pools.scopes import Scope
from gatewayd.store import ReadTx, Row, WriteTx

_OF = "WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id"
_SELECT_FROM = f"""
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days {_OF} AND date >= coalesce((
    SELECT max(date) FROM asset_days {_OF} AND date < :first
), :first)
ORDER BY date
"""
_SELECT_BETWEEN = f"""
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days {_OF} AND date <= :last AND date >= coalesce((
    SELECT max(date) FROM asset_days {_OF} AND date < :first
), :first)
ORDER BY date
"""
_SELECT_BACKWARDS = f"SELECT date, outcome FROM asset_days {_OF} AND date < :first ORDER BY date DESC"
_SELECT_LOTS = f"""
SELECT date, outcome FROM asset_days {_OF} AND date >= :first AND date < :until ORDER BY date
"""
_UPSERT_DAY = """
INSERT INTO asset_days (org_id, scope_id, instrument_id, date, inputs, outcome, disposes, gain, fifo_gain)
VALUES (:org_id, :scope_id, :instrument_id, :date, :inputs, :outcome, :disposes, :gain, :fifo_gain)
ON CONFLICT (org_id, scope_id, instrument_id, date) DO UPDATE SET
    inputs = excluded.inputs, outcome = excluded.outcome, disposes = excluded.disposes, gain = excluded.gain,
    fifo_gain = excluded.fifo_gain
"""
_DELETE_DAY = """
DELETE FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND date = :date
"""
_UPSERT_HOLDING = """
INSERT INTO asset_holdings (org_id, scope_id, instrument_id, legal_entity_id, portfolio_id, quantity, is_open, cost,
    currency, fifo_cost, first_acquired_date, last_date)
VALUES (:org_id, :scope_id, :instrument_id, :legal_entity_id, :portfolio_id, :quantity, :is_open, :cost, :currency,
    :fifo_cost, :first_acquired_date, :last_date)
ON CONFLICT (org_id, scope_id, instrument_id) DO UPDATE SET
    quantity = excluded.quantity, is_open = excluded.is_open, cost = excluded.cost, fifo_cost = excluded.fifo_cost,
    first_acquired_date = excluded.first_acquired_date, last_date = excluded.last_date
"""
_DELETE_HOLDING = """
DELETE FROM asset_holdings WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id
"""
_SELECT_SCOPES = """
SELECT scope_id, legal_entity_id, portfolio_id, currency FROM asset_holdings
WHERE org_id = :org_id AND instrument_id = :instrument_id ORDER BY scope_id
"""
_SELECT_FOLLOWING = """
SELECT scope_id, instrument_id, legal_entity_id, portfolio_id, currency, quantity, is_open, cost, fifo_cost,
    first_acquired_date, last_date
FROM asset_holdings WHERE org_id = :org_id AND (scope_id, instrument_id) > (:scope_id, :instrument_id)
ORDER BY scope_id, instrument_id LIMIT :count
"""

_inputs = msgspec.json.Decoder(Inputs).decode
_outcome = msgspec.json.Decoder(Outcome).decode
_encode = msgspec.json.Encoder().encode


class Key(NamedTuple):
    """A holding: an instrument in a scope."""

    scope_id: str
    instrument_id: str


class StoredDay(NamedTuple):
    """A day as it is stored. Gains are in minor units of the base currency; None: nothing is disposed of."""

    date: str
    inputs: Inputs
    outcome: Outcome
    gain: int | None
    lot_gain: int | None


# -- days


def stored_day(row: Row) -> StoredDay:
    """The day of a row of date, inputs, outcome and both gains."""
    date, inputs, outcome, gain, lot_gain = row
    return StoredDay(date, _inputs(inputs), _outcome(outcome), gain, lot_gain)


def days_since(tx: ReadTx, key: Key, first: str) -> list[StoredDay]:
    """The last day before an ISO date, if there is one, and all days from it on."""
    return [stored_day(row) for row in tx.rows(_SELECT_FROM, first=first, **key._asdict())]


def days_between(tx: ReadTx, key: Key, first: str, last: str) -> list[StoredDay]:
    """The same up to another ISO date, for those who look at the past."""
    return [stored_day(row) for row in tx.rows(_SELECT_BETWEEN, first=first, last=last, **key._asdict())]


def days_backwards(tx: ReadTx, key: Key, first: str) -> Iterator[tuple[str, Outcome]]:
    """The days before an ISO date, latest first, for those who stop early."""
    for date, outcome in tx.each(_SELECT_BACKWARDS, first=first, **key._asdict()):
        yield date, _outcome(outcome)


def short_since(tx: ReadTx, key: Key, date: str) -> str:
    """The first day of the short position that is open on a day of the holding."""
    first = date
    for earlier, outcome in days_backwards(tx, key, date):
        if not outcome.pool_quantity.startswith("-"):
            break
        first = earlier
    return first


def lots(tx: ReadTx, key: Key, first: str, until: str) -> Iterator[Lot]:
    """The lots from an ISO date on, up to the day before another, for those who stop early."""
    for date, text in tx.each(_SELECT_LOTS, first=first, until=until, **key._asdict()):
        lot = _outcome(text).lots
        if lot is not None and lot.lot != "0":
            yield Lot(date, quantity_of(lot.lot), cost_of(lot.base))


def write_days(tx: WriteTx, key: Key, days: Sequence[StoredDay]) -> None:
    """Store days, new ones and those that are there."""
    if days:
        tx.run_each(_UPSERT_DAY, [_column_values(tx.org_id, key, day) for day in days])


def delete_days(tx: WriteTx, key: Key, dates: Sequence[str]) -> None:
    """Delete days to which no transaction brings anything any more."""
    for date in dates:
        tx.run(_DELETE_DAY, date=date, **key._asdict())


def _column_values(org_id: str, key: Key, day: StoredDay) -> tuple[object, ...]:
    inputs, outcome = _encode(day.inputs).decode(), _encode(day.outcome).decode()
    disposes = int(day.gain is not None or day.lot_gain is not None)
    return (org_id, *key, day.date, inputs, outcome, disposes, day.gain, day.lot_gain)


# -- what is left after the last one


class Left(NamedTuple):
    """What is left after the last day, as it is stored."""

    quantity: str
    is_open: int
    cost: str
    fifo_cost: str | None
    first_acquired_date: str | None
    last_date: str


class StoredHolding(NamedTuple):
    """A holding as it is stored."""

    key: Key
    scope: Scope
    left: Left


def left_after(last: tuple[str, Outcome], quantity: str) -> Left:
    """What is left after the last day, which was `quantity` in units of today, when no split is to come."""
    date, outcome = last
    return Left(
        quantity=quantity,
        is_open=int(quantity != "0"),
        cost=outcome.pool_cost,
        fifo_cost=None if outcome.lots is None else outcome.lots.cost,
        first_acquired_date=outcome.since,
        last_date=date,
    )


def put_holding(tx: WriteTx, scope: Scope, instrument_id: str, last: tuple[str, Outcome], quantity: str) -> None:
    """Store what `left_after` says."""
    tx.run(
        _UPSERT_HOLDING,
        scope_id=scope.id,
        instrument_id=instrument_id,
        legal_entity_id=scope.legal_entity_id,
        portfolio_id=scope.portfolio_id,
        currency=scope.currency,
        **left_after(last, quantity)._asdict(),
    )


def delete_holding(tx: WriteTx, key: Key) -> None:
    """Delete a holding that has no day left."""
    tx.run(_DELETE_HOLDING, **key._asdict())


def holders(tx: ReadTx, instrument_id: str) -> list[Scope]:
    """Every scope of the organization that holds an instrument, or did. Whether one allows shorts is not told."""
    rows = tx.rows(_SELECT_SCOPES, instrument_id=instrument_id)
    return [Scope(id_, entity_id, portfolio_id, currency, False) for id_, entity_id, portfolio_id, currency in rows]


def following(tx: ReadTx, after: Key, count: int) -> list[StoredHolding]:
    """The next holdings behind one of the organization. Whether a scope allows shorts is not told."""
    return [
        StoredHolding(
            Key(scope_id, instrument_id), Scope(scope_id, entity_id, portfolio_id, currency, False), Left(*left)
        )
        for scope_id, instrument_id, entity_id, portfolio_id, currency, *left in tx.rows(
            _SELECT_FOLLOWING, count=count, **after._asdict()
        )
    ]


def quantity_after(outcome: Outcome, date: str, splits: list[Split], until: str | None = None) -> str:
    """What was held at the end of a day, restated by the splits after it; with `until`, by those up to that day."""
    ratio = Fraction(1)
    for split in splits:
        if split.date > date and (until is None or split.date <= until):
            ratio *= split.ratio
    return outcome.quantity if ratio == 1 else quantity_text(quantity_of(outcome.quantity) * ratio)
