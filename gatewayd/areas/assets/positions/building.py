"""Positions of holdings, prices, gains and income: one by one, in the order of instruments."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Final, NamedTuple

from gatewayd.areas.assets.books.portfolios import CostBasisMethod
from gatewayd.areas.assets.pools.exact import COST_UNIT, minor_of
from gatewayd.areas.assets.pools.held import Held, HeldOn, Whose
from gatewayd.areas.assets.pools.holding_rows import Key
from gatewayd.areas.assets.positions.choosing import Choice, Place
from gatewayd.areas.assets.positions.shapes import Position, PositionInstrument
from gatewayd.areas.assets.positions.valuing import Quoted, Valuing, money_of, text_of
from gatewayd.clock import days_after
from gatewayd.ledger.dates.tax_calendar import bounds, first_year_of, tax_year_of
from gatewayd.ledger.exchange.exchange_rates import STALE_DAYS, KnownRate
from gatewayd.money import Money
from gatewayd.store import ReadTx

_AVERAGE_PLACES: Final = 6  # Chosen: of the cost of one unit, which nothing is computed from
_PERCENT_PLACES: Final = 2
# a stock dividend that is taxed as a dividend counts as one in the sums
_SUMS = "f.account_id, f.instrument_id, sum(f.gross_base)"
_YEAR = """
FROM asset_accounts AS a
JOIN asset_income_years AS f ON f.org_id = :org_id AND f.account_id = a.id
WHERE a.org_id = :org_id AND f.year = :year AND f.type <> 'return_of_capital' AND f.type <> 'stock_dividend'
"""
_LATER = """
FROM asset_transactions AS f
WHERE f.org_id = :org_id AND f.income_date > :date AND f.income_date <= :last
    AND f.type <> 'return_of_capital' AND f.reversed_by_id IS NULL
    AND (f.type <> 'stock_dividend' OR f.taxed_as_dividend = 1)
"""
_BY = "GROUP BY f.account_id, f.instrument_id"
_INCOME_OF_ACCOUNT = f"SELECT {_SUMS}{_YEAR} AND a.id = :account_id {_BY}"
_INCOME_OF_PORTFOLIO = f"SELECT {_SUMS}{_YEAR} AND a.portfolio_id = :portfolio_id {_BY}"
_INCOME_OF_ENTITY = f"SELECT {_SUMS}{_YEAR} AND a.legal_entity_id = :legal_entity_id {_BY}"
_LATER_OF_ACCOUNT = f"SELECT {_SUMS}{_LATER} AND f.account_id = :account_id {_BY}"
_LATER_OF_PORTFOLIO = f"SELECT {_SUMS}{_LATER} AND f.portfolio_id = :portfolio_id {_BY}"
_LATER_OF_ENTITY = f"SELECT {_SUMS}{_LATER} AND f.legal_entity_id = :legal_entity_id {_BY}"


class Group(NamedTuple):
    """Holdings of one instrument that are one position: an account's, or those of all accounts without a wrapper."""

    instrument_id: str
    place: Place
    held: list[Held]


class Built(NamedTuple):
    """Positions, and what they were built from that others want: prices by instrument, and income.

    Income is by account and instrument, in minor units of the base currency.
    """

    positions: list[Position]
    valuing: Valuing
    quoted: Mapping[str, Quoted]
    earned: Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Books:
    """What positions are built from, besides holdings. Gains and income are in minor units."""

    choice: Choice
    valuing: Valuing
    quoted: Mapping[str, Quoted]
    pools: Mapping[str, Held]
    gains: Mapping[Key, tuple[int, int]]
    earned: Counter[tuple[str, str]]


class _Cost(NamedTuple):
    """What a position cost, in 1e-20 of the base currency, and gained, by its method."""

    cost: int
    gain: int
    method: CostBasisMethod
    is_pooled: bool


def build(tx: ReadTx, choice: Choice, *, after: str = "", closed: bool = False, count: int | None = None) -> Built:
    """The positions of instruments whose ids come behind `after`, by instrument and account.

    `count`: once there are so many positions, no further instrument is looked at; None: all are.
    """
    holdings = HeldOn(tx, choice.whose, choice.date, after=after, closed=closed)
    groups = _enough(_groups(choice, holdings.accounts(), closed=closed), count)
    valuing = Valuing(tx, choice.date)
    earned = _earned_in_tax_year(tx, choice.whose, choice.date)
    if not groups:
        return Built([], valuing, {}, earned)
    quoted = valuing.quoted(groups[0].instrument_id, groups[-1].instrument_id)
    holdings.end(groups[-1].instrument_id)
    pooled = any(_is_pooled(choice, group) for group in groups)
    alone = [holding for group in groups if not _is_pooled(choice, group) for holding in group.held]
    first, _ = bounds(tax_year_of(choice.date))
    books = _Books(
        choice=choice,
        valuing=valuing,
        quoted=quoted,
        pools=holdings.pools() if pooled else {},
        gains=holdings.gains(alone, first, pooled=pooled),
        earned=earned,
    )
    return Built([_position(books, group) for group in groups], valuing, quoted, earned)


def _is_pooled(choice: Choice, group: Group) -> bool:
    """Whether a position's cost is its share of the person's pool."""
    return choice.method == "section_104" and group.place.in_pool


def _groups(choice: Choice, held: Iterable[Held], *, closed: bool) -> Iterator[list[Group]]:
    """The groups of each instrument."""
    for instrument_id, holdings in groupby(held, key=lambda holding: holding.instrument_id):
        groups: dict[tuple[str, str], Group] = {}
        for holding in holdings:
            place = choice.places.get(holding.scope_id)
            if place is None:  # its portfolio is archived
                continue
            merged = choice.merged and place.wrapper == "none"
            key = (place.base_currency, "" if merged else holding.scope_id)
            groups.setdefault(key, Group(instrument_id, place, [])).held.append(holding)
        ordered = [groups[key] for key in sorted(groups, key=lambda key: (key[1], key[0]))]
        if ordered := [group for group in ordered if closed or any(holding.quantity for holding in group.held)]:
            yield ordered


def _enough(groups: Iterable[list[Group]], count: int | None) -> list[Group]:
    taken: list[Group] = []
    for of_instrument in groups:
        taken += of_instrument
        if count is not None and len(taken) >= count:
            break
    return taken


def _position(books: _Books, group: Group) -> Position:
    base = group.place.base_currency
    quoted = books.quoted[group.instrument_id]
    quantity = sum((held.quantity for held in group.held[1:]), group.held[0].quantity)
    cost = _cost(books, group, quantity)
    cost_base = Money(minor_of(cost.cost, base), base)
    rate = books.valuing.rate(quoted.currency, base)
    value, value_base = _market_values(quoted, quantity, rate, base)
    gain = None if value_base is None else value_base - cost_base
    holding = [held for held in group.held if held.quantity] or group.held
    earned = sum(books.earned[held.scope_id, group.instrument_id] for held in group.held)
    return Position(
        instrument_id=group.instrument_id,
        instrument=PositionInstrument(
            name=quoted.name, symbol=quoted.symbol, isin=quoted.isin, currency=quoted.own_currency
        ),
        account_id=holding[0].scope_id if len(holding) == 1 else None,
        tax_wrapper=group.place.wrapper,
        as_of_date=books.choice.date,
        quantity=text_of(quantity.numerator, quantity.denominator),
        average_cost=_average(cost.cost, quantity),
        cost_basis=cost_base if quoted.currency == base else None,
        cost_basis_base=cost_base,
        currency=quoted.currency,
        base_currency=base,
        price=None if quoted.price is None else text_of(quoted.price.numerator, quoted.price.denominator),
        price_date=quoted.price_date,
        price_stale=quoted.price_date is None or quoted.price_date < days_after(books.choice.date, -STALE_DAYS),
        fx_rate=None if rate is None else rate.text,
        fx_rate_date=None if rate is None else rate.date,
        fx_rate_source=None if rate is None else rate.source,
        fx_rate_stale=rate is None or rate.is_stale(books.choice.date),
        market_value=value,
        market_value_base=value_base,
        unrealised_gain=gain,
        unrealised_gain_percent=_percent(gain, cost_base),
        realised_gain_tax_year=Money(cost.gain, base),
        income_tax_year=Money(earned, base),
        first_acquired_date=min((held.since for held in group.held if held.since is not None), default=None),
        method=cost.method,
        pool_scope="entity" if cost.is_pooled else "account",
        explanation=None,
    )


