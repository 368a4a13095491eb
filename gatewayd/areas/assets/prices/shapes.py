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
        extra={"form": "a currency code in capital letters, or GBX for pence"},
        description="ISO 4217, or GBX for pence: such a price is kept in pounds.",
        examples=["GBP"],
    ),
]

RateSource = Literal["manual", "import", "feed", "hmrc"]


class AssetPrice(Response, frozen=True, kw_only=True):
    """What one unit of an instrument was worth at the end of a day."""

    instrument_id: Id
    """The instrument whose price it is."""
    date: DateText
    """The day at whose end it held."""
    price: CanonicalDecimal
    """What one unit was worth, in major units of `currency`: pounds, not pence."""
    currency: str
    """The currency of the price, which need not be the instrument's."""
    source: PriceSource
    """Where it is from: entered by hand (`manual`), a file (`import`) or a `feed`."""


class ExchangeRate(Response, frozen=True, kw_only=True):
    """What 1 of `currency` was worth in `baseCurrency` at the end of a day."""

    currency: str
    """The currency that is converted."""
    base_currency: str
    """The currency in which the rate is told."""
    date: DateText
    """The day at whose end it held; of HMRC's, the first of the month for all of which it holds."""
    rate: CanonicalDecimal
    """What 1 of `currency` was in `baseCurrency`."""
    source: RateSource
    """Where it is from: entered by hand (`manual`), a file (`import`), a `feed`, or a file of HMRC's monthly rates
    (`hmrc`)."""


class RecordPrice(Request, frozen=True, kw_only=True):
    """A price of a day."""

    instrument_id: Id
    price: DecimalText
    """What one unit was worth, 0 or more; it is kept in major units."""
    date: Date | None = None
    """The day at whose end it held, not one to come. Left out: today."""
    currency: QuoteCurrency | None = None
    """The currency of the price; in `GBX` it is in pence. Left out: the instrument's."""


class RecordExchangeRate(Request, frozen=True, kw_only=True):
    """A rate of a day."""

    currency: Currency
    base_currency: Currency = "GBP"
    rate: DecimalText
    """What 1 of `currency` was in `baseCurrency`, above 0."""
    date: Date | None = None
    """The day at whose end it held, not one to come. Left out: today."""


class ListPrices(PageRequest, frozen=True, kw_only=True):
    """The prices of an instrument, latest first."""

    instrument_id: Id
    from_date: Date | None = None
    """Only prices of this day or later."""
    to_date: Date | None = None
    """Only prices of this day or earlier."""
    limit: LongLimit = 50


class ListExchangeRates(PageRequest, frozen=True, kw_only=True):
    """Rates that were recorded or imported: latest first, and of a day by currency."""

    currency: Currency | None = None
    base_currency: Currency | None = None
    from_date: Date | None = None
    """Only rates of this day or later."""
    to_date: Date | None = None
    """Only rates of this day or earlier."""
    limit: LongLimit = 50


class ImportPrices(Request, frozen=True, kw_only=True):
    """A file of prices and rates of exchange. The file is the body."""

    file_name: Annotated[
        str,
        Meta(min_length=1, max_length=255, description="What the file is called, for people.", examples=["prices.csv"]),
    ] = "prices"


class RefusedPrice(Response, frozen=True, kw_only=True):
    """A line of the file that is not taken, and why."""

    line: int
    """The line of the file, from 1."""
    reason: str
    """Why it is not taken, for people."""


class PriceImport(Response, frozen=True, kw_only=True):
    """What became of the rows of a file: each is added, a duplicate, replaced, ignored or refused."""

    file_name: str
    """What the file is called, for people."""
    sha256: str
    """The SHA-256 of the file's bytes, in hexadecimal."""
    rows: int
    """How many rows the file has, all kinds together."""
    added: int
    """How many rows brought the price or rate of a day that had none."""
    duplicates: int
    """How many rows tell the price or rate that was there already."""
    replaced: int
    """How many rows took the place of another price or rate of their day."""
    refused_rows: int
    """How many rows were not taken."""
    refused: list[RefusedPrice]
    """The first 500 of the rows that were not taken, in the order of the file."""
    ignored_rows: int
    """How many rows are no prices, such as the headings once more."""
    ignored: list[IgnoredRows]
    """The rows that are no prices, by kind."""
