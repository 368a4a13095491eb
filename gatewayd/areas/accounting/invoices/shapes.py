"""What invoices look like (domain model B5): requests, responses, and the rows where they differ."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.accounting.clients.shapes import CreateClient
from gatewayd.areas.accounting.invoices.line_shapes import InvoiceLine, Lines, VatSummary
from gatewayd.areas.accounting.invoices.numbers import InvoiceKind
from gatewayd.areas.accounting.invoices.states import Status
from gatewayd.areas.accounting.invoices.totals import AmountsAre, VatRounding
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Address,
    Amount,
    AmountText,
    Currency,
    Date,
    DateText,
    DecimalText,
    ExternalId,
    Id,
    Request,
    Response,
    Search,
    Timestamp,
    Version,
)
from gatewayd.ledger.vat.sellers import CisRate

Origin = Literal["system", "imported", "extracted"]
TakenRateSource = Literal["recorded", "hmrc"]
StatusFilter = Literal["draft", "issued", "sent", "part_paid", "paid", "void", "overdue"]

Number = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[!-~]([ -~]*[!-~])?$", examples=["INV-000001"])]
Reference = Annotated[str, Meta(max_length=128)]
LongText = Annotated[str, Meta(max_length=4000)]
BaseAmount = Annotated[Amount, Meta(extra={"currency": "base_currency"})]
TermsDays = Annotated[int, Meta(ge=0, le=365)]


class CreateInvoice(Request, frozen=True, kw_only=True):
    """A new invoice or credit note. See the operation for what is taken where a field is left out."""

    client_id: Id | None = None
    client: CreateClient | None = None
    legal_entity_id: Id | None = None
    business_id: Id | None = None
    kind: InvoiceKind = "invoice"
    credits_invoice_id: Id | None = None
    lines: Lines | None = None
    status: Literal["draft", "issued"] | None = None
    issue_date: Date | None = None
    due_date: Date | None = None
    payment_terms_days: TermsDays | None = None
    supply_date: Date | None = None
    currency: Currency | None = None
    fx_rate: DecimalText | None = None
    amounts_are: AmountsAre | None = None
    vat_rounding: VatRounding | None = None
    discount_amount: AmountText | None = None
    reference: Reference | None = None
    po_number: Reference | None = None
    notes: LongText | None = None
    terms: LongText | None = None
    bank_account_id: Id | None = None
    property_id: Id | None = None
    external_id: ExternalId | None = None
    origin: Literal["system", "imported"] = "system"
    number: Number | None = None


@updates(
    CreateInvoice, of=CreateInvoice, without=("client", "kind", "credits_invoice_id", "status", "origin", "number")
)
class UpdateInvoice(Request, frozen=True, kw_only=True):
    """The fields of a draft to change. An absent field stays; null is what leaving it out is for a new draft.

    `lines` take the place of all lines. With null for `lines` a credit note credits all of its invoice.
    """

    invoice_id: Id
    expected_version: Version | None = None
    client_id: Id | UnsetType = UNSET


class GetInvoice(Request, frozen=True, kw_only=True):
    """Which invoice or credit note."""

    invoice_id: Id


class ChangeInvoice(Request, frozen=True, kw_only=True):
    """Which invoice or credit note to change."""

    invoice_id: Id
    expected_version: Version | None = None


class IssueInvoice(ChangeInvoice, frozen=True, kw_only=True):
    """`fxRate` is in units of the seller's currency for one of the invoice's, and goes before the draft's own."""

    fx_rate: DecimalText | None = None


class SetInvoiceRate(ChangeInvoice, frozen=True, kw_only=True):
    """`fxRate` is in units of the seller's currency for one of the invoice's: by default what is known of its day."""

    fx_rate: DecimalText | None = None


class VoidInvoice(ChangeInvoice, frozen=True, kw_only=True):
    """Why the invoice is void."""

    reason: Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]


class RecordPayment(ChangeInvoice, frozen=True, kw_only=True):
    """Money received: by default all that is due, today; of a bank transaction at most what is left, on its day.

    `fxRate` is in units of the seller's currency for one of the invoice's, where these differ: by default what a bank
    transaction in the seller's currency brought for `amount`, else the rate that is known of the day.
    """

    amount: AmountText | None = None
    date: Date | None = None
    method: Annotated[str, Meta(min_length=1, max_length=64, examples=["bank_transfer"])] | None = None
    reference: Reference | None = None
    bank_transaction_id: Id | None = None
    charges: AmountText | None = None
    fx_rate: DecimalText | None = None


