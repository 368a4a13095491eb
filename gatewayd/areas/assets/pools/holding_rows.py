"""What is held after the last day of each holding. Owns the table `asset_holdings`."""

from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.pools.day_rows import Key
from gatewayd.areas.assets.pools.days import Outcome
from gatewayd.areas.assets.pools.exact import quantity_of, quantity_text
from gatewayd.areas.assets.pools.matching import Split
from gatewayd.areas.assets.pools.scopes import Scope
from gatewayd.store import ReadTx, WriteTx

_UPSERT = """
INSERT INTO asset_holdings (org_id, scope_id, instrument_id, legal_entity_id, portfolio_id, quantity, is_open, cost,
    currency, fifo_cost, first_acquired_date, last_date)
VALUES (:org_id, :scope_id, :instrument_id, :legal_entity_id, :portfolio_id, :quantity, :is_open, :cost, :currency,
    :fifo_cost, :first_acquired_date, :last_date)
ON CONFLICT (org_id, scope_id, instrument_id) DO UPDATE SET
    quantity = excluded.quantity, is_open = excluded.is_open, cost = excluded.cost, fifo_cost = excluded.fifo_cost,
    first_acquired_date = excluded.first_acquired_date, last_date = excluded.last_date
"""
_DELETE = """
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


def put(tx: WriteTx, scope: Scope, instrument_id: str, last: tuple[str, Outcome], quantity: str) -> None:
    """Store what `left_after` says."""
    tx.run(
        _UPSERT,
        scope_id=scope.id,
        instrument_id=instrument_id,
        legal_entity_id=scope.legal_entity_id,
        portfolio_id=scope.portfolio_id,
        currency=scope.currency,
        **left_after(last, quantity)._asdict(),
    )


def delete(tx: WriteTx, key: Key) -> None:
    """There is no day left."""
    tx.run(_DELETE, **key._asdict())


def holders(tx: ReadTx, instrument_id: str) -> list[Scope]:
    """Every scope of the organization that holds an instrument, or did. Whether one allows shorts is not told."""
    found = tx.rows(_SELECT_SCOPES, instrument_id=instrument_id)
    return [Scope(id_, entity_id, portfolio_id, currency, False) for id_, entity_id, portfolio_id, currency in found]


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
