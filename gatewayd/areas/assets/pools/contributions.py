"""What a transaction brings to the holdings that it concerns (Domain B3, C5). Pure, but it asks of accounts."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.books.transactions import AssetTransaction, TransactionType
from gatewayd.areas.assets.pools.days import ZERO, Day, Departure, Distribution, Leaving
from gatewayd.areas.assets.pools.exact import cost_of_amount, cost_text, quantity_of
from gatewayd.areas.assets.pools.scopes import Concerned, Scope
from gatewayd.money import Money

_RAISES: dict[TransactionType, int] = {
    "notional_distribution": 1,
    "excess_reportable_income": 1,
    "equalisation": -1,
}
"""How a transaction of cash or none changes the cost of what is held.

Chosen: excess reportable income raises it at the end of the fund's period, which is the trade date, although it is
income 6 months later. So whoever sells in between has it in the cost, as SI 2009/3001 reg 99(5) says.
"""


class Contribution(NamedTuple):
    """What one transaction brings to one holding on its day."""

    scope: Scope
    instrument_id: str
    day: Day


def unmeasured(row: AssetTransaction) -> str | None:
    """The field that would say how much of what is held a row is about; it is left out, and all of it is meant.

    None: the row needs no such field, or has it.
    """
    if row.type in ("spin_off", "merger"):
        return "from_quantity" if row.from_quantity is None else None
    needs_it = row.type == "return_of_capital" and row.remaining_value is not None
    return "quantity" if needs_it and row.quantity is None else None


def contributions(
    row: AssetTransaction, own: Concerned, concerned: Callable[[str], Concerned]
) -> Iterator[Contribution]:
    """What a transaction of an account brings; `own` are the scopes of its account, `concerned` tells those of others.

    Splits and cash bring nothing: a split is a fact of its instrument.
    """
    if row.instrument_id is None:
        return
    if row.type in ("transfer_in", "transfer_out") and row.counter_account_id is not None:
        yield from _transfer(row, own, concerned(row.counter_account_id))
    elif row.type in ("spin_off", "merger"):
        yield from _reorganised(row, own)
    else:
        yield from _in_both_scopes(row, own)


def _day_of(row: AssetTransaction, own: Concerned) -> Day | None:
    """What a row brings to the holdings of its account; None: nothing.

    A stock dividend that is taxed as a dividend costs what is taxed (TCGA 1992 s142); another is a bonus issue
    (CG51823).
    """
    day = _empty_day(row)
    if row.type == "stock_dividend" and not (row.taxed_as_dividend and own.taxed_as_persons):
        day.bonus = _quantity(row)
    elif row.type in ("buy", "transfer_in", "opening_position", "stock_dividend"):
        includes_costs = row.type in ("buy", "transfer_in") and not row.spouse_transfer
        day.acquired, day.acquired_cost = _quantity(row), _amount_paid(row) if includes_costs else _gross(row)
    elif row.type == "transfer_out" and row.spouse_transfer:
        day.leaving = [_leaving(row, "passed")]
    elif row.type in ("sell", "transfer_out"):
        costs = _in_base_currency(row, row.fees) + _in_base_currency(row, row.taxes)
        day.disposed, day.proceeds = _quantity(row), _gross(row) - costs
    elif row.type == "bonus_issue":
        day.bonus = _quantity(row)
    elif row.type == "rights_issue":
        day.added, day.added_cost = _quantity(row), _amount_paid(row)
    elif row.type == "return_of_capital":
        day.distributions = _distributed(row)
    elif row.type in _RAISES:
        day.adjustment = _RAISES[row.type] * _gross(row)
    else:
        return None
    return day


def _in_both_scopes(row: AssetTransaction, own: Concerned) -> Iterator[Contribution]:
    day = _day_of(row, own)
    if day is None or row.instrument_id is None:
        return
    yield Contribution(own.account, row.instrument_id, day)
    if own.pool is not None:
        yield Contribution(own.pool, row.instrument_id, day)


def _transfer(row: AssetTransaction, own: Concerned, counter: Concerned) -> Iterator[Contribution]:
    """One side of a transfer. Each scope of the sender gives its cost to that of the receiver of the same kind."""
    instrument_id = row.instrument_id or ""
    if row.spouse_transfer:
        for scope, other in ((own.account, counter.account), (own.pool, counter.pool)):
            if scope is not None:
                meets = other if other is not None and other.currency == scope.currency else None
                yield Contribution(scope, instrument_id, _passed(row, meets))
    elif own.wrapped == counter.wrapped and own.account.currency == counter.account.currency:
        day = _empty_day(row)
        if row.type == "transfer_out":
            day.leaving = [_leaving(row, "moved", (counter.account.id, instrument_id))]
        else:
            day.added = _quantity(row)
        yield Contribution(own.account, instrument_id, day)
    else:
        yield from _in_both_scopes(row, own)


def _passed(row: AssetTransaction, meets: Scope | None) -> Day:
    """A gift between spouses: it arrives at what it cost, or at the amount given where we don't see that cost."""
    day = _empty_day(row)
    if row.type == "transfer_out":
        day.leaving = [_leaving(row, "passed", meets and (meets.id, row.instrument_id or ""))]
    else:
        day.acquired, day.acquired_cost = _quantity(row), 0 if meets else _gross(row)
    return day


