"""A search for instruments: the very identifier or ticker first, then what begins so, then words of names."""

import functools
from collections.abc import Iterator
from typing import Final

from gatewayd.areas.assets.instruments import finding, names
from gatewayd.areas.assets.instruments.rows import INSTRUMENTS
from gatewayd.areas.assets.instruments.shapes import (
    FoundInstrument,
    Instrument,
    InstrumentMatch,
    MatchField,
    SearchInstruments,
)
from gatewayd.contract.wire import project
from gatewayd.store import ReadTx

WORDS_MAX: Final = 6  # Chosen: of what is looked for; the longest ones
ALIKE_MAX: Final = 200  # Chosen: instruments with a word that are looked at: who finds more has to say more
_IDENTIFIER_PREFIX: Final = 3  # Chosen: characters of an identifier that are worth looking at
_LAST: Final = "\U0010ffff"  # sorts after whatever may follow a prefix

_CLASS = "coalesce(:asset_class, asset_class) = asset_class"

_BY_SYMBOL = f"""{INSTRUMENTS.select} AND symbol >= :low AND symbol < :high AND {_CLASS}
ORDER BY symbol, id LIMIT :count"""
_BY_NAME = f"""{INSTRUMENTS.select} AND name_folded >= :low AND name_folded < :high AND {_CLASS}
ORDER BY name_folded, id LIMIT :count"""
_BY_ISIN = f"{INSTRUMENTS.select} AND isin >= :low AND isin < :high AND {_CLASS} ORDER BY isin LIMIT :count"
_BY_SEDOL = f"{INSTRUMENTS.select} AND sedol >= :low AND sedol < :high AND {_CLASS} ORDER BY sedol LIMIT :count"
_BY_FIGI = f"{INSTRUMENTS.select} AND figi >= :low AND figi < :high AND {_CLASS} ORDER BY figi LIMIT :count"
_BY_CUSIP = f"{INSTRUMENTS.select} AND cusip >= :low AND cusip < :high AND {_CLASS} ORDER BY cusip LIMIT :count"
_BY_WORDS = """
SELECT instrument_id FROM instrument_words AS first
WHERE org_id = :org_id AND word >= :low_0 AND word < :high_0{others} LIMIT :most
"""
_COUNT_WORD = """
SELECT count(found.instrument_id) FROM (
    SELECT instrument_id FROM instrument_words
    WHERE org_id = :org_id AND word >= :low AND word < :high LIMIT :most
) AS found
"""
_OTHER_WORD = """ AND EXISTS (
        SELECT 1 FROM instrument_words AS other
        WHERE other.org_id = :org_id AND other.instrument_id = first.instrument_id
            AND other.word >= :low_{n} AND other.word < :high_{n}
    )"""

_Hit = tuple[Instrument, MatchField, int]


def search(tx: ReadTx, request: SearchInstruments, text: str) -> list[FoundInstrument]:
    """The best matches of `text`, which is trimmed; none is there twice."""
    found: dict[str, FoundInstrument] = {}
    for instrument, field, score in _hits(tx, request, text):
        if request.asset_class in (None, instrument.asset_class) and instrument.id not in found:
            match = InstrumentMatch(field=field, score=score)
            found[instrument.id] = project(instrument, FoundInstrument, match=match)
            if len(found) == request.limit:
                break
    return list(found.values())


def _hits(tx: ReadTx, request: SearchInstruments, text: str) -> Iterator[_Hit]:
    """Each instrument that is like the text, the best first. Chosen: the scores, which tell only what goes before."""
    compact = text.upper().replace(" ", "")
    yield from _exact(tx, text.upper(), compact)
    folded = names.folded(text)
    yield from ((one, "symbol", 80) for one in _beginning(tx, request, _BY_SYMBOL, text.upper()))
    yield from ((one, "name", 70) for one in _beginning(tx, request, _BY_NAME, folded))
    if len(compact) >= _IDENTIFIER_PREFIX:
        identifiers: tuple[tuple[str, MatchField], ...] = (
            *((_BY_ISIN, "isin"), (_BY_SEDOL, "sedol")),
            *((_BY_FIGI, "figi"), (_BY_CUSIP, "cusip")),
        )
        for sql, field in identifiers:
            yield from ((one, field, 60) for one in _beginning(tx, request, sql, compact))
    yield from ((one, "name", 50) for one in _by_words(tx, text))


def _exact(tx: ReadTx, upper: str, compact: str) -> Iterator[_Hit]:
    fields: tuple[MatchField, ...] = ("isin", "sedol", "figi", "cusip")
    for field in fields:
        instrument = finding.by_identifier(tx, field, compact)
        if instrument is not None:
            yield instrument, field, 100
    listing = finding.listing_of(upper)
    instrument = None if listing is None else finding.by_listing(tx, *listing)
    if instrument is not None:
        yield instrument, "symbol", 100
    yield from ((one, "symbol", 90) for one in finding.by_symbol(tx, upper))


def _beginning(tx: ReadTx, request: SearchInstruments, sql: str, prefix: str) -> Iterator[Instrument]:
    values = {"low": prefix, "high": prefix + _LAST, "asset_class": request.asset_class, "count": request.limit}
    return (INSTRUMENTS.read(tx, row) for row in tx.rows(sql, **values))


def _by_words(tx: ReadTx, text: str) -> Iterator[Instrument]:
    """Those of whose name a word begins with each word of the text, by name; of very many the first that are met."""
    words = _rarest_first(tx, sorted(names.words(text), key=len, reverse=True)[:WORDS_MAX])
    if not words:
        return
    values: dict[str, object] = {"most": ALIKE_MAX}
    for n, word in enumerate(words):
        values |= {f"low_{n}": word, f"high_{n}": word + _LAST}
    ids = dict.fromkeys(id_ for (id_,) in tx.rows(words_sql(len(words)), **values))
    yield from sorted((INSTRUMENTS.get(tx, id_) for id_ in ids), key=lambda one: (names.folded(one.name), one.id))


def _rarest_first(tx: ReadTx, words: list[str]) -> list[str]:
    """The words by how many names have one that begins so; none where one of them is in no name."""
    counts = {word: tx.value(_COUNT_WORD, low=word, high=word + _LAST, most=ALIKE_MAX) for word in words}
    return [] if 0 in counts.values() else sorted(words, key=counts.__getitem__)


@functools.cache  # one statement for each number of words
def words_sql(count: int) -> str:
    """The statement for so many words."""
    return _BY_WORDS.format(others="".join(_OTHER_WORD.format(n=n) for n in range(1, count)))
