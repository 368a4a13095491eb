"""What bills look like (domain model B5): requests, answers, and the row where it differs."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

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
    Name,
    Part,
    Request,
    Response,
    Timestamp,
    Version,
)
from gatewayd.ledger.allocating.categories import Category
from gatewayd.ledger.vat.vat_rates import AllocationVatCode

BillKind = Literal["bill", "expense_claim", "credit_note"]
BillStatus = Literal["draft", "awaiting_payment", "part_paid", "paid", "void"]
BillStatusFilter = Literal["draft", "awaiting_payment", "part_paid", "paid", "void", "overdue"]
BillAmountsAre = Literal["exclusive", "inclusive"]
TakenRateSource = Literal["recorded", "hmrc"]
BillNumber = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\S", examples=["SI-20417"])]
Percent = Annotated[DecimalText, Meta(description="A percentage.", examples=["25"])]
Method = Annotated[str, Meta(min_length=1, max_length=64, examples=["bank_transfer"])]
Reference = Annotated[str, Meta(max_length=128)]
DocumentIds = Annotated[list[Id], Meta(max_length=20)]


class BillLineRequest(Part, frozen=True, kw_only=True):
    """One line of a bill, as the supplier printed it."""

    description: Annotated[str, Meta(min_length=1, max_length=2000)]
    """What was bought."""
    amount: AmountText
    """What the line comes to, net or gross as `amountsAre` says. Below 0 takes off, as a discount does."""
    category: Category
    """The expense line of the business; `not_pnl`: something that is no expense, such as equipment."""
    vat_code: AllocationVatCode | None = None
    """What VAT is in it, at the rate of the tax point. By default `vatAmount` is all that is known."""
    vat_amount: AmountText | None = None
    """The VAT as it is printed, which may be off by how the supplier rounds. By default what `vatCode` says, else
    none."""
    disallowable_percent: Percent | None = None
    """How much of it tax does not allow, in percent. By default as it is for the category."""
    capital_goods: bool = False
    """Whether it is goods to be used for years, whose VAT is outside a flat rate."""
    property_id: Id | None = None
    """The property that it is for; it follows from a unit or a tenancy. By default none."""
    unit_id: Id | None = None
    """The unit that it is for; it follows from a tenancy. By default none."""
    tenancy_id: Id | None = None
    """The tenancy that it is for. By default none."""


BillLineRequests = Annotated[list[BillLineRequest], Meta(min_length=1, max_length=200)]


class CreateBill(Request, frozen=True, kw_only=True):
    """What a supplier charges, what somebody paid for the business, or what a supplier takes back."""

    bill_date: Date
    lines: BillLineRequests
    kind: BillKind = "bill"
    supplier_id: Id | None = None
    """Who charges it: a client, as all whom the organization deals with are. A bill needs it; a credit
    note has that of its bill."""
    claimant: Name | None = None
    """Who paid out of their own pocket and is owed it. An expense claim needs it; nothing else has it."""
    number: BillNumber | None = None
    credits_bill_id: Id | None = None
    """The bill that a credit note takes back, whole or in part; it needs it."""
    business_id: Id | None = None
    """The business whose expense it is. By default that of the property of its lines, else the only one there is."""
    tax_point: Date | None = None
    """By default `billDate`."""
    due_date: Date | None = None
    """By default as many days after `billDate` as the supplier's `paymentTermsDays` says; of an expense claim and a
    credit note that day itself."""
    currency: Currency | None = None
    """The currency of its amounts. By default that of the business, and of a credit note that of its bill."""
    fx_rate: DecimalText | None = None
    """Units of the business's currency for one of the bill's. By default the rate that is known of the tax point; a
    credit note has that of its bill."""
    amounts_are: BillAmountsAre = "exclusive"
    notes: Annotated[str, Meta(max_length=4000)] | None = None
    document_ids: DocumentIds = msgspec.field(default_factory=list)
    status: Literal["draft", "awaiting_payment"] = "awaiting_payment"
    """Whether it is a draft, which counts nowhere, or is owed."""
    external_id: ExternalId | None = None
    allow_duplicate: bool = False
    """Whether it is stored although the supplier has a bill of the same number, or of the same date and total.
    Otherwise that is refused."""


@updates(
    CreateBill,
    of=CreateBill,
    without=("kind", "credits_bill_id"),
)
class UpdateBill(Request, frozen=True, kw_only=True):
    """The fields to change of a bill of which nothing is paid or credited. An absent field stays; null is what leaving
    it out is for a new one.

    `lines` take the place of all lines.
    """

    bill_id: Id
    """The bill to change."""
    expected_version: Version | None = None
    status: Literal["awaiting_payment"] | UnsetType = UNSET
    """A draft becomes one that is owed."""
    allow_duplicate: bool = False


class GetBill(Request, frozen=True, kw_only=True):
    """Which bill."""

    bill_id: Id
    """The `id` of the bill."""


class ChangeBill(GetBill, frozen=True, kw_only=True):
    """Which bill to change."""

    expected_version: Version | None = None


class VoidBill(ChangeBill, frozen=True, kw_only=True):
    """Which bill is void, and why."""

    reason: Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
    """Why it is void; kept as `voidReason`."""


class RecordBillPayment(ChangeBill, frozen=True, kw_only=True):
    """Money paid on a bill; where more was paid than is due, money that came back."""

    amount: AmountText | None = None
    """How much of the bill was paid, or came back, in its currency and above 0. By default all that is due, and of a
    bank transaction no more than is left of it; needed where that is in the business's currency and the bill is not."""
    date: Date | None = None
    """The day on which the money went. By default today; with a bank transaction it is always that one's."""
    method: Method | None = None
    """How it was paid, in your own words. By default nothing is said."""
    reference: Reference | None = None
    """What identifies the payment. By default nothing."""
    bank_transaction_id: Id | None = None
    """A booked bank transaction that paid it. The payment becomes a part of it, allocated to the bill."""
    fx_rate: DecimalText | None = None
    """Units of the business's currency for one of the bill's, where these differ. By default what a bank transaction in
    the business's currency was for `amount`, else the rate that is known of the day."""


