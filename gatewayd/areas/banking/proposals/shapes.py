"""Requests and responses of proposals."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Response
from gatewayd.ledger.allocating.allocation_shapes import Direction
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.vat.vat_rates import AllocationVatCode

ProposalKind = Literal["rule", "history", "split", "invoice", "bill", "rent", "transfer"]
Score = Annotated[int, Meta(ge=0, le=100, description="How sure it is, of 100.")]


class ListProposals(PageRequest, frozen=True, kw_only=True):
    """Which bank transactions: one, or those of an account of which something is unallocated, latest first."""

    account_id: Id | None = None
    """The account whose transactions are looked at, latest first. Give this or `bankTransactionId`."""
    bank_transaction_id: Id | None = None
    """The one bank transaction to look at. Give this or `accountId`."""


class ProposedAllocation(Response, frozen=True, kw_only=True):
    """What `banking.allocate` would be given as a part."""

    category: Category
    """A line of the business's profit and loss account; `not_pnl`: neither income nor an expense."""
    purpose: Purpose | None
    """What `not_pnl` money would be. Null: it is income or an expense."""
    business_id: str | None
    """Whose income or expense it would be. Null: it is `not_pnl` and of no business."""
    vat_code: AllocationVatCode | None
    """What VAT is in the amount. Null: `vatAmount` is all that is known."""
    vat_amount: Amount
    """The VAT in the amount, of the transaction's currency."""
    disallowable_amount: Amount | None
    """The part of the amount that tax would not allow. Null: as it is for the category by default."""
    property_id: str | None
    """The property that it would be for. Null: none."""
    unit_id: str | None
    """The unit that it would be for. Null: none."""
    tenancy_id: str | None
    """The tenancy that it would be for. Null: none."""
    mortgage_id: str | None
    """The mortgage whose payment, interest or capital it would be. Null: none."""


class ProposedPart(ProposedAllocation, frozen=True, kw_only=True):
    """One of several parts of a bank transaction."""

    direction: Direction
    """Which way the money of this part goes."""
    amount: Amount
    """How much of the bank transaction it would be, above zero, of its currency."""


class Proposal(Response, frozen=True, kw_only=True):
    """What a bank transaction probably is, and why.

    One of `allocation`, `parts`, `invoiceId`, `billId` and `counterpartId` is there, and tells which operation would
    take it.
    """

    kind: ProposalKind
    """What it follows from: a `rule`; what people chose for such lines before (`history`), or how they `split` them; an
    open `invoice` or `bill`; the `rent` of a tenancy; the other end of a `transfer`."""
    score: Score
    reason: str
    """Why it is proposed, for people."""
    amount: Amount
    """How much of the bank transaction it takes, above zero."""
    currency: str
    """The currency of the bank transaction."""
    rule_id: str | None
    """The rule that proposes it. Null: no rule does."""
    allocation: ProposedAllocation | None
    """What `banking.allocate` would take as its one part. Null: it is another kind of proposal."""
    parts: list[ProposedPart] | None
    """What `banking.allocate` would take as its parts. Null: it is another kind of proposal."""
    invoice_id: str | None
    """The invoice that it would pay, for `accounting.recordPayment`. Null: it is another kind of proposal."""
    bill_id: str | None
    """The bill that it would pay, for `accounting.recordBillPayment`. Null: it is another kind of proposal."""
    counterpart_id: str | None
    """The bank transaction at the other end, for `banking.matchTransfer`. Null: it is another kind of proposal."""
    counterpart_amount: Amount | None
    """What is left of the other end, above zero, where it is in another currency. Null: it is not."""
    counterpart_currency: str | None
    """The currency of `counterpartAmount`; null with it."""
    implied_rate: CanonicalDecimal | None
    """How much of `counterpartCurrency` one of `currency` would be, to six significant digits: whether that is likely
    is for people to say. Null: both are in one currency."""


class ProposedFor(Response, frozen=True, kw_only=True):
    """A bank transaction with what it probably is."""

    bank_transaction_id: Id
    """The bank transaction."""
    account_id: Id
    """The bank account that it is on."""
    date: DateText
    """The day of the money."""
    description: str
    """What the bank wrote."""
    match_key: str
    """Who it is with: transactions that share it are told apart by no more than numbers and days. Empty: nothing
    tells."""
    unallocated_amount: Amount
    """What is left of it, positive for money in and negative for money out."""
    currency: str
    """The currency of the bank account."""
    proposals: list[Proposal]
    """What it probably is, the surest first, at most five. Empty: nothing is known."""
