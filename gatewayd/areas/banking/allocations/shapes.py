"""Requests and responses of allocations (Domain B4 LinkedTransaction, C1, C2)."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncPage, SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Currency,
    Date,
    DecimalText,
    ExternalId,
    Id,
    Part,
    Request,
    Response,
    Version,
)
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction, MatchedBy
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.vat.vat_rates import AllocationVatCode

LINES_MAX: Final = 100  # Chosen: one transaction of the store; each line takes the time of several rows

Description = Annotated[str, Meta(max_length=500)]
DocumentIds = Annotated[list[Id], Meta(max_length=20)]
VatAmount = Annotated[AmountText, Meta(description="The VAT in `amount`, at most what its standard rate gives.")]
Disallowable = Annotated[AmountText, Meta(description="The part of `amount` that tax doesn't allow.")]
FxRate = Annotated[DecimalText, Meta(description="Units of the business's currency for one of the money's.")]


class _NamedPart(Part, frozen=True, kw_only=True):
    """What a part is for, whether it has an amount of its own or is a share."""

    category: Category
    """A line of the business's profit and loss account, or `not_pnl` with a `purpose`."""
    purpose: Purpose | None = None
    """What `not_pnl` money is; null for income and expenses. A `loan_payment` of a `mortgageId` is split into interest,
    as it is computed, and `loan_capital`: it takes the oldest instalment that is not met. What is more than was due is
    a part of its own, and told in `warnings`."""
    business_id: Id | None = None
    """Whose income or expense it is. By default the property's business, else, unless it is `not_pnl`, the only one
    that the account names."""
    direction: Direction | None = None
    """Which way the money went, by default that of the bank transaction. An expense that is `in` is money back."""
    vat_code: AllocationVatCode | None = None
    """What VAT is in the amount, at the rate of the day of the bill, else of the money. Reverse charges, postponed
    import VAT and acquisitions hold none: it is accounted for in the VAT return. Null: nobody says."""
    allowable: bool | None = None
    """False: tax allows nothing of it; true: all of it. By default it does not allow entertainment, depreciation, and
    of a mortgage's interest the part that is not for business."""
    property_id: Id | None = None
    """The property that it is for; it follows from a unit, a tenancy or a mortgage."""
    unit_id: Id | None = None
    """The unit that it is for; it follows from a tenancy. By default the whole property."""
    tenancy_id: Id | None = None
    """The tenancy that it is for, such as the one whose rent it pays."""
    mortgage_id: Id | None = None
    """The mortgage whose payment, interest or capital it is."""
    description: Description | None = None
    """What it was, for people; by default as the bank transaction has it."""


class AllocationPart(_NamedPart, frozen=True, kw_only=True):
    """What one part of a bank transaction is for."""

    external_id: ExternalId | None = None
    """Your own identifier, unique among allocations; of a payment of a mortgage that is split, the first part has
    it."""
    amount: AmountText | None = None
    """Gross, VAT included, above zero; by default what is left of the bank transaction."""
    vat_amount: VatAmount | None = None
    """The VAT in `amount`. By default what `vatCode` gives, from which a bill may differ by a penny, and one more for
    each pound of VAT; at most what the standard rate gives."""
    capital_goods: bool = False
    """True: goods to be used for years, bought in one purchase of 2,000 or more with its VAT, or sold again. Their VAT
    is outside a flat rate."""
    disallowable_amount: Disallowable | None = None
    document_date: Date | None = None
    """The day of the bill or receipt, whose rate of VAT holds. By default the day of the money."""
    fx_rate: FxRate | None = None
    document_ids: DocumentIds | None = None
    """Documents of the vault that prove it, beside those of the bank transaction."""


class Allocate(Request, frozen=True, kw_only=True):
    """What a bank transaction is for, in one part or several, or entries of money that no bank shows."""

    bank_transaction_id: Id | None = None
    """The bank transaction. Null: each part is money that no bank shows, such as cash, and needs a business, a
    direction, an amount and a description."""
    parts: Annotated[list[AllocationPart], Meta(max_length=100)]
    """What it is for; all parts are looked at together. None, with `replace`: all that is allocated is taken back."""
    replace: bool = False
    """True: in the place of what is allocated; false: beside it."""
    date: Date | None = None
    """The day of money that no bank shows, by default today; not with `bankTransactionId`."""
    currency: Currency | None = None
    """The currency of money that no bank shows, by default that of the first part's business; not with
    `bankTransactionId`."""


class AllocationWarning(Response, frozen=True, kw_only=True):
    """What an allocation leaves open."""

    code: str
    """A payment of a mortgage is more than was due, and the rest was taken for capital (`loan_overpaid`) or is `other`
    until somebody says what it was (`loan_payment_over`). On the flat rate of VAT: a purchase of 2,000 or more may be
    capital goods (`capital_goods_unmarked`), or marked ones come to less (`capital_goods_small`)."""
    message: str
    """What is open, and what would settle it, for people."""
    allocation_id: Id
    """The allocation that it is about."""


class Allocated(Response, frozen=True, kw_only=True):
    """All allocations of a bank transaction and what is left of it, or entries of money that no bank shows."""

    bank_transaction_id: str | None
    """The bank transaction. Null: they are entries of money that no bank shows."""
    currency: str
    """The currency of the amounts."""
    unallocated_amount: Amount | None
    """What is left of the bank transaction, signed as its `amount`. Null: no bank transaction stands behind them."""
    allocations: list[Allocation]
    """All allocations of the bank transaction, oldest first; of entries without one, those that were made."""
    warnings: list[AllocationWarning]
    """What the allocations leave open."""


