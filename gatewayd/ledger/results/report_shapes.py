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
    """Root of requests for an account: which days, and how."""

    tax_year: TaxYear | None = None
    """The tax year it is about, from 6 April to 5 April. Either this, `periodId`, or `fromDate` with `toDate`."""
    period_id: Id | None = None
    """The period it is about, of the business or of its legal entity."""
    from_date: Date | None = None
    """The first day. With `toDate`, at most 24 months apart."""
    to_date: Date | None = None
    """The last day, inclusive."""
    basis: Basis | None = None
    """On which basis the account is made. By default the one on which the business keeps its books."""
    group_by: GroupBy = "total"
    """Whether `buckets` tell of months or quarters; `total`: of neither."""
    compare: Compare = "none"
    """Whether `previous` tells of as many days or months before (`previous_period`), or of the same days a year earlier
    (`previous_year`)."""
    explain: bool = False
    """Whether the rows behind the figures come too, in pages of `limit`."""
    category: CategoryName | None = None
    """With `explain`, the line whose rows are wanted. By default all."""


class PnlLine(Response, frozen=True, kw_only=True):
    """What a category comes to."""

    category: str
    """The line, by HMRC's name."""
    amount: Amount
    """What the line comes to. Below 0 where more was paid back than came."""


class ExpenseLine(Response, frozen=True, kw_only=True):
    """What an expense comes to, and the part of it that tax does not allow."""

    category: str
    """The line, by HMRC's name; `consolidatedExpenses` stands for all."""
    amount: Amount
    """What the line comes to, with what tax does not allow of it. Below 0 where more was refunded than spent."""
    disallowable: Amount
    """What of `amount` tax does not allow."""


class PnlEvidence(Response, frozen=True, kw_only=True):
    """How much of the expenses has a document."""

    expenses: Amount
    """What the expenses that were paid or billed come to."""
    documented: Amount
    """What of `expenses` has a document."""
    percent: Percent | None
    """Percent of the expenses that has a document, cut to one place, so that 100 is all. Null: there are no
    expenses."""
    missing: int
    """How many expenses have no document."""


class PnlWarning(Response, frozen=True, kw_only=True):
    """What the figures do not say by themselves."""

    code: WarningCode
    """What it is about: a stable name for programs."""
    message: str
    """The same in words."""


class PnlRow(Response, frozen=True, kw_only=True):
    """What one allocation, invoice, bill, payment of these, credit note or rent counts for in a line."""

    category: str
    """The line that it counts in."""
    date: DateText
    """The day on which it counts."""
    amount: Amount
    """What it counts for, in the currency of the account: rows add up to their line. 0 of an allocation that pays a
    rent which counted when it was due."""
    disallowable: Amount
    """What of `amount` tax does not allow."""
    source: Literal[
        "allocation",
        "invoice",
        "payment",
        "credit_note",
        "write_off",
        "bill",
        "bill_payment",
        "bill_credit_note",
        "rent",
        "rent_written_off",
    ]
    """What it is: an allocation; an invoice or credit note as a whole, a payment of an invoice; the same of a bill; or,
    on accruals, what was written off of an invoice, and a rent that fell due or was written off."""
    property_id: str | None
    """The property that it is of. Null: it names none."""
    tenancy_id: str | None
    """The tenancy whose rent it is. Null: it is no rent that counts when it is due."""
    allocation_id: str | None
    """The allocation. Null: it is none."""
    bank_transaction_id: str | None
    """The bank transaction behind the allocation or payment. Null: none."""
    import_id: str | None
    """The import that brought the bank transaction of an allocation. Null: none did."""
    invoice_id: str | None
    """The invoice that was issued, paid or credited. Null: it is of none."""
    bill_id: str | None
    """The bill that is owed, paid or credited. Null: it is of none."""
    payment_position: int | None
    """The `position` of the payment of the invoice or bill. Null: it is no payment."""
    credit_note_id: str | None
    """The credit note that lowers the invoice. Null: none does."""
    bill_credit_note_id: str | None
    """The supplier's credit note that lowers the bill. Null: none does."""
    description: str | None
    """What the bank or whoever entered it says of it. Null: it is an invoice or a bill, or of one."""
    matched_by: str | None
    """Who chose the category of an allocation: a `rule`, a `user` or an `import`. Null: it is no allocation."""
    rule_id: str | None
    """The rule that chose the category. Null: none did."""
    reason: str | None
    """Why the category was chosen, in words. Null: nobody said."""
    document_ids: list[Id]
    """The documents in the vault that show it."""


class RentDebtors(Response, frozen=True, kw_only=True):
    """What tenants owe, gross of VAT: at the start and the end of the days, and what came between.

    Opening debtors less what was paid ahead, and what fell due, less what was received and written off, are closing
    debtors less what was paid ahead.
    """

    opening_debtors: Amount
    """What was owed of rent before the first day."""
    opening_paid_ahead: Amount
    """What had been paid before the first day of rents due later."""
    due: Amount
    """Rents that fell due in these days."""
    received: Amount
    """Rent that was received in these days."""
    written_off: Amount
    """Rent that was given up in these days."""
    closing_debtors: Amount
    """What is owed of rent after the last day."""
    closing_paid_ahead: Amount
    """What has been paid by the last day of rents due later."""


class Explanation(Response, frozen=True, kw_only=True):
    """A page of the rows behind the figures: allocations by date, then invoices and bills by date."""

    data: list[PnlRow]
    next_cursor: str | None
