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
    """A VAT period and the return that is due for it. `status`: O is open, F is fulfilled."""

    start: str
    end: str
    due: str
    status: str
    period_key: str
    received: Text = UNSET


class VatObligations(Struct):
    """VAT obligations, by their start."""

    obligations: list[VatObligation]


class TaxPeriod(Struct, kw_only=True):
    """The period that a liability is for."""

    from_: Text = field(default=UNSET, name="from")
    to: Text = UNSET


class VatLiability(Struct, kw_only=True, rename="camel"):
    """A charge."""

    type: str
    original_amount: float
    outstanding_amount: Number = UNSET
    tax_period: TaxPeriod | UnsetType = UNSET
    due: Text = UNSET


class VatLiabilities(Struct):
    """VAT liabilities."""

    liabilities: list[VatLiability]


class VatPayment(Struct, kw_only=True):
    """A payment that was received."""

    amount: float
    received: Text = UNSET


class VatPayments(Struct):
    """VAT payments."""

    payments: list[VatPayment]


class VatReturn(Struct, kw_only=True, rename="camel"):
    """The nine boxes of a return that was submitted."""

    period_key: str
    vat_due_sales: float
    vat_due_acquisitions: float
    total_vat_due: float
    vat_reclaimed_curr_period: float
    net_vat_due: float
    total_value_sales: float = field(name="totalValueSalesExVAT")
    total_value_purchases: float = field(name="totalValuePurchasesExVAT")
    total_value_goods_supplied: float = field(name="totalValueGoodsSuppliedExVAT")
    total_acquisitions: float = field(name="totalAcquisitionsExVAT")


class ItsaStatusYear(Struct, kw_only=True, rename="camel"):
    """The standing in one tax year."""

    tax_year: str
    itsa_status_details: list[Open] | UnsetType = UNSET


class ItsaStatuses(Struct, rename="camel"):
    """The standing in Making Tax Digital for Income Tax."""

    itsa_statuses: list[ItsaStatusYear]


class ItsaObligations(Struct):
    """Obligations of each business; of final declarations, one for each tax year."""

    obligations: list[Open]


class ItsaCalculations(Struct):
    """Calculations, without their content."""

    calculations: list[Open]


class ItsaCalculation(Struct, kw_only=True):
    """One calculation."""

    metadata: Open
    inputs: Open | UnsetType = UNSET
    calculation: Open | UnsetType = UNSET
    messages: Open | UnsetType = UNSET


# -- composed by this service


class QuarterlyCounts(Response, frozen=True, kw_only=True):
    """How many quarterly updates of a year are open and not yet due, fulfilled, and overdue."""

    open: int
    fulfilled: int
    overdue: int


class FinalDeclaration(Response, frozen=True, kw_only=True):
    """The final declaration of a year; null members are not known."""

    due_date: str | None
    status: str | None
    received_date: str | None


class TaxYear(Response, frozen=True, kw_only=True):
    """One tax year. `itsaStatus` is the authority's word; null where it has said nothing.

    `quarterly` is null where the authority could not be asked about it, as `parts` tells.
    """

    tax_year: TaxYearText
    start_date: str
    end_date: str
    itsa_status: str | None
    quarterly: QuarterlyCounts | None
    final_declaration: FinalDeclaration | None


class SummaryPart(Response, frozen=True, kw_only=True):
    """What one part was made of. `status`: ok, not_found or failed.

    `httpStatus` is what the authority answered; null where it gave no answer. `code` is that of its refusal, or ours:
    `tax_upstream_timeout` where it took too long, `tax_upstream_error` where it could not be reached. It is null where
    there is none.
    """

    source: str
    status: str
    code: str | None
    http_status: int | None
    fetched_at: str


class TaxYearsPart(SummaryPart, frozen=True, kw_only=True):
    """What one part was made of, as in a filing summary; `taxYear` is null where it tells of all of them."""

    tax_year: TaxYearText | None


class TaxYears(Response, frozen=True, kw_only=True):
    """Tax years, the earliest first. What comes of a part that failed is null, and the part told in `parts`.

    Where all of them failed, the answer is the authority's refusal, or an error.
    """

    tax_years: list[TaxYear]
    parts: list[TaxYearsPart]


class SummaryObligation(Response, frozen=True, kw_only=True):
    """A quarterly update of a business; without one, the final declaration."""

    type_of_business: str | None
    business_id: str | None
    period_start_date: str | None
    period_end_date: str | None
    due_date: str | None
    status: str | None
    received_date: str | None


class LatestCalculation(Response, frozen=True, kw_only=True):
    """The last calculation of the year."""

    id: str
    type: str | None
    timestamp: str | None
    liability_amount: float | None


class Balance(Response, frozen=True, kw_only=True):
    """What is owed on the Self Assessment account; null members are not known."""

    payable: float | None
    overdue: float | None
    next_due: str | None


class FilingSummary(Response, frozen=True, kw_only=True):
    """What has been filed and what is owed for a year. A part that failed is null and told in `parts`.

    Where all of them failed, the answer is the authority's refusal, or an error.
    """

    tax_year: TaxYearText
    itsa_status: str | None
    obligations: list[SummaryObligation]
    latest_calculation: LatestCalculation | None
    balance: Balance | None
    parts: list[SummaryPart]
