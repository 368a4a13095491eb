"""What quotes look like (domain model B5): requests, the answer, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.accounting.invoices.line_shapes import SoldLine, SoldLines, VatSummary
from gatewayd.areas.accounting.invoices.shapes import (
    ClientSnapshot,
    LongText,
    Reference,
    SellerSnapshot,
    TermsDays,
)
from gatewayd.areas.accounting.invoices.totals import AmountsAre, VatRounding
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
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
    Timestamp,
    Version,
)
from gatewayd.ledger.vat.sellers import CisRate
from gatewayd.ledger.vat.vat_rates import VatCode

QuoteState = Literal["draft", "sent", "accepted", "declined", "invoiced"]
QuoteStatus = Literal["draft", "sent", "accepted", "declined", "expired", "invoiced"]
Reason = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]


class CreateQuote(Request, frozen=True, kw_only=True):
    """What is offered to a client, at what price."""

    client_id: Id
    lines: SoldLines
    legal_entity_id: Id | None = None
    """Who sells. By default the only legal entity, or the organization where it has none."""
    business_id: Id | None = None
    """The business whose income it will be. By default that of the properties it names."""
    issue_date: Date | None = None
    """The date on the quote. By default today."""
    valid_until: Date | None = None
    """The last day on which the client may accept it. By default 30 days after the date on the quote."""
    currency: Currency | None = None
    """The currency of its amounts. By default the client's."""
    amounts_are: AmountsAre | None = None
    """What unit prices are: without VAT (`exclusive`, by default), with it (`inclusive`), or free of any (`no_vat`)."""
    vat_rounding: VatRounding | None = None
    """VAT is rounded on each `line` (by default), or for each code and rate: `total` half up, `total_down` down."""
    discount_amount: AmountText | None = None
    reference: Reference | None = None
    po_number: Reference | None = None
    notes: LongText | None = None
    terms: LongText | None = None
    property_id: Id | None = None
    external_id: ExternalId | None = None


