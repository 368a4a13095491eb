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

FlatRateCategory = Annotated[
    str,
    Meta(pattern=r"^(0[0-4]\d|05[0-5])$", extra={"form": "the three digits of a flat-rate category"}, examples=["035"]),
]


class GetBusinessPnl(ReportRequest, frozen=True, kw_only=True):
    """Which business and days: `taxYear`, `periodId`, or `fromDate` with `toDate`. See the operation for the rest."""

    id: Id


class GetWhatIf(Request, frozen=True, kw_only=True):
    """Which business and days, as for profit and loss, and what is to be otherwise. What is left out stays."""

    id: Id
    tax_year: TaxYear | None = None
    """The tax year it is about, from 6 April to 5 April. Either this, `periodId`, or `fromDate` with `toDate`."""
    period_id: Id | None = None
    """The period it is about, of the business or of its legal entity."""
    from_date: Date | None = None
    """The first day. With `toDate`, at most 24 months apart."""
    to_date: Date | None = None
    """The last day, inclusive."""
    group_by: GroupBy = "total"
    """Whether `buckets` tell of months or quarters; `total`: of neither."""
    basis: Basis | None = None
    """On which basis it would be. By default the business's own."""
    quarterly_period_type: QuarterlyType | None = None
    """The type of quarters that it would have, in every year. By default those chosen."""
    owner_share_percent: DecimalText | None = None
    """Percent of a property business that would be the owner's. By default what it is."""
    vat_scheme: Literal["standard", "flat_rate"] | None = None
    """The VAT scheme that it would be on, of who is registered for VAT in these days. By default the one it is on."""
    flat_rate_category: FlatRateCategory | None = None
    """HMRC's category, whose percentage would be the flat rate. By default that of the entity; not with
    `flatRatePercent`."""
    flat_rate_percent: DecimalText | None = None
    """The flat rate, percent, before the discount of the first year. By default that of the entity."""


class PnlTotals(Response, frozen=True, kw_only=True):
    """What the lines come to."""

    income: Amount
    """What all income lines come to."""
    expenses: Amount
    """What all expense lines come to."""
    disallowable: Amount
    """What of the expenses tax does not allow."""
    net_profit: Amount
    """`income` less `expenses`; below 0 is a loss."""
    taxable_profit: Amount
    """`netProfit` and `disallowable`; below 0 is a loss."""


class PnlStatement(Response, frozen=True, kw_only=True):
    """The account of some days."""

    from_date: DateText
    """The first day."""
    to_date: DateText
    """The last day, inclusive."""
    income: list[PnlLine]
    """What came of each income line, in the order of HMRC's form."""
    expenses: list[ExpenseLine]
    """What went for each expense line, in the order of HMRC's form."""
    memoranda: list[PnlLine]
    """What is told beside the account and is in no total, such as finance costs of residential property."""
    totals: PnlTotals
    """What the lines come to."""


class OwnerShare(Response, frozen=True, kw_only=True):
    """What the owner's share is of each figure, rounded so that lines add up to the totals."""

    percent: DecimalText | None
    """Percent that is the owner's on the last day. Null: properties whose owners are named have others."""
    income: list[PnlLine]
    """The owner's share of each income line."""
    expenses: list[ExpenseLine]
    """The owner's share of each expense line."""
    memoranda: list[PnlLine]
    """The owner's share of each memorandum, rounded by itself."""
    totals: PnlTotals
    """The owner's share of the totals."""


class CurrencyUnallocated(Response, frozen=True, kw_only=True):
    """What is left of bank lines in another currency."""

    currency: str
    """The currency of the lines."""
    count: int
    """How many lines have something left."""
    amount: Amount
    """What is left of them, of `currency`: money in less money out."""


class UnallocatedLines(Response, frozen=True, kw_only=True):
    """Bank lines of the business's accounts of which something is left to allocate."""

    count: int
    """How many lines in the currency of the account have something left."""
    amount: Amount
    """What is left of them: money in less money out."""
    other_currencies: list[CurrencyUnallocated]
    """The same of lines in other currencies."""


class BusinessPnl(Response, frozen=True, kw_only=True):
    """The profit and loss account of a business."""

    business_id: Id
    """Whose account it is."""
    from_date: DateText
    """The first day."""
    to_date: DateText
    """The last day, inclusive."""
    basis: Basis
    """When money counts: on `cash` basis when it comes or goes, on `accruals` when it is earned or owed."""
    currency: str
    """The currency of all its amounts, but those of `unallocated.otherCurrencies`."""
    income: list[PnlLine]
    """What came of each income line, in the order of HMRC's form; net of VAT where it is registered for it."""
    expenses: list[ExpenseLine]
    """What went for each expense line, in the order of HMRC's form; net of VAT where it is registered for it."""
    memoranda: list[PnlLine]
    """What is told beside the account and is in no total, such as finance costs of residential property."""
    totals: PnlTotals
    """What the lines come to."""
    owner_share: OwnerShare | None
    """The owner's share, of property that is owned jointly or alone. Null: the business is no property."""
    rent_debtors: RentDebtors | None
    """What tenants owe, by rents that count when they are due. Null: on cash basis."""
    unallocated: UnallocatedLines
    """What of the bank lines of these days counts nowhere yet."""
    evidence: PnlEvidence
    """How much of the expenses has a document."""
    buckets: list[PnlStatement]
    """The account of each month or quarter, as `groupBy` asks. Empty: it asks for the total."""
    previous: PnlStatement | None
    """The account of the days that `compare` asks for. Null: it asks for none."""
    explanation: Explanation | None
    """A page of the rows behind the figures. Null: `explain` did not ask for them."""
    warnings: list[PnlWarning]
    """What the figures do not say by themselves."""


class Alternative(Response, frozen=True, kw_only=True):
    """The account under one set of choices."""

    basis: Basis
    """When money counts."""
    quarterly_period_type: QuarterlyType
    """The type of its quarters."""
    vat_scheme: Literal["standard", "cash", "flat_rate", "annual"] | None
    """The VAT scheme on the first day. Null: nobody said."""
    flat_rate_percent: str | None
    """The flat rate, percent, before the discount of the first year. Null: it is on another scheme, or nobody knows."""
    income: list[PnlLine]
    """What came of each income line."""
    expenses: list[ExpenseLine]
    """What went for each expense line."""
    memoranda: list[PnlLine]
    """What is told beside the account and is in no total."""
    totals: PnlTotals
    """What the lines come to."""
    owner_share: OwnerShare | None
    """The owner's share. Null: the business is no property."""
    buckets: list[PnlStatement]
    """The account of each month or quarter, as `groupBy` asks. Empty: it asks for the total."""
    warnings: list[PnlWarning]
    """What the figures do not say by themselves."""


class WhatIf(Response, frozen=True, kw_only=True):
    """What the books say as they are kept, and what they would say."""

    business_id: Id
    """Whose account it is."""
    from_date: DateText
    """The first day."""
    to_date: DateText
    """The last day, inclusive."""
    currency: str
    """The currency of all amounts."""
    actual: Alternative
    """The account as the books are kept."""
    what_if: Alternative
    """The account as it would be."""
    difference: PnlTotals
    """How much more each sum would be; below 0, less."""
    owner_share_difference: PnlTotals | None
    """The same of the owner's share. Null: the business is no property."""
