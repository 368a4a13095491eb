"""An instrument by what somebody knows of it: identifiers, a ticker, a name. Reads only."""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.assets.books import instruments
from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Instrument
from gatewayd.areas.assets.instruments import rules
from gatewayd.areas.assets.instruments.shapes import (
    FoundInstrument,
    InlineInstrument,
    InstrumentMatch,
    MatchField,
    SearchInstruments,
)
from gatewayd.contract.wire import project
from gatewayd.errors import FieldError, invalid
from gatewayd.store import ReadTx

ALIKE_MAX: Final = 50  # Chosen: instruments of one ticker or name that are looked at

_FIND_ISIN = f"{INSTRUMENTS.select} AND isin = :value"
_FIND_SEDOL = f"{INSTRUMENTS.select} AND sedol = :value"
_FIND_FIGI = f"{INSTRUMENTS.select} AND figi = :value"
_FIND_CUSIP = f"{INSTRUMENTS.select} AND cusip = :value ORDER BY id LIMIT 1"
_FIND_LISTING = f"{INSTRUMENTS.select} AND symbol = :symbol AND exchange_mic = :exchange_mic"
_FIND_SYMBOL = f"{INSTRUMENTS.select} AND symbol = :value ORDER BY id LIMIT :count"
_FIND_NAME = f"{INSTRUMENTS.select} AND name_folded = :value ORDER BY id LIMIT :count"

_LISTING: Final = re.compile(
    r"(?P<mic>[0-9A-Z]{4}):(?P<symbol>.+)|(?P<symbol_before>.+)[./](?P<mic_behind>[0-9A-Z]{4})"
)
_FINDS: Final[Mapping[str, str]] = {
    "isin": _FIND_ISIN,
    "sedol": _FIND_SEDOL,
    "figi": _FIND_FIGI,
    "cusip": _FIND_CUSIP,
}
WORDS_MAX: Final = 6  # Chosen: of what is looked for; the longest ones
WITH_WORDS_MAX: Final = 200  # Chosen: instruments with a word that are looked at: who finds more has to say more
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


class _Claim(NamedTuple):
    """An instrument that has, in the field of this name, what a request says."""

    name: str
    instrument: Instrument


def by_identifier(tx: ReadTx, name: str, value: str) -> Instrument | None:
    """The instrument whose isin, sedol, figi or cusip this is."""
    row = tx.row(_FINDS[name], value=value)
    return None if row is None else INSTRUMENTS.read(tx, row)


def by_listing(tx: ReadTx, symbol: str, exchange_mic: str) -> Instrument | None:
    """The instrument of this ticker at this exchange."""
    row = tx.row(_FIND_LISTING, symbol=symbol, exchange_mic=exchange_mic)
    return None if row is None else INSTRUMENTS.read(tx, row)


def by_symbol(tx: ReadTx, symbol: str) -> list[Instrument]:
    """The instruments of this ticker, at whatever exchange, oldest first."""
    return [INSTRUMENTS.read(tx, row) for row in tx.rows(_FIND_SYMBOL, value=symbol, count=ALIKE_MAX)]


def listing_of(text: str) -> tuple[str, str] | None:
    """Ticker and exchange of `XLON:VOD`, `VOD.XLON` or `VOD/XLON`, in upper case; None where it is none of them."""
    match = _LISTING.fullmatch(text)
    if match is None:
        return None
    return match["symbol"] or match["symbol_before"], match["mic"] or match["mic_behind"]


