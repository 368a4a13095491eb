"""Requests and responses of allocations (Domain B4 LinkedTransaction, C1, C2)."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import Page, SyncRequest
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


class AllocationPart(Part, frozen=True, kw_only=True):
    """What one part of a bank transaction is for.

    `category` is a line of the business's type, or `not_pnl` with a `purpose`. By default `businessId` is the business
    that the account names, `direction` the way the money went, `amount` what is left, and only entertainment and
    depreciation are disallowable; `allowable` false says that the whole amount is. Money back for an expense is `in`.
    `vatCode` says what `vatAmount` is, at the rate of `documentDate`, else of the money's date: a bill may differ from
    it by a penny, and one more for each pound of VAT. Reverse charges, postponed import VAT and acquisitions hold none:
    it is accounted for in the VAT return. `capitalGoods` marks what is to be used for years, bought in one purchase of
    2,000 or more with its VAT, and the sale of it: its VAT is outside a flat rate. `propertyId` and `businessId` follow
    from a unit, a tenancy or a mortgage. A `loan_payment` of a `mortgageId` becomes two allocations, interest as it is
    computed and `loan_capital`: it takes the oldest instalment that is not met. What is more than was due is a third
    one, and told in `warnings`.
    """

    category: Category
    external_id: ExternalId | None = None
    purpose: Purpose | None = None
    business_id: Id | None = None
    direction: Direction | None = None
    amount: AmountText | None = None
    vat_code: AllocationVatCode | None = None
    vat_amount: VatAmount | None = None
    capital_goods: bool = False
    disallowable_amount: Disallowable | None = None
    allowable: bool | None = None
    property_id: Id | None = None
    unit_id: Id | None = None
    tenancy_id: Id | None = None
    mortgage_id: Id | None = None
    document_date: Date | None = None
    fx_rate: FxRate | None = None
    description: Description | None = None
    document_ids: DocumentIds | None = None


class Allocate(Request, frozen=True, kw_only=True):
    """What a bank transaction is for, in one part or several that are looked at together.

    `replace` puts them in the place of what there is, and without any part takes that back. Without
    `bankTransactionId` each part is an entry of money that no bank shows, such as cash: it needs a business, a
    direction, an amount and a description; `date` is today and `currency` the business's by default.
    """

    bank_transaction_id: Id | None = None
    parts: Annotated[list[AllocationPart], Meta(max_length=100)]
    replace: bool = False
    date: Date | None = None
    currency: Currency | None = None


class AllocationWarning(Response, frozen=True, kw_only=True):
    """What an allocation leaves open: of mortgages `loan_overpaid`, `loan_payment_over`, and what `Allocated` says."""

    code: str
    message: str
    allocation_id: Id


class Allocated(Response, frozen=True, kw_only=True):
    """All allocations of a bank transaction and what is left of it; of entries without one, those that were made.

    `warnings` are of payments of mortgages that are more than was due: `loan_overpaid` where the rest was taken for
    capital, `loan_payment_over` where it is `other` until somebody says what it was. On the flat rate of VAT they tell
    of purchases of 2,000 or more that may be capital goods (`capital_goods_unmarked`), and of marked ones that come to
    less (`capital_goods_small`).
    """

    bank_transaction_id: str | None
    currency: str
    unallocated_amount: Amount | None
    allocations: list[Allocation]
    warnings: list[AllocationWarning]


class GetAllocation(Request, frozen=True, kw_only=True):
    """Which allocation."""

    allocation_id: Id


@updates(AllocationPart, of=Allocation)
class UpdateAllocation(Request, frozen=True, kw_only=True):
    """The fields to change. `date` is for what no bank transaction stands behind.

    Where a `vatCode` is there, another code, amount or date gives `vatAmount` anew, unless the request says it.
    """

    allocation_id: Id
    expected_version: Version | None = None
    purpose: Purpose | UnsetType | None = UNSET
    vat_amount: VatAmount | UnsetType = UNSET
    disallowable_amount: Disallowable | UnsetType = UNSET
    allowable: bool | UnsetType = UNSET
    date: Date | UnsetType = UNSET


class RemoveAllocation(Request, frozen=True, kw_only=True):
    """Which allocation to take back."""

    allocation_id: Id
    expected_version: Version | None = None


class RemovedAllocation(Response, frozen=True, kw_only=True):
    """What was taken back: `removedIds` are both halves of a transfer."""

    id: Id
    deleted: Literal[True]
    removed_ids: list[Id]


class ListAllocations(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. Dates are those of the money, and inclusive. `includeTotals` sums up all that they leave."""

    external_id: ExternalId | None = None
    bank_transaction_id: Id | None = None
    invoice_id: Id | None = None
    business_id: Id | None = None
    property_id: Id | None = None
    tenancy_id: Id | None = None
    category: Category | None = None
    direction: Direction | None = None
    matched_by: MatchedBy | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    include_totals: bool = False


class AllocationTotal(Response, frozen=True, kw_only=True):
    """What came in and went out in one currency."""

    currency: str
    count: int
    money_in: Amount
    money_out: Amount


class AllocationPage(Page[Allocation], frozen=True, kw_only=True):
    """A page of allocations. `totals` are there where they are asked for, and of all pages."""

    totals: list[AllocationTotal] | UnsetType = UNSET


class MatchTransfer(Request, frozen=True, kw_only=True):
    """Two bank transactions, money out of one own account and into another.

    `amount` is of the first transaction, `counterpartAmount` of the other, where their currencies differ. By default
    they are what is left of both, in one currency the smaller of the two. `externalId` is of the half of the first
    transaction, `counterpartExternalId` of the other.
    """

    bank_transaction_id: Id
    counterpart_id: Id
    external_id: ExternalId | None = None
    counterpart_external_id: ExternalId | None = None
    amount: AmountText | None = None
    counterpart_amount: AmountText | None = None


class MatchedTransfer(Response, frozen=True, kw_only=True):
    """Both halves of a transfer; each names the bank transaction of the other as `counterpartId`."""

    allocations: list[Allocation]


class SharedPart(Part, frozen=True, kw_only=True):
    """What a share of each bank transaction is for, in percent of what is left of it; the rest of the fields are as
    those of an AllocationPart. Without `share` it is all that the others leave, which one part at most can be.
    """

    category: Category
    share: Annotated[DecimalText, Meta(description="Percent, more than 0 and at most 100.")] | None = None
    purpose: Purpose | None = None
    business_id: Id | None = None
    direction: Direction | None = None
    vat_code: AllocationVatCode | None = None
    allowable: bool | None = None
    property_id: Id | None = None
    unit_id: Id | None = None
    tenancy_id: Id | None = None
    mortgage_id: Id | None = None
    description: Description | None = None


class AllocateMany(Request, frozen=True, kw_only=True):
    """What up to a hundred bank transactions are for, each of them in the same shares.

    `replace` puts it in the place of what there is. `description` is that of parts which have none.
    """

    bank_transaction_ids: Annotated[list[Id], Meta(min_length=1, max_length=LINES_MAX)]
    parts: Annotated[list[SharedPart], Meta(min_length=1, max_length=10)]
    replace: bool = False
    description: Description | None = None


class CodedTransaction(Response, frozen=True, kw_only=True):
    """A bank transaction with all of its allocations; `warnings` as of `banking.allocate`."""

    bank_transaction_id: Id
    currency: str
    unallocated_amount: Amount
    allocation_ids: list[Id]
    warnings: list[AllocationWarning]


class AllocatedMany(Response, frozen=True, kw_only=True):
    """The bank transactions, in the order of the request."""

    transactions: list[CodedTransaction]
