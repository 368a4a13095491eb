"""Disposals that a purchase may still be matched with, and what buying again would change (Domain F.3)."""

from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.gains.shapes import ForecastDisposal, GainForecast
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.computing import Computed
from gatewayd.areas.assets.pools.days import Day
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of, quantity_text
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.pools.matching import WINDOW_DAYS
from gatewayd.areas.assets.pools.reading import Range
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.clock import days_after
from gatewayd.money import Money
from gatewayd.store import ReadTx


class Purchase(NamedTuple):
    """Something that might be bought today. `cost` in 1e-20 pounds."""

    instrument_id: str
    quantity: str
    cost: int


def purchase(instrument_id: str, quantity: str, unit_price: str) -> Purchase:
    """The purchase of so many units at a price in pounds, without fees."""
    cost = quantity_of(quantity) * cost_of(unit_price)
    return Purchase(instrument_id, quantity, cost.numerator // cost.denominator)


def forecast(tx: ReadTx, legal_entity_id: str, instrument_id: str | None, bought: Purchase | None) -> GainForecast:
    """The disposals of the last 30 days, oldest first, of one instrument or of all."""
    first = days_after(tx.today, -WINDOW_DAYS)
    days = reading.disposals(tx, legal_entity_id, Range(first, tx.today), instrument_id)
    named = sorted({id_ for id_, _ in days})
    disposals = [disposal for id_ in named for disposal in _of_instrument(tx, Key(legal_entity_id, id_), first, bought)]
    after = [
        disposal.gain_after_rebuy.minor - disposal.gain.minor
        for disposal in disposals
        if disposal.gain_after_rebuy is not None
    ]
    return GainForecast(
        legal_entity_id=legal_entity_id,
        currency=POOL_CURRENCY,
        disposals=sorted(disposals, key=lambda disposal: (disposal.date, disposal.instrument_id)),
        change=None if bought is None else _pounds(sum(after)),
    )


def _of_instrument(tx: ReadTx, key: Key, first: str, bought: Purchase | None) -> Iterator[ForecastDisposal]:
    instrument = INSTRUMENTS.get(tx, key.instrument_id)
    if instrument.cgt_exempt:
        return
    now = reading.replayed(tx, key, tx.today, tx.today)
    imagined: dict[str, int | None] = {}
    if bought is not None and bought.instrument_id == key.instrument_id:
        more = Day(tx.today, acquired=quantity_of(bought.quantity), acquired_cost=bought.cost)
        imagined = {day.date: computed.gain for day, computed in reading.replayed(tx, key, tx.today, tx.today, [more])}
    for day, computed in now:
        if day.date < first or not day.disposed or computed.gain is None:
            continue
        after = imagined.get(day.date)
        yield ForecastDisposal(
            instrument_id=instrument.id,
            name=instrument.name,
            date=day.date,
            quantity=quantity_text(day.disposed),
            from_pool=_from_pool(computed),
            do_not_rebuy_before=days_after(day.date, WINDOW_DAYS + 1),
            gain=_pounds(computed.gain),
            gain_after_rebuy=None if after is None else _pounds(after),
            currency=POOL_CURRENCY,
        )


def _from_pool(computed: Computed) -> str:
    """How much of a disposal comes out of the pool: that is what a purchase would be matched with."""
    return next((match.quantity for match in computed.outcome.matches if match.rule == "pool"), "0")


def _pounds(minor: int) -> Money:
    return Money(minor, POOL_CURRENCY)
