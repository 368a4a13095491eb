"""The days of holdings as they are stored. Owns the table `asset_days`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from gatewayd.areas.assets.pools.days import Inputs, Outcome
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.areas.assets.pools.lots import Lot
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
_UPSERT = """
INSERT INTO asset_days (org_id, scope_id, instrument_id, date, inputs, outcome, disposes, gain, fifo_gain)
VALUES (:org_id, :scope_id, :instrument_id, :date, :inputs, :outcome, :disposes, :gain, :fifo_gain)
ON CONFLICT (org_id, scope_id, instrument_id, date) DO UPDATE SET
    inputs = excluded.inputs, outcome = excluded.outcome, disposes = excluded.disposes, gain = excluded.gain,
    fifo_gain = excluded.fifo_gain
"""
_DELETE = """
DELETE FROM asset_days
WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id AND date = :date
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


def stored_day(row: Row) -> StoredDay:
    """The day of a row of date, inputs, outcome and both gains."""
    date, inputs, outcome, gain, lot_gain = row
    return StoredDay(date, _inputs(inputs), _outcome(outcome), gain, lot_gain)


def since(tx: ReadTx, key: Key, first: str) -> list[StoredDay]:
    """The last day before an ISO date, if there is one, and all days from it on."""
    return [stored_day(row) for row in tx.rows(_SELECT_FROM, first=first, **key._asdict())]


def between(tx: ReadTx, key: Key, first: str, last: str) -> list[StoredDay]:
    """The same up to another ISO date, for those who look at the past."""
    return [stored_day(row) for row in tx.rows(_SELECT_BETWEEN, first=first, last=last, **key._asdict())]


def backwards(tx: ReadTx, key: Key, first: str) -> Iterator[tuple[str, Outcome]]:
    """The days before an ISO date, latest first, for those who stop early."""
    for date, outcome in tx.each(_SELECT_BACKWARDS, first=first, **key._asdict()):
        yield date, _outcome(outcome)


def short_since(tx: ReadTx, key: Key, date: str) -> str:
    """The first day of the short position that is open on a day of the holding."""
    first = date
    for earlier, outcome in backwards(tx, key, date):
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


def write(tx: WriteTx, key: Key, days: Sequence[StoredDay]) -> None:
    """Store days, new ones and those that are there."""
    if days:
        tx.run_each(_UPSERT, [_values(tx.org_id, key, day) for day in days])


def delete(tx: WriteTx, key: Key, dates: Sequence[str]) -> None:
    """Delete days to which no transaction brings anything any more."""
    for date in dates:
        tx.run(_DELETE, date=date, **key._asdict())


def _values(org_id: str, key: Key, day: StoredDay) -> tuple[object, ...]:
    inputs, outcome = _encode(day.inputs).decode(), _encode(day.outcome).decode()
    disposes = int(day.gain is not None or day.lot_gain is not None)
    return (org_id, *key, day.date, inputs, outcome, disposes, day.gain, day.lot_gain)
