"""What profit and loss looks like (Domain C1): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, Date, DateText, DecimalText, Id, Request, Response
from gatewayd.ledger.allocated_money import Basis
from gatewayd.ledger.date_ranges import GroupBy, QuarterlyType
from gatewayd.ledger.report_ranges import TaxYear

Compare = Literal["none", "previous_period", "previous_year"]
CategoryName = Annotated[str, Meta(min_length=1, max_length=64, examples=["turnover"])]
FlatRateCategory = Annotated[str, Meta(pattern=r"^(0[0-4]\d|05[0-5])$", description="HMRC's frsCategory.")]
WarningCode = Literal[
    "consolidated_expenses_not_allowed",
    "flat_rate_percent_unknown",
    "invoices_of_only_business",
    "invoices_without_business",
    "other_basis",
]
Percent = Annotated[str, Meta(description="A decimal of at most one fraction digit.", examples=["87.5"])]


class GetBusinessPnl(PageRequest, frozen=True, kw_only=True):
    """Which business and days: `taxYear`, `periodId`, or `fromDate` with `toDate`. See the operation for the rest."""

    id: Id
    tax_year: TaxYear | None = None
    period_id: Id | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    basis: Basis | None = None
    group_by: GroupBy = "total"
    compare: Compare = "none"
    explain: bool = False
    category: CategoryName | None = None


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


class PnlLine(Response, frozen=True, kw_only=True):
    """What a category comes to."""

    category: str
    amount: Amount


class ExpenseLine(Response, frozen=True, kw_only=True):
    """What an expense comes to, and the part of it that tax does not allow."""

    category: str
    amount: Amount
    disallowable: Amount


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
    """What the owner's share is of each figure, rounded so that lines add up to the totals."""

    percent: DecimalText
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


class PnlEvidence(Response, frozen=True, kw_only=True):
    """How much of the expenses has a document. `missing` counts allocations without; `percent` null: no expenses."""

    expenses: Amount
    documented: Amount
    percent: Percent | None
    missing: int


class PnlWarning(Response, frozen=True, kw_only=True):
    """What the figures do not say by themselves."""

    code: WarningCode
    message: str


class PnlRow(Response, frozen=True, kw_only=True):
    """What one allocation, invoice, payment of an invoice or credit note counts for in a line.

    `amount` and `disallowable` are what counts of it, in the currency of the account: rows add up to their line.
    `reason` is why a rule chose the category.
    """

    category: str
    date: DateText
    amount: Amount
    disallowable: Amount
    source: Literal["allocation", "invoice", "payment", "credit_note"]
    allocation_id: str | None
    bank_transaction_id: str | None
    import_id: str | None
    invoice_id: str | None
    payment_position: int | None
    credit_note_id: str | None
    description: str | None
    matched_by: str | None
    rule_id: str | None
    reason: str | None
    document_ids: list[Id]


class Explanation(Response, frozen=True, kw_only=True):
    """A page of the rows behind the figures: allocations by date, then invoices by date."""

    data: list[PnlRow]
    next_cursor: str | None


class BusinessPnl(Response, frozen=True, kw_only=True):
    """The profit and loss account of a business.

    `buckets` are empty with `groupBy` total; `previous` and `explanation` are null where they were not asked for, and
    `ownerShare` is null for a business that is no property.
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
