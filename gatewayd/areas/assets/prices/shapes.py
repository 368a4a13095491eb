"""What prices and rates of exchange look like (Domain B3): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.assets.books.instruments import PriceSource
from gatewayd.contract.pages import LongLimit, PageRequest
from gatewayd.contract.wire import CanonicalDecimal, Currency, Date, DateText, DecimalText, Id, Request, Response
from gatewayd.ledger.imports.import_shapes import IgnoredRows

QuoteCurrency = Annotated[
    str,
    Meta(
        pattern=r"^([A-Z]{3}|GBp)$",
        description="ISO 4217, or GBX for pence: such a price is kept in pounds.",
        examples=["GBP"],
    ),
]

RateSource = Literal["manual", "import", "feed", "hmrc"]
"""Where a recorded rate is from. `hmrc`: a file of HMRC's, which holds from the first day of a month to its last."""


class AssetPrice(Response, frozen=True, kw_only=True):
    """What one unit of an instrument was worth at the end of a day, in major units of `currency`."""

    instrument_id: Id
    date: DateText
    price: CanonicalDecimal
    currency: str
    source: PriceSource


class ExchangeRate(Response, frozen=True, kw_only=True):
    """What 1 of `currency` was worth in `baseCurrency` at the end of a day."""

    currency: str
    base_currency: str
    date: DateText
    rate: CanonicalDecimal
    source: RateSource


class RecordPrice(Request, frozen=True, kw_only=True):
    """A price of a day, today by default; in the instrument's currency where none is given."""

    instrument_id: Id
    price: DecimalText
    date: Date | None = None
    currency: QuoteCurrency | None = None


class RecordExchangeRate(Request, frozen=True, kw_only=True):
    """A rate of a day, today by default."""

    currency: Currency
    base_currency: Currency = "GBP"
    rate: DecimalText
    date: Date | None = None


class ListPrices(PageRequest, frozen=True, kw_only=True):
    """The prices of an instrument, latest first."""

    instrument_id: Id
    from_date: Date | None = None
    to_date: Date | None = None
    limit: LongLimit = 50


class ListExchangeRates(PageRequest, frozen=True, kw_only=True):
    """Rates that were recorded or imported: latest first, and of a day by currency."""

    currency: Currency | None = None
    base_currency: Currency | None = None
    from_date: Date | None = None
    to_date: Date | None = None
    limit: LongLimit = 50


class ImportPrices(Request, frozen=True, kw_only=True):
    """A file of prices and rates of exchange. The file is the body."""

    file_name: Annotated[
        str,
        Meta(min_length=1, max_length=255, description="What the file is called, for people.", examples=["prices.csv"]),
    ] = "prices"


class RefusedPrice(Response, frozen=True, kw_only=True):
    """A line of the file that is not taken, and why. `line` counts from 1."""

    line: int
    reason: str


class PriceImport(Response, frozen=True, kw_only=True):
    """What became of the rows of a file: each is added, a duplicate, replaced, ignored or refused.

    `refused` lists the first 500 of `refusedRows`, `ignored` those that are no prices, by kind.
    """

    file_name: str
    sha256: str
    rows: int
    added: int
    duplicates: int
    replaced: int
    refused_rows: int
    refused: list[RefusedPrice]
    ignored_rows: int
    ignored: list[IgnoredRows]
