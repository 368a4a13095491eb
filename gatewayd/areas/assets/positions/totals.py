"""What a portfolio or an account comes to on a day. Reads only."""

from collections.abc import Iterable, Sequence

from gatewayd.areas.assets.accounts.shapes import AssetAccountRow, CashBalance
from gatewayd.areas.assets.instruments.shapes import AssetClass
from gatewayd.areas.assets.pools import cash_on
from gatewayd.areas.assets.portfolios.rows import PORTFOLIOS
from gatewayd.areas.assets.portfolios.shapes import AssetClassTotals, Portfolio, PortfolioTotals
from gatewayd.areas.assets.positions import building, choosing
from gatewayd.areas.assets.positions.building import Built
from gatewayd.areas.assets.positions.shapes import Position
from gatewayd.areas.assets.positions.valuing import Valuing, money_of
from gatewayd.money import Money, exponent
from gatewayd.store import ReadTx


def of_portfolio(tx: ReadTx, portfolio: Portfolio, date: str) -> PortfolioTotals:
    """What a portfolio comes to at the end of an ISO date, in its base currency."""
    base = portfolio.base_currency
    choice = choosing.of_portfolio(tx, portfolio, date)
    built = building.build(tx, choice)
    positions = built.positions
    balances = cash_on.balances(tx, choice.whose, date)
    return PortfolioTotals(
        as_of_date=date,
        currency=base,
        value=_sum(base, (one.market_value_base for one in positions)),
        cost=_sum(base, (one.cost_basis_base for one in positions)),
        unrealised_gain=_sum(base, (one.unrealised_gain for one in positions)),
        unpriced_positions=sum(one.market_value_base is None for one in positions),
        cash=_converted(built.valuing, balances, base),
        cash_balances=shown(balances),
        income_tax_year_to_date=Money(built.earned.total(), base),
        by_asset_class=_by_class(built, base),
    )


def of_account(tx: ReadTx, account: AssetAccountRow, date: str) -> tuple[Money, int, list[Money]]:
    """What an account's positions are worth in its portfolio's base currency, how many have no price, and its cash."""
    choice = choosing.of_account(tx, account, date)
    base = PORTFOLIOS.get(tx, account.portfolio_id).base_currency
    values = [one.market_value_base for one in building.build(tx, choice).positions]
    return _sum(base, values), values.count(None), cash_on.balances(tx, choice.whose, date)


def shown(balances: Iterable[Money]) -> list[CashBalance]:
    """Balances as they are answered."""
    return [CashBalance(currency=one.currency, balance=one) for one in balances]


def _sum(currency: str, amounts: Iterable[Money | None]) -> Money:
    return Money(sum(one.minor for one in amounts if one is not None), currency)


def _converted(valuing: Valuing, balances: Sequence[Money], base: str) -> Money | None:
    """The balances in the base currency; None where a currency has no rate."""
    total = Money(0, base)
    for one in balances:
        rate = valuing.rate(one.currency, base)
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
        AssetClassTotals(
            asset_class=name,
            currency=base,
            value=_sum(base, (one.market_value_base for one in of_class)),
            cost=_sum(base, (one.cost_basis_base for one in of_class)),
        )
        for name, of_class in sorted(found.items())
    ]
