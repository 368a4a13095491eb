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
    rates = [built.valuing.rate(one.currency, base) for one in balances]
    return project(
        of_positions(built.positions, base),
        PortfolioTotals,
        as_of_date=date,
        cash=_converted(balances, rates, base),
        stale_cash_balances=sum(one is not None and one.is_stale(date) for one in rates),
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
    """What positions come to, which are all in one base currency: no figure has a part of what another leaves out."""
    priced = [one for one in positions if one.market_value_base is not None]
    value = _sum(base, (one.market_value_base for one in priced))
    gain = _sum(base, (one.unrealised_gain for one in priced))
    whole = len(priced) == len(positions)
    return ValueTotals(
        value=value if whole else None,
        cost=_sum(base, (one.cost_basis_base for one in positions)),
        unrealised_gain=gain if whole else None,
        currency=base,
        unpriced_positions=len(positions) - len(priced),
        stale_positions=sum(one.price_stale or one.fx_rate_stale for one in priced),
        priced=PricedTotals(
            positions=len(priced),
            value=value,
            cost=_sum(base, (one.cost_basis_base for one in priced)),
            unrealised_gain=gain,
            currency=base,
        ),
    )


def shown(balances: Iterable[Money]) -> list[CashBalance]:
    """Balances as they are answered."""
    return [CashBalance(currency=one.currency, balance=one) for one in balances]


def _sum(currency: str, amounts: Iterable[Money | None]) -> Money:
    return Money(sum(one.minor for one in amounts if one is not None), currency)


def _converted(balances: Sequence[Money], rates: Sequence[KnownRate | None], base: str) -> Money | None:
    """The balances in the base currency; None where a currency has no rate."""
    total = Money(0, base)
    for one, rate in zip(balances, rates, strict=True):
        if rate is None:
            return None
        minor, one_major = one.minor * rate.rate.numerator, 10 ** exponent(one.currency) * rate.rate.denominator
        total += money_of(minor, one_major, base)
    return total


def _by_class(built: Built, base: str) -> list[AssetClassTotals]:
    found: dict[AssetClass, list[Position]] = {}
    for position in built.positions:
        found.setdefault(built.quoted[position.instrument_id].asset_class, []).append(position)
    return [
        project(of_positions(of_class, base), AssetClassTotals, asset_class=name)
        for name, of_class in sorted(found.items())
    ]
