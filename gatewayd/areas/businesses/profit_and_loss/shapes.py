"""What profit and loss looks like (Domain C1): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, Date, DateText, DecimalText, Id, Request, Response
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.dates.date_ranges import GroupBy, QuarterlyType
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

FlatRateCategory = Annotated[str, Meta(pattern=r"^(0[0-4]\d|05[0-5])$", description="HMRC's frsCategory.")]


class GetBusinessPnl(ReportRequest, frozen=True, kw_only=True):
    """Which business and days: `taxYear`, `periodId`, or `fromDate` with `toDate`. See the operation for the rest."""

    id: Id


class GetWhatIf(Request, frozen=True, kw_only=True):
    """Which business and days, as for profit and loss, and what is to be otherwise. What is left out stays."""

    id: Id
    tax_year: TaxYear | None = None
    period_id: Id | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    group_by: GroupBy = "total"
    basis: Basis | None = None
    quarterly_period_type: QuarterlyType | None = None
    owner_share_percent: DecimalText | None = None
    vat_scheme: Literal["standard", "flat_rate"] | None = None
    flat_rate_category: FlatRateCategory | None = None
    flat_rate_percent: DecimalText | None = None


class PnlTotals(Response, frozen=True, kw_only=True):
    """`netProfit` is income less expenses, and `taxableProfit` that with what is disallowable."""

    income: Amount
    expenses: Amount
    disallowable: Amount
    net_profit: Amount
    taxable_profit: Amount


class PnlStatement(Response, frozen=True, kw_only=True):
    """The account of some days. `memoranda` are told beside it and are in no total."""

    from_date: DateText
    to_date: DateText
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PnlTotals


class OwnerShare(Response, frozen=True, kw_only=True):
    """What the owner's share is of each figure, rounded so that lines add up to the totals.

    A property whose owners are named counts by these. `percent` is that of the last day, and null where they differ.
    """

    percent: DecimalText | None
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PnlTotals


class CurrencyUnallocated(Response, frozen=True, kw_only=True):
    """What is left of bank lines in another currency."""

    currency: str
    count: int
    amount: Amount


class UnallocatedLines(Response, frozen=True, kw_only=True):
    """Bank lines of the business's accounts of which something is left to allocate: + in, - out."""

    count: int
    amount: Amount
    other_currencies: list[CurrencyUnallocated]


class BusinessPnl(Response, frozen=True, kw_only=True):
    """The profit and loss account of a business.

    `buckets` are empty with `groupBy` total; `previous` and `explanation` are null where they were not asked for, and
    `ownerShare` is null for a business that is no property, and `rentDebtors` on cash basis: it is what tenants owe, by
    rents that count when they are due.
    """

    business_id: Id
    from_date: DateText
    to_date: DateText
    basis: Basis
    currency: str
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PnlTotals
    owner_share: OwnerShare | None
    rent_debtors: RentDebtors | None
    unallocated: UnallocatedLines
    evidence: PnlEvidence
    buckets: list[PnlStatement]
    previous: PnlStatement | None
    explanation: Explanation | None
    warnings: list[PnlWarning]


class Alternative(Response, frozen=True, kw_only=True):
    """The account under one set of choices. `flatRatePercent` is before the discount of the first year."""

    basis: Basis
    quarterly_period_type: QuarterlyType
    vat_scheme: Literal["standard", "cash", "flat_rate", "annual"] | None
    flat_rate_percent: str | None
    income: list[PnlLine]
    expenses: list[ExpenseLine]
    memoranda: list[PnlLine]
    totals: PnlTotals
    owner_share: OwnerShare | None
    buckets: list[PnlStatement]
    warnings: list[PnlWarning]


class WhatIf(Response, frozen=True, kw_only=True):
    """What the books say as they are kept, what they would say, and how much more each sum would be."""

    business_id: Id
    from_date: DateText
    to_date: DateText
    currency: str
    actual: Alternative
    what_if: Alternative
    difference: PnlTotals
    owner_share_difference: PnlTotals | None
