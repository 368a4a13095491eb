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
VatRelief = Literal["claimed", "not_claimed", "too_late", "no_vat", "cash_accounting", "flat_rate", "deregistered"]
StatusFilter = Literal["draft", "issued", "sent", "part_paid", "paid", "void", "overdue"]

Number = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[!-~]([ -~]*[!-~])?$",
        extra={"form": "a number of plain letters, digits and signs, without spaces around it"},
        examples=["INV-000001"],
    ),
]
Reference = Annotated[str, Meta(max_length=128)]
LongText = Annotated[str, Meta(max_length=4000)]
BaseAmount = Annotated[Amount, Meta(extra={"currency": "base_currency"})]
TermsDays = Annotated[int, Meta(ge=0, le=365)]


class CreateInvoice(Request, frozen=True, kw_only=True):
    """A new invoice or credit note."""

    client_id: Id | None = None
    """Whom it is made out to. An invoice needs it or `client`; a credit note has that of its invoice."""
    client: CreateClient | None = None
    """A new client to whom it is made out, in place of `clientId`."""
    legal_entity_id: Id | None = None
    """Who sells. By default the only legal entity, or the organization where it has none; of a credit note, that of its
    invoice."""
    business_id: Id | None = None
    """The business whose income it is. By default that of the properties it names."""
    kind: InvoiceKind = "invoice"
    credits_invoice_id: Id | None = None
    """The issued invoice that a credit note credits, which needs it."""
    lines: Lines | None = None
    """What was sold. A credit note without lines credits all of its invoice."""
    status: Literal["draft", "issued"] | None = None
    """Whether it stays a draft, as by default, or is issued at once."""
    issue_date: Date | None = None
    """The date on the document. By default today."""
    due_date: Date | None = None
    """The last day to pay. By default it follows from `paymentTermsDays`."""
    payment_terms_days: TermsDays | None = None
    """Days from the issue date to the due date, in place of `dueDate`. By default those of the client, and of a credit
    note 0."""
    supply_date: Date | None = None
    """The tax point, whose VAT rates hold. By default the issue date, and of a credit note the tax point of its
    invoice."""
    currency: Currency | None = None
    """The currency of its amounts. By default the client's, and of a credit note that of its invoice."""
    fx_rate: DecimalText | None = None
    """Units of the seller's currency for one of the invoice's. By default the rate that is known of the supply date is
    taken at issue; a credit note has that of its invoice."""
    amounts_are: AmountsAre | None = None
    """What unit prices are: without VAT (`exclusive`, by default), with it (`inclusive`), or free of any (`no_vat`). A
    credit note has it by default from its invoice."""
    vat_rounding: VatRounding | None = None
    """VAT is rounded on each `line` (by default), or for each code and rate: `total` half up, `total_down` down. A
    credit note has it by default from its invoice."""
    discount_amount: AmountText | None = None
    """What is taken off all lines together, net or gross as `amountsAre` says. By default nothing."""
    reference: Reference | None = None
    po_number: Reference | None = None
    notes: LongText | None = None
    terms: LongText | None = None
    bank_account_id: Id | None = None
    property_id: Id | None = None
    external_id: ExternalId | None = None
    origin: Literal["system", "imported"] = "system"
    """`imported` brings in an invoice that was issued elsewhere, with its `number`; an administrator may."""
    number: Number | None = None
    """The number of an imported invoice, which needs one. Any other is numbered when it is issued."""


@updates(
    CreateInvoice, of=CreateInvoice, without=("client", "kind", "credits_invoice_id", "status", "origin", "number")
)
class UpdateInvoice(Request, frozen=True, kw_only=True):
    """The fields of a draft to change. An absent field stays; null is what leaving it out is for a new draft.

    `lines` take the place of all lines. With null for `lines` a credit note credits all of its invoice.
    """

    invoice_id: Id
    """The draft to change."""
    expected_version: Version | None = None
    client_id: Id | UnsetType = UNSET


class GetInvoice(Request, frozen=True, kw_only=True):
    """Which invoice or credit note."""

    invoice_id: Id
    """The `id` of the invoice or credit note."""


class ChangeInvoice(Request, frozen=True, kw_only=True):
    """Which invoice or credit note to change."""

    invoice_id: Id
    """The `id` of the invoice or credit note."""
    expected_version: Version | None = None


class IssueInvoice(ChangeInvoice, frozen=True, kw_only=True):
    """Which draft to issue."""

    fx_rate: DecimalText | None = None
    """Units of the seller's currency for one of the invoice's. By default the draft's own, else the rate that is known
    of the supply date."""


class SetInvoiceRate(ChangeInvoice, frozen=True, kw_only=True):
    """Which invoice has a rate of exchange from now on."""

    fx_rate: DecimalText | None = None
    """Units of the seller's currency for one of the invoice's. By default the rate that is known of its supply date."""


