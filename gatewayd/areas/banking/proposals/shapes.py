"""Requests and responses of proposals."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Response
from gatewayd.ledger.allocating.allocation_shapes import Direction
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.vat.vat_rates import AllocationVatCode

ProposalKind = Literal["rule", "history", "split", "invoice", "rent", "transfer"]
Score = Annotated[int, Meta(ge=0, le=100, description="How sure it is, of 100.")]


class ListProposals(PageRequest, frozen=True, kw_only=True):
    """Which bank transactions: one, or those of an account of which something is unallocated, latest first."""

    account_id: Id | None = None
    bank_transaction_id: Id | None = None


class ProposedAllocation(Response, frozen=True, kw_only=True):
    """What `banking.allocate` would be given as a part."""

    category: Category
    purpose: Purpose | None
    business_id: str | None
    vat_code: AllocationVatCode | None
    vat_amount: Amount
    disallowable_amount: Amount | None
    property_id: str | None
    unit_id: str | None
    tenancy_id: str | None
    mortgage_id: str | None


class ProposedPart(ProposedAllocation, frozen=True, kw_only=True):
    """One of several parts of a bank transaction."""

    direction: Direction
    amount: Amount


class Proposal(Response, frozen=True, kw_only=True):
    """What a bank transaction probably is, and why.

    `allocation` or several `parts` are for `banking.allocate`, `invoiceId` for `accounting.recordPayment`,
    `counterpartId` for `banking.matchTransfer`: one of the four is there, and `amount` is how much of the bank
    transaction it takes. Where the other end of a transfer is in another currency, `impliedRate` is how much of it one
    of this currency would be: whether that is likely is for people to say.
    """

    kind: ProposalKind
    score: Score
    reason: str
    amount: Amount
    currency: str
    rule_id: str | None
    allocation: ProposedAllocation | None
    parts: list[ProposedPart] | None
    invoice_id: str | None
    counterpart_id: str | None
    counterpart_amount: Amount | None
    counterpart_currency: str | None
    implied_rate: CanonicalDecimal | None


class ProposedFor(Response, frozen=True, kw_only=True):
    """A bank transaction with what it probably is, the surest first; none: nothing is known.

    `matchKey` is who it is with: transactions that share it are told apart by no more than numbers and days.
    """

    bank_transaction_id: Id
    account_id: Id
    date: DateText
    description: str
    match_key: str
    unallocated_amount: Amount
    currency: str
    proposals: list[Proposal]