class ListQuotes(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: QuoteStatus | None = None
    """The state to list."""
    client_id: Id | None = None
    """To whom the quotes are made out."""
    external_id: ExternalId | None = None


class GetQuote(Request, frozen=True, kw_only=True):
    """Which quote."""

    quote_id: Id
    """The `id` of the quote."""


class ChangeQuote(GetQuote, frozen=True, kw_only=True):
    """Which quote to change."""

    expected_version: Version | None = None


class AcceptQuote(ChangeQuote, frozen=True, kw_only=True):
    """Which quote was accepted, and when."""

    accepted_date: Date | None = None
    """The day on which the client accepted. By default today."""


class DeclineQuote(ChangeQuote, frozen=True, kw_only=True):
    """Which quote was declined, and why."""

    decline_reason: Reason | None = None


class InvoiceQuote(ChangeQuote, frozen=True, kw_only=True):
    """How much of a quote is invoiced: a part by `percent` or `amount`, or all that is left of it."""

    percent: DecimalText | None = None
    """So much of the whole quote, with its VAT, is invoiced."""
    amount: AmountText | None = None
    """This amount is invoiced, VAT included, in the quote's currency."""
    status: Literal["draft", "issued"] = "draft"
    """Whether the invoice stays a draft, or is issued at once."""
    issue_date: Date | None = None
    """The date on the invoice. By default today."""
    payment_terms_days: TermsDays | None = None
    """Days from the issue date to the due date. By default those of the client."""
    supply_date: Date | None = None
    """The tax point. By default the issue date; of a deposit that was paid before it is the day of the payment."""


class DeletedQuote(Response, frozen=True, kw_only=True):
    """The draft that was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class QuoteLine(SoldLine, frozen=True, kw_only=True):
    """One line with its totals."""

    vat_code: VatCode
    """How VAT is charged: at a rate, at 0, not at all, or by a reverse charge, where the client accounts for it."""
    vat_rate_percent: DecimalText
    """Percent of VAT under `vatCode` on the day of the quote; of a reverse charge, what the client accounts for."""
    net: AmountText
    """What the line comes to after all discounts, without VAT."""
    vat: AmountText
    """The VAT that would be charged on the line; 0 under a reverse charge."""
    gross: AmountText
    """What would be to be paid for the line: `net` and `vat`."""


class Quote(Response, frozen=True, kw_only=True):
    """What is offered to a client. A number is allotted and the snapshots are frozen when it is issued."""

    id: Id
    external_id: str | None
    number: str | None
    """The number in the seller's sequence of quotes. Null: a draft, which gets one when it is issued."""
    status: QuoteStatus
    """`draft`: may still change. `sent`: numbered, and with the client. `accepted`, `declined`: by the client.
    `expired`: neither, and `validUntil` has passed. `invoiced`: all of it is invoiced."""
    client_id: Id
    """To whom it is made out."""
    legal_entity_id: str | None
    """Who sells. Null: the organization, in its own name."""
    business_id: str | None
    """The business whose income it will be. Null: as of an invoice that names none."""
    client_snapshot: ClientSnapshot | None
    """The client as it is printed, frozen when it is issued. Null: a draft."""
    seller_snapshot: SellerSnapshot | None
    """The seller as it is printed, frozen when it is issued. Null: a draft."""
    issue_date: DateText
    """The date on the quote, whose VAT rates it shows."""
    valid_until: DateText
    """The last day on which the client may accept it."""
    currency: str
    """The currency of its amounts."""
    amounts_are: AmountsAre
    """What unit prices are: without VAT (`exclusive`), with it (`inclusive`), or free of any (`no_vat`)."""
    vat_rounding: VatRounding
    """VAT is rounded on each `line`, or for each code and rate: `total` half up, `total_down` down."""
    net_total: Amount
    """What the lines come to after all discounts, without VAT."""
    vat_total: Amount
    """The VAT that would be charged."""
    gross_total: Amount
    """`netTotal` and `vatTotal`."""
    discount_amount: Amount
    """What is taken off all lines together, net or gross as `amountsAre` says; 0 where nothing is."""
    discount_total: Amount
    """All discounts, those of lines and `discountAmount`, net or gross as `amountsAre` says."""
    reverse_charge_vat: Amount
    """VAT that the client would account for; it is in no other total."""
    vat_summary: list[VatSummary]
    """Net and VAT of each VAT code and rate."""
    cis_deduction: Amount
    """What a contractor would withhold for the Construction Industry Scheme."""
    cis_rate: CisRate | None
    """Percent that would be withheld of labour. Null: nothing is."""
    invoiced_total: Amount
    """What its issued invoices come to with VAT, less their credit notes. `accounting.listInvoices` has them by
    `quoteId`."""
    reference: str | None
    """Your reference, such as a project. Null: none."""
    po_number: str | None
    """Number of the client's purchase order. Null: none."""
    notes: str | None
    """A text to the client. Null: none."""
    terms: str | None
    """Terms of payment, as a text to the client. Null: none."""
    property_id: str | None
    """The property that lines which name none are income of. Null: none."""
    lines: list[QuoteLine]
    """What is offered."""
    sent_at: Timestamp | None
    """When it was issued. Null: it was not."""
    viewed_at: Timestamp | None
    """When the client first opened its link. Null: never."""
    answered_by: str | None
    """Who accepted or declined it on the page of its link, as they named themselves. Null: nobody did so there."""
    accepted_date: DateText | None
    """The day on which the client accepted it. Null: the client has not."""
    declined_at: Timestamp | None
    """When it was said that the client declined it. Null: it was not."""
    decline_reason: str | None
    """Why the client declined it. Null: nobody said."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


@updates(CreateQuote, of=Quote)
class UpdateQuote(Request, frozen=True, kw_only=True):
    """The fields of a draft to change; of a quote that is sent, `validUntil` alone. An absent field stays, and `lines`
    take the place of all lines.
    """

    quote_id: Id
    """The `id` of the quote."""
    expected_version: Version | None = None


class StoredQuote(Quote, frozen=True, kw_only=True):
    """A quote as it is stored.

    `seller_key` is the legal entity, or the organization that sells in its own name. `asked` are the lines as they were
    asked for.
    """

    state: QuoteState
    seller_key: str
    asked: list[SoldLine]
