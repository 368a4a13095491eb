"""Flex queries of Interactive Brokers: the XML of its reports, of which trades, cash, splits and transfers are read
(Domain E). What the rows are is in `flex_rows`.

As CSV it is sections of rows, each behind headings of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from gatewayd.statements.csv.rows import Row, folded, rows
from gatewayd.statements.csv.sample import DELIMITERS, cut, sample_of
from gatewayd.statements.shapes import Hints, Ignored, Opened, Part, Refused, Unreadable
from gatewayd.statements.text import TextLines, encoding_of
from gatewayd.statements.trades.flex_rows import READERS, ReportCurrency, base_of, is_one, told
from gatewayd.statements.trades.reasons import sentence

_DEPTH_MAX = 16
_ROW_DEPTH = 5  # a row stands in a section of a statement of the statements of the report
_OF_THE_ACCOUNT = "AccountInformation"
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


def read_flex(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a Flex report. Raises `Unreadable` for what is no well-formed XML, or another document."""
    base = _base_in(stream, hints)
    yield Opened(statement=0, format="ibkr_flex", profile="ibkr_flex", bank_name="Interactive Brokers")
    count = 0
    for element, depth in _elements(stream):
        read = READERS.get(element.tag)
        if read is not None or (depth == _ROW_DEPTH and element.tag != _OF_THE_ACCOUNT):
            count += 1
            yield told(read, element, count, base)


def _base_in(stream: BinaryIO, hints: Hints) -> ReportCurrency:
    """The base currency of the account, wherever the report tells it."""
    named, ones = "", set()
    for element, _ in _elements(stream):
        if element.tag == _OF_THE_ACCOUNT:
            named = element.get("currency") or named
        elif element.tag in READERS and is_one(element.get("fxRateToBase", "")):
            ones.add(element.get("currency", ""))
    return base_of(named, ones, hints.currency or "")


def _elements(stream: BinaryIO) -> Iterator[tuple[Element, int]]:
    """The elements as they end, each with how deep it stands. Raises `Unreadable`."""
    path: list[Element] = []
    account = None
    for event, element in _events(stream):
        if event == "start":
            if not path:
                _check_report(element)
            path.append(element)
            if len(path) > _DEPTH_MAX:
                raise Unreadable(None, "elements stand deeper within each other than any report has them")
            if element.tag == "FlexStatement":
                account = _same_account(account, element)
            continue
        yield element, len(path)
        path.pop()
        if path:
            path[-1].remove(element)


def _events(stream: BinaryIO) -> Iterator[tuple[str, Element]]:
    stream.seek(0)
    try:
        yield from iterparse(stream, events=("start", "end"), forbid_dtd=True)
    except ParseError as error:
        raise Unreadable(error.position[0], f"the file is no well-formed XML, or is cut off ({error.msg})") from error
    except DefusedXmlException as error:
        raise Unreadable(None, "the file declares a document type or entities, which no report has") from error
    except (LookupError, ValueError) as error:
        raise Unreadable(1, f"the file declares an encoding that cannot be read ({error})") from error


def _check_report(element: Element) -> None:
    if element.tag != "FlexQueryResponse":
        raise Unreadable(None, "the file is XML, and no Flex query of Interactive Brokers (FlexQueryResponse)")


def _same_account(expected: str | None, element: Element) -> str:
    """The account of the statement. Raises `Unreadable` for another than that of one before it."""
    account = element.get("accountId") or ""
    if expected is not None and account != expected:
        raise Unreadable(None, "the file is of several accounts: make a query for each")
    return account


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
    base = _base_in_csv(stream, hints, delimiter)
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
            kind = next((name for name, needed in _KINDS if needed.issubset(names)), None)
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
    values = {name: cell.strip() for name, cell in zip(names, row.cells, strict=True) if name}
    return told(READERS.get(kind or ""), Element(kind or "Other", values), row.line, base)


def _base_in_csv(stream: BinaryIO, hints: Hints, delimiter: str) -> ReportCurrency:
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
    present = set(_names(cells))
    names = {folded(cell) for cell in cells}
    is_ours = "currencyprimary" in names or "fxratetobase" in names
    return is_ours and any(needed.issubset(present) for _, needed in _KINDS)


def _names(cells: Sequence[str]) -> list[str]:
    """The attributes that headings stand for; "": of no use here."""
    return [_BY_HEADING.get(folded(cell).replace(" ", "").replace("/", ""), "") for cell in cells]
