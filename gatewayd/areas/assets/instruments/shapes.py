"""What instruments look like (Domain B3): what is held, named by its identifiers."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.assets.books.instruments import AssetClass, AssetSubClass, Instrument
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import CountryCode, Currency, Id, Request, Response, Version

InstrumentName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Symbol = Annotated[
    str,
    Meta(
        pattern=r"^[0-9A-Za-z./^=_ -]{1,32}$",
        extra={"form": "1 to 32 letters, digits, spaces or ./^=_-"},
        examples=["VOD"],
    ),
]
Mic = Annotated[
    str,
    Meta(
        pattern="^[A-Z0-9]{4}$",
        extra={"form": "a market's code of 4 capital letters or digits"},
        description="ISO 10383.",
        examples=["XLON"],
    ),
]
Isin = Annotated[
    str,
    Meta(
        pattern="^[A-Z]{2}[A-Z0-9]{9}[0-9]$",
        extra={"form": "an ISIN of 12 capital letters and digits"},
        examples=["GB00BH4HKS39"],
    ),
]
Sedol = Annotated[
    str,
    Meta(
        pattern="^[0-9BCDFGHJKLMNPQRSTVWXYZ]{6}[0-9]$",
        extra={"form": "a SEDOL of 7 digits and capital letters other than vowels"},
        examples=["BH4HKS3"],
    ),
]
Figi = Annotated[
    str,
    Meta(
        pattern="^[0-9A-Z]{12}$", extra={"form": "a FIGI of 12 capital letters and digits"}, examples=["BBG000C6K6G9"]
    ),
]
Cusip = Annotated[
    str,
    Meta(
        pattern="^[0-9A-Z*@#]{8}[0-9]$",
        extra={"form": "a CUSIP of 9 characters, the last a digit"},
        examples=["037833100"],
    ),
]


class InlineInstrument(Request, frozen=True, kw_only=True):
    """An instrument by its identifiers, made if there is none yet.

    One of isin, sedol, figi, cusip, or symbol with exchangeMic finds it; without any of them a symbol or a name does.
    A new one needs a name, or has its first identifier as one.
    """

    isin: Isin | None = None
    """The ISIN, which goes before all else in finding it."""
    sedol: Sedol | None = None
    """The identifier of the London Stock Exchange (SEDOL)."""
    figi: Figi | None = None
    """The Financial Instrument Global Identifier (FIGI)."""
    cusip: Cusip | None = None
    """The identifier of North America (CUSIP)."""
    symbol: Symbol | None = None
    """The ticker, in any letter case. Alone it finds an instrument from which nothing else given differs."""
    exchange_mic: Mic | None = None
    """The exchange of `symbol`, by its ISO 10383 code."""
    name: InstrumentName | None = None
    """What it is called: finds one by its name where no identifier is given, and names a new one."""
    currency: Currency | None = None
    """The currency in which it is quoted. Left out of a new one: the transaction's, else the account's."""
    asset_class: AssetClass | None = None
    """The class of a new one. Left out: that of `assetSubClass`, else `equity`."""
    asset_sub_class: AssetSubClass | None = None
    """What it is more exactly, kept where it was not known."""
    domicile_country: CountryCode | None = None
    """Where the company or fund is resident, kept where it was not known. Left out: the country of the ISIN."""
    reporting_fund: bool | None = None
    """Whether an offshore fund reports to HMRC, kept where it was not known."""
    cgt_exempt: bool | None = None
    """Whether gains on a new one are exempt from Capital Gains Tax. Left out: those on gilts are."""
    listed: bool | None = None
    """Whether it is on a recognised stock exchange, kept where it was not known."""


class ListInstruments(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    asset_class: AssetClass | None = None
    currency: Currency | None = None
    held: bool = False
    """True: only those that a transaction names, whether or not any are held now."""


class GetInstrument(Request, frozen=True, kw_only=True):
    """Which instrument."""

    id: Id


MatchField = Literal["isin", "sedol", "figi", "cusip", "symbol", "name"]


class InstrumentMatch(Response, frozen=True, kw_only=True):
    """What of an instrument is like the text that was looked for."""

    field: MatchField
    """The field that matches."""
    score: Annotated[int, Meta(ge=1, le=100)]
    """How good the match is, to put them in order: 100 is a whole identifier, 90 a ticker, less a beginning or words of
    a name."""


class FoundInstrument(Instrument, frozen=True, kw_only=True):
    """An instrument that a search found."""

    match: InstrumentMatch
    """What of it is like the text that was looked for."""


class FoundInstruments(Response, frozen=True, kw_only=True):
    """What a search found, the best first."""

    data: list[FoundInstrument]
    """The instruments, the best match first."""


class SearchInstruments(Request, frozen=True, kw_only=True):
    """What to look for."""

    q: Annotated[str, Meta(min_length=2, max_length=64, examples=["vodafone"])]
    """An identifier, a ticker (`VOD`, `XLON:VOD` or `VOD.XLON`) or the beginnings of words of a name."""
    asset_class: AssetClass | None = None
    """Only instruments of this class."""
    limit: Annotated[int, Meta(ge=1, le=25)] = 10


@updates(InlineInstrument, of=Instrument, without=("currency",))
class UpdateInstrument(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears."""

    id: Id
    expected_version: Version | None = None
    domicile_country: CountryCode | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET
