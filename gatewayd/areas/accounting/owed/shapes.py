"""What payments and refunds of clients, and their credit, look like (domain model B5)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.accounting.invoices.shapes import Reference
from gatewayd.contract.pages import SyncRequest
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

ClientPaymentKind = Literal["payment", "refund", "credit"]
Method = Annotated[str, Meta(min_length=1, max_length=64, examples=["bank_transfer"])]
MOST_INVOICES = 100  # Chosen: of one payment; a bank transaction has at most 200 parts


class InvoiceShare(Request, frozen=True, kw_only=True):
    """How much is for one invoice."""

    invoice_id: Id
    """An invoice of the client on which money is due, or that was written off."""
    amount: AmountText | None = None
    """How much is for it. By default all that is due on it, as far as the money goes."""


InvoiceShares = Annotated[list[InvoiceShare], Meta(max_length=MOST_INVOICES)]


class _Movement(Request, frozen=True, kw_only=True):
    """What payments, refunds and credit of a client have in common."""

    client_id: Id
    """Whose money it is."""
    legal_entity_id: Id | None = None
    """Who sold. By default that of the bank transaction's account, else the only legal entity, or the organization
    where it has none."""
    currency: Currency | None = None
    """The currency of the invoices. By default the client's."""
    date: Date | None = None
    """The day on which it counts. By default today; with a bank transaction it is always that one's."""
    reference: Reference | None = None
    """What identifies it, such as the payer's reference."""
    external_id: ExternalId | None = None


class RecordClientPayment(_Movement, frozen=True, kw_only=True):
    """Money that a client paid."""

    amount: AmountText | None = None
    """How much was paid, in the currency of the invoices. By default all that is left of the bank transaction; needed
    where there is none, or where it is in the seller's currency and the invoices are not."""
    invoices: InvoiceShares | None = None
    """Which invoices it is for. By default those on which money is due, by the oldest tax point first; an empty list
    leaves all of it on account."""
    method: Method | None = None
    """How it was paid, in your own words."""
    bank_transaction_id: Id | None = None
    """A booked bank transaction that brought the money. What is for each invoice, and what is over, become parts of
    it."""
    fx_rate: DecimalText | None = None
    """Units of the seller's currency for one of the invoices', where these differ. By default what a bank transaction
    in the seller's currency brought for `amount`, else the rate that is known of the day."""


class ApplyCredit(_Movement, frozen=True, kw_only=True):
    """Which credit to set against which invoices of the same client."""

    amount: AmountText | None = None
    """How much is set against invoices. By default all of the credit, or all that is due where that is less."""
    invoices: InvoiceShares | None = None
    """Which invoices it is set against. By default those on which money is due, by the oldest tax point first."""
    fx_rate: DecimalText | None = None
    """Units of the seller's currency for one of the invoices', where these differ. By default the rate that is known of
    the day."""


class RefundClient(_Movement, frozen=True, kw_only=True):
    """Money that goes back to a client."""

    amount: AmountText | None = None
    """How much goes back. By default all of the credit, and of a bank transaction in its currency no more than is left
    of that."""
    method: Method | None = None
    """How it was paid back, in your own words."""
    bank_transaction_id: Id | None = None
    """A booked bank transaction with which the money went out. The refund becomes a part of it."""


class GetClientPayment(Request, frozen=True, kw_only=True):
    """Which payment, refund or credit."""

    client_payment_id: Id
    """The `id` of the payment, refund or credit."""


class RemoveClientPayment(GetClientPayment, frozen=True, kw_only=True):
    """Which payment, refund or credit to take back."""

    expected_version: Version | None = None


class RemovedClientPayment(Response, frozen=True, kw_only=True):
    """What was taken back."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class ListClientPayments(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    client_id: Id | None = None
    """Whose money it is."""
    legal_entity_id: Id | None = None
    """Who sold."""
    kind: ClientPaymentKind | None = None
    """Only payments, only refunds, or only credit that was set against invoices."""
    bank_transaction_id: Id | None = None
    """Only what is a part of this bank transaction."""
    currency: Currency | None = None
    """The currency that it is in."""
    from_date: Date | None = None
    """The earliest day on which it counts."""
    to_date: Date | None = None
    """The latest day on which it counts, inclusive."""
    external_id: ExternalId | None = None


class ClientPaymentPart(Response, frozen=True, kw_only=True):
    """What of it is for one invoice."""

    invoice_id: Id
    """The invoice."""
    position: int
    """The `position` of it among the `payments` of the invoice."""
    amount: Amount
    """How much of the invoice is paid by it. Below 0: so much that was paid too much on it went back, or to another."""


class ClientPaymentWarning(Response, frozen=True, kw_only=True):
    """What to look at, where it was done all the same."""

    code: Literal["on_account"]
    """`on_account`: more was paid than invoices were due, and the rest is credit of the client."""
    message: str
    """The same in words."""


class ClientPayment(Response, frozen=True, kw_only=True):
    """Money that came from a client or went back, or credit that was set against invoices."""

    id: Id
    external_id: str | None
    kind: ClientPaymentKind
    """`payment`: money came. `refund`: money went back. `credit`: no money moved, and what was paid too much, or is on
    account, was set against invoices."""
    client_id: Id
    """Whose money it is."""
    legal_entity_id: str | None
    """Who sold. Null: the organization, in its own name."""
    date: DateText
    """The day on which it counts."""
    currency: str
    """The currency of its amounts."""
    amount: Amount
    """How much was paid, went back, or was set against invoices; always above 0."""
    on_account: Amount
    """What the client's credit on account grew by, being for no invoice. Below 0: so much of it was used."""
    bank_transaction_id: str | None
    """The bank transaction that it is a part of. Null: none is named."""
    method: str | None
    """How it was paid, in the words of whoever entered it. Null: nobody said."""
    reference: str | None
    """What identifies it. Null: nobody said."""
    invoices: list[ClientPaymentPart]
    """What of it is for which invoice. With `onAccount` that is `amount` of a payment, less it of a refund, and 0 of
    credit."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int
    warnings: list[ClientPaymentWarning] | UnsetType = UNSET
    """What to look at, in the answer to what recorded it. Absent: nothing."""