def _reorganised(row: AssetTransaction, own: Concerned) -> Iterator[Contribution]:
    """A spin-off or a merger: cost goes from the old instrument to the new one, in each scope."""
    new, old = row.instrument_id or "", row.from_instrument_id or ""
    for scope in (own.account, own.pool):
        if scope is None:
            continue
        leaves, joins = _empty_day(row), _empty_day(row)
        kind: Departure = "spun_off" if row.type == "spin_off" else "removed"
        leaves.leaving = [_leaving(row, kind, (scope.id, new))]
        if row.type == "merger":
            leaves.distributions = _distributed(row)
        joins.added = _quantity(row)
        yield Contribution(scope, old, leaves)
        yield Contribution(scope, new, joins)


def _leaving(row: AssetTransaction, kind: Departure, to: tuple[str, str] | None = None) -> Leaving:
    of_old = kind in ("spun_off", "removed")
    told = kind == "spun_off" and row.cost_share is None and row.gross_amount is not None
    return Leaving(
        transaction_id=row.id,
        kind=kind,
        quantity=(row.from_quantity if of_old else row.quantity) or "0",
        share=row.cost_share if kind == "spun_off" else None,
        amount=cost_text(_gross(row)) if told else None,
        to_scope=None if to is None else to[0],
        to_instrument=None if to is None else to[1],
    )


def _distributed(row: AssetTransaction) -> list[Distribution]:
    """The money of a return of capital, or that a merger pays beside its shares."""
    amount = _gross(row)
    if not amount:
        return []
    paid_on = row.quantity if row.from_instrument_id is None else row.from_quantity
    return [
        Distribution(
            transaction_id=row.id,
            quantity=paid_on or "0",
            amount=cost_text(amount),
            remaining=None if row.remaining_value is None else cost_text(_in_base_currency(row, row.remaining_value)),
            small=row.small_distribution,
        )
    ]


def _empty_day(row: AssetTransaction) -> Day:
    return Day(row.trade_date, transactions=1)


def _quantity(row: AssetTransaction) -> Fraction:
    return ZERO if row.quantity is None else quantity_of(row.quantity)


def _gross(row: AssetTransaction) -> int:
    return 0 if row.gross_amount is None else _in_base_currency(row, row.gross_amount)


def _amount_paid(row: AssetTransaction) -> int:
    return _gross(row) + _in_base_currency(row, row.fees) + _in_base_currency(row, row.taxes)


def _in_base_currency(row: AssetTransaction, amount: Money) -> int:
    return cost_of_amount(amount.minor, row.currency, row.fx_rate) if amount.minor else 0
