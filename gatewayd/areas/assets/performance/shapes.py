"""What returns, values over time and allocations look like (Domain C11): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.positions.shapes import ValueTotals
from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, Id, Request, Response

Basis = Literal["holdings", "with_cash"]
"""`holdings`: what is invested, so that buying puts money in and a sale or dividend takes it out. `with_cash`: all of
an account, so that deposits put money in, and what stays as cash is a part of it."""

Interval = Literal["none", "month", "quarter", "year"]
PerformanceWarningCode = Literal["unpriced", "stale_price", "priced_by_trades", "valued_at_amount", "no_single_rate"]
Percent = Annotated[CanonicalDecimal, Meta(description="In percent.", examples=["37.3363"])]


class GetPerformance(Request, frozen=True, kw_only=True):
    """Whose performance: of one portfolio, account or legal entity, or of an instrument in it.

    `fromDate` is the first day, by default that of the first transaction; `toDate` the last one, today by default.
    """

    portfolio_id: Id | None = None
    account_id: Id | None = None
    legal_entity_id: Id | None = None
    instrument_id: Id | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    basis: Basis = "holdings"
    interval: Interval = "none"


class ValueOfDay(Response, frozen=True, kw_only=True):
    """What it was worth at the end of a day. `value` null: something had no price or rate.

    `putIn` is what was put in since the day before in the list, less what was taken out.
    """

    date: DateText
    value: Amount | None
    put_in: Amount | None
    unpriced: int
    stale: int
    currency: str


class PerformanceWarning(Response, frozen=True, kw_only=True):
    """What the figures do not say by themselves."""

    code: PerformanceWarningCode
    message: str


class Performance(Response, frozen=True, kw_only=True):
    """What was earned from the beginning of `fromDate` to the end of `toDate`.

    `gain` is `endValue` less `startValue` less what was put in, plus what was taken out. Returns are over all days;
    `annual` ones are of a year, and null of less than one. Null too: it cannot be reckoned, and a warning says why.
    """

    from_date: DateText
    to_date: DateText
    basis: Basis
    currency: str
    start_value: Amount | None
    end_value: Amount | None
    put_in: Amount | None
    taken_out: Amount | None
    gain: Amount | None
    money_weighted_return: Percent | None
    money_weighted_annual: Percent | None
    time_weighted_return: Percent | None
    time_weighted_annual: Percent | None
    values: list[ValueOfDay]
    warnings: list[PerformanceWarning]


class GetAssetAllocation(Request, frozen=True, kw_only=True):
    """Of what: one portfolio, account or legal entity; on which day, today by default."""

    portfolio_id: Id | None = None
    account_id: Id | None = None
    legal_entity_id: Id | None = None
    as_of_date: Date | None = None


class AssetAllocationPart(Response, frozen=True, kw_only=True):
    """A part of all that has a price. `key` null: it is not known."""

    key: str | None
    value: Amount
    percent: Percent | None
    positions: int
    unpriced_positions: int
    currency: str


class AssetAllocation(Response, frozen=True, kw_only=True):
    """Of what positions and cash consist on a day, in `currency`.

    Parts are of what has a price and a rate of exchange, `allocated` together; they are in percent of it, and percent
    is null where it is nothing or less. `totals` count what has none. `cash` is in the class `cash`, and by its
    currencies; it has no country. `unconvertedCash` are currencies without a rate.
    """

    as_of_date: DateText
    currency: str
    totals: ValueTotals
    allocated: Amount
    cash: Amount
    unconverted_cash: list[str]
    by_asset_class: list[AssetAllocationPart]
    by_currency: list[AssetAllocationPart]
    by_country: list[AssetAllocationPart]