class GetAllocation(Request, frozen=True, kw_only=True):
    """Which allocation."""

    allocation_id: Id
    """Which allocation."""


@updates(AllocationPart, of=Allocation)
class UpdateAllocation(Request, frozen=True, kw_only=True):
    """The fields to change. `date` is for what no bank transaction stands behind.

    Where a `vatCode` is there, another code, amount or date gives `vatAmount` anew, unless the request says it.
    """

    allocation_id: Id
    """The allocation to change."""
    expected_version: Version | None = None
    purpose: Purpose | UnsetType | None = UNSET
    vat_amount: VatAmount | UnsetType = UNSET
    disallowable_amount: Disallowable | UnsetType = UNSET
    allowable: bool | UnsetType = UNSET
    date: Date | UnsetType = UNSET


class RemoveAllocation(Request, frozen=True, kw_only=True):
    """Which allocation to take back."""

    allocation_id: Id
    """Which allocation to take back; of a transfer the other half goes with it."""
    expected_version: Version | None = None


class RemovedAllocation(Response, frozen=True, kw_only=True):
    """What was taken back."""

    id: Id
    deleted: Literal[True]
    """Always true."""
    removed_ids: list[Id]
    """All that is gone: of a transfer both halves."""


class ListAllocations(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    external_id: ExternalId | None = None
    bank_transaction_id: Id | None = None
    """Only parts of this bank transaction."""
    invoice_id: Id | None = None
    """Only payments of this invoice."""
    bill_id: Id | None = None
    """Only payments of this bill."""
    business_id: Id | None = None
    """Only those of this business."""
    property_id: Id | None = None
    """Only those of this property."""
    tenancy_id: Id | None = None
    """Only those of this tenancy."""
    unit_id: Id | None = None
    """Only those of this unit."""
    mortgage_id: Id | None = None
    """Only payments of this mortgage."""
    rule_id: Id | None = None
    """Only what this rule decided, and nobody changed since."""
    category: Category | None = None
    """Only those of this category."""
    direction: Direction | None = None
    """Only money that went this way."""
    matched_by: MatchedBy | None = None
    """Only those that a person chose, or a rule."""
    from_date: Date | None = None
    """From this day of the money on."""
    to_date: Date | None = None
    """Up to this day of the money, included."""
    include_totals: bool = False
    """True: `totals` sum up all that the filters leave, on every page."""


class AllocationTotal(Response, frozen=True, kw_only=True):
    """What came in and went out in one currency."""

    currency: str
    """The currency of the sums."""
    count: int
    """How many allocations there are."""
    money_in: Amount
    """What came in, gross; rent that is written off is no money."""
    money_out: Amount
    """What went out, gross."""


class AllocationPage(SyncPage[Allocation], frozen=True, kw_only=True):
    """A page of allocations."""

    totals: list[AllocationTotal] | UnsetType = UNSET
    """The sums over all pages, one of each currency. Absent unless `includeTotals` asks for them."""


class MatchTransfer(Request, frozen=True, kw_only=True):
    """Two bank transactions, money out of one own account and into another."""

    bank_transaction_id: Id
    """The first of the two bank transactions."""
    counterpart_id: Id
    """The other one: on another of your accounts, its money going the other way."""
    external_id: ExternalId | None = None
    """Your own identifier of the half of the first transaction."""
    counterpart_external_id: ExternalId | None = None
    """Your own identifier of the half of the other transaction."""
    amount: AmountText | None = None
    """How much of the first transaction it is, above zero. By default what is left of it; in one currency the smaller
    of what is left of both."""
    counterpart_amount: AmountText | None = None
    """How much of the other transaction it is, in its currency. By default what is left of it; in one currency the same
    as `amount`."""


class MatchedTransfer(Response, frozen=True, kw_only=True):
    """Both halves of a transfer."""

    allocations: list[Allocation]
    """Both halves, that of the first transaction first; each names the other's bank transaction as `counterpartId`."""


class SharedPart(_NamedPart, frozen=True, kw_only=True):
    """What a share of each bank transaction is for."""

    share: DecimalText | None = None
    """In percent of what is left of each bank transaction, more than 0 and at most 100. Null: all that the others
    leave, which one part at most can be."""


class AllocateMany(Request, frozen=True, kw_only=True):
    """What up to a hundred bank transactions are for, each of them in the same shares."""

    bank_transaction_ids: Annotated[list[Id], Meta(min_length=1, max_length=LINES_MAX)]
    """Each bank transaction once. Something of each has to be left, unless `replace` is given."""
    parts: Annotated[list[SharedPart], Meta(min_length=1, max_length=10)]
    """What they are for; what rounding leaves goes to the last part, where the shares are all of it."""
    replace: bool = False
    """True: in the place of what is allocated; false: beside it."""
    description: Description | None = None
    """What it was, for people, of parts that have no description of their own."""


class CodedTransaction(Response, frozen=True, kw_only=True):
    """A bank transaction with all of its allocations."""

    bank_transaction_id: Id
    """The bank transaction."""
    currency: str
    """The currency of the amount."""
    unallocated_amount: Amount
    """What is left of it, signed as its `amount`."""
    allocation_ids: list[Id]
    """All of its allocations, oldest first."""
    warnings: list[AllocationWarning]
    """What its allocations leave open, as `banking.allocate` tells it."""


class AllocatedMany(Response, frozen=True, kw_only=True):
    """What was allocated of each bank transaction."""

    transactions: list[CodedTransaction]
    """The bank transactions, in the order of the request."""
