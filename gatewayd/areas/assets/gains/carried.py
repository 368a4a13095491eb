"""What gifts between spouses, mergers and spin-offs carried along: of a pool, and of the accounts. Reads only."""

from collections.abc import Iterator
from typing import NamedTuple

from gatewayd.areas.assets.gains.shapes import CostEvent
from gatewayd.areas.assets.pools import holding_rows
from gatewayd.areas.assets.pools.exact import cost_of
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.store import ReadTx

_SELECT = """
SELECT done.type, done.trade_date, done.id, done.account_id, done.instrument_id, done.from_instrument_id,
    done.linked_transaction_id, giver.id, giver.legal_entity_id
FROM asset_transactions AS done
JOIN asset_accounts AS account ON account.org_id = :org_id AND account.id = done.account_id
    AND account.tax_wrapper = 'none'
LEFT JOIN asset_accounts AS giver ON giver.org_id = :org_id AND giver.id = done.counter_account_id
WHERE done.org_id = :org_id AND done.legal_entity_id = :legal_entity_id AND done.base_currency = 'GBP'
    AND done.type IN ('merger', 'spin_off', 'transfer_in', 'transfer_out')
    AND (done.from_instrument_id IS NOT NULL OR done.spouse_transfer = 1)
    AND done.reversed_by_id IS NULL
ORDER BY done.trade_date, done.id
"""


class CarriedCost(NamedTuple):
    """Costs that left an instrument by a transaction, in 1e-20 pounds; below 0 are those that came."""

    instrument_id: str
    date: str
    kind: CostEvent
    transaction_id: str
    pool_cost: int
    account_cost: int


def carried_costs(tx: ReadTx, legal_entity_id: str) -> Iterator[CarriedCost]:
    """What each of these transactions of a person carried out of an instrument or into it, by date."""
    for row in tx.rows(_SELECT, legal_entity_id=legal_entity_id):
        type_, date, id_, account_id, instrument_id, from_id, linked_id, giver_id, giver_entity = row
        if from_id is not None:
            pool, account = _costs(tx, date, id_, (Key(legal_entity_id, from_id), Key(account_id, from_id)))
            yield CarriedCost(from_id, date, type_, id_, pool, account)
            yield CarriedCost(instrument_id, date, type_, id_, -pool, -account)
        elif type_ == "transfer_out":
            keys = (Key(legal_entity_id, instrument_id), Key(account_id, instrument_id))
            yield CarriedCost(instrument_id, date, "gift", id_, *_costs(tx, date, id_, keys))
        elif giver_id is not None:
            keys = (Key(giver_entity, instrument_id), Key(giver_id, instrument_id))
            pool, account = _costs(tx, date, linked_id, keys)
            yield CarriedCost(instrument_id, date, "gift", id_, -pool, -account)


def _costs(tx: ReadTx, date: str, transaction_id: str, keys: tuple[Key, Key]) -> tuple[int, int]:
    """What a transaction carried out of a pool, and out of an account."""
    pool, account = (_cost(tx, date, transaction_id, key) for key in keys)
    return pool, account


def _cost(tx: ReadTx, date: str, transaction_id: str, key: Key) -> int:
    return sum(
        cost_of(carried.cost)
        for day in holding_rows.days_between(tx, key, date, date)
        for leaving, carried in zip(day.inputs.leaving, day.outcome.carried, strict=True)
        if leaving.transaction_id == transaction_id
    )
