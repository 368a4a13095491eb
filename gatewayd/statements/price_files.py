"""Files of prices and rates of exchange: a CSV of date, identifier, price and currency, by headings or in this order.

Separators are found out, as are the encoding, a decimal comma, and whether the day or the month comes first: the day,
where nothing shows which.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final, NamedTuple

from gatewayd.statements.amounts import parse_decimal, show_decimal_comma
from gatewayd.statements.csv.rows import Row, folded, repeats, rows
from gatewayd.statements.csv.sample import trimmed
from gatewayd.statements.dates import DateOrder, is_date, parse_date
from gatewayd.statements.shapes import Hints, Ignored, Limits, PriceLine, Refused, Unreadable
from gatewayd.statements.text import TextLines, encoding_of

SAMPLE_ROWS: Final = 5_000  # Chosen: that the order of dates and the decimal sign are found out from
HEADING_ROWS: Final = 10  # Chosen: within which the headings are looked for

_PLACES: Final = 12  # what a price has at most
_IN_PENCE: Final = re.compile(r".*[0-9]\s*[pP]")
_POUND: Final = "GBP"
_PAIR: Final = re.compile(r"([A-Z]{3})\s*/\s*([A-Z]{3})")
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("date", "price date", "as of", "as at", "day", "nav date", "trade date"),
    "price": ("price", "close", "closing price", "rate", "value", "nav", "last", "mid"),
    "currency": ("currency", "ccy", "cur", "price currency", "quote currency"),
    "exchange": ("mic", "exchange", "exchange mic", "market"),
}
_IDENTIFIERS: Final = (
    *("isin", "sedol", "figi", "cusip", "identifier", "pair", "currency pair", "instrument", "symbol", "ticker"),
    *("epic", "code"),
)


class _RateTable(NamedTuple):
    """A publisher's table of rates, by its headings: what 1 of the base is in each currency.

    `base` is a heading, or a currency where no column has it; `of_month`: a rate holds for the month of its date.
    """

    date: str
    currency: str
    base: str
    rate: str
    of_month: bool


_RATE_TABLES: Final = (
    _RateTable("time_period", "currency", "currency_denom", "obs_value", False),  # the European Central Bank's
    _RateTable("start date", "currency code", "GBP", "currency units per £1", True),  # HMRC's of a month
)


class _Columns(NamedTuple):
    """Where what stands; `skipped` rows come before the first price. `headings` is empty where there are none.

    Of a table of rates, `base` and `table` too.
    """

    date: int
    identifiers: tuple[int, ...]
    price: int
    currency: int | None
    exchange: int | None
    skipped: int
    headings: tuple[str, ...] = ()
    base: int | None = None
    table: _RateTable | None = None

    @property
    def widths(self) -> range:
        """How many columns a row may have."""
        return range(len(self.headings), len(self.headings) + 1) if self.headings else range(3, 5)


class _Form(NamedTuple):
    """How the cells of a file are read."""

    columns: _Columns
    date_format: str
    decimal_comma: bool


def read_prices(stream: BinaryIO, hints: Hints) -> Iterator[PriceLine | Refused | Ignored]:
    """The rows of a file, in its order; `stream` can seek, and is looked through twice.

    Raises `Unreadable` for what has no such columns or breaks a limit, also after rows have been given.
    """
    limits = hints.limits
    encoding = encoding_of(stream)
    first = _sampled(stream, encoding, limits)
    delimiter = _delimiter(first)
    form = _form(stream, (encoding, delimiter), limits)
    lines = TextLines(stream, encoding, limits)
    try:
        yield from _body(rows(lines, delimiter, len(form.columns.headings) or 3), form)
    finally:
        lines.detach()


def _body(rows: Iterator[Row], form: _Form) -> Iterator[PriceLine | Refused | Ignored]:
    for count, row in enumerate(rows):
        if count >= form.columns.skipped and (row.fault is not None or any(cell.strip() for cell in row.cells)):
            is_heading = repeats(form.columns.headings, row.cells)
            yield Ignored(line=row.line, kind="heading") if is_heading else _read_row(row, form)


def _read_row(row: Row, form: _Form) -> PriceLine | Refused:
    try:
        return _line(row, form)
    except ValueError as error:
        return Refused(line=row.line, reason=str(error))


def _line(row: Row, form: _Form) -> PriceLine:
    if row.fault is not None:
        raise ValueError(row.fault)
    columns = form.columns
    if len(trimmed(row.cells)) >= columns.widths.stop or len(row.cells) < columns.widths.start:
        raise ValueError(f"it has {len(row.cells)} columns instead of {columns.widths.stop - 1}")
    day = _cell(row, columns.date)
    if day.casefold() in ("", "n/a", "-"):
        raise ValueError("it has no date")
    identifier = next((text for at in columns.identifiers if (text := _cell(row, at))), "")
    if not identifier:
        raise ValueError("it names no instrument")
    price, currency = _cell(row, columns.price), _cell(row, columns.currency)
    if _IN_PENCE.fullmatch(price):
        if currency.upper() not in ("", _POUND, "GBX"):
            raise ValueError(f"{price[:40]!r} is in pence, and the currency is {currency[:20]!r}")
        price, currency = price.rstrip("pP "), "GBX"
    number = parse_decimal(price, decimal_comma=form.decimal_comma)
    text = f"{number:f}"
    if number < 0 or len(text.partition(".")[2].rstrip("0")) > _PLACES:
        raise ValueError(f"{text[:40]!r} is no price")
    pair = _pair(row, identifier, columns)
    return PriceLine(
        line=row.line,
        date=parse_date(day, form.date_format),
        identifier=identifier if columns.table is None or pair is None else f"{pair[1]}/{pair[2]}",
        pair=None if pair is None else (pair[1], pair[2]),
        exchange=_cell(row, columns.exchange).upper(),
        price=text,
        currency=currency,
        of_month=columns.table is not None and columns.table.of_month,
    )


def _pair(row: Row, identifier: str, columns: _Columns) -> re.Match[str] | None:
    """The two currencies, where that is what is named. Raises `ValueError` for a table of rates with something else."""
    if columns.table is None:
        return _PAIR.fullmatch(identifier.upper())
    base = columns.table.base if columns.base is None else _cell(row, columns.base)
    pair = _PAIR.fullmatch(f"{base}/{identifier}".upper())
    if pair is None:
        raise ValueError(f"{identifier[:20]!r} is no currency")
    return pair


def _cell(row: Row, at: int | None) -> str:
    return row.cells[at].strip().removeprefix("'") if at is not None and at < len(row.cells) else ""


def _sampled(stream: BinaryIO, encoding: str, limits: Limits) -> list[str]:
    lines = TextLines(stream, encoding, limits)
    try:
        return [line for line in itertools.islice(lines, HEADING_ROWS) if line.strip()]
    finally:
        lines.detach()


def _delimiter(first: Sequence[str]) -> str:
    """What most of the first lines have most of."""
    if not first:
        raise Unreadable(None, "the file is empty")
    return max(";\t|,", key=lambda sign: (sum(sign in line for line in first), sum(line.count(sign) for line in first)))


def _form(stream: BinaryIO, text: tuple[str, str], limits: Limits) -> _Form:
    lines = TextLines(stream, text[0], limits)
    try:
        sample = list(itertools.islice(rows(lines, text[1]), SAMPLE_ROWS))
    finally:
        lines.detach()
    columns = _columns(sample)
    order = DateOrder()
    body = sample[columns.skipped :]
    for row in body:
        order.add(_cell(row, columns.date))
    comma = show_decimal_comma(_cell(row, columns.price) for row in body)
    return _Form(columns, order.formats()[0], comma)


def _columns(sample: Sequence[Row]) -> _Columns:
    """By headings within the first rows, else date, identifier, price and currency in this order."""
    for at, row in enumerate(sample[:HEADING_ROWS]):
        columns = _by_headings([folded(cell) for cell in trimmed(row.cells)], at)
        if columns is not None:
            return columns
    for row in sample[:HEADING_ROWS]:
        if len(row.cells) >= 3 and is_date(row.cells[0]):
            return _Columns(date=0, identifiers=(1,), price=2, currency=3, exchange=None, skipped=0)
    raise Unreadable(None, "there are no columns for date, identifier and price")


def _by_headings(headings: Sequence[str], at: int) -> _Columns | None:
    for table in _RATE_TABLES:
        if {table.date, table.currency, table.rate} <= set(headings):
            base = headings.index(table.base) if table.base in headings else None
            if base is not None or table.base.isupper():
                day, code, rate = (headings.index(name) for name in (table.date, table.currency, table.rate))
                return _Columns(day, (code,), rate, None, None, at + 1, tuple(headings), base, table)
    places = {name: _place(headings, words) for name, words in _NAMES.items()}
    identifiers = tuple(headings.index(word) for word in _IDENTIFIERS if word in headings)
    date, price = places["date"], places["price"]
    if date is None or price is None or not identifiers:
        return None
    return _Columns(date, identifiers, price, places["currency"], places["exchange"], at + 1, tuple(headings))


def _place(headings: Sequence[str], words: Sequence[str]) -> int | None:
    return next((headings.index(word) for word in words if word in headings), None)
