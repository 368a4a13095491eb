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
    Request,
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
    """The bank account that it is on."""
    date: DateText
    """The day of the money: that of booking, else of value, else of the import."""
    booking_date: DateText | None
    """The day on which the bank booked it. Null: it is pending."""
    value_date: DateText | None
    """The day from which the bank counts the money. Null: the file does not say."""
    amount: Amount
    """Positive for money in, negative for money out."""
    currency: str
    """The currency of the account."""
    original_amount: OriginalAmount | None
    """What it was in another currency, signed as `amount`. Null: the file tells of none."""
    original_currency: str | None
    """The currency of `originalAmount`; null with it."""
    fx_rate: CanonicalDecimal | None
    """The rate of exchange as the file has it; which way round depends on the bank. Null: the file has none."""
    status: TransactionStatus
    """`booked`, or `pending` until the bank books it. `rejected` and `information` come from no file so far."""
    description: str
    """What the bank wrote, without superfluous spaces."""
    raw_description: str
    """What the bank wrote, as it stands in the file."""
    counterparty_name: str | None
    """Who it is with, where the file says it apart. Null: it does not."""
    counterparty_account: str | None
    """The other account: its IBAN, or the number that the file gives. Null: it gives none."""
    reference: str | None
    """The remittance information: what the payer wrote for the payee. Null: none."""
    end_to_end_id: str | None
    """The payer's own id of the payment (EndToEndId of ISO 20022). Null: the file gives none."""
    bank_reference: str | None
    """The bank's reference of the payment, by which duplicates of a day are told. Null: the file gives none."""
    fit_id: str | None
    """The bank's id of the line (FITID of OFX, or a column of a CSV), by which duplicates are told. Null: the file
    gives none."""
    type: TransactionType
    """How the money moved; `other`: the file does not say."""
    bank_transaction_code: str | None
    """The bank's own code for that, of ISO 20022 the domain, family and sub-family. Null: the file gives none."""
    merchant_category_code: str | None
    """The trade of the merchant who took a card: four digits of ISO 18245. Null: the file gives none."""
    balance_after: Amount | None
    """The balance of the account behind it. Null: the file does not say."""
    import_id: Id | None
    """The import that brought it. Null: none did."""
    source: Source
    """`import`: a file brought it. `manual` does not occur."""
    fingerprint: str
    """SHA-256 of account, day, amount, currency, description, and which of equal lines of the day it is: no other line
    has it."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class BankTransaction(StoredTransaction, frozen=True, kw_only=True):
    """A line of an account, as its bank told it."""

    direction: Direction
    """Which way the money went."""
    unallocated_amount: Amount
    """What is left to be allocated of it, signed as `amount`; 0.00: nothing is."""
    allocations: list[Id]
    """The ids of its allocations, which say what it is for."""


class TransactionRow(StoredTransaction, frozen=True, kw_only=True):
    """A transaction as it is stored. `allocated` is the sum of its allocations, signed as `amount`."""

    allocated: Money
    match_key: str
    search_text: str


class GetBankTransaction(Request, frozen=True, kw_only=True):
    """Which bank transaction."""

    transaction_id: Id
    """Which bank transaction."""


class ListTransactions(SyncRequest, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list.

    Latest first; with `minAmount` or `maxAmount` in the order of amounts, smallest first and of one amount the oldest;
    with `updatedSince` in the order of change.
    """

    account_id: Id
    """Which bank account."""
    limit: LongLimit = 50
    from_date: Date | None = None
    """From this day on, of `date`."""
    to_date: Date | None = None
    """Up to this day, included, of `date`."""
    status: Annotated[
        Literal["booked", "pending", "all"], Meta(description="`all` includes what is neither booked nor pending.")
    ] = "booked"
    direction: Direction | None = None
    """Only money that went this way."""
    min_amount: AmountText | None = None
    """At least this, in the account's currency and signed: money out is below zero."""
    max_amount: AmountText | None = None
    """At most this, in the account's currency and signed: money out is below zero."""
    q: Search | None = None
    unallocated: Annotated[bool, Meta(description="True: booked lines of which a part is not allocated.")] | None = None
    import_id: Id | None = None
    """Only those that this import brought."""


class ListBankTransactions(SyncRequest, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list over all bank accounts: latest first, or in the order of change with `updatedSince`."""

    limit: LongLimit = 50
    account_id: Id | None = None
    """Only those on this bank account. Left out: those of all."""
    import_id: Id | None = None
    """Only those that this import brought."""
    from_date: Date | None = None
    """From this day on, of `date`."""
    to_date: Date | None = None
    """Up to this day, included, of `date`."""
    status: Annotated[
        Literal["booked", "pending", "all"], Meta(description="`all` includes what is neither booked nor pending.")
    ] = "booked"
    direction: Direction | None = None
    """Only money that went this way."""
    q: Search | None = None
    unallocated: Annotated[bool, Meta(description="True: booked lines of which a part is not allocated.")] | None = None


class TransactionsAccount(Response, frozen=True, kw_only=True):
    """What the amounts of a list are of."""

    currency: str
    """The currency of all amounts of the list."""
    balance_as_of: DateText | None
    """The day of the last balance that the bank told. Null: it told none."""


class TransactionPage(SyncPage[BankTransaction], frozen=True, kw_only=True):
    """A page of an account's transactions."""

    account: TransactionsAccount
    """What the amounts of the list are of."""