class RemoveBillPayment(ChangeBill, frozen=True, kw_only=True):
    """Which payment to take back."""

    position: Annotated[int, Meta(ge=1, le=1_000_000)]
    """The `position` of the payment."""


class PaidBill(Part, frozen=True, kw_only=True):
    """One of the bills that a payment pays."""

    bill_id: Id
    """The bill."""
    amount: AmountText | None = None
    """How much of it. By default all that is due."""


class PayBills(Request, frozen=True, kw_only=True):
    """One payment of several bills."""

    bills: Annotated[list[PaidBill], Meta(min_length=1, max_length=100)]
    """What it pays, each bill once."""
    bank_transaction_id: Id | None = None
    """A booked bank transaction that paid them, in the currency of the bills. By default none is named."""
    date: Date | None = None
    """The day on which the money went. By default today; with a bank transaction it is always that one's."""
    method: Method | None = None
    """How it was paid, in your own words. By default nothing is said."""
    reference: Reference | None = None
    """What identifies the payment. By default nothing."""


class AcceptBill(Request, frozen=True, kw_only=True):
    """Which document's bill to enter, and what of it is otherwise than was read."""

    document_id: Id
    """The document that proposes it, and which the bill has from then on."""
    category: Category | None = None
    """The expense line of the one line that comes to the total and VAT that were read. Needed, but for where `lines`
    are given."""
    vat_code: AllocationVatCode | None = None
    """What VAT is in that total, beside the amount that was read. By default that amount is all that is known."""
    lines: BillLineRequests | None = None
    """What was bought, in place of that one line; amounts are gross. By default one line of the total that was read."""
    supplier_id: Id | None = None
    """Who charges it. By default the client who is proposed; needed where none is."""
    claimant: Name | None = None
    """Who paid out of their own pocket: then it is an expense claim. By default it is a bill."""
    number: BillNumber | None = None
    """The number that the supplier gave it. By default as it was read."""
    business_id: Id | None = None
    """The business whose expense it is. By default that of the property of its lines, else the only one there is."""
    bill_date: Date | None = None
    """The date on the document. By default as it was read; needed where it was not."""
    tax_point: Date | None = None
    """The day whose rates of VAT hold, and on which it counts on accruals. By default `billDate`."""
    due_date: Date | None = None
    """The last day to pay. By default as it was read, else it follows as of any bill."""
    currency: Currency | None = None
    """The currency of its amounts. By default as it was read, else GBP."""
    allow_duplicate: bool = False
    """Whether it is stored although the supplier has a bill of the same number, or of the same date and total."""


