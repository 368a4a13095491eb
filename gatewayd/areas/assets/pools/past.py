"""The pool of a person as it was at the end of a past day, by what had happened until then (Domain C5). Reads only.

What is stored of a day knows of later acquisitions: a disposal of the 30 days before may be identified with them. So
those days are computed anew, without what came after.
"""

from typing import NamedTuple

from gatewayd.areas.assets.pools import computing, day_rows, splits
from gatewayd.areas.assets.pools.computing import NOTHING, Before
from gatewayd.areas.assets.pools.day_rows import Key, StoredDay
from gatewayd.areas.assets.pools.days import read_day
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS
from gatewayd.areas.assets.pools.shapes import Outcome
from gatewayd.clock import days_after
from gatewayd.store import ReadTx

_OF = "WHERE org_id = :org_id AND scope_id = :scope_id AND instrument_id = :instrument_id"
_SELECT_BETWEEN = f"""
SELECT date, inputs, outcome, gain, fifo_gain FROM asset_days {_OF} AND date <= :date AND date >= coalesce((
    SELECT max(date) FROM asset_days {_OF} AND date < :first
), :first)
ORDER BY date
"""


class PastPool(NamedTuple):
    """What followed from the last day until then, its ISO date, and the gains of the days that were computed anew.

    `first` is the first of these: what is stored of the days before it holds.
    """

    date: str
    outcome: Outcome
    first: str
    gains: dict[str, int]


def pool_on(tx: ReadTx, key: Key, date: str) -> PastPool:
    """The pool of an instrument at the end of an ISO date."""
    after = days_after(date, 1)
    found = _between(tx, key, days_after(date, -2 * WINDOW_DAYS), date)
    first = computing.restart(after, [(day.date, day.outcome) for day in found])
    before = _before(found, first)
    if before is not None and before.outcome.pool_quantity.startswith("-"):
        first = _opened(tx, key, before.date)
        found = _between(tx, key, days_after(first, -WINDOW_DAYS), date)
        before = _before(found, first)
    days = [read_day(day.date, day.inputs) for day in found if day.date >= first]
    start = NOTHING if before is None else Before(before.date, before.outcome)
    kept = computing.kept_of([(day.date, day.outcome) for day in found if day.date < first], first)
    facts = [split for split in splits.of_instrument(tx, key.instrument_id) if split.date <= date]
    computed = computing.pooled(start, days, facts, kept)
    gains = {day.date: one.gain for day, one in zip(days, computed, strict=True) if one.gain is not None}
    last = Before(days[-1].date, computed[-1].outcome) if days else start
    return PastPool(last.date, last.outcome, first, gains)


def _between(tx: ReadTx, key: Key, first: str, date: str) -> list[StoredDay]:
    """The last day before `first`, if there is one, and the days from it on until `date`."""
    rows = tx.rows(_SELECT_BETWEEN, first=first, date=date, **key._asdict())
    return [day_rows.stored_day(row) for row in rows]


def _before(days: list[StoredDay], first: str) -> StoredDay | None:
    return next((day for day in reversed(days) if day.date < first), None)


def _opened(tx: ReadTx, key: Key, short: str) -> str:
    """The first day of the short position that was open on an ISO date."""
    first = short
    for date, outcome in day_rows.backwards(tx, key, days_after(short, 1)):
        if not outcome.pool_quantity.startswith("-"):
            break
        first = date
    return first
