"""One pool over all brokers beside each broker's average cost, and why they differ (Domain F.4).

The same purchases enter both. Their costs differ by what leaves: the pool gives up the cost of its matches, each
account its own average. They differ, too, by what a gift, a merger or a spin-off brings from a holding whose costs
differed already. Each such event is named, and their differences together are the difference of what is left.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, get_args

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.gains.disposals import matches
from gatewayd.areas.assets.gains.shapes import BrokerHolding, ComparedPool, CostDifference, CostEvent, PoolState
from gatewayd.areas.assets.pools import holding_rows, reading
from gatewayd.areas.assets.pools.computing import NOTHING
from gatewayd.areas.assets.pools.days import Match, Outcome
from gatewayd.areas.assets.pools.exact import COST_PLACES, cost_of, minor_of, quantity_text
from gatewayd.areas.assets.pools.held import Held, HeldOn, Whose
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx

SHOWN_EVENTS: Final = 100  # Chosen: the latest
_ORDER: Final = get_args(CostEvent)
_SELECT_CARRIED = """
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


class _Event(NamedTuple):
    """Costs that left the pool and the accounts, in 1e-20 pounds; below 0 are those that came."""

    date: str
    kind: CostEvent
    transaction_id: str | None
    pool_cost: int
    account_cost: int
    matches: Sequence[Match] = ()


def compare(tx: ReadTx, legal_entity_id: str, instrument_id: str | None) -> list[ComparedPool]:
    """The open pools of a legal entity, or the pool of one instrument."""
    whose = Whose(legal_entity_id)
    pools = HeldOn(tx, whose, tx.today, closed=instrument_id is not None).pools()
    held: dict[str, list[Held]] = defaultdict(list)
    for holding in HeldOn(tx, whose, tx.today, closed=True).accounts():
        if holding.currency == POOL_CURRENCY and ACCOUNTS.get(tx, holding.scope_id).is_pooled:
            held[holding.instrument_id].append(holding)
    carried: dict[str, list[CarriedCost]] = defaultdict(list)
    for event in carried_costs(tx, legal_entity_id):
        carried[event.instrument_id].append(event)
    named = (pool for id_, pool in pools.items() if instrument_id in (None, id_))
    return [_compared_pool(tx, pool, held[pool.instrument_id], carried[pool.instrument_id]) for pool in named]


def _compared_pool(tx: ReadTx, pool: Held, accounts: list[Held], carried: list[CarriedCost]) -> ComparedPool:
    by_transaction = (_Event(*carried_cost[1:]) for carried_cost in carried)
    events = _cost_differences([*_of_days(tx, pool, accounts), *by_transaction])
    earlier, shown = events[:-SHOWN_EVENTS], events[-SHOWN_EVENTS:]
    return ComparedPool(
        instrument_id=pool.instrument_id,
        name=INSTRUMENTS.get(tx, pool.instrument_id).name,
        pool=PoolState(quantity=quantity_text(pool.quantity), cost=_money(pool.cost), currency=POOL_CURRENCY),
        average_cost=_average(pool),
        accounts=[_broker_holding(tx, holding) for holding in accounts],
        difference=_money(sum(holding.cost for holding in accounts) - pool.cost),
        earlier_difference=Money(sum(event.difference.minor for event in earlier), POOL_CURRENCY),
        currency=POOL_CURRENCY,
        days=shown,
    )


def _of_days(tx: ReadTx, pool: Held, accounts: list[Held]) -> Iterator[_Event]:
    """What the days with disposals and gains took out of the pool and out of the accounts."""
    by_account: dict[str, list[Outcome]] = defaultdict(list)
    for account in accounts:
        for day in reading.disposal_days(tx, account.scope_id, pool.instrument_id):
            by_account[day.date].append(day.outcome)
    by_date = {day.date: day.outcome for day in reading.disposal_days(tx, pool.scope_id, pool.instrument_id)}
    for date in {*by_date, *by_account}:
        ours, theirs = by_date.get(date, NOTHING.outcome), by_account[date]
        cost = sum(_disposal_cost(outcome) for outcome in theirs)
        yield _Event(date, "disposal", None, _disposal_cost(ours), cost, ours.matches)
        could_not = sum(cost_of(outcome.capital_gain) for outcome in theirs)
        yield _Event(date, "adjustment", None, -cost_of(ours.capital_gain), -could_not)


