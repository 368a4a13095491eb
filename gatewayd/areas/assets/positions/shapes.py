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
_BASE = Meta(extra={"currency": "base_currency"})


class PositionInstrument(Response, frozen=True, kw_only=True):
    """What is held, for people."""

    name: str
    """The name of the share, fund or coin."""
    symbol: str | None
    """The ticker. Null: not known."""
    isin: str | None
    """The ISIN. Null: not known."""
    currency: str
    """The currency in which the instrument is quoted, which the price need not be in."""


class PositionExplanation(Response, frozen=True, kw_only=True):
    """The first days that made a position."""

    days: list[ExplainedDay]
    """At most 100 days, oldest first."""
    more: bool
    """Whether later days are left out: `assets.explainPosition` has them."""


class Position(Response, frozen=True, kw_only=True):
    """An instrument in an account, or in all accounts without a wrapper together."""

    instrument_id: Id
    """The instrument that is held."""
    instrument: PositionInstrument
    """What is held, for people."""
    account_id: Id | None
    """The account that holds it. Null: several accounts do."""
    tax_wrapper: TaxWrapper
    """The wrapper of the account; `none` of all accounts without one."""
    as_of_date: DateText
    """The day at whose end it is looked at, with splits up to it."""
    quantity: CanonicalDecimal
    """How many units are held; below 0 more were sold than held."""
    average_cost: CanonicalDecimal | None
    """What one unit cost in `baseCurrency`, to 6 places. Null: nothing is held."""
    cost_basis: Amount | None
    """What it cost, in `currency`. Null: that is not the base currency, in which cost is kept."""
    cost_basis_base: Annotated[Amount, _BASE]
    """What it cost by `method`, in `baseCurrency`, fees and taxes of the purchases included."""
    currency: str
    """The currency of the price, or of the instrument where there is no price."""
    base_currency: str
    """The base currency of the portfolio."""
    price: CanonicalDecimal | None
    """The latest price of one unit until `asOfDate`, in `currency`, restated by splits since. Null: none is
    recorded."""
    price_date: DateText | None
    """The day of the price. Null: there is none."""
    price_stale: bool
    """Whether the price is of more than 7 days before `asOfDate`, or there is none."""
    fx_rate: CanonicalDecimal | None
    """What 1 of `currency` is in `baseCurrency`: the latest rate until `asOfDate`. Null: none is known."""
    fx_rate_date: DateText | None
    """The day of the rate; of HMRC's of a month its first day. Null: none is known."""
    fx_rate_source: FxRateSource | None
    """Where the rate is from: `recorded`, `given` with a transaction (`transaction`), or published by `hmrc`. Null: it
    is 1, or none is known."""
    fx_rate_stale: bool
    """Whether the rate is of more than 7 days before `asOfDate` and not HMRC's of its month, or none is known."""
    market_value: Amount | None
    """The quantity at the price, in `currency`. Null: there is no price."""
    market_value_base: Annotated[Amount | None, _BASE]
    """The quantity at the price, in `baseCurrency`. Null: there is no price or no rate."""
    unrealised_gain: Annotated[Amount | None, _BASE]
    """The market value less the cost, in `baseCurrency`; below 0 a loss. Null: there is no price or no rate."""
    unrealised_gain_percent: CanonicalDecimal | None
    """The unrealised gain in percent of the cost, to 2 places. Null: it is not known, or nothing was paid."""
    realised_gain_tax_year: Annotated[Amount, _BASE]
    """Gains less losses of what was disposed of from the start of the tax year to `asOfDate`, in `baseCurrency`; with
    `poolScope` `entity` those of the whole pool."""
    income_tax_year: Annotated[Amount, _BASE]
    """Income from the start of the tax year to `asOfDate`, before tax was withheld and without returns of capital, in
    `baseCurrency`."""
    first_acquired_date: DateText | None
    """The day on which what is held was first acquired, after nothing had been held. Null: nothing is held, or more was
    sold than held."""
    method: CostBasisMethod
    """How cost and gains are reckoned here. Where `section_104` is asked for, accounts with a wrapper and those not
    kept in pounds are at `average_cost`."""
    pool_scope: PoolScope
    """`entity`: cost is this position's share of the person's pool over all accounts without a wrapper. `account`: it
    is that of the account, or of several by themselves."""
    explanation: PositionExplanation | None
    """The days that made it. Null: not asked for, at `fifo`, or of several accounts that are no pool."""


class ListPositions(PageRequest, frozen=True, kw_only=True):
    """Whose positions, and on which day."""

    portfolio_id: Id | None = None
    """The positions of this portfolio; give one of portfolio, account and legal entity."""
    account_id: Id | None = None
    """The positions of this account."""
    legal_entity_id: Id | None = None
    """The positions of all portfolios of this legal entity that are not archived."""
    as_of_date: Date | None = None
    """The day at whose end they are looked at, not one to come. Left out: today."""
    method: CostBasisMethod | None = None
    """How cost and gains are reckoned. Left out: as the portfolio does, of a legal entity its default portfolio."""
    include_closed: bool = False
    """True: also what was held once and is no more."""
    explain: bool = False
    """True: with the days that made each position, what disposals were matched with, and the pool around them."""
    limit: LongLimit = 50


class CashBalance(Response, frozen=True, kw_only=True):
    """What there is of one currency; below 0 it is owed."""

    currency: str
    """The currency of the cash."""
    balance: Amount
    """What there is; below 0 it is owed."""


class PricedTotals(Response, frozen=True, kw_only=True):
    """The positions that have a price and a rate of exchange, alone: both what they are worth and what they cost."""

    positions: int
    """How many positions have a price and a rate of exchange."""
    value: Amount
    """What they are worth."""
    cost: Amount
    """What they cost."""
    unrealised_gain: Amount
    """Their value less their cost; below 0 a loss."""
    currency: str
    """The base currency."""


class ValueTotals(Response, frozen=True, kw_only=True):
    """What positions come to, without cash."""

    value: Amount | None
    """What all of them are worth. Null: one has no price or no rate of exchange."""
    cost: Amount
    """What all of them cost."""
    unrealised_gain: Amount | None
    """Value less cost; below 0 a loss. Null: one has no price or no rate of exchange."""
    currency: str
    """The base currency, of all amounts."""
    unpriced_positions: int
    """How many positions have no price or no rate of exchange."""
    stale_positions: int
    """How many of the others have a price or a rate that is stale (`priceStale`, `fxRateStale`)."""
    priced: PricedTotals
    """The positions that have a price and a rate, alone."""


class AssetClassTotals(ValueTotals, frozen=True, kw_only=True):
    """What the positions of one class of assets come to."""

    asset_class: AssetClass
    """The class of the instruments."""


class PortfolioTotals(ValueTotals, frozen=True, kw_only=True):
    """What a portfolio comes to on a day. Value, cost and gains are of its positions, without cash."""

    as_of_date: DateText
    """The day at whose end it is looked at."""
    cash: Amount | None
    """The cash of all currencies together, in `currency`; below 0 it is owed. Null: a currency has no rate of
    exchange."""
    stale_cash_balances: int
    """How many currencies of cash have a rate of more than 7 days before, and not HMRC's of the month."""
    cash_balances: list[CashBalance]
    """What there is in cash in each currency, if not 0."""
    income_tax_year_to_date: Amount
    """Income from the start of the tax year to `asOfDate`, before tax was withheld and without returns of capital."""
    by_asset_class: list[AssetClassTotals]
    """What the positions of each class come to, by name of the class; classes without any are left out."""
