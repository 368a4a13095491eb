"""What requests and answers of periods look like (domain model B9)."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Amount, AmountText, Date, ExternalId, Id, Request, Response, Version
from gatewayd.ledger.calendar.forecast import ObligationKind, PeriodType
from gatewayd.ledger.calendar.period_seals import PeriodSeal
from gatewayd.ledger.calendar.periods import PeriodRow, PeriodStatus
from gatewayd.ledger.obligations.obligations import Obligation, ObligationEvent, Source, Status
from gatewayd.ledger.results.allocated_money import Basis
from gatewayd.ledger.results.report_shapes import PnlEvidence

TaxYear = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}$", extra={"form": "a tax year"}, examples=["2026-27"])]
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
    """Filters of the list."""

    legal_entity_id: Id | None = None
    business_id: Id | None = None
    type: Annotated[list[PeriodType], Meta(min_length=1)] | None = None
    status: Annotated[list[PeriodStatus], Meta(min_length=1)] | None = None
    tax_year: TaxYear | None = None
    from_date: Date | None = None
    """Only periods that have days on or after this one."""
    to_date: Date | None = None
    """Only periods that have days on or before this one."""
    include_archived: bool = False
    """True: those that apply no more, too."""


class GetPeriod(Request, frozen=True, kw_only=True):
    """Which period."""

    id: Id


class ClosePeriod(Request, frozen=True, kw_only=True):
    """Which period to close, and how."""

    id: Id
    expected_version: Version | None = None
    begin: bool = False
    """True: only mark it as closing, after which its days are written to with `Period-Override: closing` alone."""
    evidence_percent: EvidencePercent | None = None
    force: bool = False
    """True: close it though points of the checklist are not done; `reason` says why."""
    reason: Reason | None = None
    """Why it is closed though points of the checklist are not done."""


class ReopenPeriod(Request, frozen=True, kw_only=True):
    """Which period to open again."""

    id: Id
    expected_version: Version | None = None
    reason: Reason
    """Why it is opened again."""


class Period(PeriodRow, frozen=True, kw_only=True):
    """A stretch of days for which something is filed, or books are closed."""

    obligation_ids: list[Id]
    """The obligations that are of it, what is not required among them."""


class Check(Response, frozen=True, kw_only=True):
    """A point of the checklist, of what is to be done before a period is closed."""

    code: CheckCode
    """What has to be so. `bank_lines_allocated`: nothing is left of booked lines; `missing_statements`: no day up to
    today is without a statement that adds up; `statement_balance`: statements add up, and all lines come to the last
    closing balance; `expenses_documented`, where closing names an `evidencePercent`: that much of the expenses of each
    business has a document."""
    done: bool
    """True: nothing is in the way."""
    count: int
    """How many are in the way: periods, drafts, bank lines, days, mistakes of statements, or expenses; of
    `period_ended` 1."""
    detail: str | None
    """The first of them: an id; of `period_ended` the last day, of `missing_statements` an account and a day, of
    `expenses_documented` a business, or what cannot be added up. Null: nothing is in the way."""
    name: str | None
    """What people call that: a period, the client of a draft, a bank line, an account or a business. Null: it has no
    name."""


class InvoiceTotals(Response, frozen=True, kw_only=True):
    """What was invoiced with a supply date in the period, in one currency."""

    currency: str
    """The currency of the amounts."""
    count: int
    """How many invoices and credit notes there are."""
    net: AmountText
    """Without VAT; credit notes count against it."""
    vat: AmountText
    """The VAT that was charged; credit notes count against it."""
    gross: AmountText
    """With VAT; credit notes count against it."""


class VatReturnTotals(Response, frozen=True, kw_only=True):
    """Boxes 1 to 9 of a VAT return, under the tax authority's names."""

    currency: str
    """The currency of all boxes: the legal entity's base currency."""
    vat_due_sales: Amount
    """Box 1: VAT due on sales, and on purchases under reverse charges."""
    vat_due_acquisitions: Amount
    """Box 2: VAT due on goods that came into Northern Ireland from the EU."""
    total_vat_due: Amount
    """Box 3: boxes 1 and 2 together."""
    vat_reclaimed: Amount = field(name="vatReclaimedCurrPeriod")
    """Box 4: VAT reclaimed on purchases."""
    net_vat_due: Amount
    """Box 5: the difference of boxes 3 and 4, without a sign. It is reclaimed where box 4 is the larger one, else
    paid."""
    total_value_sales: Amount = field(name="totalValueSalesExVAT")
    """Box 6: sales in whole pounds without VAT; under the flat rate with VAT."""
    total_value_purchases: Amount = field(name="totalValuePurchasesExVAT")
    """Box 7: purchases in whole pounds without VAT."""
    total_value_goods_supplied: Amount = field(name="totalValueGoodsSuppliedExVAT")
    """Box 8: goods that went from Northern Ireland to the EU, in whole pounds without VAT."""
    total_acquisitions: Amount = field(name="totalAcquisitionsExVAT")
    """Box 9: goods that came into Northern Ireland from the EU, in whole pounds without VAT."""