class ListBills(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: BillStatusFilter | None = None
    """The state to list. `overdue`: money is still due after its due date, in whichever state."""
    kind: BillKind | None = None
    """Only those of this kind."""
    supplier_id: Id | None = None
    """Only those of this supplier."""
    business_id: Id | None = None
    """Only those of this business."""
    legal_entity_id: Id | None = None
    """Only those of this legal entity."""
    credits_bill_id: Id | None = None
    """Only credit notes of this bill."""
    bill_date_from: Date | None = None
    """The earliest date of the bills."""
    bill_date_to: Date | None = None
    """The latest date of the bills, inclusive."""
    due_date_from: Date | None = None
    """The earliest due date."""
    due_date_to: Date | None = None
    """The latest due date, inclusive."""
    currency: Currency | None = None
    """Only those in this currency."""
    external_id: ExternalId | None = None


class BillLine(Response, frozen=True, kw_only=True):
    """One line of a bill, with its VAT."""

    position: int
    """Place of the line on the bill, from 1."""
    description: str
    """What was bought."""
    category: Category
    """The expense line of the business; `not_pnl`: no expense, such as equipment."""
    vat_code: AllocationVatCode | None
    """What VAT is in it. Null: nobody said, and `vat` is all that is known."""
    net: Amount
    """What it comes to without VAT. Below 0: it takes off."""
    vat: Amount
    """The VAT that the supplier charges on it."""
    gross: Amount
    """`net` and `vat`."""
    accounted_vat: Amount
    """The VAT that the buyer accounts for: under a reverse charge, on imports and on goods from the EU in Northern
    Ireland. It is in no total."""
    disallowable: Amount
    """What of `gross` tax does not allow."""
    disallowable_percent: DecimalText | None
    """What was said of `disallowable`, in percent. Null: it is as it is for the category."""
    capital_goods: bool
    """Whether it is goods to be used for years, whose VAT is outside a flat rate."""
    property_id: str | None
    """The property that it is for. Null: none."""
    unit_id: str | None
    """The unit that it is for. Null: the whole property, or none."""
    tenancy_id: str | None
    """The tenancy that it is for. Null: none."""


class BillPayment(Response, frozen=True, kw_only=True):
    """Money that was paid on a bill, or came back."""

    position: int
    """Tells the payments of a bill apart, from 1; they keep it when another is taken back."""
    date: DateText
    """The day of the money."""
    amount: Amount
    """How much of the bill was paid, in its currency. Below 0: so much came back."""
    bank_transaction_id: str | None
    """The bank transaction that it is a part of. Null: none is named."""
    method: str | None
    """How it was paid, in the words of whoever entered it. Null: nobody said."""
    reference: str | None
    """What identifies the payment. Null: nobody said."""
    fx_rate: DecimalText | None
    """Units of the business's currency for one of the bill's. Null: they are the same."""
    fx_rate_source: TakenRateSource | None
    """Where a rate that nobody gave was taken from: one that was `recorded` here, or HMRC's of the month. Null: none
    was taken."""


class BillWarning(Response, frozen=True, kw_only=True):
    """What is not as it should be, or was supposed."""

    path: str
    """The field that it is about, dotted from the root of the answer."""
    code: Literal[
        "bill_after_tax_point", "capital_goods_small", "capital_goods_unmarked", "fx_rate_taken", "vat_differs"
    ]
    """`bill_after_tax_point`: its VAT can be reclaimed of the day on which the bill was there. `capital_goods_…`: under
    a flat rate VAT is reclaimed of capital goods of 2,000 or more alone. `fx_rate_taken`: nobody gave a rate.
    `vat_differs`: the VAT that is printed is not what the code says."""
    message: str
    """The same in words."""


class StoredBill(Response, frozen=True, kw_only=True):
    """A bill as it is stored, without its lines and payments."""

    id: Id
    external_id: str | None
    kind: BillKind
    """`bill`: a supplier is owed. `expense_claim`: somebody who paid out of their own pocket is. `credit_note`: takes
    back a bill or a part of it; its amounts are positive."""
    status: BillStatus
    """`draft`: counts nowhere. `awaiting_payment`: owed. `part_paid`, `paid`: by payments and credit notes; a credit
    note is `paid`, for it is set against its bill at once. `void`: withdrawn, and counts nowhere."""
    supplier_id: str | None
    """Who charges it. Null: an expense claim that names no supplier."""
    claimant: str | None
    """Who paid out of their own pocket. Null: it is no expense claim."""
    number: str | None
    """The number that the supplier gave it. Null: none."""
    legal_entity_id: Id
    """Who owes it: the legal entity of the business."""
    business_id: Id
    """The business whose expense it is."""
    credits_bill_id: str | None
    """The bill that a credit note takes back. Null: it is no credit note."""
    bill_date: DateText
    """The date on the document."""
    tax_point: DateText
    """VAT rates are those of this day, and on accruals it counts on it."""
    due_date: DateText
    """The last day to pay; what is due after it is overdue."""
    currency: str
    """The currency of its amounts."""
    fx_rate: DecimalText | None
    """Units of the business's currency for one of `currency`. Null: they are the same."""
    fx_rate_source: TakenRateSource | None
    """Where a rate that nobody gave was taken from: one that was `recorded` here, or HMRC's of the month. Null: none
    was taken."""
    fx_rate_date: DateText | None
    """Of which day the rate that was taken is. Null: none was taken."""
    amounts_are: BillAmountsAre
    """What amounts of lines are in requests: without VAT (`exclusive`) or with it (`inclusive`)."""
    net_total: Amount
    """What the lines come to without VAT."""
    vat_total: Amount
    """The VAT that the supplier charges."""
    gross_total: Amount
    """What is to be paid: `netTotal` and `vatTotal`."""
    paid_total: Amount
    """What was paid, less what came back."""
    credited_total: Amount
    """What credit notes took back."""
    balance_due: Amount
    """What is still to be paid; below 0, what the supplier has to pay back. 0 of a credit note, and of what is void."""
    notes: str | None
    """Notes for whoever keeps the books. Null: none."""
    document_ids: list[Id]
    """The documents of the vault that prove it."""
    paid_date: DateText | None
    """The day since which nothing is due. Null: something is."""
    voided_at: Timestamp | None
    """When it was voided. Null: it was not."""
    void_reason: str | None
    """Why it is void. Null: it is not."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Bill(StoredBill, frozen=True, kw_only=True):
    """What a supplier is owed, or somebody who paid out of their own pocket."""

    is_overdue: bool
    """Whether money is still due after its due date."""
    lines: list[BillLine]
    """What was bought."""
    payments: list[BillPayment]
    """What was paid, in the order in which it was entered."""
    warnings: list[BillWarning] | UnsetType = UNSET
    """What to look at, in the answer to what entered or changed it. Absent: nothing."""


class PaidBills(Response, frozen=True, kw_only=True):
    """The bills that one payment paid."""

    bills: list[Bill]
    """Each as it is now, in the order of the request."""


class DeletedBill(Response, frozen=True, kw_only=True):
    """The draft that was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class BillRow(StoredBill, frozen=True, kw_only=True):
    """A bill as it is stored. `base_currency` is that of its business."""

    base_currency: str
