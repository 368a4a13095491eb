"""Imports of prices and rates of exchange: a file is read apart, and each piece is written before the next.

Nothing is staged: a day has one price, so that the same file again changes nothing, and one that broke off is simply
imported again.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from msgspec.structs import replace

from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.instruments import finding
from gatewayd.areas.assets.prices import rows
from gatewayd.areas.assets.prices.rows import Outcome
from gatewayd.areas.assets.prices.shapes import (
    AssetPrice,
    ExchangeRate,
    ImportPrices,
    PriceImport,
    RateSource,
    RefusedPrice,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Handlers
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.errors import FieldError, Problem
from gatewayd.importing.file_counts import FileCounts
from gatewayd.importing.pace import Pace
from gatewayd.importing.parts import ReadApart
from gatewayd.importing.reading import closable
from gatewayd.money import CURRENCIES, canonical
from gatewayd.shares import Shares
from gatewayd.statements.shapes import PRICE_LIMITS, Hints, Ignored, Part, PriceLine, Refused, Unreadable
from gatewayd.store import Store, StoreFailure, WriteTx

ROWS_AT_ONCE: Final = 200  # Chosen: in one transaction, some milliseconds of the writer
FILES_AT_ONCE: Final = 2  # Chosen: files that are read at a time, one of each organization


class Deps(Protocol):
    """What the row is given to work with."""

    @property
    def prices(self) -> "PriceImporting": ...


class PriceImporting:
    """The imports of prices of one process."""

    def __init__(self, store: Store, read_apart: ReadApart, max_bytes: int) -> None:
        self._store = store
        self._read_apart = read_apart
        self._limits = replace(PRICE_LIMITS, file_bytes=max_bytes)
        self.shares = Shares("files of prices", FILES_AT_ONCE)

    async def bring(self, org_id: str, file_name: str, file: ReceivedFile) -> PriceImport:
        """Take the prices of a file. Raises `Problem` `validation_failed` for one that cannot be read.

        Rows before one that ends the reading are taken, and there already when the file is imported again.
        """
        told = _Told(file_name, file.sha256)
        pace = Pace(self._store, org_id)
        async with self.shares.place(org_id):
            try:
                await self._read_prices(file.path, pace, told)
            except Unreadable as error:
                raise _unreadable(error) from None
            except OSError as error:
                raise StoreFailure(f"the file cannot be read: {error.strerror}") from error
        return told.document()

    async def _read_prices(self, path: Path, pace: Pace, told: "_Told") -> None:
        known: dict[tuple[str, str], str] = {}
        hints = Hints(kind="prices", file_name=told.file_name, limits=self._limits)
        async with contextlib.aclosing(closable(self._read_apart(path, hints))) as batches:
            async for batch in batches:
                for start in range(0, len(batch), ROWS_AT_ONCE):
                    piece = batch[start : start + ROWS_AT_ONCE]
                    told.add(await pace.write(partial(_enter, piece=piece, import_id=told.sha256, known=known)))


class _Told:
    """What is known of the rows so far."""

    def __init__(self, file_name: str, sha256: str) -> None:
        self.file_name, self.sha256 = file_name, sha256
        self._rows = FileCounts()
        self._counts: Counter[Outcome] = Counter()

    def add(self, outcomes: Iterable[Outcome | RefusedPrice | Ignored]) -> None:
        """What became of some more rows."""
        for outcome in outcomes:
            if isinstance(outcome, Ignored):
                self._rows.ignore(outcome)
                continue
            self._rows.rows += 1
            if isinstance(outcome, RefusedPrice):
                self._rows.refuse(outcome.line, outcome.reason)
            else:
                self._counts[outcome] += 1

    def document(self) -> PriceImport:
        """What is answered."""
        return PriceImport(
            file_name=self.file_name,
            sha256=self.sha256,
            rows=self._rows.rows,
            added=self._counts["added"],
            duplicates=self._counts["same"],
            replaced=self._counts["replaced"],
            refused_rows=self._rows.refused_rows,
            refused=[RefusedPrice(line=refusal.line, reason=refusal.reason) for refusal in self._rows.refused],
            ignored_rows=self._rows.ignored_rows,
            ignored=self._rows.ignored,
        )


def _unreadable(error: Unreadable) -> Problem:
    field = FieldError("file", "unreadable_file", str(error))
    return Problem("validation_failed", f"The file cannot be read: {error}", errors=(field,))


def _enter(
    tx: WriteTx, piece: Sequence[Part], import_id: str, known: dict[tuple[str, str], str]
) -> list[Outcome | RefusedPrice | Ignored]:
    """Store the rows of a piece; `known` are the instruments by what the file calls them."""
    return [
        part if isinstance(part, Ignored) else _outcome(tx, part, import_id, known)
        for part in piece
        if isinstance(part, PriceLine | Refused | Ignored)
    ]


def _outcome(
    tx: WriteTx, part: PriceLine | Refused, import_id: str, known: dict[tuple[str, str], str]
) -> Outcome | RefusedPrice:
    if isinstance(part, Refused):
        return RefusedPrice(line=part.line, reason=part.reason)
    try:
        if part.date > tx.today:
            raise ValueError(f"{part.date} is still to come")
        if part.pair is not None:
            outcome = rows.put_rate(tx, _rate(part, part.pair), import_id)
        else:
            outcome = rows.put_price(tx, _price(tx, part, known), import_id)
    except (ValueError, LookupError) as error:
        return RefusedPrice(line=part.line, reason=str(error))
    if outcome == "contradicted":
        return RefusedPrice(line=part.line, reason=f"the file has another one for {part.date}")
    return outcome


def _price(tx: WriteTx, part: PriceLine, known: dict[tuple[str, str], str]) -> AssetPrice:
    """The price of a row. Raises `ValueError` or `LookupError` with a sentence."""
    key = (part.identifier, part.exchange)
    if key not in known:
        known[key] = finding.named(tx, *key)
    currency = part.currency or INSTRUMENTS.get(tx, known[key]).currency
    quote = rows.quote(part.price, currency if currency == "GBp" else currency.upper())
    if quote is None:
        raise ValueError(f"{currency[:20]!r} is no currency")
    return AssetPrice(
        instrument_id=known[key], date=part.date, price=quote.price, currency=quote.currency, source="import"
    )


def _rate(part: PriceLine, pair: tuple[str, str]) -> ExchangeRate:
    """The rate of a row. Raises `ValueError` with a sentence."""
    currency, base_currency = pair
    for code in pair:
        if code not in CURRENCIES:
            raise ValueError(f"{code!r} is no currency")
    rate = canonical(part.price)
    if currency == base_currency or rate == "0":
        raise ValueError(f"{part.identifier[:20]!r} cannot have the rate {rate}")
    if part.currency.upper() not in ("", base_currency):
        raise ValueError(f"a rate of {currency}/{base_currency} is in {base_currency}, not in {part.currency[:20]!r}")
    source: RateSource = "hmrc" if part.of_month else "import"
    return ExchangeRate(currency=currency, base_currency=base_currency, date=part.date, rate=rate, source=source)


async def import_prices(deps: Deps, caller: Caller, request: ImportPrices, file: ReceivedFile) -> PriceImport:
    """Import prices and rates of exchange: a CSV of date, identifier, price and currency.

    An identifier is an ISIN, SEDOL, FIGI, CUSIP or ticker of an instrument that is known, or a pair of currencies such
    as `USD/GBP`. Prices in pence (GBX) are kept in pounds. A row that cannot be taken is refused with its line, and the
    others are taken; the same file again changes nothing.
    """
    return await deps.prices.bring(caller.org_id, request.file_name, file)


HANDLERS: Final[Handlers] = {"assets.importPrices": import_prices}
