"""What the rows of a broker's file look like, and the request to import one (domain model E)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.books.transactions import TransactionType
from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Request, Response
from gatewayd.ledger.imports.import_shapes import Action, FileName, ListImportRows, ListImports, MappingText


class ImportedTrade(Response, frozen=True, kw_only=True):
    """A row of a broker's file.

    `transactionId` is the transaction that it became, `existingTransactionId` that which it is. `grossAmount`, `fees`
    and `taxes` are of `currency`; `fxRate` is null where the file tells none. `differs` names the fields in which a row
    is not as the transaction that is there with the same id of the broker, which stays as it is.
    """

    position: int
    line: int
    action: Action
    reason: str | None
    transaction_id: Id | None
    existing_transaction_id: Id | None
    differs: list[str]
    type: TransactionType
    trade_date: DateText
    isin: str | None
    symbol: str | None
    instrument_name: str | None
    quantity: CanonicalDecimal | None
    unit_price: CanonicalDecimal | None
    gross_amount: Amount | None
    fees: Amount
    taxes: Amount
    currency: str
    fx_rate: CanonicalDecimal | None
    description: str


class ListAssetImports(ListImports, frozen=True, kw_only=True):
    """Filters of the list."""


class ListImportedTrades(ListImportRows, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list."""


class ImportTransactions(Request, frozen=True, kw_only=True):
    """A broker's file for an account. The file is the body."""

    account_id: Id
    file_name: FileName = "transactions"
    format: Annotated[
        Literal["auto", "csv", "ibkr_flex"],
        Meta(description="auto: found out by content. ibkr_flex: a Flex query of Interactive Brokers, as XML."),
    ] = "auto"
    preview: Annotated[bool, Meta(description="Only show what would become of its rows.")] = False
    mapping: MappingText | None = None
