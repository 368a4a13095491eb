"""What the landlord's dashboard looks like (Domain C3): request and response."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, Id, Request, Response
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.obligations.obligations import Obligation

Tenth = Annotated[str, Meta(description="Percent, to one place; null: of nothing.", examples=["66.7"])]


DashboardBasis = Literal["share", "whole"]


class GetDashboardSummary(Request, frozen=True, kw_only=True):
    """Whose properties, on which day; all of the organization's, and today, where nothing is given.

    `basis` share: of everything counts what the legal entity of the business owns of its property; whole: all of it.
    """

    business_id: Id | None = None
    legal_entity_id: Id | None = None
    as_of_date: Date | None = None
    basis: DashboardBasis = "share"
    window_days: Annotated[int, Meta(ge=0, le=730, description="How many days ahead something expires or ends.")] = 60


class TenancyArrears(Response, frozen=True, kw_only=True):
    """What a tenancy owes, or the owner's part of it; `daysOldest` is how long the oldest rent is due."""

    tenancy_id: Id
    property_id: Id
    amount: Amount
    days_oldest: int


class ArrearsSummary(Response, frozen=True, kw_only=True):
    """What all tenancies owe, ended ones too. `tenancies` are the hundred that owe most; `count` is of all."""

    total: Amount
    count: int
    tenancies: list[TenancyArrears]


class CertificateSummary(Response, frozen=True, kw_only=True):
    """How many certificates there are in each state, and those that expire next."""

    valid: int
    expiring: int
    expired: int
    missing: int
    next: list[Certificate]


class RateEnding(Response, frozen=True, kw_only=True):
    """A mortgage whose rate ends within the window. `reversionRate` null: nobody said."""

    mortgage_id: Id
    property_id: Id
    lender: str
    interest_rate: CanonicalDecimal
    reversion_rate: CanonicalDecimal | None
    rate_end_date: DateText


class DashboardWarning(Response, frozen=True, kw_only=True):
    """Something that the figures do not say by themselves."""

    code: str
    message: str


class LandlordDashboard(Response, frozen=True, kw_only=True):
    """What is let on a day, what it brings and owes, and what has to be done. Amounts are in `currency`.

    With `basis` share every amount is the owner's part: of values, loans, rents, arrears, deposits and results alike;
    with whole, all of it. Counts are of whole properties, tenancies and deposits. `portfolioValue` is of the latest
    valuations, or of the price paid where there is none: `valuedAtCost` properties, and `unvalued` ones have neither.
    Yields, `equity` and `ltvPercent` leave out the rents, results and loans of those: they are of the value's own
    properties. `mortgageBalanceUnvalued` is the part of `mortgageBalance` that is owed on properties without a value.
    `unprotectedDeposits` counts the deposits that are held in no scheme and would have to be.
    """

    as_of_date: DateText
    basis: DashboardBasis
    currency: str
    property_count: int
    unit_count: int
    let_unit_count: int
    vacant_unit_count: int
    occupancy_percent: Tenth | None
    active_tenancies: int
    tenancies_under_notice: int
    monthly_rent_roll: Amount
    annual_rent_roll: Amount
    arrears: ArrearsSummary
    deposits_held: Amount
    unprotected_deposits: int
    portfolio_value: Amount
    valued_at_cost: int
    unvalued: int
    mortgage_balance: Amount
    mortgage_balance_unvalued: Amount
    equity: Amount
    ltv_percent: Tenth | None
    gross_yield_percent: Tenth | None
    net_yield_percent: Tenth | None
    income_tax_year_to_date: Amount
    expenses_tax_year_to_date: Amount
    net_tax_year_to_date: Amount
    certificates: CertificateSummary
    mortgages_rate_ending: list[RateEnding]
    next_obligations: list[Obligation]
    warnings: list[DashboardWarning]
