"""What instruments look like (Domain B3): what is held, named by its identifiers."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.areas.assets.books.instruments import AssetClass, AssetSubClass, Instrument
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import CountryCode, Currency, Id, Request, Response, Version

InstrumentName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Symbol = Annotated[str, Meta(pattern=r"^[0-9A-Za-z./^=_ -]{1,32}$", examples=["VOD"])]
Mic = Annotated[str, Meta(pattern="^[A-Z0-9]{4}$", description="ISO 10383.", examples=["XLON"])]
Isin = Annotated[str, Meta(pattern="^[A-Z]{2}[A-Z0-9]{9}[0-9]$", examples=["GB00BH4HKS39"])]
Sedol = Annotated[str, Meta(pattern="^[0-9BCDFGHJKLMNPQRSTVWXYZ]{6}[0-9]$", examples=["BH4HKS3"])]
Figi = Annotated[str, Meta(pattern="^[0-9A-Z]{12}$", examples=["BBG000C6K6G9"])]
Cusip = Annotated[str, Meta(pattern="^[0-9A-Z*@#]{8}[0-9]$", examples=["037833100"])]


class InlineInstrument(Request, frozen=True, kw_only=True):
    """An instrument by its identifiers, made if there is none yet.

    One of isin, sedol, figi, cusip, or symbol with exchangeMic finds it; without any of them a symbol or a name does.
    A new one needs a name, or has its first identifier as one.
    """

    isin: Isin | None = None
    sedol: Sedol | None = None
    figi: Figi | None = None
    cusip: Cusip | None = None
    symbol: Symbol | None = None
    exchange_mic: Mic | None = None
    name: InstrumentName | None = None
    currency: Currency | None = None
    asset_class: AssetClass | None = None
    asset_sub_class: AssetSubClass | None = None
    domicile_country: CountryCode | None = None
    reporting_fund: bool | None = None
    cgt_exempt: bool | None = None
    listed: bool | None = None


class ListInstruments(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list. `held`: only those that a transaction names."""

    asset_class: AssetClass | None = None
    currency: Currency | None = None
    held: bool = False


class GetInstrument(Request, frozen=True, kw_only=True):
    """Which instrument."""

    id: Id


MatchField = Literal["isin", "sedol", "figi", "cusip", "symbol", "name"]


class InstrumentMatch(Response, frozen=True, kw_only=True):
    """What of an instrument is like the text that was looked for. A score of 100 is the very identifier."""

    field: MatchField
    score: Annotated[int, Meta(ge=1, le=100)]


class FoundInstrument(Instrument, frozen=True, kw_only=True):
    """An instrument that a search found."""

    match: InstrumentMatch


class FoundInstruments(Response, frozen=True, kw_only=True):
    """What a search found, the best first."""

    data: list[FoundInstrument]


class SearchInstruments(Request, frozen=True, kw_only=True):
    """What to look for: an identifier, a ticker (`VOD`, `XLON:VOD` or `VOD.XLON`), or words of a name."""

    q: Annotated[str, Meta(min_length=2, max_length=64, examples=["vodafone"])]
    asset_class: AssetClass | None = None
    limit: Annotated[int, Meta(ge=1, le=25)] = 10


@updates(InlineInstrument, of=Instrument, without=("currency",))
class UpdateInstrument(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears."""

    id: Id
    expected_version: Version | None = None
    domicile_country: CountryCode | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET
