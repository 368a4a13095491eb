"""What a portfolio or an account comes to on a day. Reads only."""

from collections.abc import Iterable, Sequence

from gatewayd.areas.assets.books.accounts import AssetAccountRow
from gatewayd.areas.assets.books.instruments import AssetClass
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS, Portfolio
from gatewayd.areas.assets.pools import cash
from gatewayd.areas.assets.positions import building, choosing
from gatewayd.areas.assets.positions.building import Built
from gatewayd.areas.assets.positions.shapes import (
    AssetClassTotals,
    CashBalance,
    PortfolioTotals,
    Position,
    PricedTotals,
    ValueTotals,
)
from gatewayd.areas.assets.positions.valuing import money_of
from gatewayd.contract.wire import project
from gatewayd.ledger.exchange.exchange_rates import KnownRate
from gatewayd.money import Money, exponent
from gatewayd.store import ReadTx


def of_portfolio(tx: ReadTx, portfolio: Portfolio, date: str) -> PortfolioTotals:
    """What a portfolio comes to at the end of an ISO date, in its base currency."""
    base = portfolio.base_currency
    choice = choosing.of_portfolio(tx, portfolio, date)
    built = building.build(tx, choice)
    balances = cash.balances_on(tx, choice.whose, date)
    rates = [built.valuing.rate(balance.currency, base) for balance in balances]
    return project(
        of_positions(built.positions, base),
        PortfolioTotals,
        as_of_date=date,
        cash=_converted(balances, rates, base),
        stale_cash_balances=sum(rate is not None and rate.is_stale(date) for rate in rates),
        cash_balances=shown(balances),
        income_tax_year_to_date=Money(built.earned.total(), base),
        by_asset_class=_by_class(built, base),
    )


def of_account(tx: ReadTx, account: AssetAccountRow, date: str) -> tuple[ValueTotals, list[Money]]:
    """What an account's positions come to in its portfolio's base currency, and its cash."""
    choice = choosing.of_account(tx, account, date)
    base = PORTFOLIOS.get(tx, account.portfolio_id).base_currency
    return of_positions(building.build(tx, choice).positions, base), cash.balances_on(tx, choice.whose, date)


def of_positions(positions: Sequence[Position], base: str) -> ValueTotals:
    """What positions in one base currency come to. No figure has on one side what it lacks on the other."""
    priced = [position for position in positions if position.market_value_base is not None]
    value = _sum_amounts(base, (position.market_value_base for position in priced))
    gain = _sum_amounts(base, (position.unrealised_gain for position in priced))
    all_priced = len(priced) == len(positions)
    return ValueTotals(
        value=value if all_priced else None,
        cost=_sum_amounts(base, (position.cost_basis_base for position in positions)),
        unrealised_gain=gain if all_priced else None,
        currency=base,
        unpriced_positions=len(positions) - len(priced),
        stale_positions=sum(position.price_stale or position.fx_rate_stale for position in priced),
        priced=PricedTotals(
            positions=len(priced),
            value=value,
            cost=_sum_amounts(base, (position.cost_basis_base for position in priced)),
            unrealised_gain=gain,
            currency=base,
        ),
    )


def shown(balances: Iterable[Money]) -> list[CashBalance]:
    """Balances as they are answered."""
    return [CashBalance(currency=balance.currency, balance=balance) for balance in balances]


def _sum_amounts(currency: str, amounts: Iterable[Money | None]) -> Money:
    return Money(sum(amount.minor for amount in amounts if amount is not None), currency)


def _converted(balances: Sequence[Money], rates: Sequence[KnownRate | None], base: str) -> Money | None:
    """The balances in the base currency; None where a currency has no rate."""
    total = Money(0, base)
    for balance, rate in zip(balances, rates, strict=True):
        if rate is None:
            return None
        minor, one_major = balance.minor * rate.rate.numerator, 10 ** exponent(balance.currency) * rate.rate.denominator
        total += money_of(minor, one_major, base)
    return total


def _by_class(built: Built, base: str) -> list[AssetClassTotals]:
    by_class: dict[AssetClass, list[Position]] = {}
    for position in built.positions:
        by_class.setdefault(built.quoted[position.instrument_id].asset_class, []).append(position)
    return [
        project(of_positions(of_class, base), AssetClassTotals, asset_class=name)
        for name, of_class in sorted(by_class.items())
    ]
