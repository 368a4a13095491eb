"""What a position rests on: the days that made it, with their transactions, matches and the pool around them."""

from collections import defaultdict
from typing import NamedTuple

from gatewayd.areas.assets.gains.disposals import matches
from gatewayd.areas.assets.gains.shapes import ExplainedDay, PoolState
from gatewayd.areas.assets.pools import reading
from gatewayd.areas.assets.pools.computing import NOTHING
from gatewayd.areas.assets.pools.days import Inputs, Outcome, read_day
from gatewayd.areas.assets.pools.exact import cost_of, minor_of, quantity_text
from gatewayd.areas.assets.pools.holding_rows import Key, StoredDay
from gatewayd.money import Money
from gatewayd.store import ReadTx

_SELECT_OF_ACCOUNT = """
SELECT trade_date, id FROM asset_transactions
WHERE org_id = :org_id AND instrument_id = :instrument_id AND trade_date >= :first AND trade_date <= :last
    AND account_id = :scope_id AND reversed_by_id IS NULL AND reverses_transaction_id IS NULL
ORDER BY id
"""
_SELECT_OF_POOL = """
SELECT done.trade_date, done.id FROM asset_transactions AS done
JOIN asset_accounts AS account ON account.org_id = :org_id AND account.id = done.account_id
    AND account.tax_wrapper = 'none'
WHERE done.org_id = :org_id AND done.instrument_id = :instrument_id AND done.trade_date >= :first
    AND done.trade_date <= :last AND done.legal_entity_id = :scope_id AND done.base_currency = 'GBP'
    AND done.reversed_by_id IS NULL AND done.reverses_transaction_id IS NULL
ORDER BY done.id
"""


class Subject(NamedTuple):
    """A position: of an account or of a pool. `currency` is what its costs are in."""

    key: Key
    is_pool: bool
    currency: str


class Explained(NamedTuple):
    """Some days, oldest first; `following` is the ISO date behind which the next ones are, None: there are none."""

    days: list[ExplainedDay]
    following: str | None


def explain(tx: ReadTx, subject: Subject, until: str, after: str, count: int) -> Explained:
    """The days of a position up to the ISO date `until`: `count` of those behind the ISO date `after`, "" for all.

    What happened after `until` is not known: a pool matches nothing with it.
    """
    stored = reading.days_of(tx, subject.key, until, after, count + 1, matched=subject.is_pool)
    shown = stored.days[:count]
    if not shown:
        return Explained([], None)
    select = _SELECT_OF_POOL if subject.is_pool else _SELECT_OF_ACCOUNT
    named = defaultdict(list)
    for date, id_ in tx.rows(select, first=shown[0].date, last=shown[-1].date, **subject.key._asdict()):
        named[date].append(id_)
    before = stored.before or NOTHING.outcome
    days = []
    for day in shown:
        ids = sorted({*named[day.date], *(leaving.transaction_id for leaving in day.inputs.leaving)})
        days.append(_explained_day(day, before, ids, subject.currency))
        before = day.outcome
    return Explained(days, shown[-1].date if len(stored.days) > count else None)


def _explained_day(stored: StoredDay, before: Outcome, ids: list[str], currency: str) -> ExplainedDay:
    day, outcome = read_day(stored.date, stored.inputs), stored.outcome
    removed = sum(cost_of(carried.cost) for carried in outcome.carried)

    def money(cost: int) -> Money:
        return Money(minor_of(cost, currency), currency)

    return ExplainedDay(
        date=stored.date,
        transaction_ids=ids,
        acquired=stored.inputs.acquired,
        acquired_cost=money(day.acquired_cost),
        disposed=stored.inputs.disposed,
        proceeds=money(day.proceeds),
        added=_added_quantity(stored.inputs),
        added_cost=money(day.added_cost),
        removed=quantity_text(day.passed + day.departed),
        removed_cost=money(removed),
        adjustment=money(day.adjustment - cost_of(outcome.small)),
        distributed=money(cost_of(outcome.distributed)),
        distributed_cost=money(cost_of(outcome.distributed_cost)),
        gain=None if stored.gain is None else Money(stored.gain, currency),
        currency=currency,
        matches=matches(outcome.matches, currency),
        pool_before=_pool_state(before, currency),
        pool_after=_pool_state(outcome, currency),
        held=outcome.quantity,
    )


def _added_quantity(inputs: Inputs) -> str:
    day = read_day("", inputs)
    return quantity_text(day.added + day.bonus)


def _pool_state(outcome: Outcome, currency: str) -> PoolState:
    cost = Money(minor_of(cost_of(outcome.pool_cost), currency), currency)
    return PoolState(quantity=outcome.pool_quantity, cost=cost, currency=currency)