class VoidInvoice(ChangeInvoice, frozen=True, kw_only=True):
    """Which invoice to void, and why."""

    reason: Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
    """Why it is void; kept as `voidReason`."""


class RecordPayment(ChangeInvoice, frozen=True, kw_only=True):
    """Money received on an invoice."""

    amount: AmountText | None = None
    """How much of the invoice was paid, in its currency. By default all that is due, and of a bank transaction no more
    than is left of it; needed where that is in the seller's currency and the invoice is not."""
    date: Date | None = None
    """The day on which the money came. By default today; with a bank transaction it is always that one's."""
    method: Annotated[str, Meta(min_length=1, max_length=64, examples=["bank_transfer"])] | None = None
    """How it was paid, in your own words."""
    reference: Reference | None = None
    """What identifies the payment, such as the payer's reference."""
    bank_transaction_id: Id | None = None
    """A booked bank transaction that brought the money. The payment becomes a part of it, allocated to the invoice."""
    charges: AmountText | None = None
    """What of `amount` a payment provider kept, an expense of the business. With `bankTransactionId` alone."""
    fx_rate: DecimalText | None = None
    """Units of the seller's currency for one of the invoice's, where these differ. By default what a bank transaction
    in the seller's currency brought for `amount`, else the rate that is known of the day."""


class WriteOffInvoice(ChangeInvoice, frozen=True, kw_only=True):
    """What will not come of an invoice."""

    amount: AmountText | None = None
    """How much is written off, VAT included. By default all that is due."""
    date: Date | None = None
    """The day on which it is given up. By default today."""
    reason: Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
    """Why it will not come, such as an insolvency."""
    claim_vat_relief: bool = True
    """Whether its VAT is claimed back, where it can be. Not where the debt was sold, the VAT was never paid to the tax
    authority, or the price was above what is customary."""
    vat_relief_date: Date | None = None
    """The day on which its VAT is claimed. By default the first on which it can be: 6 months after the later of due
    date and tax point, and not before `date`."""


class RemovePayment(ChangeInvoice, frozen=True, kw_only=True):
    """Which payment to take back."""

    position: Annotated[int, Meta(ge=1, le=1_000_000)]
    """The `position` of the payment."""


class DeletedInvoice(Response, frozen=True, kw_only=True):
    """The draft that was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class ListInvoices(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: Annotated[list[StatusFilter], Meta(min_length=1)] | None = None
    """The states to list, any of them. `overdue`: money is still due after its due date, in whichever state."""
    client_id: Id | None = None
    """Whom the invoices are made out to."""
    business_id: Id | None = None
    """The business that the invoices name."""
    legal_entity_id: Id | None = None
    """Who sells."""
    property_id: Id | None = None
    """Only those that name this property."""
    kind: InvoiceKind | None = None
    """Only invoices, or only credit notes."""
    credits_invoice_id: Id | None = None
    """Only credit notes of this invoice."""
    recurring_id: Id | None = None
    """Only those that this recurring invoice made."""
    quote_id: Id | None = None
    """Only those that were made of this quote."""
    issue_date_from: Date | None = None
    """The earliest issue date."""
    issue_date_to: Date | None = None
    """The latest issue date, inclusive."""
    due_date_from: Date | None = None
    """The earliest due date."""
    due_date_to: Date | None = None
    """The latest due date, inclusive."""
    currency: Currency | None = None
    """The currency of the invoices."""
    external_id: ExternalId | None = None
    q: Search | None = None
    """Text to look for in the number and the reference, in any letter case."""
    summary_only: bool = False
    """Whether `lines` are left out."""


class ClientSnapshot(Response, frozen=True, kw_only=True):
    """The client as the invoice prints it, frozen at issue."""

    name: str
    """Whom it is made out to."""
    contact_name: str | None
    """The person it is addressed to. Null: nobody was named."""
    billing_address: Address | None
    """The address it is made out to. Null: none was known."""
    vat_number: str | None
    """The client's VAT number. Null: none was known."""
    company_number: str | None
    """The client's number in the register of companies. Null: none was known."""
    country_code: str
    """Where the client was."""


class SellerSnapshot(Response, frozen=True, kw_only=True):
    """The seller as the invoice prints it, frozen at issue."""

    name: str
    """Who sells, by the legal name where there is one."""
    address: Address | None
    """The seller's address. Null: none was known."""
    vat_number: str | None
    """The seller's VAT number. Null: not registered for VAT on the supply date."""
    company_number: str | None
    """The seller's Companies House number. Null: none was known."""