def named(tx: ReadTx, text: str, exchange_mic: str = "") -> str:
    """The id of the instrument that a text names: an identifier, or a ticker with an exchange or alone.

    Raises `LookupError` with a sentence.
    """
    upper = text.upper()
    for name in rules.IDENTIFIERS:
        instrument = by_identifier(tx, name, upper.replace(" ", ""))
        if instrument is not None:
            return instrument.id
    listing = (upper, exchange_mic) if exchange_mic else listing_of(upper)
    instrument = None if listing is None else by_listing(tx, *listing)
    if instrument is not None:
        return instrument.id
    alike = [
        candidate for candidate in by_symbol(tx, upper) if exchange_mic in ("", candidate.exchange_mic or exchange_mic)
    ]
    if len(alike) > 1:
        raise LookupError(f"several instruments have the ticker {upper[:40]!r}: give an exchange, or an ISIN")
    if not alike:
        raise LookupError(f"there is no instrument {text[:40]!r}")
    return alike[0].id


def find(tx: ReadTx, wanted: InlineInstrument, path: str) -> Instrument | None:
    """The instrument that is meant; None where there is none yet.

    Raises `Problem` `validation_failed` where identifiers are those of two instruments, or a ticker or a name is that
    of several.
    """
    claims = list(_claims(tx, wanted))
    if claims:
        return _agreed(wanted, claims, path)
    if wanted.symbol is not None:
        alike = [candidate for candidate in by_symbol(tx, wanted.symbol) if _may_be(candidate, wanted)]
        instrument = _only_instrument(alike, rules.member(path, "symbol"), "ticker")
        if instrument is not None:
            return instrument
    if wanted.name is None:
        return None
    rows = tx.rows(_FIND_NAME, value=instruments.folded(wanted.name), count=ALIKE_MAX)
    alike = [candidate for row in rows if _may_be(candidate := INSTRUMENTS.read(tx, row), wanted)]
    return _only_instrument(alike, rules.member(path, "name"), "name")


def _claims(tx: ReadTx, wanted: InlineInstrument) -> Iterator[_Claim]:
    """What the identifiers lead to, the surest first."""
    for name in rules.IDENTIFIERS:
        value = getattr(wanted, name)
        instrument = None if value is None else by_identifier(tx, name, value)
        if instrument is not None:
            yield _Claim(name, instrument)
    if wanted.symbol is not None and wanted.exchange_mic is not None:
        instrument = by_listing(tx, wanted.symbol, wanted.exchange_mic)
        if instrument is not None:
            yield _Claim("symbol", instrument)


def _agreed(wanted: InlineInstrument, claims: list[_Claim], path: str) -> Instrument:
    """The instrument that all identifiers lead to.

    Two are meant where an identifier leads to another instrument, or where one that is surer than what led to it
    differs.
    """
    first, *others = claims
    for other in others:
        if other.instrument.id != first.instrument.id:
            message = f"It is that of {other.instrument.id}, and the {first.name} that of {first.instrument.id}."
            raise invalid(FieldError(rules.member(path, other.name), "conflict", message))
    for name in rules.IDENTIFIERS[: _rank(first.name)]:
        value, known = getattr(wanted, name), getattr(first.instrument, name)
        if value is not None and known is not None and value != known:
            message = f"The {first.name} is that of {first.instrument.id}, whose {name} is {known}."
            raise invalid(FieldError(rules.member(path, name), "conflict", message))
    return first.instrument


def _rank(name: str) -> int:
    return rules.IDENTIFIERS.index(name) if name in rules.IDENTIFIERS else len(rules.IDENTIFIERS)


def _may_be(instrument: Instrument, wanted: InlineInstrument) -> bool:
    """Whether nothing differs that is known of both: several instruments may share a ticker or a name."""
    for name in (*rules.IDENTIFIERS, "symbol", "exchange_mic", "currency"):
        value, known = getattr(wanted, name), getattr(instrument, name)
        if value is not None and known is not None and value != known:
            return False
    return True


def _only_instrument(alike: list[Instrument], path: str, what: str) -> Instrument | None:
    if len(alike) > 1:
        message = f"Several instruments have this {what}, such as {alike[0].id} and {alike[1].id}: give an ISIN."
        raise invalid(FieldError(path, "conflict", message))
    return alike[0] if alike else None


