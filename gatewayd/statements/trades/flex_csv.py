"""Flex queries of Interactive Brokers as CSV: sections of rows, each behind headings of its own (Domain E).

The rows are those of the XML with the names of its attributes for headings, and are read as it is (`flex_rows`). With a
"section code" each line begins with what it is: `HEADER` or `DATA` and the section, `BOF` to `EOF` around them. The
headings are as in github.com/dickwolff/Export-To-Ghostfolio samples/ibkr-trades-export.csv 5d4cb16.

Chosen: a CSV does not name the base currency of the account, to which its rates are: it is that of rows whose rate is
1. Where no row tells, or rows of several currencies do, the rates of the file are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element

from gatewayd.statements.csv_headings import folded
from gatewayd.statements.csv_rows import Row, rows
from gatewayd.statements.csv_sample import DELIMITERS, cut, sample_of
from gatewayd.statements.shapes import Hints, Ignored, Opened, Part, Refused
from gatewayd.statements.text import TextLines, encoding_of
from gatewayd.statements.trades.flex_rows import READERS, ReportCurrency, base_of, is_one, told
from gatewayd.statements.trades.reasons import sentence

_AROUND = frozenset({"bof", "boa", "bos", "eos", "eoa", "eof", "msg"})  # lines around sections, which tell no row
_ATTRIBUTES = (
    *("accountId", "currency", "fxRateToBase", "assetCategory", "symbol", "description", "isin", "cusip", "sedol"),
    *("figi", "tradeDate", "dateTime", "reportDate", "settleDate", "settleDateTarget", "exDate", "date", "buySell"),
    *("quantity", "multiplier", "tradePrice", "proceeds", "taxes", "ibCommission", "ibCommissionCurrency", "type"),
    *("amount", "direction", "cashTransfer", "actionDescription", "transactionID", "tradeID", "actionID"),
    *("levelOfDetail", "account"),
)
_OTHER_NAMES = {"currencyprimary": "currency", "assetclass": "assetCategory", "clientaccountid": "accountId"}
_BY_HEADING: Mapping[str, str] = {name.lower(): name for name in _ATTRIBUTES} | _OTHER_NAMES
_LEAST = 2  # no cell of a report goes on over lines: one that does, and holds columns, has taken rows for its text
_KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("Trade", frozenset({"tradePrice", "quantity"})),
    ("CorporateAction", frozenset({"actionDescription"})),
    ("CorporateAction", frozenset({"actionID", "type"})),
    ("Transfer", frozenset({"direction", "quantity"})),
    ("CashTransaction", frozenset({"amount", "type"})),
)


def delimiter_of_flex(stream: BinaryIO, hints: Hints) -> str | None:
    """What separates the columns of a Flex report as CSV; None: the file is none."""
    sample = sample_of(stream, encoding_of(stream), hints.limits)
    for delimiter in DELIMITERS:
        if any(_is_heading(row) for row in cut(sample, delimiter).rows):
            return delimiter
    return None


def read_flex_csv(stream: BinaryIO, hints: Hints, delimiter: str) -> Iterator[Part]:
    """The parts of a Flex report as CSV."""
    yield Opened(statement=0, format="csv", profile="ibkr_flex", bank_name="Interactive Brokers")
    base = _base_in(stream, hints, delimiter)
    names: Sequence[str] = ()
    kind: str | None = None
    for row in _rows(stream, hints, delimiter):
        if row.fault is None and not any(cell.strip() for cell in row.cells):
            continue
        if row.fault is not None:
            yield Refused(line=row.line, reason=sentence(row.fault))
        elif _is_heading(row.cells) or folded(row.cells[0]) == "header":
            is_first = not names
            names = _names(row.cells)
            kind = next((one for one, needed in _KINDS if needed.issubset(names)), None)
            if not is_first:
                yield Ignored(line=row.line, kind="heading")
        elif folded(row.cells[0]) in _AROUND:
            if names:
                yield Ignored(line=row.line, kind="heading")
        elif names:
            yield _part(row, names, kind, base)
        else:
            yield Refused(line=row.line, reason="It stands before any headings.")


def _part(row: Row, names: Sequence[str], kind: str | None, base: ReportCurrency) -> Part:
    if len(row.cells) != len(names):
        reason = f"It has {len(row.cells)} columns instead of {len(names)}."
        return Refused(line=row.line, reason=reason)
    found = {name: cell.strip() for name, cell in zip(names, row.cells, strict=True) if name}
    return told(READERS.get(kind or ""), Element(kind or "Other", found), row.line, base)


def _base_in(stream: BinaryIO, hints: Hints, delimiter: str) -> ReportCurrency:
    names: Sequence[str] = ()
    ones = set()
    for row in _rows(stream, hints, delimiter):
        if row.cells and (_is_heading(row.cells) or folded(row.cells[0]) == "header"):
            names = _names(row.cells)
            continue
        cells = dict(zip(names, (cell.strip() for cell in row.cells), strict=False))
        if is_one(cells.get("fxRateToBase", "")):
            ones.add(cells.get("currency", ""))
    return base_of("", ones, hints.currency or "")


def _rows(stream: BinaryIO, hints: Hints, delimiter: str) -> Iterator[Row]:
    lines = TextLines(stream, encoding_of(stream), hints.limits)
    try:
        yield from rows(lines, delimiter, _LEAST)
    finally:
        lines.detach()


def _is_heading(cells: Sequence[str]) -> bool:
    """Whether a row is headings of a Flex report: the currency, and a section's own."""
    found = set(_names(cells))
    names = {folded(cell) for cell in cells}
    is_ours = "currencyprimary" in names or "fxratetobase" in names
    return is_ours and any(needed.issubset(found) for _, needed in _KINDS)


def _names(cells: Sequence[str]) -> list[str]:
    """The attributes that headings stand for; "": of no use here."""
    return [_BY_HEADING.get(folded(cell).replace(" ", "").replace("/", ""), "") for cell in cells]