class InvoicePayment(Response, frozen=True, kw_only=True):
    """Money that was received, or that went back of what was paid too much."""

    position: int
    """Tells the payments of an invoice apart, from 1; they keep it when another is taken back."""
    date: DateText
    """The day on which the money came."""
    amount: Amount
    """How much of the invoice was paid, in its currency, with what a payment provider kept of it. Below 0: of what was
    paid too much, this was refunded, or set against another invoice."""
    bank_transaction_id: str | None
    """The bank transaction that it is a part of. Null: none is named."""
    method: str | None
    """How it was paid, in the words of whoever entered it. Null: nobody said."""
    reference: str | None
    """What identifies the payment, such as the payer's reference. Null: nobody said."""
    fx_rate: DecimalText | UnsetType | None = UNSET
    """Units of the seller's currency for one of the invoice's. Absent: they are the same."""
    fx_rate_source: TakenRateSource | UnsetType | None = UNSET
    """Where a rate that nobody gave was taken from: one that was `recorded` here, or HMRC's of the month. Absent: none
    was taken."""
    client_payment_id: Id | UnsetType | None = UNSET
    """The payment or refund of the client, or the credit, that it is a part of, and is taken back with. Absent: it is
    of this invoice alone."""


class WriteOff(Response, frozen=True, kw_only=True):
    """What is unpaid of an invoice and will not come."""

    date: DateText
    """The day on which it was given up: on accruals it is an expense of that day."""
    amount: Amount
    """How much was written off, VAT included."""
    unpaid: Amount
    """How much of it is unpaid still: less what came, or was credited, afterwards."""
    reason: str
    """Why it will not come."""
    vat_relief: VatRelief
    """What becomes of its VAT. `claimed`: in box 4 of the return with `vatReliefDate`, and repaid in box 1 where it
    comes after all. `not_claimed`: nobody wanted to. `too_late`: 4 years and 6 months have passed. `no_vat`: it holds
    none. `cash_accounting`: none was due before it came. `flat_rate`: that scheme has rules of its own, and nothing is
    counted here. `deregistered`: it is claimed with form VAT427, and nothing is counted here."""
    vat_relief_date: DateText | None
    """The day on which its VAT is claimed. Null: none is."""


