"""One pool over all brokers beside each broker's average cost, and why they differ (Domain F.4).

Both take in the same costs. They differ by what disposals took out of them: the pool gave up what its matches say, each
account its own average. So the difference of what is left is the sum of the differences of the days with disposals.
"""

from collections import defaultdict
from decimal import Decimal
from typing import Final

from gatewayd.areas.assets.accounts.rows import ACCOUNTS
from gatewayd.areas.assets.gains.disposals import matches
from gatewayd.areas.assets.gains.shapes import BrokerHolding, ComparedPool, CostDifference, PoolState
from gatewayd.areas.assets.instruments.rows import INSTRUMENTS
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.day_rows import StoredDay
from gatewayd.areas.assets.pools.exact import COST_PLACES, cost_of, minor_of, quantity_text
from gatewayd.areas.assets.pools.held import Held, HeldOn, Whose
from gatewayd.areas.assets.pools.scopes import POOL_CURRENCY
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx

SHOWN_DAYS: Final = 100  # Chosen: the latest


def compare(tx: ReadTx, legal_entity_id: str, instrument_id: str | None) -> list[ComparedPool]:
    """The pools of a legal entity that are open, or that of one instrument."""
    whose = Whose(legal_entity_id)
    pools = HeldOn(tx, whose, tx.today, closed=instrument_id is not None).pools()
    held: dict[str, list[Held]] = defaultdict(list)
    for one in HeldOn(tx, whose, tx.today, closed=True).accounts():
        if one.currency == POOL_CURRENCY and ACCOUNTS.get(tx, one.scope_id).is_pooled:
            held[one.instrument_id].append(one)
    return [_compared(tx, pool, held[id_]) for id_, pool in pools.items() if instrument_id in (None, id_)]


def _compared(tx: ReadTx, pool: Held, accounts: list[Held]) -> ComparedPool:
    days = _differences(tx, pool, accounts)
    shown = days[-SHOWN_DAYS:]
    difference = sum(one.cost for one in accounts) - pool.cost
    named = _money(difference)
    earlier = Money(named.minor - sum(day.difference.minor for day in shown), POOL_CURRENCY)
    return ComparedPool(
        instrument_id=pool.instrument_id,
        name=INSTRUMENTS.get(tx, pool.instrument_id).name,
        pool=PoolState(quantity=quantity_text(pool.quantity), cost=_money(pool.cost), currency=POOL_CURRENCY),
        average_cost=_average(pool),
        accounts=[_broker(tx, one) for one in accounts],
        difference=named,
        earlier_difference=earlier,
        currency=POOL_CURRENCY,
        days=shown,
    )


def _differences(tx: ReadTx, pool: Held, accounts: list[Held]) -> list[CostDifference]:
    """The days on which the pool gave up another cost than the accounts, oldest first."""
    by_account: dict[str, int] = defaultdict(int)
    for account in accounts:
        for day in reading.disposal_days(tx, account.scope_id, pool.instrument_id):
            by_account[day.date] += _gone(day)
    found = {day.date: day for day in reading.disposal_days(tx, pool.scope_id, pool.instrument_id)}
    differences = []
    for date in sorted({*found, *by_account}):
        gone = _gone(found[date]) if date in found else 0
        if gone != by_account[date]:
            differences.append(
                CostDifference(
                    date=date,
                    pool_cost=_money(gone),
                    account_cost=_money(by_account[date]),
                    difference=_money(gone - by_account[date]),
                    currency=POOL_CURRENCY,
                    matches=matches(found[date].outcome.matches, POOL_CURRENCY) if date in found else [],
                )
            )
    return differences


def _gone(day: StoredDay) -> int:
    """The cost that a day's disposals took, less what a return of capital could not take."""
    return cost_of(day.outcome.cost) - cost_of(day.outcome.capital_gain)


def _broker(tx: ReadTx, held: Held) -> BrokerHolding:
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
