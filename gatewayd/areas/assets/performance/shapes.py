"""What returns, values over time and allocations look like (Domain C11): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.positions.shapes import ValueTotals
from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, Id, Request, Response

Basis = Literal["holdings", "with_cash"]
Interval = Literal["none", "month", "quarter", "year"]
PerformanceWarningCode = Literal["unpriced", "stale_price", "priced_by_trades", "valued_at_amount", "no_single_rate"]
Percent = Annotated[CanonicalDecimal, Meta(examples=["37.3363"])]


class GetPerformance(Request, frozen=True, kw_only=True):
    """Whose performance, and of which days."""

    portfolio_id: Id | None = None
    """Of this portfolio; give one of portfolio, account and legal entity."""
    account_id: Id | None = None
    """Of this account."""
    legal_entity_id: Id | None = None
    """Of all portfolios of this legal entity that are not archived; refused where they have several base currencies."""
    instrument_id: Id | None = None
    """Only of this instrument in it; not with the basis `with_cash`."""
    from_date: Date | None = None
    """The first day. Left out: that of the first transaction."""
    to_date: Date | None = None
    """The last day, not one to come. Left out: today."""
    basis: Basis = "holdings"
    interval: Interval = "none"
    """Whether `values` are told at the end of each calendar month, quarter or year, and of the range; `none`: not at
    all."""


class ValueOfDay(Response, frozen=True, kw_only=True):
    """What it was worth at the end of a day."""

    date: DateText
    """The last day of an interval, or of the range."""
    value: Amount | None
    """What it was worth at the end of the day. Null: something had no price or no rate of exchange."""
    put_in: Amount | None
    """What was put in since the day before in the list, that day left out, less what was taken out. Null: nobody knows
    what something was worth that came or went in kind."""
    unpriced: int
    """How many instruments, and currencies of cash, have no price or no rate of exchange."""
    stale: int
    """How many have a price or a rate of more than 7 days before."""
    currency: str
    """The base currency."""


class PerformanceWarning(Response, frozen=True, kw_only=True):
    """What the figures do not say by themselves."""

    code: PerformanceWarningCode
    """`unpriced`: something has no price or rate on a day that counts. `stale_price`: some values are by old prices.
    `priced_by_trades`: between the ends, some values are by what trades paid. `valued_at_amount`: what came or went in
    kind counts at the amount entered. `no_single_rate`: there is no one money-weighted rate."""
    message: str
    """What it is about, for people."""


class Performance(Response, frozen=True, kw_only=True):
    """What was earned from the beginning of one day to the end of another."""

    from_date: DateText
    """The first day, from its beginning."""
    to_date: DateText
    """The last day, to its end."""
    basis: Basis
    """`holdings`: what is invested, so that buying puts money in and a sale or dividend takes it out. `with_cash`: all
    of an account, so that deposits put money in, and what stays as cash is a part of it."""
    currency: str
    """The base currency."""
    start_value: Amount | None
    """What it was worth at the end of the day before the first. Null: something had no price or no rate of exchange."""
    end_value: Amount | None
    """What it was worth at the end of the last day. Null: something had no price or no rate of exchange."""
    put_in: Amount | None
    """What was put in, in money and in kind. Null: nobody knows what something was worth that came or went in kind."""
    taken_out: Amount | None
    """What was taken out, in money and in kind. Null: as `putIn`."""
    gain: Amount | None
    """The end value less the start value, less what was put in, plus what was taken out; below 0 a loss. Null: one of
    these is not known."""
    money_weighted_return: Percent | None
    """The return on what was put in, with regard to when, over all days, in percent. Null: nothing was held, something
    has no price or rate, or there is no single rate."""
    money_weighted_annual: Percent | None
    """The same as a yearly rate, as XIRR reckons it, in percent. Null: it is not known, or of less than 365 days."""
    time_weighted_return: Percent | None
    """The return on money that stayed in throughout, whatever was put in and taken out, over all days, in percent.
    Null: something has no price or rate on a day on which money moved, or all of it was worth less than nothing."""
    time_weighted_annual: Percent | None
    """The same as a yearly rate, in percent. Null: it is not known, or of less than 365 days."""
    values: list[ValueOfDay]
    """What it was worth at the ends of the intervals, oldest first; empty with the interval `none`."""
    warnings: list[PerformanceWarning]
    """What the figures do not say by themselves."""


class GetAssetAllocation(Request, frozen=True, kw_only=True):
    """Of what, and on which day."""

    portfolio_id: Id | None = None
    """Of this portfolio; give one of portfolio, account and legal entity."""
    account_id: Id | None = None
    """Of this account."""
    legal_entity_id: Id | None = None
    """Of all portfolios of this legal entity that are not archived; refused where they have several base currencies."""
    as_of_date: Date | None = None
    """The day at whose end it is looked at, not one to come. Left out: today."""


class AssetAllocationPart(Response, frozen=True, kw_only=True):
    """A part of what there is."""

    key: str | None
    """The class, the currency or the country (ISO 3166-1 alpha-2) that the list goes by. Null: the country is not
    known."""
    value: Amount
    """What the part is worth; below 0 it is owed."""
    percent: Percent | None
    """The value in percent of all parts of the list, to 2 places. Null: all parts together are 0 or less."""
    positions: int
    """How many positions are in it, those without a price included."""
    unpriced_positions: int
    """How many of its positions have no price or no rate of exchange: nothing of them is in `value`."""
    currency: str
    """The base currency."""


class AssetAllocation(Response, frozen=True, kw_only=True):
    """Of what positions and cash consist on a day, all in one currency."""

    as_of_date: DateText
    """The day at whose end it is looked at."""
    currency: str
    """The base currency."""
    totals: ValueTotals
    """What the positions come to, without cash, and how many of them have no price."""
    allocated: Amount
    """What all positions and cash are worth that have a price and a rate of exchange."""
    cash: Amount
    """The cash of all currencies that have a rate of exchange, together; below 0 it is owed."""
    unconverted_cash: list[str]
    """The currencies of cash that have no rate of exchange: they are in no figure."""
    by_asset_class: list[AssetAllocationPart]
    """By class, the largest first; cash is in the class `cash`."""
    by_currency: list[AssetAllocationPart]
    """By the currency in which instruments are quoted and cash is kept, the largest first."""
    by_country: list[AssetAllocationPart]
    """Positions by the country of their instrument's company or fund, the largest first; cash has none and is not in
    it."""
