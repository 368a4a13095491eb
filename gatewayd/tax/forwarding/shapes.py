"""What the tax operations answer, for the description: the authority's own names (domain model §D1).

Bodies are passed on byte for byte and never decoded into these. Numbers are JSON numbers, as the authority writes them.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from gatewayd.contract.wire import Response

Open = dict[str, Any]
Text = str | UnsetType
Number = float | UnsetType
TaxYearText = Annotated[str, Meta(description="A tax year, such as 2026-27.")]


class VatObligation(Struct, kw_only=True, rename="camel"):
    """A VAT period and the return that is due for it."""

    start: str
    """The first day of the period."""
    end: str
    """The last day of the period."""
    due: str
    """The last day to make the return."""
    status: str
    """O: the return is open. F: it was made."""
    period_key: str
    """HMRC's key of the period, for `vat.getVatReturn`; it may hold #."""
    received: Text = UNSET
    """The day on which the return was received. Absent: it was not."""


class VatObligations(Struct):
    """VAT obligations, by their start."""

    obligations: list[VatObligation]
    """The periods, by their start."""


class TaxPeriod(Struct, kw_only=True):
    """The period that a liability is for."""

    from_: Text = field(default=UNSET, name="from")
    """The first day of the period."""
    to: Text = UNSET
    """The last day of the period."""


class VatLiability(Struct, kw_only=True, rename="camel"):
    """A charge."""

    type: str
    """What is charged, in HMRC's words, such as `VAT Return Debit Charge`."""
    original_amount: float
    """What was charged, in pounds."""
    outstanding_amount: Number = UNSET
    """What of it is still to be paid, in pounds. Absent: HMRC does not say."""
    tax_period: TaxPeriod | UnsetType = UNSET
    """The period that it is for. Absent: HMRC does not say."""
    due: Text = UNSET
    """The last day to pay. Absent: HMRC does not say."""


class VatLiabilities(Struct):
    """VAT liabilities."""

    liabilities: list[VatLiability]
    """The charges."""


class VatPayment(Struct, kw_only=True):
    """A payment that was received."""

    amount: float
    """What was paid, in pounds."""
    received: Text = UNSET
    """The day on which it was received. Absent: HMRC does not say."""


class VatPayments(Struct):
    """VAT payments."""

    payments: list[VatPayment]
    """The payments."""


class VatReturn(Struct, kw_only=True, rename="camel"):
    """The nine boxes of a return that was submitted."""

    period_key: str
    """HMRC's key of the period."""
    vat_due_sales: float
    """Box 1: VAT due on sales and other outputs, in pounds."""
    vat_due_acquisitions: float
    """Box 2: VAT due on acquisitions in Northern Ireland from the EU, in pounds."""
    total_vat_due: float
    """Box 3: boxes 1 and 2 together, in pounds."""
    vat_reclaimed_curr_period: float
    """Box 4: VAT reclaimed on purchases and other inputs, in pounds."""
    net_vat_due: float
    """Box 5: the difference of boxes 3 and 4, in pounds, 0 or more; which is larger says who pays."""
    total_value_sales: float = field(name="totalValueSalesExVAT")
    """Box 6: sales and other outputs without VAT, in whole pounds."""
    total_value_purchases: float = field(name="totalValuePurchasesExVAT")
    """Box 7: purchases and other inputs without VAT, in whole pounds."""
    total_value_goods_supplied: float = field(name="totalValueGoodsSuppliedExVAT")
    """Box 8: goods supplied from Northern Ireland to the EU without VAT, in whole pounds."""
    total_acquisitions: float = field(name="totalAcquisitionsExVAT")
    """Box 9: goods acquired in Northern Ireland from the EU without VAT, in whole pounds."""


class ItsaStatusYear(Struct, kw_only=True, rename="camel"):
    """The standing in one tax year."""

    tax_year: str
    """The tax year, such as 2026-27."""
    itsa_status_details: list[Open] | UnsetType = UNSET
    """What was submitted of it, the last of which counts: `submittedOn`, `status`, `statusReason` and more, by HMRC's
    names. Absent: nothing."""


class ItsaStatuses(Struct, rename="camel"):
    """The standing in Making Tax Digital for Income Tax."""

    itsa_statuses: list[ItsaStatusYear]
    """The standing in each tax year."""


class ItsaObligations(Struct):
    """Obligations of each business; of final declarations, one for each tax year."""

    obligations: list[Open]
    """One for each business, with `typeOfBusiness`, `businessId` and `obligationDetails`; of final declarations, one
    for each tax year, by HMRC's names."""


class ItsaCalculations(Struct):
    """Calculations, without their content."""

    calculations: list[Open]
    """The calculations, with `calculationId`, `calculationTimestamp`, `calculationType` and more, by HMRC's names."""


class ItsaCalculation(Struct, kw_only=True):
    """One calculation."""

    metadata: Open
    """What the calculation is of: `calculationId`, `taxYear`, `calculationType` and more, by HMRC's names."""
    inputs: Open | UnsetType = UNSET
    """What it was reckoned from, by HMRC's names. Absent: HMRC does not say."""
    calculation: Open | UnsetType = UNSET
    """What it came to, by HMRC's names. Absent: it came to nothing, as `messages` tell."""
    messages: Open | UnsetType = UNSET
    """What HMRC has to say of it: `info`, `warnings` and `errors`. Absent: nothing."""