def _cost(books: _Books, group: Group, quantity: Fraction) -> _Cost:
    """The cost of a position: its share of what the person's whole pool cost, else the sum of what its accounts say."""
    method = books.choice.method
    if _is_pooled(books.choice, group):
        pool = books.pools.get(group.instrument_id)
        gain, _ = books.gains.get(Key(books.choice.whose.legal_entity_id, group.instrument_id), (0, 0))
        if pool is None or pool.quantity <= 0:
            return _Cost(0, gain, method, True)
        part = quantity.numerator * pool.quantity.denominator
        return _Cost(pool.cost * part // (quantity.denominator * pool.quantity.numerator), gain, method, True)
    by_lots = method == "fifo"
    gains = [books.gains.get(Key(held.scope_id, group.instrument_id), (0, 0)) for held in group.held]
    cost = sum(held.lot_cost if by_lots else held.cost for held in group.held)
    gain = sum(lots if by_lots else average for average, lots in gains)
    return _Cost(cost, gain, "fifo" if by_lots else "average_cost", False)


def _average(cost: int, quantity: Fraction) -> str | None:
    """What one unit cost; None where nothing is held; 0 of a short position, which has no cost."""
    if not quantity:
        return None
    units = abs(quantity.numerator)
    return text_of(cost * quantity.denominator, units * COST_UNIT, _AVERAGE_PLACES)


def _market_values(
    quoted: Quoted, quantity: Fraction, rate: KnownRate | None, base: str
) -> tuple[Money | None, Money | None]:
    """The market value in the currency of the price, and in the base currency."""
    if quoted.price is None:
        return None, None
    units = quoted.price.numerator * quantity.numerator
    parts = quoted.price.denominator * quantity.denominator
    value = money_of(units, parts, quoted.currency)
    if rate is None or quoted.currency == base:
        return value, None if rate is None else value
    return value, money_of(units * rate.rate.numerator, parts * rate.rate.denominator, base)


def _percent(gain: Money | None, cost: Money) -> str | None:
    if gain is None or cost.minor <= 0:
        return None
    return text_of(gain.minor * 100, cost.minor, _PERCENT_PLACES)


def _earned_in_tax_year(tx: ReadTx, whose: Whose, date: str) -> Counter[tuple[str, str]]:
    """The income since the tax year began until an ISO date, in minor units of the base currency.

    By account and instrument; "" for what is of no instrument, such as interest on cash.
    """
    if whose.account_id is not None:
        sql, later_sql, of = _INCOME_OF_ACCOUNT, _LATER_OF_ACCOUNT, {"account_id": whose.account_id}
    elif whose.portfolio_id is not None:
        sql, later_sql, of = _INCOME_OF_PORTFOLIO, _LATER_OF_PORTFOLIO, {"portfolio_id": whose.portfolio_id}
    else:
        sql, later_sql, of = _INCOME_OF_ENTITY, _LATER_OF_ENTITY, {"legal_entity_id": whose.legal_entity_id}
    earned: Counter[tuple[str, str]] = Counter()
    for account_id, instrument_id, gross in tx.rows(sql, year=first_year_of(date), **of):
        earned[account_id, instrument_id] = gross
    _, last = bounds(tax_year_of(date))
    for account_id, instrument_id, gross in tx.rows(later_sql, date=date, last=last, **of):
        earned[account_id, instrument_id or ""] -= gross
    return earned
