"""What the rows of a broker's file look like, and the request to import one (domain model E)."""

from typing import Literal

from gatewayd.areas.assets.books.transactions import TransactionType
from gatewayd.contract.wire import Amount, CanonicalDecimal, DateText, Id, Request, Response
from gatewayd.ledger.imports.import_shapes import Action, FileName, ListImportRows, ListImports, MappingText


class ImportedTrade(Response, frozen=True, kw_only=True):
    """A row of a broker's file."""

    position: int
    """Its place among the rows of the file that could be read, from 1."""
    line: int
    """The line of the file where it begins, from 1; of XML the number of its element."""
    action: Action
    """What becomes of it: it is added (`add`), there already (`duplicate`), or not taken (`refuse`)."""
    reason: str | None
    """Why it is there already or not taken, for people. Null: it is added."""
    transaction_id: Id | None
    """The transaction that it became. Null: it has not come in."""
    existing_transaction_id: Id | None
    """The transaction of the account that it is. Null: it is none."""
    differs: list[str]
    """The fields in which it differs from the transaction that is there with the same id of the broker, which stays as
    it is."""
    type: TransactionType
    """What the row is read as."""
    trade_date: DateText
    """The day of the trade."""
    isin: str | None
    """The ISIN that the file has. Null: it has none."""
    symbol: str | None
    """The ticker that the file has. Null: it has none."""
    instrument_name: str | None
    """What the file calls the share or fund. Null: it has no name for it."""
    quantity: CanonicalDecimal | None
    """How many units, above 0. Null: it is about cash alone."""
    unit_price: CanonicalDecimal | None
    """The price of one unit in `currency`. Null: the file has none that agrees with the amount."""
    gross_amount: Amount | None
    """The amount before fees and taxes, in `currency`. Null: it is a split."""
    fees: Amount
    """Commission and other charges, in `currency`."""
    taxes: Amount
    """Stamp duty, levies, and what was withheld, in `currency`."""
    currency: str
    """The currency in which cash moved."""
    fx_rate: CanonicalDecimal | None
    """What 1 of `currency` is in the other currency of the row; it counts where that is the portfolio's. Null: the file
    tells none."""
    description: str
    """How the broker describes it."""


class ListAssetImports(ListImports, frozen=True, kw_only=True):
    """Filters of the list."""


class ListImportedTrades(ListImportRows, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list."""


class ImportTransactions(Request, frozen=True, kw_only=True):
    """A broker's file for an account. The file is the body."""

    account_id: Id
    file_name: FileName = "transactions"
    format: Literal["auto", "csv", "ibkr_flex"] = "auto"
    """What the file is: `ibkr_flex` is a Flex query of Interactive Brokers as XML; `auto` is found out by content."""
    preview: bool = False
    """True: only show what would become of its rows; `assets.applyImport` brings them in."""
    mapping: MappingText | None = None