def _disposal_cost(outcome: Outcome) -> int:
    return cost_of(outcome.cost) + cost_of(outcome.distributed_cost)


def _cost_differences(events: Iterable[_Event]) -> list[CostDifference]:
    """The events that made a difference, oldest first.

    Chosen: what is rounded is the sum up to each event, and not the event, so that the differences add up; the
    accounts' cost of an event is the pool's less its difference.
    """
    told: list[CostDifference] = []
    exact = shown = 0
    for event in sorted(events, key=lambda event: (event.date, _ORDER.index(event.kind))):
        exact += event.pool_cost - event.account_cost
        difference = _money(exact) - Money(shown, POOL_CURRENCY)
        if difference.minor:
            shown += difference.minor
            pool_cost = _money(event.pool_cost)
            told.append(
                CostDifference(
                    date=event.date,
                    kind=event.kind,
                    transaction_id=event.transaction_id,
                    pool_cost=pool_cost,
                    account_cost=pool_cost - difference,
                    difference=difference,
                    currency=POOL_CURRENCY,
                    matches=matches(event.matches, POOL_CURRENCY),
                )
            )
    return told


def _broker_holding(tx: ReadTx, held: Held) -> BrokerHolding:
    return BrokerHolding(
        account_id=held.scope_id,
        account_name=ACCOUNTS.get(tx, held.scope_id).name,
        quantity=quantity_text(held.quantity),
        cost=_money(held.cost),
        average_cost=_average(held),
        currency=POOL_CURRENCY,
    )


def _average(held: Held) -> str | None:
    """Pounds for one, to 6 places; None where nothing is held."""
    if held.quantity <= 0:
        return None
    places = 10 ** (COST_PLACES - 6)
    average = held.cost / held.quantity / places
    return canonical(str(Decimal(round(average)).scaleb(-6)))


def _money(cost: int) -> Money:
    return Money(minor_of(cost, POOL_CURRENCY), POOL_CURRENCY)


def carried_costs(tx: ReadTx, legal_entity_id: str) -> Iterator[CarriedCost]:
    """What the mergers, spin-offs and gifts of a person carried out of an instrument or into it, by date."""
    for row in tx.rows(_SELECT_CARRIED, legal_entity_id=legal_entity_id):
        type_, date, id_, account_id, instrument_id, from_id, linked_id, giver_id, giver_entity = row
        if from_id is not None:
            pool, account = _carried_costs(tx, date, id_, (Key(legal_entity_id, from_id), Key(account_id, from_id)))
            yield CarriedCost(from_id, date, type_, id_, pool, account)
            yield CarriedCost(instrument_id, date, type_, id_, -pool, -account)
        elif type_ == "transfer_out":
            keys = (Key(legal_entity_id, instrument_id), Key(account_id, instrument_id))
            yield CarriedCost(instrument_id, date, "gift", id_, *_carried_costs(tx, date, id_, keys))
        elif giver_id is not None:
            keys = (Key(giver_entity, instrument_id), Key(giver_id, instrument_id))
            pool, account = _carried_costs(tx, date, linked_id, keys)
            yield CarriedCost(instrument_id, date, "gift", id_, -pool, -account)


def _carried_costs(tx: ReadTx, date: str, transaction_id: str, keys: tuple[Key, Key]) -> tuple[int, int]:
    """What a transaction carried out of a pool, and out of an account."""
    pool, account = (_carried_cost(tx, date, transaction_id, key) for key in keys)
    return pool, account


def _carried_cost(tx: ReadTx, date: str, transaction_id: str, key: Key) -> int:
    return sum(
        cost_of(carried.cost)
        for day in holding_rows.days_between(tx, key, date, date)
        for leaving, carried in zip(day.inputs.leaving, day.outcome.carried, strict=True)
        if leaving.transaction_id == transaction_id
    )