class InvoiceHead(Response, frozen=True, kw_only=True):
    """The part of an invoice whose JSON is stored with its row."""

    id: Id
    external_id: str | None
    number: str | None
    """The number in the seller's sequence. Null: a draft, which gets one at issue."""
    origin: Origin
    """`system`: made out here. `imported`: issued elsewhere and brought in with its number. `extracted`: from a
    document; not used so far."""
    kind: InvoiceKind
    """A `credit_note` takes back an invoice or a part of it; its amounts are positive."""
    status: Status
    """`draft`: may still change. `issued`: numbered. `sent`: the client has it. `part_paid`, `paid`: by payments and
    credit notes. `void`: withdrawn, and counts nowhere."""
    legal_entity_id: str | None
    """Who sells. Null: the organization, in its own name."""
    business_id: str | None
    """The business whose income it is. Null: the only one that the seller has on the supply date; with several, or
    none, it counts in no business."""
    client_id: Id
    """Whom it is made out to."""
    credits_invoice_id: str | None
    """The invoice that a credit note credits. Null: it is an invoice."""
    client_snapshot: ClientSnapshot | None
    """The client as it is printed, frozen at issue. Null: a draft."""
    seller_snapshot: SellerSnapshot | None
    """The seller as it is printed, frozen at issue. Null: a draft."""
    issue_date: DateText
    """The date on the document."""
    supply_date: DateText
    """The tax point: VAT rates are those of this day, and on accruals it counts on it."""
    due_date: DateText
    """The last day to pay; what is due after it is overdue."""
    currency: str
    """The currency of all its amounts but `vatTotalBase`."""
    fx_rate: DecimalText | None
    """Units of the seller's currency for one of `currency`. Null: they are the same, or no rate is known yet."""
    amounts_are: AmountsAre
    """What unit prices are: without VAT (`exclusive`), with it (`inclusive`), or free of any (`no_vat`)."""
    vat_rounding: VatRounding
    """VAT is rounded on each `line`, or for each code and rate: `total` half up, `total_down` down."""
    net_total: Amount
    """What the lines come to after all discounts, without VAT."""
    vat_total: Amount
    """The VAT that is charged."""
    gross_total: Amount
    """`netTotal` and `vatTotal`; a CIS deduction is not taken off."""
    discount_amount: Amount
    """What is taken off all lines together, net or gross as `amountsAre` says; 0 where nothing is."""
    discount_total: Amount
    """All discounts, those of lines and `discountAmount`, net or gross as `amountsAre` says."""
    reverse_charge_vat: Amount
    """VAT that the client accounts for; it is in no other total."""
    vat_total_base: BaseAmount | None
    """`vatTotal` in the seller's currency, by `fxRate`. Null: without `fxRate`."""
    vat_summary: list[VatSummary]
    """Net and VAT of each VAT code and rate."""
    cis_deduction: Amount
    """What a contractor withholds for the Construction Industry Scheme: `cisRate` of the net of labour."""
    cis_rate: CisRate | None
    """Percent that is withheld of labour. Null: nothing is."""
    paid_total: Amount
    """What `payments` come to."""
    credited_total: Amount
    """What issued credit notes take off: their gross less their CIS deductions."""
    balance_due: Amount
    """What is still to be paid: `grossTotal` less `cisDeduction`, `paidTotal`, `creditedTotal` and what is `unpaid` of
    `writeOff`. Negative: overpaid. 0 of a credit note, which lowers that of its invoice."""
    payments: list[InvoicePayment]
    """Money that was received, in the order in which it was entered."""
    reference: str | None
    """Your reference, such as a project. Null: none."""
    po_number: str | None
    """Number of the client's purchase order. Null: none."""
    notes: str | None
    """A text to the client. Null: none."""
    terms: str | None
    """Terms of payment, as a text to the client. Null: none."""
    bank_account_id: str | None
    """The bank account to pay into. Null: none is named."""
    property_id: str | None
    """The property that lines which name none are income of. Null: none."""
    sent_at: Timestamp | None
    """When it was marked as sent to the client. Null: never."""
    viewed_at: Timestamp | None
    """When the client first opened its link. Null: never."""
    paid_date: DateText | None
    """The day on which a payment or credit note settled the rest. Null: something is due, or nothing was."""
    voided_at: Timestamp | None
    """When it was voided. Null: it was not."""
    void_reason: str | None
    """Why it was voided. Null: it was not."""
    pdf_document_id: str | None
    """The document in the vault that is its PDF, kept by the first `accounting.getInvoicePdf`. Null: none was made."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int
    fx_rate_source: TakenRateSource | UnsetType | None = UNSET
    """Where a rate that nobody gave was taken from: one that was `recorded` here, or HMRC's of the month. Absent: none
    was taken."""
    fx_rate_date: DateText | UnsetType | None = UNSET
    """The day of the rate that was taken; of HMRC's, the first of its month. Absent: none was taken."""
    recurring_id: Id | UnsetType | None = UNSET
    """The recurring invoice that made it. Absent: none did."""
    quote_id: Id | UnsetType | None = UNSET
    """The quote that it was made of. Absent: of none."""
    write_off: WriteOff | UnsetType | None = UNSET
    """What was written off of it, and is not in `balanceDue`. Absent: nothing."""


class InvoiceWarning(Response, frozen=True, kw_only=True):
    """What is not as it should be, and was done all the same."""

    path: str
    """The field that it is about, dotted from the root of the answer."""
    code: Literal[
        "client_address_missing",
        "client_in_united_kingdom",
        "client_vat_number_missing",
        "fx_rate_taken",
        "letters_unprintable",
        "margin_scheme_unnamed",
        "vat_relief_conditions",
        "vat_relief_elsewhere",
        "vat_relief_too_late",
    ]
    """`client_address_missing`: a VAT invoice prints the client's address, and has none. `client_in_united_kingdom`: a
    line is charged as to a client elsewhere. `client_vat_number_missing`: goods from Northern Ireland are zero-rated
    to a client with an EU VAT number, and it has none. `fx_rate_taken`: nobody gave a rate, so that one was taken that
    is known. `letters_unprintable`: the PDF has no glyphs for some letters, and no electronic invoice attached.
    `margin_scheme_unnamed`: nothing says which margin scheme it is. `vat_relief_conditions`: VAT of a bad
    debt is claimed, if what is not known here is so. `vat_relief_elsewhere`: there may be some, which is not counted
    here. `vat_relief_too_late`: it is a cost."""
    message: str
    """The same in words."""


class Invoice(InvoiceHead, frozen=True, kw_only=True):
    """An invoice or a credit note. A number is allotted and the snapshots are frozen at issue."""

    lines: list[InvoiceLine] | UnsetType = UNSET
    """What was sold, by `position`. Absent with `summaryOnly`."""
    is_overdue: bool
    """Whether money is still due and the due date is before today in London."""
    warnings: list[InvoiceWarning] | UnsetType = UNSET
    """What to look at, in the answer to what issued it, gave it a rate or wrote it off. Absent: nothing."""


class InvoiceRow(InvoiceHead, frozen=True, kw_only=True):
    """An invoice as it is stored. `seller_key` is the legal entity, or the organization that sells in its own name."""

    seller_key: str
    base_currency: str
