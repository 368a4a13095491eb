"""What bank transactions look like (domain model B6): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import LongLimit, SyncPage, SyncRequest
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    CanonicalDecimal,
    Date,
    DateText,
    Id,
    Response,
    Search,
    Timestamp,
)
from gatewayd.money import Money
from gatewayd.statements.shapes import TransactionType

Direction = Literal["in", "out"]
TransactionStatus = Literal["pending", "booked", "rejected", "information"]
Source = Literal["import", "manual"]
OriginalAmount = Annotated[Amount, Meta(extra={"currency": "original_currency"})]


class StoredTransaction(Response, frozen=True, kw_only=True):
    """The part of a transaction that has columns of its own."""

    id: Id
    account_id: Id
    date: DateText
    booking_date: DateText | None
    value_date: DateText | None
    amount: Amount
    currency: str
    original_amount: OriginalAmount | None
    original_currency: str | None
    fx_rate: CanonicalDecimal | None
    status: TransactionStatus
    description: str
    raw_description: str
    counterparty_name: str | None
    counterparty_account: str | None
    reference: str | None
    end_to_end_id: str | None
    bank_reference: str | None
    fit_id: str | None
    type: TransactionType
    bank_transaction_code: str | None
    merchant_category_code: str | None
    balance_after: Amount | None
    import_id: Id | None
    source: Source
    fingerprint: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class BankTransaction(StoredTransaction, frozen=True, kw_only=True):
    """A line of an account, as its bank told it.

    `amount` is positive for money in and negative for money out. `date` is that of booking, else of value, else of
    import. `allocations` say what it is for, and `unallocatedAmount` is what is left, signed as `amount`.
    """

    direction: Direction
    unallocated_amount: Amount
    allocations: list[Id]


class TransactionRow(StoredTransaction, frozen=True, kw_only=True):
    """A transaction as it is stored. `allocated` is the sum of its allocations, signed as `amount`."""

    allocated: Money
    match_key: str
    search_text: str


class ListTransactions(SyncRequest, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list.

    Latest first; with `minAmount` or `maxAmount` in the order of amounts, smallest first and of one amount the oldest;
    with `updatedSince` in the order of change.
    """

    account_id: Id
    limit: LongLimit = 50
    from_date: Date | None = None
    to_date: Date | None = None
    status: Annotated[
        Literal["booked", "pending", "all"], Meta(description="`all` includes what is neither booked nor pending.")
    ] = "booked"
    direction: Direction | None = None
    min_amount: Annotated[AmountText, Meta(description="Signed: money out is below zero.")] | None = None
    max_amount: AmountText | None = None
    q: Search | None = None
    unallocated: Annotated[bool, Meta(description="True: booked lines of which a part is not allocated.")] | None = None


class TransactionsAccount(Response, frozen=True, kw_only=True):
    """What the amounts of a list are of. `balanceAsOf` is the day of the last balance that the bank told."""

    currency: str
    balance_as_of: DateText | None


class TransactionPage(SyncPage[BankTransaction], frozen=True, kw_only=True):
    """A page of an account's transactions."""

    account: TransactionsAccount