class RemovePayment(ChangeInvoice, frozen=True, kw_only=True):
    """The payment to take back, by its `position`."""

    position: Annotated[int, Meta(ge=1, le=1_000_000)]


class DeletedInvoice(Response, frozen=True, kw_only=True):
    """The draft that was deleted."""

    id: Id
    deleted: Literal[True]


class ListInvoices(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. Dates are inclusive. `q` looks in the number and the reference."""

    status: Annotated[list[StatusFilter], Meta(min_length=1)] | None = None
    client_id: Id | None = None
    business_id: Id | None = None
    issue_date_from: Date | None = None
    issue_date_to: Date | None = None
    due_date_from: Date | None = None
    due_date_to: Date | None = None
    currency: Currency | None = None
    external_id: ExternalId | None = None
    q: Search | None = None
    summary_only: bool = False


class ClientSnapshot(Response, frozen=True, kw_only=True):
    """The client as the invoice prints it, frozen at issue."""

    name: str
    contact_name: str | None
    billing_address: Address | None
    vat_number: str | None
    company_number: str | None
    country_code: str


class SellerSnapshot(Response, frozen=True, kw_only=True):
    """The seller as the invoice prints it, frozen at issue. `vatNumber` only where VAT was registered that day."""

    name: str
    address: Address | None
    vat_number: str | None
    company_number: str | None


class InvoicePayment(Response, frozen=True, kw_only=True):
    """Money that was received. `position` tells the payments of an invoice apart, from 1.

    One in another currency than the seller's has an `fxRate` of its own, and an `fxRateSource` where nobody gave it.
    """

    position: int
    date: DateText
    amount: Amount
    bank_transaction_id: str | None
    method: str | None
    reference: str | None
    fx_rate: DecimalText | UnsetType | None = UNSET
    fx_rate_source: TakenRateSource | UnsetType | None = UNSET


class InvoiceHead(Response, frozen=True, kw_only=True):
    """The part of an invoice whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    number: str | None
    origin: Origin
    kind: InvoiceKind
    status: Status
    legal_entity_id: str | None
    business_id: str | None
    client_id: Id
    credits_invoice_id: str | None
    client_snapshot: ClientSnapshot | None
    seller_snapshot: SellerSnapshot | None
    issue_date: DateText
    supply_date: DateText
    due_date: DateText
    currency: str
    fx_rate: DecimalText | None
    amounts_are: AmountsAre
    vat_rounding: VatRounding
    net_total: Amount
    vat_total: Amount
    gross_total: Amount
    discount_amount: Amount
    discount_total: Amount
    reverse_charge_vat: Amount
    vat_total_base: BaseAmount | None
    vat_summary: list[VatSummary]
    cis_deduction: Amount
    cis_rate: CisRate | None
    paid_total: Amount
    credited_total: Amount
    balance_due: Amount
    payments: list[InvoicePayment]
    reference: str | None
    po_number: str | None
    notes: str | None
    terms: str | None
    bank_account_id: str | None
    property_id: str | None
    sent_at: Timestamp | None
    viewed_at: Timestamp | None
    paid_date: DateText | None
    voided_at: Timestamp | None
    void_reason: str | None
    pdf_document_id: str | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int
    fx_rate_source: TakenRateSource | UnsetType | None = UNSET
    fx_rate_date: DateText | UnsetType | None = UNSET


class InvoiceWarning(Response, frozen=True, kw_only=True):
    """What is not as it should be, and was done all the same. `path` is dotted from the root of the answer."""

    path: str
    code: Literal["client_address_missing", "fx_rate_taken"]
    message: str


class Invoice(InvoiceHead, frozen=True, kw_only=True):
    """An invoice or a credit note. A number is allotted and the snapshots are frozen at issue.

    `balanceDue` is gross less CIS deduction, paid and credited; negative is an overpayment. A credit note has no
    balance of its own: it lowers that of the invoice it credits. `lines` are absent with `summaryOnly`. `warnings` are
    in the answer to what issued it, where there are any. `fxRateSource` and `fxRateDate` are there where nobody gave
    the rate: it was recorded for that day, or is HMRC's of the month that begins with it.
    """

    lines: list[InvoiceLine] | UnsetType = UNSET
    is_overdue: bool
    warnings: list[InvoiceWarning] | UnsetType = UNSET


class InvoiceRow(InvoiceHead, frozen=True, kw_only=True):
    """An invoice as it is stored. `seller_key` is the legal entity, or the organization that sells in its own name."""

    seller_key: str
    base_currency: str
