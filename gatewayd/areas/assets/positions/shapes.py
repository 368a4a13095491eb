"""What positions and their totals look like (Domain B3): computed, and stored nowhere."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.books.accounts import TaxWrapper
from gatewayd.areas.assets.books.instruments import AssetClass
from gatewayd.areas.assets.books.portfolios import CostBasisMethod
from gatewayd.areas.assets.gains.shapes import ExplainedDay
from gatewayd.contract.pages import LongLimit, PageRequest
from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, Id, Response
from gatewayd.ledger.exchange.exchange_rates import FxRateSource

PoolScope = Literal["account", "entity"]
_BASE = Meta(extra={"currency": "base_currency"}, description="Of `baseCurrency`.")


class PositionInstrument(Response, frozen=True, kw_only=True):
    """What is held, for people."""

    name: str
    symbol: str | None
    isin: str | None
    currency: str


class PositionExplanation(Response, frozen=True, kw_only=True):
    """The first days that made a position, oldest first. `more`: `assets.explainPosition` goes on."""

    days: list[ExplainedDay]
    more: bool


class Position(Response, frozen=True, kw_only=True):
    """An instrument in an account, or in all accounts without a wrapper together.

    `accountId` null: in several accounts. `poolScope` entity: cost and gain are by the pool of the person over all
    accounts, of which `realisedGainTaxYear` is that of all. `price` is in `currency`, in units of `asOfDate`; null
    where there is none. `costBasis` is null in another currency than the base, in which cost is kept. `explanation` is
    null unless it was asked for, and by `fifo`, or where several accounts are one position outside of a pool.
    """

    instrument_id: Id
    instrument: PositionInstrument
    account_id: Id | None
    tax_wrapper: TaxWrapper
    as_of_date: DateText
    quantity: CanonicalDecimal
    average_cost: Annotated[CanonicalDecimal | None, Meta(description="For one unit, in `baseCurrency`.")]
    cost_basis: Amount | None
    cost_basis_base: Annotated[Amount, _BASE]
    currency: str
    base_currency: str
    price: CanonicalDecimal | None
    price_date: DateText | None
    price_stale: bool
    fx_rate: CanonicalDecimal | None
    fx_rate_date: DateText | None
    fx_rate_source: Annotated[
        FxRateSource | None,
        Meta(description="Where it is from: of each the latest until `asOfDate` counts. Null: it is 1, or not known."),
    ]
    fx_rate_stale: Annotated[
        bool, Meta(description="It is of more than 7 days before, and not of the month; or none is known.")
    ]
    market_value: Amount | None
    market_value_base: Annotated[Amount | None, _BASE]
    unrealised_gain: Annotated[Amount | None, _BASE]
    unrealised_gain_percent: CanonicalDecimal | None
    realised_gain_tax_year: Annotated[Amount, _BASE]
    income_tax_year: Annotated[Amount, _BASE]
    first_acquired_date: DateText | None
    method: CostBasisMethod
    pool_scope: PoolScope
    explanation: PositionExplanation | None


class ListPositions(PageRequest, frozen=True, kw_only=True):
    """Whose positions: those of one portfolio, account or legal entity; on which day, today by default."""

    portfolio_id: Id | None = None
    account_id: Id | None = None
    legal_entity_id: Id | None = None
    as_of_date: Date | None = None
    method: CostBasisMethod | None = None
    include_closed: bool = False
    explain: Annotated[bool, Meta(description="With the days that made each: matches, and the pool around them.")] = (
        False
    )
    limit: LongLimit = 50


class CashBalance(Response, frozen=True, kw_only=True):
    """What there is of one currency; below 0 it is owed."""

    currency: str
    balance: Amount


class PricedTotals(Response, frozen=True, kw_only=True):
    """The positions that have a price and a rate of exchange, alone: both what they are worth and what they cost."""

    positions: int
    value: Amount
    cost: Amount
    unrealised_gain: Amount
    currency: str


class ValueTotals(Response, frozen=True, kw_only=True):
    """What positions come to, in `currency`. `cost` is that of all.

    `value` and `unrealisedGain` are of all too, and null where any has no price or no rate of exchange, of which
    `unpricedPositions` counts how many; `priced` is of the others alone. `stalePositions` counts those among the others
    whose price or rate is older than a week.
    """

    value: Amount | None
    cost: Amount
    unrealised_gain: Amount | None
    currency: str
    unpriced_positions: int
    stale_positions: int
    priced: PricedTotals


class AssetClassTotals(ValueTotals, frozen=True, kw_only=True):
    """What the positions of one class of assets come to."""

    asset_class: AssetClass


class PortfolioTotals(ValueTotals, frozen=True, kw_only=True):
    """What a portfolio comes to on a day, all in `currency`.

    `cash` is null where a currency has no rate of exchange; `staleCashBalances` counts those whose rate is older than a
    week.
    """

    as_of_date: DateText
    cash: Amount | None
    stale_cash_balances: int
    cash_balances: list[CashBalance]
    income_tax_year_to_date: Amount
    by_asset_class: list[AssetClassTotals]
