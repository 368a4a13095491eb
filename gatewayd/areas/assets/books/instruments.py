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
    denominator: Annotated[int, Meta(ge=1, le=1_000_000_000)]


class InstrumentSplit(Response, frozen=True, kw_only=True):
    """A split or a consolidation: what was held before `date` is multiplied by numerator / denominator."""

    date: DateText
    numerator: int
    denominator: int


class Instrument(Response, frozen=True, kw_only=True):
    """Something that can be held. `reportingFund` null: no offshore fund, or not known.

    `listed`: on a recognised stock exchange; null: nobody told.
    """

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
    listed: bool | None
    splits: list[InstrumentSplit]
    last_price: CanonicalDecimal | None
    last_price_date: DateText | None
    price_source: PriceSource | None
    is_active: bool
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
    found = dict.fromkeys(word for word in _SIGNS.split(folded(text)) if word)
    return list(found)[:_WORDS_MAX]


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

    A price in another currency than the instrument's is not shown. Its version stays: nobody changed the instrument.
    """
    price, currency, source = quote
    row = INSTRUMENTS.get(tx, instrument_id)
    if row.currency == currency and (row.last_price_date is None or row.last_price_date <= date):
        INSTRUMENTS.save(tx, replace(row, last_price=price, last_price_date=date, price_source=source))


def _add_words(tx: WriteTx, row: Instrument) -> None:
    tx.run_each(_INSERT_WORD, [(tx.org_id, word, row.id) for word in words(row.name)])


def is_british(domicile: str | None, quote_currency: str | None) -> bool:
    """Whether what it pays is of the United Kingdom. `quote_currency` None: it is of no instrument.

    Chosen: what has no domicile that is known is British where it is quoted in pounds, as are accounts. A company's
    domicile is taken for where it is resident.
    """
    if domicile is not None:
        return domicile == "GB"
    return quote_currency in (None, "GBP")
