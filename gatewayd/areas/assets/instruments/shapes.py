"""What instruments look like (Domain B3): what is held, named by its identifiers."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import (
    CanonicalDecimal,
    CountryCode,
    Currency,
    DateText,
    Id,
    Part,
    Request,
    Response,
    Timestamp,
)

AssetClass = Literal["equity", "fixed_income", "fund", "cash", "commodity", "real_estate", "crypto", "alternative"]
AssetSubClass = Literal[
    "stock",
    "etf",
    "investment_trust",
    "oeic",
    "unit_trust",
    "gilt",
    "corporate_bond",
    "reit",
    "money_market",
    "crypto_token",
    "precious_metal",
    "private_equity",
    "other",
]
PriceSource = Literal["manual", "import", "feed"]
InstrumentName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Symbol = Annotated[str, Meta(pattern=r"^[0-9A-Za-z./^=_ -]{1,32}$", examples=["VOD"])]
Mic = Annotated[str, Meta(pattern="^[A-Z0-9]{4}$", description="ISO 10383.", examples=["XLON"])]
Isin = Annotated[str, Meta(pattern="^[A-Z]{2}[A-Z0-9]{9}[0-9]$", examples=["GB00BH4HKS39"])]
Sedol = Annotated[str, Meta(pattern="^[0-9BCDFGHJKLMNPQRSTVWXYZ]{6}[0-9]$", examples=["BH4HKS3"])]
Figi = Annotated[str, Meta(pattern="^[0-9A-Z]{12}$", examples=["BBG000C6K6G9"])]
Cusip = Annotated[str, Meta(pattern="^[0-9A-Z*@#]{8}[0-9]$", examples=["037833100"])]


class Ratio(Part, frozen=True, kw_only=True):
    """New units for old ones: 2 and 1 where each becomes two, 1 and 10 where ten become one."""

    numerator: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    denominator: Annotated[int, Meta(ge=1, le=1_000_000_000)]


class InstrumentSplit(Response, frozen=True, kw_only=True):
    """A split or a consolidation: what was held before `date` is multiplied by numerator / denominator."""

    date: DateText
    numerator: int
    denominator: int


class Instrument(Response, frozen=True, kw_only=True):
    """Something that can be held. `reportingFund` null: no offshore fund, or not known."""

    id: Id
    name: str
    symbol: str | None
    exchange_mic: str | None
    isin: str | None
    sedol: str | None
    figi: str | None
    cusip: str | None
    asset_class: AssetClass
    asset_sub_class: AssetSubClass | None
    currency: str
    domicile_country: str | None
    reporting_fund: bool | None
    cgt_exempt: bool
    splits: list[InstrumentSplit]
    last_price: CanonicalDecimal | None
    last_price_date: DateText | None
    price_source: PriceSource | None
    is_active: bool
    created_at: Timestamp
    updated_at: Timestamp
    version: int


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
