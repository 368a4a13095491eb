"""Whether what is stored of holdings is what follows from all their days: computed from the first one. Reads only."""

from typing import Final, NamedTuple

from gatewayd.areas.assets.pools import holding_rows, splits
from gatewayd.areas.assets.pools.computing import NOTHING
from gatewayd.areas.assets.pools.days import read_day
from gatewayd.areas.assets.pools.holding_rows import Key, StoredHolding
from gatewayd.areas.assets.pools.recomputing import Window, compute
from gatewayd.store import ReadTx

BEFORE_ALL: Final = Key("", "")
_NEVER: Final = ""


class Stale(NamedTuple):
    """A holding that is not what its days say. `since` is the first day that differs; "": only what is left does."""

    key: Key
    since: str


def stale(tx: ReadTx, after: Key, count: int) -> tuple[list[Stale], Key | None]:
    """What is stale of the next holdings behind one of the organization, and the last of them; None: that was all."""
    holdings = holding_rows.following(tx, after, count)
    found = [Stale(one.key, since) for one in holdings if (since := _differs(tx, one)) is not None]
    return found, holdings[-1].key if len(holdings) == count else None


def _differs(tx: ReadTx, holding: StoredHolding) -> str | None:
    """From which day on; None: nowhere."""
    key = holding.key
    stored = holding_rows.days_since(tx, key, _NEVER)
    if not stored:
        return _NEVER
    facts = splits.of_instrument(tx, key.instrument_id)
    days = [read_day(day.date, day.inputs) for day in stored]
    window = Window(days[0].date, NOTHING, [], stored)
    computed = compute(tx, holding.scope, key, window, days, facts)
    for day, one in zip(stored, computed, strict=True):
        if (day.outcome, day.gain, day.lot_gain) != (one.outcome, one.gain, one.lot_gain):
            return day.date
    last = computed[-1].outcome
    left = holding_rows.left_after((days[-1].date, last), holding_rows.quantity_after(last, days[-1].date, facts))
    return None if left == holding.left else _NEVER
