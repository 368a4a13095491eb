"""What the landlord's dashboard looks like (Domain C3): request and response."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, CanonicalDecimal, Date, DateText, Id, Request, Response
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.obligations.obligations import Obligation

Tenth = Annotated[str, Meta(examples=["66.7"])]


DashboardBasis = Literal["share", "whole"]


class GetDashboardSummary(Request, frozen=True, kw_only=True):
    """Whose properties, and on which day."""

    business_id: Id | None = None
    """Only the properties of this business. Left out: of all."""
    legal_entity_id: Id | None = None
    """Only the properties of businesses of this legal entity. Left out: of all."""
    as_of_date: Date | None = None
    """The day to look at. Left out: today."""
    basis: DashboardBasis = "share"
    """Whether amounts are the owner's `share` of each property, or the `whole` of it."""
    window_days: Annotated[int, Meta(ge=0, le=730, description="How many days ahead something expires or ends.")] = 60


class TenancyArrears(Response, frozen=True, kw_only=True):
    """What a tenancy owes."""

    tenancy_id: Id
    """The tenancy that owes rent, running or ended."""
    property_id: Id
    """The property that it lets."""
    amount: Amount
    """What it owes, or the owner's part of that with `basis` share."""
    days_oldest: int
    """How many days ago its oldest rent that is not wholly paid fell due."""


class ArrearsSummary(Response, frozen=True, kw_only=True):
    """What all tenancies owe together."""

    total: Amount
    """What they owe together, ended ones too."""
    count: int
    """How many tenancies owe rent."""
    tenancies: list[TenancyArrears]
    """The hundred that owe most, the largest debt first."""


class CertificateSummary(Response, frozen=True, kw_only=True):
    """How many certificates there are in each state, of properties that are active or under offer now."""

    valid: int
    """How many hold for longer than `windowDays`, those without an end among them."""
    expiring: int
    """How many have their last day at most `windowDays` ahead."""
    expired: int
    """How many are past their last day and not superseded, unsatisfactory EICRs among them whose faults are not
    mended."""
    missing: int
    """How many the law asks for that nobody has entered."""
    next: list[Certificate]
    """The ten that expire next, the soonest first, whether within `windowDays` (`expiring`) or behind it (`valid`)."""


class RateEnding(Response, frozen=True, kw_only=True):
    """A mortgage whose rate ends within the window."""

    mortgage_id: Id
    """The mortgage."""
    property_id: Id
    """The property that it is secured on."""
    lender: str
    """Who lent the money."""
    interest_rate: CanonicalDecimal
    """The rate that ends, percent a year."""
    reversion_rate: CanonicalDecimal | None
    """The rate from the day after, percent a year. Null: not entered."""
    rate_end_date: DateText
    """The last day of `interestRate`."""


class DashboardWarning(Response, frozen=True, kw_only=True):
    """Something that the figures do not say by themselves."""

    code: str
    """`other_currency`: properties kept in another currency are left out of amounts; `unvalued`: some have no value;
    `no_exchange_rate`: a business's result is left out; `epc_below_minimum`: homes are let with an EPC of F or G;
    `notice_expired`: nobody said whether the tenants left."""
    message: str
    """The same as a sentence, with how many it is about."""


class LandlordDashboard(Response, frozen=True, kw_only=True):
    """What is let on a day, what it brings and owes, and what has to be done. Amounts are in `currency`."""

    as_of_date: DateText
    """The day that the figures are of, at its end."""
    basis: DashboardBasis
    """`share`: every amount is the part of each property that the legal entity of its business owns on that day;
    `whole`: all of it. Counts are the same for both."""
    currency: str
    """The currency of the business, else of the legal entity, else GBP. What is kept in another one is left out of
    amounts, and told in `warnings`."""
    property_count: int
    """How many properties are held on that day, in any currency: acquired by then, and not sold by then. What is
    archived now counts on no day, a past one neither."""
    unit_count: int
    """How many units these properties have now, archived ones left out; a property without units counts as one."""
    let_unit_count: int
    """How many of them have a tenancy that runs on that day; a tenancy of the whole property lets all its units."""
    vacant_unit_count: int
    """How many of them have none: `unitCount` less `letUnitCount`."""
    occupancy_percent: Tenth | None
    """`letUnitCount` in percent of `unitCount`, to one place. Null: there are no units."""
    active_tenancies: int
    """How many tenancies run on that day, those under notice among them."""
    tenancies_under_notice: int
    """How many of them had a notice served by that day, whoever gave it."""
    monthly_rent_roll: Amount
    """The rents in force on that day by the month, VAT included: a weekly one counts 52/12 times, one by the quarter a
    third, one by the year a twelfth."""
    annual_rent_roll: Amount
    """The same rents by the year: twelve times the month, rounded once."""
    arrears: ArrearsSummary
    """What tenancies owe at the end of that day."""
    deposits_held: Amount
    """Deposits of tenancies that have begun, ended ones among them, as far as they were not given back by that day."""
    unprotected_deposits: int
    """How many of these deposits were in no scheme by that day though the law asks for one."""
    portfolio_value: Amount
    """What the properties are worth: by the latest valuation up to that day, else by the price that was paid."""
    valued_at_cost: int
    """How many properties count with the price that was paid, since they have no valuation."""
    unvalued: int
    """How many properties have neither, and count nothing in `portfolioValue`."""
    mortgage_balance: Amount
    """What is owed on mortgages: the balance that the lender told last, else as it is computed from the terms."""
    mortgage_balance_unvalued: Amount
    """The part of `mortgageBalance` that is owed on properties without a value."""
    equity: Amount
    """`portfolioValue` less what is owed on the properties that have a value."""
    ltv_percent: Tenth | None
    """Loan to value: what is owed on the properties with a value, in percent of `portfolioValue`, to one place. Null:
    there is no value."""
    gross_yield_percent: Tenth | None
    """A year's rent of the properties with a value, in percent of `portfolioValue`, to one place. Null: there is no
    value."""
    net_yield_percent: Tenth | None
    """Income less operating expenses of the twelve months to that day, in percent of `portfolioValue`, to one place: of
    properties with a value, and of what names no property. What borrowing costs is left out. Null: there is no
    value."""
    income_tax_year_to_date: Amount
    """Income from the 6 April before to that day, of the businesses that let, each on its own basis. What is archived
    now is left out, of a past day too."""
    expenses_tax_year_to_date: Amount
    """Expenses of the same businesses and days, without `residentialFinancialCost` and what replaced domestic items."""
    net_tax_year_to_date: Amount
    """`incomeTaxYearToDate` less `expensesTaxYearToDate`; below zero for a loss."""
    certificates: CertificateSummary
    """How many certificates are in each state on that day."""
    mortgages_rate_ending: list[RateEnding]
    """Mortgages whose rate ends on that day or at most `windowDays` after it, the soonest first."""
    next_obligations: list[Obligation]
    """The ten open deadlines that are due first, overdue ones among them, as they are today."""
    warnings: list[DashboardWarning]
    """What the figures leave out, and what is not as the law asks."""
