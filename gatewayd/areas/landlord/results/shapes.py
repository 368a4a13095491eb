"""What profit and loss of properties looks like (Domain C2): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, DateText, DecimalText, Id, Response
from gatewayd.ledger.allocating.allocation_shapes import InterestSource
from gatewayd.ledger.results.allocated_money import Basis
from gatewayd.ledger.results.report_shapes import (
    ExpenseLine,
    Explanation,
    PnlEvidence,
    PnlLine,
    PnlWarning,
    RentDebtors,
    ReportRequest,
)

Share = Literal["full", "owner"]
PropertyIds = Annotated[list[Id], Meta(min_length=1, max_length=100, description="Several properties of one currency.")]


class GetPropertyPnl(ReportRequest, frozen=True, kw_only=True):
    """Which property, or which `propertyIds`, and days: `taxYear`, `periodId`, or `fromDate` with `toDate`."""

    id: Id | None = None
    property_ids: PropertyIds | None = None
    share: Share = "full"


class PropertyTotals(Response, frozen=True, kw_only=True):
    """The sums of an account.

    `netOperatingIncome` is income less expenses that are no finance costs; `financeCosts` are deducted ones and those
    that are relieved, which `residentialFinancialCost` is. `capitalRepaid` is of loans, less what was borrowed anew.
    `cashFlow` is what is left after both. `taxableProfit` is net operating income less what is deducted of finance
    costs, with what is disallowable.
    """

    gross_income: Amount
    operating_expenses: Amount
    net_operating_income: Amount
    finance_costs: Amount
    capital_repaid: Amount
    cash_flow: Amount
    disallowable: Amount
    taxable_profit: Amount
    residential_financial_cost: Amount


class PropertyStatement(Response, frozen=True, kw_only=True):
    """The account of some days. `memoranda` are told beside it and are in no total of income and expenses."""

    from_date: DateText
    to_date: DateText
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PropertyTotals


class MortgageInterest(Response, frozen=True, kw_only=True):
    """The interest on a mortgage that counts, and where it comes from: said by somebody, or computed of a payment."""

    mortgage_id: Id
    interest_source: InterestSource
    interest: Amount


class PropertyAccount(Response, frozen=True, kw_only=True):
    """The account of one of several properties. `ownerSharePercent` is the part of the business's legal entity, on the
    last day."""

    property_id: Id
    business_id: Id
    owner_share_percent: DecimalText
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PropertyTotals
    mortgage_interest: list[MortgageInterest]


class RestOfBusiness(Response, frozen=True, kw_only=True):
    """What a business has that names no property of it."""

    business_id: Id
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PropertyTotals


class PropertyPnl(Response, frozen=True, kw_only=True):
    """The profit and loss account of a property, or of several together.

    `properties` are the accounts of several, and `notOfAnyProperty` what their businesses have beside all properties:
    all properties of a business and this are its own account. Both are empty for a single property. `share` says
    whether figures are whole or the owner's; rows of the `explanation`, `evidence` and `mortgageInterest` are of the
    whole, and so are `rentDebtors`, what tenants owe, which is null on cash basis. `buckets` are empty with `groupBy`
    total; `previous` and `explanation` are null where they were not asked for.
    """

    property_ids: list[Id]
    from_date: DateText
    to_date: DateText
    basis: Basis
    currency: str
    share: Share
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PropertyTotals
    mortgage_interest: list[MortgageInterest]
    rent_debtors: RentDebtors | None
    properties: list[PropertyAccount]
    not_of_any_property: list[RestOfBusiness]
    evidence: PnlEvidence
    buckets: list[PropertyStatement]
    previous: PropertyStatement | None
    explanation: Explanation | None
    warnings: list[PnlWarning]
