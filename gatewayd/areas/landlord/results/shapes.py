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
IncomeLines = Annotated[list[PnlLine], Meta(description="Income by category; a category without any is left out.")]
ExpenseLines = Annotated[
    list[ExpenseLine], Meta(description="Expenses by category; a category without any is left out.")
]
Memoranda = Annotated[
    list[PnlLine],
    Meta(
        description="What is told beside the account, by category, and is in no total of income and expenses, such as "
        "`residentialFinancialCost`, `costOfReplacingDomesticItems` and `taxDeducted`."
    ),
]
PropertyIds = Annotated[list[Id], Meta(min_length=1, max_length=100, description="Several properties of one currency.")]


class GetPropertyPnl(ReportRequest, frozen=True, kw_only=True):
    """Which property, or which `propertyIds`, and days: `taxYear`, `periodId`, or `fromDate` with `toDate`."""

    id: Id | None = None
    """The property, where it is a single one: give this or `propertyIds`."""
    property_ids: PropertyIds | None = None
    share: Share = "full"
    """Whether the account is of all of each property, `full`, or of the part of the legal entity of its business,
    `owner`."""


class PropertyTotals(Response, frozen=True, kw_only=True):
    """The sums of an account."""

    gross_income: Amount
    """All income."""
    operating_expenses: Amount
    """All expenses but finance costs."""
    net_operating_income: Amount
    """`grossIncome` less `operatingExpenses`."""
    finance_costs: Amount
    """What borrowing cost: finance costs that are deducted, and `residentialFinancialCost`."""
    capital_repaid: Amount
    """What was repaid of loans, on the day of the money, less what was borrowed anew."""
    cash_flow: Amount
    """`netOperatingIncome` less `financeCosts`, `capitalRepaid` and what it cost to replace domestic items."""
    disallowable: Amount
    """The part of the expenses that tax does not allow."""
    taxable_profit: Amount
    """`netOperatingIncome` less the finance costs that are deducted, and `disallowable` added back; below zero for a
    loss."""
    residential_financial_cost: Amount
    """Interest and the like on loans for dwellings that no company lets: it is not deducted, but relieved
    (`landlord.getFinanceCostRelief`)."""


class PropertyStatement(Response, frozen=True, kw_only=True):
    """The account of some days."""

    from_date: DateText
    """The first day."""
    to_date: DateText
    """The last day, inclusive."""
    income: IncomeLines
    expenses: ExpenseLines
    memoranda: Memoranda
    totals: PropertyTotals
    """The sums of these days."""


class MortgageInterest(Response, frozen=True, kw_only=True):
    """The interest on a mortgage that counts, and where it comes from."""

    mortgage_id: Id
    """The mortgage."""
    interest_source: InterestSource
    """`statement`: somebody said what the interest was; `computed`: it was computed of a payment by the terms of the
    loan."""
    interest: Amount
    """The interest of these days, of the whole property also with `share` owner."""


class PropertyAccount(Response, frozen=True, kw_only=True):
    """The account of one of several properties."""

    property_id: Id
    """The property."""
    business_id: Id
    """The business that it belongs to."""
    owner_share_percent: DecimalText
    """The part of the business's legal entity on the last day, in percent."""
    income: IncomeLines
    expenses: ExpenseLines
    memoranda: Memoranda
    totals: PropertyTotals
    """The sums of this property."""
    mortgage_interest: list[MortgageInterest]
    """The interest on each mortgage of this property, by where it comes from."""


class RestOfBusiness(Response, frozen=True, kw_only=True):
    """What a business has that names no property of it."""

    business_id: Id
    """The business."""
    income: IncomeLines
    expenses: ExpenseLines
    memoranda: Memoranda
    totals: PropertyTotals
    """The sums of what names no property."""


class PropertyPnl(Response, frozen=True, kw_only=True):
    """The profit and loss account of a property, or of several together."""

    property_ids: list[Id]
    """The properties that it is of, in the order of the request."""
    from_date: DateText
    """The first day of the account."""
    to_date: DateText
    """The last day of the account, inclusive."""
    basis: Basis
    """`cash`: what counts on the day of the money; `accruals`: on the day of the bill, or when rent falls due."""
    currency: str
    """The currency of all amounts: that of the businesses."""
    share: Share
    """`full`: lines and totals are of all of each property; `owner`: of the part of the legal entity of its
    business."""
    income: IncomeLines
    expenses: ExpenseLines
    memoranda: Memoranda
    totals: PropertyTotals
    """The sums of all these properties."""
    mortgage_interest: list[MortgageInterest]
    """The interest on each mortgage, by where it comes from."""
    rent_debtors: RentDebtors | None
    """What tenants owe, of the whole properties also with `share` owner. Null: on cash basis."""
    properties: list[PropertyAccount]
    """The account of each property where `propertyIds` named them; else empty."""
    not_of_any_property: list[RestOfBusiness]
    """What their businesses have that names no property: with all properties of a business it makes up that business's
    own account. Empty unless `propertyIds` was given."""
    evidence: PnlEvidence
    """How much of the expenses has a document, of the whole properties also with `share` owner."""
    buckets: list[PropertyStatement]
    """The same by months or quarters, which sum to the whole. Empty with `groupBy` total."""
    previous: PropertyStatement | None
    """The account of the days that `compare` asks for. Null: it asks for none."""
    explanation: Explanation | None
    """A page of the rows behind the figures, of the whole properties also with `share` owner. Null: `explain` was not
    given."""
    warnings: list[PnlWarning]
    """What the figures do not say by themselves: what was supposed, left out, or looks like a mistake."""
