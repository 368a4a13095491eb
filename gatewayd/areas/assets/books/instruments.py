"""Instruments as they are stored. Owns the tables `instruments` and `instrument_words`.

Names are compared and searched in one letter case, without accents.
"""

import re
import unicodedata
from typing import Annotated, Final, Literal

from msgspec import Meta
from msgspec.structs import replace

from gatewayd.contract.wire import CanonicalDecimal, DateText, Id, Part, Response, Timestamp
from gatewayd.store import Table, WriteTx

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
_WORDS_MAX: Final = 40  # Chosen: of a name of 200 characters; what comes after them is not searched
_SIGNS: Final = re.compile(r"[\W_]+")


class Ratio(Part, frozen=True, kw_only=True):
    """New units for old ones: 2 and 1 where each becomes two, 1 and 10 where ten become one."""

    numerator: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    """How many new units there are for `denominator` old ones."""
    denominator: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    """How many old units become `numerator` new ones."""


class InstrumentSplit(Response, frozen=True, kw_only=True):
    """A split or a consolidation: what was held before `date` is multiplied by numerator / denominator."""

    date: DateText
    """The day at whose start what is held is multiplied."""
    numerator: int
    """How many new units there are for `denominator` old ones."""
    denominator: int
    """How many old units became `numerator` new ones."""


class Instrument(Response, frozen=True, kw_only=True):
    """Something that can be held."""

    id: Id
    name: str
    """The name of the share, fund or coin; one of its identifiers where no name was given."""
    symbol: str | None
    """The ticker, in upper case; with `exchangeMic` it is one instrument's alone. Null: not known."""
    exchange_mic: str | None
    """The exchange of `symbol`, by its ISO 10383 code. Null: not known."""
    isin: str | None
    """The ISIN, which one instrument alone has. Null: not known."""
    sedol: str | None
    """The identifier of the London Stock Exchange (SEDOL), which one instrument alone has. Null: not known."""
    figi: str | None
    """The Financial Instrument Global Identifier (FIGI), which one instrument alone has. Null: not known."""
    cusip: str | None
    """The identifier of North America (CUSIP), which one instrument alone has. Null: not known."""
    asset_class: AssetClass
    """The class in which allocations count it. What `fixed_income` and `cash` pay is taxed as interest; what is neither
    `equity`, `fund`, `fixed_income` nor `crypto` is another asset in a return of gains, but for REITs and private
    equity."""
    asset_sub_class: AssetSubClass | None
    """What it is more exactly: of a `reit`, distributions are property income; gains on a `gilt` are exempt unless
    `cgtExempt` says otherwise. Null: not known."""
    currency: str
    """The currency in which it is quoted, in major units: pounds, not pence."""
    domicile_country: str | None
    """Where the company or fund is resident, which makes income British or foreign. Null: not known; what is quoted in
    pounds counts as British."""
    reporting_fund: bool | None
    """Whether an offshore fund reports to HMRC: gains on one that does not are income. Null: it is no offshore fund, or
    not known, and counts as reporting."""
    cgt_exempt: bool
    """Whether gains on it are exempt from Capital Gains Tax, as those on gilts and qualifying corporate bonds are."""
    listed: bool | None
    """Whether it is on a recognised stock exchange, which decides its section of a return of gains. Null: nobody
    said."""
    splits: list[InstrumentSplit]
    """Its splits and consolidations, oldest first, as transactions tell them."""
    last_price: CanonicalDecimal | None
    """The latest price that was recorded for one unit in `currency`. Null: none was."""
    last_price_date: DateText | None
    """The day at whose end `lastPrice` held. Null: there is no price."""
    price_source: PriceSource | None
    """Where `lastPrice` is from: entered by hand (`manual`), a file (`import`) or a `feed`. Null: there is no price."""
    is_active: bool
    """Whether it is still in use, for people: nothing depends on it."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


def folded(text: str) -> str:
    """The text in one letter case, without accents, with single spaces between its words."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(bare.split())


def words(text: str) -> list[str]:
    """The words of a text, folded, each once: `M&G Corp. Bond` has m, g, corp and bond."""
    distinct = dict.fromkeys(word for word in _SIGNS.split(folded(text)) if word)
    return list(distinct)[:_WORDS_MAX]


INSTRUMENTS = Table(
    "instruments",
    Instrument,
    kind="instrument",
    prefix="ins",
    written={"name_folded": lambda row: folded(row.name)},
)
_INSERT_WORD = "INSERT INTO instrument_words (org_id, word, instrument_id) VALUES (:org_id, :word, :instrument_id)"
_DELETE_WORDS = "DELETE FROM instrument_words WHERE org_id = :org_id AND instrument_id = :instrument_id"


def add(tx: WriteTx, row: Instrument) -> Instrument:
    """Store a new instrument, so that a search finds it by the words of its name."""
    row = INSTRUMENTS.insert(tx, row)
    _add_words(tx, row)
    return row


def change(tx: WriteTx, before: Instrument, after: Instrument) -> Instrument:
    """Store what an instrument has become, as its next version."""
    after = INSTRUMENTS.update(tx, after)
    if after.name != before.name:
        tx.run(_DELETE_WORDS, instrument_id=after.id)
        _add_words(tx, after)
    return after


def show_price(tx: WriteTx, instrument_id: str, date: str, quote: tuple[str, str, PriceSource]) -> None:
    """Let an instrument show a price, its currency and its source, unless it has a later one.

    A price in another currency than the instrument's is not shown. The version stays, as nobody changed the instrument.
    """
    price, currency, source = quote
    row = INSTRUMENTS.get(tx, instrument_id)
    if row.currency == currency and (row.last_price_date is None or row.last_price_date <= date):
        INSTRUMENTS.save(tx, replace(row, last_price=price, last_price_date=date, price_source=source))


def _add_words(tx: WriteTx, row: Instrument) -> None:
    tx.run_each(_INSERT_WORD, [(tx.org_id, word, row.id) for word in words(row.name)])


def is_british(domicile: str | None, quote_currency: str | None) -> bool:
    """Whether what an instrument or an account pays is of the United Kingdom.

    `quote_currency` None: it is an account's interest. Chosen: what has no domicile that is known is British where it
    is quoted in pounds. A company's domicile is taken for where it is resident.
    """
    if domicile is not None:
        return domicile == "GB"
    return quote_currency in (None, "GBP")
