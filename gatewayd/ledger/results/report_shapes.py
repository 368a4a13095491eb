"""What every profit and loss account asks and serves, of a business or of a property (Domain C1, C2)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, Date, DateText, Id, Response
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.dates.date_ranges import GroupBy
from gatewayd.ledger.results.allocated_money import Basis

Compare = Literal["none", "previous_period", "previous_year"]
CategoryName = Annotated[str, Meta(min_length=1, max_length=64, examples=["turnover"])]
Percent = Annotated[str, Meta(description="A decimal of at most one fraction digit.", examples=["87.5"])]
WarningCode = Literal[
    "adjusted_total_income_unknown",
    "brought_forward_of_uk_property",
    "capital_without_interest",
    "capital_without_rate",
    "consolidated_expenses_not_allowed",
    "finance_costs_deducted",
    "flat_rate_percent_unknown",
    "foreign_property_apart",
    "interest_only_repaid",
    "interest_without_capital",
    "invoices_of_only_business",
    "invoices_without_business",
    "loan_payment_over",
    "other_basis",
    "property_allowance_better",
    "property_allowance_covers_all",
    "property_allowance_excluded",
    "rent_a_room_exemption_unknown",
    "rents_by_money",
    "rents_net_by_payments",
]


class ReportRequest(PageRequest, frozen=True, kw_only=True):
    """Root of requests for an account: which days, `taxYear`, `periodId`, or `fromDate` with `toDate`, and how."""

    tax_year: TaxYear | None = None
    period_id: Id | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    basis: Basis | None = None
    group_by: GroupBy = "total"
    compare: Compare = "none"
    explain: bool = False
    category: CategoryName | None = None


class PnlLine(Response, frozen=True, kw_only=True):
    """What a category comes to."""

    category: str
    amount: Amount


class ExpenseLine(Response, frozen=True, kw_only=True):
    """What an expense comes to, and the part of it that tax does not allow."""

    category: str
    amount: Amount
    disallowable: Amount


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
    """What one allocation, invoice, payment of an invoice, credit note or rent counts for in a line.

    `amount` and `disallowable` are what counts of it, in the currency of the account: rows add up to their line.
    `propertyId` null: it names no property. `tenancyId` is that of a rent: on accruals one counts when it is due, or as
    a loss when it is written off, and the allocation that pays it counts 0. `reason` is why a rule chose the category.
    """

    category: str
    date: DateText
    amount: Amount
    disallowable: Amount
    source: Literal["allocation", "invoice", "payment", "credit_note", "rent", "rent_written_off"]
    property_id: str | None
    tenancy_id: str | None
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


class RentDebtors(Response, frozen=True, kw_only=True):
    """What tenants owe, gross of VAT: at the start and the end of the days, and what came between.

    Opening debtors less what was paid ahead, and what fell due, less what was received and written off, are closing
    debtors less what was paid ahead.
    """

    opening_debtors: Amount
    opening_paid_ahead: Amount
    due: Amount
    received: Amount
    written_off: Amount
    closing_debtors: Amount
    closing_paid_ahead: Amount


class Explanation(Response, frozen=True, kw_only=True):
    """A page of the rows behind the figures: allocations by date, then invoices by date."""

    data: list[PnlRow]
    next_cursor: str | None