class ProfitTotals(Response, frozen=True, kw_only=True):
    """Profit and loss of a business in the period, on its own basis: the totals of `businesses.businessPnl`."""

    business_id: Id
    """Which business."""
    basis: Basis
    """`cash`: what was paid in the period; `accruals`: what was billed for it."""
    currency: str
    """The currency of the amounts: the business's."""
    income: Amount
    """All income together."""
    expenses: Amount
    """All expenses together, what tax does not allow among them."""
    disallowable: Amount
    """The part of the expenses that tax does not allow."""
    net_profit: Amount
    """Income less expenses; below zero it is a loss."""
    taxable_profit: Amount
    """The net profit with what is disallowable added back."""
    evidence: PnlEvidence
    """How much of the expenses has a document."""


class TotalsWarning(Response, frozen=True, kw_only=True):
    """What the totals of a period leave out, or what is in doubt about them."""

    code: TotalsDoubt
    """`currency_mismatch`: a VAT return or a business is left out, for foreign money has no rate of exchange.
    `flat_rate_purchases`: under the flat rate, purchases whose VAT the customer accounts for are left out;
    `flat_rate_capital_goods_unmarked`: some may be capital goods, and are not marked; `flat_rate_capital_goods_small`:
    marked ones come to less than 2,000. `vat_payments_on_account`: more than 2,300,000 was owed in the year that ends
    with the period, and nobody said what HMRC asks for (`legalEntity.setVatYear`)."""
    message: str
    """What is left out or in doubt, and what helps, for people."""


class PeriodTotals(Response, frozen=True, kw_only=True):
    """Sums of the period's own days."""

    invoiced: list[InvoiceTotals]
    """What was invoiced with a supply date in the period, by currency; void invoices and drafts are no part of it."""
    vat_return: VatReturnTotals | None
    """The boxes of the VAT return. Null: it is no VAT period, or they cannot be added up, which `warnings` tell."""
    profit_and_loss: list[ProfitTotals]
    """Of the period's business, or of each of its legal entity, archived ones too. Empty for VAT periods."""
    warnings: list[TotalsWarning]
    """What the totals leave out, and what is in doubt."""


class PeriodDetail(Period, frozen=True, kw_only=True):
    """A period with what is to be done before it is closed, what came together in it, and its seals."""

    checklist: list[Check]
    """What is to be done before it is closed, done or not."""
    totals: PeriodTotals
    """What came together in it."""
    seals: list[PeriodSeal]
    """Its seals, oldest first."""


class ListObligations(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    former_names: ClassVar = {"dueFrom": "dueDateFrom", "dueTo": "dueDateTo"}

    legal_entity_id: Id | None = None
    business_id: Id | None = None
    period_id: Id | None = None
    kind: Annotated[list[ObligationKind], Meta(min_length=1)] | None = None
    status: Annotated[list[Status], Meta(min_length=1)] | None = None
    due_date_from: Date | None = None
    """Only what is due on this day or later."""
    due_date_to: Date | None = None
    """Only what is due on this day or earlier."""
    source: Source | None = None
    external_id: ExternalId | None = None


class GetObligation(Request, frozen=True, kw_only=True):
    """Which obligation."""

    id: Id


class CreateObligation(Request, frozen=True, kw_only=True):
    """Something that is due, and that nobody predicts."""

    legal_entity_id: Id
    business_id: Id | None = None
    kind: EnteredKind = "custom"
    name: ObligationName | None = None
    """What it is. A `custom` one needs it."""
    due_date: Date
    """The last day on which it is in time. A payment on account is due on 31 January in its tax year, or on 31 July
    after it."""
    period_start_date: Date | None = None
    """The first day of what it is about; by default the last."""
    period_end_date: Date | None = None
    """The last day of what it is about, by default the due day; of a payment on account the 5 April with which its tax
    year ends."""
    amount_due: AmountText | None = None
    external_id: ExternalId | None = None


class FulfilObligation(Request, frozen=True, kw_only=True):
    """Which obligation was met."""

    id: Id
    expected_version: Version | None = None
    received_date: Date | None = None
    """The day on which it was met: today by default, and not one to come."""


class ReopenObligation(Request, frozen=True, kw_only=True):
    """Which obligation was not met, or is required, after all."""

    id: Id
    expected_version: Version | None = None
    reason: Reason | None = None
    """Why it is open again after all."""


class DismissObligation(Request, frozen=True, kw_only=True):
    """Which obligation is not required."""

    id: Id
    expected_version: Version | None = None
    reason: Reason
    """Why it is not required: an exemption, say."""
    whole_year: bool = False
    """True, of a quarterly update: nor are the other open ones of its source and tax year."""


class ObligationDetail(Obligation, frozen=True, kw_only=True):
    """An obligation with what happened to it."""

    events: list[ObligationEvent]
    """What happened to it, oldest first."""