def search(tx: ReadTx, request: SearchInstruments, text: str) -> list[FoundInstrument]:
    """The best matches of `text`, which is trimmed; none is there twice."""
    by_id: dict[str, FoundInstrument] = {}
    for instrument, field, score in _hits(tx, request, text):
        if request.asset_class in (None, instrument.asset_class) and instrument.id not in by_id:
            match = InstrumentMatch(field=field, score=score)
            by_id[instrument.id] = project(instrument, FoundInstrument, match=match)
            if len(by_id) == request.limit:
                break
    return list(by_id.values())


def _hits(tx: ReadTx, request: SearchInstruments, text: str) -> Iterator[_Hit]:
    """Each instrument that is like the text, the best first. Chosen: the scores, which tell only what goes before."""
    compact = text.upper().replace(" ", "")
    yield from _exact_hits(tx, text.upper(), compact)
    folded = instruments.folded(text)
    yield from ((instrument, "symbol", 80) for instrument in _beginning(tx, request, _BY_SYMBOL, text.upper()))
    yield from ((instrument, "name", 70) for instrument in _beginning(tx, request, _BY_NAME, folded))
    if len(compact) >= _IDENTIFIER_PREFIX:
        identifiers: tuple[tuple[str, MatchField], ...] = (
            *((_BY_ISIN, "isin"), (_BY_SEDOL, "sedol")),
            *((_BY_FIGI, "figi"), (_BY_CUSIP, "cusip")),
        )
        for sql, field in identifiers:
            yield from ((instrument, field, 60) for instrument in _beginning(tx, request, sql, compact))
    yield from ((instrument, "name", 50) for instrument in _by_words(tx, text))


def _exact_hits(tx: ReadTx, upper: str, compact: str) -> Iterator[_Hit]:
    fields: tuple[MatchField, ...] = ("isin", "sedol", "figi", "cusip")
    for field in fields:
        instrument = by_identifier(tx, field, compact)
        if instrument is not None:
            yield instrument, field, 100
    listing = listing_of(upper)
    instrument = None if listing is None else by_listing(tx, *listing)
    if instrument is not None:
        yield instrument, "symbol", 100
    yield from ((candidate, "symbol", 90) for candidate in by_symbol(tx, upper))


def _beginning(tx: ReadTx, request: SearchInstruments, sql: str, prefix: str) -> Iterator[Instrument]:
    values = {"low": prefix, "high": prefix + _LAST, "asset_class": request.asset_class, "count": request.limit}
    return (INSTRUMENTS.read(tx, row) for row in tx.rows(sql, **values))


def _by_words(tx: ReadTx, text: str) -> Iterator[Instrument]:
    """The instruments of whose names a word begins with each word of the text, by name; of very many the first met."""
    words = _rarest_first(tx, sorted(instruments.words(text), key=len, reverse=True)[:WORDS_MAX])
    if not words:
        return
    values: dict[str, object] = {"most": WITH_WORDS_MAX}
    for n, word in enumerate(words):
        values |= {f"low_{n}": word, f"high_{n}": word + _LAST}
    ids = dict.fromkeys(id_ for (id_,) in tx.rows(words_sql(len(words)), **values))
    yield from sorted(
        (INSTRUMENTS.get(tx, id_) for id_ in ids),
        key=lambda instrument: (instruments.folded(instrument.name), instrument.id),
    )


def _rarest_first(tx: ReadTx, words: list[str]) -> list[str]:
    """The words, first those with which words of the fewest names begin; none at all where one begins no word."""
    counts = {word: tx.value(_COUNT_WORD, low=word, high=word + _LAST, most=WITH_WORDS_MAX) for word in words}
    return [] if 0 in counts.values() else sorted(words, key=counts.__getitem__)


@functools.cache  # one statement for each number of words
def words_sql(count: int) -> str:
    """The statement for so many words."""
    return _BY_WORDS.format(others="".join(_OTHER_WORD.format(n=n) for n in range(1, count)))
