"""What requests and answers of periods look like (domain model B9)."""

from typing import Annotated, Literal

from msgspec import Meta, field

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Amount, AmountText, Date, ExternalId, Id, Request, Response, Version
from gatewayd.ledger.calendar.forecast import ObligationKind, PeriodType
from gatewayd.ledger.calendar.period_seals import PeriodSeal
from gatewayd.ledger.calendar.periods import PeriodRow, PeriodStatus
from gatewayd.ledger.obligations.obligations import Obligation, ObligationEvent, Source, Status
from gatewayd.ledger.results.allocated_money import Basis
from gatewayd.ledger.results.report_shapes import PnlEvidence

TaxYear = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}$", examples=["2026-27"])]
EvidencePercent = Annotated[
    int, Meta(ge=1, le=100, description="Of the expenses of each business so much has a document, or it is not closed.")
]
Reason = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
ObligationName = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S", examples=["Insurance renewal"])]
CheckCode = Literal[
    "period_ended",
    "earlier_periods_closed",
    "no_draft_invoices",
    "bank_lines_allocated",
    "missing_statements",
    "statement_balance",
    "expenses_documented",
]
EnteredKind = Literal[
    "payment_on_account", "cgt_property_report", "paye", "cis_return", "certificate_renewal", "custom"
]
"""What nobody predicts, and a person may enter."""
TotalsDoubt = Literal[
    "currency_mismatch",
    "flat_rate_purchases",
    "flat_rate_capital_goods_unmarked",
    "flat_rate_capital_goods_small",
    "vat_payments_on_account",
]