# -- composed by this service


class QuarterlyCounts(Response, frozen=True, kw_only=True):
    """How many quarterly updates of a year stand how, of all businesses together."""

    open: int
    """How many are open and not past their due date."""
    fulfilled: int
    """How many were made."""
    overdue: int
    """How many are open past their due date, as of today in London."""


class FinalDeclaration(Response, frozen=True, kw_only=True):
    """The final declaration of a year."""

    due_date: str | None
    """The last day to make it. Null: HMRC does not say."""
    status: str | None
    """HMRC's word for how it stands: `open` or `fulfilled`. Null: it does not say."""
    received_date: str | None
    """The day on which it was received. Null: it was not."""


class TaxYear(Response, frozen=True, kw_only=True):
    """One tax year."""

    tax_year: TaxYearText
    start_date: str
    """The first day, 6 April."""
    end_date: str
    """The last day, 5 April."""
    itsa_status: str | None
    """The standing in Making Tax Digital for Income Tax, in HMRC's word. Null: it has said nothing."""
    quarterly: QuarterlyCounts | None
    """How many quarterly updates stand how. Null: HMRC could not be asked, as `parts` tells."""
    final_declaration: FinalDeclaration | None
    """The final declaration. Null: HMRC tells none, or could not be asked."""


class SummaryPart(Response, frozen=True, kw_only=True):
    """What one part was made of."""

    source: str
    """What HMRC was asked for: `itsaStatus`, `itsaObligations`, `finalDeclaration`, `itsaCalculations` or `balance`."""
    status: str
    """`ok`: HMRC answered. `not_found`: it has nothing. `failed`: it refused, or did not answer."""
    code: str | None
    """The code of HMRC's refusal, or ours: `tax_upstream_timeout` where it took too long, `tax_upstream_error` where it
    could not be reached. Null: there is none."""
    http_status: int | None
    """The HTTP status that HMRC answered. Null: it gave no answer."""
    fetched_at: str
    """When HMRC was asked."""


class TaxYearsPart(SummaryPart, frozen=True, kw_only=True):
    """What one part was made of, as in a filing summary."""

    tax_year: TaxYearText | None
    """The tax year that it is of. Null: it tells of all of them."""


class TaxYears(Response, frozen=True, kw_only=True):
    """Tax years. Where all parts failed, the answer is HMRC's refusal, or an error."""

    tax_years: list[TaxYear]
    """The tax years, the earliest first."""
    parts: list[TaxYearsPart]
    """What the answer was made of. What comes of a part that failed is null."""


class SummaryObligation(Response, frozen=True, kw_only=True):
    """A quarterly update of a business; without one, the final declaration."""

    type_of_business: str | None
    """The kind of business, in HMRC's word such as `self-employment`. Null: the final declaration."""
    business_id: str | None
    """HMRC's id of the source of income, `taxBusinessId` of a business. Null: the final declaration."""
    period_start_date: str | None
    """The first day of the period. Null: HMRC does not say."""
    period_end_date: str | None
    """The last day of the period. Null: HMRC does not say."""
    due_date: str | None
    """The last day to meet it. Null: HMRC does not say."""
    status: str | None
    """HMRC's word for how it stands: `open` or `fulfilled`. Null: it does not say."""
    received_date: str | None
    """The day on which it was met. Null: it was not."""


class LatestCalculation(Response, frozen=True, kw_only=True):
    """The last calculation of the year."""

    id: str
    """HMRC's id of it, for `itsaCalculations.get`."""
    type: str | None
    """The type of calculation, in HMRC's word such as `in-year`. Null: it does not say."""
    timestamp: str | None
    """When it was made, as HMRC writes it. Null: it does not say."""
    liability_amount: float | None
    """The Income Tax and National Insurance that it came to, in pounds. Null: HMRC does not say."""


class Balance(Response, frozen=True, kw_only=True):
    """What is owed on the Self Assessment account."""

    payable: float | None
    """What falls due within 30 days, in pounds. Null: HMRC does not say."""
    overdue: float | None
    """What is past its due date, in pounds. Null: HMRC does not say."""
    next_due: str | None
    """The day on which `payable` is due. Null: HMRC does not say."""


class FilingSummary(Response, frozen=True, kw_only=True):
    """What has been filed and what is owed for a year.

    Where all parts failed, the answer is HMRC's refusal, or an error.
    """

    tax_year: TaxYearText
    itsa_status: str | None
    """The standing in Making Tax Digital for Income Tax, in HMRC's word. Null: it has said nothing, or could not be
    asked."""
    obligations: list[SummaryObligation]
    """The quarterly updates of each business, then the final declaration. Empty: there are none, or HMRC could not be
    asked."""
    latest_calculation: LatestCalculation | None
    """The last calculation of the year. Null: there is none, or HMRC could not be asked."""
    balance: Balance | None
    """What is owed on the Self Assessment account, of any year. Null: HMRC has none, or could not be asked."""
    parts: list[SummaryPart]
    """What the answer was made of: each tells whether HMRC could be asked."""