class ListPeriods(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list: `fromDate` and `toDate` are of the days that a period has, both inclusive."""

    legal_entity_id: Id | None = None
    business_id: Id | None = None
    type: Annotated[list[PeriodType], Meta(min_length=1)] | None = None
    status: Annotated[list[PeriodStatus], Meta(min_length=1)] | None = None
    tax_year: TaxYear | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    include_archived: bool = False


class GetPeriod(Request, frozen=True, kw_only=True):
    """Which period."""

    id: Id


class ClosePeriod(Request, frozen=True, kw_only=True):
    """Which period to close. `begin` only begins it; `force` closes it with points undone, and says why."""

    id: Id
    expected_version: Version | None = None
    begin: bool = False
    evidence_percent: EvidencePercent | None = None
    force: bool = False
    reason: Reason | None = None


class ReopenPeriod(Request, frozen=True, kw_only=True):
    """Which period to open again, and why."""

    id: Id
    expected_version: Version | None = None
    reason: Reason


class Period(PeriodRow, frozen=True, kw_only=True):
    """A stretch of days for which something is filed, or books are closed."""

    obligation_ids: list[Id]


class Check(Response, frozen=True, kw_only=True):
    """A point of the checklist. `count` is how many are in the way of it, `detail` what the first of them is.

    `name` is what people call that: a period, the client of a draft, a bank line, an account or a business.

    `missing_statements` counts the days of each account that no statement holds, with the account and the first of
    them. `statement_balance` counts statements that do not add up, and accounts whose lines do not come to their last
    closing balance in the period, with the account. `expenses_documented` is a point where closing names an
    `evidencePercent`: it counts expenses without a document of businesses with less, and has the first of these.
    """

    code: CheckCode
    done: bool
    count: int
    detail: str | None
    name: str | None


class InvoiceTotals(Response, frozen=True, kw_only=True):
    """What was invoiced with a supply date in the period, in one currency; credit notes count against it."""

    currency: str
    count: int
    net: AmountText
    vat: AmountText
    gross: AmountText


class VatReturnTotals(Response, frozen=True, kw_only=True):
    """Boxes 1 to 9 of a VAT return, under the tax authority's names.

    6 to 9 are whole pounds without VAT, but box 6 under the flat rate, which has VAT in it.

    `netVatDue`, box 5, has no sign: it is reclaimed where `vatReclaimedCurrPeriod` is more than `totalVatDue`.
    """

    currency: str
    vat_due_sales: Amount
    vat_due_acquisitions: Amount
    total_vat_due: Amount
    vat_reclaimed: Amount = field(name="vatReclaimedCurrPeriod")
    net_vat_due: Amount
    total_value_sales: Amount = field(name="totalValueSalesExVAT")
    total_value_purchases: Amount = field(name="totalValuePurchasesExVAT")
    total_value_goods_supplied: Amount = field(name="totalValueGoodsSuppliedExVAT")
    total_acquisitions: Amount = field(name="totalAcquisitionsExVAT")


class ProfitTotals(Response, frozen=True, kw_only=True):
    """Profit and loss of a business in the period, on its own basis: the totals of `businesses.businessPnl`."""

    business_id: Id
    basis: Basis
    currency: str
    income: Amount
    expenses: Amount
    disallowable: Amount
    net_profit: Amount
    taxable_profit: Amount
    evidence: PnlEvidence


class TotalsWarning(Response, frozen=True, kw_only=True):
    """What the totals leave out: a VAT return or a business with foreign money that has no rate of exchange; under the
    flat rate of VAT, purchases whose VAT the customer accounts for.

    `vat_payments_on_account`: more than 2,300,000 was owed in the year that ends with the period, and nobody said what
    HMRC asks for (`legalEntity.setVatYear`).
    """

    code: TotalsDoubt
    message: str


class PeriodTotals(Response, frozen=True, kw_only=True):
    """Sums of the period. Void invoices and drafts are no part of them.

    `vatReturn` is null for all but VAT periods. `profitAndLoss` has the business of the period, or every one of its
    legal entity, archived ones too; it is empty for VAT periods.
    """

    invoiced: list[InvoiceTotals]
    vat_return: VatReturnTotals | None
    profit_and_loss: list[ProfitTotals]
    warnings: list[TotalsWarning]


class PeriodDetail(Period, frozen=True, kw_only=True):
    """A period with what is to be done before it is closed, what came together in it, and its seals, oldest first."""

    checklist: list[Check]
    totals: PeriodTotals
    seals: list[PeriodSeal]


class ListObligations(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. Dates are inclusive."""

    legal_entity_id: Id | None = None
    business_id: Id | None = None
    period_id: Id | None = None
    kind: Annotated[list[ObligationKind], Meta(min_length=1)] | None = None
    status: Annotated[list[Status], Meta(min_length=1)] | None = None
    due_from: Date | None = None
    due_to: Date | None = None
    source: Source | None = None
    external_id: ExternalId | None = None


class GetObligation(Request, frozen=True, kw_only=True):
    """Which obligation."""

    id: Id


class CreateObligation(Request, frozen=True, kw_only=True):
    """Something that is due. It is of the days from `periodStartDate` to `periodEndDate`, by default the due day.

    A payment on account names its tax year by the last of its days, 5 April, and is due on 31 January in it or on 31
    July after it.
    """

    legal_entity_id: Id
    business_id: Id | None = None
    kind: EnteredKind = "custom"
    name: ObligationName | None = None
    due_date: Date
    period_start_date: Date | None = None
    period_end_date: Date | None = None
    amount_due: AmountText | None = None
    external_id: ExternalId | None = None


class FulfilObligation(Request, frozen=True, kw_only=True):
    """Which obligation was met, and when: today by default."""

    id: Id
    expected_version: Version | None = None
    received_date: Date | None = None


class ReopenObligation(Request, frozen=True, kw_only=True):
    """Which obligation was not met, or is required, after all."""

    id: Id
    expected_version: Version | None = None
    reason: Reason | None = None


class DismissObligation(Request, frozen=True, kw_only=True):
    """Which obligation is not required, and why: an exemption, say.

    `wholeYear`, with a quarterly update: nor are the other open ones of its source and tax year.
    """

    id: Id
    expected_version: Version | None = None
    reason: Reason
    whole_year: bool = False


class ObligationDetail(Obligation, frozen=True, kw_only=True):
    """An obligation with what happened to it, in its order."""

    events: list[ObligationEvent]
